"""The seal of a table: how many rows there are, and a checksum of every column and of what is said about them.

Each column has a checksum of its own, so that one column can be read and checked without the others. It depends on the
values alone and not on the format, the batches or the layout in which they are stored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np

from maskwell.errors import ReportError
from maskwell.reports.seal import COUNT, DIGEST
from maskwell.tables.columns import is_text

DIGESTS = "digests"


def storable_type(kind: Any, name: str) -> Any:
    """The type in which a column is stored: one that every format gives back as it was."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind):
        return storable_type(kind.value_type, name)
    if types.is_null(kind) or is_text(kind):
        return pa.large_string() if types.is_large_string(kind) else pa.string()
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind):
        return pa.large_binary() if types.is_large_binary(kind) else pa.binary()
    if types.is_date64(kind):
        return pa.date32()
    if types.is_timestamp(kind) and kind.unit == "s":
        return pa.timestamp("ms", kind.tz)
    fixed = types.is_fixed_size_binary(kind) or types.is_date32(kind) or types.is_timestamp(kind)
    number = types.is_integer(kind) or types.is_float32(kind) or types.is_float64(kind) or types.is_decimal128(kind)
    if types.is_boolean(kind) or fixed or number:
        return kind
    raise ReportError(f"column {name!r} is of type {kind}, which a file of reports cannot keep; cast it first.")


@dataclass
class _ColumnSeal:
    """Grows with every batch of one column."""

    rows: int = 0
    _values: Any = field(default_factory=sha256, repr=False)
    _lengths: Any = field(default_factory=sha256, repr=False)
    _gaps: Any = field(default_factory=sha256, repr=False)

    def add(self, column: Any) -> None:
        """Take in the next cells; of one that is null, only where it stands counts."""
        import pyarrow as pa

        gaps = None
        if column.null_count:
            gaps = np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))
            self._gaps.update((gaps + self.rows).astype("<i8"))
        self.rows += len(column)
        if pa.types.is_boolean(column.type):
            column = column.cast(pa.uint8())
        if is_text(column.type) or pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
            self._add_texts(column)
            return
        width = column.type.bit_width // 8
        data = np.frombuffer(column.buffers()[1] or b"", np.uint8)
        cells = data[column.offset * width : (column.offset + len(column)) * width].reshape(-1, width)
        if gaps is not None:
            cells = cells.copy()
            cells[gaps] = 0
        self._values.update(cells.reshape(-1))

    def _add_texts(self, column: Any) -> None:
        import pyarrow as pa

        column = column.cast(pa.large_binary()).fill_null(b"")
        ends = np.frombuffer(column.buffers()[1] or bytes(8), "<i8")[column.offset : column.offset + len(column) + 1]
        data = np.frombuffer(column.buffers()[2] or b"", np.uint8)
        self._lengths.update(np.diff(ends))
        self._values.update(data[ends[0] : ends[-1]])

    def digest(self, kind: Any) -> str:
        """The checksum of a column of this type."""
        spelled = "string" if is_text(kind) else str(kind).removeprefix("large_")
        parts = [spelled, self._values.hexdigest(), self._lengths.hexdigest(), self._gaps.hexdigest()]
        return sha256(json.dumps(parts).encode()).hexdigest()


class TableSeal:
    """Grows with every batch of a table in storable types."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._columns = {name: _ColumnSeal() for name in schema.names}
        self.rows = 0

    def add(self, batch: Any) -> None:
        """Take in the next rows."""
        for name, column in zip(self._schema.names, batch.columns, strict=True):
            self._columns[name].add(column)
        self.rows += len(batch)

    def _digests(self) -> dict[str, str]:
        return {name: seal.digest(self._schema.field(name).type) for name, seal in self._columns.items()}

    def stamp(self, about: Mapping[str, Any]) -> dict[str, str]:
        """What is stored beside ``about``: the number of rows, a checksum of each column, and one of all of it."""
        return _stamp(about, str(self.rows), json.dumps(self._digests(), sort_keys=True))

    def verify(self, about: Mapping[str, Any], stamp: Mapping[str, Any], columns: Iterable[str], name: str) -> None:
        """An error unless the columns that were read, and what is said about all of them, are what was written."""
        rows, digests = stamp.get(COUNT), stamp.get(DIGESTS)
        if rows is None or digests is None or stamp.get(DIGEST) is None:
            raise ReportError(f"{name!r} is cut off, or was not written by this version: its checksum is not there.")
        if rows != str(self.rows):
            raise ReportError(f"{name!r} is truncated or changed: it does not hold the number of reports it should.")
        stated = json.loads(digests) if _stamp(about, rows, digests) == dict(stamp) else None
        if stated is None or list(stated) != sorted(columns) or any(stated[c] != d for c, d in self._digests().items()):
            raise ReportError(f"{name!r} was changed or damaged: its columns do not match their checksum.")


def _stamp(about: Mapping[str, Any], rows: str, digests: str) -> dict[str, str]:
    content = json.dumps([about, rows, digests], sort_keys=True, separators=(",", ":")).encode()
    return {COUNT: rows, DIGESTS: digests, DIGEST: sha256(content).hexdigest()}
