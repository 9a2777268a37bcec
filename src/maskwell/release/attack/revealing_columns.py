"""What gives a changed column away whatever the draws are: a column that decides it, groups of records, and orders.

Years of schooling tell the degree. Of a household whose members moved apart the others tell where it was, and so do the
neighbours of a record that is out of its place. Whatever tells less than that is the business of the attack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from maskwell.release.attack.thresholds import ALIKE, CERTAIN, FEWEST_RECORDS, MANY_LEVELS, NEAR
from maskwell.release.staying_columns import Staying, is_plain, staying_columns
from maskwell.tables.codes import Coded, Ints
from maskwell.tables.encoded import encoded

_MOST_ROWS = 50_000
_MOST_IN_GROUPS = 200_000

How = Literal["value", "group", "order"]


@dataclass(frozen=True)
class RevealingColumn:
    """What stays, and the column that it gives away."""

    column: str | None
    """None where it is the order of the rows that gives it away."""
    changed: str
    right: float
    """The share of records for which a guess is right: the commonest value, another member's, or a neighbour's."""
    how: How

    def __str__(self) -> str:
        share = f"{self.right:.1%}"
        if self.how == "value":
            return (
                f"{self.column!r} stays as it is and tells the true {self.changed!r} of {share} of the records: leave "
                "it out of the released file, move it along with the keys, or make it a key as well."
            )
        if self.how == "group":
            return (
                f"records with the same {self.column!r} mostly share {self.changed!r} ({share} of pairs): one that "
                "differs was changed, and the others tell what it was; move groups as one (together), or leave "
                f"{self.column!r} out of the released file."
            )
        what = "rows that follow each other" if self.column is None else f"records with neighbouring {self.column!r}"
        remedy = (
            "put the rows in random order"
            if self.column is None
            else f"number the records anew, or leave {self.column!r} out of the released file"
        )
        return (
            f"{what} mostly share {self.changed!r} or have it in order ({share}): one that is out of place was "
            f"changed, and its neighbours tell what it was; {remedy}."
        )


def revealing_columns(
    table: Any, changed: Sequence[str], *, rows_in_order: bool = True, together: str | None = None
) -> list[RevealingColumn]:
    """What gives one of the ``changed`` columns of a table away.

    That is another column whose values decide it; a column of groups, such as households, whose members share it; and
    the order of the rows (unless they are put in random order) or of a number of the records. A column of groups that
    move ``together`` tells nothing by its members. Looked at are up to 50,000 evenly spaced rows, the first 50,000 for
    orders, and up to 200,000 rows in whole groups.

    >>> table = {"degree": ["a", "b", "c"] * 10, "years": [9, 12, 16] * 10, "sex": ["f", "m"] * 15}
    >>> print(*revealing_columns(table, ["degree"], rows_in_order=False))
    'years' stays as it is and tells the true 'degree' of 100.0% of the records: leave it out of the released file, move
    it along with the keys, or make it a key as well.
    """
    table = encoded(table)
    return among(table, changed, staying_columns(table, changed), rows_in_order=rows_in_order, together=together)


def among(
    table: Any, changed: Sequence[str], staying: Sequence[Staying], *, rows_in_order: bool, together: str | None
) -> list[RevealingColumn]:
    """The same, where the columns that stay are known."""
    coded = {name: encoded(table).coded(name) for name in changed if is_plain(table, name)}
    coded = {name: column for name, column in coded.items() if not _constant(column)}
    found: list[RevealingColumn] = []
    if not coded:
        return found
    if rows_in_order:
        found += _by_order(None, coded)
    for column in staying:
        if column.size * FEWEST_RECORDS <= len(column.codes):
            found += _by_value(column, coded)
        if column.size * FEWEST_RECORDS > len(column.codes) or column.size >= MANY_LEVELS:
            found += _by_group(column, coded) if column.name != together else ()
            found += _by_order(column, coded)
    return found


def _constant(column: Coded) -> bool:
    """Whether nearly all rows hold one value, which then tells nothing."""
    return bool(np.bincount(column.codes).max() / len(column.codes) >= CERTAIN)


def _by_value(column: Staying, changed: dict[str, Coded]) -> Iterator[RevealingColumn]:
    """Guess the most frequent value of a changed column for each value of this one."""
    step = -(-len(column.codes) // _MOST_ROWS)
    codes = column.codes[::step]
    for name, own in changed.items():
        pairs = np.bincount(codes * own.size + own.codes[::step], minlength=column.size * own.size)
        right = float(pairs.reshape(column.size, own.size).max(axis=1).sum() / len(codes))
        if right >= CERTAIN:
            yield RevealingColumn(column.name, name, right, "value")


def _by_group(column: Staying, changed: dict[str, Coded]) -> Iterator[RevealingColumn]:
    """Guess the value of another record of the same group."""
    sizes = np.bincount(column.codes)
    every = -(-len(column.codes) // _MOST_IN_GROUPS)
    rows = np.flatnonzero((sizes[column.codes] > 1) & (column.codes % every == 0))
    if len(rows) < FEWEST_RECORDS or len(rows) * every < len(column.codes) / 100:
        return
    groups = column.codes[rows]
    for name, own in changed.items():
        cells, counts = np.unique(groups * own.size + own.codes[rows], return_counts=True)
        # A record's chance of meeting its own value in another member.
        agreeing = float((counts * (counts - 1) / (sizes[cells // own.size] - 1)).sum() / len(rows))
        if _above_chance(agreeing, own.codes[rows]) >= ALIKE:
            yield RevealingColumn(column.name, name, agreeing, "group")


def _by_order(column: Staying | None, changed: dict[str, Coded]) -> Iterator[RevealingColumn]:
    """Guess the value of the next record, in the order of the rows or of a column, or that values are in order."""
    near: Ints = np.arange(min(len(next(iter(changed.values())).codes), _MOST_ROWS))
    apart: Any = slice(None)
    if column is not None:
        last = np.searchsorted(np.cumsum(np.bincount(column.codes)), _MOST_ROWS)
        first = np.flatnonzero(column.codes <= last)
        # Scattered within ties: there the rows would be in the order of the file.
        near = first[np.lexsort((first * 2654435761 % 2**32, column.codes[first]))]
        # Records with one value of the column are a group, which is another matter.
        apart = np.diff(column.codes[near]) != 0
    for name, own in changed.items():
        codes = own.codes[near].astype(np.int64)
        steps = np.diff(codes)[apart]
        if len(steps) < FEWEST_RECORDS:
            continue
        agreeing = float((steps == 0).mean())
        in_order = float(max((steps >= 0).mean(), (steps <= 0).mean()))
        if _above_chance(agreeing, codes[1:][apart]) >= NEAR or in_order >= CERTAIN:
            yield RevealingColumn(None if column is None else column.name, name, max(agreeing, in_order), "order")


def _above_chance(agreeing: float, codes: NDArray[Any]) -> float:
    """How far agreement exceeds that of two of these records at random, as a share of what it could."""
    shares = np.bincount(codes) / len(codes)
    by_chance = float(shares @ shares)
    return (agreeing - by_chance) / (1 - by_chance) if by_chance < 1 else 0.0
