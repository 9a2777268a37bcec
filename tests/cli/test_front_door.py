"""What all commands share: help, refusals, the published numbers and the demonstration."""

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import maskwell as mw
from maskwell import published
from maskwell.cli.program import app
from maskwell.errors import SpeedWarning
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


def test_a_warning_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow() -> list[Any]:
        warnings.warn("it takes long without numba", SpeedWarning, stacklevel=1)
        return []

    monkeypatch.setattr(published, "rows", slow)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert run("reproduce", "--json").err == "maskwell: warning: it takes long without numba\n"


def test_demo_passes_its_folder_and_stays_silent_for_json(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from maskwell.demo import run as demo

    class Result:
        def to_dict(self) -> dict[str, Any]:
            return {"seconds": 1.5, "folder": "here", "files": {"demo.html": "a page"}}

    def short(folder: Path, echo: Callable[[str], None], waiting: Any) -> Result:
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


def completed(shell: str, line: str) -> str:
    """What a shell is offered after a line, as its script asks for it."""
    words = line.split(" ")
    asking = {
        "bash": {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)},
        "zsh": {"_TYPER_COMPLETE_ARGS": line},
        "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }
    ran = subprocess.run(
        [sys.executable, "-c", "import sys; from maskwell.cli import main; sys.exit(main())"],
        env={**os.environ, **asking[shell], "_MASKWELL_COMPLETE": f"complete_{shell}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == ""
    return ran.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_options_and_values(shell: str) -> None:
    assert "release" in completed(shell, "maskwell rel")
    assert "--epsilon" in completed(shell, "maskwell plan --eps")
    assert "likelihood" in completed(shell, "maskwell estimate --method like")
    assert "minimax" in completed(shell, "maskwell plan --design mini")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_is_shown_its_script(shell: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "maskwell", "--show-completion", shell],
        env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"complete_{shell}" in ran.stdout
