"""Corrected scores: estimating equations of the truth, unbiased when each category is weighted by the report's score.

For any function psi of the truth, ``sum_j L_j(z) psi(j)`` has the same mean as ``psi(truth)``. So
``sum_i w_i sum_cj L_c(z_i) L_j(z_i) psi(x_i(c), j; beta) = 0`` needs no model of the masked predictors. The price is a
larger variance, and a Hessian that sampling can make indefinite, which is then said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.inference.regression.families.family import Family, Moments
from maskwell.inference.regression.frame.model_frame import ModelFrame
from maskwell.inference.regression.likelihood import Evaluation, gathered, linear_predictors, pulled

_RECORDS_AT_ONCE = 1 << 14


@dataclass(frozen=True, eq=False)
class Corrected:
    """The corrected scores of a model as a function of the family's parameters."""

    frame: ModelFrame
    family: Family
    weights: Vector

    def evaluate(self, theta: Vector, *, scores: bool = False) -> Evaluation:
        """The sum of the scores and their negative Jacobian; there is no likelihood, so the value is 0."""
        maps = self.family.maps(self.frame.matrices.shape[2])
        q = maps[0].shape[1]
        gradient, hessian = np.zeros(q), np.zeros((q, q))
        kept = np.empty((self.frame.n, q)) if scores else None
        for part in self._parts():
            w = self.weights[part]
            score = np.zeros((len(w), q))
            for c in range(len(self.frame.predictors)):
                x = self.frame.matrices[c, part]
                moments = self._moments(linear_predictors(x, maps, theta), part)
                weight = self.frame.predictors.scores[part, c]
                score += pulled(x, maps, moments.gradient) * weight[:, None]
                hessian += gathered(x, maps, moments.curvature, w * weight)
            gradient += w @ score
            if kept is not None:
                kept[part] = score
        return Evaluation(0.0, gradient, hessian, kept)

    def complete(self, theta: Vector) -> Matrix:
        """The corrected outer product of the scores: what their spread would be if as many truths were seen."""
        maps = self.family.maps(self.frame.matrices.shape[2])
        outer = np.zeros((len(theta), len(theta)))
        for part in self._parts():
            for c in range(len(self.frame.predictors)):
                x = self.frame.matrices[c, part]
                moments = self._moments(linear_predictors(x, maps, theta), part)
                outer += gathered(x, maps, moments.outer, self.weights[part] * self.frame.predictors.scores[part, c])
        return outer

    def _moments(self, eta: Matrix, part: slice) -> Moments:
        outcome = self.frame.outcome
        values = None if outcome.values is None else outcome.values[part]
        weights = np.ones((len(eta), 1)) if outcome.scores is None else outcome.scores[part]
        with np.errstate(all="ignore"):  # what is not possible shows in the sums
            return self.family.corrected_outlook(eta, values).moments(weights)

    def _parts(self) -> Iterator[slice]:
        for first in range(0, self.frame.n, _RECORDS_AT_ONCE):
            yield slice(first, min(first + _RECORDS_AT_ONCE, self.frame.n))
