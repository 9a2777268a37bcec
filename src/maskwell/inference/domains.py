"""Totals and groups: Horvitz–Thompson totals from sampling weights, and an estimate for each group of respondents."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from maskwell.advice import Advice, Setting
from maskwell.designs.base import Matrix
from maskwell.errors import DataError, EstimationError
from maskwell.inference.estimates import Estimate, report_total
from maskwell.inference.linear import LinearEstimate
from maskwell.inference.methods import as_tally, estimate
from maskwell.inference.sample.groups import grouped, members
from maskwell.inference.sample.methods import sampled_groups
from maskwell.inference.sample.sample import Sample
from maskwell.inference.sample.totals import Totals, sampled_totals
from maskwell.inference.simplex import project
from maskwell.reports import Reports
from maskwell.reports.tally import Tally
from maskwell.tables.matching import Missing

_ROUND_OFF = 1e-9


def estimate_totals(
    tally: Tally | Reports, method: Any = "linear", sample: Sample | None = None, *, domain: Any = None
) -> Totals:
    """Horvitz–Thompson totals: the sum over reports of weight times score.

    The variance is that of sampling with replacement, ``n/(n-1) sum (w L - T/n)^2``, which is safe for samples without.
    Divide by a known population size for Horvitz–Thompson proportions; ``estimate`` gives the Hájek ones. With
    ``sample``, weights and variance are those of the sample, and ``domain``, true for some of the records, counts those
    people alone.
    """
    if sample is not None:
        return sampled_totals(tally, sample, method, None if domain is None else members(domain, len(sample)))
    if domain is not None:
        raise DataError("a domain belongs to a sample; pass sample=, or a tally of its reports alone.", "domain")
    counted = as_tally(tally)
    if counted.squares is None or counted.n < 2:
        raise EstimationError("totals need sampling weights of at least 2 reports: use reports.tally(weights=...).")
    hajek = estimate(counted, method)
    if not isinstance(hajek, LinearEstimate):
        raise EstimationError(
            Advice("totals come from the linear estimators; use ", Setting("method", "linear"), " or 'moments'.")
        )
    total, squares = report_total(counted.counts), report_total(counted.squares)
    p, q = hajek.moment_points
    spread = squares * hajek.scores.second_moment(q) - total**2 / counted.n * np.outer(p, p)
    if np.linalg.eigvalsh(spread)[0] < -_ROUND_OFF * np.abs(spread).max():
        spread = _apart(hajek, squares, total**2 / counted.n)
    return Totals(counted.design, total * hajek.proportions, counted.n / (counted.n - 1) * spread)


def _apart(hajek: LinearEstimate, squares: float, mean_square: float) -> Matrix:
    """What masking adds and what sampling adds, each as a covariance, where estimated moments together are none."""
    p, q = map(project, hajek.moment_points)
    masking = hajek.scores.second_moment(q) - np.diag(q)
    values, vectors = np.linalg.eigh(squares * np.diag(q) - mean_square * np.outer(p, p))
    sampling = (vectors * np.maximum(values, 0.0)) @ vectors.T
    apart: Matrix = squares * masking + sampling
    return apart


def estimate_by(
    reports: Reports,
    groups: Any,
    *,
    weights: Any = None,
    method: Any = "linear",
    patterns: bool | None = None,
    missing: Missing = "refuse",
    sample: Sample | None = None,
) -> dict[Any, Estimate]:
    """An estimate for each group, in rising order of their labels; ``groups`` holds one label per report.

    With ``sample`` each group is a domain of it: strata and clusters without anyone of the group count too.
    A missing label is an error unless ``missing="keep"``, which makes a group of those reports, under ``None``, last.

    >>> import maskwell as mw
    >>> reports = mw.designs.direct(["a", "b"]).mask(["a", "b", "b", "b"])
    >>> {group: found.proportions.tolist() for group, found in mw.estimate_by(reports, [1, 1, 2, 2]).items()}
    {1: [0.5, 0.5], 2: [0.0, 1.0]}
    >>> list(mw.estimate_by(reports, ["x", None, "x", None], missing="keep"))
    ['x', None]
    """
    labels, codes = grouped(groups, len(reports), missing)
    if sample is not None:
        if weights is not None:
            raise DataError("weights belong to the sample; give them to mw.Sample.", parameter="weights")
        return dict(sampled_groups(reports, labels, codes, sample, method))
    weighted = None if weights is None else np.asarray(weights)
    keep = True if method in ("likelihood", "one-step") else patterns
    absent = np.zeros(len(reports), bool) if reports.missing is None else reports.missing
    empty = np.flatnonzero(np.bincount(codes[~absent], minlength=len(labels)) == 0)
    if len(empty):
        raise DataError(
            f"{len(empty)} of {len(labels)} groups have no reports but missing ones, first in row "
            f"{int(np.argmax(np.isin(codes, empty)))}; leave these rows out."
        )
    found = {}
    for code, label in enumerate(labels):
        chosen = codes == code
        part = replace(
            reports, packed=reports.packed[chosen], missing=None if reports.missing is None else absent[chosen]
        )
        found[label] = estimate(part.tally(None if weighted is None else weighted[chosen], keep), method)
    return found
