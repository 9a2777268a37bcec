"""A channel of blocks: a category stays, or becomes another one of its block, all of them alike."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.base import Channel
from maskwell.designs.channels.numbers import Exact, Matrix
from maskwell.sampling.samplers import TOTAL


@dataclass(frozen=True, eq=False)
class ExchangeChannel(Channel):
    """Truth j stays with the chance ``stay[j]`` out of 2^64; the categories of a block follow each other."""

    starts: NDArray[np.int64]
    """Where each block starts; the last entry is where the last one ends."""
    stay: NDArray[np.uint64]

    @cached_property
    def first(self) -> NDArray[np.uint32]:
        """The first category of each category's block."""
        return np.repeat(self.starts[:-1], np.diff(self.starts)).astype(np.uint32)

    @cached_property
    def others(self) -> NDArray[np.uint64]:
        """How many other categories the block of each has."""
        sizes = np.diff(self.starts)
        return np.repeat(sizes - 1, sizes).astype(np.uint64)

    @property
    def leaving(self) -> list[Fraction]:
        """The chance of each category to become another one."""
        return [Fraction(TOTAL - weight, TOTAL) for weight in self.stay.tolist()]

    def report_count(self) -> int:
        return self.k

    def exact(self) -> Exact:
        matrix = np.full((self.k, self.k), Fraction(0), dtype=object)
        for j, (first, others, leaving) in enumerate(zip(self.first, self.others, self.leaving, strict=True)):
            block = slice(int(first), int(first) + int(others) + 1)
            matrix[block, j] = leaving / int(others) if others else Fraction(0)
            matrix[j, j] = 1 - leaving
        return matrix

    @cached_property
    def floats(self) -> Matrix:
        return self.table().astype(np.float64)
