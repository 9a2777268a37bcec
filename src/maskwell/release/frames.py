"""Tables in and out: the released table is of the kind that came in, with types, categories and order as they were.

A changed value is copied from another row of the same column, so nothing needs to be written that was not there before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from maskwell.errors import DataError
from maskwell.tables.codes import Ints
from maskwell.tables.encoded import encoded


def read_ids(table: Any, ids: Any, n: int) -> list[Any] | None:
    """The id of every row, from a column or its name, as plain values."""
    if ids is None:
        return None
    column = encoded(table).array(ids) if isinstance(ids, str) else ids
    items = list(column.to_pylist() if hasattr(column, "to_pylist") else column)
    if len(items) != n:
        raise DataError(f"ids must hold one id per row: expected {n}, got {len(items)}.", parameter="ids")
    return [item.item() if isinstance(item, np.generic) else item for item in items]


def with_rows(table: Any, rows: Mapping[str, Ints], *, lazy: bool = False) -> Any:
    """The table with row i of each named column taken from row ``rows[name][i]``; the rest is left as it is."""
    if isinstance(table, Mapping):
        return {name: _take(column, rows[name]) if name in rows else column for name, column in table.items()}
    import narwhals as nw

    frame = nw.from_native(table, eager_only=True)
    if rows:
        frame = frame.with_columns(*(frame[name][index] for name, index in rows.items()))
    return (frame.lazy() if lazy else frame).to_native()


def reordered(table: Any, rows: Ints, *, lazy: bool = False) -> Any:
    """The table with its rows in this order. An index that only numbers rows numbers them anew."""
    if isinstance(table, Mapping):
        return {name: _take(column, rows) for name, column in table.items()}
    import narwhals as nw

    frame = nw.from_native(table, eager_only=True)[rows]
    native = frame.to_native()
    index = getattr(table, "index", None)
    if type(index).__name__ == "RangeIndex":
        native.index = index
    return frame.lazy().to_native() if lazy else native


def _take(column: Any, rows: Ints) -> Any:
    if isinstance(column, np.ndarray):
        return column[rows]
    if isinstance(column, Sequence) and not hasattr(column, "dtype"):
        taken = [column[i] for i in rows.tolist()]
        return tuple(taken) if isinstance(column, tuple) else taken
    import narwhals as nw
    import pyarrow as pa

    if isinstance(column, pa.Array):
        return column.take(pa.array(rows))
    series = nw.from_native(column, series_only=True)
    taken = series[rows].to_native()
    if hasattr(taken, "index") and hasattr(column, "index"):
        taken.index = column.index
    return taken
