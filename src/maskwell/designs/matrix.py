"""Explicit matrices: any ``P[report, truth]``, given entry by entry."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from maskwell.designs import stored
from maskwell.designs.base import Matrix
from maskwell.designs.rounding import row_parity
from maskwell.designs.rows import RowDesign, farthest_columns, refuse_many_weights
from maskwell.errors import DesignError
from maskwell.sampling.plans import TOTAL, RowPlan
from maskwell.tables.labels import Label, as_labels, check_reports


@dataclass(frozen=True, eq=False, repr=False)
class MatrixDesign(RowDesign):
    """Integer weights by (report, truth), each column summing to ``total``."""

    weights: tuple[tuple[int, ...], ...]
    total: int
    reports: tuple[Label, ...]

    kind = "matrix"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.weights:
            raise DesignError("weights must hold a row for each report.")
        refuse_many_weights(len(self.weights), self.k)
        for row in self.weights:
            stored.integers(row, "the weights of a report")
        if any(len(row) != self.k for row in self.weights) or len(self.reports) != len(self.weights):
            raise DesignError(
                f"P must have one column per category ({self.k}) and one report label per row ({len(self.weights)})."
            )
        check_reports(self.reports)
        if type(self.total) is not int or not 1 <= self.total <= TOTAL:
            raise DesignError("total must be a whole number between 1 and 2^64.")
        if any(sum(column) != self.total for column in zip(*self.weights, strict=True)):
            raise DesignError(f"weights must be non-negative integers with columns that sum to {self.total}.")

    @cached_property
    def _integers(self) -> NDArray[np.object_]:
        return np.array(self.weights, dtype=object)

    # Privacy.

    def exact_parity(self) -> Fraction | float:
        return max(row_parity(row) for row in self._integers)

    def column_distance(self) -> Fraction:
        return farthest_columns(self._integers, self.total)

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
        total, rows, reports = stored.fields(weights, "total", "rows", "reports")
        refuse_many_weights(len(stored.listed(rows, "rows")), len(labels))
        return cls(
            as_labels(labels),
            tuple(stored.weights(row, "a row") for row in rows),
            stored.weight(total),
            tuple(stored.listed(reports, "reports")),
            **about,
        )
