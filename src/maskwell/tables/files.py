"""Columns of data files of every format that we read, a batch at a time.

No message shows a cell. Arrow's own messages may, so they never pass through here.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from maskwell.errors import DataError
from maskwell.input_files import require_regular
from maskwell.microdata.files import ARROW, PARQUET, TEXT, delimiter_of, open_text, read, suffix_of
from maskwell.microdata.model import unquoted
from maskwell.microdata.text.cells import CsvCells
from maskwell.plain_text import among
from maskwell.tables.partitions import values_of

_BATCH_ROWS = 1 << 17
_NEARLY = 0.75


@dataclass(frozen=True)
class Batches:
    """The asked-for columns of a file; ``total`` is its size in the unit in which ``done()`` says how much was read.

    ``schema`` is that of the batches, as far as it is known before there is one: cells of text files are text.
    """

    name: str
    schema: Any
    batches: Iterator[Any]
    total: int | None
    done: Callable[[], int]


@contextmanager
def open_columns(
    source: str | os.PathLike[str] | BinaryIO,
    columns: Sequence[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    where_there: Sequence[str] | None = None,
) -> Iterator[Batches]:
    """Open a file, or CSV that is read from an open one, for the columns of these names.

    Columns that are named in ``where_there`` are read as well if the file has them. A column that the file lacks may
    be told by the folder that it is in, ``region=north``.
    """
    wanted = _Wanted(columns, where_there or ())
    if not isinstance(source, (str, os.PathLike)):
        yield _text(source, "standard input", wanted, delimiter, encoding, None, {})
        return
    name, suffix, told = Path(source).name, suffix_of(source), values_of(source)
    require_regular(source)
    if suffix in TEXT:
        with open_text(source, suffix) as file:
            yield _text(file, name, wanted, delimiter or delimiter_of(suffix), encoding, os.path.getsize(source), told)
    elif suffix in ARROW:
        with open(source, "rb"):  # the system's own message if it cannot be opened
            yield _columnar(str(source), name, wanted, suffix in PARQUET, told)
    else:
        with open(source, "rb"):
            yield _labelled(source, name, wanted)


@dataclass(frozen=True)
class _Wanted:
    """The columns that a file must have, and those that are read where it has them."""

    columns: Sequence[str]
    where_there: Sequence[str]

    def of(self, available: Sequence[str]) -> list[str]:
        """The columns to read from a file with these."""
        further = [name for name in self.where_there if list(available).count(name) == 1]
        return list(dict.fromkeys([*self.columns, *further]))


def _text(
    file: Any,
    name: str,
    wanted: _Wanted,
    delimiter: str | None,
    encoding: str | None,
    total: int | None,
    told: Mapping[str, str | None],
) -> Batches:
    import pyarrow as pa

    cells = CsvCells(file, name, delimiter, encoding)
    columns = wanted.of([*cells.header, *_beside(told, cells.header)])
    own, told = _apart(columns, cells.header, told)
    for column in own:
        # The names that are there are not listed: in a file without a header they would be the first person's answers.
        # One that is nearly the name asked for is a name.
        if cells.header.count(column) != 1:
            how = "has no" if column not in cells.header else "has more than one"
            raise DataError(
                f"{name!r} {how} column {column!r}; its first line must name the columns, each once, and has "
                f"{len(cells.header)} of them separated by {cells.layout.delimiter!r}{_nearest(column, cells.header)}."
            )

    def batches() -> Iterator[Any]:
        for parts in cells.batches([cells.header.index(column) for column in own]):
            yield _with_told(pa.record_batch([_texts(part) for part in parts], names=own), columns, told)

    # Of a packed file, how much of it was unpacked so far.
    packed = getattr(file, "fileobj", None)
    schema = pa.schema([pa.field(column, pa.string()) for column in columns])
    return Batches(name, schema, _gathered(batches()), total, packed.tell if packed else lambda: cells.bytes_read)


def _nearest(column: str, header: Sequence[str]) -> str:
    """Of a header the name that is nearly the one asked for."""
    lower = {name.lower(): name for name in header}
    near = difflib.get_close_matches(column.lower(), lower, n=1, cutoff=_NEARLY)
    return f"; the nearest is {lower[near[0]]!r}" if near and column not in header else ""


def _beside(told: Mapping[str, str | None], available: Sequence[str]) -> dict[str, str | None]:
    """What the folders tell and the file does not."""
    return {name: value for name, value in told.items() if name not in available}


def _apart(
    columns: Sequence[str], available: Sequence[str], told: Mapping[str, str | None]
) -> tuple[list[str], Mapping[str, str | None]]:
    """The columns to read, and those that the folders tell because the file lacks them; one at least is read."""
    beside = {name: value for name, value in _beside(told, available).items() if name in columns}
    own = [column for column in columns if column not in beside]
    if not own:
        raise DataError(f"{columns[0]!r} is the name of a folder alone; ask for a column of the files beside it.")
    return own, beside


def _with_told(batch: Any, columns: Sequence[str], told: Mapping[str, str | None]) -> Any:
    """The batch in the order of ``columns``, with one value in every row of those that the folders tell."""
    import pyarrow as pa

    if not told:
        return batch
    cells = {name: pa.repeat(pa.scalar(value, pa.string()), len(batch)) for name, value in told.items()}
    return pa.record_batch([cells[name] if name in cells else batch.column(name) for name in columns], list(columns))


def _texts(part: Any) -> Any:
    import pyarrow as pa

    if not pa.types.is_dictionary(part.type):
        return part
    return pa.DictionaryArray.from_arrays(part.indices, unquoted(part.dictionary)).dictionary_decode()


def _gathered(batches: Iterator[Any]) -> Iterator[Any]:
    """Batches of at least so many rows: a block of a wide CSV file holds few."""
    import pyarrow as pa

    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= _BATCH_ROWS:
            yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()
            waiting = []
    if waiting:
        yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()


def _columnar(source: str, name: str, wanted: _Wanted, parquet: bool, told: Mapping[str, str | None]) -> Batches:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with _unreadable(name):
        if parquet:
            file = pq.ParquetFile(source, pre_buffer=False)
            schema, total = file.schema_arrow, file.metadata.num_rows
            columns = wanted.of([*schema.names, *_beside(told, schema.names)])
            own, told = _apart(columns, schema.names, told)
            raw = file.iter_batches(batch_size=_BATCH_ROWS, columns=own)
        else:
            reader = pa.ipc.open_file(pa.memory_map(source))
            schema, total = reader.schema, None
            columns = wanted.of([*schema.names, *_beside(told, schema.names)])
            own, told = _apart(columns, schema.names, told)
            raw = (reader.get_batch(i) for i in range(reader.num_record_batches))
    _require(own, schema.names, name)
    return _cut(raw, schema, name, columns, total, told)


def _labelled(source: str | os.PathLike[str], name: str, wanted: _Wanted) -> Batches:
    """Stata and SPSS: such files are read whole. A value that has a label is that label."""
    import pyarrow as pa

    found = read(source)
    columns = wanted.of(found.names)
    _require(columns, found.names, name)
    table = pa.table({column: found.cells(column) for column in columns})
    return _cut(iter(table.to_batches()), table.schema, name, columns, len(table), {})


def _cut(
    raw: Iterator[Any],
    schema: Any,
    name: str,
    columns: Sequence[str],
    total: int | None,
    told: Mapping[str, str | None],
) -> Batches:
    import pyarrow as pa

    read = 0
    own = [column for column in columns if column not in told]

    def batches() -> Iterator[Any]:
        nonlocal read
        with _unreadable(name):
            for batch in raw:
                part = _with_told(batch.select(own), columns, told)
                for start in range(0, len(part), _BATCH_ROWS):
                    yield part.slice(start, _BATCH_ROWS)
                read += len(part)

    fields = [pa.field(column, pa.string()) if column in told else schema.field(column) for column in columns]
    return Batches(name, pa.schema(fields), batches(), total, lambda: read)


def _require(columns: Sequence[str], available: Sequence[str], name: str) -> None:
    for column in columns:
        if list(available).count(column) != 1:
            how = "has no" if column not in available else "has more than one"
            raise DataError(f"{name!r} {how} column {column!r}; {among(column, available, quoted=True)}.")


@contextmanager
def _unreadable(name: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError):
        raise DataError(f"{name!r} cannot be read: it is truncated, damaged, or another kind of file.") from None
