r"""How proportions changed between two rounds, with the noise that both rounds share.

With :math:`L_1, L_2` one person's scores in the two rounds, the change is the mean of :math:`L_2 - L_1`. Who answers
the same in both rounds has the same permanent report, whose noise is in both scores and cancels in part:

.. math:: n\,\mathrm{Cov}(\hat p_1, \hat p_2) = \sum_x \pi_{xx}\, E[m m' \mid x] + \sum_{x \ne y} \pi_{xy}\, e_x e_y'
   - p_1 p_2'

where :math:`\pi` has the shares of people by both answers and m is the mean score of a permanent report. Reports row by
row about the same people show that covariance themselves; from two tallies it needs π, or the least that it can be.

A report that is kept and sent again as it is, masked with a key, is the case without a second layer: who answers the
same sends the same, and only the pairs that differ enter the variance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from maskwell.designs.base import Design, Matrix, Vector
from maskwell.designs.layered.base import require_layers
from maskwell.errors import EstimationError
from maskwell.inference.linear import LinearEstimate
from maskwell.inference.methods import as_tally, estimate
from maskwell.reports import Reports
from maskwell.reports.tally import Tally
from maskwell.rounds.figures import (
    MOST_IN_COVARIANCE,
    SCORES_AT_ONCE,
    RoundsEstimate,
    check_rounds,
    covariance_of_mean,
    sums_over,
)
from maskwell.sampling.samplers import Packed

_SUM_TOLERANCE = 1e-9
# Beyond so many scores of so many categories (half a minute), variances are bounded instead.
_MOST_SCORES = 1 << 27


@dataclass(frozen=True, eq=False)
class Change(RoundsEstimate):
    """Estimated differences, second round less first: ``figures``, also called ``differences``."""

    word: ClassVar[str] = "change"

    @property
    def differences(self) -> Vector:
        """The changes by category."""
        return self.figures

    def _title(self) -> str:
        return f"change between two rounds of {self.n:,} reports, {self.basis}"


def change(first: Reports | Tally, second: Reports | Tally, *, joint: Any = None, same_people: bool = True) -> Change:
    """The change of every proportion from the first round to the second.

    Give the reports of both rounds, row by row about the same people, where they are known; the covariance is then that
    of the pairs, whatever people did. From two tallies of the same people, ``joint[x, y]`` is the share who answered x
    and then y, where it is known or supposed (``numpy.diag(p)``: nobody changed); without it variances are for the
    population in which the rounds share least, and intervals are wide enough for any. ``same_people=False`` is for
    rounds of different people, chosen independently.

    The design is one of two layers, or any other whose reports are kept and sent again as they are (masked with a
    key), or that different people answered. The question is one; its survey may be named by the round. Beyond 4,096
    categories there are variances and no covariance.
    """
    check_rounds([first, second])
    design = first.design
    if isinstance(first, Reports) and isinstance(second, Reports) and same_people and joint is None:
        return _of_pairs(first, second)
    parts = [estimate(as_tally(given)) for given in (first, second)]
    before, after = parts
    assert isinstance(before, LinearEstimate)
    assert isinstance(after, LinearEstimate)
    if before.tally.squares is not None or after.tally.squares is not None:
        raise EstimationError("changes are estimated from unweighted reports; give the reports of the same people.")
    differences, variances = after.proportions - before.proportions, before.variances + after.variances
    n = min(before.n, after.n)
    about: dict[str, Any] = {"categories": design.categories, "figures": differences, "n": n}
    if not same_people:
        covariance = before.covariance + after.covariance if design.k <= MOST_IN_COVARIANCE else None
        return Change(**about, variances=variances, covariance=covariance, basis="of different people")
    if before.n != after.n:
        raise EstimationError(
            f"rounds of the same people have as many reports; got {before.n:,} and {after.n:,}. Give the reports row "
            "by row, with missing ones, or say same_people=False."
        )
    p, q = before.moment_points[0], after.moment_points[0]
    if joint is None:
        # Shared permanent reports only make rounds more alike; nobody may have one.
        least = variances + 2 * p * q / n
        return Change(**about, variances=least, covariance=None, basis="of the same people, whoever changed")
    shares = _shares(joint, design.k)
    between = (require_layers(design).shared_moment(shares) - np.outer(shares.sum(axis=1), shares.sum(axis=0))) / n
    covariance = before.covariance + after.covariance - between - between.T
    about["basis"] = "of the same people, as the joint shares say"
    return Change(**about, variances=np.diagonal(covariance).copy(), covariance=covariance)


def _of_pairs(first: Reports, second: Reports) -> Change:
    if len(first) != len(second):
        raise EstimationError(
            f"reports must be row by row about the same people; got {len(first):,} and {len(second):,} rows. Tally "
            "them apart where people cannot be told."
        )
    present = np.ones(len(first), np.bool_)
    for reports in (first, second):
        if reports.missing is not None:
            present &= ~reports.missing
    n = int(present.sum())
    if n < 2:
        raise EstimationError("a change needs the reports of two people or more in both rounds.")
    design, basis = first.design, "of the same people, row by row"
    before, after = first.packed[present], second.packed[present]
    moved = before != after if before.ndim == 1 else (before != after).any(axis=1)
    # Whoever sent the same report twice adds nothing to any sum.
    if design.k > MOST_IN_COVARIANCE and int(moved.sum()) * design.k > _MOST_SCORES:
        sums, squares, products = *_bounded_sums(design, before[moved], after[moved]), None
        basis += ", errors at most"
    else:
        sums, squares, products = _sums_of_differences(design, before[moved], after[moved])
    mean = sums / n
    covariance = covariance_of_mean(products, mean, n)
    variances = np.maximum((squares - n * mean**2) / (n - 1) / n, 0.0)
    return Change(design.categories, mean, variances, covariance, basis, n)


def _sums_of_differences(design: Design, before: Packed, after: Packed) -> tuple[Vector, Vector, Matrix | None]:
    """Sums, sums of squares and sums of products of the differences between two scores of each person."""
    scores, step = design.scores("linear"), max(1, SCORES_AT_ONCE // design.k)
    parts = (slice(start, start + step) for start in range(0, len(before), step))
    return sums_over((scores.rows(after[part]) - scores.rows(before[part]) for part in parts), design.k)


def _bounded_sums(design: Design, before: Packed, after: Packed) -> tuple[Vector, Vector]:
    """Sums of differences, and a bound of their squares, from counts alone.

    Of two scores above the least one, l, the squared difference is at most the sum of the squares of what each has
    above l, and such a square is at most the range of scores times that. It is exact where nobody's two reports both
    hold a category.
    """
    scores, n = design.scores("linear"), len(before)
    low, high = scores.extremes()
    one, two = (n * scores.mean(Reports(design, part).tally(patterns=False).scored_counts) for part in (before, after))
    return two - one, (high - low) * (one + two - 2 * n * low)


def _shares(joint: Any, k: int) -> Matrix:
    shares = np.asarray(joint, np.float64)
    if shares.shape != (k, k) or not np.isfinite(shares).all() or shares.min() < 0:
        raise EstimationError(f"joint must be {k} by {k} shares, none below 0.", parameter="joint")
    if not math.isclose(shares.sum(), 1, abs_tol=_SUM_TOLERANCE):
        raise EstimationError(f"joint must sum to 1; it sums to {shares.sum():.6g}.", parameter="joint")
    return shares
