"""Sums of shares, one share over another, and one group beside another, with the standard errors of the sample.

Groups of one sample are not independent where a cluster has people of both: a difference or a ratio of their shares is
a function of averages over the whole sample, and varies as such.
"""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from maskwell.advice import Advice, Setting
from maskwell.designs.base import Design
from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import DataError, EstimationError
from maskwell.inference.contrasts import Contrast, ContrastScores, Quotient, contrast_vector, report_weights
from maskwell.inference.sample.averages import Averages
from maskwell.inference.sample.estimates import linear_in_sample
from maskwell.inference.sample.groups import Missing, grouped, members
from maskwell.inference.sample.sample import Sample
from maskwell.inference.sample.scores import SampledScores, present, require_reports, require_sample
from maskwell.reports import Reports
from maskwell.tables.labels import text_of

Measure = Literal["difference", "ratio"]
_NEAR_ZERO = 2.0
_FEW = 20
Part = tuple[Vector, NDArray[np.bool_]]
"""The number of each category, and who counts."""


def contrast_in_sample(reports: Any, sample: Sample, scores: ContrastScores) -> Contrast:
    """A weighted sum of the proportions of a sample."""
    require_sample(reports, sample)
    vector = contrast_vector(reports.design, scores)
    if not math.isinf(reports.design.added_variance):
        return linear_in_sample(reports, sample).contrast(vector)
    there = present(reports)
    values = np.where(there, _of_reports(reports, there, report_weights(reports.design, vector)), 0.0)

    def products(weights: Vector) -> Matrix:
        squares = _of_reports(reports, there, report_weights(reports.design, vector**2))
        return np.array([[weights @ np.where(there, squares, 0.0)]])

    averages = Averages(sample, values[:, None], there, products)
    error = float(averages.errors_of(lambda means: means)[0])
    return Contrast(float(averages.means[0]), error, float(sample.degrees_of_freedom))


def ratio(
    reports: Reports,
    numerator: ContrastScores,
    denominator: ContrastScores,
    *,
    sample: Sample | None = None,
    domain: Any = None,
) -> Quotient:
    """One weighted sum of proportions over another, with the standard error of the delta method and Fieller's limits.

    Without ``sample`` the records are a simple random sample. ``domain``, true for some of the records, is who is asked
    about.

    >>> import maskwell as mw
    >>> reports = mw.designs.direct(["a", "b"]).mask(["a", "b", "b", "b"])
    >>> round(mw.ratio(reports, {"a": 1}, {"b": 1}).value, 4)
    0.3333
    """
    scores = _scores(reports, sample)
    chosen = scores.present if domain is None else scores.present & members(domain, len(reports))
    above, below = contrast_vector(scores.design, numerator), contrast_vector(scores.design, denominator)
    return _quotient(_averages(scores, [(above, chosen), (below, chosen)]), _sums, "ratio of two sums of proportions")


def compare_groups(
    reports: Reports,
    groups: Any,
    scores: ContrastScores,
    *,
    between: Any = None,
    measure: Measure = "difference",
    sample: Sample | None = None,
    missing: Missing = "refuse",
) -> Contrast:
    """How a share, or a weighted sum of shares, differs between two groups: the first less, or over, the second.

    ``groups`` has a label for each report; ``between`` names two of them where there are more. The result knows its
    test, ``.test(alternative="greater")``, and its limits, to one side as well. Without ``sample`` the records are a
    simple random sample. A missing label is an error unless ``missing="outside"``, which leaves those records in the
    sample and in no group, or ``"keep"``, which makes a group of them under ``None``.

    >>> import maskwell as mw
    >>> reports = mw.designs.direct(["yes", "no"]).mask(["yes"] * 30 + ["no"] * 70 + ["yes"] * 20 + ["no"] * 80)
    >>> found = mw.compare_groups(reports, ["f"] * 100 + ["m"] * 100, {"yes": 1})
    >>> round(found.value, 3), round(found.standard_error, 3), round(found.test(alternative="greater").p_value, 3)
    (0.1, 0.061, 0.051)
    """
    if measure not in get_args(Measure):
        raise EstimationError(f"measure must be difference or ratio; got {measure!r}.", parameter="measure")
    found = _scores(reports, sample)
    vector = contrast_vector(found.design, scores)
    labels, codes = grouped(groups, len(reports), missing)
    one, other = _two(labels, between)
    everyone = np.ones(found.design.k)
    parts = []
    for label in (one, other):
        chosen = found.present & (codes == labels.index(label))
        if not (found.sample.weights * chosen).any():
            raise EstimationError("a group of the sample has no reports, or no weight; leave it out.")
        parts += [(vector, chosen), (everyone, chosen)]
    averages = _averages(found, parts)
    names = f"{text_of(one)} and {text_of(other)}"
    if measure == "ratio":
        return _quotient(averages, _shares, f"ratio of {names}")

    def difference(means: NDArray[Any]) -> NDArray[Any]:
        first, second = _shares(means)
        return np.array([first - second])

    error = float(averages.errors_of(difference)[0])
    df = float(found.sample.degrees_of_freedom)
    return Contrast(float(difference(averages.means)[0]), error, df, f"difference of {names}")


def _two(labels: list[Any], between: Any) -> tuple[Any, Any]:
    if between is None:
        if len(labels) != 2:
            few = ", ".join(map(text_of, labels[:_FEW])) + (", …" if len(labels) > _FEW else "")
            raise EstimationError(
                Advice(
                    f"there are {len(labels)} groups ({few}); name the two to compare with ",
                    Setting("between", blank=True),
                    ".",
                ),
                parameter="between",
            )
        return labels[0], labels[1]
    if not isinstance(between, (tuple, list)) or len(between) != 2 or between[0] == between[1]:
        raise EstimationError("between must name two different groups.", parameter="between")
    if unknown := [label for label in between if label not in labels]:
        known = ", ".join(map(text_of, labels))
        raise EstimationError(f"there is no group {unknown[0]!r}; groups: {known}.", parameter="between")
    return between[0], between[1]


def _scores(reports: Reports, sample: Sample | None) -> SampledScores:
    require_reports(reports)
    if not len(reports):
        raise DataError("there are no reports.", parameter="reports")
    return SampledScores.of(reports, Sample(weights=np.ones(len(reports))) if sample is None else sample, "linear")


def _averages(scores: SampledScores, parts: list[Part]) -> Averages:
    """The averages over the whole sample of sums of scores, each of some of the people."""
    vectors = np.array([vector for vector, _ in parts])
    members = np.array([chosen for _, chosen in parts]).T
    # A number that all categories have is known without a report: the size of a group varies by no mask.
    values = np.where((vectors == 1).all(axis=1), 1.0, scores.values @ vectors.T) * members

    def products(weights: Vector) -> Matrix:
        # For people of both parts, the product of the two numbers of their true category.
        found = np.empty((len(parts), len(parts)))
        for i in range(len(parts)):
            for j in range(len(parts)):
                both = weights * members[:, i] * members[:, j]
                found[i, j] = (both @ scores.values) @ (vectors[i] * vectors[j])
        return found

    return Averages(scores.sample, values, scores.present, products)


def _sums(means: NDArray[Any]) -> NDArray[Any]:
    return means


def _shares(means: NDArray[Any]) -> NDArray[Any]:
    """The shares of two groups from the sums and the sizes of both."""
    return np.array([means[0] / means[1], means[2] / means[3]])


def _quotient(averages: Averages, pair: Any, name: str) -> Quotient:
    """The first of a pair of smooth functions over the second."""
    above, below = pair(averages.means)
    spread = averages.covariance_of(pair)
    error = max(float(spread[1, 1]), 0.0) ** 0.5
    if below <= _NEAR_ZERO * error:
        raise EstimationError(
            f"the denominator is estimated as {below:.4g} with standard error {error:.2g}: too near 0 to divide by."
        )

    def value(means: NDArray[Any]) -> NDArray[Any]:
        first, second = pair(means)
        return np.array([first / second])

    return Quotient(
        float(above / below),
        float(averages.errors_of(value)[0]),
        float(averages.sample.degrees_of_freedom),
        name,
        float(above),
        float(below),
        (float(spread[0, 0]), float(spread[0, 1]), float(spread[1, 1])),
    )


def _of_reports(reports: Reports, there: NDArray[np.bool_], weights: Vector) -> Vector:
    """The number that each report has; 0 where there is none."""
    found = np.zeros(len(reports))
    packed = reports.packed[there]
    distinct, back = np.unique(packed, axis=0, return_inverse=True)
    found[there] = (_indicators(reports.design, distinct) @ weights)[back.ravel()]
    return found


def _indicators(design: Design, packed: NDArray[Any]) -> Matrix:
    """Which row of the matrix each report is."""
    rows = np.array([design.codec.count(packed[at : at + 1]) for at in range(len(packed))], float)
    if rows.ndim != 2 or rows.shape[1] != design.report_count():
        raise EstimationError(f"{design.title} reports carry no information about this sum.")
    return rows
