"""What README.md and docs/ show: every block runs and prints what stands below it, or says why it is not run."""

import re
from pathlib import Path

import pytest

from tools.docs_site.blocks import PICTURE, blocks, unexcused
from tools.docs_site.names import public_names, undocumented
from tools.docs_site.running import PageError, run

ROOT = Path(__file__).resolve().parents[1]
DOCS = [path for path in sorted((ROOT / "docs").rglob("*.md")) if "node_modules" not in path.parts]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
TEXTS = {str(page.relative_to(ROOT)): page.read_text("utf-8") for page in PAGES}
# Pages with pictures are run when the site is built, which tests/test_site.py does.
RUNNING = [
    name
    for name, text in TEXTS.items()
    if any(block.language in ("python", "sh") and not block.excuse for block in blocks(text))
    and not any(block.language == PICTURE for block in blocks(text))
]


# pandas 3 says this inside PySpark, which tests would turn into an error.
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("page", RUNNING)
def test_a_page_does_what_it_shows(page: str, tmp_path: Path) -> None:
    ran = run(TEXTS[page], page, tmp_path)
    if page == "README.md":
        commands = {words[1] for words in ran.commands if words[0] == "maskwell"}
        assert commands == {"plan", "mask", "estimate", "audit", "compare", "test", "risk", "release", "reproduce"}


@pytest.mark.parametrize("page", TEXTS)
def test_every_block_runs_or_says_why_not(page: str) -> None:
    silent = [f"line {block.lines[0] + 1}: {block.language or 'no language'}" for block in unexcused(TEXTS[page])]
    assert silent == [], f"{page}: name the language, or write <!-- not run: why --> above"


@pytest.mark.parametrize("page", TEXTS)
def test_what_others_run_is_there(page: str) -> None:
    """An excuse that names a test names one that exists."""
    for block in blocks(TEXTS[page]):
        for name in re.findall(r"tests/\S+\.py", block.excuse or ""):
            assert (ROOT / name).exists(), f"{page}: {name}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("```python\nprint(1)\n```\n", "nothing"),
        ("```python\nprint(1)\n```\n\n```text\n2\n```\n", "2"),
        ("```python\n1 / 0\n```\n", "ZeroDivisionError"),
        ("```sh\nmaskwell plan --epsilon\n```\n", "maskwell plan"),
        ("```sh\nfalse | true\n```\n", "false"),
        ("```{picture}\nx = 1\n```\n", "last line"),
    ],
)
def test_a_page_that_is_not_true_is_found(text: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(PageError, match=problem):
        run(text, "page", tmp_path)


@pytest.mark.parametrize("text", ["```\nx\n```", "```js\nx\n```", "words\n\n    x\n", "<!-- note -->\n```r\nx\n```"])
def test_a_block_without_an_excuse_is_found(text: str) -> None:
    assert len(unexcused(text)) == 1


@pytest.mark.parametrize("page", TEXTS)
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", TEXTS[page]):
        assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}, which is not there"


def test_every_named_design_is_in_the_readme() -> None:
    from maskwell.designs import DESIGNS

    assert [name for name in DESIGNS if f"`{name}`" not in TEXTS["README.md"]] == []


def test_every_named_design_has_a_page_with_its_sources() -> None:
    from maskwell.designs import DESIGNS
    from maskwell.designs.registry import REFERENCES

    for name, entry in DESIGNS.items():
        page = TEXTS[f"docs/methods/{name}.md"].replace("\\#", "#")
        assert [key for key in entry.references if REFERENCES[key] not in page] == [], name


def test_every_public_name_is_documented() -> None:
    names = public_names()
    assert len(names) > 100
    assert undocumented(names) == []


def test_a_name_without_a_docstring_is_found() -> None:
    assert undocumented(["tests.test_docs._Silent"]) == ["tests.test_docs._Silent", "tests.test_docs._Silent.method"]


class _Silent:
    __module__ = "maskwell.silent"

    def method(self) -> None: ...
