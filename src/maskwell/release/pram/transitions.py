"""Transition matrices as the sampler uses them: whole numbers by column, drawn one stage after the other.

Columns have totals of their own. That keeps matrices exact whose entries are fractions of the true frequencies, such as
those that leave every expected frequency as it was.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import DesignError
from maskwell.sampling.samplers import TOTAL, RowSampler

LARGEST_TOTAL = 1 << 63
"""Up to which weights are made. Those of a design may sum to 2^64, and are kept."""

Weights = NDArray[np.uint64]

_WORDS = 4  # of a slot: two numbers, whatever the totals are (docs/release_format.md)
_LOW_HALF = np.uint64((1 << 32) - 1)


@dataclass(frozen=True, eq=False)
class Stage:
    """``weights[report, truth]``: whole-number weights of one draw, in 64 bits each."""

    weights: Weights

    def __post_init__(self) -> None:
        if min(self.totals, default=0) <= 0 or max(self.totals) > TOTAL or len(set(self.weights.shape)) != 1:
            raise DesignError(f"weights must be non-negative, k of them by column, and sum to at most {TOTAL}.")

    @cached_property
    def totals(self) -> list[int]:
        """The sum of each truth's weights. It may be 2^64, which is why halves are summed."""
        low = (self.weights & _LOW_HALF).sum(axis=0).tolist()
        high = (self.weights >> np.uint64(32)).sum(axis=0).tolist()
        return [(h << 32) + l for h, l in zip(high, low, strict=True)]

    def matrix(self) -> NDArray[np.object_]:
        """``P[report, truth]`` as fractions."""
        columns = zip(self.weights.T.tolist(), self.totals, strict=True)
        return np.array([[Fraction(w, total) for w in column] for column, total in columns], dtype=object).T

    @cached_property
    def floats(self) -> NDArray[np.float64]:
        """``P[report, truth]`` as floats."""
        return self.weights.astype(np.float64) / np.array(self.totals, np.float64)

    def expected(self, counts: Sequence[Fraction]) -> list[Fraction]:
        """The exact expected counts of the reports, from those of the truths.

        Counts over totals have one denominator, and a small one where frequencies are kept; the rest is whole numbers.
        """
        shares = [count / total for count, total in zip(counts, self.totals, strict=True)]
        denominator = math.lcm(*(share.denominator for share in shares))
        whole = np.array([int(share * denominator) for share in shares], dtype=object)
        return [Fraction(int(row.astype(object) @ whole), denominator) for row in self.weights]

    @cached_property
    def sampler(self) -> RowSampler:
        """How it is sampled."""
        return RowSampler(self.weights, self.totals, _WORDS)


def stage(weights: Any) -> Stage:
    """A stage with weights ``[report, truth]``, each column reduced by what its weights share."""
    try:
        whole = np.asarray(weights, np.uint64)
    except OverflowError:
        # Weights of more than 64 bits may still share enough.
        whole = np.array([_reduced(column) for column in zip(*weights, strict=True)], np.uint64).T
    return Stage(whole // np.maximum(np.gcd.reduce(whole, axis=0), np.uint64(1)))


def _reduced(column: Sequence[int]) -> list[int]:
    common = max(1, math.gcd(*column))
    reduced = [int(w) // common for w in column]
    if max(reduced) >= TOTAL or min(reduced) < 0:
        raise DesignError(f"weights must be non-negative, k of them by column, and sum to at most {TOTAL}.")
    return reduced


def identity(k: int) -> Stage:
    """The stage that changes nothing."""
    return Stage(np.eye(k, dtype=np.uint64))


@dataclass(frozen=True)
class Transition:
    """The stages that a value goes through."""

    stages: tuple[Stage, ...]

    def exact(self) -> NDArray[np.object_]:
        """``P[report, truth]`` of all stages together, as fractions."""
        matrix = self.stages[0].matrix()
        for later in self.stages[1:]:
            matrix = later.matrix() @ matrix
        return matrix

    @cached_property
    def floats(self) -> NDArray[np.float64]:
        """``P[report, truth]`` as floats."""
        matrix = self.stages[0].floats
        for later in self.stages[1:]:
            matrix = later.floats @ matrix
        return matrix

    def diagonal(self) -> list[Fraction]:
        """The exact chance that each category stays as it is.

        After several stages its denominator has as many digits as all columns together: ``staying`` is enough to show.
        """
        if len(self.stages) == 1:
            only = self.stages[0]
            return [Fraction(w, t) for w, t in zip(np.diagonal(only.weights).tolist(), only.totals, strict=True)]
        return list(np.diagonal(self.exact()))

    @cached_property
    def staying(self) -> NDArray[np.float64]:
        """The chance that each category stays as it is, as a float."""
        if len(self.stages) == 1:
            return np.diagonal(self.stages[0].floats)
        return np.diagonal(self.floats)

    def keeps(self, counts: Sequence[int]) -> bool:
        """Whether ``P T = T`` for these frequencies, decided exactly."""
        true = [Fraction(int(t)) for t in counts]
        expected = true
        for part in self.stages:
            expected = part.expected(expected)
        return expected == true
