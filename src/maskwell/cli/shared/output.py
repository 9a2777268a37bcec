"""What commands write: JSON for programs, whole files, and a progress bar."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from maskwell.errors import MaskwellError
from maskwell.plain_json import VOCABULARY, json_text
from maskwell.plain_text import visible

STANDARD = "-"

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on standard output.")]


class CommandError(MaskwellError):
    """Options that do not go together, or name something that is not there."""


def emit_json(content: dict[str, Any], indent: int | None = 1) -> None:
    """Print as JSON in UTF-8; what is not finite, such as no bound on the parity, becomes null."""
    typer.echo(json_text({"vocabulary": VOCABULARY, **content}, indent).encode())


def named(*outputs: Path | str | None) -> list[str]:
    """The files among what was asked for: neither what was not, nor standard output."""
    return [str(output) for output in outputs if output is not None and str(output) != STANDARD]


def say_written(outputs: list[str]) -> None:
    """One line for each file that was written."""
    for output in outputs:
        typer.echo(f"wrote {visible(output)}".encode())


def save(path: Path, content: str) -> None:
    """Write a text file, whole or not at all."""
    from maskwell.whole_files import complete_file

    try:
        with complete_file(path) as file:
            file.write(content.encode())
    except OSError as error:
        raise CommandError(f"{path.name!r} could not be written: {error.strerror or error}.") from None


def check_output(output: Path, inputs: list[str]) -> None:
    """Before any work: an output needs a folder to go to, and must replace only files that are not being read."""
    from maskwell.whole_files import check_target

    if not output.parent.is_dir():
        raise CommandError(f"there is no folder {str(output.parent)!r} to write {output.name!r} into; create it first.")
    for name in inputs:
        with contextlib.suppress(OSError):
            if os.path.samefile(output, name):
                raise CommandError(f"{output.name!r} is also the input; choose another name for the output.")
    try:
        check_target(output)
    except OSError as error:
        raise CommandError(f"{str(output)!r} could not be written: {error.strerror}.") from None


@contextmanager
def progress(what: str, total: int | None = None) -> Iterator[Callable[[float], None]]:
    """A bar on stderr where that is a terminal; the function it gives is told how much of the total is done."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    amount = "{task.completed:,}" if total is None else "{task.percentage:>3.0f} %"
    columns = TextColumn("{task.description}", markup=False), BarColumn(), TextColumn(amount), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(visible(what), total=total)
        yield lambda done: bar.update(task, completed=done)
