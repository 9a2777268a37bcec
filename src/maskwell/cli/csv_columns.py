"""Columns of a CSV file as Arrow text, a block at a time.

Blocks are read and cut here, not by Arrow's own streaming reader: that one waits in threads that Ctrl-C does not reach,
and its messages quote cells and whole rows.
"""

import codecs
import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from maskwell.cli.output import CommandError
from maskwell.errors import DataError

BLOCK_BYTES = 1 << 20
_LONGEST_ROW = 1 << 25


@dataclass(frozen=True)
class Dialect:
    """How a file spells its cells."""

    delimiter: str = ","
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        if len(self.delimiter) != 1 or not self.delimiter.isascii() or self.delimiter in '"\r\n':
            raise CommandError(f"--delimiter must be one character, such as , or ;; got {self.delimiter!r}.")
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            raise CommandError(
                f"--encoding {self.encoding!r} is not known; use for example utf-8 or latin-1."
            ) from None

    @property
    def row(self) -> str:
        """A pattern for one whole row: cells, of which those that begin with a quote may hold line breaks."""
        d = re.escape(self.delimiter)
        cell = rf'(?>"(?>[^"]++|"")*+"[^{d}\n]*+|[^"{d}\n][^{d}\n]*+)?+'
        return rf"(?>(?>{cell}{d})*+{cell}\n)"


def read_csv(
    file: Any, name: str, columns: Sequence[str], dialect: Dialect, told: Callable[[int], None]
) -> Iterator[Any]:
    """Record batches of the asked-for columns; ``told`` hears how many bytes were read so far."""
    blocks = _whole_rows(_utf8(file, name, dialect.encoding, told), name, dialect)
    first = next(blocks, b"")
    top = re.match(dialect.row.encode(), first)
    end = top.end() if top else len(first)
    header = _names(first[:end], name, dialect)
    for column in columns:
        # The names that are there are not listed: in a file without a header they would be the first person's answers.
        if header.count(column) != 1:
            how = "has no" if column not in header else "has more than one"
            raise DataError(f"{name!r} {how} column {column!r}; its first line must name the columns, each once.")
    return _batches(_with(first[end:], blocks), name, header, columns, dialect)


def _utf8(file: Any, name: str, encoding: str, told: Callable[[int], None]) -> Iterator[bytes]:
    """The file in UTF-8, without a byte-order mark."""
    plain = codecs.lookup(encoding).name == "utf-8"
    decode = None if plain else codecs.getincrementaldecoder(encoding)()
    read = 0
    while chunk := _block(file):
        start, read = read, read + len(chunk)
        told(read)
        if decode is None:
            yield chunk if start else chunk.removeprefix(codecs.BOM_UTF8)
            continue
        try:
            yield decode.decode(chunk).encode()
        except UnicodeError:
            raise DataError(f"{name!r} is not written in {encoding}; try another --encoding.") from None


def _block(file: Any) -> bytes:
    """The next block; a pipe is read piece by piece, so that Ctrl-C is heard between any two of them."""
    parts, wanted = [], BLOCK_BYTES
    while wanted and (part := file.read1(wanted)):
        parts.append(part)
        wanted -= len(part)
    return b"".join(parts)


def _whole_rows(chunks: Iterator[bytes], name: str, dialect: Dialect) -> Iterator[bytes]:
    """The same bytes, cut between rows."""
    rows = re.compile(f"{dialect.row}*+".encode())
    rest = b""
    for chunk in chunks:
        data = rest + chunk
        if b'"' in data:
            match = rows.match(data)
            end = match.end() if match else 0
        else:
            end = data.rfind(b"\n") + 1
        if end:
            yield data[:end]
        rest = data[end:]
        if len(rest) > _LONGEST_ROW:
            raise DataError(f"{name!r} has a row of more than {_LONGEST_ROW >> 20} MiB: a quote may be left open.")
    if rest:
        yield rest


def _with(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _names(line: bytes, name: str, dialect: Dialect) -> list[str]:
    try:
        return next(csv.reader([line.decode()], delimiter=dialect.delimiter), [])
    except (UnicodeDecodeError, csv.Error):
        raise DataError(
            f"{name!r} does not begin with a line of column names in {dialect.encoding}; try another --encoding."
        ) from None


def _batches(
    blocks: Iterator[bytes], name: str, header: list[str], columns: Sequence[str], dialect: Dialect
) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    rows = 0
    ragged: list[tuple[int, int]] = []

    def on_ragged(row: Any) -> str:
        ragged.append((row.number, row.actual_columns))
        return "error"

    # Columns are named by position: names may repeat among those that are not asked for.
    wanted = [str(header.index(column)) for column in columns]
    # In a file of one column an empty line is an empty cell; elsewhere it is no row.
    parse = arrow_csv.ParseOptions(
        delimiter=dialect.delimiter,
        newlines_in_values=True,
        ignore_empty_lines=len(header) > 1,
        invalid_row_handler=on_ragged,
    )
    convert = arrow_csv.ConvertOptions(
        include_columns=wanted, column_types={w: pa.string() for w in wanted}, strings_can_be_null=False
    )
    for block in blocks:
        if not block or (len(header) > 1 and not block.strip(b"\r\n")):
            continue
        read = arrow_csv.ReadOptions(
            use_threads=False, block_size=len(block) + 1, column_names=[str(i) for i in range(len(header))]
        )
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(block), read_options=read, parse_options=parse, convert_options=convert
            )
        except pa.ArrowException:
            if ragged:
                number, cells = ragged[0]
                where = f"has {cells} cells in data row {rows + number:,}, but {len(header)} column names"
            else:
                where = f"cannot be read after data row {rows:,}"
            raise DataError(f"{name!r} {where}; check --delimiter, --encoding and quoting.") from None
        rows += len(table)
        yield from table.rename_columns(list(columns)).combine_chunks().to_batches()
