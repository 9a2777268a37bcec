"""A number that was seen, with masked predictors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.inference.regression.families.family import Family, Moments, Outlook


@dataclass(frozen=True)
class _NormalOutlook(Outlook):
    log_chances: Matrix
    residual: Vector
    precision: Vector

    def moments(self, weights: Matrix) -> Moments:
        w, r, v = weights[:, 0], self.residual, self.precision
        n = len(r)
        a = np.column_stack([r * v, r**2 * v - 1])
        curvature = np.empty((n, 2, 2))
        curvature[:, 0, 0] = v
        curvature[:, 0, 1] = curvature[:, 1, 0] = 2 * r * v
        curvature[:, 1, 1] = 2 * r**2 * v
        outer = a[:, :, None] * a[:, None, :]
        return Moments(w[:, None] * a, w[:, None, None] * curvature, w[:, None, None] * outer)

    def expected(self, weights: Matrix) -> NDArray[np.float64]:
        """Their means over outcomes: far from the maximum residuals say little about the way to it."""
        found = np.zeros((len(self.residual), 2, 2))
        found[:, 0, 0] = weights[:, 0] * self.precision
        found[:, 1, 1] = weights[:, 0] * 2
        return found


@dataclass(frozen=True)
class Normal(Family):
    """A number that was seen: its mean is linear, its scale is fitted along (as its logarithm)."""

    name = "normal"
    numeric = True

    @property
    def predictors(self) -> int:
        return 2

    def maps(self, p: int) -> list[Matrix]:
        mean, scale = np.zeros((p + 1, p + 1)), np.zeros((p + 1, p + 1))
        mean[:p, :p] = np.eye(p)
        scale[p, p] = 1.0
        return [mean, scale]

    def outlook(self, eta: Matrix, outcome: Vector | None) -> Outlook:
        assert outcome is not None
        residual, precision = outcome - eta[:, 0], np.exp(-2 * eta[:, 1])
        logs = -0.5 * np.log(2 * np.pi) - eta[:, 1] - 0.5 * residual**2 * precision
        return _NormalOutlook(logs[:, None], residual, precision)

    def start(self, p: int, shares: Vector) -> Vector:
        """``shares`` are the mean and the standard deviation of the outcome."""
        theta = np.zeros(p + 1)
        theta[0], theta[-1] = shares[0], np.log(shares[1])
        return theta

    def parameter_names(self, terms: Sequence[str], categories: Sequence[Any]) -> list[str]:
        return list(terms)

    def reported(self, p: int) -> int:
        return p

    def mean(self, eta: Matrix) -> Matrix:
        return eta[:, :1]
