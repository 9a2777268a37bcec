"""The channel of independent bits: a report is a set, 1 bit a category, and the truth's bit has another chance.

A set is a symmetric report, so all figures have closed forms; its chances are fractions of their own, however many
layers they come from.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from maskwell.designs.channels.base import Channel
from maskwell.designs.channels.deviations import DistanceDeviation, ParityDeviation
from maskwell.designs.channels.leakage.by_size import SizeLeakage
from maskwell.designs.channels.leakage.leakage import Leakage
from maskwell.designs.channels.numbers import Exact, Vector
from maskwell.designs.channels.rows import Exposure, RowClass, Shift, SizeRow, set_shift
from maskwell.designs.channels.symmetric import masks_of_size
from maskwell.sampling.samplers import TOTAL

_TABLE_CATEGORIES = 12


@dataclass(frozen=True, eq=False)
class BitChannel(Channel):
    """Each bit is 1 with the chance ``own`` if its category is the truth and ``other`` if not; 0 < other < own < 1."""

    own: Fraction
    other: Fraction

    classes_are_sizes = True
    truths_alike = True

    @property
    def kinds_of_truth(self) -> int:
        return 2

    def report_count(self) -> int:
        return 1 << self.k

    def masks(self) -> list[int]:
        """Every set as a bit mask, by size and then by value."""
        return [mask for size in range(self.k + 1) for mask in masks_of_size(self.k, size)]

    def chances(self, size: int) -> tuple[Fraction, Fraction]:
        """Of one set of a size, for a truth that it holds and one that it does not; 0 where there is none."""
        a, b, k = self.own, self.other, self.k
        member = a * b ** (size - 1) * (1 - b) ** (k - size) if size else Fraction(0)
        return member, (1 - a) * b**size * (1 - b) ** (k - size - 1) if size < k else Fraction(0)

    def exact(self) -> Exact:
        by_size = [self.chances(size) for size in range(self.k + 1)]
        rows = [[by_size[mask.bit_count()][not mask >> j & 1] for j in range(self.k)] for mask in self.masks()]
        return np.array(rows, dtype=object)

    @cached_property
    def size_chances(self) -> Vector:
        """The chance of a set of each size, whatever the truth."""
        from maskwell.numerics.saddle import binomial_chances

        others = binomial_chances(np.arange(-1, self.k + 1), self.k - 1, float(self.other))
        return np.asarray(float(self.own) * others[:-1] + float(1 - self.own) * others[1:])

    # How far a report can shift odds.

    @cached_property
    def parity(self) -> Fraction | float:
        return self.own * (1 - self.other) / (self.other * (1 - self.own))

    def row_classes(self) -> list[RowClass]:
        return [
            RowClass(s, self.parity if 0 < s < self.k else Fraction(1), math.comb(self.k, s)) for s in range(self.k + 1)
        ]

    def class_chances(self) -> Vector:
        return self.size_chances

    def shifts(self, truth: int) -> list[Shift]:
        odds = Fraction(self.parity)
        both = [set_shift(self.k, s, odds, Fraction(1), holds) for s in range(self.k + 1) for holds in (True, False)]
        return list(dict.fromkeys(both))

    def exposure(self) -> Exposure:
        return Exposure(Fraction(0), ())

    @cached_property
    def column_distance(self) -> Fraction:
        return 2 * (self.own - self.other)

    @cached_property
    def diversity(self) -> int:
        return 0

    def proportional_rows(self) -> int:
        """The empty and the full set, which say nothing alike."""
        return 1

    # The matrix as a linear map.

    @cached_property
    def rank(self) -> int:
        return self.k

    @cached_property
    def condition_number(self) -> float:
        a, b = float(self.own), float(self.other)
        bit = b**2 + (1 - b) ** 2
        own, pair = (a**2 + (1 - a) ** 2) * bit, (a * b + (1 - a) * (1 - b)) ** 2  # times a common power of ``bit``
        return math.sqrt((own + (self.k - 1) * pair) / (own - pair))

    # What a reader learns.

    @cached_property
    def always_certain(self) -> bool:
        return False

    def best_guesses(self) -> Fraction:
        a, b, k = self.own, self.other, self.k
        return a / b * (1 - (1 - b) ** k) + (1 - a) * (1 - b) ** (k - 1)

    def parity_deviations(self, parity: Fraction | float) -> Iterator[ParityDeviation]:
        for row, chance in zip(self.row_classes(), self.size_chances.tolist(), strict=True):
            yield ParityDeviation(row.at, float(1 - row.parity / parity), float(row.parity), chance, 2)

    def distance_deviations(self, reach: float) -> Iterator[DistanceDeviation]:
        gap, unequal = 1 - float(self.column_distance) / reach, float(1 - 1 / Fraction(self.parity))
        for size in range(self.k + 1):
            silent = size in (0, self.k)
            yield DistanceDeviation(size, gap if silent else unequal, not silent)

    def leakage(self, prior: Vector | None) -> Leakage:
        """From the table where it is small, and else by size, with chances to the nearest 2^-64."""
        if self.k <= _TABLE_CATEGORIES:
            return super().leakage(prior)
        rows = []
        for size, chance in enumerate(self.size_chances.tolist()):
            if chance * TOTAL >= 1:
                odds = float(self.parity) * size / max(self.k - size, 1) if 0 < size < self.k else float(size > 0)
                inside = chance * odds / (1 + odds) if 0 < size < self.k else chance * odds
                rows.append(SizeRow(size, round(inside * TOTAL), round((chance - inside) * TOTAL)))
        return SizeLeakage(self.k, tuple(rows), prior)
