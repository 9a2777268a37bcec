"""Logistic regression by Newton's method, with a small ridge so that a column that separates completely has a fit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maskwell.tables.codes import Floats

_RIDGE = 1.0
"""On columns of unit variance: as much as one observation says."""
_STEPS = 50
_CLOSE = 1e-4


def fit(features: Floats, truth: NDArray[np.bool_], start: Floats | None = None) -> Floats:
    """Intercept and slopes; ``start`` is a fit to similar data, from which fewer steps are needed.

    >>> x = np.array([[0.0], [0.0], [1.0], [1.0]] * 50)
    >>> y = np.array([False, True, True, True] * 50)
    >>> bool(fit(x, y)[1] > 0)
    True
    """
    from maskwell.numerics.normal import logistic

    mean, spread = features.mean(axis=0), features.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    design = np.column_stack([np.ones(len(features)), (features - mean) / spread])
    penalty = np.full(design.shape[1], _RIDGE)
    penalty[0] = 0.0
    found = np.zeros(design.shape[1])
    if start is not None:
        found = np.concatenate([[start[0] + start[1:] @ mean], start[1:] * spread])
    value = _log_posterior(design, truth, found, penalty)
    for _ in range(_STEPS):
        chance = logistic(design @ found)
        slope = design.T @ (truth - chance) - penalty * found
        curvature = (design * (chance * (1 - chance))[:, None]).T @ design + np.diag(penalty + 1e-9)
        step = np.linalg.solve(curvature, slope)
        while (after := _log_posterior(design, truth, found + step, penalty)) < value and np.abs(step).max() > _CLOSE:
            step = step / 2
        found, value = found + step, after
        if np.abs(step).max() < _CLOSE:
            break
    slopes = found[1:] / spread
    return np.concatenate([[found[0] - slopes @ mean], slopes])


def _log_posterior(design: Floats, truth: NDArray[np.bool_], coefficients: Floats, penalty: Floats) -> float:
    odds = design @ coefficients
    return float(odds[truth].sum() - np.logaddexp(0, odds).sum() - (penalty * coefficients**2).sum() / 2)


def score(features: Floats, coefficients: Floats) -> Floats:
    """The fitted log-odds."""
    odds: Floats = features @ coefficients[1:] + coefficients[0]
    return odds
