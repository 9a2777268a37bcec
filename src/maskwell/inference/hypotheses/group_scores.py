r"""How far groups are from a common population, from the scores of their reports.

At a common population a group's score is the slope of its log-likelihood, scaled by the roots of the shares:
``y = sqrt(share) (P(z | j) / P(z) - 1)`` summed over its reports z. Its covariance is the group's information M,
scaled alike. For a direct question y is Pearson's residual and M is n times a projection; masking shrinks M, and most
where shares are small. The statistic is

    T = sum over groups of 3/2 y' (M + m/2 I)^-1 y,    m = tr(M^2) / tr(M),

which is Pearson's for direct questions, times (n - 1) / n where the spread is that of the pooled reports. Directions
that the reports tell much about count as in Rao's score test, and those they tell little about count for little rather
than drown the others: with 200 categories, most of them empty, Rao's test has next to no power. Nothing is inverted
that may be singular, and T is never negative.

What the common population takes up is removed from the scores (``y - M M_+^+ y_+``, with sums over groups), so that T
measures differences between groups whichever estimate of the common population it is evaluated at. In large groups T
is then a weighted sum of chi-square variables, with weights that follow from the M alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Matrix, Vector

_RANK_TOLERANCE = 1e-10
# Of the shares 1, 1/2, 1/4, … of m this one lost least power against the best of them over a grid of differences.
_RIDGE = 0.5


@dataclass(frozen=True, eq=False)
class GroupScores:
    """``sums[g]`` is the score of group g, ``information[g]`` its covariance under the hypothesis."""

    sums: Matrix
    information: NDArray[np.float64]
    one_design: bool = False
    """Whether the information differs between groups by their sizes alone."""

    @cached_property
    def _halves(self) -> NDArray[np.float64]:
        """For each group a matrix F with ``F F' = 3/2 (M + m/2 I)^-1``."""
        halves = np.zeros_like(self.information)
        for half, matrix in zip(halves, self.information, strict=True):
            trace = float(np.trace(matrix))
            if trace > 0:
                ridge = _RIDGE * float((matrix**2).sum()) / trace * np.eye(len(matrix))
                lower = np.linalg.cholesky(matrix + ridge)
                half[:] = np.sqrt(1 + _RIDGE) * np.linalg.inv(lower).T
        return halves

    @cached_property
    def _common(self) -> NDArray[np.float64]:
        """For each group ``M M_+^+``: the part of all scores together that its own takes up."""
        inverse = np.linalg.pinv(self.information.sum(axis=0), rcond=_RANK_TOLERANCE, hermitian=True)
        return np.asarray(self.information @ inverse)

    def statistic(self, sums: NDArray[np.float64]) -> Any:
        """T of scores given as (…, group, category)."""
        total = sums.sum(axis=-2)
        value = np.zeros(sums.shape[:-2])
        for g, (half, common) in enumerate(zip(self._halves, self._common, strict=True)):
            value = value + (((sums[..., g, :] - total @ common.T) @ half) ** 2).sum(axis=-1)
        return value

    @cached_property
    def observed(self) -> float:
        """T of the groups as they are."""
        return float(self.statistic(self.sums))

    @cached_property
    def weights(self) -> Vector:
        """Of the independent chi-square variables whose sum T is in large groups that do not differ."""
        groups = range(len(self.sums))
        if self.one_design:
            own = np.linalg.eigvalsh(self._halves[0].T @ self.information[0] @ self._halves[0])
            return np.repeat(np.maximum(own, 0.0), len(self.sums) - 1)
        blocks = [[self._half_covariance(g, h) for h in groups] for g in groups]
        return np.maximum(np.linalg.eigvalsh(np.block(blocks)), 0.0)

    def _half_covariance(self, g: int, h: int) -> Matrix:
        """The covariance of two groups' scores in the coordinates in which T is a sum of squares."""
        covariance = -self._common[g] @ self.information[h]
        if g == h:
            covariance = covariance + self.information[g]
        block: Matrix = self._halves[g].T @ covariance @ self._halves[h]
        return block

    def leverage(self, group: int, scores: Matrix) -> float:
        """The most that one report adds to T: for direct questions 1 / (expected count) of the rarest answer."""
        return float(((scores @ self._halves[group]) ** 2).sum(axis=1).max(initial=0.0))


class Comparison(NamedTuple):
    """Scores of the groups, the most that one report adds to T, how T is drawn, and the reports that a draw costs."""

    scores: GroupScores
    leverage: float
    draw: Callable[[int], Vector] | None
    by: str
    cost: int


def scaled(shares: Vector, n: float) -> Vector:
    """Roots of the shares. An estimate of 0 keeps the scale of half a person, so that no direction is lost."""
    roots: Vector = np.sqrt(np.maximum(shares, 0.5 / n))
    return roots
