r"""Which blocks hold a limit, and with which θ: one θ for all kinds of blocks above 1/3, one for each kind below.

Above ξ = 1/3 the closed form of h(θ) serves blocks of singles and pairs alike. It ends at 1/3, the idea does not: a
block whose cells all have the frequency t lets θ grow up to t(k-1)/k, where its records are spread evenly and a match
is right with chance 1/(tk). The risk falls as θ grows, so the least θ that holds a limit is found by bisection with the
exact audit. It is a fraction of few bits, so that θ/t is a whole number over 2^64 and the audit stays short.

Frequencies that have too few cells in a partition set share blocks with the next one, where the audit finds a θ for the
cells of both. Singles that are too few have no such neighbour: their set is too small.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from maskwell.errors import DemandError
from maskwell.exact import fraction
from maskwell.release.identification.audit import holds, near_risk
from maskwell.release.identification.theta import CLOSED_FORM, LARGEST_BITS, least_cells, theta_for
from maskwell.sampling.samplers import TOTAL
from maskwell.tables.codes import Ints

LEAST = Fraction(1, 100)
"""The least limit: below it, cells of more than a hundred records would move, and the exact audit takes minutes."""
_BITS = 16
"""θ is found to a share of 2^-16 of the least frequency, always on the safe side."""

Sizes = Mapping[int, int]
"""How many cells of a block or a set have each frequency."""
Part = tuple[Ints, int]
"""Positions of cells that form blocks among themselves, and the least number of cells of such a block."""


class Rule(ABC):
    """What a limit asks of a block."""

    one_theta: bool
    """Whether all blocks have the same θ, so that cells of all frequencies may share one."""
    least: int
    """No block of fewer cells holds the limit."""

    def __init__(self, limit: Fraction) -> None:
        self.limit = limit

    @property
    def sensitive_below(self) -> int:
        """Cells of fewer records are sensitive: t < 1/ξ, decided in whole numbers."""
        return -(-self.limit.denominator // self.limit.numerator)

    @abstractmethod
    def theta(self, sizes: Sizes) -> Fraction | None:
        """The θ of a block of such cells; None if it cannot hold the limit."""

    @abstractmethod
    def enough(self, sizes: Sizes) -> bool:
        """Whether such cells of one set can be sorted into blocks that hold the limit."""

    @abstractmethod
    def allows(self, sizes: Sizes, theta: Fraction) -> bool:
        """Whether a block of such cells holds the limit with this θ."""

    @abstractmethod
    def parts(self, counts: Ints) -> list[Part]:
        """Cells of these frequencies, which are enough, sorted into those that form blocks among themselves."""

    @abstractmethod
    def need(self, sizes: Sizes) -> str:
        """What such cells, which are not enough, would need."""


class OneTheta(Rule):
    """Above 1/3: a block holds the limit from a number of cells on, whatever their frequencies."""

    one_theta = True

    def __init__(self, limit: Fraction) -> None:
        super().__init__(limit)
        self.value = theta_for(limit)
        self.least = least_cells(self.value)

    def theta(self, sizes: Sizes) -> Fraction | None:
        return self.value if sum(sizes.values()) >= self.least else None

    def enough(self, sizes: Sizes) -> bool:
        return sum(sizes.values()) >= self.least

    def allows(self, sizes: Sizes, theta: Fraction) -> bool:
        return theta == self.value and self.enough(sizes)

    def parts(self, counts: Ints) -> list[Part]:
        """Cells of one frequency apart from those of another, where there are enough of each.

        In a block of both, the counts of the others say more about who stayed.
        """
        found = [np.flatnonzero(counts == count) for count in np.unique(counts)]
        if min(map(len, found)) < self.least:
            found = [np.arange(len(counts))]
        return [(part, self.least) for part in found]

    def need(self, sizes: Sizes) -> str:
        return f"fewer than {self.least} cells"


class EqualFrequencies(Rule):
    """Blocks of cells of one frequency, each kind of block with the θ that the exact audit finds."""

    one_theta = False
    least = 2

    def theta(self, sizes: Sizes) -> Fraction | None:
        return _found(_composition(sizes), self.limit)

    def allows(self, sizes: Sizes, theta: Fraction) -> bool:
        k, least = sum(sizes.values()), min(sizes, default=0)
        kept = k > 1 and least > 0 and max(sizes) < self.sensitive_below and 0 < theta * k <= least * (k - 1)
        whole = kept and all((TOTAL * theta / t).denominator == 1 for t in sizes)
        return whole and holds(sizes, theta, self.limit)

    def least_of(self, frequency: int) -> int:
        """The least number of cells of this frequency that hold the limit among themselves."""
        k = max(2, -(-self.limit.denominator // (self.limit.numerator * frequency)))
        # Near the least number θ would have to be the largest one itself, which may be no fraction of few bits.
        while not _possible(((frequency, k),), self.limit):
            k += 1
        return k

    def enough(self, sizes: Sizes) -> bool:
        return self._runs(sizes) is not None

    def parts(self, counts: Ints) -> list[Part]:
        """Cells of one frequency each; of several that lie next to each other where one of them has too few."""
        sizes = Counter(counts.tolist())
        runs = self._runs(sizes)
        if runs is None:
            raise AssertionError("the cells of a set are too few for its limit")
        return [(np.flatnonzero(np.isin(counts, run)), self.least_of(run[0])) for run in runs]

    def need(self, sizes: Sizes) -> str:
        few = [(t, cells) for t, cells in sorted(sizes.items()) if cells and cells < self.least_of(t)]
        t, cells = few[0]
        records = f"{t} record{'s' * (t > 1)}"
        return f"too few cells of one frequency ({cells} of {records}, with {self.least_of(t)} needed)"

    def _runs(self, sizes: Sizes) -> list[list[int]] | None:
        """The frequencies that share blocks; None if some have too few cells whatever they are joined with."""
        runs = [[t] for t in sorted(t for t, cells in sizes.items() if cells)]

        def fit(run: list[int]) -> bool:
            if len(run) == 1:
                return sizes[run[0]] >= self.least_of(run[0])
            return _possible(_composition({t: sizes[t] for t in run}), self.limit)

        while bad := [i for i, run in enumerate(runs) if not fit(run)]:
            if len(runs) == 1:
                return None
            i = bad[-1]
            # The frequency above is the better neighbour, as records of rare cells have to move most.
            beside = [j for j in (i, i - 1) if 0 <= j < len(runs) - 1]
            j = next((j for j in beside if fit(runs[j] + runs[j + 1])), beside[0])
            runs[j : j + 2] = [runs[j] + runs[j + 1]]
        return runs


@dataclass(frozen=True)
class _Grid:
    """The values of θ that a block may have: θ/t is whole over 2^64, and θ at most t(k-1)/k."""

    sizes: tuple[tuple[int, int], ...]
    limit: Fraction

    @property
    def common(self) -> int:
        return math.lcm(*(t for t, _ in self.sizes))

    @property
    def bits(self) -> int:
        least = min(t for t, _ in self.sizes)
        return _BITS + (self.common // least).bit_length() - 1

    @property
    def most(self) -> int:
        """The number of the largest one, the last below t(k-1)/k; 0 if there is none."""
        k, least = sum(cells for _, cells in self.sizes), min(t for t, _ in self.sizes)
        fits = k > 1 and self.bits <= LARGEST_BITS
        return (least * (k - 1) << self.bits) // (k * self.common) if fits else 0

    def theta(self, m: int) -> Fraction:
        return Fraction(m * self.common, 1 << self.bits)

    def held(self, m: int) -> bool:
        return holds(dict(self.sizes), self.theta(m), self.limit)


def _composition(sizes: Sizes) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((t, cells) for t, cells in sizes.items() if cells))


@cache
def _possible(sizes: tuple[tuple[int, int], ...], limit: Fraction) -> bool:
    """Whether a block of such cells holds the limit with the largest θ."""
    grid = _Grid(sizes, limit)
    return grid.most > 0 and grid.held(grid.most)


@cache
def _found(sizes: tuple[tuple[int, int], ...], limit: Fraction) -> Fraction | None:
    """The least θ of the grid by which a block of such cells holds the limit."""
    if not _possible(sizes, limit):
        return None
    grid = _Grid(sizes, limit)
    low, high = 0, grid.most
    while high - low > 1:  # in floats, which come next to it …
        middle = (low + high) // 2
        low, high = (
            (low, middle) if near_risk(dict(sizes), float(grid.theta(middle)), limit) <= limit else (middle, high)
        )
    m = high
    while not grid.held(m):  # … and in whole numbers, which decide
        m += 1
    while m > 1 and grid.held(m - 1):
        m -= 1
    return grid.theta(m)


def read_limit(xi: Any) -> Fraction:
    """ξ as an exact number, if it is a limit."""
    limit = fraction(xi, "xi", DemandError)
    if not LEAST <= limit < 1:
        raise DemandError(
            f"xi must be at least {float(LEAST):g} and below 1; got {xi}. It is the largest chance that a match is "
            "right; where no match by the keys may be right, leave the keys out of the file.",
            parameter="xi",
        )
    return limit


@cache
def rule_for(limit: Fraction) -> Rule:
    """The rule of a limit."""
    if limit > CLOSED_FORM:
        try:
            return OneTheta(limit)
        except DemandError:
            pass  # so close to 1/3 that no block is large enough
    return EqualFrequencies(limit)


def frequencies(counts: Iterable[int]) -> dict[int, int]:
    """How many of these cells have each frequency."""
    return dict(sorted(Counter(counts).items()))
