"""The columns that a release leaves as they are, by the rank of their values: all that comparing them needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from maskwell.tables.codes import Ints
from maskwell.tables.encoded import encoded


class Staying(NamedTuple):
    """A column that stays as it is: the rank of each row's value among those that occur."""

    name: str
    codes: Ints
    size: int


def staying_columns(table: Any, changed: Sequence[str]) -> list[Staying]:
    """Every column but the ``changed`` ones. Lists, structures and columns without any value are not compared."""
    table = encoded(table)
    return [ranked(table, name) for name in table.names if name not in changed and is_plain(table, name)]


def is_plain(table: Any, name: str) -> bool:
    """Whether a column has values that can be compared."""
    import pyarrow as pa

    kind = encoded(table).array(name).type
    return not (pa.types.is_nested(kind) or pa.types.is_null(kind))


def ranked(table: Any, name: str) -> Staying:
    """A column as ranks. Labels are not needed, and there may be one for each record."""
    import pyarrow as pa
    import pyarrow.compute as pc

    source = encoded(table)
    array = source.array(name)
    kinds = pa.types
    if kinds.is_integer(array.type) or kinds.is_floating(array.type) or kinds.is_temporal(array.type):
        ranks = pc.rank(array, sort_keys="ascending", tiebreaker="dense")
        codes: Ints = ranks.to_numpy(zero_copy_only=False).astype(np.int64) - 1
        return Staying(name, codes, int(codes.max()) + 1)
    column = source.coded(name)
    place = np.empty(column.size, np.int64)
    place[sorted(range(column.size), key=lambda code: _in_order(column.labels[code]))] = np.arange(column.size)
    return Staying(name, place[column.codes], column.size)


def _in_order(label: Any) -> tuple[int, float, str]:
    """Numbers by their size, also where a file spells them as text, then everything else by its text."""
    try:
        value = float(label)
    except (TypeError, ValueError):
        value = math.nan
    return (0, value, "") if math.isfinite(value) else (1, 0.0, str(label))
