"""The beta law, and those that follow from it: Student's t and F; and the hypergeometric law."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maskwell.extras import is_there
from maskwell.numerics.normal import normal_cdf, normal_quantile
from maskwell.numerics.saddle import binomial_chances

Floats = NDArray[np.float64]

_SCIPY = is_there("scipy")
"""Whether SciPy is there, which finds quantiles in a hundredth of the time."""
_TINY = 1e-300
_ACCURATE = 1e-15
_MOST_TURNS = 100
_CLOSE = 1e-8
"""A step this small leaves an error of its cube: none that counts."""
_NORMAL = 1e10
"""Degrees of freedom from which Student's law is the normal one."""
_EXPANDED = 1e5
"""Degrees of freedom from which two terms of its expansion about the normal quantile have all digits (Fisher 1926)."""


def beta_cdf(a: ArrayLike, b: ArrayLike, x: ArrayLike, rest: ArrayLike | None = None) -> Any:
    """The chance of a beta number at or below x, in (0, 1); ``rest`` is 1 - x, where it is known more exactly."""
    x = np.asarray(x, float)
    y = 1 - x if rest is None else np.asarray(rest, float)
    a, b, x, y = np.broadcast_arrays(np.asarray(a, float), np.asarray(b, float), x, y)
    # The continued fraction runs fast on the side below the mean.
    turned = x > (a + 1) / (a + b + 2)
    a, b, x, y = np.where(turned, b, a), np.where(turned, a, b), np.where(turned, y, x), np.where(turned, x, y)
    below = binomial_chances(a, a + b, x, y) * b / (a + b) * _fraction(a, b, x)
    return np.where(turned, 1 - below, below)


def _fraction(a: Floats, b: Floats, x: Floats) -> Floats:
    """Lentz's evaluation of the continued fraction of the incomplete beta function."""
    c = np.ones_like(x)
    d = 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    found, m, done = d, 0, np.zeros(x.shape, np.bool_)
    while not done.all():
        m += 1
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        step: Any = 1.0
        for term in (even, odd):
            d = 1 / _away_from_zero(1 + term * d)
            c = _away_from_zero(1 + term / c)
            step = d * c
            found = np.where(done, found, found * step)
        # What has come to rest stays: further on, rounding alone would move it. What is no number never does.
        done |= ~(np.abs(step - 1) >= _ACCURATE)
    return found


def _away_from_zero(value: Floats) -> Floats:
    return np.where(np.abs(value) < _TINY, _TINY, value)


def beta_quantile(a: ArrayLike, b: ArrayLike, p: ArrayLike) -> Any:
    """The number that a beta one stays below with chance p, by Newton's steps kept between bounds.

    >>> round(float(beta_quantile(1, 10, 0.5)), 12)
    0.066967008463
    """
    a, b, p = (np.asarray(value, float) for value in np.broadcast_arrays(a, b, p))
    if _SCIPY:
        from scipy.special import betaincinv

        return betaincinv(a, b, p)
    low, high = np.zeros(p.shape), np.ones(p.shape)
    # The normal quantile on the scale of log odds, where the law is nearly symmetric.
    log_odds = np.log(a / b) + normal_quantile(p) * np.sqrt(1 / a + 1 / b)
    x = np.clip(1 / (1 + np.exp(-np.clip(log_odds, -700, 700))), 1e-300, 1 - 1e-16)
    for _ in range(_MOST_TURNS):
        excess = beta_cdf(a, b, x) - p
        low, high = np.where(excess < 0, x, low), np.where(excess > 0, x, high)
        density = binomial_chances(a, a + b, x) * a * b / ((a + b) * x * (1 - x))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = excess / density
            # Halley's correction by the slope of the log density.
            step = step / (1 - np.clip(0.5 * step * ((a - 1) / x - (b - 1) / (1 - x)), -0.9, 0.9))
            near = x - step
        # Outside the bounds, halve them: on the scale of logarithms while the lower one is 0.
        middle = np.where(low > 0, 0.5 * (low + high), 0.5 * high * high)
        middle = np.where(low > 0, middle, np.minimum(middle, x / 2))
        there = (excess == 0) | (np.abs(near - x) <= _CLOSE * x)
        x = np.where(there, np.where(excess == 0, x, near), np.where((near > low) & (near < high), near, middle))
        if np.all(there):
            return x
    return x


def binomial_cdf(count: float, n: float, chance: float) -> float:
    """The chance of at most ``count`` successes in n trials.

    >>> round(binomial_cdf(2, 4, 0.5), 4), binomial_cdf(4, 4, 0.5)
    (0.6875, 1.0)
    """
    if count >= n or count < 0:
        return float(count >= n)
    return float(beta_cdf(n - count, count + 1, 1 - chance, chance))


def t_cdf(df: ArrayLike, t: ArrayLike) -> Any:
    """The chance of a Student number with ``df`` degrees of freedom at or below t."""
    df, t = np.broadcast_arrays(np.asarray(df, float), np.asarray(t, float))
    finite = np.minimum(df, _NORMAL)
    square = t**2
    with np.errstate(invalid="ignore"):
        inside = np.where(np.isinf(square), 1.0, square / (finite + square))
    x, y = finite / (finite + square), np.maximum(inside, _TINY)
    tail = 0.5 * np.where(x > 0, beta_cdf(finite / 2, 0.5, np.maximum(x, _TINY), y), 0.0)
    return np.where(df >= _NORMAL, normal_cdf(t), np.where(t < 0, tail, 1 - tail))


def t_quantile(df: float, p: float) -> float:
    """The number that a Student one stays below with chance p.

    >>> round(t_quantile(10, 0.975), 6), round(t_quantile(math.inf, 0.975), 6)
    (2.228139, 1.959964)
    """
    if df >= _EXPANDED or p == 0.5:
        z = float(normal_quantile(p))
        return z + (z**3 + z) / (4 * df) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2)
    # t² / (df + t²) follows a beta law; the smaller tail keeps its digits.
    tail = min(p, 1 - p)
    x = float(beta_quantile(df / 2, 0.5, 2 * tail))
    y = 1 - x if x < 0.5 else float(beta_quantile(0.5, df / 2, 1 - 2 * tail))
    size = math.sqrt(df * y / x)
    return math.copysign(size, p - 0.5)


def f_tail(df: float, below: float, x: float) -> float:
    """The chance that an F number with ``df`` and ``below`` degrees of freedom exceeds x.

    >>> round(f_tail(2, 10, 4.102821), 6)
    0.05
    """
    if x <= 0:
        return 1.0
    total = below + df * x
    return float(beta_cdf(below / 2, df / 2, below / total, df * x / total))


def hypergeometric_tail(count: ArrayLike, total: ArrayLike, marked: ArrayLike, drawn: ArrayLike) -> Floats:
    """The chance that more than ``count`` of ``marked`` things, among ``total``, are in a draw of ``drawn`` of them."""
    arrays = np.broadcast_arrays(*(np.asarray(value, float) for value in (count, total, marked, drawn)))
    count, total, marked, drawn = arrays
    least, most = np.maximum(0, marked + drawn - total), np.minimum(marked, drawn)
    at = np.maximum(np.floor(count) + 1, least)
    possible = at <= most
    at = np.where(possible, at, least)
    share = np.where(total > 0, drawn / np.maximum(total, 1), 0.0)
    term = (
        binomial_chances(at, marked, share)
        * binomial_chances(drawn - at, total - marked, share)
        / binomial_chances(drawn, total, share)
    )
    found = np.zeros_like(term)
    while True:
        grown = found + term
        # Beyond the mode terms fall ever faster, so that the first one without effect is the last.
        falling = (marked - at) * (drawn - at) <= (at + 1) * (total - marked - drawn + at + 1)
        if np.all((grown == found) & (falling | (term == 0))):
            return np.where(possible, np.minimum(found, 1.0), 0.0)
        found = grown
        term = term * (marked - at) * (drawn - at) / np.maximum((at + 1) * (total - marked - drawn + at + 1), _TINY)
        at = at + 1
