"""Compiled: one walk round the cycle of a projective space."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.numerics.compiled import compiled
from maskwell.sampling.projective_kernels import number_of, times

Array = NDArray[Any]


@compiled()
def by_alpha(q: int, exp: Array, log: Array, polynomial: Array, element: Array) -> None:
    """Multiply an element, as coefficients, by α in place, where ``α^t`` is the polynomial."""
    t = len(polynomial)
    binary = q & (q - 1) == 0
    last = element[t - 1]
    for at in range(t - 1, -1, -1):
        term = times(polynomial[at], last, exp, log)
        below = element[at - 1] if at else 0
        element[at] = below ^ term if binary else (below + term) % q


@compiled()
def power_of_alpha(q: int, exp: Array, log: Array, polynomial: Array, exponent: int) -> Array:
    """α to a power, by squaring."""
    t = len(polynomial)
    binary = q & (q - 1) == 0
    result, square = np.zeros(t, np.int64), np.zeros(t, np.int64)
    result[0] = 1
    for bit in range(63, -1, -1):
        square[:] = 0
        for high in range(t - 1, -1, -1):
            by_alpha(q, exp, log, polynomial, square)
            for at in range(t):
                term = times(result[at], result[high], exp, log)
                square[at] = square[at] ^ term if binary else (square[at] + term) % q
        result, square = square, result
        if exponent >> bit & 1:
            by_alpha(q, exp, log, polynomial, result)
    return result


@compiled()
def walk(q: int, exp: Array, log: Array, polynomial: Array, points: Array, hyperplanes: Array, zeros: Array) -> None:
    """Fill in the points and hyperplanes in the order of the cycle, and where the recurrence is 0."""
    t = len(polynomial)
    binary = q & (q - 1) == 0
    # The recurrence that starts 1, 0, ..., 0 is the first coefficient of the powers of α.
    power, sequence = np.zeros(t, np.int64), np.zeros(t, np.int64)
    power[0], sequence[0] = 1, 1
    for i in range(len(points)):
        points[i] = number_of(power, q, exp, log)
        hyperplanes[i] = number_of(sequence, q, exp, log)
        zeros[i] = sequence[0] == 0
        by_alpha(q, exp, log, polynomial, power)
        following = 0
        for at in range(t):
            term = times(polynomial[at], sequence[at], exp, log)
            following = following ^ term if binary else (following + term) % q
        sequence[: t - 1] = sequence[1:].copy()
        sequence[t - 1] = following
