"""Totals and groups: Horvitz–Thompson totals from sampling weights, and an estimate for each group of respondents."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from maskwell.advice import Advice, Setting
from maskwell.designs.base import Design, Matrix
from maskwell.errors import DataError, EstimationError
from maskwell.frames import Backend, data_frame
from maskwell.inference.estimates import Estimate
from maskwell.inference.linear import LinearEstimate
from maskwell.inference.methods import as_tally, estimate
from maskwell.inference.sample.groups import Missing, grouped, members
from maskwell.inference.sample.methods import sampled_groups
from maskwell.inference.sample.sample import Sample
from maskwell.inference.sample.totals import Totals, sampled_totals
from maskwell.inference.simplex import project
from maskwell.plain_json import jsonable
from maskwell.reports import Reports
from maskwell.reports.tally import Tally, report_total
from maskwell.results.numbers import limit
from maskwell.results.result import Result
from maskwell.tables.labels import text_of

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
) -> GroupEstimates:
    """An estimate for each group, in rising order of their labels; ``groups`` holds one label per report.

    The result is a dictionary that shows itself: a summary, a data frame with the figures of all groups, and a picture.
    With ``sample`` each group is a domain of it: strata and clusters without anyone of the group count too.
    A missing label is an error unless ``missing="keep"``, which makes a group of those reports, under ``None``, last,
    or ``"outside"``, which leaves them in the sample and in no group.

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
        return GroupEstimates(sampled_groups(reports, labels, codes, sample, method))
    weighted = None if weights is None else np.asarray(weights)
    keep = True if method in ("likelihood", "one-step") else patterns
    absent = np.zeros(len(reports), bool) if reports.missing is None else reports.missing
    empty = np.flatnonzero(np.bincount(codes[~absent & (codes >= 0)], minlength=len(labels)) == 0)
    if len(empty):
        raise DataError(
            f"{len(empty)} of {len(labels)} groups have no reports but missing ones, first in data row "
            f"{int(np.argmax(np.isin(codes, empty))) + 1:,}; leave these rows out."
        )
    found = GroupEstimates()
    for code, label in enumerate(labels):
        chosen = codes == code
        part = replace(
            reports, packed=reports.packed[chosen], missing=None if reports.missing is None else absent[chosen]
        )
        found[label] = estimate(part.tally(None if weighted is None else weighted[chosen], keep), method)
    return found


class GroupEstimates(dict[Any, Estimate], Result):
    """An estimate for each group, by the label of the group; ``None`` is the group of those whose label is missing.

    >>> import maskwell as mw
    >>> reports = mw.designs.direct(["yes", "no"]).mask(["yes"] * 30 + ["no"] * 70)
    >>> found = mw.estimate_by(reports, ["north"] * 40 + ["south"] * 60)
    >>> found["north"].n, found.to_frame(backend="pyarrow").column_names
    (40, ['group', 'reports', 'category', 'estimate', 'standard_error', 'lower', 'upper'])
    """

    @property
    def design(self) -> Design:
        """The design of the reports of all groups."""
        return next(iter(self.values())).design

    @property
    def n(self) -> int:
        """The number of reports of all groups."""
        return sum(found.n for found in self.values())

    def columns(self, level: float = 0.95, method: str | None = None, simultaneous: bool = False) -> dict[str, Any]:
        """The figures of all groups, a line for each category of each; the options are those of ``interval``."""
        columns: dict[str, list[Any]] = {"group": [], "reports": []}
        for label, found in self.items():
            lower, upper = found.interval(level, method, simultaneous).T.tolist()
            figures = {"estimate": found.proportions.tolist(), "standard_error": found.standard_errors.tolist()}
            columns["group"] += [label] * len(lower)
            columns["reports"] += [found.n] * len(lower)
            for name, values in {**found.category_columns(), **figures, "lower": lower, "upper": upper}.items():
                columns.setdefault(name, []).extend(values)
        return columns

    def to_frame(self, level: float = 0.95, backend: Backend = "pandas") -> Any:
        """A data frame: group, its number of reports, category, estimate, standard error, and limits of an interval."""
        return data_frame(self.columns(level), backend)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Everything as plain values: what ``Estimate.to_dict`` has, for each group."""
        return {"groups": [{"group": jsonable(label), **found.to_dict(level)} for label, found in self.items()]}

    def _title(self) -> str:
        return f"estimates of {len(self)} groups from {self.n:,.0f} reports"

    def _figures(self) -> dict[str, Any]:
        first = next(iter(self.values()))
        figures = {
            "design": f"{self.design.title}, {self.design.k} categories, fingerprint {self.design.fingerprint[:12]}",
            "privacy": f"ε = {limit(self.design.epsilon)}",
        }
        if math.isfinite(first.degrees_of_freedom):
            figures["sample"] = f"{first.degrees_of_freedom:g} degrees of freedom"
        return figures

    def _columns(self) -> dict[str, list[Any]]:
        columns = self.columns()
        lower, upper = columns.pop("lower"), columns.pop("upper")
        names = {"standard_error": "std.error"}
        shown = {names.get(name, name): values for name, values in columns.items()}
        shown["group"] = ["missing" if label is None else text_of(label) for label in shown["group"]]
        return {**shown, "95 % from": lower, "to": upper}

    def _remarks(self) -> list[str]:
        simulated = any(found.tally.simulated for found in self.values())
        return [
            "compare_groups says whether two groups differ, homogeneity_test whether any do",
            *(["drawn from a seed: for simulation only, such reports protect nobody"] if simulated else []),
        ]
