"""Linear estimates from a complex sample: weighted means of scores, with variances that know the sample."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Method
from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.inference import alternatives
from maskwell.inference.contrasts import fieller
from maskwell.inference.intervals import closed_form
from maskwell.inference.joint import JointTable
from maskwell.inference.linear import LinearEstimate
from maskwell.inference.sample.from_sample import FromSample
from maskwell.inference.sample.sample import Sample
from maskwell.inference.sample.scores import Mean, SampledScores
from maskwell.reports import Reports


@dataclass(frozen=True, eq=False, repr=False)
class SampledEstimate(FromSample, LinearEstimate):
    """A linear estimate whose covariance follows from the sample."""

    mean: Mean

    @property
    def sample(self) -> Sample:
        return self.mean.of.sample

    @cached_property
    def proportions(self) -> Vector:
        """The weighted mean of the scores; unbiased up to the ratio of two totals, and therefore not clipped."""
        return self.mean.value

    @cached_property
    def variances(self) -> Vector:
        """The variances alone."""
        return np.maximum(self.mean.variances, 0.0)

    @property
    def covariance(self) -> Matrix:
        """The covariance matrix of the estimated proportions."""
        return self.mean.covariance

    @property
    def simple_variance(self) -> float:
        p = self.proportions
        return float(self.scores.second_moment_diagonal(p).sum() - p @ p) / self.n

    @property
    def masking_variance(self) -> float:
        return self.mean.masking_variance

    def contrast_variance(self, weights: Vector) -> float:
        return float(weights @ self.covariance @ weights)

    def interval(
        self, level: float = 0.95, method: closed_form.Kind | None = None, simultaneous: bool = False
    ) -> Matrix:
        """Lower and upper limits by category, with the degrees of freedom of the sample."""
        each = closed_form.level_of_each(level, self.design.k if simultaneous else 1)
        return closed_form.limits(self, self.level_for_normal(each), method or self.default_interval, False)


@dataclass(frozen=True, eq=False, repr=False)
class SampledJointTable(JointTable, FromSample):
    """Joint proportions from a sample."""

    reports: Reports
    """All reports of the sample, those outside the domain among them."""

    def part_of(self, name: str) -> Reports:
        """The reports of one variable, over the same records."""
        part = self.design.part(name)
        packed = self.design.codec.split(self.reports.packed)[list(self.design.variables).index(name)]
        return replace(self.reports, design=part, packed=packed)

    def conditional_interval(
        self, of: Any, given: Any, level: float = 0.95, *, seed: int | None = None
    ) -> tuple[float, float]:
        """Fieller's limits of a conditional proportion, within 0 and 1: they hold where the group is small, too.

        They need no draws, so ``seed`` changes nothing.
        """
        both, base = self._share(of, given)
        p, v = self.proportions, self.covariance
        t = alternatives.quantile(level, self.degrees_of_freedom)
        spread = float(both @ v @ both), float(both @ v @ base), float(base @ v @ base)
        low, high = fieller(float(both @ p), float(base @ p), spread, t)
        return min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class SampledJointEstimate(SampledJointTable, SampledEstimate):
    """The same of joint proportions, linear."""

    def marginal(self, name: str) -> SampledEstimate:
        """The estimate of one variable by itself, over the same records."""
        method: Method = "moments" if self.method == "moments" else "linear"
        return linear_in_sample(self.part_of(name), self.sample, method, self.mean.domain)


def linear_in_sample(
    reports: Any, sample: Sample, method: Method = "linear", domain: NDArray[np.bool_] | None = None
) -> SampledEstimate:
    """The estimate of all records of a sample, or of a domain of them."""
    scores = SampledScores.of(reports, sample, method)
    everyone = np.ones(len(reports), np.bool_)
    return linear_of_scores(scores, reports, method, everyone if domain is None else domain)


def linear_of_scores(
    scores: SampledScores, reports: Reports, method: Method, domain: NDArray[np.bool_]
) -> SampledEstimate:
    """The estimate of a domain from scores that are there already."""
    mean = scores.mean(domain)
    tally = replace(reports.part(domain).tally(mean.weights[domain]), from_sample=True)
    if reports.design.variables:
        return SampledJointEstimate(tally, method, scores.scores, mean, reports)
    return SampledEstimate(tally, method, scores.scores, mean)
