"""Linear estimators: unbiased, therefore not clipped, with the exact covariance of the design.

The estimate is the mean of the reports' scores L, so n times its covariance is ``E[L L'] - p p'``, evaluated at the
estimate. With sampling weights it is the Hájek mean and its linearised variance (Kish's ``sum w^2 / (sum w)^2`` in
place of 1/n).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from maskwell.designs.base import Design, Matrix, Method, Scores, Vector
from maskwell.designs.product import ProductDesign
from maskwell.errors import EstimationError
from maskwell.inference import intervals
from maskwell.inference.simplex import project
from maskwell.reports import Reports
from maskwell.tally import Tally

METHODS = ("linear", "moments")


def estimate(tally: Tally | Reports, method: Method = "linear") -> Estimate:
    """Estimate the proportions of all categories.

    ``linear`` is the minimax linear estimator; ``moments`` inverts the inclusion counts (for matrices: unweighted
    least squares). Both are unbiased, so single entries may fall outside [0, 1].

    >>> import maskwell as mw
    >>> design = mw.designs.warner(truth_prob=0.75)
    >>> mw.estimate(mw.Tally.from_counts(design, [500, 500])).proportions
    array([0.5, 0.5])
    """
    counted = _as_tally(tally)
    if method not in METHODS:
        raise EstimationError(f"method must be one of {', '.join(METHODS)}; got {method!r}.")
    if isinstance(counted.design, ProductDesign):
        from maskwell.inference.joint import estimate_joint

        return estimate_joint(counted, method)
    return Estimate(counted, method, counted.design.scores(method))


def _as_tally(tally: Tally | Reports) -> Tally:
    counted = tally.tally() if isinstance(tally, Reports) else tally
    if not isinstance(counted, Tally):
        raise EstimationError(
            f"estimate needs a Tally or Reports; got {type(tally).__name__}. Masked values come from design.mask."
        )
    if counted.n == 0:
        raise EstimationError("there are no reports to estimate from.")
    return counted


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """Estimated proportions of the categories of a design."""

    tally: Tally
    method: str
    scores: Scores

    @property
    def design(self) -> Design:
        """The design that the reports came from."""
        return self.tally.design

    @property
    def n(self) -> int:
        """The number of reports."""
        return self.tally.n

    @cached_property
    def proportions(self) -> Vector:
        """Unbiased and therefore not clipped: entries may fall outside [0, 1]."""
        return self.scores.mean(self.tally.scored_counts)

    @cached_property
    def effective_n(self) -> float:
        """n, or Kish's (sum of weights)^2 / (sum of squared weights)."""
        if self.tally.squares is None:
            return float(self.n)
        total, squares = _report_total(self.tally.counts), _report_total(self.tally.squares)
        return total**2 / squares

    @cached_property
    def _centre(self) -> Vector:
        """Where one report's second moments are taken; for weighted tallies, the mean under squared weights."""
        return self.proportions if self.tally.squares is None else self.scores.mean(self.tally.scored_squares)

    def _covariance_at(self, centre: Vector) -> Matrix:
        p, q = self.proportions, centre
        spread = self.scores.second_moment(q) - np.outer(q, p) - np.outer(p, q) + np.outer(p, p)
        result: Matrix = spread / self.effective_n
        return result

    @cached_property
    def _variances(self) -> Vector:
        p, q = self.proportions, self._centre
        variances: Vector = (self.scores.second_moment_diagonal(q) - 2 * p * q + p**2) / self.effective_n
        if (variances > 0).all() or not self.design.added_variance:
            return np.maximum(variances, 0)
        # A few reports can put the estimate so far outside the simplex that no population has this variance.
        inside = project(p)
        nearest = (self.scores.second_moment_diagonal(inside) - inside**2) / self.effective_n
        return np.where(variances > 0, variances, np.maximum(nearest, 0))

    @cached_property
    def covariance(self) -> Matrix:
        """The covariance matrix of the estimated proportions."""
        matrix = self._covariance_at(self._centre)
        np.fill_diagonal(matrix, self._variances)
        return matrix

    @property
    def standard_errors(self) -> Vector:
        """Square roots of the variances, without forming the k x k covariance."""
        return np.sqrt(self._variances)

    def interval(self, level: float = 0.95, method: intervals.Kind = "wilson", simultaneous: bool = False) -> Matrix:
        """Lower and upper limits by category; simultaneous ones hold for all together (Bonferroni)."""
        return intervals.limits(self, level, method, simultaneous)

    def contrast(self, scores: Mapping[Any, float] | Sequence[float] | Vector) -> Contrast:
        """A weighted sum of proportions: scores by label (others count 0) or one per category."""
        vector = _contrast_vector(self.design, scores)
        variance = float(vector @ self.covariance @ vector)
        return Contrast(float(vector @ self.proportions), math.sqrt(max(variance, 0.0)))

    def projected(self) -> Projection:
        """The nearest proportions that are non-negative and sum to 1; biased, and without standard errors."""
        return Projection(self.design.categories, project(self.proportions))

    @cached_property
    def sampling_variance(self) -> float:
        """n times the total variance that a direct question would have: 1 - sum p^2, without bias, within its range."""
        unbiased = 1 - float(self.proportions @ self.proportions) + float(self._variances.sum())
        return min(max(unbiased, 0.0), 1 - 1 / self.design.k)

    def summary(self, level: float = 0.95) -> str:
        """The estimate in plain text: design, privacy, proportions, and where the uncertainty comes from."""
        from maskwell.inference.summary import summarize

        return summarize(self, level)

    def to_frame(self, level: float = 0.95, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """A data frame: category, estimate, standard error, and the limits of an interval."""
        import narwhals as nw

        lower, upper = self.interval(level).T
        columns = {
            "category": [str(c) for c in self.design.categories],
            "estimate": self.proportions,
            "standard_error": self.standard_errors,
            "lower": lower,
            "upper": upper,
        }
        try:
            return nw.from_dict(columns, backend=backend).to_native()
        except ImportError:
            raise EstimationError(
                f"to_frame(backend={backend!r}) needs {backend} to be installed; pyarrow always is."
            ) from None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Estimate):
            return NotImplemented
        return self.method == other.method and self.tally == other.tally

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self.method} estimate of {self.design.k} proportions from {self.n} {self.design.name} reports>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self.summary())}</pre>"


@dataclass(frozen=True)
class Contrast:
    """A weighted sum of proportions with its standard error."""

    value: float
    standard_error: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Wald limits."""
        margin = intervals.normal_quantile(level) * self.standard_error
        return self.value - margin, self.value + margin


@dataclass(frozen=True, eq=False)
class Projection:
    """Proportions moved to the simplex: presentable, biased, not for further inference."""

    categories: tuple[Any, ...]
    proportions: Vector
    label: str = "projected to the simplex (biased; standard errors do not apply)"


def estimate_contrast(tally: Tally | Reports, scores: Mapping[Any, float] | Sequence[float] | Vector) -> Contrast:
    """A weighted sum of proportions, also where the single proportions cannot be estimated, such as a group's total."""
    counted = _as_tally(tally)
    vector = _contrast_vector(counted.design, scores)
    if not math.isinf(counted.design.added_variance):
        return estimate(counted).contrast(vector)
    from maskwell.inference.estimable import contrast_of_deficient

    value, error = contrast_of_deficient(counted, vector)
    return Contrast(value, error)


def _contrast_vector(design: Design, scores: Mapping[Any, float] | Sequence[float] | Vector) -> Vector:
    if isinstance(scores, Mapping):
        unknown = [label for label in scores if label not in design.categories]
        if unknown:
            raise EstimationError(f"scores name {unknown[0]!r}, which is no category of the design.")
        return np.array([float(scores.get(c, 0.0)) for c in design.categories])
    vector = np.asarray(scores, float)
    if vector.shape != (design.k,) or not np.isfinite(vector).all():
        raise EstimationError(
            f"scores must be {design.k} finite numbers, one per category, or a mapping from label to score."
        )
    return vector


def _report_total(counts: Any) -> float:
    """The sum over reports of a tally's counts."""
    return float(counts.sum() if counts.ndim == 1 else counts[:, -1].sum())
