"""Every state of the respondent's page passes axe, in light and dark, from left to right and from right to left."""

from collections.abc import Iterator
from typing import Any

import pytest

from maskwell import designs
from tests.browser.harness import browser
from tests.browser.respondents import (
    DESKTOP,
    EVERY_KIND,
    PHONE,
    SHORT,
    Collecting,
    answer,
    asked,
    axe,
    collecting,
    open_page,
    send,
    sent_body,
)

SUBMISSIONS = "**/submissions"
HEBREW = {
    "title": "סקר",
    "language": "he",
    "texts": {
        "introduction": "שלום",
        "send": "שליחה",
        "your_answer": "התשובה שלך",
        "sent_one": "המקרה בוחר אחת מתוך {k} תשובות ורק היא נשלחת.",
        "received": "תודה",
    },
    "questions": [asked("one", "באיזו תדירות?", designs.gamma_diagonal(["אף פעם", "לפעמים", "כל יום"], gamma=4))],
}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collecting]:
    with collecting(tmp_path_factory.mktemp("collecting")) as service:
        yield service


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as program:
        yield program


def state(page: Any, title: str) -> None:
    page.get_by_role("heading", name=title).wait_for()


def fits(page: Any) -> bool:
    """Nothing stands out of the window at its side."""
    return bool(page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"))


@pytest.mark.parametrize("look", [(PHONE, "light"), (DESKTOP, "dark")], ids=["phone, light", "desktop, dark"])
def test_every_kind_of_question(running: Collecting, chromium: Any, look: tuple[dict[str, int], Any]) -> None:
    size, scheme = look
    page = open_page(chromium.new_context(viewport=size, color_scheme=scheme), running.publish(EVERY_KIND), running)
    for box in page.locator("details.practice").all():
        box.locator("summary").click()
        if box.locator("input[type=search]").count():
            box.locator("input[type=search]").fill("job 1")
        if box.locator("input").count():
            box.locator("input").last.check()
        elif box.locator("select").count():
            box.locator("select").select_option(index=5)
        box.locator("button").first.click()
    send(page)
    assert page.locator("fieldset.incomplete").count() > 10
    assert axe(page) == []
    assert fits(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_state_of_sending(running: Collecting, chromium: Any, scheme: Any) -> None:
    published = running.publish(SHORT)
    page = open_page(chromium.new_context(viewport=PHONE, color_scheme=scheme), published, running)
    answer(page, {"one": "Sometimes"})
    held: list[Any] = []
    page.route(SUBMISSIONS, lambda route: held.append(route))
    send(page)
    state(page, "Your reports are being sent")
    assert axe(page) == []
    held[0].abort()
    state(page, "Your reports have not arrived yet")
    assert axe(page) == []
    page.unroute(SUBMISSIONS)
    page.route(SUBMISSIONS, lambda route: route.fulfill(status=422, body="{}"))
    page.get_by_role("button", name="Send now").click()
    state(page, "Your reports were not accepted")
    assert axe(page) == []
    page.unroute(SUBMISSIONS)
    page.get_by_role("button", name="Send now").click()
    sent_body(page)
    assert axe(page) == []
    page.get_by_role("button", name="Delete this receipt").click()
    page.get_by_text("no longer kept").wait_for()
    assert axe(page) == []
    late = running.publish(SHORT)
    page = open_page(chromium.new_context(viewport=PHONE, color_scheme=scheme), late, running)
    answer(page, {"one": "Sometimes"})
    running.close(late)
    send(page)
    state(page, "The survey was closed before your reports arrived")
    assert axe(page) == []


def test_every_reason_why_nothing_is_asked(running: Collecting, chromium: Any) -> None:
    documents = [
        {**SHORT, "opens": "2199-01-01"},
        {**SHORT, "closes": "2001-01-01"},
        {**SHORT, "invitations": True},
    ]
    for document in documents:
        page = open_page(chromium.new_context(viewport=PHONE), running.publish(document), running)
        assert page.locator("form").count() == 0
        assert axe(page) == []
    page = chromium.new_page(viewport=PHONE)
    page.goto(f"{running.url}/respond/aaaaaaaaaaaaaaaa")
    assert axe(page) == []
    for fault in ("{", "no answer"):
        page = chromium.new_page(viewport=PHONE)
        page.route(
            "**/api/surveys/*", lambda route, body=fault: route.abort() if body != "{" else route.fulfill(body=body)
        )
        page.goto(f"{running.url}/respond/{running.publish(SHORT)['id']}")
        page.get_by_role("button", name="Try again").wait_for()
        assert axe(page) == []


def test_from_right_to_left_with_texts_of_two_languages(running: Collecting, chromium: Any) -> None:
    page = open_page(chromium.new_context(viewport=PHONE), running.publish(HEBREW), running)
    assert page.evaluate("() => [document.documentElement.lang, document.documentElement.dir]") == ["he", "rtl"]
    # What the survey does not say in its own language is English, and says so.
    english = page.locator("[lang=en]")
    assert page.get_by_text("Your report alone says little.").get_attribute("lang") == "en"
    assert english.count() > 5
    assert page.get_by_role("button", name="שליחה").get_attribute("lang") is None
    assert page.get_by_text("המקרה בוחר אחת מתוך 3 תשובות ורק היא נשלחת.").count() == 1
    labels = page.locator("form > section label.option").first
    box, inner = labels.bounding_box(), labels.locator("input").bounding_box()
    assert inner["x"] > box["x"] + box["width"] / 2, "the button stands before its label, which is to the right"
    assert axe(page) == []
    assert fits(page)
    page.get_by_label("לפעמים").last.check()
    page.get_by_role("button", name="שליחה").click()
    sent_body(page)
    assert page.locator("section.state h2").inner_text() == "תודה"
    assert axe(page) == []


def test_an_axe_that_finds_nothing_would_find_a_fault(running: Collecting, chromium: Any) -> None:
    page = open_page(chromium.new_context(), running.publish(SHORT), running)
    page.evaluate("() => document.querySelector('form').append(document.createElement('select'))")
    assert any(found.startswith("select-name") for found in axe(page))


def test_a_search_by_keyboard(running: Collecting, chromium: Any) -> None:
    towns = [f"Town {i}" for i in range(10_000)] + ["Žďár nad Sázavou"]
    document = {
        "title": "Towns",
        "questions": [asked("town", "Where?", designs.projective(towns, gamma=3), optional=True)],
    }
    published = running.publish(document)
    page = open_page(chromium.new_context(viewport=PHONE), published, running)
    group = page.locator("fieldset:not(details fieldset)")
    search = group.get_by_role("searchbox")
    search.focus()
    page.keyboard.type("town 77")
    said = group.get_by_role("status")
    assert said.inner_text() == "111 found; the first 10 are shown. Type more to see others."
    assert group.get_by_role("radio").count() == 11
    assert group.get_by_role("radio").first.get_attribute("value") == "77"
    # Enter goes to what was found, and does not send the form.
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    assert group.get_by_label("Town 77", exact=True).is_checked()
    # What was chosen stays chosen, in sight, while one goes on searching; accents do not matter.
    search.fill("zdar NAD")
    assert said.inner_text() == "1 found"
    assert group.get_by_label("Town 77", exact=True).is_checked()
    group.get_by_label("Žďár nad Sázavou").check()
    assert group.locator("input:checked").count() == 1
    search.fill("nowhere")
    assert "Nothing found." in said.inner_text()
    assert axe(page) == []
    send(page)
    body = sent_body(page)
    assert "zdar" not in body
    assert axe(page) == []
    assert running.stored(published) == 1
