"""Rows of a channel, one by one or as a class of rows that are alike up to the order of their entries."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from maskwell.designs.channels.numbers import Exact


class RowClass(NamedTuple):
    """Rows with the same parity that stand for the same kind of report.

    ``at`` is the set size where the classes are sizes, and else the number of the only row; ``rows`` counts them.
    """

    at: int
    parity: Fraction | float
    rows: int


class Shift(NamedTuple):
    """Reports that multiply the odds of one truth by ``factor`` for a reader to whom the others are alike.

    ``holds`` tells whether they hold that truth, where a class is a set size; it is None where a class is one row.
    """

    at: int
    holds: bool | None
    factor: Fraction | float


class Exposure(NamedTuple):
    """Reports that leave one category possible: the chance of one, for the truth that is worst off, and their classes.

    Their sender is known for sure, to anyone and without any prior knowledge.
    """

    chance: Fraction
    classes: tuple[int, ...]


class SizeRow(NamedTuple):
    """All sets of one size of a symmetric channel: their weights out of 2^64 with the truth inside and outside."""

    size: int
    inside: int
    outside: int

    @property
    def weight(self) -> int:
        """Of a set of this size, whatever it holds."""
        return self.inside + self.outside

    def odds(self, k: int) -> Fraction | float:
        """How much likelier such a set is for each of its members than for each of the others."""
        if self.size in (0, k):
            return Fraction(1)
        # With a = inside / C(k-1, s-1) and b = outside / C(k-1, s) for one set, a : b is inside (k-s) : outside s.
        return Fraction(self.inside * (k - self.size), self.outside * self.size) if self.outside else math.inf

    def parity(self, k: int) -> Fraction | float:
        """The ratio or its inverse, whichever is larger."""
        odds = self.odds(k)
        if isinstance(odds, float) or not odds:
            return math.inf
        return max(odds, 1 / odds)

    def relative(self, k: int) -> tuple[float, float]:
        """The chance of such a set over its mean, for a member and for another: quotients of integers, rounded once.

        The empty and the full set are as likely for every truth.
        """
        s, weight = self.size, self.weight
        return k * self.inside / (s * weight) if s else 1.0, k * self.outside / ((k - s) * weight) if s < k else 1.0

    def contrast(self, k: int) -> int:
        """The difference between members and others in the chance of a set, up to a factor that the size decides."""
        return self.inside * (k - self.size) - self.outside * self.size

    def possible(self, k: int) -> int:
        """How many truths such a set leaves possible."""
        if self.size in (0, k) or (self.inside and self.outside):
            return k
        return self.size if self.inside else k - self.size

    def complement(self, k: int) -> SizeRow:
        """The same reports, each named by the categories that it leaves out."""
        return SizeRow(k - self.size, self.outside, self.inside)

    def favouring(self, k: int) -> SizeRow:
        """The same reports, named so that they speak for what they hold."""
        return self.complement(k) if self.odds(k) < 1 else self


def odds_factor(for_it: Fraction | int, for_all_others: Fraction | int, k: int) -> Fraction | float:
    """How much likelier a report is for one truth than for the others on average."""
    return Fraction(for_it * (k - 1)) / Fraction(for_all_others) if for_all_others else math.inf


def set_shift(k: int, size: int, member: Fraction | int, other: Fraction | int, holds: bool) -> Shift:
    """What a set does to the odds of a truth that it holds or lacks; the chances of a set are as member : other."""
    if not 0 < size < k:
        return Shift(size, None, Fraction(1))
    inside, outside = size - holds, k - size - (not holds)
    return Shift(size, holds, odds_factor(member if holds else other, inside * member + outside * other, k))


def row_parity(row: Exact) -> Fraction | float:
    """Largest over smallest entry: 1 for a row of zeros, infinite if only some are zero."""
    low, high = min(row), max(row)
    if low == high:
        return Fraction(1)
    return Fraction(high) / Fraction(low) if low else math.inf
