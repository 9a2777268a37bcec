"""The highest likelihood at which a weighted sum of shares is zero, and profile limits from it.

The shares of classes for which ``d . w = 0`` are again mixtures: of classes with ``d = 0``, and of pairs of one class
with ``d > 0`` and one with ``d < 0``, in the proportions at which they balance. With the columns of these mixtures the
constrained maximum is one of the same kind. A share is fixed at v by ``d = c - v``, a ratio of two sums by
``d = a - v b``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from maskwell.designs.base import Matrix, Vector
from maskwell.inference.likelihood.maximum import maximise
from maskwell.inference.likelihood.report_rows import dense_rows
from maskwell.numerics.roots import root_between

_IMPOSSIBLE = 1e3
_TOLERANCE = 1e-8
_ZERO = 1e-15


def balanced(direction: Vector) -> Matrix:
    """The extreme shares with ``direction . w = 0``, one a column; none if there are no such shares."""
    at_zero = np.flatnonzero(np.abs(direction) <= _ZERO)
    above, below = np.flatnonzero(direction > _ZERO), np.flatnonzero(direction < -_ZERO)
    corners = np.zeros((len(direction), len(at_zero) + len(above) * len(below)))
    corners[at_zero, np.arange(len(at_zero))] = 1
    at = len(at_zero)
    for i in above:
        for j in below:
            corners[i, at] = -direction[j] / (direction[i] - direction[j])
            corners[j, at] = direction[i] / (direction[i] - direction[j])
            at += 1
    return corners


def best_log_likelihood(table: Matrix, weights: Vector, corners: Matrix | None = None) -> tuple[float, Vector]:
    """The highest log-likelihood, among mixtures of some shares if given, and the shares that have it."""
    from maskwell.inference.likelihood.kernels import chances

    columns = table if corners is None else table @ corners
    if not columns.shape[1]:
        return -math.inf, np.full(table.shape[1], np.nan)
    start = np.full(columns.shape[1], 1 / columns.shape[1])
    rows = dense_rows(columns)
    if chances(rows, start).min() <= 0:
        return -math.inf, np.full(table.shape[1], np.nan)
    if columns.shape[1] == 1:
        shares = np.ones(1)
    else:
        shares = maximise(rows, weights, start).proportions
    value = float(weights @ np.log(columns @ shares))
    return value, shares if corners is None else corners @ shares


def profile_limits(
    table: Matrix,
    weights: Vector,
    highest: float,
    estimate: float,
    direction_at: Callable[[float], Vector],
    quantile: float,
    error: float,
    sides: Sequence[int] = (0, 1),
) -> tuple[float, ...]:
    """The values below (side 0) and above (side 1) an estimate at which the likelihood ratio reaches the quantile.

    They stay within [0, 1]. ``error`` is how far to step at first.
    """

    def root(value: float) -> float:
        found, _ = best_log_likelihood(table, weights, balanced(direction_at(value)))
        return _IMPOSSIBLE if math.isinf(found) else math.sqrt(2 * max(highest - found, 0.0))

    return tuple(_limit(root, estimate, float(side), quantile, error) for side in sides)


def _limit(root: Callable[[float], float], estimate: float, end: float, quantile: float, error: float) -> float:
    estimate = min(max(estimate, 0.0), 1.0)
    if estimate == end:
        return end
    side = 1.0 if end > estimate else -1.0
    step = quantile * error if 0 < error < 1 else 0.25
    near = far = estimate
    while True:
        near, far = far, estimate + side * step
        if side * (far - end) >= 0:
            far = end
        if root(far) > quantile:
            return root_between(lambda value: root(value) - quantile, near, far, _TOLERANCE)
        if far == end:
            return end
        step *= 2
