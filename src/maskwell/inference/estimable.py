"""Sums of proportions that a design can tell although it cannot tell the proportions one by one."""

import math

import numpy as np

from maskwell.designs.base import Vector
from maskwell.errors import EstimationError
from maskwell.reports.tally import Tally

_TOLERANCE = 1e-9


def contrast_of_deficient(tally: Tally, vector: Vector) -> tuple[float, float]:
    """Value and standard error of ``vector @ p``, if ``vector`` is a combination of rows of P."""
    design = tally.design
    if tally.counts.ndim != 1 or tally.squares is not None:
        raise EstimationError(f"{design.name} reports carry no information about this sum, or are weighted.")
    matrix = design.matrix()
    weights, *_ = np.linalg.lstsq(matrix.T, vector, rcond=None)
    if np.abs(matrix.T @ weights - vector).max() > _TOLERANCE * max(1.0, np.abs(vector).max()):
        raise EstimationError(
            f"{design.name} cannot estimate this sum: give categories that it never tells apart the same score."
        )
    frequencies = tally.counts / tally.n
    value = float(weights @ frequencies)
    return value, math.sqrt(max(float(weights**2 @ frequencies) - value**2, 0.0) / tally.n)
