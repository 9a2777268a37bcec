"""Likelihood estimates from a complex sample: the weighted log-likelihood at its maximum, or one step towards it.

The weighted sum of the reports' log-likelihoods estimates what the whole population's would be, and its maximum the
population's (a pseudo-likelihood). One more report z moves it by the influence ``I^-1 (x_z / (x_z p) - 1)``, with
``x_z`` the row of the report, ``p`` the estimate and I the weighted information; its variance over samples is that of
the weighted total of the influences, which strata, clusters and calibration shape as they do any total. Replicate
weights need no influence: the estimate is made again with each of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from maskwell.advice import Advice, Setting
from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.inference.estimates import Estimate
from maskwell.inference.intervals.closed_form import level_of_each, wald
from maskwell.inference.likelihood.estimate import Kind, LikelihoodEstimate, estimate_likelihood, safe_start
from maskwell.inference.likelihood.maximum import maximise
from maskwell.inference.likelihood.one_step import one_step
from maskwell.inference.likelihood.report_rows import chosen, rows_of
from maskwell.inference.sample.estimates import SampledJointTable, linear_in_sample
from maskwell.inference.sample.from_sample import FromSample
from maskwell.inference.sample.sample import Sample
from maskwell.inference.sample.scores import present, require_finite, require_sample
from maskwell.reports import Reports

_LINEAR = Setting("method", "linear")


def likelihood_in_sample(
    reports: Reports, sample: Sample, method: str, domain: NDArray[np.bool_] | None = None
) -> SampledLikelihoodEstimate:
    """The estimate of all records of a sample, or of a domain of them."""
    require_sample(reports, sample)
    used = present(reports) & (sample.weights != 0)  # who counts for nobody says nothing, and may be impossible
    if domain is not None:
        used &= domain
    if not used.any():
        raise EstimationError("a group of the sample has no reports, or no weight; leave it out.")
    inside = reports if domain is None else reports.part(domain)
    weights = np.where(used, sample.weights, 0.0)
    tally = inside.tally(weights if domain is None else weights[domain], patterns=True)
    found = estimate_likelihood(tally, method)
    kind = SampledJointLikelihood if reports.design.variables else SampledLikelihoodEstimate
    return kind(
        replace(tally, from_sample=True),
        method,
        fit=found.fit,
        point=found.point,
        reports=reports,
        drawn=sample,
        used=used,
    )


@dataclass(frozen=True, eq=False, repr=False)
class SampledLikelihoodEstimate(FromSample, LikelihoodEstimate):
    """A likelihood estimate whose covariance follows from the sample."""

    reports: Reports
    drawn: Sample
    used: NDArray[np.bool_]
    """The records of the domain that have a report."""

    @property
    def sample(self) -> Sample:
        return self.drawn

    @cached_property
    def _scores(self) -> Matrix:
        """``x_z / (x_z p)`` of each record used, less their weighted mean."""
        rows = self.design.relative_rows(self.reports.packed[self.used])
        scores: Matrix = rows / (rows @ self.point)[:, None]
        return scores - self._shares @ scores

    @cached_property
    def _shares(self) -> Vector:
        """The weights of the records used, 1 in sum."""
        weights = self.drawn.weights[self.used]
        shares: Vector = weights / weights.sum()
        return shares

    @cached_property
    def _of_one(self) -> Matrix:
        """The influence of each record used, if all weight were on it."""
        found: Matrix = self._scores @ (self.n * self._inverse.matrix)
        return found

    @cached_property
    def influence(self) -> Matrix:
        """What each record does to the estimate, per unit of weight; 0 outside the domain."""
        found = np.zeros((len(self.used), self.design.k))
        found[self.used] = self._of_one / float(self.drawn.weights[self.used].sum())
        return found

    @cached_property
    def _masking(self) -> tuple[Matrix, Matrix]:
        """What the masks add: the covariance of an influence given the truth, summed over people by ``_masked``.

        The first has for each record the scores that count truths without bias, the second for each truth the mean
        influence of its reports, which is what the truth itself would have.
        """
        packed = self.reports.packed[self.used]
        centre = (self._scores * self._shares[:, None]).T @ self._scores
        return self.design.scores("linear").rows(packed), centre @ (self.n * self._inverse.matrix)

    def _masked(self, weights: Vector) -> Matrix:
        """The sum over records of a weight times the covariance that masking gives to the record's influence."""
        counts, means = self._masking
        both: Matrix = (self._of_one * weights[:, None]).T @ self._of_one
        return both - (means * (weights @ counts)[:, None]).T @ means

    @cached_property
    def _spread(self) -> Matrix:
        if self.drawn.replicates is not None:
            factors = np.sqrt(self.drawn.replicates.factors)
            again = self._again(self.drawn.replicates.weights)
            require_finite(again)
            rows = factors[:, None] * (again - self.proportions)
            return np.asarray(rows.T @ rows)
        rows, lacking = self.drawn.spread(self.influence)
        found: Matrix = rows.T @ rows
        if lacking[self.used].any():
            found = found + self._masked(lacking[self.used] * self._shares**2)
        return found

    def _again(self, weights: Matrix) -> Matrix:
        """The estimate with each column of weights; no numbers where a column leaves nobody."""
        weights = weights[self.used]
        if (weights < 0).any():
            raise EstimationError(
                Advice("a likelihood cannot count reports with negative replicate weights; use ", _LINEAR, ".")
            )
        distinct, at = np.unique(self.reports.packed[self.used], axis=0, return_inverse=True)
        rows = rows_of(self.design, distinct)
        found = np.empty((weights.shape[1], self.design.k))
        for number, column in enumerate(weights.T):
            counts = np.bincount(at.ravel(), column, minlength=len(distinct))
            seen = counts > 0
            if not seen.any():
                found[number] = np.nan
                continue
            scaled = np.ascontiguousarray(counts[seen] * (self.n / counts.sum()))
            if self.method == "one-step":
                tally = self.reports.part(self.used).tally(column, patterns=True)
                start = safe_start(tally, chosen(rows, seen))
                found[number] = one_step(chosen(rows, seen), scaled, start).proportions
            else:
                found[number] = maximise(chosen(rows, seen), scaled, self.proportions).proportions
        return found

    def totals(self) -> tuple[Vector, Matrix]:
        """The number of people with each category, by the sum of the weights, and its covariance."""
        size = float(self.drawn.weights[self.used].sum())
        if self.drawn.replicates is not None:
            weights = self.drawn.replicates.weights
            sizes = weights[self.used].sum(axis=0)[:, None]
            again = np.where(sizes > 0, sizes * self._again(weights), 0.0)  # of nobody there are none
            rows = np.sqrt(self.drawn.replicates.factors)[:, None] * (again - size * self.proportions)
            return size * self.proportions, np.asarray(rows.T @ rows)
        rows, lacking = self.drawn.spread(self.used[:, None] * self.proportions + size * self.influence)
        covariance: Matrix = rows.T @ rows
        if lacking[self.used].any():
            covariance = covariance + self._masked(lacking[self.used] * (size * self._shares) ** 2)
        return size * self.proportions, covariance

    def contrast_variance(self, weights: Vector) -> float:
        if np.isinf(self._inverse.variance(weights)):
            return float("inf")
        return float(weights @ self._spread @ weights)

    @property
    def simple_variance(self) -> float:
        return float(np.trace(self._inverse.matrix))

    @property
    def masking_variance(self) -> float:
        return float(np.trace(self._masked(self._shares**2)))

    def interval(
        self,
        level: float = 0.95,
        method: Kind | None = None,
        simultaneous: bool = False,
        *,
        seed: int | None = None,
    ) -> Matrix:
        """Wald limits with the degrees of freedom of the sample, for the maximum cut at 0 and 1."""
        if method not in (None, "wald"):
            raise EstimationError(f"{method} intervals take reports as independent; in a sample use wald.", "method")
        each = level_of_each(level, self.design.k if simultaneous else 1)
        limits = wald(self, self.level_for_normal(each))
        return limits if self.method == "one-step" else np.clip(limits, 0.0, 1.0)

    @property
    def _covariance_words(self) -> str:
        replicates = self.drawn.replicates
        return self.cov_type if replicates is None else f"from {replicates.weights.shape[1]} {replicates.method} refits"

    @property
    def _holds_at_zero(self) -> tuple[str | Setting, ...]:
        return _LINEAR, ", whose intervals hold there"


@dataclass(frozen=True, eq=False, repr=False)
class SampledJointLikelihood(SampledJointTable, SampledLikelihoodEstimate):
    """The same of joint proportions."""

    def marginal(self, name: str) -> SampledLikelihoodEstimate:
        """The estimate of one variable by itself; the sums of ``table`` use the other variables' reports as well."""
        return likelihood_in_sample(self.part_of(name), self.drawn, self.method, self.used)

    def _with_covariance(self) -> Estimate:
        """Itself inside the simplex; at its boundary the maximum is biased, and the linear estimate takes its place."""
        if not (self.at_zero or self.undetermined):
            return self
        return linear_in_sample(self.reports, self.drawn, "linear", self.used)
