"""Channels of square matrices, one after the other, whose columns have totals of their own.

A matrix that leaves every expected frequency as it was has fractions of the true frequencies for entries, so that no
one total serves all its columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from operator import matmul

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.base import Channel
from maskwell.designs.channels.numbers import Exact, Matrix, Vector
from maskwell.errors import DesignError
from maskwell.sampling.samplers import TOTAL

Weights = NDArray[np.uint64]

_HALF, _LOW_HALF = np.uint64(32), np.uint64((1 << 32) - 1)


@dataclass(frozen=True, eq=False)
class StageChannel(Channel):
    """``weights[report, truth]``: whole numbers of 64 bits, as many reports as truths, a total for each column."""

    weights: Weights

    def __post_init__(self) -> None:
        if min(self.totals, default=0) <= 0 or max(self.totals) > TOTAL or len(set(self.weights.shape)) != 1:
            raise DesignError(f"weights must be non-negative, k of them by column, and sum to at most {TOTAL}.")

    @cached_property
    def totals(self) -> list[int]:
        """The sum of each truth's weights. It may be 2^64, which is why halves are summed."""
        low = (self.weights & _LOW_HALF).sum(axis=0).tolist()
        high = (self.weights >> _HALF).sum(axis=0).tolist()
        return [(h << 32) + l for h, l in zip(high, low, strict=True)]

    def report_count(self) -> int:
        return self.k

    def exact(self) -> Exact:
        columns = zip(self.weights.T.tolist(), self.totals, strict=True)
        return np.array([[Fraction(w, total) for w in column] for column, total in columns], dtype=object).T

    @cached_property
    def floats(self) -> Matrix:
        return self.weights.astype(np.float64) / np.array(self.totals, np.float64)

    def expected(self, counts: Sequence[Fraction]) -> list[Fraction]:
        """The exact expected counts of the reports, from those of the truths.

        Counts over totals have one denominator, and a small one where frequencies are kept; the rest is whole numbers.
        """
        shares = [count / total for count, total in zip(counts, self.totals, strict=True)]
        denominator = math.lcm(*(share.denominator for share in shares))
        whole = np.array([int(share * denominator) for share in shares], dtype=object)
        return [Fraction(int(row.astype(object) @ whole), denominator) for row in self.weights]


@dataclass(frozen=True, eq=False)
class ChainedChannel(Channel):
    """One stage after the other: what each reports is the truth of the next."""

    stages: tuple[StageChannel, ...]

    def report_count(self) -> int:
        return self.k

    def exact(self) -> Exact:
        return reduce(matmul, (stage.exact() for stage in reversed(self.stages)))

    @cached_property
    def floats(self) -> Matrix:
        return reduce(matmul, (stage.floats for stage in reversed(self.stages)))

    def diagonal(self) -> list[Fraction]:
        """The exact chance that each category stays as it is.

        After several stages its denominator has as many digits as all columns together: ``staying`` is enough to show.
        """
        if len(self.stages) == 1:
            only = self.stages[0]
            return [Fraction(w, t) for w, t in zip(np.diagonal(only.weights).tolist(), only.totals, strict=True)]
        return list(np.diagonal(self.exact()))

    @property
    def staying(self) -> Vector:
        """The chance that each category stays as it is, as a float."""
        return np.diagonal(self.floats)

    def keeps(self, counts: Sequence[int]) -> bool:
        """Whether ``P T = T`` for these frequencies, decided exactly."""
        true = [Fraction(int(t)) for t in counts]
        expected = true
        for stage in self.stages:
            expected = stage.expected(expected)
        return expected == true


def stage(weights: Sequence[Sequence[int]] | NDArray[np.integer]) -> StageChannel:
    """A stage with weights ``[report, truth]``, each column reduced by what its weights share."""
    try:
        whole = np.asarray(weights, np.uint64)
    except OverflowError:
        # Weights of more than 64 bits may still share enough.
        whole = np.array([_reduced(column) for column in zip(*weights, strict=True)], np.uint64).T
    reduced = whole // np.maximum(np.gcd.reduce(whole, axis=0), np.uint64(1))
    return StageChannel(reduced.shape[1], "a stage", reduced)


def _reduced(column: Sequence[int]) -> list[int]:
    common = max(1, math.gcd(*column))
    reduced = [int(w) // common for w in column]
    if max(reduced) >= TOTAL or min(reduced) < 0:
        raise DesignError(f"weights must be non-negative, k of them by column, and sum to at most {TOTAL}.")
    return reduced


def chained(*stages: StageChannel) -> ChainedChannel:
    """The channel of these stages, in the order in which a value goes through them."""
    return ChainedChannel(stages[0].k, "post-randomization", stages)
