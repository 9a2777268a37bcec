"""What Chromium writes about a page into its profile, for restoring a session, holds no answer.

A browser keeps what is typed into a form unless the page forbids it. So the same page without its precautions is looked
at too: there the search must find something.
"""

import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import sync_playwright

from maskwell import designs
from tests.browser.harness import SHIPPED
from tests.browser.respondents import asked, collecting

# Words that stand nowhere else in a profile.
TOWNS = [f"Wuxobel {i}" for i in range(301)]
DAYS = ["Zebraqui", "Yelvotan", "Xorbipal"]
SURVEY = {
    "title": "Where",
    "questions": [
        asked("town", "Where do you live?", designs.projective(TOWNS, gamma=3)),
        asked("day", "When?", designs.gamma_diagonal(DAYS, gamma=4)),
    ],
}
PRECAUTIONS = {
    "search.js": [('autocomplete: "off"', 'autocomplete: "on"')],
    "respond.js": [('autocomplete: "off"', 'autocomplete: "on"'), ("pagehide", "never")],
}


def found_on_disk(folder: Path, words: list[str]) -> set[str]:
    """The words that a file of a profile holds, in either of the encodings that Chromium writes."""
    contents = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    return {word for word in words for code in ("utf-8", "utf-16-le") if word.encode(code) in contents}


@pytest.mark.parametrize("careful", [True, False], ids=["the page", "without its precautions"])
def test_a_profile_holds_no_answer(tmp_path: Path, careful: bool) -> None:
    profile = tmp_path / "profile"
    with collecting(tmp_path) as running, sync_playwright() as playwright:
        published = running.publish(SURVEY)
        context = playwright.chromium.launch_persistent_context(
            str(profile), executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for script, changes in ({} if careful else PRECAUTIONS).items():
            context.route(f"**/{script}", _without(script, changes))
        page = context.new_page()
        page.goto(f"{running.url}/respond/{published['id']}")
        search = page.locator("input[type=search]").last
        search.fill("wuxobel 29")
        page.get_by_label("Wuxobel 297").check()
        page.get_by_label("Xorbipal").last.check()
        page.goto("about:blank")
        page.wait_for_timeout(3000)  # Chromium writes sessions down every 2.5 seconds
        context.close()
    found = found_on_disk(profile, ["wuxobel 29", "Wuxobel 297", "Xorbipal"])
    assert found == (set() if careful else {"wuxobel 29"})


def _without(script: str, changes: list[tuple[str, str]]) -> Any:
    source = (SHIPPED.parent / "respond" / "assets" / script).read_text("utf-8")
    for old, new in changes:
        assert source.count(old) == 1
        source = source.replace(old, new)
    return lambda route: route.fulfill(body=source, content_type="text/javascript")
