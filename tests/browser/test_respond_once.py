"""Draw once: whatever happens to the page or the connection, the very same report is sent, and counted once."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.harness import browser
from tests.browser.respondents import SHORT, Collecting, answer, collecting, heading, kept, open_page, send, sent_body

THANKS = "Thank you. Your reports have arrived."
WAITING = "Your reports have not arrived yet"
SUBMISSIONS = "**/submissions"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collecting]:
    with collecting(tmp_path_factory.mktemp("collecting")) as service:
        yield service


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as program:
        yield program


@pytest.fixture
def published(running: Collecting) -> dict[str, str]:
    return running.publish(SHORT)


class Tab:
    """A tab with the answered page of a survey, and the bodies that were sent from its browser."""

    def __init__(self, chromium: Any, published: dict[str, str], running: Collecting) -> None:
        self.context = chromium.new_context()
        self.bodies: list[str] = []
        self.context.on("request", self._heard)
        self.page = self.ready(published, running)

    def _heard(self, request: Any) -> None:
        if request.method == "POST":
            self.bodies.append(request.post_data)

    def ready(self, published: dict[str, str], running: Collecting) -> Any:
        page = open_page(self.context, published, running)
        answer(page, {"one": "Sometimes"})
        return page

    @property
    def kept(self) -> dict[str, str] | None:
        """What the browser keeps, all of it."""
        assert self.page.evaluate("() => localStorage.length + sessionStorage.length") == 0
        everything = list(kept(self.page).values())
        assert len(everything) <= 1
        return json.loads(everything[0]) if everything else None


@pytest.fixture
def tab(chromium: Any, published: dict[str, str], running: Collecting) -> Tab:
    return Tab(chromium, published, running)


def state(page: Any, title: str) -> None:
    page.get_by_role("heading", name=title).wait_for()


def test_a_double_click_sends_one_report(tab: Tab, published: dict[str, str], running: Collecting) -> None:
    tab.page.get_by_role("button", name="Draw my reports").dblclick()
    body = sent_body(tab.page)
    assert tab.bodies == [body]
    assert running.stored(published) == 1
    assert tab.kept == {"state": "answered", "body": body}


def test_reload_and_back_show_the_receipt(tab: Tab, published: dict[str, str], running: Collecting) -> None:
    send(tab.page)
    body = sent_body(tab.page)
    tab.page.reload()
    assert sent_body(tab.page) == body
    assert heading(tab.page) == "You have answered this survey on this device."
    tab.page.goto("about:blank")
    tab.page.go_back()
    assert sent_body(tab.page) == body
    assert tab.page.locator("form").count() == 0
    assert tab.bodies == [body]
    assert running.stored(published) == 1


def test_the_connection_is_lost_and_comes_back(tab: Tab, published: dict[str, str], running: Collecting) -> None:
    tab.context.set_offline(True)
    send(tab.page)
    state(tab.page, WAITING)
    kept = tab.kept
    assert kept is not None
    assert kept["state"] == "pending"
    assert running.stored(published) == 0
    tab.context.set_offline(False)
    state(tab.page, THANKS)
    assert set(tab.bodies) == {kept["body"]}
    assert sent_body(tab.page) == kept["body"]
    assert running.stored(published) == 1


def test_reloading_without_a_connection_keeps_the_report(
    tab: Tab, published: dict[str, str], running: Collecting
) -> None:
    tab.page.route(SUBMISSIONS, lambda route: route.abort())
    send(tab.page)
    state(tab.page, WAITING)
    kept = tab.kept
    for _ in range(3):
        tab.page.reload()
        state(tab.page, WAITING)
    assert tab.page.locator("form").count() == 0
    assert tab.kept == kept
    tab.page.unroute(SUBMISSIONS)
    tab.page.get_by_role("button", name="Send now").click()
    state(tab.page, THANKS)
    assert kept is not None
    assert set(tab.bodies) == {kept["body"]}
    assert running.stored(published) == 1


def test_an_acknowledgement_that_gets_lost(tab: Tab, published: dict[str, str], running: Collecting) -> None:
    """The report is stored, the answer never arrives: the same report again is no second one."""

    def lose(route: Any) -> None:
        route.fetch()
        route.abort()

    tab.page.route(SUBMISSIONS, lose)
    send(tab.page)
    state(tab.page, WAITING)
    assert running.stored(published) == 1
    tab.page.unroute(SUBMISSIONS)
    tab.page.reload()
    state(tab.page, THANKS)
    assert len(set(tab.bodies)) == 1
    assert running.stored(published) == 1


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_service_in_trouble_is_asked_again(
    tab: Tab, published: dict[str, str], running: Collecting, status: int
) -> None:
    answers = [status]

    def trouble(route: Any) -> None:
        if answers:
            route.fulfill(status=answers.pop(), body="{}", headers={"Retry-After": "1"})
        else:
            route.continue_()

    tab.page.route(SUBMISSIONS, trouble)
    send(tab.page)
    state(tab.page, THANKS)
    assert len(tab.bodies) == 2
    assert len(set(tab.bodies)) == 1
    assert running.stored(published) == 1


def test_a_second_tab_follows_the_first(tab: Tab, published: dict[str, str], running: Collecting) -> None:
    second = tab.ready(published, running)
    send(tab.page)
    body = sent_body(tab.page)
    assert sent_body(second) == body
    assert second.locator("form").count() == 0
    assert tab.bodies == [body]
    assert running.stored(published) == 1


def test_two_tabs_at_the_same_moment(tab: Tab, published: dict[str, str], running: Collecting) -> None:
    pages = [tab.page, *(tab.ready(published, running) for _ in range(3))]
    press = "() => setTimeout(() => document.querySelector('button.primary').click(), 200)"
    for page in pages:
        page.evaluate(press)
    bodies = {sent_body(page) for page in pages}
    assert len(bodies) == 1
    assert set(tab.bodies) == bodies
    assert running.stored(published) == 1


def test_a_second_tab_sends_what_the_first_could_not(tab: Tab, published: dict[str, str], running: Collecting) -> None:
    tab.page.route(SUBMISSIONS, lambda route: route.abort())
    send(tab.page)
    state(tab.page, WAITING)
    kept = tab.kept
    second = open_page(tab.context, published, running)
    assert kept is not None
    assert sent_body(second) == kept["body"]
    state(tab.page, "You have answered this survey on this device.")
    assert running.stored(published) == 1


def test_a_survey_that_closes_before_the_report_arrives(
    tab: Tab, published: dict[str, str], running: Collecting
) -> None:
    running.close(published)
    send(tab.page)
    state(tab.page, "The survey was closed before your reports arrived")
    assert tab.kept is None
    tab.page.reload()
    tab.page.get_by_text("This survey is closed.").wait_for()
    assert running.stored(published) == 0


def test_a_refused_report_is_not_drawn_again(tab: Tab, published: dict[str, str], running: Collecting) -> None:
    tab.page.route(SUBMISSIONS, lambda route: route.fulfill(status=422, body="{}"))
    send(tab.page)
    state(tab.page, "Your reports were not accepted")
    assert "422" in tab.page.locator("main").inner_text()
    kept = tab.kept
    tab.page.unroute(SUBMISSIONS)
    tab.page.reload()
    assert kept is not None
    assert sent_body(tab.page) == kept["body"]


@pytest.mark.parametrize("fault", ["blocked", "full"])
def test_a_browser_that_keeps_nothing(
    chromium: Any, published: dict[str, str], running: Collecting, fault: str
) -> None:
    """The page's memory has to do: the same report is sent again, and the respondent is asked to stay."""
    context = chromium.new_context()
    method = {"blocked": "IDBFactory.prototype.open", "full": "IDBObjectStore.prototype.put"}[fault]
    context.add_init_script(f"{method} = () => {{ throw new DOMException('no', 'QuotaExceededError'); }}")
    bodies: list[str] = []
    context.on("request", lambda request: bodies.append(request.post_data) if request.method == "POST" else None)
    page = open_page(context, published, running)
    stay = "Your browser does not let this page keep anything."
    assert (stay in page.locator("main").inner_text()) is (fault == "blocked")
    answer(page, {"one": "Never"})
    page.route(SUBMISSIONS, lambda route: route.abort())
    send(page)
    state(page, WAITING)
    assert stay in page.locator("main").inner_text()
    page.unroute(SUBMISSIONS)
    page.get_by_role("button", name="Send now").click()
    state(page, THANKS)
    assert len(set(bodies)) == 1
    assert running.stored(published) == 1


def test_an_answer_does_not_outlive_its_page(tab: Tab) -> None:
    """Neither a reload nor the way back brings a choice back that was not sent."""
    chosen = "() => document.querySelectorAll('input:checked').length"
    assert tab.page.evaluate(chosen) == 1
    tab.page.reload()
    tab.page.locator("form").wait_for()
    assert tab.page.evaluate(chosen) == 0
    answer(tab.page, {"one": "Never"})
    tab.page.evaluate("() => dispatchEvent(new PageTransitionEvent('pagehide', {persisted: true}))")
    assert tab.page.evaluate(chosen) == 0
    answer(tab.page, {"one": "Never"})
    tab.page.goto("about:blank")
    tab.page.go_back()
    tab.page.locator("form").wait_for()
    assert tab.page.evaluate(chosen) == 0


def test_the_answer_is_gone_before_anything_is_sent(tab: Tab) -> None:
    """When the request leaves, no control holds an answer any more, and the reports are kept."""
    at_that_moment: list[Any] = []

    def look(route: Any) -> None:
        at_that_moment.append((tab.page.evaluate("() => document.querySelectorAll('input').length"), tab.kept))
        route.continue_()

    tab.page.route(SUBMISSIONS, look)
    send(tab.page)
    body = sent_body(tab.page)
    assert at_that_moment == [(0, {"state": "pending", "body": body})]


def test_the_receipt_can_be_removed(tab: Tab, published: dict[str, str], running: Collecting) -> None:
    send(tab.page)
    sent_body(tab.page)
    tab.page.get_by_role("button", name="Delete this receipt from this device").click()
    tab.page.get_by_text("What was sent is no longer kept on this device.").wait_for()
    assert tab.kept == {"state": "answered"}
    tab.page.reload()
    tab.page.get_by_text("What was sent is no longer kept on this device.").wait_for()
    assert tab.page.locator("form").count() == 0
    assert running.stored(published) == 1
