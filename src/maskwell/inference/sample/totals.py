"""Totals of a sample: numbers of people by category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Design
from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.frames import Backend, data_frame
from maskwell.inference import alternatives
from maskwell.inference.sample.methods import LIKELIHOODS
from maskwell.inference.sample.sample import Sample
from maskwell.inference.sample.scores import SampledScores, masking
from maskwell.plain_text import visible_lines
from maskwell.results.numbers import limit
from maskwell.results.result import Result
from maskwell.tables.labels import text_of

_ROWS = 20


@dataclass(frozen=True, eq=False)
class Totals(Result):
    """Estimated numbers of people by category. Their sum varies with the sample; that of proportions does not."""

    design: Design
    values: Vector
    covariance: Matrix
    cov_type: str = "with replacement"
    degrees_of_freedom: float = np.inf

    @property
    def standard_errors(self) -> Vector:
        """Square roots of the variances."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0))

    def interval(self, level: float = 0.95) -> Matrix:
        """Lower and upper limits by category."""
        margin = alternatives.quantile(level, self.degrees_of_freedom) * self.standard_errors
        return np.column_stack([self.values - margin, self.values + margin])

    def _title(self) -> str:
        return f"estimated numbers of people in {self.design.k:,} categories of a {self.design.title} design"

    def _figures(self) -> dict[str, Any]:
        return {"sum": float(self.values.sum()), "variance": self.cov_type, "ε": limit(self.design.epsilon)}

    def _columns(self) -> dict[str, Any]:
        lower, upper = self.interval().T
        figures = {"total": self.values, "standard error": self.standard_errors, "95 % from": lower, "to": upper}
        return {"category": [text_of(c) for c in self.design.categories], **figures}

    def _order(self) -> list[int]:
        return list(np.argsort(-self.values, kind="stable").tolist())

    def to_frame(self, level: float = 0.95, backend: Backend = "pandas") -> Any:
        """A data frame: category, total, standard error and limits."""
        lower, upper = self.interval(level).T
        columns = {
            "category": [str(c) for c in self.design.categories],
            "total": self.values,
            "standard_error": self.standard_errors,
            "lower": lower,
            "upper": upper,
        }
        return data_frame(columns, backend)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The totals as plain values."""
        return {
            "categories": list(self.design.categories),
            "totals": self.values.tolist(),
            "standard_errors": self.standard_errors.tolist(),
            "level": level,
            "intervals": self.interval(level).tolist(),
            "cov_type": self.cov_type,
        }

    def summary(self, level: float = 0.95) -> str:
        """The totals in plain text."""
        order = np.argsort(-self.values, kind="stable")[:_ROWS] if len(self.values) > _ROWS else range(len(self.values))
        labels = [text_of(self.design.categories[j]) for j in order]
        width = max(8, *map(len, labels))
        limits = self.interval(level)
        lines = [
            f"totals by category, {self.cov_type}",
            "",
            f"{'category':{width}}  {'total':>12}  {'std.error':>10}  {100 * level:g} % interval",
        ]
        for label, j in zip(labels, order, strict=True):
            low, high = limits[j]
            lines.append(
                f"{label:{width}}  {self.values[j]:12,.0f}  {self.standard_errors[j]:10,.0f}  [{low:,.0f}, {high:,.0f}]"
            )
        if len(self.values) > _ROWS:
            lines.append(f"… and {len(self.values) - _ROWS} smaller ones; to_frame() has them all")
        return visible_lines(lines)


def sampled_totals(
    reports: Any, sample: Sample, method: Any = "linear", domain: NDArray[np.bool_] | None = None
) -> Totals:
    """Totals over the population that the weights stand for."""
    if method in LIKELIHOODS:
        return _of_likelihood(reports, sample, method, domain)
    scores = SampledScores.of(reports, sample, method)
    inside = scores.present if domain is None else scores.present & domain
    if not (sample.weights * inside).any():
        raise EstimationError("a group of the sample has no reports, or no weight; leave it out.")
    numbers = scores.values * inside[:, None]
    values = sample.weights @ numbers
    if sample.replicates is not None:
        again = sample.replicates.weights.T @ numbers
        rows = np.sqrt(sample.replicates.factors)[:, None] * (again - values)
        return Totals(scores.design, values, rows.T @ rows, sample.variance_kind, sample.degrees_of_freedom)
    rows, lacking = sample.spread(numbers)
    covariance = rows.T @ rows
    if lacking.any():
        covariance = covariance + masking(scores.scores, (lacking * sample.weights**2) @ numbers)
    return Totals(scores.design, values, covariance, sample.variance_kind, sample.degrees_of_freedom)


def _of_likelihood(reports: Any, sample: Sample, method: str, domain: NDArray[np.bool_] | None) -> Totals:
    """The number of people times the shares that are most likely."""
    from maskwell.inference.sample.likelihood import likelihood_in_sample

    found = likelihood_in_sample(reports, sample, method, domain)
    values, covariance = found.totals()
    return Totals(found.design, values, covariance, sample.variance_kind, sample.degrees_of_freedom)
