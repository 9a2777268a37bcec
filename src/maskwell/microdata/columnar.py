"""Parquet and Arrow files: dictionaries with their order, and everything that the schema says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, BinaryIO

from maskwell.microdata.model import Microdata

_PARQUET = (".parquet", ".pq")


def read_columnar(path: Path, suffix: str) -> Microdata:
    """Read a Parquet or Arrow file."""
    from pyarrow import feather, parquet

    # A single file: its folder's name must not be taken for a partition.
    table = parquet.ParquetFile(path).read() if suffix in _PARQUET else feather.read_table(str(path), memory_map=False)
    # Row groups may number their categories each in its own way.
    return Microdata(_without_views(table.unify_dictionaries().combine_chunks()), "arrow")


def _without_views(table: Any) -> Any:
    """Views of text as text: much of Arrow cannot work on them yet, and pyarrow 20 cannot write them."""
    import pyarrow as pa

    for position, field in enumerate(table.schema):
        if pa.types.is_string_view(field.type):
            table = table.set_column(
                position, field.with_type(pa.large_string()), table[position].cast(pa.large_string())
            )
    return table


def write_columnar(data: Microdata, file: BinaryIO, suffix: str) -> None:
    """Write a Parquet or Arrow file."""
    from pyarrow import feather, parquet

    table = _without_views(_noted(data.table) if data.kind == "arrow" else _described(data))
    if suffix in _PARQUET:
        parquet.write_table(table, file)
    else:
        feather.write_feather(table, file)


def _noted(table: Any) -> Any:
    """The table with pandas' notes on its own columns alone: they name columns that were dropped, and count categories.

    Notes that cannot be read are left out.
    """
    import pyarrow as pa

    metadata = dict(table.schema.metadata or {})
    text = metadata.pop(b"pandas", None)
    if text is None:
        return table
    try:
        notes = json.loads(text)
        notes["columns"] = [note for note in notes["columns"] if note["field_name"] in table.column_names]
        notes["index_columns"] = [i for i in notes["index_columns"] if isinstance(i, dict) or i in table.column_names]
        for note in notes["columns"]:
            column = table.column(note["field_name"])
            if (
                pa.types.is_dictionary(column.type)
                and column.num_chunks
                and "num_categories" in (note["metadata"] or {})
            ):
                note["metadata"]["num_categories"] = len(column.chunk(0).dictionary)
        metadata[b"pandas"] = json.dumps(notes).encode()
    except (ValueError, KeyError, TypeError):
        pass
    return table.replace_schema_metadata(metadata)


def _described(data: Microdata) -> Any:
    """A table from another format: labels of columns go into their fields, spellings are given up."""
    import pyarrow as pa

    columns, fields = [], []
    for name in data.names:
        column = data.values(name) if data.category(name) is None else data.category(name)
        label = data.variable(name).label
        columns.append(column)
        fields.append(pa.field(name, column.type, metadata={"label": label} if label else None))
    return pa.table(columns, schema=pa.schema(fields, metadata={"label": data.label} if data.label else None))
