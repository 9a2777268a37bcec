"""Drawing the moves: a record leaves its cell with an exact chance, for any other cell of its block alike."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from maskwell.sampling.entropy import Codes, Words
from maskwell.sampling.plans import TOTAL, Packed
from maskwell.tables.codes import Ints

_LOW32 = np.uint64(0xFFFFFFFF)
_TWO32 = np.uint64(1 << 32)
_SHIFT = np.uint64(32)


@dataclass(frozen=True, eq=False)
class MovePlan:
    """A record of cell j stays with probability ``stay[j] / 2^64``, else it goes to another cell of j's block.

    A block is a range of cells. Words 0 and 1 of a slot decide whether to stay; the others pick a cell, by
    multiplication with rejection, so that every cell is exactly as likely as any other.
    """

    first: NDArray[np.uint32]
    """The first cell of each cell's block."""
    others: NDArray[np.uint64]
    """How many other cells the block has."""
    stay: NDArray[np.uint64]
    width = 3

    def empty(self, n: int) -> Packed:
        return np.empty(n, np.uint32)

    def run(self, truth: Codes, words: Words, stride: int, out: Packed, exhausted: NDArray[np.uint8]) -> None:
        slots = words[: len(truth) * stride].reshape(len(truth), stride)
        number = slots[:, 0].astype(np.uint64) | slots[:, 1].astype(np.uint64) << _SHIFT
        out[:] = truth
        pending = np.flatnonzero(number >= self.stay[truth])
        for at in range(2, stride):
            cells = truth[pending]
            others, first = self.others[cells], self.first[cells]
            product = slots[pending, at].astype(np.uint64) * others
            fair = (product & _LOW32) >= _TWO32 % others
            pick = (product >> _SHIFT).astype(np.uint32)
            pick += pick >= cells - first
            out[pending[fair]] = (first + pick)[fair]
            pending = pending[~fair]
            if not len(pending):
                return
        exhausted[pending] = 1


def move_plan(starts: Ints, counts: Ints, theta: Fraction) -> MovePlan:
    """The plan for blocks that start at ``starts``, of cells with these frequencies."""
    sizes = np.diff(starts)
    by_count = {int(t): _stay(theta, int(t)) for t in np.unique(counts)}
    stay = np.array([by_count[int(t)] for t in counts], np.uint64)
    return MovePlan(
        np.repeat(starts[:-1], sizes).astype(np.uint32), np.repeat(sizes - 1, sizes).astype(np.uint64), stay
    )


def _stay(theta: Fraction, count: int) -> int:
    """2^64 (1 - θ/t), which is whole: the expected frequencies are then exactly the true ones."""
    weight = TOTAL * (1 - theta / count)
    if weight.denominator != 1:
        raise AssertionError(f"theta / {count} is no multiple of 2^-64")
    return int(weight)
