"""How much to move for a limit: the parameter θ of a block from the largest allowed chance ξ of a correct match.

A record in a cell of frequency t leaves it with chance θ / t. At worst, over all blocks that are large enough, a match
is then right with chance h(θ) (Nayak 2020, section 5.2). This is for ξ above 1/3; ``rules`` has what serves below.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from maskwell.designs.channels.exchange import ExchangeChannel
from maskwell.errors import DemandError
from maskwell.exact import fraction
from maskwell.sampling.samplers import TOTAL
from maskwell.tables.codes import Ints

CLOSED_FORM = Fraction(1, 3)
"""h(1): the closed form has a θ for limits above it."""
LARGEST_BITS = 64
"""Chances are drawn as whole numbers over 2^64."""
_BITS = 63
"""θ is a whole number over 2^63, so that θ / 1 and θ / 2 are whole numbers over 2^64, as the sampler needs them."""


def worst_risk(theta: Fraction) -> Fraction:
    """h(θ): continuous and decreasing, from 1 at θ = 0 to 1/3 at θ = 1.

    >>> worst_risk(Fraction(2, 3))
    Fraction(3, 7)
    """
    if theta <= Fraction(2, 3):
        return (1 - theta) / (1 - theta + theta**2)
    return (2 - theta) / (4 - 2 * theta + theta**2)


def theta_for(xi: Any) -> Fraction:
    """The least θ, out of 2^63, whose worst risk does not exceed ξ.

    >>> round(float(theta_for(0.395)), 4)
    0.799
    """
    limit = fraction(xi, "xi", DemandError)
    if not CLOSED_FORM < limit < 1:
        raise DemandError(
            f"xi must lie strictly between 1/3 and 1 for one theta that serves all blocks; got {xi}. Below, each kind "
            "of block has its own: limit_identification finds them, and release.plan.thetas says them.",
            parameter="xi",
        )
    low, high = 0, 1 << _BITS  # h(low) > ξ >= h(high) throughout
    while high - low > 1:
        middle = (low + high) // 2
        if worst_risk(Fraction(middle, 1 << _BITS)) <= limit:
            high = middle
        else:
            low = middle
    if high == 1 << _BITS:
        raise DemandError(
            f"xi={xi!r} is too close to 1/3 to be met by a block of any size; try xi=0.34.", parameter="xi"
        )
    return Fraction(high, 1 << _BITS)


def least_cells(theta: Fraction) -> int:
    """The number of cells from which on a block is large enough: k >= 1 / (1 - θ)."""
    return -(-theta.denominator // (theta.denominator - theta.numerator))


def exchange(starts: Ints, counts: Ints, theta: Fraction | Sequence[Fraction]) -> ExchangeChannel:
    """The channel of blocks that start at ``starts``, of cells with these frequencies: t of them leave with θ / t.

    ``theta`` is that of all blocks, or one for each.
    """
    thetas = [theta] * (len(starts) - 1) if isinstance(theta, Fraction) else list(theta)
    stay = np.empty(len(counts), np.uint64)
    known: dict[tuple[Fraction, int], int] = {}
    for own, start, stop in zip(thetas, starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        for i, t in enumerate(counts[start:stop].tolist(), start=start):
            if (own, t) not in known:
                known[own, t] = _stay(own, t)
            stay[i] = known[own, t]
    return ExchangeChannel(len(counts), "moves within blocks", starts, stay)


def _stay(theta: Fraction, count: int) -> int:
    """2^64 (1 - θ/t), which is whole: the expected frequencies are then exactly the true ones."""
    weight = TOTAL * (1 - theta / count)
    if weight.denominator != 1:
        raise AssertionError(f"theta / {count} is not a multiple of 2^-64")
    return int(weight)


def drawn_thetas(channel: ExchangeChannel, counts: Ints) -> list[Fraction]:
    """θ of each block as it is drawn, read from the channel's integers: how many records leave a cell on average.

    The audit is of blocks whose cells all lose equally many, so that nothing else may be drawn.
    """
    found, known = [], dict[tuple[int, int], Fraction]()
    stay, times, starts = channel.stay.tolist(), counts.tolist(), channel.starts.tolist()
    for start, stop in itertools.pairwise(starts):
        thetas = set()
        for pair in set(zip(times[start:stop], stay[start:stop], strict=True)):
            if pair not in known:
                known[pair] = Fraction(pair[0] * (TOTAL - pair[1]), TOTAL)
            thetas.add(known[pair])
        if len(thetas) != 1:
            raise AssertionError("the channel does not move the same number from every cell")
        found.append(thetas.pop())
    return found
