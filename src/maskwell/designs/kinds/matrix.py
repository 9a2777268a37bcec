"""Explicit matrices: any ``P[report, truth]``, given entry by entry."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from maskwell.designs import stored
from maskwell.designs.base import Design
from maskwell.designs.channels import TableChannel
from maskwell.designs.channels.table import refuse_many_weights
from maskwell.errors import DesignError
from maskwell.sampling.samplers import TOTAL, RowSampler
from maskwell.tables.labels import Label, as_labels, check_reports


@dataclass(frozen=True, eq=False, repr=False)
class MatrixDesign(Design):
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
    def channel(self) -> TableChannel:
        return TableChannel(self.k, self.title, np.array(self.weights, dtype=object), self.total)

    @cached_property
    def sampler(self) -> RowSampler:
        return RowSampler.of_design(self.channel.weights, self.total)

    def report_labels(self) -> list[Any]:
        return list(self.reports)

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
