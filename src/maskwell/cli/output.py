"""What commands write: JSON for programs, whole files, streams that show when they are cut, and a progress bar."""

import contextlib
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import numpy as np
import typer

from maskwell.errors import MaskwellError, ReportError

STANDARD = "-"

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on standard output.")]


# Remedies that the library names as arguments and the command line offers as options.
_INTERVAL = re.compile(r"interval\(method='([\w-]+)'\)")
_ARGUMENT = re.compile(r"\b(method|permutations)='?([\w-]+)'?")


class CommandError(MaskwellError):
    """Options that do not go together, or name something that is not there."""


def in_options(text: str) -> str:
    """A message of the library in the words of the command line.

    >>> in_options("pass permutations=999, or use method='linear'")
    'pass --permutations 999, or use --method linear'
    """
    return _ARGUMENT.sub(r"--\1 \2", _INTERVAL.sub(r"--interval \1", text))


def emit_json(content: Any) -> None:
    """Print as JSON in UTF-8; what is not finite, such as no bound on the parity, becomes null."""
    typer.echo(json.dumps(_jsonable(content), indent=1, ensure_ascii=False, allow_nan=False).encode())


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _jsonable(value.tolist())
    if isinstance(value, (Fraction, Path)):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def save(path: Path, content: str) -> None:
    """Write a text file, whole or not at all."""
    from maskwell.whole_files import complete_file

    try:
        with complete_file(path) as temporary:
            temporary.write_text(content, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{path.name!r} could not be written: {error.strerror or error}.") from None


def check_output(output: Path, inputs: list[str]) -> None:
    """Before any work: an output needs a folder to go to, and must not replace what is being read."""
    if not output.parent.is_dir():
        raise CommandError(f"there is no folder {str(output.parent)!r} to write {output.name!r} into; create it first.")
    for name in inputs:
        with contextlib.suppress(OSError):
            if os.path.samefile(output, name):
                raise CommandError(f"{output.name!r} is also the input; choose another name for the output.")


class WholeOrCut:
    """A binary output for Arrow streams that, once something failed, writes nothing more, not even the end mark.

    A reader behind a pipe can then tell half a stream from a whole one.
    """

    def __init__(self, sink: BinaryIO) -> None:
        self._sink = sink
        self._failed = self.closed = False

    def watch(self, items: Iterator[Any]) -> Iterator[Any]:
        """The same items; an error among them is what cuts the stream."""
        try:
            yield from items
        except BaseException:
            self._failed = True
            raise

    def write(self, data: Any) -> int:
        if not self._failed:
            self._sink.write(data)
        return len(data)

    def flush(self) -> None:
        self._sink.flush()

    def close(self) -> None:
        self.flush()

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False


class UncutStream:
    """A binary input for Arrow streams that refuses one without its end mark."""

    closed = False

    def __init__(self, source: BinaryIO) -> None:
        self._source = source

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(size)
        # Arrow asks for as many bytes as the stream announced and stops at the end mark.
        if len(data) < size:
            raise ReportError(
                "'standard input' ends too early or is no stream of reports; see what stopped its writer."
            )
        return data

    def close(self) -> None:
        pass

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False


@contextmanager
def progress(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A bar on stderr where that is a terminal; the function it gives is told how much of the total is done."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    amount = "{task.completed:,}" if total is None else "{task.percentage:>3.0f} %"
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn(amount), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)
