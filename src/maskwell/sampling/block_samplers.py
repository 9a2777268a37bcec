"""Samplers of blocks and hyperplanes: a report holds the truth or not, and one pick says which of those that do."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from maskwell.sampling.entropy import Codes, Words
from maskwell.sampling.leading import few_picks, leading_half
from maskwell.sampling.samplers import TOTAL, Packed, code_type

_MOST_LISTED = 1 << 21  # hyperplanes, by point: a list that caches hold; one takes less time than drawing it unlisted


@dataclass(frozen=True, eq=False)
class BlockSampler:
    """One of the blocks that hold the truth with probability ``inside / 2^64``, else one of the others.

    ``table[truth]`` lists the ``n_inside`` blocks that hold the truth, then those that do not, each as its report.
    """

    n_inside: int
    inside: int
    table: Packed

    @property
    def width(self) -> int:
        return 1 if self.inside == TOTAL else 3

    def empty(self, n: int) -> Packed:
        return np.empty(n, self.table.dtype)

    def run(self, truth: Codes, words: Words, stride: int, out: Packed, exhausted: NDArray[np.uint8]) -> None:
        from maskwell.sampling.kernels import blocks, blocks_inside

        if self.inside == TOTAL:
            blocks_inside(truth, words, stride, self.n_inside, self.table, out, exhausted)
        else:
            blocks(truth, words, stride, self.n_inside, np.uint64(self.inside), self.table, out, exhausted)

    def leads(self, n: int) -> bool:
        return self.inside != TOTAL and few_picks(self.n_inside, self.table.shape[1] - self.n_inside)

    def lead(self, truth: Codes, words: Words, out: Packed, left_open: NDArray[np.uint8]) -> None:
        from maskwell.sampling.leading_kernels import lead_blocks

        lead_blocks(truth, words, np.uint32(self.n_inside), leading_half(self.inside), self.table, out, left_open)


@dataclass(frozen=True, eq=False)
class HyperplaneSampler:
    """One of the hyperplanes through the truth with probability ``inside / 2^64``, else one of those past it.

    ``shape`` is q, t and how many hyperplanes pass through a point and past it; ``tables`` are the powers of a
    generator of the field, twice over, and the logarithms of its elements. Where many records meet few points, all
    hyperplanes are listed by point and pick once, and drawn from the list as blocks are: the rule is the same.
    """

    inside: int
    shape: tuple[int, int, int, int]
    tables: tuple[NDArray[np.int64], NDArray[np.int64]]
    width = 3

    def empty(self, n: int) -> Packed:
        return np.empty(n, code_type(self.shape[2] + self.shape[3]))

    def run(self, truth: Codes, words: Words, stride: int, out: Packed, exhausted: NDArray[np.uint8]) -> None:
        if self._lists(len(truth)):
            self._listed.run(truth, words, stride, out, exhausted)
        else:
            from maskwell.sampling.projective_kernels import hyperplanes

            hyperplanes(truth, words, stride, np.uint64(self.inside), self.shape, *self.tables, out, exhausted)

    def leads(self, n: int) -> bool:
        return self._lists(n) and few_picks(*self.shape[2:])

    def lead(self, truth: Codes, words: Words, out: Packed, left_open: NDArray[np.uint8]) -> None:
        self._listed.lead(truth, words, out, left_open)

    def _lists(self, n: int) -> bool:
        """Whether ``n`` records are drawn from the list: if they are worth one, or it is there."""
        return "_listed" in vars(self) or sum(self.shape[2:]) ** 2 <= min(n, _MOST_LISTED)

    @cached_property
    def _listed(self) -> BlockSampler:
        from maskwell.sampling.projective_kernels import list_hyperplanes

        points = sum(self.shape[2:])
        table = np.empty((points, points), code_type(points))
        list_hyperplanes(self.shape, *self.tables, table)
        return BlockSampler(self.shape[2], self.inside, table)
