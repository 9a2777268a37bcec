"""Tails of a statistic from draws of what it would be under the hypothesis, no more of them than the answer needs.

Draws stop at the ``ENOUGH``-th that is as large as the observed value (Besag and Clifford 1991): an unremarkable value
is known to be so after a few hundred, a remarkable one is compared with ``MOST``. The p-value is valid either way:
under the hypothesis it is at most ``a`` with a chance of at most ``a``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from maskwell.designs.base import Vector

MOST = 9_999
ENOUGH = 100
_ROUND_OFF = 1e-9


class Tail(NamedTuple):
    """A p-value, how many draws it comes from, and the standard error that so few draws leave it with."""

    p_value: float
    draws: int

    @property
    def standard_error(self) -> float:
        """Of the p-value, as an estimate of the one that infinitely many draws would give."""
        return math.sqrt(self.p_value * (1 - self.p_value) / self.draws)


def upper_tail(observed: float, draw: Callable[[int], Vector], most: int = MOST, enough: int = ENOUGH) -> Tail:
    """How often a draw reaches the observed value; ``draw(m)`` gives the next m of them.

    >>> upper_tail(2.0, lambda m: np.ones(m), most=99)
    Tail(p_value=0.01, draws=99)
    """
    # Equal up to round-off counts as equal.
    reached = observed - _ROUND_OFF * max(1.0, abs(observed))
    drawn, beyond = 0, 0
    while drawn < most:
        values = draw(min(max(enough, drawn), most - drawn))
        hits = np.flatnonzero(values >= reached)
        if beyond + len(hits) >= enough:
            last = drawn + int(hits[enough - beyond - 1]) + 1
            return Tail(enough / last, last)
        drawn, beyond = drawn + len(values), beyond + len(hits)
    return Tail((1 + beyond) / (1 + drawn), drawn)
