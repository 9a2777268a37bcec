"""The tail of a weighted sum of chi-square variables, which a quadratic form of normal scores is."""

from __future__ import annotations

import math

import numpy as np

from maskwell.designs.base import Vector
from maskwell.inference.hypotheses.hypothesis_test import chi_square_tail

_EQUAL = 1e-9
_NEAR_MEAN = 1e-3
_TURNS = 200


def weighted_chi_square_tail(value: float, weights: Vector) -> float:
    """The chance that ``sum_i weights_i Z_i^2`` exceeds ``value``, for independent standard normal ``Z``.

    Exact where all weights are equal; otherwise the saddlepoint approximation of Lugannani and Rice (1980; for
    quadratic forms Kuonen 1999), whose relative error is a few hundredths, in the far tail as well.

    >>> round(weighted_chi_square_tail(3.841459, np.array([1.0, 0.0])), 6)
    0.05
    >>> round(weighted_chi_square_tail(6.0, np.array([1.0, 0.5])), 4)  # exactly .0223
    0.0226
    """
    used = weights[weights > _EQUAL * weights.max(initial=0.0)]
    if not len(used) or value <= 0:
        return 1.0
    if used.max() - used.min() <= _EQUAL * used.max():
        return chi_square_tail(value / float(used.mean()), len(used))
    mean, spread = float(used.sum()), math.sqrt(2 * float((used**2).sum()))
    if abs(value - mean) >= _NEAR_MEAN * spread:
        return _saddlepoint(value, used)
    # The formula is 0 / 0 at the mean: its neighbours on both sides are joined by a line.
    low, high = mean - _NEAR_MEAN * spread, mean + _NEAR_MEAN * spread
    share = (value - low) / (high - low)
    return (1 - share) * _saddlepoint(low, used) + share * _saddlepoint(high, used)


def _saddlepoint(value: float, weights: Vector) -> float:
    from maskwell.numerics.normal import normal_cdf

    s = _saddle(value, weights)
    rest = 1 - 2 * s * weights
    w = math.copysign(math.sqrt(max(2 * s * value + float(np.log(rest).sum()), 0.0)), s)
    v = s * math.sqrt(2 * float(((weights / rest) ** 2).sum()))
    return min(1.0, max(0.0, float(normal_cdf(-(w + math.log(v / w) / w)))))


def _saddle(value: float, weights: Vector) -> float:
    """Where the derivative of the cumulant generating function is the value; it rises without bound."""
    high = 0.5 / float(weights.max())
    low = min(0.0, -len(weights) / (2 * value))
    for _ in range(_TURNS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        with np.errstate(divide="ignore"):
            derivative = float((weights / (1 - 2 * middle * weights)).sum())
        low, high = (middle, high) if derivative < value else (low, middle)
    return low
