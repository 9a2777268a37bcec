"""What stays as it is and tells what a changed column was: years of schooling beside a degree, or the order of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maskwell.release.frames import column_names
from maskwell.risk.columns import Coded, encode, read_columns

CERTAIN = 0.99
"""A column gives another away if guessing from it is right for this share of the records."""
_MOST_ROWS = 50_000
_LEAST_PER_LEVEL = 10


@dataclass(frozen=True)
class Giveaway:
    """A column that stays, and the column that it gives away."""

    column: str | None
    """None where it is the order of the rows that gives it away."""
    changed: str
    right: float
    """The share of records for which the best guess from the column is right, or whose row is in order."""

    def __str__(self) -> str:
        if self.column is None:
            return (
                f"the rows are sorted by {self.changed!r} ({self.right:.1%} of them are in order): a value out of its "
                "place tells that it was changed, and its neighbours what it was; put the rows in random order first."
            )
        return (
            f"{self.column!r} stays as it is and tells the true {self.changed!r} of {self.right:.1%} of the records: "
            "leave it out of the released file, or make it a key as well."
        )


def giveaways(table: Any, changed: Sequence[str]) -> list[Giveaway]:
    """What gives one of the ``changed`` columns of a table away, by up to 50,000 evenly spaced rows.

    That is the order of the rows, if they are sorted by the column, and other columns. Those with less than ten of
    these rows for each value are left out: a number of each person gives nothing away but the person.

    >>> table = {"degree": ["a", "b", "c"] * 10, "years": [9, 12, 16] * 10, "sex": ["f", "m"] * 15}
    >>> print(*giveaways(table, ["degree"]))
    'years' stays as it is and tells the true 'degree' of 100.0% of the records: leave it out of the released file, or
    make it a key as well.
    """
    spaced = {name: own for name in changed if (own := _spaced(table, name)) is not None and not _constant(own)}
    orders = {name: _in_order(own) for name, own in spaced.items()}
    found = [Giveaway(None, name, share) for name, share in orders.items() if share >= CERTAIN]
    for other in column_names(table):
        if other in changed:
            continue
        column = _spaced(table, other)
        if column is None or column.size * _LEAST_PER_LEVEL > len(column.codes):
            continue
        for name, own in spaced.items():
            right = _guessed(column, own)
            if right >= CERTAIN:
                found.append(Giveaway(other, name, right))
    return found


def _spaced(table: Any, name: str) -> Coded | None:
    """A column at evenly spaced rows; None if it has no categories."""
    import pyarrow as pa

    array = read_columns(table, [name])[name]
    if pa.types.is_nested(array.type):
        return None
    step = -(-len(array) // _MOST_ROWS)
    return encode(array.take(pa.array(np.arange(0, len(array), step))), name)


def _constant(column: Coded) -> bool:
    """Whether nearly all rows hold one value, which is no secret."""
    return bool(np.bincount(column.codes).max() / len(column.codes) >= CERTAIN)


def _in_order(column: Coded) -> float:
    """The share of rows that do not come before the row above them, in rising or in falling order."""
    steps = np.diff(column.codes)
    return float(max((steps >= 0).mean(), (steps <= 0).mean()))


def _guessed(column: Coded, changed: Coded) -> float:
    """The share of rows that hold the most frequent value of ``changed`` for their value of ``column``."""
    pairs = np.bincount(
        column.codes.astype(np.int64) * changed.size + changed.codes, minlength=column.size * changed.size
    )
    return float(pairs.reshape(column.size, changed.size).max(axis=1).sum() / len(column.codes))
