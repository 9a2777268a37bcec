"""Categories without an order, against the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.inference.regression.families.family import Family, Moments, Outlook


@dataclass(frozen=True)
class _MultinomialOutlook(Outlook):
    log_chances: Matrix

    def moments(self, weights: Matrix) -> Moments:
        p = np.exp(self.log_chances)[:, 1:]
        w = weights[:, 1:]
        total = weights.sum(axis=1)[:, None]
        gradient = w - total * p
        spread = _diagonals(p) - p[:, :, None] * p[:, None, :]
        crossed = w[:, :, None] * p[:, None, :]
        outer = _diagonals(w) - crossed - crossed.transpose(0, 2, 1) + total[:, :, None] * p[:, :, None] * p[:, None, :]
        return Moments(gradient, total[:, :, None] * spread, outer)

    def observed(self, posterior: Matrix) -> tuple[Matrix, NDArray[np.float64]]:
        """The spread of the prior chances less that of the posterior ones: few passes over the records."""
        p, t = np.exp(self.log_chances[:, 1:]), posterior[:, 1:]
        spread = t[:, :, None] * t[:, None, :]
        spread -= p[:, :, None] * p[:, None, :]
        gradient = t - p
        each = np.arange(p.shape[1])
        spread[:, each, each] -= gradient
        return gradient, spread


@dataclass(frozen=True)
class Multinomial(Family):
    """A linear predictor for each category but the first: its log odds against the first."""

    name = "multinomial"

    @property
    def predictors(self) -> int:
        return self.k - 1

    def maps(self, p: int) -> list[Matrix]:
        blocks = []
        for r in range(self.k - 1):
            block = np.zeros((p + 1, p * (self.k - 1)))
            block[:p, r * p : (r + 1) * p] = np.eye(p)
            blocks.append(block)
        return blocks

    def outlook(self, eta: Matrix, outcome: Vector | None) -> Outlook:
        from maskwell.inference.regression.kernels import log_softmax

        return _MultinomialOutlook(log_softmax(eta))

    def start(self, p: int, shares: Vector) -> Vector:
        theta = np.zeros((self.k - 1, p))
        safe = np.maximum(shares, 0.02)
        theta[:, 0] = np.log(safe[1:] / safe[0])
        return theta.ravel()

    def parameter_names(self, terms: Sequence[str], categories: Sequence[Any]) -> list[str]:
        return [f"{category}: {term}" for category in categories[1:] for term in terms]

    def mean(self, eta: Matrix) -> Matrix:
        return np.exp(self.outlook(eta, None).log_chances)


def _diagonals(values: Matrix) -> NDArray[np.float64]:
    n, d = values.shape
    wide = np.zeros((n, d, d))
    wide[:, np.arange(d), np.arange(d)] = values
    return wide
