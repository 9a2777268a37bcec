"""The root of a function between two places of different sign."""

from __future__ import annotations

import math
from collections.abc import Callable


def root_between(function: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """Where the function is zero, by inverse quadratic steps where they are safe and halves elsewhere.

    Chandrupatla (1997). The values may be infinite, and one of them zero.

    >>> round(root_between(lambda x: x**2 - 2, 0, 2, 1e-12), 10)
    1.4142135624
    """
    a, b = high, low
    at_a, at_b = function(a), function(b)
    if not at_a * at_b <= 0:
        raise ValueError("the function must have different signs at the two ends")
    if at_a == 0 or at_b == 0:
        return a if at_a == 0 else b
    c, at_c, part = a, at_a, 0.5
    while True:
        x = a + part * (b - a)
        at_x = function(x)
        if math.copysign(1, at_x) == math.copysign(1, at_a):
            c, at_c = a, at_a
        else:
            c, b, at_c, at_b = b, a, at_b, at_a
        a, at_a = x, at_x
        best, at_best = (a, at_a) if abs(at_a) < abs(at_b) else (b, at_b)
        near = (tolerance + 4e-16 * abs(best)) / abs(b - c)
        if near > 0.5 or at_best == 0:
            return best
        part = 0.5
        if at_b != at_c and math.isfinite(at_a) and math.isfinite(at_b) and math.isfinite(at_c):
            place, value = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
            if value**2 < place and (1 - value) ** 2 < 1 - place:
                part = at_a / (at_b - at_a) * at_c / (at_b - at_c)
                part += (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
        part = min(max(part, near), 1 - near)
