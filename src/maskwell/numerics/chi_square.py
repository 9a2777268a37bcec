"""Chi-square laws, central and not."""

from __future__ import annotations

import math

import numpy as np

from maskwell.numerics.roots import root_between
from maskwell.numerics.saddle import poisson_chance

_TINY = 1e-300
_ACCURATE = 1e-16


def chi_square_tail(df: float, x: float) -> float:
    """The chance that a chi-square number with ``df`` degrees of freedom exceeds x.

    >>> round(chi_square_tail(1, 3.841458820694124), 12)
    0.05
    """
    return _gamma_shares(df / 2, x / 2)[1]


def chi_square_quantile(df: float, level: float) -> float:
    """The number that a chi-square one with ``df`` degrees of freedom stays below with chance ``level``.

    >>> round(chi_square_quantile(1, 0.95), 9), round(chi_square_quantile(4, 0.95), 9)
    (3.841458821, 9.487729037)
    """
    high = df + 1.0
    while chi_square_tail(df, high) > 1 - level:
        high *= 2
    return root_between(lambda x: chi_square_tail(df, x) - (1 - level), 0.0, high, 1e-13 * high)


def noncentral_chi_square_cdf(x: float, df: float, shift: float) -> float:
    """The chance of a non-central chi-square number at or below x: a mixture of central ones, by a Poisson number."""
    if x <= 0:
        return 0.0
    mean, a, half = shift / 2, df / 2, x / 2
    if mean == 0:
        return _gamma_shares(a, half)[0]
    reach = 10 * math.sqrt(mean) + 40
    first, last = max(0, math.floor(mean - reach)), math.ceil(mean + reach)
    extra = np.arange(first, last + 1, dtype=float)
    weights = np.where(extra > 0, poisson_chance(np.maximum(extra, 1), mean), math.exp(-mean))
    # From the smallest chance upwards, so that nothing cancels: P(a) = P(a + 1) + x^a e^-x / Gamma(a + 1).
    steps = poisson_chance(a + extra, half)[:-1][::-1]
    chances = np.append(0.0, np.cumsum(steps))[::-1] + _gamma_shares(a + last, half)[0]
    return min(1.0, float(weights @ chances))


def _gamma_shares(a: float, x: float) -> tuple[float, float]:
    """The incomplete gamma function: what lies below x and what above it."""
    if x <= 0:
        return 0.0, 1.0
    if math.isinf(x):
        return 1.0, 0.0
    at = float(poisson_chance(a, x))  # x^a e^-x / Gamma(a + 1)
    if x < a + 1:
        term = total = 1.0
        n = a
        while term > total * _ACCURATE:
            n += 1
            term *= x / n
            total += term
        below = min(1.0, at * total)
        return below, 1 - below
    # Lentz's evaluation of the continued fraction.
    b = x + 1 - a
    c, d = 1 / _TINY, 1 / b
    fraction, i = d, 0
    while True:
        i += 1
        step = -i * (i - a)
        b += 2
        d = 1 / ((step * d + b) or _TINY)
        c = (b + step / c) or _TINY
        fraction *= d * c
        if not abs(d * c - 1) >= 10 * _ACCURATE:  # what is no number never comes to rest
            above = min(1.0, at * a * fraction)
            return 1 - above, above
