"""Columns of data files, read a batch at a time: CSV, Parquet, Arrow, or CSV from standard input.

No message shows a cell. Arrow's own messages may, so they never pass through here.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maskwell.cli.csv_columns import Dialect, read_csv
from maskwell.cli.output import STANDARD, CommandError
from maskwell.errors import DataError
from maskwell.tables.labels import shown

_BATCH_ROWS = 1 << 17
_TEXT, _PARQUET, _ARROW = (".csv", ".tsv"), (".parquet", ".pq"), (".arrow", ".feather", ".ipc")


@dataclass(frozen=True)
class Table:
    """The asked-for columns of a file; ``total`` is its size in the unit in which ``done()`` says how much was read."""

    name: str
    batches: Iterator[Any]
    total: int | None
    done: Callable[[], int]


@contextmanager
def open_table(
    source: str, columns: Sequence[str], *, delimiter: str | None = None, encoding: str = "utf-8"
) -> Iterator[Table]:
    """Open a file, or CSV on standard input if ``source`` is ``-``, for the columns of these names."""
    name, suffix = Path(source).name, Path(source).suffix.lower()
    if source == STANDARD:
        name, suffix = "standard input", ".csv"
    with ExitStack() as stack:
        if suffix in _TEXT:
            file = sys.stdin.buffer if source == STANDARD else stack.enter_context(open(source, "rb"))
            dialect = Dialect(delimiter or ("\t" if suffix == ".tsv" else ","), encoding)
            yield _csv(file, name, columns, dialect, None if source == STANDARD else os.path.getsize(source))
        elif suffix in _PARQUET + _ARROW:
            stack.enter_context(open(source, "rb"))  # the system's own message if it cannot be opened
            yield _columnar(source, name, columns, suffix in _PARQUET)
        else:
            raise CommandError(
                f"data are read from {', '.join(_TEXT + _PARQUET + _ARROW)} or - (CSV on standard input); got {name!r}."
            )


def _csv(file: Any, name: str, columns: Sequence[str], dialect: Dialect, total: int | None) -> Table:
    done = 0

    def told(read: int) -> None:
        nonlocal done
        done = read

    return Table(name, _gathered(read_csv(file, name, columns, dialect, told)), total, lambda: done)


def _gathered(batches: Iterator[Any]) -> Iterator[Any]:
    """Batches of at least so many rows: a block of a wide CSV file holds few."""
    import pyarrow as pa

    held: list[Any] = []
    for batch in batches:
        held.append(batch)
        if sum(map(len, held)) >= _BATCH_ROWS:
            yield from pa.Table.from_batches(held).combine_chunks().to_batches()
            held = []
    if held:
        yield from pa.Table.from_batches(held).combine_chunks().to_batches()


def _columnar(source: str, name: str, columns: Sequence[str], parquet: bool) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with _unreadable(name):
        if parquet:
            file = pq.ParquetFile(source)
            schema, total = file.schema_arrow, file.metadata.num_rows
            raw = file.iter_batches(batch_size=_BATCH_ROWS, columns=list(columns))
        else:
            reader = pa.ipc.open_file(pa.memory_map(source))
            schema, total = reader.schema, None
            raw = (reader.get_batch(i) for i in range(reader.num_record_batches))
    for column in columns:
        if schema.names.count(column) != 1:
            how = "has no" if column not in schema.names else "has more than one"
            raise DataError(f"{name!r} {how} column {column!r}; its columns are {shown(tuple(schema.names))}.")
    read = 0

    def batches() -> Iterator[Any]:
        nonlocal read
        with _unreadable(name):
            for batch in raw:
                part = batch.select(list(columns))
                for start in range(0, len(part), _BATCH_ROWS):
                    yield part.slice(start, _BATCH_ROWS)
                read += len(part)

    return Table(name, batches(), total, lambda: read)


@contextmanager
def _unreadable(name: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError):
        raise DataError(f"{name!r} cannot be read: it is truncated, damaged, or another kind of file.") from None
