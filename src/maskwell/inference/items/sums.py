"""Sum scores: how many of several sensitive items apply to a person, or the sum of their numbers.

The distribution of the sum over people is the mean, over people, of the distribution that a person's reports speak
for: the convolution of the scores of the items' reports. It is unbiased, so that entries may fall below 0, and needs no
table of all combinations. Mean and variance of the sum follow from the items' means and covariances, both unbiased.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.exact import given_fraction
from maskwell.frames import Backend, data_frame
from maskwell.inference import alternatives
from maskwell.inference.contrasts import Contrast
from maskwell.inference.items.correlations import covariances, degrees_of_freedom_of, moment_columns, unbiased_shift
from maskwell.inference.items.items import Items
from maskwell.inference.sample.averages import Averages
from maskwell.inference.sample.sample import Sample
from maskwell.results.numbers import figure
from maskwell.results.result import Result

_DIGITS = 12  # in which sums of numbers that are not whole must differ to be two sums
_MOST_CELLS = 1 << 27


@dataclass(frozen=True, eq=False)
class SumScore(Result):
    """The distribution of a sum of items over people, with its mean and variance."""

    names: tuple[str, ...]
    n: int
    values: Vector
    """The sums that are possible, in rising order."""
    proportions: Vector
    """The share of people with each sum: unbiased, and therefore not clipped."""
    covariance: Matrix
    mean: Contrast
    variance: Contrast
    reliability: Contrast
    """Cronbach's alpha: how much of the variance of the sum the items have in common."""

    @cached_property
    def standard_errors(self) -> Vector:
        """Of the proportions."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0))

    def interval(self, level: float = 0.95) -> Matrix:
        """Wald limits by sum."""
        margin = alternatives.quantile(level, self.mean.degrees_of_freedom) * self.standard_errors
        return np.column_stack([self.proportions - margin, self.proportions + margin])

    def at_least(self, value: float) -> Contrast:
        """The share of people whose sum is this or more."""
        value = float(given_fraction(value, "value", EstimationError))
        chosen = (self.values >= value - 10.0**-_DIGITS).astype(float)
        error = max(float(chosen @ self.covariance @ chosen), 0.0) ** 0.5
        name = f"share with a sum of {value:g} or more"
        return Contrast(float(chosen @ self.proportions), error, self.mean.degrees_of_freedom, name)

    def _title(self) -> str:
        return f"sum of {len(self.names)} masked items of {self.n:,} people: {', '.join(self.names)}"

    def _figures(self) -> dict[str, Any]:
        named = {"mean": self.mean, "variance": self.variance, "reliability (alpha)": self.reliability}
        return {
            name: f"{figure(found.value)}, standard error {figure(found.standard_error)}"
            for name, found in named.items()
        }

    def _columns(self) -> dict[str, Any]:
        lower, upper = self.interval().T
        figures = {"share": self.proportions, "standard error": self.standard_errors, "95 % from": lower, "to": upper}
        return {"sum": [f"{value:g}" for value in self.values], **figures}

    def to_frame(self, level: float = 0.95, *, backend: Backend = "pandas") -> Any:
        """A data frame with a line for each sum."""
        lower, upper = self.interval(level).T
        columns = {
            "sum": self.values,
            "estimate": self.proportions,
            "standard_error": self.standard_errors,
            "lower": lower,
            "upper": upper,
        }
        return data_frame(columns, backend)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The distribution and its figures as plain values."""
        return {
            "items": list(self.names),
            "n": self.n,
            "sums": self.values.tolist(),
            "proportions": self.proportions.tolist(),
            "standard_errors": self.standard_errors.tolist(),
            "level": level,
            "intervals": self.interval(level).tolist(),
            "mean": self.mean.to_dict(level),
            "variance": self.variance.to_dict(level),
            "reliability": self.reliability.to_dict(level),
        }


def sum_score(reports: Any, scores: Any = None, *, sample: Sample | None = None) -> SumScore:
    """The distribution, mean and variance of the sum of several masked items of the same people.

    ``reports`` and ``scores`` are those of ``correlations``: without scores, the first of two categories counts 1 and
    the other 0, so that the sum of yes/no items is the number that apply.

    >>> import maskwell as mw
    >>> item = mw.designs.warner(truth_prob=0.9)
    >>> three = mw.designs.product(item, item, item, names=["theft", "fraud", "drugs"])
    >>> answers = [["yes", "yes", "no"]] * 200 + [["no", "no", "no"]] * 800
    >>> found = mw.sum_score(three.mask(answers, seed=3))
    >>> [abs(round(float(share), 1)) for share in found.proportions], round(found.mean.value, 1)
    ([0.8, 0.0, 0.2, 0.0], 0.4)
    """
    items = Items.of(reports, scores, sample)
    d, df = len(items.items), degrees_of_freedom_of(items, sample)
    averages = items.averages(moment_columns(items.names))
    centre = unbiased_shift(averages.covariance, d)
    values, distribution = _distribution(items)

    def of_moments(m: Any) -> Any:
        c = covariances(m, d) + centre
        whole, own = c.sum(), np.trace(c)
        return np.array([m[:d].sum(), whole, d / (d - 1) * (1 - own / whole)])

    found, errors = of_moments(averages.means), averages.errors_of(of_moments)
    if found[1] <= 0:
        raise EstimationError(
            f"the variance of the sum is estimated as {found[1]:.3g}: masking drowns it; ask more people, or mask less."
        )
    names = ("mean of the sum", "variance of the sum", "reliability of the sum")
    mean, variance, reliability = (
        Contrast(float(value), float(error), df, name) for value, error, name in zip(found, errors, names, strict=True)
    )
    n = int(items.present.sum())
    return SumScore(items.names, n, values, distribution.means, distribution.covariance, mean, variance, reliability)


def _distribution(items: Items) -> tuple[Vector, Averages]:
    """The possible sums, and the average distribution that the reports speak for."""
    values, spoken = np.zeros(1), np.ones((len(items.present), 1))
    for item in items.items:
        sums = np.round(values[:, None] + item.numbers, _DIGITS)
        further, at = np.unique(sums, return_inverse=True)
        if len(further) * len(spoken) > _MOST_CELLS:
            raise EstimationError(
                f"{len(further):,} different sums for each of {len(spoken):,} people do not fit into memory; give the "
                "categories coarser scores.",
                parameter="scores",
            )
        wider = np.zeros((len(spoken), len(further)))
        for place, (i, j) in zip(at.ravel().tolist(), np.ndindex(sums.shape), strict=True):
            wider[:, place] += spoken[:, i] * item.scores[:, j]
        values, spoken = further, wider

    def products(weights: Vector) -> Matrix:
        # A person has one sum, so the product of two different indicators is 0, and of one with itself that one.
        return np.diag(weights @ spoken)

    return values, Averages(items.sample, spoken, items.present, products)
