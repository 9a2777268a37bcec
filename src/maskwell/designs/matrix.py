"""Explicit matrices: any ``P[report, truth]``, given entry by entry."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Matrix
from maskwell.designs.labels import Label, as_labels
from maskwell.designs.rounding import row_parity
from maskwell.designs.rows import RowDesign, farthest_columns
from maskwell.errors import DesignError
from maskwell.sampling.plans import TOTAL, RowPlan


@dataclass(frozen=True, eq=False, repr=False)
class MatrixDesign(RowDesign):
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
        if not 1 <= self.total <= TOTAL:
            raise DesignError(f"total must lie between 1 and 2^64; got {self.total}.")
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
        return farthest_columns(self.floats, self._integers, self.total)

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

    @cached_property
    def plan(self) -> RowPlan:
        return RowPlan(self._integers, self.total)

    @cached_property
    def floats(self) -> Matrix:
        return self._exact_matrix().astype(np.float64)

    def inclusions(self, counts: NDArray[Any]) -> NDArray[Any]:
        if self.reports[: self.k] == self.categories:
            return counts[: self.k]
        raise DesignError(
            f"{self.name} reports are not categories, so there are no inclusion counts; use tally.counts."
        )

    # Storage.

    def stored_weights(self) -> dict[str, Any]:
        return {
            "total": str(self.total),
            "rows": [[str(w) for w in row] for row in self.weights],
            "reports": list(self.reports),
        }

    @classmethod
    def from_weights(cls, labels: list[Any], weights: dict[str, Any], **about: Any) -> Self:
        rows = tuple(tuple(int(w) for w in row) for row in weights["rows"])
        return cls(as_labels(labels), rows, int(weights["total"]), tuple(weights["reports"]), **about)
