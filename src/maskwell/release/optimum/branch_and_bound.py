r"""The most informative vertex, with an upper bound that proves it, for hundreds of categories.

In terms of t_k = S·r_k - 1 and their mean τ = Σ p_k t_k, mutual information is

.. math:: f = \sum_k \Big[ p_k h(t_k) - \tfrac1S \psi(\tau - S p_k t_k) \Big], \qquad
          h(t) = \tfrac1S \psi(-(S-1)t) + \tfrac{S-1}{S} \psi(t), \qquad \psi(t) = (1+t)\ln(1+t) - t,

so that for a given τ each category chooses its value alone, but for the one condition Σ p_k t_k = τ (where chances are
v_α or v_-α, τ says how much of the population has v_α). ``relaxation`` bounds f over an interval of τ. Here intervals
are halved, and where the relaxation's own gap remains, the choices of one category are split.

The open part with the highest bound is always taken next, and the search ends when what that part itself offers
reaches its bound. Nothing is discarded by comparison with a solution found elsewhere, so the bound cannot depend on
one: a poor solution makes the gap larger, never the bound smaller.
"""

import heapq
import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from maskwell.release.optimum.relaxation import WIDTH, Answer, Choice, Part, Problem
from maskwell.release.optimum.vertices import Family, Vector

_TOLERANCE = 1e-10


class Found(NamedTuple):
    """The best vertex that the search met, an upper bound on all of them, and how many parts it looked at.

    ``choice`` holds for each category the position of its chance in ``family.chances``.
    """

    family: Family
    choice: Choice
    value: float
    bound: float
    parts: int


def search(p: Vector, families: Sequence[Family], *, tolerance: float = _TOLERANCE, limit: int = 20_000) -> Found:
    """The best vertex of all families and an upper bound on every one, equal up to the relative tolerance.

    The search gives up after ``limit`` parts; its bound holds all the same, and the gap then tells what is open.
    """
    order = np.argsort(p, kind="stable")
    parts: list[tuple[float, int, Part, Answer]] = []
    numbers = itertools.count()
    offers: list[tuple[float, Family, Choice]] = []

    def enter(part: Part) -> None:
        answer = part.problem.answer(part)
        if answer is None:
            return
        heapq.heappush(parts, (-answer.bound, next(numbers), part, answer))
        if not offers or answer.value > offers[-1][0]:
            offers.append((answer.value, part.problem.family, answer.choice))

    for family in families:
        enter(Problem(p[order], family).whole())
    for entered in numbers:
        _, _, part, answer = parts[0]
        children = [] if answer.gap <= tolerance * answer.bound else _split(part, answer)
        if not children or entered > limit:
            break
        heapq.heappop(parts)
        for child in children:
            enter(child)
    value, family, sorted_choice = offers[-1]
    choice = np.empty_like(sorted_choice)
    choice[order] = sorted_choice
    return Found(family, choice, value, answer.bound, entered)


def _split(part: Part, answer: Answer) -> list[Part]:
    """Halves of the interval where that is at fault, else of a category's choices; nothing if one vertex is left."""
    problem = part.problem
    undecided = answer.undecided[part.low[answer.undecided] < part.high[answer.undecided]]
    narrow = part.stop - part.start <= 4 * WIDTH * problem.scale
    if not narrow and (len(undecided) == 0 or answer.bend > answer.gap / 2):
        middle = (part.start + part.stop) / 2
        halves = ((part.start, middle), (middle, part.stop))
        return [Part(problem, start, stop, part.low, part.high, answer.multiplier) for start, stop in halves]
    if len(undecided) == 0:
        undecided = np.flatnonzero(part.low < part.high)
    if len(undecided) == 0:
        return []
    # Who has a chance that only one may have decides most, and comes first.
    held = problem.single[answer.left] | problem.single[answer.right]
    holders = undecided[held[undecided]]
    row = int(holders[-1]) if len(holders) else _middle(problem, undecided)
    a, b = sorted((int(answer.left[row]), int(answer.right[row])))
    at = min(a, int(part.high[row]) - 1) if a == b or not problem.single[b] else b - 1
    high, low = part.high.copy(), part.low.copy()
    # Equal categories are interchangeable: only choices that rise within them are looked at.
    before, after = slice(problem.first[row], row + 1), slice(row, problem.last[row] + 1)
    high[before] = np.minimum(high[before], at)
    low[after] = np.maximum(low[after], at + 1)
    return [
        Part(problem, part.start, part.stop, part.low, high, answer.multiplier),
        Part(problem, part.start, part.stop, low, part.high, answer.multiplier),
    ]


def _middle(problem: Problem, rows: Choice) -> int:
    """The category at which half of the weight of these is passed."""
    weight = np.cumsum(problem.p[rows])
    return int(rows[min(int(np.searchsorted(weight, weight[-1] / 2)), len(rows) - 1)])
