"""Symmetric channels in closed form: the report is a set, and only its size and whether it holds the truth matter.

``P'P`` has one eigenvalue for the vector of ones and one for all contrasts, and every figure is a sum over sizes: no
table is formed, however many categories there are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from maskwell.designs.channels.base import Channel
from maskwell.designs.channels.deviations import DistanceDeviation, ParityDeviation, size_deviations, size_distances
from maskwell.designs.channels.leakage.by_size import SizeLeakage
from maskwell.designs.channels.leakage.leakage import Leakage
from maskwell.designs.channels.numbers import Exact, Vector
from maskwell.designs.channels.rows import Exposure, RowClass, Shift, SizeRow, set_shift
from maskwell.sampling.samplers import TOTAL

_NEAR = 64  # sizes between which stepping is cheaper than a new binomial coefficient


@dataclass(frozen=True, eq=False)
class SymmetricChannel(Channel):
    """One class of rows for each size, in rising order."""

    rows: tuple[SizeRow, ...]

    classes_are_sizes = True
    truths_alike = True

    @property
    def sizes(self) -> tuple[SizeRow, ...]:
        return self.rows

    @property
    def kinds_of_truth(self) -> int:
        return 2

    # The matrix.

    def report_count(self) -> int:
        return sum(self.set_counts())

    def set_counts(self) -> Iterator[int]:
        """How many sets there are of each size; from one to the next, which is far cheaper than thousands afresh."""
        s, count = 0, 1
        for row in self.rows:
            if row.size - s > _NEAR:
                s, count = row.size, math.comb(self.k, row.size)
            while s < row.size:
                s, count = s + 1, count * (self.k - s) // (s + 1)
            yield count

    def exact(self) -> Exact:
        rows = []
        for row in self.rows:
            member, other = self.chances(row)
            masks = masks_of_size(self.k, row.size)
            rows += [[member if mask >> j & 1 else other for j in range(self.k)] for mask in masks]
        return np.array(rows, dtype=object)

    def chances(self, row: SizeRow) -> tuple[Fraction, Fraction]:
        """Of one set of a size, given a truth that it holds and one that it does not."""
        s, k = row.size, self.k
        return (
            Fraction(row.inside, TOTAL * math.comb(k - 1, s - 1)) if s else Fraction(0),
            Fraction(row.outside, TOTAL * math.comb(k - 1, s)) if s < k else Fraction(0),
        )

    # How far a report can shift odds.

    def row_classes(self) -> list[RowClass]:
        counted = zip(self.rows, self.set_counts(), strict=True)
        return [RowClass(row.size, row.parity(self.k), count) for row, count in counted]

    @cached_property
    def parity(self) -> Fraction | float:
        return max(row.parity(self.k) for row in self.rows)

    def class_chances(self) -> Vector:
        return np.array([row.weight / TOTAL for row in self.rows])

    def shifts(self, truth: int) -> list[Shift]:
        weights = [(s, inside * (self.k - s), outside * s) for s, inside, outside in self.rows]
        both = [set_shift(self.k, *weight, holds) for weight in weights for holds in (True, False)]
        return list(dict.fromkeys(both))  # the empty and the full set once

    def exposure(self) -> Exposure:
        # A set alone proves its only member; a set that never holds the truth proves the only category left out.
        proving = [row for row in self.rows if row.possible(self.k) == 1]
        return Exposure(Fraction(sum(row.weight for row in proving), TOTAL), tuple(row.size for row in proving))

    @cached_property
    def column_distance(self) -> Fraction:
        return Fraction(2 * sum(abs(row.contrast(self.k)) for row in self.rows), (self.k - 1) * TOTAL)

    @cached_property
    def diversity(self) -> int:
        if any(row.inside and row.outside and row.contrast(self.k) for row in self.rows):
            return 0
        return min(row.possible(self.k) for row in self.rows)

    # What reports say the same: those that say nothing, and complements of which one is as much for the truth as the
    # other is against it.

    def proportional_rows(self) -> int:
        k, by_size = self.k, {row.size: row for row in self.rows}
        silent = {row.size for row in self.rows if row.odds(k) == 1}
        merged = max(0, sum(math.comb(k, s) for s in silent) - 1)
        for s, row in by_size.items():
            other = by_size.get(k - s)
            if s not in silent and 2 * s < k and other is not None and other.complement(k).odds(k) == row.odds(k):
                merged += math.comb(k, s)
        return merged

    # The matrix as a linear map.

    @cached_property
    def rank(self) -> int:
        return self.k if any(row.contrast(self.k) for row in self.rows if 0 < row.size < self.k) else 1

    @cached_property
    def condition_number(self) -> float:
        k = self.k
        sizes = np.array([row.size for row in self.rows], float)
        # 1 over the number of sets of each size, up to a common factor.
        logs = np.array([math.lgamma(row.size + 1) + math.lgamma(k - row.size + 1) for row in self.rows])
        fewer_sets: Vector = np.exp(logs - logs.max())
        shares = np.array([row.weight / TOTAL for row in self.rows])
        contrasts = np.array([row.contrast(k) / TOTAL if 0 < row.size < k else 0.0 for row in self.rows])
        products = np.where((sizes > 0) & (sizes < k), sizes * (k - sizes), 1.0)
        of_ones = k * float(shares**2 @ fewer_sets)
        of_contrasts = k / (k - 1) * float(contrasts**2 / products @ fewer_sets)
        low, high = sorted((of_ones, of_contrasts))
        return math.sqrt(high / low) if low > 0 else math.inf

    def trace(self, rows: list[int]) -> Fraction:
        """Of sets of one member, which are the only ones that can stand for a category."""
        (row,) = self.rows
        return Fraction(self.k * row.inside, TOTAL)

    @cached_property
    def always_certain(self) -> bool:
        return all(row.possible(self.k) == 1 for row in self.rows)

    def parity_deviations(self, parity: Fraction | float) -> Iterator[ParityDeviation]:
        return size_deviations(self.k, self.rows, Fraction(parity))

    def distance_deviations(self, reach: float) -> Iterator[DistanceDeviation]:
        return size_distances(self.k, self.rows, 1 - float(self.column_distance) / reach)

    def leakage(self, prior: Vector | None) -> Leakage:
        return SizeLeakage(self.k, self.rows, prior)


def masks_of_size(k: int, size: int) -> list[int]:
    """Every bit mask of ``k`` bits with ``size`` of them set, in rising order."""
    if size == 0:
        return [0]
    masks, mask = [], (1 << size) - 1
    while mask < 1 << k:
        masks.append(mask)
        lowest = mask & -mask
        ripple = mask + lowest
        mask = ripple | ((mask ^ ripple) // lowest >> 2)
    return masks
