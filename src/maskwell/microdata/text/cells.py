"""CSV files as cells, a block of whole rows at a time: the one place that takes such text apart.

Encoding and delimiter are found unless they are given. Blocks are read and cut here, not by Arrow's own streaming
reader: that one waits in threads that Ctrl-C does not reach, and its messages quote cells and whole rows.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import DataError
from maskwell.microdata.model import Layout

BLOCK_BYTES = 1 << 20
_DELIMITERS = (",", ";", "\t", "|")
_LONGEST_ROW = 1 << 25
_QUOTE, _NEWLINE, _RETURN = ord('"'), ord("\n"), ord("\r")
_MARKS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_NO_TEXT = "cannot be read: it is not text"
# Every ASCII text is one in these, and means the same.
_BEYOND_ASCII = ("utf-8", "iso8859-1")


class CsvCells:
    """A CSV file, open for buffered reading: the names in its first line, how it is spelled, and its cells.

    ``block_bytes`` is about how much is read at a time.
    """

    def __init__(
        self,
        file: Any,
        name: str,
        delimiter: str | None = None,
        encoding: str | None = None,
        block_bytes: int | None = None,
    ) -> None:
        _check(delimiter, encoding)
        self.name, self.bytes_read, self._lines, self._rows = name, 0, 0, 0
        self._size = block_bytes or BLOCK_BYTES
        self._special = dict.fromkeys((*_DELIMITERS, *([delimiter] if delimiter else []), "\n", "\r"))
        encoding, mark = self._encoding(file, encoding)
        self._blocks = self._whole_rows(self._decoded(self._raw(file), encoding, mark))
        first = next(self._blocks, b"")
        data, restore = self._without_quoted_breaks(first)
        end = data.find(b"\n") + 1 or len(data)
        line = data[:end].rstrip(b"\r\n")
        delimiter = delimiter or max(_DELIMITERS, key=lambda d: line.count(d.encode()))
        cells = tuple(restore(cell) for cell in line.split(delimiter.encode()))
        newline = b"\r\n" if data[:end].endswith(b"\r\n") else b"\n"
        self.layout = Layout(cells, delimiter, newline, True, encoding, mark)
        self.header = [_unquoted(cell.decode()) for cell in cells] if first else []
        self._first, self._lines = first[end:], first[:end].count(b"\n")
        self.final_newline = True

    def batches(self, wanted: Sequence[int] | None = None, *, threads: bool = False) -> Iterator[list[Any]]:
        """The cells of the columns in these positions as they are spelled, quotes included: Arrow arrays by block.

        A column is text, or a dictionary of texts where cells stand in quotes.
        """
        positions = range(len(self.header)) if wanted is None else wanted
        for block in _with(self._first, self._blocks):
            # In a file of one column an empty line is an empty cell; elsewhere it is not a row.
            if block and (len(self.header) == 1 or block.strip(b"\r\n")):
                yield self._parsed(block, positions, threads)
            self._lines += block.count(b"\n")
            self.final_newline = block.endswith(b"\n") if block else self.final_newline

    # From bytes to whole rows in UTF-8.

    def _raw(self, file: Any) -> Iterator[bytes]:
        while block := self._block(file):
            self.bytes_read += len(block)
            yield block

    def _block(self, file: Any) -> bytes:
        """The next block; a pipe is read piece by piece, so that Ctrl-C is heard between any two of them."""
        parts, wanted = [], self._size
        with self._unpacking():
            while wanted and (part := file.read1(wanted)):
                parts.append(part)
                wanted -= len(part)
        return b"".join(parts)

    @contextmanager
    def _unpacking(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise DataError(
                f"{self.name!r} cannot be read: it is truncated, damaged, or not compressed with gzip."
            ) from None

    def _encoding(self, file: Any, given: str | None) -> tuple[str, bytes]:
        """The encoding and the byte order mark of a file; of a pipe, which is read once, it must be given or UTF-8."""
        with self._unpacking():
            start = file.peek(4)[:4]
        known = None if given is None else codecs.lookup(given).name.removesuffix("-sig")
        for mark, encoding in _MARKS:
            if start.startswith(mark) and known in (None, "utf-16", encoding):
                return encoding, mark
        mark = codecs.BOM_UTF8 if start.startswith(codecs.BOM_UTF8) else b""
        if known is None:
            utf8 = not file.seekable() or self._is_utf8(file)
            # Any bytes are Latin-1, so they come out as they went in whatever they mean.
            return ("utf-8", mark) if utf8 else ("latin-1", b"")
        return "utf-16-le" if known == "utf-16" else known, mark if known == "utf-8" else b""

    def _is_utf8(self, file: Any) -> bool:
        start, decoder = file.tell(), codecs.getincrementaldecoder("utf-8")()
        try:
            while block := self._block(file):
                if not block.isascii() or decoder.getstate()[0]:
                    decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
        finally:
            file.seek(start)
        return True

    def _decoded(self, blocks: Iterator[bytes], encoding: str, mark: bytes) -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder(encoding)()
        try:
            for block in blocks:
                text, mark = block.removeprefix(mark), b""
                if not (codecs.lookup(encoding).name in _BEYOND_ASCII and text.isascii() and not decoder.getstate()[0]):
                    text = decoder.decode(text).encode()
                if b"\0" in text:
                    raise DataError(f"{self.name!r} {_NO_TEXT}.")
                yield text
            yield decoder.decode(b"", final=True).encode()
        except UnicodeError:
            raise DataError(
                f"{self.name!r} is not written in {encoding}; name its encoding.", parameter="encoding"
            ) from None

    def _whole_rows(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """The same bytes, cut between rows."""
        rest = b""
        for chunk in chunks:
            data = rest + chunk
            end = _end_of_rows(data)
            if end:
                yield data[:end]
            rest = data[end:]
            if len(rest) > _LONGEST_ROW:
                raise DataError(
                    f"{self.name!r} has a row of more than {_LONGEST_ROW >> 20} MiB: a quote may be left open."
                )
        if rest:
            yield rest

    # From rows to cells.

    def _without_quoted_breaks(self, data: bytes) -> tuple[bytes, Any]:
        """The bytes with stand-ins for what would separate cells or rows outside quotes, and how to undo that."""
        if b'"' not in data:
            return data, lambda cells: cells
        text = np.frombuffer(data, np.uint8)
        quote = text == _QUOTE
        inside = np.cumsum(quote, dtype=np.uint8) & 1 == 1
        special = [ord(character) for character in self._special]
        self._refuse_stray_quotes(text, quote, inside, special)
        free = [byte for byte in (*range(1, 9), *range(14, 32)) if bytes([byte]) not in data][: len(special)]
        if len(free) < len(special):
            raise DataError(f"{self.name!r} {_NO_TEXT}.")
        table = np.arange(256, dtype=np.uint8)
        table[special] = free
        pairs = [(chr(stand_in), original) for stand_in, original in zip(free, self._special, strict=True)]
        return np.where(inside, table[text], text).tobytes(), lambda cells: _restored(cells, pairs)

    def _refuse_stray_quotes(
        self, text: NDArray[Any], quote: NDArray[Any], inside: NDArray[Any], special: list[int]
    ) -> None:
        """Quotes enclose a whole cell, and are doubled inside one; anything else could be read in two ways."""
        border = np.isin(text, special)
        at = np.flatnonzero(quote)
        opens = at[inside[at]]
        before = np.maximum(opens - 1, 0)
        wrong = opens[(opens > 0) & ~border[before] & ~quote[before]]
        closes = at[~inside[at]]
        after = np.minimum(closes + 1, len(text) - 1)
        wrong = np.concatenate([wrong, closes[(closes < len(text) - 1) & ~border[after] & ~quote[after]]])
        if inside[-1]:
            wrong = np.append(wrong, at[-1])
        if len(wrong):
            row = self._lines + int((text[: wrong.min()] == _NEWLINE).sum())
            raise DataError(
                f"{self.name!r} has a quote in line {row + 1:,} or below that is left open or stands inside a cell; "
                "enclose whole cells in quotes and double the quotes inside them."
            )

    def _parsed(self, block: bytes, positions: Sequence[int], threads: bool) -> list[Any]:
        data, restore = self._without_quoted_breaks(block)
        table = self._table(data, positions, threads)
        self._rows += len(table)
        columns = [column.combine_chunks() for column in table.columns]
        if data is block:
            return columns
        return [_with_entries(column.dictionary_encode(), restore) for column in columns]

    def _table(self, data: bytes, positions: Sequence[int], threads: bool) -> Any:
        """Every cell as it is spelled, as an Arrow table of text."""
        import pyarrow as pa
        from pyarrow import csv

        # Columns are named by position: names may repeat among those that are not asked for.
        width, wanted = len(self.header), [str(position) for position in positions]
        ragged: list[tuple[int, int]] = []

        def on_ragged(row: Any) -> str:
            ragged.append((row.number or 0, row.actual_columns))
            return "error"

        def parse(threads: bool) -> Any:
            names = [str(position) for position in range(width)]
            return csv.read_csv(
                pa.BufferReader(data),
                csv.ReadOptions(use_threads=threads, block_size=len(data) + 1, column_names=names),
                csv.ParseOptions(
                    delimiter=self.layout.delimiter,
                    quote_char=False,
                    ignore_empty_lines=width > 1,
                    invalid_row_handler=on_ragged,
                ),
                csv.ConvertOptions(
                    check_utf8=False,
                    include_columns=wanted,
                    column_types=dict.fromkeys(wanted, pa.string()),
                    strings_can_be_null=False,
                ),
            )

        if threads:
            try:
                return parse(threads=True)
            except pa.ArrowException:
                ragged.clear()
        try:
            return parse(threads=False)  # which numbers the rows
        except pa.ArrowException:
            if not ragged:
                raise DataError(f"{self.name!r} cannot be read after data row {self._rows:,}.") from None
        number, cells = ragged[0]
        raise DataError(
            f"{self.name!r} has {cells} cells in data row {self._rows + number:,}, but {width} column names; it may be "
            "cut off there, or its cells be separated in another way."
        )


def _check(delimiter: str | None, encoding: str | None) -> None:
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0'):
        raise DataError(f"delimiter must be one character, such as , or ;; got {delimiter!r}.", parameter="delimiter")
    if encoding is not None:
        try:
            b"a".decode(encoding, "ignore")
            codecs.getincrementaldecoder(encoding)
        except LookupError:
            raise DataError(
                f"encoding {encoding!r} is not known; use for example utf-8 or latin-1.", parameter="encoding"
            ) from None


def _end_of_rows(data: bytes) -> int:
    if b'"' not in data:
        return data.rfind(b"\n") + 1
    text = np.frombuffer(data, np.uint8)
    outside = np.cumsum(text == _QUOTE, dtype=np.uint8) & 1 == 0
    ends = np.flatnonzero((text == _NEWLINE) & outside)
    return int(ends[-1]) + 1 if len(ends) else 0


def _with(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _restored(cells: Any, pairs: list[tuple[str, str]]) -> Any:
    """Bytes, or an Arrow array of texts, with what stood there before the stand-ins."""
    import pyarrow.compute as pc

    for stand_in, original in pairs:
        if isinstance(cells, bytes):
            cells = cells.replace(stand_in.encode(), original.encode())
        else:
            cells = pc.replace_substring(cells, stand_in, original)
    return cells


def _with_entries(column: Any, change: Any) -> Any:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(column.indices, change(column.dictionary))


def _unquoted(cell: str) -> str:
    quoted = re.fullmatch('"(.*)"', cell, re.DOTALL)
    return quoted.group(1).replace('""', '"') if quoted else cell
