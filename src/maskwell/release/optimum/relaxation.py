r"""An upper bound on mutual information over part of the vertices: those of a family with τ in an interval.

With a multiplier μ for Σ p_k t_k = τ, every category takes its best choice. On an interval of τ, the concave -ψ lies
below its tangents; the sum of best choices along tangents is convex in τ and hence largest at an end. Both hold for
every μ, and the least bound over μ is returned. A chance that only one category may have goes where it gains most.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from maskwell.release.optimum.vertices import Family, Vector, excess

Choice = NDArray[np.int64]
Table = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Sums over categories are off by less than this share of their largest term.
WIDTH = 1e-13
_SERIES = 0.02
_STEPS = 40
_NO_MASS = -1 + 2.0**-53


def relative_entropy(t: Table) -> Table:
    """ψ(t) = (1 + t) ln(1 + t) - t, to full precision also near 0, where it is t²/2 - t³/6 + t⁴/12 - …"""
    near = np.clip(t, -_SERIES, _SERIES)
    series = np.zeros_like(near)
    for n in range(10, 1, -1):
        series = near * (series + (-1) ** n / (n * (n - 1)))
    kept = np.maximum(t, -1.0)
    logarithm = np.log1p(np.where(kept > -1, kept, 0.0))
    return np.where(np.abs(t) < _SERIES, series * near, (1 + kept) * logarithm - kept)


def own_information(t: Vector, size: int) -> Vector:
    """h(t): how far the reports of one category are from uniform, in nats."""
    return (relative_entropy(-(size - 1) * t) + (size - 1) * relative_entropy(t)) / size


def information(p: Vector, t: Vector) -> float:
    """Mutual information in nats between truth and report, from t = S·r - 1 of each category."""
    size = len(p)
    reports = relative_entropy(p @ t - size * p * t) / size
    return float((p * own_information(t, size) - reports).sum())


class Problem:
    """One family of vertices for one population; categories sorted by size, so that equal ones are neighbours."""

    def __init__(self, p: Vector, family: Family) -> None:
        self.p, self.family, self.size = p, family, len(p)
        self.t = excess(family.chances, self.size)
        self.scale = float(np.abs(self.t).max())
        self.single = np.isin(np.arange(len(self.t)), family.single_positions)
        self.weighted = np.outer(p, self.t)
        self.gain = np.outer(p, own_information(self.t, self.size))
        first = np.concatenate([[True], p[1:] != p[:-1]])
        group = np.cumsum(first) - 1
        self.first = np.flatnonzero(first)[group]
        self.last = np.append(np.flatnonzero(first)[1:] - 1, self.size - 1)[group]

    def whole(self) -> "Part":
        """All vertices of the family."""
        low, high = np.zeros(self.size, np.int64), np.full(self.size, len(self.t) - 1)
        return Part(self, float(self.t.min()), float(self.t.max()), low, high, 0.0)

    def value(self, choice: Choice) -> float:
        """Mutual information at a vertex."""
        return information(self.p, self.t[choice])

    def answer(self, part: "Part") -> "Answer | None":
        """Bound a part; None if no vertex lies in it."""
        terms = _Terms.of(part)
        return None if terms is None else terms.solve(part.multiplier)


class Part(NamedTuple):
    """Vertices of a family with τ from ``start`` to ``stop`` and each category's choice from ``low`` to ``high``."""

    problem: Problem
    start: float
    stop: float
    low: Choice
    high: Choice
    multiplier: float


class Answer(NamedTuple):
    """What a part can reach at most, a vertex that it offers, and what the bound is due to.

    ``left`` and ``right`` are the choices between which the multiplier is undecided, ``undecided`` the categories where
    they differ or are not a vertex; ``bend`` is what tangents cost.
    """

    bound: float
    value: float
    choice: Choice
    multiplier: float
    left: Choice
    right: Choice
    undecided: Choice
    bend: float

    @property
    def gap(self) -> float:
        """How much better than the offered vertex another one might be."""
        return self.bound - self.value


class _Side(NamedTuple):
    """The bound at one multiplier, its slope there, the choice behind it and the end of τ where it is reached."""

    multiplier: float
    bound: float
    slope: float
    choice: Choice
    end: int


@dataclass(frozen=True)
class _Terms:
    """Each category's contribution by choice at both ends of an interval of τ: along tangents, and exact."""

    problem: Problem
    ends: Vector
    scores: Table
    exact: Table
    usual: Mask
    open_single: list[int]
    sizes: tuple[float, float]

    @classmethod
    def of(cls, part: Part) -> Self | None:
        problem = part.problem
        columns = np.arange(len(problem.t))
        allowed = (columns >= part.low[:, None]) & (columns <= part.high[:, None])
        open_single = _settle(allowed, problem.single)
        if open_single is None:
            return None
        width = WIDTH * problem.scale
        least, below = _reach(problem.weighted, allowed, problem.single, open_single)
        most, above = _reach(-problem.weighted, allowed, problem.single, open_single)
        # Widened by more than the sums are rounded, so that no vertex falls between two intervals.
        start, stop = max(part.start, least - width), min(part.stop, width - most)
        # A choice is only possible for the τ that the other categories can bring about.
        below, above = np.maximum(below - width, start), np.minimum(width - above, stop)
        allowed &= below <= above
        open_single = _settle(allowed, problem.single)
        if start > stop or open_single is None:
            return None
        touch = np.clip((start + stop) / 2, below, above)
        inner = touch - problem.size * problem.weighted
        slope = -np.log1p(np.maximum(inner, _NO_MASS)) / problem.size
        ends = np.array([start, stop])
        scores = problem.gain - relative_entropy(inner) / problem.size + slope * (ends[:, None, None] - touch)
        exact = problem.gain - relative_entropy(ends[:, None, None] - problem.size * problem.weighted) / problem.size
        sizes = (
            float(np.where(allowed, np.abs(scores), 0.0).max(axis=(0, 2)).sum()),
            float(2 * np.abs(problem.weighted).max(axis=1).sum()),
        )
        common = allowed & ~problem.single
        usual = np.where(common.any(axis=1, keepdims=True), common, allowed)
        return cls(problem, ends, np.where(allowed, scores, -np.inf), exact, usual, open_single, sizes)

    def at(self, multiplier: float) -> _Side:
        """The bound with this multiplier, raised by what rounding may have taken off."""
        problem = self.problem
        scores = self.scores + multiplier * problem.weighted
        usual = np.where(self.usual, scores, -np.inf)
        choice = usual.argmax(axis=2)
        best = usual.max(axis=2)
        totals = best.sum(axis=1) - multiplier * self.ends
        for column in self.open_single:
            gains = scores[:, :, column] - best
            places = gains.argmax(axis=1)
            totals += gains[[0, 1], places]
            choice[[0, 1], places] = column
        end = int(totals.argmax())
        slope = float((problem.p * problem.t[choice[end]]).sum() - self.ends[end])
        if abs(slope) <= WIDTH * problem.scale:
            slope = 0.0
        rounding = (math.log2(problem.size) + 16) * 2.0**-52 * (self.sizes[0] + abs(multiplier) * self.sizes[1])
        return _Side(multiplier, float(totals[end]) + rounding, slope, choice[end], end)

    def solve(self, start: float) -> Answer | None:
        """The least bound over multipliers: the falling and the rising side are found, then where they meet."""
        side = best = self.at(start)
        sides = {side.slope > 0: side}
        step = 1.0
        while len(sides) < 2 and side.slope != 0 and step < 4.0**_STEPS:
            side = self.at(start - math.copysign(step, side.slope))
            step *= 4
            sides[side.slope > 0] = side
            best = min(best, side, key=lambda s: s.bound)
            if best.bound < 0:
                # Mutual information is not negative: no choice brings about a τ in the interval.
                return None
        for _ in range(_STEPS if len(sides) == 2 else 0):
            falling, rising = sides[False], sides[True]
            if falling.slope == 0:
                break
            ahead = (rising.bound - falling.bound - rising.slope * (rising.multiplier - falling.multiplier)) / (
                falling.slope - rising.slope
            )
            side = self.at(falling.multiplier + ahead)
            sides[side.slope > 0] = side
            best = min(best, side, key=lambda s: s.bound)
            if side.bound <= falling.bound + falling.slope * ahead + 1e-14 * abs(side.bound):
                break
        return self._answer(best, list(sides.values()))

    def _answer(self, best: _Side, sides: list[_Side]) -> Answer:
        problem = self.problem
        offers = [_completed(side.choice, problem.single) for side in sides]
        values = [problem.value(choice) for choice in offers]
        bends = [self._bend(side) for side in sides]
        at = int(np.argmax(values))
        left, right = sides[0].choice, sides[-1].choice
        undecided = np.flatnonzero((left != right) | (left != offers[0]) | (right != offers[-1]))
        return Answer(best.bound, values[at], offers[at], best.multiplier, left, right, undecided, max(bends))

    def _bend(self, side: _Side) -> float:
        picked = (side.end, np.arange(self.problem.size), side.choice)
        return float((self.scores[picked] - self.exact[picked]).sum())


def _settle(allowed: Mask, single: Mask) -> list[int] | None:
    """Keep a single chance from all others once one category can only have that; those still open, None if impossible.

    ``allowed`` is changed in place.
    """
    still_open = []
    for column in np.flatnonzero(single):
        holders = allowed[:, column] & (allowed.sum(axis=1) == 1)
        if holders.any():
            allowed[:, column] &= holders
        else:
            still_open.append(int(column))
        if holders.sum() > 1 or not allowed[:, column].any():
            return None
    return still_open if allowed.any(axis=1).all() else None


def _reach(weighted: Table, allowed: Mask, single: Mask, open_single: list[int]) -> tuple[float, Table]:
    """The least sum that the choices can have, overall and with each category's choice given."""
    possible = np.where(allowed, weighted, np.inf)
    nearest = np.where(single, np.inf, possible).min(axis=1)
    nearest = np.where(np.isinf(nearest), possible.min(axis=1), nearest)
    changes = {column: float((possible[:, column] - nearest).min()) for column in open_single}
    least = float(nearest.sum()) + sum(changes.values())
    given = weighted - nearest[:, None] + least
    for column, change in changes.items():
        given[:, column] -= change
    return least, given


def _completed(choice: Choice, single: Mask) -> Choice:
    """The choice as a vertex: each single chance with exactly one category."""
    common = int(np.flatnonzero(~single)[0])
    fixed = choice.copy()
    for column in np.flatnonzero(single):
        fixed[np.flatnonzero(fixed == column)[1:]] = common
    for column in np.flatnonzero(single):
        if not (fixed == column).any():
            fixed[np.flatnonzero(~single[fixed])[-1]] = column
    return fixed
