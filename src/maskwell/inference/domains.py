"""Totals and groups: Horvitz–Thompson totals from sampling weights, and an estimate for each group of respondents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maskwell.designs.base import Design, Matrix, Method, Vector
from maskwell.errors import DataError, EstimationError
from maskwell.inference.linear import LinearEstimate, as_tally, estimate
from maskwell.inference.result import Estimate
from maskwell.inference.simplex import project
from maskwell.reports import Reports
from maskwell.tally import Tally

_ROUND_OFF = 1e-9


@dataclass(frozen=True, eq=False)
class Totals:
    """Estimated numbers of people by category. Their sum varies with the sample; that of proportions does not."""

    design: Design
    values: Vector
    covariance: Matrix
    cov_type: str = "with replacement"

    @property
    def standard_errors(self) -> Vector:
        """Square roots of the variances."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0))


def estimate_totals(tally: Tally | Reports, method: Method = "linear") -> Totals:
    """Horvitz–Thompson totals: the sum over reports of weight times score.

    The variance is that of sampling with replacement, ``n/(n-1) sum (w L - T/n)^2``, which is safe for samples without.
    Divide by a known population size for Horvitz–Thompson proportions; ``estimate`` gives the Hájek ones.
    """
    counted = as_tally(tally)
    if counted.squares is None or counted.n < 2:
        raise EstimationError("totals need sampling weights of at least 2 reports: use reports.tally(weights=...).")
    hajek = estimate(counted, method)
    if not isinstance(hajek, LinearEstimate):
        raise EstimationError("totals come from the linear estimators; use method='linear' or 'moments'.")
    total, squares = _weight(counted.counts), _weight(counted.squares)
    p, q = hajek.moment_points
    spread = squares * hajek.scores.second_moment(q) - total**2 / counted.n * np.outer(p, p)
    if np.linalg.eigvalsh(spread)[0] < -_ROUND_OFF * np.abs(spread).max():
        spread = _apart(hajek, squares, total**2 / counted.n)
    return Totals(counted.design, total * hajek.proportions, counted.n / (counted.n - 1) * spread)


def _apart(hajek: LinearEstimate, squares: float, mean_square: float) -> Matrix:
    """What masking adds and what sampling adds, each as a covariance, where estimated moments together are none."""
    p, q = project(hajek.moment_points[0]), project(hajek.moment_points[1])
    masking = hajek.scores.second_moment(q) - np.diag(q)
    values, vectors = np.linalg.eigh(squares * np.diag(q) - mean_square * np.outer(p, p))
    sampling = (vectors * np.maximum(values, 0.0)) @ vectors.T
    apart: Matrix = squares * masking + sampling
    return apart


def _weight(counts: Any) -> float:
    """The sum over reports of a tally's weights."""
    return float(counts.sum() if counts.ndim == 1 else counts[:, -1].sum())


def estimate_by(
    reports: Reports, groups: Any, *, weights: Any = None, method: Any = "linear", patterns: bool | None = None
) -> dict[Any, Estimate]:
    """An estimate for each group; ``groups`` holds one label per report.

    >>> import maskwell as mw
    >>> reports = mw.designs.direct(["a", "b"]).mask(["a", "b", "b", "b"])
    >>> {group: found.proportions.tolist() for group, found in mw.estimate_by(reports, [1, 1, 2, 2]).items()}
    {1: [0.5, 0.5], 2: [0.0, 1.0]}
    """
    labels = np.asarray(groups)
    if labels.shape != (len(reports),):
        raise DataError(f"groups must hold one label per report: expected {len(reports)}, got shape {labels.shape}.")
    weighted = None if weights is None else np.asarray(weights)
    found = {}
    for label in np.unique(labels).tolist():
        chosen = labels == label
        missing = None if reports.missing is None else reports.missing[chosen]
        part = Reports(reports.design, reports.packed[chosen], missing, reports.randomness)
        keep = True if method in ("likelihood", "one-step") else patterns
        tally = part.tally(None if weighted is None else weighted[chosen], keep)
        found[label] = estimate(tally, method)
    return found
