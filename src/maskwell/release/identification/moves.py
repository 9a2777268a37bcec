"""The moves as integers, for the sampler and the audit: a record leaves its cell with an exact chance."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from maskwell.sampling.samplers import TOTAL, WithinSampler
from maskwell.tables.codes import Ints


def move_sampler(starts: Ints, counts: Ints, theta: Fraction) -> WithinSampler:
    """The sampler of blocks that start at ``starts``, of cells with these frequencies."""
    sizes = np.diff(starts)
    by_count = {int(t): _stay(theta, int(t)) for t in np.unique(counts)}
    stay = np.array([by_count[int(t)] for t in counts], np.uint64)
    return WithinSampler(
        np.repeat(starts[:-1], sizes).astype(np.uint32), np.repeat(sizes - 1, sizes).astype(np.uint64), stay
    )


def drawn_theta(moves: WithinSampler, counts: Ints, starts: Ints) -> Fraction:
    """θ as it is drawn, read from the sampler's integers: how many records leave a cell on average, the same for all.

    The audit is of moves to every other cell of a block alike, so that nothing else may be drawn.
    """
    sizes = np.diff(starts)
    ranges = np.repeat(starts[:-1], sizes), np.repeat(sizes - 1, sizes)
    distinct = set(zip(counts.tolist(), moves.stay.tolist(), strict=True))
    thetas = {Fraction(int(t) * (TOTAL - int(stay)), TOTAL) for t, stay in distinct}
    if len(thetas) != 1 or (moves.first != ranges[0]).any() or (moves.others != ranges[1]).any():
        raise AssertionError("the sampler does not move the same number from every cell, within its block")
    return thetas.pop()


def _stay(theta: Fraction, count: int) -> int:
    """2^64 (1 - θ/t), which is whole: the expected frequencies are then exactly the true ones."""
    weight = TOTAL * (1 - theta / count)
    if weight.denominator != 1:
        raise AssertionError(f"theta / {count} is no multiple of 2^-64")
    return int(weight)
