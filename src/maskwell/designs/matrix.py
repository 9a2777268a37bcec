"""Explicit matrices: any ``P[report, truth]``, given entry by entry.

The linear estimator is least squares weighted by the inverse probability of each report at uniform proportions, which
is the inverse of P where P is square (chai-nayak-2018; nayak-zhai-2019, eq. 6.3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Design, Matrix, Method, Scores, Vector
from maskwell.designs.labels import Label, shown
from maskwell.designs.rounding import row_parity
from maskwell.errors import DesignError, EstimationError
from maskwell.sampling.plans import Packed, RowPlan, code_type

_RANK_TOLERANCE = 1e-12
_NAMED_CONTRASTS = 3


@dataclass(frozen=True, eq=False, repr=False)
class MatrixDesign(Design):
    """Integer weights by (report, truth), each column summing to ``total``."""

    weights: tuple[tuple[int, ...], ...]
    total: int
    reports: tuple[Label, ...]

    kind = "matrix"

    def __post_init__(self) -> None:
        if any(len(row) != self.k for row in self.weights) or len(self.reports) != len(self.weights):
            raise DesignError(
                f"P must have one column per category ({self.k}) and one report label per row ({len(self.weights)})."
            )
        if len(set(self.reports)) < len(self.reports):
            raise DesignError("report labels must differ.")
        if min(min(row) for row in self.weights) < 0 or any(
            sum(column) != self.total for column in zip(*self.weights, strict=True)
        ):
            raise DesignError(f"weights must be non-negative integers with columns that sum to {self.total}.")

    @cached_property
    def _integers(self) -> NDArray[np.object_]:
        return np.array(self.weights, dtype=object)

    # Privacy.

    def exact_parity(self) -> Fraction | float:
        return max(row_parity(row) for row in self._integers)

    def column_distance(self) -> Fraction:
        columns = self._integers.T
        farthest = max(sum(abs(a - b)) for i, a in enumerate(columns) for b in columns[i + 1 :])
        return Fraction(farthest, self.total)

    def diversity(self) -> int:
        supports = [[w for w in row if w] for row in self.weights if any(row)]
        return 0 if any(len(set(s)) > 1 for s in supports) else min(len(s) for s in supports)

    # The matrix.

    def report_count(self) -> int:
        return len(self.weights)

    def _exact_matrix(self) -> NDArray[np.object_]:
        return np.array([[Fraction(w, self.total) for w in row] for row in self.weights], dtype=object)

    def report_labels(self) -> list[Any]:
        return list(self.reports)

    # Sampling and packing.

    @cached_property
    def plan(self) -> RowPlan:
        return RowPlan(self._integers, self.total)

    def decode(self, packed: Packed) -> list[Any]:
        return [self.reports[code] for code in packed.tolist()]

    def pack_rows(self, rows: NDArray[np.int64]) -> Packed:
        return rows.astype(code_type(len(self.weights)))

    def first_impossible(self, packed: Packed) -> int:
        can_occur = np.array([any(row) for row in self.weights])
        wrong = packed >= len(self.weights)
        wrong[~wrong] = ~can_occur[packed[~wrong]]
        return int(np.argmax(wrong)) if wrong.any() else -1

    # Counting and estimating.

    @property
    def count_shape(self) -> tuple[int, ...]:
        return (len(self.weights),)

    def count(self, packed: Packed, weights: Vector | None = None) -> NDArray[Any]:
        from maskwell.sampling.counting import count_codes

        return count_codes(packed, len(self.weights), weights)

    def inclusions(self, counts: NDArray[Any]) -> NDArray[Any]:
        if self.reports[: self.k] == self.categories:
            return counts[: self.k]
        raise DesignError(
            f"{self.name} reports are not categories, so there are no inclusion counts; use tally.counts."
        )

    @cached_property
    def _floats(self) -> Matrix:
        return self._exact_matrix().astype(np.float64)

    def relative_rows(self, packed: Packed) -> Matrix:
        rows = self._floats[packed]
        relative: Matrix = rows / rows.mean(axis=1, keepdims=True)
        return relative

    def scores(self, method: Method) -> Scores:
        """Least squares, weighted by 1/(P1/k) for ``linear`` and unweighted for ``moments``; equal if P is square."""
        self._require_estimable()
        return MatrixScores(self._floats, self._estimator(method))

    def _estimator(self, method: Method) -> Matrix:
        uniform = self._floats.mean(axis=1) if method == "linear" else np.ones(len(self.weights))
        scale = np.where(uniform > 0, 1 / np.sqrt(np.where(uniform > 0, uniform, 1)), 0)
        inverse = np.linalg.pinv(self._floats * scale[:, None]) * scale
        return inverse.astype(np.float64, copy=False)

    @property
    def added_variance(self) -> float:
        if not self._null_space_free:
            return math.inf
        estimator = self._estimator("linear")
        return float((self._floats.T @ (estimator**2).sum(axis=0)).max()) - 1

    @cached_property
    def _null_space_free(self) -> bool:
        values = np.linalg.svd(self._floats, compute_uv=False)
        return len(values) == self.k and bool(values[-1] > _RANK_TOLERANCE * values[0])

    def _require_estimable(self) -> None:
        if self._null_space_free:
            return
        contrasts = _null_space(self._integers)
        named = "; ".join(_describe(vector, self.categories) for vector in contrasts[:_NAMED_CONTRASTS])
        more = f"; and {len(contrasts) - _NAMED_CONTRASTS} more" if len(contrasts) > _NAMED_CONTRASTS else ""
        touched = [c for j, c in enumerate(self.categories) if any(v[j] for v in contrasts)]
        raise EstimationError(
            f"{self.name} cannot estimate the categories {shown(tuple(touched))}: its reports stay the same "
            f"along {named}{more}. "
            "Totals that do not change along these can be estimated with estimate_contrast."
        )

    # Storage.

    def _weights(self) -> dict[str, Any]:
        return {
            "total": str(self.total),
            "rows": [[str(w) for w in row] for row in self.weights],
            "reports": list(self.reports),
        }

    @classmethod
    def _from_weights(cls, categories: tuple[Label, ...], weights: dict[str, Any], **about: Any) -> Self:
        rows = tuple(tuple(int(w) for w in row) for row in weights["rows"])
        return cls(categories, rows, int(weights["total"]), tuple(weights["reports"]), **about)


@dataclass(frozen=True)
class MatrixScores:
    """Column z of ``estimator`` holds the scores of report z."""

    matrix: Matrix
    estimator: Matrix

    def mean(self, counts: NDArray[Any]) -> Vector:
        estimate: Vector = self.estimator @ counts / counts.sum()
        return estimate

    def second_moment(self, proportions: Vector) -> Matrix:
        moment: Matrix = (self.estimator * (self.matrix @ proportions)) @ self.estimator.T
        return moment

    def second_moment_diagonal(self, proportions: Vector) -> Vector:
        diagonal: Vector = self.estimator**2 @ (self.matrix @ proportions)
        return diagonal

    def variance_lines(self, proportions: Vector) -> tuple[Vector, Vector]:
        """The other proportions keep their shares of what the j-th leaves; exact for two categories."""
        by_truth = self.estimator**2 @ self.matrix
        own = np.diagonal(by_truth)
        shares = np.clip(proportions, 1e-12, None)
        rest = (by_truth @ shares - own * shares) / (shares.sum() - shares)
        return rest, own - rest

    def binomial(self) -> tuple[Vector, Vector] | None:
        """With two reports and two categories, each report's count is binomial."""
        if self.matrix.shape != (2, 2):
            return None
        return np.diagonal(self.matrix), np.array([self.matrix[0, 1], self.matrix[1, 0]])


def _null_space(integers: NDArray[np.object_]) -> list[list[Fraction]]:
    """Exact basis of the changes of the proportions that no report shows, by elimination over the rationals."""
    rows = [[Fraction(x) for x in row] for row in integers]
    k = len(rows[0])
    pivots: list[int] = []
    for column in range(k):
        pivot = next((r for r in range(len(pivots), len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        at = len(pivots)
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [x / rows[at][column] for x in rows[at]]
        for r in range(len(rows)):
            if r != at and rows[r][column]:
                factor = rows[r][column]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[at], strict=True)]
        pivots.append(column)
    basis = []
    for free in (j for j in range(k) if j not in pivots):
        vector = [Fraction(0)] * k
        vector[free] = Fraction(1)
        for at, column in enumerate(pivots):
            vector[column] = -rows[at][free]
        basis.append(vector)
    return basis


def _describe(vector: list[Fraction], categories: tuple[Label, ...]) -> str:
    terms = [(c, x) for c, x in zip(categories, vector, strict=True) if x]
    text = " ".join(f"{'+' if x > 0 else '-'} {'' if abs(x) == 1 else f'{float(abs(x)):.3g} '}{c!r}" for c, x in terms)
    return text.removeprefix("+ ")
