"""Standard streams that are closed, full, or read by somebody who leaves: one line or none, never a traceback."""

import shlex
from pathlib import Path

import pytest

from tests.cli.runs import shell

MASK = "mask answers.csv -c colour -d design.json"
COMMANDS = [
    "--help",
    "designs",
    "plan --k 5 --epsilon 1 -o -",
    f"{MASK} -o -",
    f"{MASK} -o out.parquet",
    "estimate reports.parquet --json",
    "audit design.json",
]


def together(*lines: str) -> str:
    return "; ".join(lines)


def test_a_closed_output_is_said_in_one_line(files: Path) -> None:
    """And before any work: nothing is written that nobody could be told about."""
    for command in COMMANDS:
        ran = shell(f"maskwell {command} >&-; echo $? >&2", files)
        said, code = ran.stderr.splitlines()
        assert said.startswith("maskwell: standard output is closed"), command
        assert code == "2", command
    assert not (files / "out.parquet").exists()


def test_a_full_output_is_said_in_one_line(files: Path) -> None:
    for command in COMMANDS:
        ran = shell(f"maskwell {command} > /dev/full; echo $? >&2", files)
        *said, code = ran.stderr.splitlines()
        assert said[0] == "maskwell: standard output could not be written: No space left on device.", command
        assert len(said) == 1, command
        assert code == "2", command


def test_a_reader_that_leaves_ends_a_command_as_it_ends_others(files: Path) -> None:
    """141, as a process that the system's own signal ends; what was written to a file stays."""
    for command in COMMANDS:
        # The reader is gone before anything can be written.
        ran = shell(f"(sleep 0.1; maskwell {command}; echo $? >&2) | true", files)
        assert ran.stderr == "141\n", command
    assert (files / "out.parquet").exists()


@pytest.mark.parametrize("closing", ["2>&-", "2> /dev/full", "2>&- <&-"])
def test_errors_that_cannot_be_said_keep_their_code(files: Path, closing: str) -> None:
    ran = shell(
        together(
            f"maskwell plan --k 5 --epsilon 0 {closing}; echo $?",
            f"maskwell nonsense {closing}; echo $?",
            f"maskwell estimate missing.parquet {closing}; echo $?",
            f"maskwell plan --k 5 --epsilon 1 -o d.json {closing} > /dev/null; echo $?",
        ),
        files,
    )
    assert (ran.stdout, ran.stderr) == ("2\n2\n2\n0\n", "")


def test_nothing_is_written_into_a_file_that_has_the_number_of_a_closed_stream(files: Path) -> None:
    """A file that is opened while standard error is closed must not become it."""
    shell(f"maskwell {MASK} --seed 1 -o whole.csv; maskwell {MASK} --seed 1 -o other.csv 2>&- <&-", files)
    assert (files / "whole.csv").read_bytes() == (files / "other.csv").read_bytes()


def test_a_closed_input_is_an_empty_one(files: Path) -> None:
    for command in (
        "estimate -",
        "mask - -c colour -d design.json -o o.parquet",
        "mask answers.csv -c colour -d - -o -",
    ):
        ran = shell(f"maskwell {command} <&- | cat", files)
        assert ran.returncode == 2, shlex.quote(command)
        assert ran.stderr.startswith("maskwell: "), command
        assert ran.stderr.count("\n") == 1, command
