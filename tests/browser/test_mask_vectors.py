"""mask.js draws the frozen vectors, in node and in Chromium: the shipped file, with words where it looks for chance."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.browser.harness import MASK_JS, browser, node, served

VECTORS = [
    case
    for name in ("one_category", "sets", "rows", "blocks", "products", "hyperplanes", "layers")
    for case in json.loads((Path(__file__).parents[1] / "vectors" / f"{name}.json").read_bytes())["cases"]
]


def check(found: dict[str, Any]) -> None:
    assert found["different"] == []
    assert found["cases"] == len(VECTORS)
    assert found["reports"] == sum(len(case["reports"]) for case in VECTORS)
    assert set(found["modes"]) == {"words", "seeded", "keyed"}


def test_in_node() -> None:
    check(node("try_vectors.mjs", MASK_JS))


def test_in_chromium() -> None:
    with served() as port, browser() as chromium:
        page = chromium.new_page()
        page.goto(f"http://localhost:{port}/tests/browser/empty.html")
        check(page.evaluate(_TRY_VECTORS))


_TRY_VECTORS = """async () => {
  const mask = await import("/src/maskwell/collect/browser/mask.js");
  const { tryVectors } = await import("/tests/browser/vectors.js");
  return tryVectors(mask, async (path) => (await fetch(`/tests/${path}`)).text());
}"""


@pytest.mark.parametrize("host", ["page.test"])
def test_a_page_that_is_no_secure_context_is_refused(host: str) -> None:
    design = VECTORS[0]["design"]
    with served() as port, browser() as chromium:
        for name, secure in (("localhost", True), (host, False)):
            page = chromium.new_page()
            page.goto(f"http://{name}:{port}/tests/browser/empty.html")
            assert page.evaluate("() => isSecureContext") is secure
            outcome = page.evaluate(_TRY_TO_MASK, json.dumps(design))
            assert (outcome == "a report") is secure
            assert secure or "secure context" in outcome


_TRY_TO_MASK = """async (text) => {
  const { readDesign, MaskError } = await import("/src/maskwell/collect/browser/mask.js");
  try {
    return Number.isInteger(readDesign(text).mask(0)) ? "a report" : "no report";
  } catch (error) {
    return error instanceof MaskError ? error.message : String(error);
  }
}"""
