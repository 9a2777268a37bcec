"""What README.md and docs/ show and name: examples print what stands below them, commands run, names exist."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from maskwell.cli import main

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = re.compile(r"```python\n(.*?)```\s*```text\n(.*?)```", re.DOTALL)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = [(page.name, code, output) for page in PAGES for code, output in EXAMPLE.findall(page.read_text("utf-8"))]


@pytest.mark.parametrize(("page", "code", "output"), EXAMPLES, ids=[page for page, _, _ in EXAMPLES])
def test_example_prints_what_the_page_shows(
    page: str, code: str, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, page, "exec"), {})
    assert printed.getvalue().strip() == output.strip()


def test_the_commands_of_the_readme_run_in_the_order_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In one folder, examples in Python included: a command may need what another has written."""
    monkeypatch.chdir(tmp_path)
    ran = []
    for language, block in re.findall(r"```(\w*)\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL):
        if language == "python":
            exec(compile(block, "README.md", "exec"), {})
        elif not language:
            for line in block.replace("\\\n", " ").splitlines():
                command, *args = shlex.split(line, comments=True) or [""]
                if command == "maskwell":
                    assert main(args) == 0, (line, capfd.readouterr().err)
                    ran.append(args[0])
                elif command == "python":
                    assert args[0] == "-c"
                    exec(args[1], {})
                else:
                    assert command in ("", "make"), f"who runs {line!r}?"
    assert {"plan", "mask", "estimate", "audit", "compare", "test", "risk", "release", "reproduce"} == set(ran)


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
