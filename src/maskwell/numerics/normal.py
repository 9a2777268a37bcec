"""The normal and the logistic law."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_ROOT_2 = math.sqrt(2)
_LOG_ROOT_2_PI = 0.5 * math.log(2 * math.pi)
_ERFC = np.frompyfunc(math.erfc, 1, 1)
_FAR = -20.0
"""Below this the asymptotic series of the tail is exact to the last digit."""


def _quantile(p: float) -> float:
    if 0 < p < 1:
        return NormalDist().inv_cdf(p)
    return {0.0: -math.inf, 1.0: math.inf}.get(p, math.nan)


_QUANTILE = np.frompyfunc(_quantile, 1, 1)


def normal_cdf(x: ArrayLike) -> Any:
    """The chance of a standard normal number at or below x.

    >>> float(normal_cdf(0)), round(float(normal_cdf(-30)) * 1e198, 3)
    (0.5, 4.907)
    """
    return 0.5 * np.asarray(_ERFC(-np.asarray(x, float) / _ROOT_2), float)


def log_normal_cdf(x: ArrayLike) -> Any:
    """The logarithm of :func:`normal_cdf`, however far in the tail."""
    x = np.asarray(x, float)
    far = np.minimum(x, _FAR)
    inverse = 1 / far**2
    series = 1 - inverse * (1 - 3 * inverse * (1 - 5 * inverse * (1 - 7 * inverse * (1 - 9 * inverse))))
    asymptotic = -0.5 * far**2 - np.log(-far) - _LOG_ROOT_2_PI + np.log(series)
    near = np.maximum(x, _FAR)
    exact = np.where(near > 0, np.log1p(-normal_cdf(-np.maximum(near, 0))), np.log(normal_cdf(near)))
    return np.where(x < _FAR, asymptotic, exact)


def normal_quantile(p: ArrayLike) -> Any:
    """The number that a standard normal one stays below with chance p.

    >>> round(float(normal_quantile(0.975)), 6)
    1.959964
    """
    return np.asarray(_QUANTILE(np.asarray(p, float)), float)


def logistic(x: ArrayLike) -> Any:
    """1 / (1 + e^-x), without overflow."""
    x = np.asarray(x, float)
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1 + small)


def log_logistic(x: ArrayLike) -> Any:
    """The logarithm of :func:`logistic`."""
    return -np.logaddexp(0.0, -np.asarray(x, float))
