"""Which of two designs tells more, whatever the data will be used for.

A design dominates another if the other's reports can be drawn from its own, without a look at the truth: then no
analysis, loss or prior is served better by the other (Blackwell's order; chai-nayak-2018, Definition 4.1;
nayak-zhai-2019, Definition 3.1). Each verdict carries its proof: the second draw, or a decision problem in which the
other design does better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from maskwell.designs.base import Matrix, Vector
from maskwell.designs.channels import Channel
from maskwell.designs.channels.deviations import TOLERANCE
from maskwell.ordering.comparable import both_by_size, comparable_pair, paired_tables
from maskwell.ordering.proportional import proportional_rows
from maskwell.ordering.row_comparison import Comparison, Finding
from maskwell.ordering.row_decision import decide
from maskwell.ordering.size_comparison import SizeComparison, decide_sizes
from maskwell.ordering.size_rules import SizeBet, SizeTransition
from maskwell.results.result import Result

_SAME = 1e-13  # rows this close to proportional differ by rounding only


@dataclass(frozen=True)
class Witness:
    """A decision problem in which the worse design earns more: it proves that the better one does not dominate.

    One action per report of the worse design; ``payoffs[action, truth]``; all truths equally likely beforehand.
    ``value_worse`` is earned by taking the action of the report, ``value_better`` is the most that the other design can
    earn. For large symmetric designs ``payoffs`` is refused and ``bet`` gives it by set size.
    """

    value_better: float
    value_worse: float
    bet: Matrix | SizeBet

    @cached_property
    def payoffs(self) -> Matrix:
        return self.bet.matrix() if isinstance(self.bet, SizeBet) else self.bet

    @property
    def prior(self) -> Vector:
        k = self.bet.k if isinstance(self.bet, SizeBet) else self.bet.shape[1]
        return np.full(k, 1 / k)


@dataclass(frozen=True)
class Domination(Result):
    """Whether one design dominates another, with the proof; true or false as it is.

    If it holds, the worse design is ``C @ better``; ``slack`` is then the largest error of that product, relative to
    the largest entry of its row (at most 1e-9). If not, ``witness`` proves it, and ``slack`` is a lower bound on that
    error for every possible C. ``transition`` is C, by set size where both designs are symmetric.
    """

    holds: bool
    slack: float
    why: str
    transition: Matrix | SizeTransition | None = None
    witness: Witness | None = None

    def __bool__(self) -> bool:
        return self.holds

    def _title(self) -> str:
        return f"the one design {'is' if self.holds else 'is not'} better than the other for every analysis"

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain values; ``C`` and ``witness.payoffs`` are the proof in full."""
        found = {"holds": self.holds, "slack": self.slack, "why": self.why}
        if self.witness is not None:
            found |= {"value_better": self.witness.value_better, "value_worse": self.witness.value_worse}
        return found

    @cached_property
    def C(self) -> Matrix | None:
        """The transition matrix from reports of the better design to reports of the worse; columns sum to 1."""
        return self.transition.matrix() if isinstance(self.transition, SizeTransition) else self.transition


def dominates(better: Any, worse: Any) -> Domination:
    """Whether ``better`` tells at least as much as ``worse``; designs, or tables ``P[report, truth]``.

    The verdict has a relative tolerance of 1e-9 (and an absolute one of 1e-15, where doubles end).

    >>> from maskwell import designs
    >>> bool(dominates(designs.trimmed_rappor(4, epsilon=1), designs.rappor(4, epsilon=1)))
    True
    >>> bool(dominates(designs.rappor(4, epsilon=1), designs.trimmed_rappor(4, epsilon=1)))
    False
    """
    first, second = comparable_pair(better, worse)
    if both_by_size(first, second):
        return _dominates_by_size(first.channel, second.channel)
    return _dominates_by_row(*paired_tables(first, second))


# Tables.


def _dominates_by_row(better: Matrix, worse: Matrix) -> Domination:
    merged_better, groups_better = _merged(better)
    merged_worse, groups_worse = _merged(worse)
    comparison = Comparison(merged_better, merged_worse)
    payoffs = _odds_bet(merged_better, merged_worse)
    if payoffs is not None and comparison.gain(payoffs) > TOLERANCE:
        return _refuted(comparison, payoffs, comparison.gain(payoffs), groups_worse, len(worse), by_odds=True)
    found = _reordered(comparison) or decide(comparison)
    if found.payoffs is not None:
        return _refuted(comparison, found.payoffs, found.slack, groups_worse, len(worse), by_odds=False)
    assert found.transition is not None
    C = np.zeros((len(worse), len(better)))
    # A row of zeros never occurs, so its column is free; it goes where the first group goes.
    group_of = np.zeros(len(better), int)
    for at, group in enumerate(groups_better):
        group_of[group] = at
    for at, group in enumerate(groups_worse):
        shares = worse[group].sum(axis=1) / worse[group].sum()
        C[group] = np.outer(shares, found.transition[at, group_of])
    slack = Comparison(better, worse).error(C)
    return Domination(True, slack, _HOLDS, C)


_HOLDS = "a second draw from each report of the better design, made without the truth, gives the worse one."


def _merged(table: Matrix) -> tuple[Matrix, list[list[int]]]:
    groups = proportional_rows(table, _SAME)
    return np.array([table[group].sum(axis=0) for group in groups]), groups


def _reordered(comparison: Comparison) -> Finding | None:
    """The permutation, if the two tables have the same rows."""
    m, r = len(comparison.better), len(comparison.worse)
    pairs = proportional_rows(np.vstack([comparison.better, comparison.worse])) if m == r else []
    if len(pairs) != m or any(len(pair) != 2 or not pair[0] < m <= pair[1] for pair in pairs):
        return None
    C = np.zeros((r, m))
    for column, row in pairs:
        C[row - m, column] = 1
    return comparison.finding(C)


def _odds_bet(better: Matrix, worse: Matrix) -> Matrix | None:
    """If a report of A changes some odds more than any report of P can: a bet at odds that only A can beat.

    Take it on that report, decline it on any other (chai-nayak-2018, Lemma 4.1).
    """
    most = [_steepest(table) for table in (better, worse)]
    if len(worse) < 2 or most[1][0] <= most[0][0] * (1 + TOLERANCE):
        return None
    parity, row = most[1]
    odds = 2 * most[0][0] if math.isinf(parity) else math.sqrt(parity * most[0][0])
    payoffs = np.zeros_like(worse)
    payoffs[row, np.argmax(worse[row])] = 1 / odds
    payoffs[row, np.argmin(worse[row])] = -1
    return payoffs


def _steepest(table: Matrix) -> tuple[float, int]:
    """The parity of a table and the row that has it."""
    low, high = table.min(axis=1), table.max(axis=1)
    parities = np.divide(high, low, out=np.full(len(table), np.inf), where=low > 0)
    row = int(np.argmax(parities))
    return float(parities[row]), row


def _refuted(
    comparison: Comparison, payoffs: Matrix, slack: float, groups: list[list[int]], rows: int, *, by_odds: bool
) -> Domination:
    k = comparison.better.shape[1]
    value_better = float((comparison.better @ payoffs.T).max(axis=1).sum() / k)
    value_worse = float((payoffs * comparison.worse).sum() / k)
    full = np.zeros((rows, k))
    for at, group in enumerate(groups):
        full[group] = payoffs[at]
    why = _fails(value_better, value_worse)
    if by_odds:
        parities = [_steepest(table)[0] for table in (comparison.better, comparison.worse)]
        why = _by_odds(*parities)
    return Domination(False, slack, why, witness=Witness(value_better, value_worse, full))


def _fails(value_better: float, value_worse: float) -> str:
    return (
        f"there is a decision problem in which the worse design earns {value_worse:.6g} and the better one "
        f"{value_better:.6g} at most."
    )


def _by_odds(better: float, worse: float) -> str:
    if math.isinf(worse):
        return "a report of the worse design rules a category out; none of the better one does, and no second draw can."
    return (
        f"a report of the worse design can change odds {worse:.6g}-fold, one of the better design {better:.6g}-fold at "
        "most, and no second draw raises that."
    )


# Symmetric designs.


def _dominates_by_size(better: Channel, worse: Channel) -> Domination:
    comparison = SizeComparison(better.k, better.sizes, worse.sizes)
    transition, bet, slack = decide_sizes(comparison)
    if bet is None:
        return Domination(True, slack, _HOLDS, transition)
    witness = Witness(*comparison.values(bet), bet)
    parities = float(better.parity), float(worse.parity)
    steeper = parities[1] > parities[0] * (1 + TOLERANCE)
    why = _by_odds(*parities) if steeper else _fails(witness.value_better, witness.value_worse)
    return Domination(False, slack, why, witness=witness)
