"""The examples in README.md and docs/ give the output that is printed below them."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = re.compile(r"```python\n(.*?)```\s*```text\n(.*?)```", re.DOTALL)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = [(page.name, code, output) for page in PAGES for code, output in EXAMPLE.findall(page.read_text("utf-8"))]


@pytest.mark.parametrize(("page", "code", "output"), EXAMPLES, ids=[page for page, _, _ in EXAMPLES])
def test_example_prints_what_the_page_shows(page: str, code: str, output: str) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, page, "exec"), {})
    assert printed.getvalue().strip() == output.strip()


def test_the_readme_has_an_example() -> None:
    assert any(page == "README.md" for page, _, _ in EXAMPLES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


def test_every_named_design_is_in_the_readme() -> None:
    from maskwell.designs import DESIGNS

    text = (ROOT / "README.md").read_text("utf-8")
    assert [name for name in DESIGNS if f"`{name}`" not in text] == []
