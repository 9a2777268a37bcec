"""The scores of a sample's reports: what every design-based formula takes in the place of the answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Design, Method, Scores
from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.inference.sample.sample import Sample
from maskwell.reports import Reports

_MOST_CELLS = 1 << 28


def require_reports(given: object) -> None:
    """An error unless these are reports."""
    if not isinstance(given, Reports):
        raise EstimationError(
            "an estimate from a sample needs Reports, one per record in the order of the sample: a tally no longer "
            "knows who gave which report."
        )


def require_sample(reports: Reports, sample: Sample) -> None:
    """An error unless the sample has a record for each report, and all scores fit into memory."""
    require_reports(reports)
    if not isinstance(sample, Sample):
        raise EstimationError(f"sample must be a mw.Sample; got {type(sample).__name__}.", parameter="sample")
    sample.require_length(len(reports), "report")
    require_masks_in(sample, [reports.design])
    k = reports.design.k
    if len(reports) * k > _MOST_CELLS:
        raise EstimationError(
            f"{len(reports):,} reports on {k:,} categories need {8 * len(reports) * k >> 30} GiB of scores; estimate "
            "with weights alone (reports.tally(weights)), or for groups of categories."
        )


def require_masks_in(sample: Sample, designs: Iterable[Design]) -> None:
    """An error if the sample has replicates that do not show what these designs add."""
    parts = [part for design in designs for part in (design.variables.values() or [design])]
    if sample.replicates is not None and sample.replicates.lack_masks and any(part.added_variance for part in parts):
        raise EstimationError(
            "a stratum of the sample is a single cluster that was bound to be drawn, and no replicate shows what masks "
            "add there; leave with_replicates out, so that variances are linearised.",
            parameter="sample",
        )


def require_finite(again: Matrix) -> None:
    """An error unless every replicate has somebody in the group."""
    if not np.isfinite(again).all():
        raise EstimationError(
            "with some of the replicate weights nobody is left of a group; join groups, or give strata and clusters in "
            "the place of replicates."
        )


def present(reports: Reports) -> NDArray[np.bool_]:
    """Which records have a report."""
    return np.ones(len(reports), np.bool_) if reports.missing is None else ~reports.missing


@dataclass(frozen=True, eq=False)
class SampledScores:
    """Scores of all records of a sample; zero, and not ``present``, where there is no report."""

    sample: Sample
    design: Design
    scores: Scores
    values: Matrix
    present: NDArray[np.bool_]

    @staticmethod
    def of(reports: Reports, sample: Sample, method: Method) -> SampledScores:
        """The scores of reports, one per record of the sample."""
        require_sample(reports, sample)
        design = reports.design
        scores = design.scores(method)
        there = present(reports)
        values = np.zeros((len(reports), design.k))
        values[there] = scores.rows(reports.packed[there])
        return SampledScores(sample, design, scores, values, there)

    def mean(self, domain: NDArray[np.bool_]) -> Mean:
        """The weighted mean of the scores over some of the records."""
        return Mean(self, domain & self.present)


@dataclass(frozen=True, eq=False)
class Mean:
    """A weighted mean of scores over a domain of the sample, and how it varies."""

    of: SampledScores
    domain: NDArray[np.bool_]

    @cached_property
    def weights(self) -> Vector:
        """The weights within the domain, 0 elsewhere."""
        return np.where(self.domain, self.of.sample.weights, 0.0)

    @cached_property
    def total_weight(self) -> float:
        """The sum of the weights: the estimated size of the domain."""
        total = float(self.weights.sum())
        if total <= 0:
            raise EstimationError("a group of the sample has no reports, or no weight; leave it out.")
        return total

    @cached_property
    def value(self) -> Vector:
        """The mean."""
        mean: Vector = self.weights @ self.of.values / self.total_weight
        return mean

    @cached_property
    def influence(self) -> Matrix:
        """What each record does to the mean, per unit of weight."""
        found: Matrix = (self.domain / self.total_weight)[:, None] * (self.of.values - self.value)
        return found

    @cached_property
    def rows(self) -> Matrix:
        """Rows whose sum of outer products is the covariance, but for masking that a population correction removed."""
        replicates = self.of.sample.replicates
        if replicates is None:
            return self._spread[0]
        weights = replicates.weights * self.domain[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            means = (weights.T @ self.of.values) / weights.sum(axis=0)[:, None]
        require_finite(means)
        rows: Matrix = np.sqrt(replicates.factors)[:, None] * (means - self.value)
        return rows

    @cached_property
    def _spread(self) -> tuple[Matrix, Vector]:
        return tuple(self.of.sample.spread(self.influence))  # type: ignore[return-value]

    @cached_property
    def lacking(self) -> Vector | None:
        """Sums of scores whose masking variance the rows lack; None if they hold all of it."""
        if self.of.sample.replicates is not None:
            return None
        lacking = self._spread[1]
        if not lacking.any():
            return None
        sums: Vector = (lacking * self.weights**2) @ self.of.values / self.total_weight**2
        return sums

    @cached_property
    def covariance(self) -> Matrix:
        """The covariance of the mean."""
        found: Matrix = self.rows.T @ self.rows
        return found if self.lacking is None else found + masking(self.of.scores, self.lacking)

    @cached_property
    def variances(self) -> Vector:
        """Its diagonal alone."""
        found: Vector = (self.rows**2).sum(axis=0)
        if self.lacking is None:
            return found
        size = float(self.lacking.sum())
        squares = self.of.scores.second_moment_diagonal(self.lacking / size)
        both: Vector = found + size * squares - self.lacking
        return both

    @property
    def masking_variance(self) -> float:
        """The part of the total variance that masking added: it is independent from person to person."""
        sums = (self.weights**2) @ self.of.values / self.total_weight**2
        size = float(sums.sum())
        return size * float(self.of.scores.second_moment_diagonal(sums / size).sum()) - size


def masking(scores: Scores, sums: Vector) -> Matrix:
    """``sum_t s_t M_t``: the variance that masking adds to a report of truth t is ``M_t = E[L L'] - e_t e_t'``."""
    size = float(sums.sum())
    found: Matrix = size * scores.second_moment(sums / size) - np.diag(sums)
    return found
