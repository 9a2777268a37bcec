"""CSV files: cells as they were spelled where they came from CSV, plainly spelled values otherwise."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from maskwell.errors import DataError
from maskwell.microdata.model import Layout, Microdata

_ROWS, _BYTES = 1 << 16, 1 << 26
_NUMBER_BYTES = 40
"""More than a number, a date or a moment takes."""


def write_text(data: Microdata, file: BinaryIO, delimiter: str, *, compressed: bool) -> None:
    """Write a CSV file, compressed without a time or a name so that equal contents are equal files."""
    chunks = _chunks(data, data.layout or _plain_layout(data, delimiter))
    if compressed:
        with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
            for chunk in chunks:
                packed.write(chunk)
    else:
        file.writelines(chunks)


def _plain_layout(data: Microdata, delimiter: str) -> Layout:
    import pyarrow as pa

    for field in data.table.schema:
        if pa.types.is_nested(field.type) or pa.types.is_binary(field.type) or pa.types.is_large_binary(field.type):
            raise DataError(f"column {field.name!r} is of type {field.type}, which CSV cannot hold; write .parquet.")
    names = pa.array(data.names)
    return Layout(tuple(name.encode() for name in _quoted(names, delimiter).to_pylist()), delimiter)


def _chunks(data: Microdata, layout: Layout) -> Iterator[bytes]:
    def out(text: bytes) -> bytes:
        return text if layout.encoding == "utf-8" else text.decode().encode(layout.encoding)

    yield layout.mark + out(layout.delimiter.encode().join(layout.header) + layout.newline)
    rows = data.table.num_rows
    # So many rows at a time that their text is of bounded size, however long it is.
    step = max(1, min(_ROWS, _BYTES // sum(_widest(data, name) for name in data.names)))
    for start in range(0, rows, step):
        cells = [_cells(data, name, slice(start, start + step), layout) for name in data.names]
        block = _joined(cells, layout)
        if start + step >= rows and not layout.final_newline:
            block = block[: -len(layout.newline)]
        yield out(block)


def _widest(data: Microdata, name: str) -> int:
    """The bytes that a cell of a column takes at most, with its delimiter, and with its quotes doubled."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if data.layout:
        return 1 + (pc.max(pc.binary_length(data.variable(name).codes)).as_py() or 0)
    column = data.table.column(name)
    texts = [chunk.dictionary for chunk in column.chunks] if pa.types.is_dictionary(column.type) else column.chunks
    if not texts or not (pa.types.is_string(texts[0].type) or pa.types.is_large_string(texts[0].type)):
        return _NUMBER_BYTES
    return 3 + 2 * max(pc.max(pc.binary_length(text)).as_py() or 0 for text in texts)


def _cells(data: Microdata, name: str, rows: slice, layout: Layout) -> Any:
    """Some cells of a column as they are to be spelled."""
    import pyarrow as pa

    part = data.table.column(name).slice(rows.start, rows.stop - rows.start).combine_chunks()
    part = part.chunk(0) if isinstance(part, pa.ChunkedArray) else part
    if data.layout:
        return data.variable(name).codes.take(part.indices)
    if pa.types.is_dictionary(part.type):
        part = part.cast(part.type.value_type)
    return _quoted(part.cast(pa.string()), layout.delimiter).fill_null("")


def _quoted(texts: Any, delimiter: str) -> Any:
    """Quotes where a text would be taken for something else without: an empty text is not a missing value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    pattern = f'["\\r\\n{re.escape(delimiter)}]|^$'
    needed = pc.match_substring_regex(texts, pattern)
    inner = pc.replace_substring(texts, '"', '""')
    return pc.if_else(needed, pc.binary_join_element_wise(pa.scalar('"'), inner, pa.scalar('"'), ""), texts)


def _joined(cells: list[Any], layout: Layout) -> bytes:
    """Rows as bytes: Arrow keeps the texts of a column one after the other."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells[-1] = pc.binary_join_element_wise(cells[-1], layout.newline.decode(), "")
    rows = pc.binary_join_element_wise(*cells, layout.delimiter).cast(pa.large_binary())
    offsets = memoryview(rows.buffers()[1]).cast("q")[rows.offset : rows.offset + len(rows) + 1]
    return bytes(memoryview(rows.buffers()[2])[offsets[0] : offsets[-1]])
