"""Linear estimators: unbiased, therefore not clipped, with the exact covariance of the design.

The estimate is the mean of the reports' scores L, so n times its covariance is ``E[L L'] - p p'``, evaluated at the
estimate or, where that is not a covariance, at the nearest proportions in the simplex. With sampling weights it is the
Hájek mean and its linearised variance (Kish's ``sum w^2 / (sum w)^2`` in place of 1/n).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from maskwell.designs.base import Matrix, Scores, Vector
from maskwell.inference.estimates import Estimate
from maskwell.inference.hypotheses.proportions import Kind
from maskwell.inference.intervals import closed_form
from maskwell.inference.simplex import project

_ROUND_OFF = 1e-12


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

    def contrast_variance(self, weights: Vector) -> float:
        p, q = self.moment_points
        spread = self.scores.contrast_moment(weights, q) - float(weights @ q) ** 2 + float(weights @ (q - p)) ** 2
        return spread / self.effective_n

    @property
    def cov_type(self) -> str:
        """ "exact" for the design at the estimated proportions; "linearised" with sampling weights."""
        return "exact" if self.tally.squares is None else "linearised"

    @property
    def surest_interval(self) -> str:
        return "clopper-pearson" if self._is_binomial else self.default_interval

    @property
    def _is_binomial(self) -> bool:
        return self.scores.binomial() is not None and self.tally.squares is None

    @property
    def possible_tests(self) -> tuple[Kind, ...]:
        return ("exact", "score", "wald") if self._is_binomial else ("score", "wald")

    def variance_if(self, at: int, value: float) -> float:
        intercept, slope, worth = (x[at] for x in closed_form.variance_lines(self))
        return max(float(intercept + slope * value - value**2), 0.0) / float(worth)

    def binomial_count(self, at: int, value: float) -> tuple[int, float]:
        chances = self.scores.binomial()
        assert chances is not None
        given, other = (float(chance[at]) for chance in chances)
        count = round(self.n * (other + (given - other) * float(self.proportions[at])))
        chance = other + (given - other) * value
        # Where the truth makes a report rarer, the reports that speak for the category are all others.
        return (count, chance) if given > other else (self.n - count, 1 - chance)

    def interval(
        self, level: float = 0.95, method: closed_form.Kind | None = None, simultaneous: bool = False
    ) -> Matrix:
        """Lower and upper limits by category; simultaneous ones hold for all together (Bonferroni)."""
        return closed_form.limits(self, level, method or self.default_interval, simultaneous)
