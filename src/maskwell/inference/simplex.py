"""Proportions: none below 0, and 1 in sum."""

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Vector


def project(vector: Vector) -> Vector:
    """The nearest proportions, by the threshold that makes the positive parts sum to 1.

    >>> project(np.array([0.7, 0.5, -0.2]))
    array([0.6, 0.4, 0. ])
    """
    ordered = np.sort(vector)[::-1]
    excess = np.cumsum(ordered) - 1
    kept = np.flatnonzero(ordered * np.arange(1, len(vector) + 1) > excess)[-1]
    projected: Vector = np.maximum(vector - excess[kept] / (kept + 1), 0.0)
    return projected


def interior(shares: NDArray[np.float64], n: float) -> NDArray[np.float64]:
    """Shares of at least half a person: at 0 a direct question has infinite information, which no number holds."""
    floored = np.maximum(shares, 0.5 / n)
    return np.asarray(floored / floored.sum(axis=-1, keepdims=True))
