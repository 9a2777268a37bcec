"""Designs whose reports are the rows of a table, stored by number: explicit matrices, listed subsets, blocks.

The linear estimator is least squares weighted by the inverse probability of each report at uniform proportions, which
is the inverse of P where P is square (chai-nayak-2018; nayak-zhai-2019, eq. 6.3).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import SUM_TOLERANCE, Design, Matrix, Method, Scores, Vector
from maskwell.errors import DesignError, EstimationError
from maskwell.limits import MOST_COLUMNS, MOST_WEIGHTS
from maskwell.sampling.plans import Packed, code_type
from maskwell.tables.labels import Label, shown

_RANK_TOLERANCE = 1e-12
_NAMED_CONTRASTS = 3
_HALF = (1 << 32) - 1


def refuse_many_weights(reports: int, categories: int) -> None:
    """Before a matrix is built: an error if it would have too many cells."""
    if reports * categories > MOST_WEIGHTS:
        raise DesignError(
            f"a design that lists its reports may have up to {MOST_WEIGHTS:,} cells; {reports:,} reports of "
            f"{categories:,} categories make more. Use minimax or local_diversity, which need no list, or group the "
            "categories."
        )


@dataclass(frozen=True, eq=False, repr=False)
class RowDesign(Design):
    """What such designs share; a subclass says what its rows are."""

    @cached_property
    @abstractmethod
    def floats(self) -> Matrix:
        """The matrix as floats."""

    def decode(self, packed: Packed) -> list[Any]:
        labels = self.report_labels()
        return [labels[code] for code in packed.tolist()]

    def pack_rows(self, rows: NDArray[np.int64]) -> Packed:
        return rows.astype(code_type(self.report_count()))

    def first_impossible(self, packed: Packed) -> int:
        wrong = packed >= self.report_count()
        wrong[~wrong] = ~self._can_occur[packed[~wrong]]
        return int(np.argmax(wrong)) if wrong.any() else -1

    @cached_property
    def _can_occur(self) -> NDArray[np.bool_]:
        return np.asarray(self.floats.any(axis=1))

    @property
    def count_shape(self) -> tuple[int, ...]:
        return (self.report_count(),)

    def count(self, packed: Packed, weights: Vector | None = None) -> NDArray[Any]:
        from maskwell.sampling.counting import count_codes

        return count_codes(packed, self.report_count(), weights)

    def relative_rows(self, packed: Packed) -> Matrix:
        rows = self.floats[packed]
        relative: Matrix = rows / rows.mean(axis=1, keepdims=True)
        return relative

    def scores(self, method: Method) -> Scores:
        """Least squares, weighted by 1/(P1/k) for ``linear`` and unweighted for ``moments``; equal if P is square."""
        self.require_estimable()
        return RowScores(self.floats, self.estimator(method))

    def estimator(self, method: Method) -> Matrix:
        """L, one column of scores per report, with ``L P`` the identity."""
        uniform = self.floats.mean(axis=1) if method == "linear" else np.ones(self.report_count())
        scale = np.where(uniform > 0, 1 / np.sqrt(np.where(uniform > 0, uniform, 1)), 0)
        inverse = np.linalg.pinv(self.floats * scale[:, None]) * scale
        return inverse.astype(np.float64, copy=False)

    @property
    def added_variance(self) -> float:
        if not self.estimable:
            return math.inf
        return float((self.floats.T @ (self.estimator("linear") ** 2).sum(axis=0)).max()) - 1

    @cached_property
    def estimable(self) -> bool:
        """Whether the reports determine all proportions."""
        values = np.linalg.svd(self.floats, compute_uv=False)
        return len(values) == self.k and bool(values[-1] > _RANK_TOLERANCE * values[0])

    def require_estimable(self) -> None:
        """An error that names what the reports cannot tell, unless they tell everything."""
        if self.estimable:
            return
        contrasts = _null_space(self._exact_matrix())
        named = "; ".join(_describe(vector, self.categories) for vector in contrasts[:_NAMED_CONTRASTS])
        more = f"; and {len(contrasts) - _NAMED_CONTRASTS} more" if len(contrasts) > _NAMED_CONTRASTS else ""
        touched = [c for j, c in enumerate(self.categories) if any(v[j] for v in contrasts)]
        raise EstimationError(
            f"{self.name} cannot estimate the categories {shown(tuple(touched))}: its reports stay the same along "
            f"{named}{more}. Totals that do not change along these can be estimated with estimate_contrast."
        )


@dataclass(frozen=True)
class RowScores:
    """Column z of ``estimator`` holds the scores of report z."""

    matrix: Matrix
    estimator: Matrix

    def mean(self, counts: NDArray[Any]) -> Vector:
        estimate: Vector = self.estimator @ counts / counts.sum()
        return estimate

    def rows(self, packed: Packed) -> Matrix:
        rows: Matrix = self.estimator.T[packed]
        return rows

    def second_moment(self, proportions: Vector) -> Matrix:
        moment: Matrix = (self.estimator * (self.matrix @ proportions)) @ self.estimator.T
        return moment

    def second_moment_diagonal(self, proportions: Vector) -> Vector:
        diagonal: Vector = self.estimator**2 @ (self.matrix @ proportions)
        return diagonal

    def holds_at(self, proportions: Vector) -> bool:
        """Wherever the reports have chances: none negative, and 1 together."""
        return bool(abs(proportions.sum() - 1) <= SUM_TOLERANCE and (self.matrix @ proportions >= 0).all())

    def by_truth(self) -> NDArray[np.float64]:
        moments: NDArray[np.float64] = np.einsum(
            "iz,jz,zt->ijt", self.estimator, self.estimator, self.matrix, optimize=True
        )
        return moments

    def variance_lines(self, proportions: Vector) -> tuple[Vector, Vector]:
        """The other proportions keep their shares of what the j-th leaves; exact for two categories."""
        by_truth = self.estimator**2 @ self.matrix
        own = np.diagonal(by_truth)
        shares = np.clip(proportions, 1e-12, None)
        # The others are summed by themselves: what a share near 1 leaves would drown in a difference.
        others = 1 - np.eye(len(own))
        rest = (by_truth * others) @ shares / (others @ shares)
        return rest, own - rest

    def binomial(self) -> tuple[Vector, Vector] | None:
        """With two reports and two categories, each report's count is binomial."""
        if self.matrix.shape != (2, 2):
            return None
        return np.diagonal(self.matrix), np.array([self.matrix[0, 1], self.matrix[1, 0]])


def farthest_columns(integers: NDArray[np.object_], total: int) -> Fraction:
    """The largest L1 distance between two columns of whole numbers up to 2^64, exactly.

    Each number is two halves of 32 bits, so that differences and their sums stay within 64.
    """
    high, low = (integers >> 32).astype(np.int64), (integers & _HALF).astype(np.int64)
    different = np.unique(np.concatenate([high, low]), axis=1)
    refuse_many_columns(different.shape[1])
    high, low = np.split(different, 2)
    farthest = 0
    for i in range(different.shape[1] - 1):
        above, below = high[:, i, None] - high[:, i + 1 :], low[:, i, None] - low[:, i + 1 :]
        sign = np.where(above != 0, np.sign(above), np.sign(below))
        halves = zip((sign * above).sum(axis=0).tolist(), (sign * below).sum(axis=0).tolist(), strict=True)
        farthest = max(farthest, *((a << 32) + b for a, b in halves))
    return Fraction(farthest, total)


def refuse_many_columns(different: int) -> None:
    """Before all pairs of columns are compared: an error if there are too many."""
    if different > MOST_COLUMNS:
        raise DesignError(
            f"the L1 distance is found by comparing all pairs of {different:,} different columns (limit "
            f"{MOST_COLUMNS:,}); ask for a bound on the parity instead, which needs no pairs."
        )


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
