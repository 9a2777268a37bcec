"""What one report tells about the respondent who gave it, once the population is known.

The posterior of the true value is the population's share times the chance of the report, divided by its sum. From it
follow three measures for one person (wang-ding-2021, section II-B, for single reports): how much of the population the
report rules out, how likely the best guess is, and how many bits separate the posterior from the population.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maskwell.designs.base import Design, Matrix, Vector
from maskwell.errors import EstimationError, ReportError
from maskwell.inference.estimates import Estimate
from maskwell.inference.simplex import project
from maskwell.reports import Reports
from maskwell.sampling.samplers import Packed

_SUM_TOLERANCE = 1e-6


def posterior(design: Design, report: Any, proportions: Vector | Estimate | None) -> Vector:
    """The probabilities of the true values, given a report as ``Reports.decode`` shows it.

    ``proportions`` are the population's or an estimate of them (moved to the simplex where it lies outside); None
    means that all values are equally common. For ``Reports`` the result has one row per report.

    >>> from maskwell.designs import warner
    >>> posterior(warner(truth_prob=0.75), "yes", [0.2, 0.8])
    array([0.42857143, 0.57142857])
    """
    prior = _population(design, proportions)
    if isinstance(report, Reports):
        if report.design != design:
            raise ReportError(f"these reports belong to another design, {report.design.title}.")
        return _posteriors(design, report.packed, prior)
    single: Vector = _posteriors(design, design.pack(report), prior)[0]
    return single


@dataclass(frozen=True)
class IndividualLeakage:
    """What one report gives away: the share of the population it rules out, the best guess and its chance, and bits."""

    ruled_out: float
    guess: Any
    guess_chance: float
    information: float


def individual_leakage(design: Design, report: Any, proportions: Vector | Estimate) -> IndividualLeakage:
    """How much one report tells about its respondent.

    ``ruled_out`` is the size leakage, ``guess_chance`` the prediction leakage, and ``information`` the divergence of
    the posterior from the population in bits, whose mean over reports is the mutual information.

    >>> from maskwell.designs import uniform_subsets
    >>> urn = uniform_subsets(["black", "red", "green", "blue"])
    >>> individual_leakage(urn, {"black", "red"}, [0.01, 0.1, 0.2, 0.69]).ruled_out
    0.89
    """
    prior = _population(design, proportions)
    after = posterior(design, report, prior)
    possible = after > 0
    guess = int(np.argmax(after))
    return IndividualLeakage(
        round(float(prior[~possible].sum()), 12),
        design.categories[guess],
        float(after[guess]),
        float(after[possible] @ np.log2(after[possible] / prior[possible])),
    )


def _population(design: Design, proportions: Vector | Estimate | None) -> Vector:
    if proportions is None:
        return np.full(design.k, 1 / design.k)
    if isinstance(proportions, Estimate):
        if proportions.design.categories != design.categories:
            raise EstimationError("the estimate is of other categories than the design's.")
        return project(proportions.proportions)
    population = np.asarray(proportions, float)
    if population.shape != (design.k,) or not (population >= 0).all() or abs(population.sum() - 1) > _SUM_TOLERANCE:
        raise EstimationError(
            f"proportions must be {design.k} numbers >= 0 that sum to 1, one per category.", parameter="proportions"
        )
    return population


def _posteriors(design: Design, packed: Packed, prior: Vector) -> Matrix:
    joint = design.relative_rows(packed) * prior
    total = joint.sum(axis=1, keepdims=True)
    if (total <= 0).any():
        row = int(np.argmax(total <= 0))
        raise EstimationError(f"report {row} cannot come from this population: each value it allows has proportion 0.")
    result: Matrix = joint / total
    return result
