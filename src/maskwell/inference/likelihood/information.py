"""The inverse of an information matrix among proportions that sum to 1.

Only directions ``v`` with ``sum v = 0`` are possible. With ``B`` any basis of them, the covariance of an efficient
estimator is ``B (B' I B)^-1 B'`` (wang-ding-2021, Theorem 3, with ``B = (I, -1)'``); it does not depend on the basis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Matrix, Vector

_RELATIVE_RANK = 1e-12
_TOUCHED = 1e-6


@dataclass(frozen=True, eq=False)
class Inverse:
    """``matrix`` is the inverse where there is information; columns of ``unknown`` are directions without any."""

    matrix: Matrix
    unknown: Matrix

    @property
    def undetermined(self) -> NDArray[np.bool_]:
        """The categories whose proportions the reports leave open."""
        return np.asarray((np.abs(self.unknown) > _TOUCHED).any(axis=1))

    def variance(self, vector: Vector, middle: Matrix | None = None) -> float:
        """Of a weighted sum of proportions; ``middle`` is the variance of the score where it is not the information."""
        if self.unknown.size and np.abs(vector @ self.unknown).max() > _TOUCHED * max(1.0, np.abs(vector).max()):
            return float("inf")
        half = self.matrix @ vector
        return float(vector @ half if middle is None else half @ middle @ half)


def invert(information: Matrix) -> Inverse:
    """The inverse among directions that sum to 0."""
    k = len(information)
    # A multiple of 11' changes nothing in these directions and makes the matrix definite.
    shifted = information + np.diag(information).mean()
    scale = np.sqrt(np.diag(shifted))
    scaled = shifted / np.outer(scale, scale)
    try:
        pivots = np.diag(np.linalg.cholesky(scaled)) ** 2
    except np.linalg.LinAlgError:
        pivots = np.zeros(1)
    if pivots.min() <= k * _RELATIVE_RANK:
        return _invert_deficient(information)
    inverse = np.linalg.inv(scaled) / np.outer(scale, scale)
    total = inverse.sum(axis=1)
    return Inverse(inverse - np.outer(total, total) / total.sum(), np.zeros((k, 0)))


def _invert_deficient(information: Matrix) -> Inverse:
    k = len(information)
    # An orthonormal basis of the directions that sum to 0: all but the first column, which is along (1, ..., 1).
    basis = np.linalg.qr(np.column_stack([np.ones(k), np.eye(k)[:, : k - 1]]))[0][:, 1:]
    values, vectors = np.linalg.eigh(basis.T @ information @ basis)
    known = values > k * _RELATIVE_RANK * max(values[-1], np.diag(information).mean())
    directions = basis @ vectors
    kept = directions[:, known]
    return Inverse((kept / values[known]) @ kept.T, directions[:, ~known])
