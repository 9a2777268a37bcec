"""Estimates from a complex sample: proportions, totals, groups and ratios, with variances that know the sample."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Method
from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.inference.estimates import Contrast, ContrastScores, Noise, contrast_vector
from maskwell.inference.intervals import closed_form
from maskwell.inference.joint import JointTable
from maskwell.inference.linear import LinearEstimate
from maskwell.inference.sample.sample import Sample
from maskwell.inference.sample.scores import Mean, SampledScores
from maskwell.numerics import beta
from maskwell.numerics.normal import normal_cdf
from maskwell.reports import Reports


def t_quantile(level: float, df: float) -> float:
    """t such that a Student variable falls within ±t with probability ``level``."""
    closed_form.normal_quantile(level)  # refuses a level outside (0, 1)
    return beta.t_quantile(max(df, 1.0), 0.5 + level / 2)


@dataclass(frozen=True, eq=False, repr=False)
class SampledEstimate(LinearEstimate):
    """A linear estimate whose covariance follows from the sample."""

    mean: Mean

    @property
    def sample(self) -> Sample:
        """The sample that the reports came from."""
        return self.mean.of.sample

    @property
    def degrees_of_freedom(self) -> int:
        """Of the variances, as the sample has them."""
        return self.sample.degrees_of_freedom

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
    def cov_type(self) -> str:
        """How the variances were found."""
        replicates = self.sample.replicates
        return "linearised over the sample" if replicates is None else f"replicates ({replicates.method})"

    @cached_property
    def design_effect(self) -> float:
        """The total variance over that of as many reports from a simple random sample."""
        p, n = self.proportions, self.n
        simple = float(self.scores.second_moment_diagonal(p).sum() - p @ p) / n
        return float(self.variances.sum()) / simple if simple > 0 else np.nan

    @cached_property
    def effective_n(self) -> float:
        """How many reports from a simple random sample would be as precise."""
        return self.n / self.design_effect

    @property
    def noise(self) -> Noise:
        """How much of the uncertainty is the price of privacy; the rest is that of the sample."""
        whole = float(self.variances.sum())
        masked = min(max(self.mean.masking_variance, 0.0), whole)
        return Noise(masked * self.n, (whole - masked) * self.n, float(self.n))

    @property
    def effective_open_answers(self) -> float:
        """How many open answers from a simple random sample would be as precise."""
        whole = float(self.variances.sum())
        return self.sampling_variance / whole if whole > 0 else np.inf

    def interval(
        self, level: float = 0.95, method: closed_form.Kind | None = None, simultaneous: bool = False
    ) -> Matrix:
        """Lower and upper limits by category, with the degrees of freedom of the sample."""
        each = closed_form.level_of_each(level, self.design.k if simultaneous else 1)
        # The normal level with the same quantile as Student's at the level that was asked for.
        wider = 2 * float(normal_cdf(t_quantile(each, self.degrees_of_freedom))) - 1
        return closed_form.limits(self, min(wider, 1 - 1e-15), method or self.default_interval, False)

    def contrast(self, scores: ContrastScores) -> SampledContrast:
        """A weighted sum of proportions: scores by label (others count 0) or one per category."""
        vector = contrast_vector(self.design, scores)
        variance = float(vector @ self.covariance @ vector)
        return SampledContrast(float(vector @ self.proportions), max(variance, 0.0) ** 0.5, self.degrees_of_freedom)

    def remarks(self) -> list[str]:
        return [
            f"design effect {self.design_effect:.3g}: as precise as {self.effective_n:,.0f} reports, or "
            f"{self.effective_open_answers:,.0f} open answers, from a simple random sample "
            f"({self.degrees_of_freedom} degrees of freedom)",
            *super().remarks(),
        ]


@dataclass(frozen=True, eq=False, repr=False)
class SampledJointEstimate(JointTable, SampledEstimate):
    """The same of joint proportions."""

    reports: Reports

    def marginal(self, name: str) -> SampledEstimate:
        """The estimate of one variable by itself, over the same records."""
        part = self.design.part(name)
        packed = self.design.codec.split(self.reports.packed)[list(self.design.variables).index(name)]
        alone = replace(self.reports, design=part, packed=packed)
        return sampled_estimate(
            alone, self.sample, "moments" if self.method == "moments" else "linear", self.mean.domain
        )


@dataclass(frozen=True)
class SampledContrast(Contrast):
    """A weighted sum with the degrees of freedom of its standard error."""

    degrees_of_freedom: float = np.inf

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Limits by Student's distribution."""
        margin = t_quantile(level, self.degrees_of_freedom) * self.standard_error
        return self.value - margin, self.value + margin


def sampled_estimate(
    reports: Any, sample: Sample, method: Method = "linear", domain: NDArray[np.bool_] | None = None
) -> SampledEstimate:
    """The estimate of all records of a sample, or of a domain of them."""
    scores = SampledScores.of(reports, sample, method)
    everyone = np.ones(len(reports), np.bool_)
    return estimate_of(scores, reports, method, everyone if domain is None else domain)


def estimate_of(scores: SampledScores, reports: Reports, method: Method, domain: NDArray[np.bool_]) -> SampledEstimate:
    """The estimate of a domain from scores that are there already."""
    mean = scores.mean(domain)
    gone = None if reports.missing is None else reports.missing[domain]
    chosen = replace(reports, packed=reports.packed[domain], missing=gone)
    tally = chosen.tally(mean.weights[domain])
    if reports.design.variables:
        return SampledJointEstimate(tally, method, scores.scores, mean, reports)
    return SampledEstimate(tally, method, scores.scores, mean)
