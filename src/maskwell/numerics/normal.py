"""The normal and the logistic law."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_LOG_ROOT_2_PI = 0.5 * math.log(2 * math.pi)
_FAR = -20.0
"""Below this the asymptotic series of the tail is exact to the last digit."""


def _quantile(p: float) -> float:
    if 0 < p < 1:
        return NormalDist().inv_cdf(p)
    return {0.0: -math.inf, 1.0: math.inf}.get(p, math.nan)


_QUANTILE = np.frompyfunc(_quantile, 1, 1)


# Cody (1969), "Rational Chebyshev approximations for the error function": numerators and denominators, from the highest
# power down, of the chance between 0 and x (over x), of the tail over the density, and of what the tail lacks of the
# density over x where x is large.
_CENTRE = (
    (
        0.065682337918207449113,
        2.2352520354606839287,
        161.02823106855587881,
        1067.6894854603709582,
        18154.981253343561249,
    ),
    (1.0, 47.20258190468824187, 976.09855173777669322, 10260.932208618978205, 45507.789335026729956),
)
_TAIL = (
    (
        1.0765576773720192317e-8,
        0.39894151208813466764,
        8.8831497943883759412,
        93.506656132177855979,
        597.27027639480026226,
        2494.5375852903726711,
        6848.1904505362823326,
        11602.651437647350124,
        9842.7148383839780218,
    ),
    (
        1.0,
        22.266688044328115691,
        235.38790178262499861,
        1519.377599407554805,
        6485.558298266760755,
        18615.571640885098091,
        34900.952721145977266,
        38912.003286093271411,
        19685.429676859990727,
    ),
)
_END = (
    (
        0.02307344176494017303,
        0.21589853405795699,
        0.1274011611602473639,
        0.022235277870649807,
        0.001421619193227893466,
        2.9112874951168792e-5,
    ),
    (
        1.0,
        1.28426009614491121,
        0.468238212480865118,
        0.0659881378689285515,
        0.00378239633202758244,
        7.29751555083966205e-5,
    ),
)
_NEAR, _LARGE = 0.67448975, math.sqrt(32)
_ROOT_2_PI = math.sqrt(2 * math.pi)


def normal_cdf(x: ArrayLike) -> Any:
    """The chance of a standard normal number at or below x.

    >>> float(normal_cdf(0)), round(float(normal_cdf(-30)) * 1e198, 3)
    (0.5, 4.907)
    """
    x = np.asarray(x, float)
    size = np.minimum(np.abs(x), 40.0)  # beyond, the tail is 0
    near, middle = size <= _NEAR, size <= _LARGE
    within = np.where(near, x, 0.0)
    centre = 0.5 + within * _ratio(_CENTRE, within**2)
    from_end = 1 / np.where(middle, _LARGE, size) ** 2
    far = (1 / _ROOT_2_PI - from_end * _ratio(_END, from_end)) / size.clip(_LARGE)
    # Rounded to sixteenths a number has an exact square: so does the exponential not lose the digits of a large one.
    whole = np.floor(size * 16) / 16
    density = np.exp(-0.5 * whole**2) * np.exp(-0.5 * (size - whole) * (size + whole))
    tail = density * np.where(middle, _ratio(_TAIL, size.clip(max=_LARGE)), far)
    return np.where(near, centre, np.where(x > 0, 1 - tail, tail))


def _ratio(polynomials: tuple[tuple[float, ...], ...], x: Any) -> Any:
    """One polynomial over another."""
    above, below = (np.polyval(np.array(coefficients), x) for coefficients in polynomials)
    return above / below


def log_normal_cdf(x: ArrayLike) -> Any:
    """The logarithm of :func:`normal_cdf`, however far in the tail."""
    return log_normal_tails(x)[0]


def log_normal_tails(x: ArrayLike) -> tuple[Any, Any]:
    """The logarithms of the chances below and above x, from one evaluation of the smaller one."""
    x = np.asarray(x, float)
    size = np.abs(x)
    far = np.minimum(-size, _FAR)
    inverse = 1 / far**2
    series = 1 - inverse * (1 - 3 * inverse * (1 - 5 * inverse * (1 - 7 * inverse * (1 - 9 * inverse))))
    asymptotic = -0.5 * far**2 - np.log(-far) - _LOG_ROOT_2_PI + np.log(series)
    chance = normal_cdf(-size)
    smaller = np.where(-size < _FAR, asymptotic, np.log(np.where(-size < _FAR, 1.0, chance)))
    larger = np.log1p(-chance)
    return np.where(x > 0, larger, smaller), np.where(x > 0, smaller, larger)


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
