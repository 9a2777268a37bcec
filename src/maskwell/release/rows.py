"""Rows of a released table: taken from other rows of the original one, and put in random order.

A changed value is copied from another row of the same column, so nothing is written that was not there before, and the
released table is of the kind that came in. Where rows were sorted, a record out of its place would tell that it moved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from maskwell.errors import DataError
from maskwell.sampling.entropy import Source
from maskwell.tables.codes import Ints
from maskwell.tables.encoded import EncodedTable, encoded
from maskwell.tables.frames import settle

_WORDS = 2
_CONTEXT = " order of rows"


def settled(table: Any) -> tuple[EncodedTable, bool]:
    """The table as it can be read twice, and whether it was lazy: such a one may change its order at every reading."""
    source = encoded(table)
    native, lazy = settle(source.native)
    if native is source.native:
        return source, lazy
    # Rows that were lazy may come in another order now; those of a file are where they were, and so are their codes.
    return EncodedTable(native) if lazy else source.held_by(native), lazy


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


def shuffle(table: Any, *, key: bytes | None = None, ids: Any = None, seed: int | None = None) -> Any:
    """The table with its rows in random order; the last thing to do before a file is given away.

    The draws are fresh; ``key`` with ``ids`` (a value per row) gives each record the same place in any order of the
    input, and ``seed`` is for simulation.

    >>> shuffle({"x": list(range(5))}, seed=1)["x"]
    [1, 2, 4, 3, 0]
    """
    source, lazy = settled(table)
    n = len(source.array(source.names[0])) if source.names else 0
    return reordered(source.native, random_order(n, key, ids, seed), lazy=lazy)


def random_order(n: int, key: bytes | None, ids: Any, seed: int | None, context: str = _CONTEXT) -> Ints:
    """Row numbers sorted by a random 64-bit number each. All orders are alike: equal numbers are next to impossible.

    ``context`` keeps two orders apart that are drawn with one key or seed.
    """
    stream = Source(key, ids, seed, context).stream("", n)
    words, width = stream.slots(0, np.zeros(n, np.uint32), _WORDS)
    slots = words[: n * width].reshape(n, width).astype(np.uint64)
    return np.argsort(slots[:, 0] | slots[:, 1] << np.uint64(32), kind="stable")
