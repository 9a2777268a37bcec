"""Columns that stay as they are and tell what a changed one was: years of schooling beside a degree."""

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

    column: str
    changed: str
    right: float
    """The share of records for which the best guess from the column is right."""

    def __str__(self) -> str:
        return (
            f"{self.column!r} stays as it is and tells the true {self.changed!r} of {self.right:.1%} of the records: "
            "leave it out of the released file, or make it a key as well."
        )


def giveaways(table: Any, changed: Sequence[str]) -> list[Giveaway]:
    """The columns of a table that give one of the ``changed`` columns away, by up to 50,000 evenly spaced rows.

    Columns with less than ten of these rows for each value are left out: a number of each person gives nothing away
    but the person.

    >>> table = {"degree": ["a", "b", "c"] * 10, "years": [9, 12, 16] * 10, "sex": ["f", "m"] * 15}
    >>> print(*giveaways(table, ["degree"]))
    'years' stays as it is and tells the true 'degree' of 100.0% of the records: leave it out of the released file, or
    make it a key as well.
    """
    names = column_names(table)
    found = []
    spaced = {name: _spaced(table, name) for name in changed}
    for other in names:
        if other in changed:
            continue
        column = _spaced(table, other)
        if column is None or column.size * _LEAST_PER_LEVEL > len(column.codes):
            continue
        for name, own in spaced.items():
            right = _guessed(column, own) if own is not None else 0.0
            if own is not None and right >= CERTAIN and np.bincount(own.codes).max() / len(own.codes) < CERTAIN:
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


def _guessed(column: Coded, changed: Coded) -> float:
    """The share of rows that hold the most frequent value of ``changed`` for their value of ``column``."""
    pairs = np.bincount(
        column.codes.astype(np.int64) * changed.size + changed.codes, minlength=column.size * changed.size
    )
    return float(pairs.reshape(column.size, changed.size).max(axis=1).sum() / len(column.codes))
