"""A respondent answers every kind of question, on a phone and on a desk, by pointer and by keyboard alone."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.harness import browser
from tests.browser.respondents import (
    DESKTOP,
    EVERY_KIND,
    INCOMES,
    PHONE,
    QUESTIONS,
    SHORT,
    Collecting,
    answer,
    collecting,
    heading,
    kept,
    open_page,
    send,
    sent_body,
)

ANSWERS = {
    "one": "Sometimes",
    "set": "Friday",
    "sizes": "Tuesday",
    "matrix": "yes",
    "blocks": "Sunday",
    "conditional": "blue",
    "asked": "1,000 to 2,000",
    "halves": None,
    "product": ["no", "poor"],
    "optional": None,
    "many": "Place 39",
    "spaces": "Town 7",
    "searched": "Job 399",
    "bits": "bus",
    "tables": "none",
}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collecting]:
    with collecting(tmp_path_factory.mktemp("collecting")) as service:
        yield service


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as program:
        yield program


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_every_kind_of_question(running: Collecting, chromium: Any, size: dict[str, int]) -> None:
    published = running.publish(EVERY_KIND)
    page = open_page(chromium.new_context(viewport=size), published, running)
    assert page.evaluate("() => document.documentElement.scrollWidth") == size["width"]
    answer(page, ANSWERS)
    send(page)
    body = json.loads(sent_body(page))
    assert heading(page) == "Thank you. Your reports have arrived."
    assert running.stored(published) == 1
    assert [question["name"] for question in QUESTIONS] == list(body["reports"])
    assert body["reports"]["optional"] is None
    assert body["reports"]["halves"] is None
    assert len(body["reports"]["product"]) == 2
    # A set that was asked about holds the answer: yes or no decided which of two.
    design = QUESTIONS[6]["design"]["weights"]["subsets"]
    assert 1 in design[body["reports"]["asked"]]


def test_a_whole_question_of_several_parts_can_be_left_out(running: Collecting, chromium: Any) -> None:
    page = open_page(chromium.new_context(viewport=PHONE), running.publish(EVERY_KIND), running)
    answer(page, {**ANSWERS, "product": None})
    send(page)
    assert json.loads(sent_body(page))["reports"]["product"] is None


def test_by_keyboard_alone(running: Collecting, chromium: Any) -> None:
    published = running.publish(SHORT)
    page = open_page(chromium.new_context(viewport=DESKTOP), published, running)
    focused = "() => document.activeElement.innerText || document.activeElement.type || ''"

    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "Practise with a pretend answer"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "Draw a practice report"
    for number in (1, 2, 3):
        page.keyboard.press("Enter")
        assert f"Practice report number {number}." in page.locator(".practice-result").inner_text()
    # Nothing is chosen yet: the button says what is missing, and the focus goes there.
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "Draw my reports and send them"
    page.keyboard.press("Enter")
    assert page.locator("#status").inner_text() == "Some answers are missing"
    assert "Please answer this question." in page.evaluate(focused)
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    assert page.locator("form input:checked:not(details input)").count() == 1
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    sent_body(page)
    # The focus is on the heading that says what happened, and a screen reader hears it.
    assert page.evaluate(focused) == heading(page) == page.locator("#status").inner_text()
    assert running.stored(published) == 1


def test_what_a_screen_reader_finds(running: Collecting, chromium: Any) -> None:
    page = open_page(chromium.new_context(), running.publish(EVERY_KIND), running)
    told = page.locator("main").aria_snapshot()
    assert '- heading "Every kind of question" [level=1]' in told
    assert '- group "Your real answer How often do you smoke?"' in told
    assert '- radio "Every day"' in told
    assert '- group "Is your answer one of these? What do you earn?"' in told
    page.locator("summary").first.click()
    told = page.locator(".practice").first.aria_snapshot()
    assert '- group "Pretend that your answer is:"' in told
    # The list that is asked about belongs to its question, for those who hear the page too.
    group = page.get_by_role("group", name="Is your answer one of these? What do you earn?")
    about = group.get_attribute("aria-describedby").split()[0]
    assert set(page.locator(f"#{about} li").all_inner_texts()) < set(INCOMES)


def test_practice_is_neither_kept_nor_sent(running: Collecting, chromium: Any) -> None:
    published = running.publish(EVERY_KIND)
    page = open_page(chromium.new_context(), published, running)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    for box in page.locator("details.practice").all():
        box.locator("summary").click()
        for _ in range(3):
            if box.locator("input[type=search]").count():
                box.locator("input[type=search]").fill("Job 3")
            if box.locator("input").count():
                box.locator("input").last.check()
            elif box.locator("select").count():
                box.locator("select").select_option(index=5)
            box.locator("button").first.click()
            if box.get_by_role("button", name="Yes", exact=True).count():
                box.get_by_role("button", name="Yes", exact=True).click()
        assert "Practice report number 3." in box.inner_text()
    assert requests == []
    assert kept(page) == {}
    assert page.evaluate("() => localStorage.length + sessionStorage.length") == 0
    assert page.locator("form input:checked:not(details input)").count() == 0
    assert running.stored(published) == 0


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({**SHORT, "opens": "2199-01-01"}, "This survey is not open yet."),
        ({**SHORT, "closes": "2001-01-01"}, "This survey is closed."),
        ({**SHORT, "invitations": True}, "This survey is by invitation."),
    ],
    ids=["not open", "closed", "no invitation"],
)
def test_what_is_said_when_nothing_is_asked(
    running: Collecting, chromium: Any, document: dict[str, Any], said: str
) -> None:
    page = open_page(chromium.new_context(), running.publish(document), running)
    assert said in page.locator("main").inner_text()
    assert "Nothing was sent." in page.locator("main").inner_text()
    assert page.locator("form").count() == 0


def test_without_javascript_it_says_that_nothing_was_sent(running: Collecting, chromium: Any) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{running.url}/respond/{running.publish(SHORT)['id']}")
    text = page.locator("main").inner_text()
    assert "This page needs JavaScript" in text
    assert "nothing was sent" in text


def test_an_unknown_address_is_said_in_words(running: Collecting, chromium: Any) -> None:
    page = chromium.new_page()
    assert page.goto(f"{running.url}/respond/aaaaaaaaaaaaaaaa").status == 404
    assert "There is no survey at this address." in page.locator("main").inner_text()


def test_off_a_secure_context_nothing_is_asked(running: Collecting, chromium: Any) -> None:
    page = chromium.new_page()
    page.goto(running.url.replace("localhost", "page.test") + f"/respond/{running.publish(SHORT)['id']}")
    page.locator("main section").wait_for()
    assert "secure connection" in page.locator("main").inner_text()
    assert page.locator("form").count() == 0


@pytest.mark.parametrize("change", ["weights", "form", "nonsense"])
def test_a_design_that_was_changed_is_not_asked(running: Collecting, chromium: Any, change: str) -> None:
    published = running.publish(SHORT)
    page = chromium.new_page()

    def changed(route: Any) -> None:
        document = route.fetch().json()
        if change == "weights":
            weights = document["questions"][0]["design"]["weights"]
            weights["inside"], weights["outside"] = weights["outside"], weights["inside"]
        elif change == "form":
            document["questions"][0]["form"] = "subset"
        route.fulfill(body="{" if change == "nonsense" else json.dumps(document), content_type="application/json")

    page.route("**/api/surveys/*", changed)
    page.goto(f"{running.url}/respond/{published['id']}")
    page.locator("main section").wait_for()
    assert "Nothing was sent." in page.locator("main").inner_text()
    assert page.locator("form").count() == 0


def test_nothing_comes_from_elsewhere_and_nothing_stands_inline(running: Collecting, chromium: Any) -> None:
    page = chromium.new_page()
    seen: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: seen.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    document = {**EVERY_KIND, "title": "<script>alert(1)</script>", "texts": {"introduction": "<img src=x onerror=a>"}}
    published = running.publish(document)
    answered = page.goto(f"{running.url}/respond/{published['id']}")
    page.locator("form").wait_for()
    policy = answered.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert all(url.startswith(running.url) for url in seen)
    assert said == []
    assert page.locator("h1").inner_text() == "<script>alert(1)</script>"
    assert page.locator(".lead").inner_text() == "<img src=x onerror=a>"
    with pytest.raises(Exception, match="TrustedScript"):
        page.evaluate("() => document.body.append(Object.assign(document.createElement('script'), {text: 'leak = 1'}))")
    page.evaluate("() => document.body.setAttribute('style', 'color: red')")
    page.evaluate("() => fetch('http://page.test:1/').catch(() => null)")
    assert page.evaluate("() => window.leak") is None
    assert any("style-src" in line for line in said)
    assert any("connect-src" in line for line in said)


def test_other_files_of_the_folder_are_not_served(running: Collecting) -> None:
    import httpx

    for name in ("routes.py", "../routes.py", "page.html", "..%2froutes.py", "texts.json"):
        assert httpx.get(f"{running.url}/respond/assets/{name}").status_code == 404
