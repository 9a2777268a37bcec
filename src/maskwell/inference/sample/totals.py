"""Totals and ratios of a sample: numbers of people by category, and one share over another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Design, Method
from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.frames import Backend, data_frame
from maskwell.inference.estimates import ContrastScores, contrast_vector
from maskwell.inference.sample.estimates import SampledContrast, t_quantile
from maskwell.inference.sample.sample import Sample
from maskwell.inference.sample.scores import SampledScores, masking
from maskwell.plain_text import visible_lines
from maskwell.reports import Reports
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
        margin = t_quantile(level, min(self.degrees_of_freedom, 1e9)) * self.standard_errors
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


def sampled_totals(reports: Any, sample: Sample, method: Method = "linear") -> Totals:
    """Totals over the population that the weights stand for."""
    scores = SampledScores.of(reports, sample, method)
    values = scores.sample.weights @ scores.values
    if sample.replicates is not None:
        again = sample.replicates.weights.T @ scores.values
        rows = np.sqrt(sample.replicates.factors)[:, None] * (again - values)
        return Totals(scores.design, values, rows.T @ rows, _kind(sample), sample.degrees_of_freedom)
    rows, lacking = sample.spread(scores.values)
    covariance = rows.T @ rows
    if lacking.any():
        covariance = covariance + masking(scores.scores, (lacking * sample.weights**2) @ scores.values)
    return Totals(scores.design, values, covariance, _kind(sample), sample.degrees_of_freedom)


def _kind(sample: Sample) -> str:
    if sample.replicates is not None:
        return f"replicates ({sample.replicates.method})"
    return "linearised over the sample"


def ratio(
    reports: Reports,
    numerator: ContrastScores,
    denominator: ContrastScores,
    *,
    sample: Sample | None = None,
    domain: NDArray[np.bool_] | None = None,
) -> SampledContrast:
    """One weighted sum of proportions over another, with the standard error of the delta method.

    Without ``sample`` the records are a simple random sample.

    >>> import maskwell as mw
    >>> reports = mw.designs.direct(["a", "b"]).mask(["a", "b", "b", "b"])
    >>> round(mw.ratio(reports, {"a": 1}, {"b": 1}).value, 4)
    0.3333
    """
    sample = Sample(weights=np.ones(len(reports))) if sample is None else sample
    scores = SampledScores.of(reports, sample, "linear")
    mean = scores.mean(np.ones(len(reports), np.bool_) if domain is None else np.asarray(domain, np.bool_))
    above, below = contrast_vector(scores.design, numerator), contrast_vector(scores.design, denominator)
    base = float(below @ mean.value)
    error = float(below @ mean.covariance @ below) ** 0.5
    if base <= 2 * error:
        raise EstimationError(
            f"the denominator is estimated as {base:.4g} with standard error {error:.2g}: too near 0 to divide by."
        )
    value = float(above @ mean.value) / base
    gradient = (above - value * below) / base
    if sample.replicates is None:
        variance = float(gradient @ mean.covariance @ gradient)
    else:
        again = mean.value + mean.rows / np.sqrt(sample.replicates.factors)[:, None]
        variance = float(sample.replicates.factors @ ((again @ above) / (again @ below) - value) ** 2)
    return SampledContrast(value, max(variance, 0.0) ** 0.5, sample.degrees_of_freedom)
