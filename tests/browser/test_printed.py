"""Cards and devices as Chromium prints them: A4 sheets, nothing cut off, and areas in the proportions of the design."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from maskwell import designs as D
from maskwell.questionnaires import ask, page
from tests.browser.harness import browser
from tests.browser.respondents import PHONE
from tests.surveys.questions import SENSITIVE, questions

A4 = (595, 842)
# What lies in a sector, by its colour, among all points of the disc that are not lines or letters.
SHARES = """async () => {
  const svg = document.querySelector("svg.spinner").cloneNode(true);
  svg.querySelectorAll("text, .mark, circle").forEach((part) => part.remove());
  svg.setAttribute("width", "800"); svg.setAttribute("height", "800");
  const image = new Image();
  const address = URL.createObjectURL(new Blob([svg.outerHTML], { type: "image/svg+xml" }));
  await new Promise((done) => { image.onload = done; image.src = address; });
  const canvas = document.createElement("canvas"); canvas.width = canvas.height = 800;
  const context = canvas.getContext("2d"); context.drawImage(image, 0, 0);
  const found = {};
  const data = context.getImageData(0, 0, 800, 800).data;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] === 255) {
      const colour = [data[i], data[i + 1], data[i + 2]].join(",");
      found[colour] = (found[colour] || 0) + 1;
    }
  }
  return found;
}"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as program:
        yield program


def opened(chromium: Any, text: str, folder: Path) -> Any:
    (folder / "cards.html").write_text(text, encoding="utf-8")
    shown = chromium.new_page()
    shown.goto(f"file://{folder / 'cards.html'}")
    return shown


def test_everything_is_printed_on_a4(chromium: Any, tmp_path: Path) -> None:
    asked = questions()
    shown = opened(chromium, page(list(asked.values()), "de"), tmp_path)
    assert shown.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    shown.set_viewport_size(PHONE)
    assert shown.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    printed = shown.pdf(prefer_css_page_size=True)
    shown.close()
    boxes = [tuple(map(float, box.split())) for box in re.findall(rb"/MediaBox \[([\d. ]+)\]", printed)]
    # Two cards for each question and a sheet for each device; up to 15 cards are on one.
    assert len(boxes) == sum(2 + len(question.devices) for question in asked.values())
    assert all((round(width), round(height)) == A4 for _, _, width, height in boxes)


@pytest.mark.parametrize(("design", "share"), [(D.warner(truth_prob=0.7), 0.3), (D.warner(truth_prob=0.0625), 0.9375)])
def test_the_areas_of_a_spinner_are_the_chances(design: Any, share: float, chromium: Any, tmp_path: Path) -> None:
    shown = opened(chromium, page(ask(design, SENSITIVE, name="q", device="spinner")), tmp_path)
    found = shown.evaluate(SHARES)
    shown.close()
    white, coloured = found["255,255,255"], found["219,231,243"]
    # A line of half a millimetre covers a little of both.
    assert coloured / (white + coloured) == pytest.approx(share, abs=0.006)
