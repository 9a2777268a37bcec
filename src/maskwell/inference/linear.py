"""Linear estimators: unbiased, therefore not clipped, with the exact covariance of the design.

The estimate is the mean of the reports' scores L, so n times its covariance is ``E[L L'] - p p'``, evaluated at the
estimate or, where that is no covariance, at the nearest proportions in the simplex. With sampling weights it is the
Hájek mean and its linearised variance (Kish's ``sum w^2 / (sum w)^2`` in place of 1/n).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, cast

import numpy as np

from maskwell.designs.base import Matrix, Method, Scores, Vector
from maskwell.errors import EstimationError
from maskwell.inference.estimates import Contrast, ContrastScores, Estimate, Projection, contrast_vector
from maskwell.inference.intervals import closed_form as intervals
from maskwell.inference.simplex import project
from maskwell.reports import Reports
from maskwell.reports.tally import Tally

__all__ = ["Contrast", "Estimate", "LinearEstimate", "Projection", "estimate", "estimate_contrast"]

_ROUND_OFF = 1e-12
METHODS = ("linear", "moments")
LIKELIHOOD_METHODS = ("likelihood", "one-step")


def estimate(
    tally: Tally | Reports, method: Literal["linear", "moments", "likelihood", "one-step"] = "linear"
) -> Estimate:
    """Estimate the proportions of all categories.

    ``linear`` is the minimax linear estimator; ``moments`` inverts the inclusion counts (for matrices: unweighted
    least squares). Both are unbiased, so single entries may fall outside [0, 1]. ``likelihood`` is the maximum over
    proportions that are none below 0 and sum to 1, which is more precise where sets are reported, and biased near 0;
    ``one-step`` is one Newton step towards it. For reports that are sets these two need each distinct report, as
    ``reports.tally(patterns=True)`` keeps it.

    >>> import maskwell as mw
    >>> design = mw.designs.warner(truth_prob=0.75)
    >>> mw.estimate(mw.Tally.from_counts(design, [500, 500])).proportions
    array([0.5, 0.5])
    """
    if method in LIKELIHOOD_METHODS:
        from maskwell.inference.likelihood.estimate import estimate_likelihood

        return estimate_likelihood(as_tally(tally, patterns=True), method)
    counted = as_tally(tally)
    if method not in METHODS:
        raise EstimationError(
            f"method must be one of {', '.join(METHODS + LIKELIHOOD_METHODS)}; got {method!r}.", parameter="method"
        )
    linear = cast(Method, method)
    if counted.design.variables:
        from maskwell.inference.joint import estimate_joint

        return estimate_joint(counted, linear)
    return LinearEstimate(counted, linear, counted.design.scores(linear))


def as_tally(tally: Tally | Reports, patterns: bool | None = None) -> Tally:
    """The tally of what was given, if it holds reports."""
    counted = tally.tally(patterns=patterns) if isinstance(tally, Reports) else tally
    if not isinstance(counted, Tally):
        raise EstimationError(
            f"estimate needs a Tally or Reports; got {type(tally).__name__}. Masked values come from design.mask."
        )
    if counted.n == 0:
        raise EstimationError("there are no reports to estimate from.")
    return counted


@dataclass(frozen=True, eq=False, repr=False)
class LinearEstimate(Estimate):
    """An estimate that is the mean of the reports' scores."""

    scores: Scores

    default_interval = "wilson"

    @cached_property
    def proportions(self) -> Vector:
        """Unbiased and therefore not clipped: entries may fall outside [0, 1]."""
        return self.scores.mean(self.tally.scored_counts)

    @cached_property
    def moment_points(self) -> tuple[Vector, Vector]:
        """Where moments are taken: the proportions, and with weights the mean under squared weights.

        Outside the simplex the moments may be those of no population, and few reports that all show the same have no
        variance. Both points then move to the simplex together: variances alone would leave no covariance.
        """
        p = self.proportions
        q = p if self.tally.squares is None else self.scores.mean(self.tally.scored_squares)
        squares = self.scores.second_moment_diagonal(q)
        clear = bool((squares - 2 * p * q + p**2 > _ROUND_OFF * squares).all()) or not self.design.added_variance
        return (p, q) if clear and self.scores.holds_at(q) else (project(p), project(q))

    def covariance_at(self, proportions: Vector) -> Matrix:
        """The covariance that the estimate would have in a population with these proportions."""
        centre = proportions if self.tally.squares is None else self.moment_points[1]
        off = centre - proportions
        spread = self.scores.second_moment(centre) - np.outer(centre, centre) + np.outer(off, off)
        result: Matrix = spread / self.effective_n
        return result

    @cached_property
    def variances(self) -> Vector:
        """The variances alone, without forming the k x k covariance."""
        p, q = self.moment_points
        spread = self.scores.second_moment_diagonal(q) - q**2 + (q - p) ** 2
        return np.maximum(spread / self.effective_n, 0.0)

    @property
    def covariance(self) -> Matrix:
        """The covariance matrix of the estimated proportions."""
        return self.covariance_at(self.moment_points[0])

    @property
    def cov_type(self) -> str:
        """ "exact" for the design at the estimated proportions; "linearised" with sampling weights."""
        return "exact" if self.tally.squares is None else "linearised"

    def interval(self, level: float = 0.95, method: intervals.Kind | None = None, simultaneous: bool = False) -> Matrix:
        """Lower and upper limits by category; simultaneous ones hold for all together (Bonferroni)."""
        return intervals.limits(self, level, method or self.default_interval, simultaneous)


def estimate_contrast(tally: Tally | Reports, scores: ContrastScores) -> Contrast:
    """A weighted sum of proportions, also where the single proportions cannot be estimated, such as a group's total."""
    counted = as_tally(tally)
    vector = contrast_vector(counted.design, scores)
    if not math.isinf(counted.design.added_variance):
        return estimate(counted).contrast(vector)
    from maskwell.inference.estimable import contrast_of_deficient

    value, error = contrast_of_deficient(counted, vector)
    return Contrast(value, error)
