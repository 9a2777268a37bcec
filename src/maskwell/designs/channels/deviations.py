"""How far the rows of a channel are from the rules for telling as much as a demand allows.

Within parity γ every row must take two values whose ratio is γ (chai-nayak-2018, Theorems 4.2 and 4.3). Within an L1
distance between columns, all non-zero entries of a row must be equal and the columns of its support hang together by
pairs at that distance (nayak-zhai-2019, after Theorem 3.1, completed).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.designs.channels.rows import SizeRow
from maskwell.sampling.samplers import TOTAL

TOLERANCE = 1e-9  # relative, of every verdict about the order of designs
_UNITS = 3  # by which rounding to integers moves an entry at most, seen from the other value of its row


class ParityDeviation(NamedTuple):
    """The row or size ``at``: its relative deviation, its own parity and chance, and how many values it takes.

    ``values`` is 2 unless there are more and that is what is wrong.
    """

    at: int
    deviation: float
    parity: float
    chance: float
    values: int


class DistanceDeviation(NamedTuple):
    """The row or size ``at``: its relative deviation, and whether its non-zero entries differ."""

    at: int
    deviation: float
    unequal: bool


def row_deviations(table: Matrix, parity: float, unit: float) -> Iterator[ParityDeviation]:
    """From the table, row by row; rounding may have moved its entries by ``unit``."""
    high = table.max(axis=1, keepdims=True)
    present = np.flatnonzero(high[:, 0] > 0)
    relative = table[present] / high[present]
    middle = np.minimum(1 - relative, relative * parity - 1).max(axis=1)
    short = 1 - 1 / (relative.min(axis=1) * parity)
    for at, row in enumerate(present.tolist()):
        row_parity = 1 / float(relative[at].min())
        deviation = max(float(middle[at]), float(short[at]), 0.0)
        by_rounding = deviation * table[row].min() <= _UNITS * unit
        too_low = short[at] > middle[at] or row_parity < parity * (1 - TOLERANCE)
        values = 2 if too_low else len(np.unique(np.round(relative[at], 9)))
        yield ParityDeviation(row, 0.0 if by_rounding else deviation, row_parity, float(high[row, 0]), values)


def size_deviations(k: int, rows: Iterable[SizeRow], parity: Fraction) -> Iterator[ParityDeviation]:
    """By set size: every row takes two values."""
    for row in rows:
        row_parity = row.parity(k)
        # Rare sets cannot come nearer than one unit of weight.
        as_near = row_parity > 1 and _nearest_integers(k, row.favouring(k), parity)
        deviation = 0.0 if as_near else float(1 - row_parity / parity)
        yield ParityDeviation(row.size, deviation, float(row_parity), row.weight / TOTAL, 2)


def _nearest_integers(k: int, row: SizeRow, parity: Fraction) -> bool:
    """Whether moving one unit of weight towards the truth would exceed the parity."""
    return row.outside <= 1 or SizeRow(row.size, row.inside + 1, row.outside - 1).odds(k) > parity


def row_distances(table: Matrix, reach: float) -> Iterator[DistanceDeviation]:
    """From the table, row by row."""
    shortfall = 1 - column_distances(table) / reach
    for row in np.flatnonzero(table.max(axis=1) > 0).tolist():
        support = table[row] > 0
        spread = float(1 - table[row][support].min() / table[row].max())
        unequal = spread > TOLERANCE
        yield DistanceDeviation(row, spread if unequal else _weakest_link(shortfall[np.ix_(support, support)]), unequal)


def size_distances(k: int, rows: Iterable[SizeRow], gap: float) -> Iterator[DistanceDeviation]:
    """By set size: all pairs of columns are nearer than allowed by the same ``gap``."""
    for row in rows:
        odds = row.odds(k)
        if odds in (math.inf, 0, 1):
            yield DistanceDeviation(row.size, gap if row.possible(k) > 1 else 0.0, False)
        else:
            yield DistanceDeviation(row.size, float(1 - min(odds, 1 / odds)), True)


def column_distances(table: Matrix) -> Matrix:
    """The L1 distance of each pair of columns."""
    return np.array([np.abs(table - column[:, None]).sum(axis=0) for column in table.T])


def _weakest_link(shortfall: Matrix) -> float:
    """The least gap at which the columns hang together: the largest edge of a minimum spanning tree."""
    linked = np.zeros(len(shortfall), bool)
    linked[0] = True
    nearest: Vector = shortfall[0].copy()
    worst = 0.0
    while not linked.all():
        at = int(np.argmin(np.where(linked, np.inf, nearest)))
        worst = max(worst, float(nearest[at]))
        linked[at] = True
        nearest = np.minimum(nearest, shortfall[at])
    return worst
