"""What all commands share: help, refusals, the published numbers and the demonstration."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import maskwell as mw
from maskwell import published
from maskwell.cli.program import app
from tests.cli.runs import SECRET, Run, assert_refused
from tests.cli.schema import assert_fits

COMMANDS = sorted(get_command(app).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "args",
    [["audit"], ["audit", "design.json", "--k", "3"], ["audit", "design.json", "--design", "rappor"], ["nonsense"]],
)
def test_other_commands_refuse(run: Run, files: Path, args: list[str]) -> None:
    assert_refused(run(*args))


def test_the_name_of_a_design_is_no_file(run: Run) -> None:
    assert_refused(run("audit", "rappor"), "'rappor' is the name of a design", "--design rappor")


def test_an_unforeseen_error_does_not_show_its_message(run: Run, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr("maskwell.tables.answers.Answers.read", broken)
    ran = run("mask", "answers.csv", "-c", "colour", "-d", "design.json", "-o", "o.parquet")
    assert (ran.code, ran.out) == (70, b"")
    assert "RuntimeError" in ran.err
    assert SECRET not in ran.err
    assert not Path("o.parquet").exists()


def test_an_interrupt_is_said_wherever_it_comes(run: Run, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(mw.Design, "from_json", interrupt)
    ran = run("audit", "design.json")
    assert (ran.code, ran.err.count("\n")) == (130, 1)
    assert "interrupted" in ran.err


def test_reproduce_agrees(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "compare", cache(published.compare))  # both forms show one computation
    ran = run("reproduce", "--json")
    assert ran.code == 0
    assert_fits("reproduce", ran.json)
    assert "wrong" not in {record["verdict"] for record in ran.json["rows"]}
    kinds = ran.json["counts"]
    assert sum(sum(of_kind.values()) for of_kind in kinds.values()) == len(ran.json["rows"])
    assert "agrees" not in kinds["unprinted"]
    text = run("reproduce")
    assert text.code == 0
    assert "the papers' own arithmetic, which tests nothing of ours" in text.out.decode()


def test_reproduce_fails_on_a_row_that_is_not_as_recorded(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    row = published.Row("nayak-zhai-2019", "Table 1", "a number", "0.123", lambda: 0.456)
    monkeypatch.setattr(published, "rows", lambda: [row])
    assert run("reproduce").code == 1
    assert run("reproduce", "--json").code == 1


def test_demo_passes_its_folder_and_stays_silent_for_json(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from maskwell.demo import run as demo

    class Result:
        def to_dict(self) -> dict[str, Any]:
            return {"seconds": 1.5, "folder": "here", "files": {"demo.html": "a page"}}

    def short(folder: Path, echo: Callable[[str], None]) -> Result:
        echo(f"writing to {folder}")
        return Result()

    monkeypatch.setattr(demo, "run", short)
    assert run("demo", "--folder", "here").out == b"writing to here\n"
    assert run("demo", "--json").json == {
        "vocabulary": 1,
        "seconds": 1.5,
        "folder": "here",
        "output": ["here/demo.html"],
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(run: Run, command: str) -> None:
    text = run(command, "--help").out.decode()
    assert f"maskwell {command}" in text.split("Examples:")[1]
    assert "--json" in text
    assert f"\n  {command} " in run("--help").out.decode()


def test_without_a_command_help_is_shown(run: Run) -> None:
    assert run().out == run("--help").out
    assert run("--version").out == f"maskwell {mw.__version__}\n".encode()
