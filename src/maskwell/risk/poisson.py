r"""Risks in a cell whose population frequency is Poisson, and what a fitted mean does to them.

With population mean λ and sampling fraction π the sample frequency is f ~ Poisson(πλ), and the people of the cell who
are not in the sample are Poisson(λ(1−π)) whatever f is. So λ, the population mean, decides the risk: the sample mean
μ = πλ put in its place would overstate it many times.
"""

from dataclasses import dataclass

import numpy as np

from maskwell.tables.codes import Floats, Ints

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)
# e^-40 is below the rounding of the result.
_TAIL = 40.0
_SMALL = 0.05


def unsampled(sample_mean: Floats, fraction: float) -> Floats:
    """The mean number of people in a cell who are not in the sample, λ(1−π)."""
    result: Floats = sample_mean * ((1 - fraction) / fraction)
    return result


def uniqueness(others: Floats) -> Floats:
    """The chance that a sample unique is unique in the population: nobody is left outside."""
    result: Floats = np.exp(-others)
    return result


def match_chance(counts: Ints, others: Floats) -> Floats:
    r"""E[1/F] for F = f + Poisson(m): :math:`\int_0^1 s^{f-1} e^{-m(1-s)} ds`, which is (1 − e^−m)/m at f = 1.

    >>> import numpy as np
    >>> match_chance(np.array([1, 2, 2]), np.array([0.0, 0.0, 1.0])).round(4)
    array([1.    , 0.5   , 0.3679])
    """
    # Beyond this part of the interval the integrand is below e^-40; within it 32 nodes are exact to rounding.
    part = np.minimum(1.0, _TAIL / (counts + others))
    total = np.zeros(len(counts))
    for node, weight in zip((_NODES + 1) / 2, _WEIGHTS / 2, strict=True):
        missing = part * node
        total += weight * np.exp((counts - 1) * np.log1p(-missing) - others * missing)
    return part * total


@dataclass(frozen=True, eq=False)
class Curvature:
    """First and second derivative, in λ, of a sample unique's risk as a function h(λ)."""

    slope: Floats
    bend: Floats


def curvatures(others: Floats, fraction: float) -> tuple[Curvature, Curvature]:
    """The derivatives of the chance of uniqueness and of the chance of a correct match."""
    c, decay = 1 - fraction, np.exp(-others)
    first, second = _moments(others, decay)
    return Curvature(-c * decay, c**2 * decay), Curvature(-c * first, c**2 * second)


def _moments(x: Floats, decay: Floats) -> tuple[Floats, Floats]:
    """The integrals of t e^(-xt) and t² e^(-xt) over 0..1."""
    safe = np.maximum(x, _SMALL)
    first = (1 - (1 + safe) * decay) / safe**2
    second = (2 - (2 + safe * (2 + safe)) * decay) / safe**3
    small = x < _SMALL
    if small.any():
        # The closed forms cancel near 0; six terms of the series are as exact as they are at the border.
        y = x[small]
        first[small] = np.polynomial.polynomial.polyval(y, [1 / 2, -1 / 3, 1 / 8, -1 / 30, 1 / 144, -1 / 840])
        second[small] = np.polynomial.polynomial.polyval(y, [1 / 3, -1 / 4, 1 / 10, -1 / 36, 1 / 168, -1 / 960])
    return first, second
