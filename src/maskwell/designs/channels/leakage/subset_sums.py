r"""The weight of a random set: averages of x log x over all sets of one size, with limits where they are too many.

For ``x = base + slope * w(z)``, with z drawn uniformly among the sets of size s, the average of x log x has no closed
form. Where all sets can be listed, it is computed from the list. Otherwise the membership of the heaviest categories is
listed, and of what the other members weigh only mean, variance and range are used, which are exact. Since the third
derivative of x log x is negative, the average lies between those of two distributions on two points with that mean and
variance: one holds the lower end of the range (upper limit) and one the upper end (lower limit), by the theorem of
Chebyshev and Markov on moments. Both limits are therefore proven, up to round-off.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from maskwell.designs.channels.numbers import Vector

_MOST_SETS = 1 << 22
_MOST_PATTERNS = 1 << 20
_MOST_HEAVY = 16

Term = tuple[int, float, float]


@dataclass(frozen=True)
class SubsetSums:
    """Sets of categories with these weights, the largest first; they sum to 1."""

    weights: Vector

    def entropy_terms(self, terms: Sequence[Term]) -> list[tuple[float, float]]:
        """Limits of the average of x log x, in nats, for each (s, base, slope) with 0 < s < k."""
        k = len(self.weights)
        heavy = max(0, min(k - 2, _MOST_HEAVY, int(math.log2(_MOST_PATTERNS / max(1, len(terms))))))
        results = []
        for s, base, slope in terms:
            # A set weighs 1 less its complement: list whichever is smaller.
            if 2 * s > k:
                s, base, slope = k - s, base + slope, -slope
            if s <= self._listed:
                average = float(_x_log_x(base + slope * self._lists[s]).mean())
                results.append((average, average))
            else:
                results.append(self._limits(s, base, slope, heavy))
        return results

    @cached_property
    def _listed(self) -> int:
        """The largest size whose sets, with all smaller ones, are few enough to list."""
        k, total, s = len(self.weights), 1, 0
        while s < k // 2 and (total := total + math.comb(k, s + 1)) <= _MOST_SETS:
            s += 1
        return max(s, 1)

    @cached_property
    def _lists(self) -> list[Vector]:
        """What every set of each listed size weighs."""
        k = len(self.weights)
        lists = [np.zeros(math.comb(k, s)) for s in range(self._listed + 1)]
        for j, weight in enumerate(self.weights):
            # The sets whose last member is j are those of one member less among the first j.
            for s in range(1, self._listed + 1):
                start, added = math.comb(j, s), math.comb(j, s - 1)
                lists[s][start : start + added] = lists[s - 1][:added] + weight
        return lists

    def _limits(self, s: int, base: float, slope: float, heavy: int) -> tuple[float, float]:
        """Limits by listing which of the ``heavy`` heaviest categories are members."""
        held, listed = _patterns(self.weights[:heavy])
        rest = self.weights[heavy:]
        drawn = s - held
        possible = (drawn >= 0) & (drawn <= len(rest))
        drawn, listed = drawn[possible], listed[possible]
        chances = np.exp(_log_binomial(len(rest), drawn) - _log_binomial(len(self.weights), np.array(s)))
        mean, variance, low, high = _moments(rest, drawn)
        ends = np.sort([base + slope * (listed + low), base + slope * (listed + high)], axis=0)
        centre, spread = base + slope * (listed + mean), slope**2 * variance
        upper, lower = (_two_points(centre, spread, end) for end in ends)
        return float(chances @ lower), float(chances @ upper)


def _patterns(weights: Vector) -> tuple[Vector, Vector]:
    """For every set among a few categories: how many members it has and what they weigh."""
    held, total = np.zeros(1), np.zeros(1)
    for weight in weights:
        held, total = np.concatenate([held, held + 1]), np.concatenate([total, total + weight])
    return held, total


def _moments(weights: Vector, drawn: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """Mean, variance, least and largest weight of a set with so many members, drawn without replacement."""
    n = len(weights)
    sums = np.append(0.0, np.cumsum(weights))
    members = drawn.astype(np.int64)
    variance = drawn * (n - drawn) / (n - 1) * weights.var()
    return drawn * weights.mean(), variance, sums[-1] - sums[n - members], sums[members]


def _two_points(mean: Vector, variance: Vector, end: Vector) -> Vector:
    """The average of x log x over the distribution with this mean and variance on ``end`` and one other point."""
    distance = mean - end
    apart = (variance > 0) & (np.abs(distance) > 1e-12 * np.abs(mean))
    distance = np.where(apart, distance, 1.0)
    other = np.where(apart, mean + variance / distance, mean)
    at_end = np.where(apart, variance / (variance + distance**2), 0.0)
    average: Vector = at_end * _x_log_x(end) + (1 - at_end) * _x_log_x(other)
    return average


def _x_log_x(x: Vector) -> Vector:
    positive = np.where(x > 0, x, 1.0)
    result: Vector = positive * np.log(positive)
    return result


def _log_binomial(n: int, s: Vector) -> Vector:
    logs = np.append(0.0, np.cumsum(np.log(np.arange(1, n + 1))))
    members = s.astype(np.int64)
    result: Vector = logs[n] - logs[members] - logs[n - members]
    return result
