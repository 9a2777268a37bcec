"""Ordered categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.inference.regression.families.family import Family, Moments, Outlook

_TINY = 1e-300


@dataclass(frozen=True)
class _CumulativeOutlook(Outlook):
    """``mu_j = F(eta_j) - F(eta_(j-1))``: a category touches the two linear predictors around it."""

    log_chances: Matrix
    density: Matrix
    slope: Matrix

    def moments(self, weights: Matrix) -> Moments:
        n, d = self.density.shape
        inverse = np.exp(-self.log_chances)
        a = np.zeros((n, d + 1, d))
        second = np.zeros((n, d, d))  # the sum over outcomes of w mu'' / mu
        for r in range(d):
            a[:, r, r] = self.density[:, r] * inverse[:, r]
            a[:, r + 1, r] = -self.density[:, r] * inverse[:, r + 1]
            second[:, r, r] = self.slope[:, r] * (weights[:, r] * inverse[:, r] - weights[:, r + 1] * inverse[:, r + 1])
        gradient = np.einsum("nj,njr->nr", weights, a)
        outer = np.einsum("nj,njr,njs->nrs", weights, a, a)
        return Moments(gradient, outer - second, outer)


@dataclass(frozen=True)
class Cumulative(Family):
    """Ordered categories: ``logit P(at most j) = threshold_j - x beta``; a positive effect means higher categories."""

    name = "cumulative"
    intercept = False

    @property
    def predictors(self) -> int:
        return self.k - 1

    def maps(self, p: int) -> list[Matrix]:
        maps = []
        for r in range(self.k - 1):
            block = np.zeros((p + 1, p + self.k - 1))
            block[:p, self.k - 1 :] = -np.eye(p)
            block[p, r] = 1.0
            maps.append(block)
        return maps

    def outlook(self, eta: Matrix, outcome: Vector | None) -> Outlook:
        from maskwell.numerics.normal import logistic

        below, above = logistic(eta), logistic(-eta)
        density = below * above
        n = len(eta)
        lower = np.column_stack([np.zeros(n), below, np.ones(n)])
        upper = np.column_stack([np.ones(n), above, np.zeros(n)])
        # Where both limits are beyond the middle, the difference of the upper tails keeps its digits.
        chances = np.where(lower[:, :-1] > 0.5, upper[:, :-1] - upper[:, 1:], lower[:, 1:] - lower[:, :-1])
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(chances > _TINY, np.log(np.maximum(chances, _TINY)), -np.inf)
        return _CumulativeOutlook(logs, density, density * (above - below))

    def start(self, p: int, shares: Vector) -> Vector:
        safe = np.maximum(shares, 0.02)
        below = np.cumsum(safe / safe.sum())[:-1]
        return np.concatenate([np.log(below / (1 - below)), np.zeros(p)])

    def parameter_names(self, terms: Sequence[str], categories: Sequence[Any]) -> list[str]:
        thresholds = [f"{low}|{high}" for low, high in pairwise(categories)]
        return [*thresholds, *terms]

    def mean(self, eta: Matrix) -> Matrix:
        return np.exp(self.outlook(eta, None).log_chances)
