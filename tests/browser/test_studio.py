"""A survey team in Chromium, on a phone and on a desk: signs in, plans, publishes, watches, and signs out."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from maskwell.collect import Client
from maskwell.collect.sample import document, people
from tests.browser.harness import browser
from tests.browser.respondents import DESKTOP, PHONE, Collecting, axe, collecting


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collecting]:
    with collecting(tmp_path_factory.mktemp("studio")) as service:
        yield service


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as program:
        yield program


class Team:
    """A browser of the team, and everything that it asked for and complained about."""

    def __init__(self, chromium: Any, running: Collecting, size: dict[str, int]) -> None:
        self.running, self.size = running, size
        self.context = chromium.new_context(viewport=size)
        self.page = self.context.new_page()
        self.asked: list[str] = []
        self.said: list[str] = []
        self.context.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))

    def go(self, path: str) -> None:
        self.page.goto(f"{self.running.url}/studio/{path}")

    def sign_in(self, token: str) -> None:
        self.go("signin")
        self.page.get_by_label("Token").fill(token)
        self.page.keyboard.press("Enter")
        self.page.get_by_role("button", name="Sign out").wait_for()

    def check(self) -> None:
        """The page that is open fits, is usable by everybody, and brings nothing from elsewhere."""
        assert self.page.evaluate("() => document.documentElement.scrollWidth") == self.size["width"], self.page.url
        assert axe(self.page) == [], self.page.url
        assert self.said == []
        assert all(url.startswith((self.running.url, "blob:")) for url in self.asked)


def answer(running: Collecting, survey: str, first: int, after: int) -> None:
    """Simulated respondents of the sample survey answer over HTTP."""
    everybody = people()
    with httpx.Client() as http:
        client = Client(running.url, http=http)
        asked = client.survey(survey)
        for number in range(first, after):
            client.submit_reports(survey, client.mask(asked, everybody[number * 619 % 1000]))


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_from_a_plan_to_a_published_survey(running: Collecting, chromium: Any, size: dict[str, int]) -> None:
    team = Team(chromium, running, size)
    page = team.page
    team.sign_in(running.token)
    team.check()
    page.get_by_role("link", name="Plan a question", exact=True).click()
    page.locator("#frontier svg").wait_for()
    team.check()
    _drag(page)
    for kind in ("beta-factor", "rho", "information", "local-diversity", "average-security"):
        with page.expect_response("**/plan/figures"):
            page.get_by_label("The demand").select_option(kind)
        assert page.locator("#problem").inner_text() == ""
    assert "give the truth away" in page.locator("#plan").inner_text()
    with page.expect_response("**/plan/figures"):
        page.get_by_label("The demand").select_option("ldp")
    page.get_by_role("radio", name="Use RAPPOR", exact=True).check()
    page.locator("#title", has_text="RAPPOR").wait_for()
    team.check()
    page.get_by_role("button", name="Add to the survey").click()

    page.get_by_label("Title").fill("Our <b>survey</b>")
    page.get_by_label("What respondents read first").fill("Welcome.")
    team.check()
    with team.context.expect_page() as opened:
        page.get_by_role("button", name="Try it as a respondent").click()
    _respond(opened.value)
    page.get_by_role("button", name="Publish").click()
    page.get_by_role("heading", name="Published").wait_for()
    token, link = page.locator("#token").inner_text(), page.locator("#link").inner_text()
    assert token.startswith("mw_")
    team.check()
    page.get_by_role("link", name="Watch the survey").click()
    page.get_by_role("heading", name="Our <b>survey</b>").wait_for()
    assert page.get_by_role("link", name=link).count() == 1
    assert token not in page.content()
    assert not any(token in url for url in team.asked)
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", name="You are signed out").wait_for()
    team.check()
    assert page.evaluate("() => localStorage.length") == 0
    team.context.close()


def _drag(page: Any) -> None:
    """The region moves in the very moment in which the slider does; the service's figures follow."""
    before = page.locator("#half-width").inner_text()
    region = "document.querySelector('#breach .edge').getAttribute('points')"
    moved = page.evaluate(
        f"""() => {{
          const slider = document.getElementById("epsilon");
          const before = {region};
          slider.value = "3";
          slider.dispatchEvent(new Event("input", {{ bubbles: true }}));
          return before !== {region};
        }}"""
    )
    assert moved
    page.wait_for_function("before => document.getElementById('half-width').textContent !== before", arg=before)
    assert "69.1" in page.locator("#breach-title").inner_text()  # e³ times the odds of a tenth
    page.get_by_label("ε:").press("ArrowLeft")
    page.wait_for_function("() => document.getElementById('parity').textContent === '× 19.11'")


def _respond(page: Any) -> None:
    page.locator("section.question").wait_for()
    assert page.locator("h1").inner_text() == "Preview: Our <b>survey</b>"
    page.get_by_label("often", exact=True).last.check()
    page.get_by_role("button", name="Draw my reports and send them").click()
    page.locator("#sent-bytes").wait_for()
    page.close()


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_watching_a_survey_that_is_answered(running: Collecting, chromium: Any, size: dict[str, int]) -> None:
    survey = running.publish(document())
    answer(running, survey["id"], 0, 100)
    team = Team(chromium, running, size)
    page = team.page
    team.sign_in(survey["owner_token"])
    page.locator("[data-part=picture] svg").nth(2).wait_for()
    assert page.locator("#shown").inner_text() == "100"
    assert "privacy" in page.locator("[data-part=noise]").first.inner_text()
    team.check()
    answer(running, survey["id"], 100, 115)
    page.locator("#shown", has_text="110").wait_for()
    page.locator("#received", has_text="115").wait_for()
    page.locator("[data-part=noise]", has_text="110 reports").first.wait_for()

    page.get_by_role("link", name="What a report gives away").first.click()
    page.locator("#breach svg").wait_for()
    team.check()
    page.get_by_role("link", name="Two questions").click()
    page.locator("#verdict", has_text="independent").wait_for()
    team.check()
    page.get_by_label("how often is each answer given to").select_option("drugs")
    page.locator("#unclear", has_text="drugs").wait_for()
    page.get_by_role("link", name="Export and close").click()
    team.check()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as CSV").click()
    assert download.value.suggested_filename == f"{survey['id']}.zip"
    # Without the tick the browser itself holds the form back.
    page.get_by_role("button", name="Close the survey").click()
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Close the survey").click()
    page.locator("#state", has_text="closed").wait_for()
    team.context.close()


def test_making_invitations(running: Collecting, chromium: Any) -> None:
    survey = running.publish({**document(), "invitations": True})
    team = Team(chromium, running, PHONE)
    page = team.page
    team.sign_in(survey["owner_token"])
    page.get_by_role("link", name="Invitations", exact=True).click()
    assert page.get_by_role("heading", name="What can be linked, and what cannot").is_visible()
    team.check()
    page.get_by_label("How many people").fill("3")
    with page.expect_download() as download:
        page.get_by_role("button", name="Make and download").click()
    head, *addresses = download.value.path().read_text().splitlines()
    assert (head, len(set(addresses))) == ("invitation", 3)
    page.goto(addresses[0])
    page.get_by_role("button", name="Draw my reports and send them").wait_for()
    team.context.close()


def test_a_session_that_ended_is_said_in_words(running: Collecting, chromium: Any) -> None:
    survey = running.publish(document())
    team = Team(chromium, running, DESKTOP)
    team.sign_in(survey["owner_token"])
    team.context.clear_cookies()
    team.page.locator("#problem", has_text="sign in again").wait_for()
    team.context.close()


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_a_file_from_risk_to_release(running: Collecting, chromium: Any, size: dict[str, int], tmp_path: Path) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    rows = [f"{'fm'[i % 2]},{18 + i * 7 % 40},{'ab'[i % 3 // 2]},{2000 - i * 7 % 40}" for i in range(200)]
    path = tmp_path / f"{hostile.replace('/', '')}.csv"
    path.write_text("\n".join([f"sex,age,{hostile},born", *rows, ""]), encoding="utf-8")
    team = Team(chromium, running, size)
    team.sign_in(running.token)
    team.go("files")
    team.check()
    team.page.get_by_label("A file of records").set_input_files(path)
    team.page.get_by_text("200 records, 4 columns.").wait_for()
    for name, role in (("sex", "within"), ("age", "key"), (hostile, "key")):
        team.page.get_by_role("combobox", name=name, exact=True).select_option(role)
    team.page.get_by_role("button", name="Measure the risk").click()
    team.page.get_by_text("records alone with their keys").wait_for()
    team.page.get_by_role("button", name="Release the file").click()
    team.page.get_by_text("Stopped: 'born' would stay").wait_for()
    team.check()
    team.page.get_by_role("combobox", name="born", exact=True).select_option("drop")
    team.page.get_by_role("button", name="Release the file").click()
    link = team.page.get_by_role("link", name="The released file")
    link.wait_for()
    with team.page.expect_download() as download:
        link.click()
    released = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert (released[0], len(released)) == (f"sex,age,{hostile}", 201)
    assert download.value.suggested_filename == "released.csv"
    team.check()
