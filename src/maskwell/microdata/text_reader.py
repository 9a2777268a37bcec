"""CSV files, cell by cell as they are spelled.

Every column becomes a dictionary: the entries are the values, and the variable's codes are the cells as they stand in
the file, quotes included. A cell that is not changed is therefore written as it was read.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import DataError
from maskwell.microdata.model import Layout, Microdata, Variable

_DELIMITERS = (",", ";", "\t", "|")
_QUOTE, _NEWLINE, _RETURN = ord('"'), ord("\n"), ord("\r")
_NUMBER = r"^-?(0|[1-9][0-9]{0,17})(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$"
_WHOLE = r"^-?(0|[1-9][0-9]{0,17})$"
MISSING_NUMBERS = ("NA", "N/A", "NaN", "nan", "NULL", "null", ".")
"""In a column of numbers these mean missing. In a column of text only the empty cell does: NA may be a country."""
_BLOCK = 1 << 24


def read_text(data: bytes, name: str, delimiter: str | None, na: Sequence[str]) -> Microdata:
    """The columns of a CSV file; the delimiter is found from the first line unless it is given."""
    data, encoding, mark = _utf8(data)
    if b"\0" in data:
        raise DataError(f"{name!r} cannot be read: it is no text.")
    data, masked = _without_quoted_breaks(data, name)
    end = data.find(b"\n") + 1 or len(data)
    first = data[:end].rstrip(b"\r\n")
    delimiter = delimiter or max(_DELIMITERS, key=lambda d: first.count(d.encode()))
    newline = b"\r\n" if data[:end].endswith(b"\r\n") else b"\n"
    cells = tuple(masked.restored(cell) for cell in first.split(delimiter.encode()))
    layout = Layout(cells, delimiter, newline, data.endswith(b"\n"), encoding, mark)
    header = [_unquoted(cell.decode()) for cell in cells]
    raw = _cells(data[end:], name, len(header), delimiter)
    columns, variables = [], {}
    for position, column in enumerate(header):
        values, codes = _column(raw.column(position), masked, na)
        columns.append(values)
        variables[column] = Variable(codes=codes)
    import pyarrow as pa

    return Microdata(pa.Table.from_arrays(columns, names=header), "csv", variables, layout=layout)


def _utf8(data: bytes) -> tuple[bytes, str, bytes]:
    """The text in UTF-8, the encoding it came in, and its byte order mark."""
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding).encode(), encoding, mark
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    try:
        data.decode()
    except UnicodeDecodeError:
        # Any bytes are Latin-1, so they come out as they went in whatever they mean.
        return data.decode("latin-1").encode(), "latin-1", b""
    return data[len(mark) :], "utf-8", mark


class _Masked:
    """Bytes that stand for delimiters and line breaks inside quotes."""

    def __init__(self, stand_ins: bytes = b"") -> None:
        self.pairs = list(zip(stand_ins.decode(), (*_DELIMITERS, "\n", "\r"), strict=False))

    def restored(self, cell: bytes) -> bytes:
        for stand_in, original in self.pairs:
            cell = cell.replace(stand_in.encode(), original.encode())
        return cell


def _without_quoted_breaks(data: bytes, name: str) -> tuple[bytes, _Masked]:
    """The same bytes with stand-ins for what would separate cells or rows if it were not inside quotes."""
    if b'"' not in data:
        return data, _Masked()
    text = np.frombuffer(data, np.uint8)
    quote = text == _QUOTE
    inside = np.cumsum(quote, dtype=np.uint8) & 1 == 1
    _refuse_stray_quotes(text, quote, inside, name)
    special = [ord(d) for d in _DELIMITERS] + [_NEWLINE, _RETURN]
    free = [byte for byte in (*range(1, 9), *range(14, 32)) if bytes([byte]) not in data]
    if len(free) < len(special):
        raise DataError(f"{name!r} cannot be read: it is no text.")
    table = np.arange(256, dtype=np.uint8)
    table[special] = free[: len(special)]
    return np.where(inside, table[text], text).tobytes(), _Masked(bytes(free[: len(special)]))


def _refuse_stray_quotes(text: NDArray[Any], quote: NDArray[Any], inside: NDArray[Any], name: str) -> None:
    """Quotes enclose a whole cell, and are doubled inside one; anything else could be read in two ways."""
    border = np.isin(text, [ord(d) for d in _DELIMITERS] + [_NEWLINE, _RETURN])
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
        row = int((text[: wrong.min()] == _NEWLINE).sum())
        raise DataError(
            f"{name!r} has a quote in line {row + 1:,} or below that is left open or stands inside a cell; enclose "
            "whole cells in quotes and double the quotes inside them."
        )


def _cells(data: bytes, name: str, width: int, delimiter: str) -> Any:
    """Every cell as it is spelled, as an Arrow table of text."""
    import pyarrow as pa
    from pyarrow import csv

    names = [str(position) for position in range(width)]
    if not data.strip(b"\r\n"):
        raise DataError(f"{name!r} has a first line but no rows below it.")
    ragged: list[tuple[int, int]] = []

    def on_ragged(row: Any) -> str:
        ragged.append((row.number or 0, row.actual_columns))
        return "error"

    def parse(threads: bool) -> Any:
        return csv.read_csv(
            pa.BufferReader(data),
            csv.ReadOptions(use_threads=threads, block_size=_BLOCK, column_names=names),
            # In a file of one column an empty line is an empty cell; elsewhere it is no row.
            csv.ParseOptions(
                delimiter=delimiter, quote_char=False, ignore_empty_lines=width > 1, invalid_row_handler=on_ragged
            ),
            csv.ConvertOptions(
                check_utf8=False, column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )

    try:
        return parse(threads=True)
    except pa.ArrowException:
        ragged.clear()
    try:
        return parse(threads=False)  # which numbers the rows
    except pa.ArrowException:
        if not ragged:
            raise
        number, cells = ragged[0]
        raise DataError(
            f"{name!r} has {cells} cells in data row {number:,}, but {width} column names; it may be cut off there, or "
            "its cells be separated in another way."
        ) from None


def _column(raw: Any, masked: _Masked, na: Sequence[str]) -> tuple[Any, Any]:
    """A column as a dictionary of values, and the spelling of each entry."""
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = raw.dictionary_encode().unify_dictionaries().combine_chunks()
    encoded = encoded.chunk(0) if isinstance(encoded, pa.ChunkedArray) else encoded
    codes = encoded.dictionary
    for stand_in, original in masked.pairs:
        codes = pc.replace_substring(codes, stand_in, original)
    texts = codes
    if masked.pairs:
        inner = pc.replace_substring(pc.utf8_slice_codeunits(codes, 1, -1), '""', '"')
        texts = pc.if_else(pc.starts_with(codes, '"'), inner, codes)
    values = _numbers(texts, na)
    if values is None:
        values = _without(texts, ["", *na])
    return pa.DictionaryArray.from_arrays(encoded.indices, values), codes


def _numbers(texts: Any, na: Sequence[str]) -> Any:
    """The entries as numbers, if those that are not missing are all plainly spelled ones: 7, never 07."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kept = _without(texts, ["", *na, *MISSING_NUMBERS])
    present = kept.drop_null()
    if not len(present) or not pc.all(pc.match_substring_regex(present, _NUMBER)).as_py():
        return None
    whole = pc.all(pc.match_substring_regex(present, _WHOLE)).as_py()
    return kept.cast(pa.int64() if whole else pa.float64())


def _without(texts: Any, missing: Sequence[str]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    absent = pc.is_in(texts, value_set=pa.array(missing, pa.string()))
    return pc.if_else(absent, pa.scalar(None, pa.string()), texts)


def _unquoted(cell: str) -> str:
    quoted = re.fullmatch('"(.*)"', cell, re.DOTALL)
    return quoted.group(1).replace('""', '"') if quoted else cell
