"""The nearest point of the simplex: non-negative entries that sum to 1."""

import numpy as np

from maskwell.designs.base import Vector


def project(vector: Vector) -> Vector:
    """Euclidean projection, by the threshold that makes the positive parts sum to 1.

    >>> project(np.array([0.7, 0.5, -0.2]))
    array([0.6, 0.4, 0. ])
    """
    ordered = np.sort(vector)[::-1]
    excess = np.cumsum(ordered) - 1
    kept = np.flatnonzero(ordered * np.arange(1, len(vector) + 1) > excess)[-1]
    projected: Vector = np.maximum(vector - excess[kept] / (kept + 1), 0.0)
    return projected
