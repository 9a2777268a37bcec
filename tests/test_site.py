"""The documentation site: it builds without a warning, and Chromium shows every page without asking any other machine.

One test, since the site is built once: its pages with pictures are run by the build.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.browser.harness import browser
from tools.docs_site import errata
from tools.docs_site.names import public_names

ROOT = Path(__file__).resolve().parents[1]
PHONE = {"width": 390, "height": 800}
# Images without an alternative text, and charts that are read aloud as nothing.
WITHOUT_WORDS = """() => [
  ...[...document.images].filter((image) => !image.alt.trim()).map((image) => image.src),
  ...[...document.querySelectorAll("figure")]
    .filter((figure) => !figure.querySelector(".chart > svg[role=img][aria-label]"))
    .map((figure) => figure.innerText),
]"""


def test_the_site_is_complete_and_asks_no_other_machine(tmp_path: Path) -> None:
    site = tmp_path / "site"
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-d",
        str(tmp_path / "trees"),
        "docs",
        str(site),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    listed = "".join(page.read_text("utf-8") for page in (site / "reference").glob("*.html"))
    assert [name for name in public_names() if f'id="{name}"' not in listed] == []
    with browser() as chromium:
        pages = sorted(site.rglob("*.html"))
        assert len(pages) > 50
        view = chromium.new_page(viewport=PHONE)
        faults = [fault for page in pages for fault in _faults(view, page)]
        assert faults == []
        assert _found(chromium, site, "crosswise")


def _faults(page: Any, path: Path) -> list[str]:
    """What is wrong with a page on a phone: requests to elsewhere, errors, pictures undrawn or without words, width."""
    faults: list[str] = []
    listeners = {
        "request": lambda request: None if _is_ours(request.url) else faults.append(f"asks {request.url}"),
        "pageerror": lambda error: faults.append(f"error: {error}"),
    }
    for event, listener in listeners.items():
        page.on(event, listener)
    page.goto(path.as_uri(), wait_until="load")
    if page.locator("figure .chart").count():
        page.wait_for_function(
            "[...document.querySelectorAll('figure')].every(figure => figure.dataset.drawn)", timeout=60_000
        )
    width = page.evaluate("document.documentElement.scrollWidth")
    if width > PHONE["width"]:
        faults.append(f"is {width} pixels wide on a phone of {PHONE['width']}")
    faults += [f"has no words for {picture}" for picture in page.evaluate(WITHOUT_WORDS)]
    for event, listener in listeners.items():
        page.remove_listener(event, listener)
    return [f"{path.name}: {fault}" for fault in faults]


def _is_ours(url: str) -> bool:
    return url.startswith(("file://", "data:", "blob:"))


def _found(chromium: Any, site: Path, word: str) -> bool:
    """Whether the search finds a word, from files alone."""
    page = chromium.new_page()
    page.goto(f"{(site / 'search.html').as_uri()}?q={word}")
    page.wait_for_selector("#search-results li a", timeout=60_000)
    return bool(page.locator("#search-results li a").count())


def test_the_errata_are_those_of_the_program() -> None:
    """Computing them takes minutes; their statements are compared, and ``maskwell reproduce`` computes the values."""
    page = errata.PAGE.read_text("utf-8")
    rows = errata.wanted()
    assert len([line for line in page.splitlines() if line.startswith("| ")]) - page.count("| what |") == len(rows)
    assert [row.what for row in rows if f"| {errata.cell(row.what)} | {errata.cell(row.printed)}" not in page] == []
