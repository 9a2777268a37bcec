"""Confidence limits for single proportions.

* wald: estimate ± z standard errors; too short when a category is rare or n is small.
* wilson: all p that a two-sided score test does not reject, the variance taken at p. For symmetric designs the
  variance of an entry depends on its own proportion alone, so the limits solve a quadratic.
* clopper-pearson: exact, from the binomial count of reports that hold the category; never below its level.

Limits are not clipped to [0, 1]: an interval that ends below 0 says that the data contradict the design.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from maskwell.advice import Advice, Setting
from maskwell.designs.base import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.numerics import normal
from maskwell.numerics.beta import beta_quantile

if TYPE_CHECKING:
    from maskwell.inference.estimates import Estimate
    from maskwell.inference.linear import LinearEstimate

Kind = Literal["wilson", "wald", "clopper-pearson"]


def normal_quantile(level: float) -> float:
    """z such that a standard normal falls within ±z with probability ``level``."""
    if not 0 < level < 1:
        raise EstimationError(
            f"level must lie between 0 and 1; got {level}. Use 0.95 for 95 % limits.", parameter="level"
        )
    return float(normal.normal_quantile(0.5 + level / 2))


def limits(estimate: LinearEstimate, level: float, kind: str, simultaneous: bool) -> Matrix:
    """Lower and upper limits by category."""
    level = level_of_each(level, estimate.design.k if simultaneous else 1)
    if kind not in get_args(Kind):
        raise EstimationError(f"interval method must be one of {', '.join(get_args(Kind))}; got {kind!r}.")
    return {"wilson": _wilson, "wald": wald, "clopper-pearson": _clopper_pearson}[kind](estimate, level)


def level_of_each(level: float, together: int) -> float:
    """The level that each of several intervals needs for all of them to hold together (Bonferroni)."""
    normal_quantile(level)  # refuses a level outside (0, 1)
    return 1 - (1 - level) / together


def wald(estimate: Estimate, level: float) -> Matrix:
    """The estimate, and as many standard errors to both sides as the level asks for."""
    margin = normal_quantile(level) * estimate.standard_errors
    return np.stack([estimate.proportions - margin, estimate.proportions + margin], axis=1)


def _wilson(estimate: LinearEstimate, level: float) -> Matrix:
    p = estimate.proportions
    intercept, slope, worth = variance_lines(estimate)
    t = normal_quantile(level) ** 2 / worth
    centre = p + t * slope / 2
    root = np.sqrt(np.maximum(centre**2 - (1 + t) * (p**2 - t * intercept), 0.0))
    return np.stack([(centre - root) / (1 + t), (centre + root) / (1 + t)], axis=1)


def variance_lines(estimate: LinearEstimate) -> tuple[Vector, Vector, Vector]:
    """The variance of each entry, were its share p: ``(intercept + slope p - p^2) / worth``."""
    p = estimate.proportions
    intercept, slope = estimate.scores.variance_lines(p)
    # How many unweighted reports would give the variance that was found; n itself if there are no weights.
    found = estimate.variances
    model = intercept + slope * p - p**2
    known = (estimate.tally.squares is not None) & (found > 0) & (model > 0)
    return intercept, slope, np.where(known, model / np.where(known, found, 1), estimate.effective_n)


def _clopper_pearson(estimate: LinearEstimate, level: float) -> Matrix:
    chances = estimate.scores.binomial()
    if chances is None or estimate.tally.squares is not None:
        why = "weights are used" if chances is not None else "its reports vary in size or number"
        raise EstimationError(
            Advice(
                f"clopper-pearson needs binomial counts, which {estimate.design.title} with ",
                Setting("method", estimate.method),
                f" does not have ({why}); use wilson, or for sets of several sizes ",
                Setting("method", "moments"),
                ".",
            )
        )
    given, other = chances
    n = estimate.n
    count = np.clip(np.round(n * (other + (given - other) * estimate.proportions)), 0, n)
    if np.ptp(given) or np.ptp(other):
        return _from_counts(count, n, given, other, level)
    # A million categories have a few thousand different counts.
    different, at = np.unique(count, return_inverse=True)
    return _from_counts(different, n, given[0], other[0], level)[at]


def _from_counts(count: Vector, n: int, given: Vector, other: Vector, level: float) -> Matrix:
    tail = (1 - level) / 2
    low = np.where(count > 0, beta_quantile(np.maximum(count, 1), n - count + 1, tail), 0.0)
    high = np.where(count < n, beta_quantile(count + 1, np.maximum(n - count, 1), 1 - tail), 1.0)
    ends = np.stack([(low - other) / (given - other), (high - other) / (given - other)], axis=1)
    return np.sort(ends, axis=1)
