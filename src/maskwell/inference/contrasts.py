"""Weighted sums of proportions, and other single numbers with a standard error: their limits and their tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maskwell.designs.base import Design, Vector
from maskwell.errors import EstimationError
from maskwell.exact import given_fraction
from maskwell.inference import alternatives
from maskwell.inference.alternatives import Alternative
from maskwell.inference.hypotheses.hypothesis_test import HypothesisTest
from maskwell.results.numbers import figure
from maskwell.results.result import Result

ContrastScores = Mapping[Any, float] | Sequence[float] | Vector


@dataclass(frozen=True)
class Contrast(Result):
    """A weighted sum of proportions, or another single number, with its standard error.

    ``degrees_of_freedom`` are those of the standard error: infinite where it follows from the counts of independent
    reports, clusters less strata in a complex sample.
    """

    value: float
    standard_error: float
    degrees_of_freedom: float = field(default=math.inf, repr=False)
    what: str = field(default="weighted sum of proportions", repr=False)

    def _title(self) -> str:
        return self.what

    def _figures(self) -> dict[str, Any]:
        figures: dict[str, Any] = {"value": self.value, "standard error": self.standard_error}
        if math.isfinite(self.degrees_of_freedom):
            figures["degrees of freedom"] = figure(self.degrees_of_freedom)
        return {**figures, "95 % interval": " to ".join(map(figure, self.interval()))}

    def interval(self, level: float = 0.95, alternative: Alternative = "two-sided") -> tuple[float, float]:
        """Wald limits, Student's where the standard error has degrees of freedom; with an alternative to one side."""
        return alternatives.limits(self.value, self.standard_error, level, self.degrees_of_freedom, alternative)

    def test(self, value: float = 0.0, alternative: Alternative = "two-sided") -> HypothesisTest:
        """Test whether it is ``value``, against being different, ``"less"`` or ``"greater"``.

        >>> print(Contrast(0.12, 0.05).test(alternative="greater"))
        weighted sum of proportions, greater than 0: statistic 2.4000, p = 0.008198 (standard normal)
        """
        value = float(given_fraction(value, "value", EstimationError))
        words, df = alternatives.words(alternatives.checked(alternative)), self.degrees_of_freedom
        name = f"{self.what}, {words} {value:g}"
        law = "standard normal" if math.isinf(df) else f"Student's t with {df:.4g} df"
        if not math.isfinite(self.standard_error):
            raise EstimationError("the reports do not determine this number, so there is nothing to test.")
        if self.standard_error == 0:
            raise EstimationError("this number has a standard error of 0: the reports do not vary, nothing to test.")
        z = (self.value - value) / self.standard_error
        return HypothesisTest(name, z, None, alternatives.p_value(z, df, alternative), law=law)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The figures by name; degrees of freedom are None where there is no limit to them."""
        df = self.degrees_of_freedom
        return {
            "value": self.value,
            "standard_error": self.standard_error,
            "degrees_of_freedom": df if math.isfinite(df) else None,
            "level": level,
            "interval": self.interval(level),
        }


@dataclass(frozen=True)
class Quotient(Contrast):
    """One number over another, ``above / below``, with the variances of both and their covariance between them.

    Its limits are Fieller's, which hold where the denominator is known badly, too.
    """

    above: float = field(default=0.0, repr=False)
    below: float = field(default=1.0, repr=False)
    spread: tuple[float, float, float] = field(default=(0.0, 0.0, 0.0), repr=False)
    range: tuple[float, float] = field(default=(-math.inf, math.inf), repr=False)

    def interval(self, level: float = 0.95, alternative: Alternative = "two-sided") -> tuple[float, float]:
        """Fieller's limits within the range of the number; with an alternative to one side."""
        t = alternatives.quantile(alternatives.both_sides(level, alternative), self.degrees_of_freedom)
        low, high = fieller(self.above, self.below, self.spread, t)
        least, most = self.range
        return (
            least if alternative == "less" else min(max(low, least), most),
            most if alternative == "greater" else min(max(high, least), most),
        )


def fieller(above: float, below: float, variances: tuple[float, float, float], t: float) -> tuple[float, float]:
    """Limits of a ratio: the values r at which ``above - r below`` is within t of its standard errors of 0.

    ``variances`` are those of both, and their covariance between them. The limits are infinite where the denominator
    itself is within t standard errors of 0.

    >>> [round(limit, 3) for limit in fieller(0.2, 0.5, (0.0004, 0.0001, 0.0004), 1.96)]
    [0.324, 0.478]
    >>> fieller(0.2, 0.01, (0.0004, 0.0, 0.0004), 1.96)
    (-inf, inf)
    """
    above_variance, both, below_variance = variances
    a = below**2 - t**2 * below_variance
    if a <= 0:
        return -np.inf, np.inf
    b, c = above * below - t**2 * both, above**2 - t**2 * above_variance
    root = max(b**2 - a * c, 0.0) ** 0.5
    return (b - root) / a, (b + root) / a


_TOLERANCE = 1e-9


def report_weights(design: Design, vector: Vector) -> Vector:
    """A number for each report whose mean is the weighted sum of proportions, for a design that cannot tell all."""
    matrix = design.matrix()
    weights: Vector = np.linalg.lstsq(matrix.T, vector, rcond=None)[0]
    if np.abs(matrix.T @ weights - vector).max() > _TOLERANCE * max(1.0, np.abs(vector).max()):
        raise EstimationError(
            f"{design.title} cannot estimate this sum: give categories that it never tells apart the same score."
        )
    return weights


def contrast_vector(design: Design, scores: ContrastScores) -> Vector:
    """Scores as one number per category."""
    return score_vector(design.categories, scores, "category of the design")


def score_vector(labels: Sequence[Any], scores: ContrastScores, called: str) -> Vector:
    """Scores as one number per label; in a mapping labels that are left out have 0."""
    if isinstance(scores, Mapping):
        if unknown := [label for label in scores if label not in labels]:
            raise EstimationError(f"scores name {unknown[0]!r}, which is not a {called}.", parameter="scores")
        scores = [scores.get(label, 0.0) for label in labels]
    try:
        vector = np.asarray(scores, float)
    except (TypeError, ValueError):
        vector = np.zeros(0)
    if vector.shape != (len(labels),) or not np.isfinite(vector).all():
        raise EstimationError(
            f"scores must be {len(labels)} finite numbers, one for each {called}, or a mapping from label to score, "
            "{label: 1} for each label that counts.",
            parameter="scores",
        )
    return vector
