"""The channel of hyperplanes in closed form: no table, however many categories there are.

A hyperplane has the chance ``member`` for each truth that it holds and ``other`` for the rest; truths are the first k
points of the space. Sums over the points of every hyperplane, which a prior or the sets' sizes need, are one
cyclic convolution (``geometry.cycle``).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.base import Channel
from maskwell.designs.channels.deviations import DistanceDeviation, ParityDeviation
from maskwell.designs.channels.leakage.capacity import capacity
from maskwell.designs.channels.leakage.leakage import Enclosure, Leakage
from maskwell.designs.channels.numbers import Exact, Matrix, Vector
from maskwell.designs.channels.rows import Exposure, RowClass, Shift, set_shift
from maskwell.designs.geometry.cycle import cycle
from maskwell.designs.geometry.space import Space

_TABLE_CELLS = 100_000
_ROUNDS, _CLOSE = 20, 1e-5  # of the search for the capacity without a table; its limits hold after any round


@dataclass(frozen=True, eq=False)
class HyperplaneChannel(Channel):
    """``member`` and ``other`` are positive: no report rules anything out."""

    space: Space
    member: Fraction
    other: Fraction

    classes_are_sizes = True

    # The matrix.

    def report_count(self) -> int:
        return self.space.points

    def exact(self) -> Exact:
        chances = np.array([self.other, self.member], object)
        return np.asarray(chances[self.space.incidence(self.k).astype(np.intp)])

    @cached_property
    def floats(self) -> Matrix:
        self.refuse_large("matrix()")
        return np.where(self.space.incidence(self.k), float(self.member), float(self.other))

    def exact_row(self, row: int) -> list[Fraction]:
        inside_row = self.space.holds(np.array([row]), self.k)[0]
        return [self.member if inside else self.other for inside in inside_row.tolist()]

    def over_points(self, values: Vector) -> Vector:
        """For each hyperplane, the sum of the values of the truths that it holds."""
        return cycle(self.space).sums(np.concatenate([values, np.zeros(self.space.points - self.k)]))

    def inclusions(self, counts: NDArray[Any]) -> NDArray[Any]:
        """From counts of the reports: how many hold each truth."""
        sums = cycle(self.space)
        whole = np.issubdtype(counts.dtype, np.integer)
        return (sums.whole_sums(counts) if whole else sums.sums(counts))[: self.k]

    def chances(self, proportions: Vector) -> Vector:
        """Of each report, in a population with these proportions."""
        other, step = float(self.other), float(self.member - self.other)
        return np.asarray(other * proportions.sum() + step * self.over_points(proportions))

    def over_truths(self, weights: Vector) -> Vector | None:
        return self.chances(weights)

    @cached_property
    def set_sizes(self) -> NDArray[np.int64]:
        """How many truths each hyperplane holds."""
        if self.k == self.space.points:
            return np.full(self.k, self.space.through)
        return np.rint(self.over_points(np.ones(self.k))).astype(np.int64)

    @cached_property
    def _size_counts(self) -> list[tuple[int, int]]:
        return sorted(Counter(self.set_sizes.tolist()).items())

    # How far a report can shift odds.

    @cached_property
    def parity(self) -> Fraction | float:
        return max(self.member / self.other, self.other / self.member)

    def row_classes(self) -> list[RowClass]:
        return [RowClass(s, self.parity if 0 < s < self.k else Fraction(1), n) for s, n in self._size_counts]

    @property
    def truths_alike(self) -> bool:  # type: ignore[override]
        return self.k == self.space.points

    def shifts(self, truth: int) -> list[Shift]:
        through = self.space.holds_point(np.arange(self.space.points), truth)
        sizes = [(s, holds) for holds in (True, False) for s in np.unique(self.set_sizes[through == holds]).tolist()]
        return list(dict.fromkeys(set_shift(self.k, s, self.member, self.other, holds) for s, holds in sizes))

    def exposure(self) -> Exposure:
        return Exposure(Fraction(0), ())

    @cached_property
    def column_distance(self) -> Fraction:
        return 2 * (self.space.through - self.space.through_two) * abs(self.member - self.other)

    @cached_property
    def diversity(self) -> int:
        return 0 if self.member != self.other else self.k

    def proportional_rows(self) -> int:
        """Hyperplanes that hold the same truths, and those that hold none or all, which say nothing alike."""
        if self.member == self.other:
            return self.space.points - 1
        if self.k == self.space.points:
            return 0
        silent = (self.set_sizes == 0) | (self.set_sizes == self.k)
        # Told apart by sums over their truths: 60 bits, which two of 2^26 different sets share by accident once in 500.
        marks = np.stack([self.set_sizes, *(np.rint(self.over_points(m)) for m in self._marks)], axis=1)[~silent]
        return max(0, int(silent.sum()) - 1) + len(marks) - len(np.unique(marks, axis=0))

    @property
    def _marks(self) -> Iterator[Vector]:
        """Three numbers below 2^20 for each truth, from a mixed product: anything linear would add up to the same."""
        mixed = np.arange(1, self.k + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ mixed >> np.uint64(31)) * np.uint64(0xBF58476D1CE4E5B9)
        for shift in (0, 20, 40):
            yield (mixed >> np.uint64(shift) & np.uint64((1 << 20) - 1)).astype(np.float64)

    # The matrix as a linear map: P'P has the same diagonal entries, and the same others.

    @cached_property
    def _products(self) -> tuple[Fraction, Fraction]:
        v, r, pair = self.space.points, self.space.through, self.space.through_two
        m, o = self.member, self.other
        return r * m**2 + (v - r) * o**2, pair * m**2 + 2 * (r - pair) * m * o + (v - 2 * r + pair) * o**2

    @cached_property
    def rank(self) -> int:
        return 1 if self.member == self.other else self.k

    @cached_property
    def condition_number(self) -> float:
        diagonal, pair = self._products
        low, high = sorted((diagonal - pair, diagonal + (self.k - 1) * pair))
        return math.sqrt(high / low) if low else math.inf

    # What a reader learns.

    @cached_property
    def always_certain(self) -> bool:
        return False

    def best_guesses(self) -> Fraction:
        high, low = max(self.member, self.other), min(self.member, self.other)
        silent = 0 if self.member > self.other else self.k
        none = int((self.set_sizes == silent).sum())
        return (self.space.points - none) * high + none * low

    def parity_deviations(self, parity: Fraction | float) -> Iterator[ParityDeviation]:
        for row in self.row_classes():
            chance = row.rows * float(self.other * (self.k - row.at) + self.member * row.at) / self.k
            # One unit of weight more inside would be above what was asked: as near as integers come.
            deviation = (
                0.0 if row.parity == self.parity and self._as_near(Fraction(parity)) else float(1 - row.parity / parity)
            )
            yield ParityDeviation(row.at, deviation, float(row.parity), chance, 2)

    def _as_near(self, parity: Fraction) -> bool:
        r, past = self.space.through, self.space.points - self.space.through
        inside, outside = self.member * r * (1 << 64) + 1, self.other * past * (1 << 64) - 1
        return outside <= 0 or Fraction(inside * past, outside * r) > parity

    def distance_deviations(self, reach: float) -> Iterator[DistanceDeviation]:
        unequal = float(1 - min(self.member, self.other) / max(self.member, self.other))
        gap = 1 - float(self.column_distance) / reach
        for row in self.row_classes():
            silent = row.at in (0, self.k) or not unequal
            yield DistanceDeviation(row.at, gap if silent else unequal, not silent)

    def leakage(self, prior: Vector | None) -> Leakage:
        return HyperplaneLeakage(self, prior)


@dataclass(frozen=True)
class HyperplaneLeakage:
    """Leakage under prior weights; None means all truths alike."""

    channel: HyperplaneChannel
    weights: Vector | None

    @cached_property
    def _prior(self) -> Vector:
        return np.full(self.channel.k, 1 / self.channel.k) if self.weights is None else self.weights

    @cached_property
    def _chances(self) -> Vector:
        return self.channel.chances(self._prior)

    @cached_property
    def _heaviest(self) -> tuple[Vector, Vector]:
        """For each hyperplane the largest weight of a truth inside and of one outside, 0 where there is none."""
        channel = self.channel
        if self.weights is None:
            return (channel.set_sizes > 0) / channel.k, (channel.set_sizes < channel.k) / channel.k
        inside, outside = np.zeros((2, channel.space.points))
        waiting = np.arange(channel.space.points)
        for point in np.argsort(-self._prior, kind="stable").tolist():
            weight = self._prior[point]
            if weight == 0 or not len(waiting):
                break
            held = channel.space.holds_point(waiting, point)
            for found, which in ((inside, waiting[held]), (outside, waiting[~held])):
                found[which[found[which] == 0]] = weight
            waiting = waiting[(inside[waiting] == 0) | (outside[waiting] == 0)]
        return inside, outside

    @cached_property
    def _likeliest(self) -> Vector:
        """The chance of each report together with its likeliest truth."""
        inside, outside = self._heaviest
        return np.maximum(float(self.channel.member) * inside, float(self.channel.other) * outside)

    def size(self) -> float:
        return 0.0

    def prediction(self) -> Fraction | float:
        if self.weights is None:
            return self.channel.best_guesses() / self.channel.k
        return math.fsum(self._likeliest)

    def mutual_information(self) -> Enclosure:
        value = max(0.0, self._given() - math.fsum(self._chances * np.log2(self._chances)))
        return Enclosure(value, value)

    def _given(self) -> float:
        """The sum of P log P over the reports of one truth, the same for all."""
        space, m, o = self.channel.space, float(self.channel.member), float(self.channel.other)
        return space.through * m * math.log2(m) + (space.points - space.through) * o * math.log2(o)

    def capacity(self) -> Enclosure:
        """By Blahut and Arimoto's steps, on the table where there can be one.

        With every point a truth all of them are alike, and with many truths nearly so: the first step ends it.
        """
        channel = self.channel
        if channel.report_count() * channel.k <= _TABLE_CELLS:
            return Enclosure(*capacity(channel.floats))
        m, o = float(channel.member), float(channel.other)
        prior = np.full(channel.k, 1 / channel.k)
        for _ in range(_ROUNDS):
            logs = np.log2(channel.chances(prior))
            # What a report tells about each truth, on average over the reports of that truth.
            divergence = self._given() - o * logs.sum() - (m - o) * cycle(channel.space).sums(logs)[: channel.k]
            lower, upper = float(prior @ divergence), float(divergence.max())
            if upper - lower <= _CLOSE * upper:
                break
            prior = prior * np.exp2(divergence - upper)
            prior /= prior.sum()
        return Enclosure(max(0.0, lower), max(0.0, upper))

    def largest_posterior(self) -> float:
        return float((self._likeliest / self._chances).max())
