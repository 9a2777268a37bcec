"""Totals and groups: Horvitz–Thompson totals from sampling weights, and an estimate for each group of respondents."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.advice import Advice, Setting
from maskwell.designs.base import Matrix, Method
from maskwell.errors import DataError, EstimationError
from maskwell.inference.estimates import Estimate, report_total
from maskwell.inference.linear import LinearEstimate
from maskwell.inference.methods import as_tally, estimate
from maskwell.inference.sample.estimates import estimate_of
from maskwell.inference.sample.sample import Sample
from maskwell.inference.sample.scores import SampledScores
from maskwell.inference.sample.totals import Totals, sampled_totals
from maskwell.inference.simplex import project
from maskwell.reports import Reports
from maskwell.reports.tally import Tally
from maskwell.tables.columns import as_arrow
from maskwell.tables.matching import Missing

_ROUND_OFF = 1e-9


def estimate_totals(tally: Tally | Reports, method: Method = "linear", sample: Sample | None = None) -> Totals:
    """Horvitz–Thompson totals: the sum over reports of weight times score.

    The variance is that of sampling with replacement, ``n/(n-1) sum (w L - T/n)^2``, which is safe for samples without.
    Divide by a known population size for Horvitz–Thompson proportions; ``estimate`` gives the Hájek ones. With
    ``sample``, weights and variance are those of the sample.
    """
    if sample is not None:
        return sampled_totals(tally, sample, method)
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
        scores = SampledScores.of(reports, sample, method)
        return {label: estimate_of(scores, reports, method, codes == at) for at, label in enumerate(labels)}
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


def grouped(groups: Any, n: int, missing: Missing) -> tuple[list[Any], NDArray[np.int64]]:
    """The labels of the groups in rising order, ``None`` last if some are missing, and each report's place in it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if missing not in ("refuse", "keep"):
        raise DataError(f'missing must be "refuse" or "keep"; got {missing!r}.', parameter="missing")
    column = as_arrow(groups)
    if column is None or pa.types.is_nested(column.type):
        raise DataError(
            "groups must be one column of labels of one type, one per report; cast the column first.",
            parameter="groups",
        )
    if len(column) != n:
        raise DataError(f"groups must hold one label per report: expected {n}, got {len(column)}.", parameter="groups")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())  # views cannot be encoded yet
    absent = column.is_null(nan_is_null=True)
    n_absent = pc.sum(absent).as_py() or 0
    if n_absent and missing == "refuse":
        raise DataError(
            f"groups are missing in {n_absent} of {n} rows, first in row {pc.index(absent, True).as_py()}; "
            'pass missing="keep" to make a group of them (under None), or leave those rows out.',
            parameter="groups",
        )
    encoded = pc.if_else(absent, pa.scalar(None, column.type), column).dictionary_encode()
    rank = np.empty(len(encoded.dictionary) + 1, np.int64)
    order = pc.array_sort_indices(encoded.dictionary).to_numpy()
    rank[order], rank[-1] = np.arange(len(order)), len(order)
    codes = rank[encoded.indices.fill_null(len(order)).to_numpy()]
    labels = encoded.dictionary.take(order).to_pylist()
    return labels + [None] * bool(n_absent), codes
