"""Scores of linear estimators: each report has a score per category, and the estimate is the mean score.

``TableScores`` needs nothing but the matrix; designs with a closed form have scores of their own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.numbers import Exact, Matrix, Vector
from maskwell.null_spaces import null_space
from maskwell.sampling.samplers import Packed
from maskwell.tables.labels import Label, shown

SUM_TOLERANCE = 1e-9  # by which proportions may miss a sum of 1
_NAMED_CONTRASTS = 3
Method = Literal["linear", "moments"]


class Scores(ABC):
    """A linear estimator."""

    @abstractmethod
    def mean(self, counts: NDArray[Any]) -> Vector:
        """The weighted sum of scores over a tally's counts, divided by the sum of weights."""

    @abstractmethod
    def rows(self, packed: Packed) -> Matrix:
        """The scores of each packed report, one row per report."""

    @abstractmethod
    def extremes(self) -> tuple[float, float]:
        """The least and the largest score of any report that can occur, in any category."""

    @abstractmethod
    def second_moment(self, proportions: Vector) -> Matrix:
        """E[L L'] of one report's scores L when the population has these proportions."""

    def contrast_moment(self, weights: Vector, proportions: Vector) -> float:
        """E[(w L)^2] of a weighted sum of one report's scores, without the k x k matrix where that is possible."""
        return float(weights @ self.second_moment(proportions) @ weights)

    @abstractmethod
    def second_moment_diagonal(self, proportions: Vector) -> Vector:
        """Its diagonal alone, without the k x k matrix."""

    @abstractmethod
    def mean_squares(self) -> Matrix:
        """Entry (i, j): the mean square of the score for category i in reports of people whose truth is j."""

    @abstractmethod
    def holds_at(self, proportions: Vector) -> bool:
        """Whether ``second_moment - p p'`` is sure to be a covariance at p: in the simplex always, outside it at times.

        An estimate from a design with as many reports as categories can lie outside and still fit the reports exactly.
        """

    @abstractmethod
    def variance_lines(self, proportions: Vector) -> tuple[Vector, Vector]:
        """Intercepts and slopes of E[L_j^2] as a function of the j-th proportion."""

    def by_truth(self) -> NDArray[np.float64]:
        """``T[i, j, t]``: E[L_i L_j] of one report when the truth is t."""
        units = np.eye(len(self.mean_squares()))
        return np.stack([self.second_moment(unit) for unit in units], axis=2)

    def common_line(self) -> tuple[float, float] | None:
        """Intercept and slope of E[L_j^2] where they are the same for all categories and whatever the others are."""
        return None

    def by_size(self) -> tuple[Vector, Vector] | None:
        """The scores of members and of the others by set size, where nothing else matters."""
        return None

    def binomial(self) -> tuple[Vector, Vector] | None:
        """Vectors ``A, B`` such that ``n (B + (A - B) estimate)`` is a binomial count by category, or None."""
        return None

    def over(self, packed: Packed) -> Self:
        """The same for counts of these distinct reports, where a tally has no other counts to average over."""
        return self


@dataclass(frozen=True)
class TableScores(Scores):
    """Column z of ``estimator`` holds the scores of report z."""

    matrix: Matrix
    estimator: Matrix

    def mean(self, counts: NDArray[Any]) -> Vector:
        estimate: Vector = self.estimator @ counts / counts.sum()
        return estimate

    def rows(self, packed: Packed) -> Matrix:
        rows: Matrix = self.estimator.T[packed]
        return rows

    def extremes(self) -> tuple[float, float]:
        values = self.estimator[:, self.matrix.any(axis=1)]
        return float(values.min()), float(values.max())

    def second_moment(self, proportions: Vector) -> Matrix:
        moment: Matrix = (self.estimator * (self.matrix @ proportions)) @ self.estimator.T
        return moment

    def second_moment_diagonal(self, proportions: Vector) -> Vector:
        diagonal: Vector = self.estimator**2 @ (self.matrix @ proportions)
        return diagonal

    def mean_squares(self) -> Matrix:
        squares: Matrix = self.estimator**2 @ self.matrix
        return squares

    def holds_at(self, proportions: Vector) -> bool:
        """Wherever the reports have chances: none negative, and 1 together."""
        return bool(abs(proportions.sum() - 1) <= SUM_TOLERANCE and (self.matrix @ proportions >= 0).all())

    def variance_lines(self, proportions: Vector) -> tuple[Vector, Vector]:
        """The other proportions keep their shares of what the j-th leaves; exact for two categories."""
        by_truth = self.mean_squares()
        squares = np.diagonal(by_truth)
        shares = np.clip(proportions, 1e-12, None)
        # The others are summed by themselves: what a share near 1 leaves would drown in a difference.
        others = 1 - np.eye(len(squares))
        rest = (by_truth * others) @ shares / (others @ shares)
        return rest, squares - rest

    def binomial(self) -> tuple[Vector, Vector] | None:
        """With two reports and two categories, each report's count is binomial."""
        if self.matrix.shape != (2, 2):
            return None
        return np.diagonal(self.matrix), np.array([self.matrix[0, 1], self.matrix[1, 0]])


class FromInclusions(Scores):
    """Scores of inclusion counts: each category's count is binomial, with chances A for the truth and B for others."""

    inclusion: tuple[float, float]

    @property
    @abstractmethod
    def k(self) -> int:
        """The number of categories."""

    def common_line(self) -> tuple[float, float]:
        a, b = self.inclusion
        return b * (1 - b) / (a - b) ** 2, (1 - 2 * b) / (a - b)

    def variance_lines(self, proportions: Vector) -> tuple[Vector, Vector]:
        intercept, slope = self.common_line()
        return np.full(self.k, intercept), np.full(self.k, slope)

    def binomial(self) -> tuple[Vector, Vector]:
        ones = np.ones(self.k)
        return self.inclusion[0] * ones, self.inclusion[1] * ones


@dataclass(frozen=True)
class InclusionScores(FromInclusions, TableScores):
    """The same from a table."""

    inclusion: tuple[float, float]

    @property
    def k(self) -> int:
        return int(self.matrix.shape[1])


def least_squares(matrix: Matrix, method: Method) -> Matrix:
    """L, one column of scores per report, with ``L P`` the identity.

    Weighted by the inverse probability of each report at uniform proportions for ``linear`` (chai-nayak-2018;
    nayak-zhai-2019, eq. 6.3) and unweighted for ``moments``; either is the inverse where P is square.
    """
    uniform = matrix.mean(axis=1) if method == "linear" else np.ones(len(matrix))
    scale = np.where(uniform > 0, 1 / np.sqrt(np.where(uniform > 0, uniform, 1)), 0)
    inverse = np.linalg.pinv(matrix * scale[:, None]) * scale
    return inverse.astype(np.float64, copy=False)


def what_cannot_be_told(name: str, matrix: Exact, categories: tuple[Label, ...]) -> str:
    """Which changes of the proportions no report shows."""
    contrasts = null_space(matrix)
    named = "; ".join(_describe(vector, categories) for vector in contrasts[:_NAMED_CONTRASTS])
    more = f"; and {len(contrasts) - _NAMED_CONTRASTS} more" if len(contrasts) > _NAMED_CONTRASTS else ""
    touched = [c for j, c in enumerate(categories) if any(v[j] for v in contrasts)]
    return (
        f"{name} cannot estimate the categories {shown(tuple(touched))}: its reports stay the same along "
        f"{named}{more}. Totals that do not change along these can be estimated with estimate_contrast."
    )


def _describe(vector: list[Any], categories: tuple[Label, ...]) -> str:
    terms = [(c, x) for c, x in zip(categories, vector, strict=True) if x]
    text = " ".join(f"{'+' if x > 0 else '-'} {'' if abs(x) == 1 else f'{float(abs(x)):.3g} '}{c!r}" for c, x in terms)
    return text.removeprefix("+ ")
