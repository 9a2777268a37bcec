"""Correlations of masked items: Pearson's, phi for yes/no items, with standard errors and limits.

Means of products of what two reports say estimate means of products of the truths without bias, so that covariances and
variances are those of open answers, only noisier; a correlation is one covariance over the root of two variances, and
like that of open answers it has a bias of order 1/n. Its standard error follows by the delta method. Limits are
Fieller's: the values r at which the covariance less r times the root of the variances is within the noise of 0. They
hold where the variances are known badly, as they are under heavy masking, and where the estimate lies beyond 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.frames import Backend, data_frame
from maskwell.inference.contrasts import Quotient
from maskwell.inference.items.items import Items, Powers, single
from maskwell.inference.sample.sample import Sample
from maskwell.results.result import Result

# Below this part of the squared range of its numbers the variance of an item is rounding.
_CONSTANT = 1e-12


@dataclass(frozen=True, eq=False)
class Correlations(Result):
    """The correlations of all pairs of items, with the mean and the standard deviation of each item."""

    names: tuple[str, ...]
    pairs: dict[tuple[str, str], Quotient]
    means: Vector
    standard_deviations: Vector
    n: int

    def of(self, one: str, other: str) -> Quotient:
        """The correlation of two items."""
        found = self.pairs.get((one, other)) or self.pairs.get((other, one))
        if found is None:
            raise EstimationError(f"there is no pair {one!r} and {other!r}; items: {', '.join(self.names)}.")
        return found

    @property
    def matrix(self) -> Matrix:
        """All correlations; 1 on the diagonal. Under heavy masking an entry may lie beyond 1: it is not clipped."""
        return self._matrix(lambda pair: pair.value, 1.0)

    @property
    def standard_errors(self) -> Matrix:
        """Their standard errors."""
        return self._matrix(lambda pair: pair.standard_error, 0.0)

    def _matrix(self, figure: Any, diagonal: float) -> Matrix:
        found = np.full((len(self.names), len(self.names)), diagonal)
        for (one, other), pair in self.pairs.items():
            i, j = self.names.index(one), self.names.index(other)
            found[i, j] = found[j, i] = figure(pair)
        return found

    def _title(self) -> str:
        return f"correlations of {len(self.names)} masked items of {self.n:,} people"

    def _figures(self) -> dict[str, Any]:
        return {}

    def _columns(self) -> dict[str, Any]:
        limits = [pair.interval() for pair in self.pairs.values()]
        return {
            "item": [one for one, _ in self.pairs],
            "and": [other for _, other in self.pairs],
            "correlation": [pair.value for pair in self.pairs.values()],
            "standard error": [pair.standard_error for pair in self.pairs.values()],
            "95 % from": [low for low, _ in limits],
            "to": [high for _, high in limits],
        }

    def to_frame(self, level: float = 0.95, *, backend: Backend = "pandas") -> Any:
        """A data frame with a line for each pair."""
        limits = [pair.interval(level) for pair in self.pairs.values()]
        columns = {
            "item": [one for one, _ in self.pairs],
            "other": [other for _, other in self.pairs],
            "correlation": [pair.value for pair in self.pairs.values()],
            "standard_error": [pair.standard_error for pair in self.pairs.values()],
            "lower": [low for low, _ in limits],
            "upper": [high for _, high in limits],
        }
        return data_frame(columns, backend)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The correlations as plain values."""
        pairs = [{"items": list(names), **pair.to_dict(level)} for names, pair in self.pairs.items()]
        means, deviations = self.means.tolist(), self.standard_deviations.tolist()
        return {
            "items": list(self.names),
            "n": self.n,
            "means": means,
            "standard_deviations": deviations,
            "correlations": pairs,
        }


def correlations(reports: Any, scores: Any = None, *, sample: Sample | None = None) -> Correlations:
    """The correlations of several masked variables of the same people.

    ``reports`` are those of a product of designs, or a mapping from names to reports. ``scores`` give the number of
    each category by variable, ``{"health": {"good": 2, "fair": 1, "bad": 0}}``; without them labels that are numbers
    count as such, and the first of two categories counts 1, which makes the correlation of two of them phi.

    >>> import maskwell as mw
    >>> item = mw.designs.warner(truth_prob=0.9)
    >>> both = mw.designs.product(item, item, names=["drugs", "theft"])
    >>> answers = [["yes", "yes"]] * 300 + [["yes", "no"]] * 100 + [["no", "yes"]] * 100 + [["no", "no"]] * 500
    >>> found = mw.correlations(both.mask(answers, seed=5))
    >>> 0.4 < found.of("drugs", "theft").value < 0.75
    True
    """
    items = Items.of(reports, scores, sample)
    names, d = items.names, len(items.items)
    columns = moment_columns(names)
    averages = items.averages(columns)
    centre = unbiased_shift(averages.covariance, d)
    s = covariances(averages.means, d) + centre
    errors = averages.errors_of(lambda m: np.diagonal(covariances(m, d)))
    for name, variance, error, item in zip(names, np.diagonal(s), errors, items.items, strict=True):
        if variance <= max(2 * error, _CONSTANT * float(np.ptp(item.numbers)) ** 2):
            raise EstimationError(
                f"the variance of {name!r} is estimated as {variance:.3g} with standard error {error:.2g}: too near 0 "
                "to divide by; more people, or less masking, would tell it."
            )
    pairs = {}
    for i in range(d):
        for j in range(i + 1, d):

            def parts(m: Any, i: int = i, j: int = j) -> Any:
                c = covariances(m, d) + centre
                root = np.sqrt(c[i, i] * c[j, j])
                return np.array([c[i, j] / root, c[i, j], root])

            value, above, below = parts(averages.means)
            v = averages.covariance_of(parts)
            pairs[names[i], names[j]] = Quotient(
                float(value),
                max(float(v[0, 0]), 0.0) ** 0.5,
                degrees_of_freedom_of(items, sample),
                f"correlation of {names[i]} and {names[j]}",
                float(above),
                float(below),
                (float(v[1, 1]), float(v[1, 2]), float(v[2, 2])),
                (-1.0, 1.0),
            )
    return Correlations(names, pairs, averages.means[:d], np.sqrt(np.diagonal(s)), int(items.present.sum()))


def degrees_of_freedom_of(items: Items, sample: Sample | None) -> float:
    """Those of the sample; without one a normal law will do."""
    return np.inf if sample is None else float(items.sample.degrees_of_freedom)


def moment_columns(names: tuple[str, ...]) -> list[Powers]:
    """The products whose means make all covariances: each item, then each pair of items, squares among them."""
    singles = [single(names, at) for at in range(len(names))]
    pairs = [
        tuple(a + b for a, b in zip(singles[i], singles[j], strict=True))
        for i in range(len(names))
        for j in range(i, len(names))
    ]
    return [*singles, *pairs]


def covariances(means: Any, d: int) -> Any:
    """The covariances of the items from the means of ``moment_columns``."""
    found = np.empty((d, d), means.dtype)
    rows, columns = np.triu_indices(d)
    found[rows, columns] = means[d:] - means[rows] * means[columns]
    found[columns, rows] = found[rows, columns]
    return found


def unbiased_shift(covariance: Matrix, d: int) -> Matrix:
    """What a product of two means is too large by on average: the covariance of the means."""
    return covariance[:d, :d]
