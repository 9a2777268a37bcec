"""Compliance in a complex sample: the weighted likelihood at its maximum, with the variance that the sample gives it.

The weighted sum of the log-likelihoods of all reports, whichever group they came from, estimates what it would be if
the whole population were asked (a pseudo-likelihood). A record of group g with report z moves its maximum by the
influence ``I^-1 (a / (a w) - 1)`` per unit of weight, with ``a`` the chances of z by class in that group, ``w`` the
shares and I the weighted information. The variance of the weighted total of the influences is that of strata and
clusters; people of one cluster count together whichever groups they are in. With replicate weights the shares are
estimated again with each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.advice import Advice, Setting
from maskwell.designs.base import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.inference.compliance.groups import Groups, classes_of
from maskwell.inference.compliance.result import Compliance
from maskwell.inference.contrasts import Contrast
from maskwell.inference.hypotheses.hypothesis_test import HypothesisTest
from maskwell.inference.likelihood.maximum import maximise
from maskwell.inference.likelihood.report_rows import dense_rows
from maskwell.inference.regression.frame.arms import Arms
from maskwell.inference.sample.sample import Sample
from maskwell.inference.sample.scores import present, require_finite, require_masks_in
from maskwell.reports import Reports

Codes = NDArray[np.int64]
_MOST_CELLS = 1 << 28


@dataclass(frozen=True, eq=False)
class Records:
    """What each record of a sample has: its group, and the row of that group's design that its report is."""

    sample: Sample
    group: Codes
    row: Codes
    used: NDArray[np.bool_]
    """Records with a report and a weight."""


def read_sampled(groups: Any, behaviours: Mapping[str, Any], sample: Sample) -> tuple[Groups, Records]:
    """Weighted counts of all groups, and their records in the order of the sample."""
    reports, group = _in_order(groups)
    if not isinstance(sample, Sample):
        raise EstimationError(f"sample must be a mw.Sample; got {type(sample).__name__}.", parameter="sample")
    sample.require_length(len(group), "report, one group after the other,")
    require_masks_in(sample, [each.design for each in reports])
    classes = classes_of([each.design for each in reports], behaviours)
    if len(group) * len(classes.names) > _MOST_CELLS:
        raise EstimationError(
            f"{len(group):,} reports on {len(classes.names)} classes need {8 * len(group) * len(classes.names) >> 30} "
            "GiB; estimate with weights alone, from tallies."
        )
    row, used = np.zeros(len(group), np.int64), np.zeros(len(group), np.bool_)
    for at, each in enumerate(reports):
        row[group == at], used[group == at] = _rows(each), present(each)
    used &= sample.weights > 0
    sizes = np.bincount(group[used], minlength=len(reports))
    if not sizes.all():
        raise EstimationError(f"group {int(np.argmin(sizes))} has no reports, or no weight; leave it out.")
    weights = np.where(used, sample.weights, 0.0)
    weights *= used.sum() / weights.sum()
    counts, squares = (
        tuple(
            np.bincount(row[group == at], of[group == at], minlength=each.design.report_count()).astype(float)
            for at, each in enumerate(reports)
        )
        for of in (weights, weights**2)
    )
    drawn = tuple(each.randomness for each in reports)
    read = Groups(classes, counts, tuple(int(size) for size in sizes), squares, drawn)
    return read, Records(sample, group, row, used)


def _in_order(groups: Any) -> tuple[Sequence[Reports], Codes]:
    """The reports of each group, and the group of each record."""
    if isinstance(groups, Arms):
        return groups.reports, groups.codes
    given = [groups] if isinstance(groups, Reports) else groups
    given = list(given.values()) if isinstance(given, Mapping) else given
    if not isinstance(given, (list, tuple)) or not given or not all(isinstance(each, Reports) for each in given):
        raise EstimationError(
            "compliance in a sample needs a list of the Reports of each group, or mw.arms of them: a tally no longer "
            "knows who gave which report.",
            parameter="groups",
        )
    return given, np.repeat(np.arange(len(given)), [len(each) for each in given])


def _rows(reports: Reports) -> Codes:
    """The row of the design's matrix that each report is; of missing ones any."""
    where = {label: row for row, label in enumerate(reports.design.report_labels())}
    found = np.zeros(len(reports), np.int64)
    there = present(reports)
    if there.any():
        distinct, at = np.unique(reports.packed[there], axis=0, return_inverse=True)
        found[there] = np.array([where[label] for label in reports.design.decode(distinct)])[at.ravel()]
    return found


@dataclass(frozen=True, eq=False, repr=False)
class SampledCompliance(Compliance):
    """Shares of truths and behaviours whose covariance follows from a sample."""

    records: Records

    @property
    def sample(self) -> Sample:
        """The sample that the reports came from."""
        return self.records.sample

    @property
    def degrees_of_freedom(self) -> float:
        return float(self.sample.degrees_of_freedom)

    @property
    def cov_type(self) -> str:
        return self.sample.variance_kind

    @cached_property
    def design_effect(self) -> float:
        """The total variance over that of as many reports from a simple random sample."""
        return float(np.trace(self._spread) / np.trace(self._inverse.matrix))

    @cached_property
    def _shares_of_weight(self) -> Vector:
        """The weights of the records used, 1 in sum."""
        weights = np.where(self.records.used, self.sample.weights, 0.0)
        shares: Vector = weights / weights.sum()
        return shares

    @cached_property
    def _chances(self) -> Matrix:
        """The chances of each record's report by class; 0 where there is no report."""
        found = np.zeros((len(self.sample), len(self.classes)))
        for at, matrix in enumerate(self.groups.classes.matrices):
            here = self.records.used & (self.records.group == at)
            found[here] = matrix[self.records.row[here]]
        return found

    @cached_property
    def _influence(self) -> Matrix:
        """What each record would do to the shares if all weight were on it; 0 where there is no report."""
        used = self.records.used
        relative = self._relative
        found = np.zeros_like(relative)
        found[used] = (relative[used] - self._shares_of_weight @ relative) @ (self.groups.n * self._inverse.matrix)
        return found

    @cached_property
    def _relative(self) -> Matrix:
        """``a / (a w)`` of each record."""
        chance = self._chances @ self.class_shares
        found: Matrix = self._chances / np.where(chance > 0, chance, 1.0)[:, None]
        return found

    @cached_property
    def _spread(self) -> Matrix:
        replicates = self.sample.replicates
        if replicates is not None:
            again = self._again(replicates.weights)
            require_finite(again)
            rows = np.sqrt(replicates.factors)[:, None] * (again - self.class_shares)
            return np.asarray(rows.T @ rows)
        size = float(self.sample.weights[self.records.used].sum())
        rows, lacking = self.sample.spread(self._influence / size)
        found: Matrix = rows.T @ rows
        if (lacking * self.records.used).any():
            found = found + self._given_class(lacking * self._shares_of_weight**2)
        return found

    def _given_class(self, weights: Vector) -> Matrix:
        """The sum over records of a weight times the covariance of the record's influence given its class.

        A finite population settles who is of which class. Who is in which group, and what chance does there, vary all
        the same. How many of the people are of a class is told by its chances given the reports.
        """
        both: Matrix = (self._influence * weights[:, None]).T @ self._influence
        scores = self._relative - self._shares_of_weight @ self._relative
        scores[~self.records.used] = 0.0
        means = (scores * self._shares_of_weight[:, None]).T @ scores @ (self.groups.n * self._inverse.matrix)
        counts = (weights @ self._relative) * self.class_shares
        return both - (means * counts[:, None]).T @ means

    def _again(self, weights: Matrix) -> Matrix:
        """The shares with each column of weights; no numbers where a column leaves nobody in a group."""
        used = self.records.used
        if (weights[used] < 0).any():
            raise EstimationError("a likelihood cannot count reports with negative replicate weights.", "sample")
        starts = np.cumsum([0, *(len(counts) for counts in self.groups.counts)])
        cells = starts[self.records.group] + self.records.row
        table = np.concatenate(self.groups.classes.matrices)
        found = np.empty((weights.shape[1], len(self.classes)))
        for number, column in enumerate(weights.T):
            counts = np.bincount(cells[used], column[used], minlength=len(table))
            if not all(part.any() for part in np.split(counts, starts[1:-1])):
                found[number] = np.nan
                continue
            seen = counts > 0
            scaled = np.ascontiguousarray(counts[seen] * (self.groups.n / counts.sum()))
            start = np.full(len(self.classes), 1 / len(self.classes))
            found[number] = maximise(dense_rows(table[seen]), scaled, start).proportions
        return found

    # Tests.

    @property
    def has_test(self) -> bool:
        return len(self.behaviours) == 1 and bool(self.standard_errors[0] > 0)

    def test(self, *, draws: int = 0, seed: int | None = None) -> HypothesisTest:
        """Wald's test of full compliance, with the degrees of freedom of the sample: is the share above 0?

        For one behaviour: the likelihood ratio of several, and draws, take reports as independent.
        """
        if len(self.behaviours) != 1 or draws:
            raise EstimationError(
                Advice(
                    "the likelihood ratio and its draws take reports as independent; in a sample there is a test of a "
                    "single behaviour, without draws. Test each share by itself, with ",
                    Setting("contrast"),
                    ".",
                )
            )
        share = self.contrast({self.behaviours[0]: 1.0})
        named = Contrast(share.value, share.standard_error, share.degrees_of_freedom, f"share of {self.behaviours[0]}")
        return named.test(alternative="greater")

    # What it shows.

    def _figures(self) -> dict[str, Any]:
        return {**super()._figures(), "design effect": self.design_effect}

    def _errors_words(self) -> str:
        return f"standard errors {self.cov_type}, with {self.degrees_of_freedom:g} degrees of freedom"

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Everything as plain values; limits of the behaviours, then of the categories."""
        return {
            **super().to_dict(level),
            "degrees_of_freedom": self.degrees_of_freedom,
            "design_effect": self.design_effect,
        }
