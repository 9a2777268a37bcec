"""An event or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.inference.regression.families.family import Family, Moments, Outlook
from maskwell.inference.regression.families.links import Link


@dataclass(frozen=True)
class _BinaryOutlook(Outlook):
    """Outcome 0 is the event, with chance F(eta); outcome 1 is none."""

    log_chances: Matrix
    first: Matrix
    second: Matrix

    def moments(self, weights: Matrix) -> Moments:
        gradient = (weights * self.first).sum(axis=1)
        curvature = -(weights * self.second).sum(axis=1)
        outer = (weights * self.first**2).sum(axis=1)
        return Moments(gradient[:, None], curvature[:, None, None], outer[:, None, None])


@dataclass(frozen=True)
class Binary(Family):
    """An event or none, with one linear predictor and a link."""

    link: Link
    called: str

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the link."""
        return self.called

    @property
    def predictors(self) -> int:
        return 1

    def maps(self, p: int) -> list[Matrix]:
        return [np.eye(p + 1, p)]

    def outlook(self, eta: Matrix, outcome: Vector | None) -> Outlook:
        logs, first, second = map(np.column_stack, zip(*self.link.tails(eta[:, 0]), strict=True))
        return _BinaryOutlook(logs, first, second)

    def start(self, p: int, shares: Vector) -> Vector:
        theta = np.zeros(p)
        theta[0] = self.link.inverse(min(max(float(shares[0]), 0.02), 0.98))
        return theta

    def parameter_names(self, terms: Sequence[str], categories: Sequence[Any]) -> list[str]:
        return list(terms)

    def mean(self, eta: Matrix) -> Matrix:
        chance = self.link.chance(eta[:, 0])
        return np.column_stack([chance, 1 - chance])


@dataclass(frozen=True)
class _LeastSquares(Outlook):
    """The estimating function (event - eta) of least squares, whose solution needs no chance to lie within [0, 1]."""

    log_chances: Matrix
    eta: Vector

    def moments(self, weights: Matrix) -> Moments:
        total = weights.sum(axis=1)
        gradient = weights[:, 0] - total * self.eta
        outer = weights[:, 0] * (1 - self.eta) ** 2 + weights[:, 1] * self.eta**2
        return Moments(gradient[:, None], total[:, None, None], outer[:, None, None])


@dataclass(frozen=True)
class LinearProbability(Binary):
    """The chance itself is linear. Its corrected scores are those of least squares."""

    def corrected_outlook(self, eta: Matrix, outcome: Vector | None) -> Outlook:
        return _LeastSquares(np.zeros((len(eta), 2)), eta[:, 0])
