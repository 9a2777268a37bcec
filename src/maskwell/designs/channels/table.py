"""Channels that are a table of whole numbers, each column with the same total."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from maskwell.designs.channels.base import Channel, least_support, refuse_many_columns
from maskwell.designs.channels.numbers import Exact, Matrix
from maskwell.designs.channels.rows import Exposure, RowClass, row_parity
from maskwell.errors import DesignError
from maskwell.limits import MOST_WEIGHTS
from maskwell.sampling.samplers import TOTAL

_HALF = (1 << 32) - 1


@dataclass(frozen=True, eq=False)
class TableChannel(Channel):
    """Integer weights by (report, truth), each column summing to ``total``, which is at most 2^64."""

    weights: Exact
    total: int

    @property
    def unit(self) -> Fraction:  # type: ignore[override]
        return Fraction(1, TOTAL) if self.total == TOTAL else Fraction(0)

    def exact(self) -> Exact:
        shares = np.vectorize(lambda weight: Fraction(weight, self.total), otypes=[object])(self.weights)
        return np.asarray(shares)

    @cached_property
    def floats(self) -> Matrix:
        self.refuse_large("matrix()")
        return (self.weights / self.total).astype(np.float64)  # Python rounds a quotient of integers once

    def exact_row(self, row: int) -> list[Fraction]:
        return [Fraction(weight, self.total) for weight in self.weights[row]]

    def report_count(self) -> int:
        return len(self.weights)

    def row_classes(self) -> list[RowClass]:
        return [RowClass(at, row_parity(row), 1) for at, row in enumerate(self.weights)]

    # Whole numbers answer what fractions would, a hundred times as fast.

    def exposure(self) -> Exposure:
        proving = np.flatnonzero(np.count_nonzero(self.weights, axis=1) == 1)
        return Exposure(Fraction(max(self.weights[proving].sum(axis=0) + 0), self.total), tuple(proving.tolist()))

    @cached_property
    def diversity(self) -> int:
        return least_support(self.weights)

    def multiples(self) -> Exact:
        return self.weights

    def best_guesses(self) -> Fraction:
        return Fraction(self.weights.max(axis=1).sum(), self.total)

    @cached_property
    def column_distance(self) -> Fraction:
        """Each number is two halves of 32 bits, so that differences and their sums stay within 64."""
        high, low = (self.weights >> 32).astype(np.int64), (self.weights & _HALF).astype(np.int64)
        columns = np.concatenate([high, low])
        # By their bytes: np.unique would make a field of every row, of which there may be a million.
        different = columns[:, list({column.tobytes(): at for at, column in enumerate(columns.T)}.values())]
        refuse_many_columns(different.shape[1])
        high, low = np.split(different, 2)
        farthest = 0
        for i in range(different.shape[1] - 1):
            above, below = high[:, i, None] - high[:, i + 1 :], low[:, i, None] - low[:, i + 1 :]
            sign = np.where(above != 0, np.sign(above), np.sign(below))
            halves = zip((sign * above).sum(axis=0).tolist(), (sign * below).sum(axis=0).tolist(), strict=True)
            farthest = max(farthest, *((a << 32) + b for a, b in halves))
        return Fraction(farthest, self.total)


def refuse_many_weights(reports: int, categories: int) -> None:
    """Before a table is built: an error if it would have too many cells."""
    if reports * categories > MOST_WEIGHTS:
        raise DesignError(
            f"a design that lists its reports may have up to {MOST_WEIGHTS:,} cells; {reports:,} reports of "
            f"{categories:,} categories make more. Use minimax or local_diversity, which need no list, or group the "
            "categories."
        )
