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
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import DesignError
from maskwell.sampling.entropy import Codes, Words
from maskwell.sampling.plans import TOTAL, Packed, code_type

LARGEST_TOTAL = 1 << 63
"""Up to which weights are made. Those of a design may sum to 2^64, and are kept."""


@dataclass(frozen=True)
class Stage:
    """``columns[truth][report]``: whole-number weights of one draw."""

    columns: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        for column in self.columns:
            if min(column) < 0 or not 0 < sum(column) <= TOTAL or len(column) != len(self.columns):
                raise DesignError(f"weights must be non-negative, k of them by column, and sum to at most {TOTAL}.")

    def matrix(self) -> NDArray[np.object_]:
        """``P[report, truth]`` as fractions."""
        return np.array([[Fraction(w, sum(column)) for w in column] for column in self.columns], dtype=object).T

    @cached_property
    def plan(self) -> ColumnPlan:
        """How it is sampled."""
        return ColumnPlan(self.columns)


def stage(columns: Sequence[Sequence[int]]) -> Stage:
    """A stage with its weights reduced by what they share."""
    reduced = []
    for column in columns:
        common = math.gcd(*column)
        reduced.append(tuple(int(w) // common for w in column))
    return Stage(tuple(reduced))


def identity(k: int) -> Stage:
    """The stage that changes nothing."""
    return Stage(tuple(tuple(int(i == j) for i in range(k)) for j in range(k)))


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
        matrix = self.stages[0].matrix().astype(float)
        for later in self.stages[1:]:
            matrix = later.matrix().astype(float) @ matrix
        return matrix

    def diagonal(self) -> list[Fraction]:
        """The exact chance that each category stays as it is."""
        if len(self.stages) == 1:
            return [Fraction(column[j], sum(column)) for j, column in enumerate(self.stages[0].columns)]
        return list(np.diagonal(self.exact()))

    def keeps(self, counts: Sequence[int]) -> bool:
        """Whether ``P T = T`` for these frequencies, decided exactly."""
        expected: Any = np.array([Fraction(int(t)) for t in counts], dtype=object)
        for part in self.stages:
            expected = part.matrix() @ expected
        return bool(all(expected == np.array(counts, dtype=object)))


@dataclass(frozen=True, eq=False)
class ColumnPlan:
    """A report by whole-number weights that depend on the truth, from pairs of words with exact rejection."""

    columns: tuple[tuple[int, ...], ...]
    width = 4

    @cached_property
    def _arrays(self) -> list[tuple[NDArray[np.int64], NDArray[np.uint64], np.uint64, np.uint64]]:
        """By truth: the possible reports, their cumulative weights but the last, the total, the largest fair number.

        A total of 2^64 stands as 0, as no 64-bit number holds it.
        """
        out = []
        for column in self.columns:
            possible = [i for i, w in enumerate(column) if w]
            total = sum(column)
            cumulative = list(accumulate(column[i] for i in possible))[:-1]
            # A number is used if it lies below the largest multiple of the total.
            largest = TOTAL - TOTAL % total - 1
            out.append(
                (np.array(possible), np.array(cumulative, np.uint64), np.uint64(total % TOTAL), np.uint64(largest))
            )
        return out

    def empty(self, n: int) -> Packed:
        return np.empty(n, code_type(len(self.columns)))

    def run(self, truth: Codes, words: Words, stride: int, out: Packed, exhausted: NDArray[np.uint8]) -> None:
        slots = words[: len(truth) * stride].reshape(len(truth), stride)
        order = np.argsort(truth, kind="stable")
        edges = np.searchsorted(truth[order], np.arange(len(self.columns) + 1))
        for j in np.flatnonzero(np.diff(edges)).tolist():
            possible, cumulative, total, largest = self._arrays[j]
            pending = order[edges[j] : edges[j + 1]]
            for at in range(0, stride - 1, 2):
                number = slots[pending, at].astype(np.uint64) | slots[pending, at + 1].astype(np.uint64) << np.uint64(
                    32
                )
                fair = number <= largest
                below = number[fair] % total if total else number[fair]
                out[pending[fair]] = possible[np.searchsorted(cumulative, below, side="right")]
                pending = pending[~fair]
                if not len(pending):
                    break
            exhausted[pending] = 1
