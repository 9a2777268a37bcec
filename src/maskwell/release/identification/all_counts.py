r"""The largest chance of a correct match for an intruder who uses all released counts of a block, not one alone.

A record of cell j is shown in another cell i with chance a_j, and in its own with chance a_j + b_j. The chance that a
block shows the counts s is therefore the coefficient of :math:`x^s` in :math:`\prod_j (a_j E + b_j x_j)^{t_j}`, where
E is the sum of all x. Collecting the powers of E,

.. math:: P(s) = \sum_m m! \, [y^m] \prod_j \varphi_j(y), \qquad
   \varphi_j(y) = \sum_u \binom{t_j}{u} b_j^u a_j^{t_j - u} \frac{y^{s_j - u}}{(s_j - u)!},

so that cells with the same true and shown counts are alike, and the chance of any counts takes a product of small
polynomials. That a certain record of cell j is shown in cell i has the same form with one record less in each. An
intruder who picks a record of cell i is right with the ratio of the two over :math:`s_i`.

The maximum is over all counts, all persons and all records of the block. Where few counts can be told apart, all of
them are tried, in whole numbers, and the figure is exact. In larger blocks it is that of a few outcomes that are known
to be bad: all counts as they were in truth, and one record beside. The worst outcome is at least as bad.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from maskwell.release.identification.chances import in_digits
from maskwell.tables.codes import Floats

MOST_OUTCOMES = 250
"""Up to this many counts that can be told apart, all are tried: blocks of 16 singletons, or of seven pairs."""
MOST_RECORDS = 28
"""Up to so many records; their number is what one outcome costs."""
_GRID = 20_001
"""Points of the integral for a large block, whose integrand is smooth: errors are below 1e-6 from 10 cells on."""

Cell = tuple[int, int, int]
"""A cell by its true frequency, the number of its records that are free to move, and the number shown in it."""
Sizes = tuple[tuple[int, int], ...]
"""Pairs of a frequency and the number of cells that have it."""


@dataclass(frozen=True)
class AllCounts:
    """The largest chance of a correct match by all released counts of a block."""

    risk: Fraction
    exact: bool
    """Whether all outcomes were tried; if not, the worst one is at least this bad."""

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values."""
        return {"risk": float(self.risk), "exact": self.exact}

    def __str__(self) -> str:
        return f"{in_digits(self.risk, 4)} {'at most' if self.exact else 'or more'}"


def audit_all_counts(sizes: Mapping[int, int], theta: Fraction) -> AllCounts:
    """The audit of one block; ``sizes`` says how many cells have each frequency.

    >>> [round(float(audit_all_counts({1: k}, Fraction(618034, 1000000)).risk), 3) for k in (3, 4, 5, 6)]
    [0.411, 0.459, 0.488, 0.508]
    """
    return _audit(tuple(sorted((size, cells) for size, cells in sizes.items() if cells)), theta)


@cache
def _audit(sizes: Sizes, theta: Fraction) -> AllCounts:
    if sum(cells for _, cells in sizes) < 2:
        return AllCounts(Fraction(1, sizes[0][0]), True)
    if _number_of_outcomes(sizes) > MOST_OUTCOMES:
        return AllCounts(Fraction(max(_by_integral(cells, theta) for cells in _likely_outcomes(sizes))), False)
    chances = _Chances(sizes, theta)
    return AllCounts(max(chances.risk(cells) for cells in outcomes(sizes)), True)


class _Chances:
    """Exact chances of the counts of one block, as whole numbers over a common denominator that cancels."""

    def __init__(self, sizes: Sizes, theta: Fraction) -> None:
        k = sum(cells for _, cells in sizes)
        scale = theta.denominator * (k - 1) * math.lcm(*(size for size, _ in sizes))
        self._away = {size: int(scale * theta / ((k - 1) * size)) for size, _ in sizes}
        self._home = {size: int(scale * (1 - theta / size)) for size, _ in sizes}
        self._powers: dict[tuple[Cell, int], list[int]] = {}

    def risk(self, cells: Counter[Cell]) -> Fraction:
        """The largest chance that a pick is right when a block shows these counts, over all persons and records."""
        right = []
        for home in cells:
            size, free, shown = home
            if shown:
                stayed = cells - Counter([home]) + Counter([(size, free - 1, shown - 1)])
                right.append(self._home[size] * self._of(stayed))
            for other in cells:
                if other[2] and cells[other] > (home == other):
                    gone = (size, free - 1, shown), (*other[:2], other[2] - 1)
                    right.append(self._away[size] * self._of(cells - Counter([home, other]) + Counter(gone)))
        return Fraction(max(right), self._of(cells))

    def _of(self, cells: Counter[Cell]) -> int:
        """The chance of an outcome times the factorials of its counts."""
        total = [1]
        for cell, number in cells.items():
            total = _product(total, self._power(cell, number))
        records = sum(cell[1] * number for cell, number in cells.items())
        # Entry u belongs to u records that surely stayed, the others being thrown anywhere.
        return sum(math.factorial(records - u) * value for u, value in enumerate(total))

    def _power(self, cell: Cell, number: int) -> list[int]:
        if (cell, number) not in self._powers:
            size, free, shown = cell
            away, surely = self._away[size], self._home[size] - self._away[size]
            base = [
                math.comb(free, u) * surely**u * away ** (free - u) * math.perm(shown, u)
                for u in range(min(free, shown) + 1)
            ]
            self._powers[cell, number] = base if number == 1 else _product(base, self._power(cell, number - 1))
        return self._powers[cell, number]


def _product(left: list[int], right: list[int]) -> list[int]:
    out = [0] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            out[i + j] += a * b
    return out


def outcomes(sizes: Sizes) -> Iterator[Counter[Cell]]:
    """All counts that a block can show; those that differ by exchanging cells of equal frequency come once."""

    def rest(i: int, records: int) -> Iterator[Counter[Cell]]:
        if i == len(sizes):
            if not records:
                yield Counter()
            return
        size, cells = sizes[i]
        for total in range(records + 1):
            for shown in _partitions(total, cells, total):
                of_size = Counter((size, size, count) for count in shown)
                for others in rest(i + 1, records - total):
                    yield of_size + others

    yield from rest(0, sum(size * cells for size, cells in sizes))


def _partitions(total: int, parts: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Non-increasing ways to write a number as a sum of so many parts, which may be zero."""
    if parts == 0:
        if total == 0:
            yield ()
        return
    for first in range(min(total, largest), -1, -1):
        for others in _partitions(total - first, parts - 1, first):
            yield (first, *others)


def _number_of_outcomes(sizes: Sizes) -> int:
    """How many ``outcomes`` has, or one more than the most that are tried."""
    records = sum(size * cells for size, cells in sizes)
    if records > MOST_RECORDS:
        return MOST_OUTCOMES + 1
    ways = [1] + [0] * records
    for _, cells in sizes:
        of_size = [1] + [0] * records
        # Partitions into at most so many parts are those into parts of at most that size.
        for part in range(1, min(cells, records) + 1):
            for total in range(part, records + 1):
                of_size[total] += of_size[total - part]
        ways = [sum(ways[i] * of_size[total - i] for i in range(total + 1)) for total in range(records + 1)]
    return ways[records]


def _likely_outcomes(sizes: Sizes) -> Iterator[Counter[Cell]]:
    """All counts as they were in truth, and those in which one record more or less is shown in two cells."""
    truth = Counter({(size, size, size): cells for size, cells in sizes})
    yield truth
    for source in truth:
        for target in truth:
            if truth[target] > (source == target):
                fewer, more = (*source[:2], source[2] - 1), (*target[:2], target[2] + 1)
                yield truth - Counter([source, target]) + Counter([fewer, more])


def _by_integral(cells: Counter[Cell], theta: Fraction) -> float:
    """The largest chance of a correct pick in the person's own cell, for a block of any size.

    As m! is the integral of y^m exp(-y), the chance of the counts is that of exp(-y) times the polynomials' product.
    """
    k, records = cells.total(), sum(cell[1] * number for cell, number in cells.items())
    y = np.linspace(0, records + 40 * math.sqrt(records), _GRID)

    def log_phi(cell: Cell) -> Floats:
        size, free, shown = cell
        away = float(theta) / ((k - 1) * size)
        surely = 1 - float(theta) / size - away
        with np.errstate(divide="ignore"):
            # Logarithms: of a hundred records the powers themselves would not fit into a float.
            out, back, log_y = math.log(away), _log(surely), np.log(y)
            terms = [
                math.log(math.comb(free, u))
                + (u * back if u else 0.0)
                + (free - u) * out
                - math.lgamma(shown - u + 1)
                # y^0 is 1, at 0 too.
                + ((shown - u) * log_y if shown > u else np.zeros_like(y))
                for u in range(min(free, shown) + 1)
            ]
            return np.asarray(np.logaddexp.reduce(terms, axis=0))

    density = sum((number * log_phi(cell) for cell, number in cells.items()), -y)
    density -= density.max()
    chance = np.trapezoid(np.exp(density))
    right = [0.0]
    for size, free, shown in cells:
        if shown:
            with np.errstate(invalid="ignore"):
                one_less = density + log_phi((size, free - 1, shown - 1)) - log_phi((size, free, shown))
            found = np.trapezoid(np.exp(np.where(np.isnan(one_less), -np.inf, one_less)))
            right.append((1 - float(theta) / size) / shown * float(found / chance))
    return max(right)


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf
