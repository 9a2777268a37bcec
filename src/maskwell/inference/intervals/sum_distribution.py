"""The distribution of a sum of independent numbers that all come from one list: computed, not drawn.

The list is laid on a grid, each number shared between its two neighbours so that its mean stays exact; the n-fold
convolution is one power of a Fourier transform.
"""

from __future__ import annotations

import math

import numpy as np

from maskwell.designs.base import Vector

_SPREADS = 10.0
_LEAST_BITS, _MOST_BITS = 13, 18
_CELLS_PER_ROOT = 1024


def sum_tails(values: Vector, chances: Vector, n: int, observed: float) -> tuple[float, float]:
    """P(sum <= observed) and P(sum >= observed) for the sum of ``n`` draws; equal counts in both.

    >>> lower, upper = sum_tails(np.array([0.0, 1.0]), np.array([0.5, 0.5]), 10, 8.0)
    >>> round(lower, 6), round(upper, 6)  # (1013, 56) / 1024
    (0.989258, 0.054688)
    """
    mean = float(chances @ values)
    centred = values - mean
    spread = math.sqrt(n * float(chances @ centred**2))
    target = observed - n * mean
    if spread == 0:
        return float(target >= 0), float(target <= 0)
    half = min(_SPREADS * spread + float(np.abs(centred).max()), n * float(np.abs(centred).max()))
    size = 1 << min(max(math.ceil(math.log2(_CELLS_PER_ROOT * math.sqrt(n))), _LEAST_BITS), _MOST_BITS)
    step = 2.2 * half / size
    place = centred / step
    below = np.floor(place).astype(np.int64)
    share = place - below
    mass = np.bincount(below % size, chances * (1 - share), minlength=size)
    mass += np.bincount((below + 1) % size, chances * share, minlength=size)
    total = np.maximum(np.fft.irfft(np.fft.rfft(mass) ** n, size), 0.0)
    points = np.fft.fftfreq(size, 1 / size) * step
    # Sharing blurs a sum by about half a step for each root of n; equal must stay equal.
    blur = 2 * step * math.sqrt(n)
    return (
        min(1.0, float(total[points <= target + blur].sum())),
        min(1.0, float(total[points >= target - blur].sum())),
    )
