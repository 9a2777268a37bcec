r"""The order of symmetric designs, by set size alone.

If one symmetric design can be had from another, it can be had by a rule that treats all categories alike: from a set
of size s go, with some chance, to a set of size s' that shares t members with it, all such sets being equally likely
(average the rule over all permutations of the categories). With IN and OUT the chances of a size with the truth inside
and outside, the rule gives

.. math:: IN'_{s'} = \sum_{s,t} d_{s,s',t} \left[ IN_s \frac{t}{s} + OUT_s \frac{s'-t}{k-s} \right]

and what is left goes to OUT'. This is linear in t, so the smallest and the largest overlap suffice. The linear program
has two unknowns per pair of sizes, whatever k is, and its dual is a bet on sets: a payoff by size for naming a set that
holds the truth, and one for naming a set that does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Matrix, Vector
from maskwell.designs.channels import SizeRow
from maskwell.designs.channels.deviations import TOLERANCE
from maskwell.errors import DesignError
from maskwell.numerics.sparse import Sparse
from maskwell.ordering.comparable import mass_scale
from maskwell.ordering.least_error import least_error
from maskwell.ordering.size_rules import Move, SizeBet, SizeTransition
from maskwell.sampling.samplers import TOTAL

_ROUNDING = 1e-15


@dataclass(frozen=True)
class SizeComparison:
    """Two symmetric designs over the same ``k`` categories, by size."""

    k: int
    better: tuple[SizeRow, ...]
    worse: tuple[SizeRow, ...]

    @cached_property
    def sizes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The set sizes of both designs."""
        return tuple(row.size for row in self.better), tuple(row.size for row in self.worse)

    def transition(self, moves: Iterable[Move]) -> SizeTransition:
        """Moves from the sets of the better design to those of the worse."""
        return SizeTransition(self.k, *self.sizes, tuple(moves))

    @cached_property
    def target(self) -> Matrix:
        """IN' and OUT' of the worse design, by size."""
        return _chances(self.worse)

    @cached_property
    def scale(self) -> Vector:
        return mass_scale(self.target.sum(axis=1))

    @cached_property
    def ends(self) -> list[tuple[int, int, int]]:
        """Every (size, size', shared) with the smallest and the largest number of shared members."""
        pairs = [(s, to, {max(0, s + to - self.k), min(s, to)}) for s, to in product(*self.sizes)]
        return [(s, to, t) for s, to, extremes in pairs for t in sorted(extremes)]

    @cached_property
    def reached(self) -> Matrix:
        """For each of ``ends``, what a sure move adds to IN' and OUT' of its new size."""
        keep = np.array([Move(*end, 1.0).holds(self.k) for end in self.ends])
        start = _chances(self.better)[self.old]
        return np.stack([(start * keep).sum(axis=1), (start * (1 - keep)).sum(axis=1)], axis=1)

    @cached_property
    def new(self) -> NDArray[np.int64]:
        at = {size: i for i, size in enumerate(self.sizes[1])}
        return np.array([at[to] for _, to, _ in self.ends])

    @cached_property
    def old(self) -> NDArray[np.int64]:
        at = {size: i for i, size in enumerate(self.sizes[0])}
        return np.array([at[s] for s, _, _ in self.ends])

    def error(self, transition: SizeTransition) -> float:
        """The largest error in a size's chances, relative to the chance of the size."""
        given = np.array(list(transition.applied_to(self.better).values()))
        return float((np.abs(given - self.target).max(axis=1) / self.scale).max())

    def values(self, bet: SizeBet) -> tuple[float, float]:
        """What the best use of the better design earns, and what following the worse one does."""
        payoffs = np.stack([bet.inside, bet.outside], axis=1)
        options = (self.reached * payoffs[self.new]).sum(axis=1)
        most = np.full(len(self.better), -np.inf)
        np.maximum.at(most, self.old, options)
        return float(math.fsum(most)), float(math.fsum((payoffs * self.target).ravel()))

    def gain(self, bet: SizeBet) -> float:
        """The surplus of the worse design relative to the stakes; zero where rounding could feign it."""
        best, earned = self.values(bet)
        stakes = np.stack([np.abs(bet.inside), np.abs(bet.outside)], axis=1)
        total = float(self.scale @ stakes.sum(axis=1))
        doubt = _ROUNDING * (stakes.max() + float((stakes * self.target).sum()))
        return (earned - best) / total if earned - best > doubt else 0.0


def _chances(rows: tuple[SizeRow, ...]) -> Matrix:
    """IN and OUT by size."""
    return np.array([(row.inside / TOTAL, row.outside / TOTAL) for row in rows])


def decide_sizes(comparison: SizeComparison) -> tuple[SizeTransition | None, SizeBet | None, float]:
    """Moves with an error of at most 1e-9, or a bet with a gain."""
    diluted = _diluted(comparison)
    if comparison.error(diluted) <= TOLERANCE:
        return diluted, None, comparison.error(diluted)
    chances, payoffs = _solve(comparison)
    found = [_transition(comparison, chances), _transition(comparison, _refined(comparison, chances))]
    error, transition = min(((comparison.error(t), t) for t in found), key=lambda pair: pair[0])
    if error <= TOLERANCE:
        return transition, None, error
    bet = SizeBet(comparison.k, comparison.sizes[1], *(payoffs / np.abs(payoffs).max()).T)
    gain = comparison.gain(bet)
    if gain <= 0:
        raise DesignError(
            f"the order of these designs cannot be decided to 1e-9: the best rule found misses by {error:.3g} and no "
            "bet tells them apart. Compare designs whose rarest sets are more frequent."
        )
    return None, bet, gain


def _diluted(comparison: SizeComparison) -> SizeTransition:
    """The rule that keeps a set as often as it can and else draws one that has nothing to do with it.

    It is right if the worse design is the better one, some of whose reports were replaced by noise.
    """
    before, after = ({row.size: row.weight / TOTAL for row in rows} for rows in (comparison.better, comparison.worse))
    kept = min(1.0, *(after.get(size, 0.0) / weight for size, weight in before.items()))
    noise = {size: max(0.0, weight - kept * before.get(size, 0.0)) for size, weight in after.items()}
    total = math.fsum(noise.values())
    moves = [Move(size, size, size, kept if total else 1.0) for size in before if kept]
    moves += [
        Move(size, to, None, (1 - kept) * weight / total) for size in before for to, weight in noise.items() if weight
    ]
    return comparison.transition(moves)


def _transition(comparison: SizeComparison, chances: Vector) -> SizeTransition:
    ends = zip(comparison.ends, chances.tolist(), strict=True)
    return comparison.transition(Move(*end, chance) for end, chance in ends if chance)


def _solve(comparison: SizeComparison) -> tuple[Vector, Matrix]:
    """The chances of moves with the least relative error, and the payoffs that prove that it is the least.

    The unknowns are the probabilities of the moves relative to those of the new sizes: solvers take coefficients below
    1e-9 for zeros, and sizes differ by more.
    """
    n, sizes, old, new = len(comparison.ends), len(comparison.worse), comparison.old, comparison.new
    weights = comparison.reached.sum(axis=1)
    start = np.array([weights[np.argmax(old == s)] for s in range(len(comparison.better))])
    flat = np.concatenate([2 * new, 2 * new + 1])
    entries = (comparison.reached / weights[:, None]).T.ravel()
    moves = Sparse(entries, flat, np.tile(np.arange(n), 2), (2 * sizes, n))
    spent = comparison.scale[new] / mass_scale(start)[old]
    from_size = Sparse(spent, old, np.arange(n), (len(start), n))
    target = (comparison.target / comparison.scale[:, None]).ravel()
    solved = least_error(moves, target, from_size, start / mass_scale(start))
    if isinstance(solved, str):
        raise DesignError(f"the comparison by set size did not finish ({solved}); compare fewer sizes.")
    chances = _proper(comparison, solved.at * comparison.scale[new] / weights)
    return chances, solved.prices.reshape(sizes, 2) / comparison.scale[:, None]


def _proper(comparison: SizeComparison, chances: Vector) -> Vector:
    """Without negative entries, and with moves from each size that sum to 1."""
    chances = np.clip(chances, 0, None)
    used = np.bincount(comparison.old, chances)
    for size in np.flatnonzero(used == 0):
        # So rare that the solver did not notice: any move will do.
        chances[np.argmax(comparison.old == size)] = 1.0
    return np.asarray(chances / np.bincount(comparison.old, chances)[comparison.old])


def _refined(comparison: SizeComparison, chances: Vector) -> Vector:
    """The same moves with chances that fit to the last digits, where the solver stops at 1e-10."""
    used = np.flatnonzero(chances > 0)
    old, new, rows = comparison.old[used], comparison.new[used], len(comparison.worse)
    equations = np.zeros((2 * rows + comparison.old.max() + 1, len(used)))
    at = np.arange(len(used))
    for side in range(2):
        equations[2 * new + side, at] = comparison.reached[used, side] / comparison.scale[new]
    equations[2 * rows + old, at] = 1
    wanted = np.append(comparison.target / comparison.scale[:, None], np.ones(len(equations) - 2 * rows))
    # In units of the chances themselves, so that none is pushed below zero for the sake of another.
    change = np.linalg.lstsq(equations * chances[used], wanted - equations @ chances[used], rcond=1e-14)[0]
    better = np.zeros_like(chances)
    better[used] = chances[used] * (1 + change)
    return _proper(comparison, better)
