"""Chances of single counts, accurate to the last digits however large the counts (Loader 2000, saddle-point expansion).

The logarithms of factorials of large counts would cancel and take the digits with them; here only their small rests
behind Stirling's formula are subtracted.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_LGAMMA = np.frompyfunc(math.lgamma, 1, 1)
_LOG_ROOT_2_PI = 0.5 * math.log(2 * math.pi)
_STIRLING = (1 / 12, 1 / 360, 1 / 1260, 1 / 1680, 1 / 1188, 691 / 360360)
_LARGE = 16.0
"""From here on the series of Stirling's rest is exact to the last digit."""


def log_gamma(x: ArrayLike) -> Any:
    """The logarithm of the gamma function."""
    return np.asarray(_LGAMMA(np.asarray(x, float)), float)


def stirling_rest(n: ArrayLike) -> Floats:
    """log n! less Stirling's formula, for n > 0."""
    n = np.asarray(n, float)
    large = np.maximum(n, _LARGE)
    square, series = large**2, np.zeros_like(large)
    for term in reversed(_STIRLING):
        series = term - series / square
    small = np.minimum(n, _LARGE)
    exact = log_gamma(small + 1) - (small + 0.5) * np.log(small) + small - _LOG_ROOT_2_PI
    return np.asarray(np.where(n < _LARGE, exact, series / large))


def deviance(x: ArrayLike, mean: ArrayLike) -> Floats:
    """x log(x / mean) + mean - x, without cancellation where x is near the mean, for positive numbers."""
    x, mean = np.broadcast_arrays(np.asarray(x, float), np.asarray(mean, float))
    apart = (x - mean) / (x + mean)
    near = np.abs(apart) < 0.1
    v = np.where(near, apart, 0.0)
    series = np.zeros_like(v)
    for j in range(10, 0, -1):
        series = (series + 1 / (2 * j + 1)) * v**2
    close = (x - mean) * v + 2 * x * v * series
    return np.asarray(np.where(near, close, x * np.log(x / mean) + mean - x))


def poisson_chance(x: ArrayLike, mean: ArrayLike) -> Floats:
    """mean^x e^-mean / x!, for any x > 0."""
    x = np.asarray(x, float)
    return np.exp(-stirling_rest(x) - deviance(x, mean)) / np.sqrt(2 * math.pi * x)


def binomial_chances(count: ArrayLike, n: ArrayLike, p: ArrayLike, q: ArrayLike | None = None) -> Floats:
    """The chance of so many among n where each has chance p; ``q`` is 1 - p, where it is known more exactly.

    Counts need not be whole.

    >>> binomial_chances([0, 1, 2, 3], 2, 0.5).round(12).tolist()
    [0.25, 0.5, 0.25, 0.0]
    """
    count, n, p = np.broadcast_arrays(*(np.asarray(value, float) for value in (count, n, p)))
    rest = 1 - p if q is None else np.broadcast_to(np.asarray(q, float), p.shape)
    inside = (count > 0) & (count < n) & (p > 0) & (rest > 0)
    x, many, chance, other = (
        np.where(inside, value, 0.5 + 0.5 * extra) for value, extra in ((count, 0), (n, 1), (p, 0), (rest, 0))
    )
    exponent = stirling_rest(many) - stirling_rest(x) - stirling_rest(many - x)
    exponent = exponent - deviance(x, many * chance) - deviance(many - x, many * other)
    found = np.exp(exponent) * np.sqrt(many / (2 * math.pi * x * (many - x)))
    with np.errstate(divide="ignore", invalid="ignore"):
        none = np.where(n == 0, 1.0, np.where(p < 0.5, np.exp(n * np.log1p(-p)), rest**n))
        every = np.where(n == 0, 1.0, np.where(p > 0.5, np.exp(n * np.log1p(-rest)), p**n))
    ends = np.where(count == 0, none, np.where(count == n, every, 0.0))
    return np.where(inside, found, ends)
