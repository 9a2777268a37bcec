"""Random divisions of the same reports into groups of the same sizes: what groups look like that do not differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maskwell.sampling.entropy import Source

Table = NDArray[np.int64]
Tables = NDArray[np.int64]


class Regrouping:
    """Tables (group by report) with both margins as given, each as likely as shuffling reports among people makes it.

    All but the largest group are drawn; that one has what is left.
    """

    def __init__(self, table: Table, seed: int | None = None) -> None:
        self._total, self._sizes = table.sum(axis=0), table.sum(axis=1)
        self._largest = int(np.argmax(self._sizes))
        self._order = np.array([g for g in range(len(table)) if g != self._largest])
        self._codes = np.repeat(np.arange(table.shape[1]), self._total)
        picked = int(self._sizes[self._order].sum())
        # A word may be rejected with a chance of up to n / 2^32.
        self._width = picked + 64 + picked * len(self._codes) // 2**31
        self._stream = Source(seed=seed).stream("regroup", 1)
        self._drawn = 0

    def draw(self, repeats: int) -> Tables:
        """The next tables."""
        from maskwell.sampling.shuffle_kernels import pick_groups

        tables = np.zeros((repeats, len(self._sizes), len(self._total)), np.int64)
        words, width = self._stream.slots(self._drawn, np.zeros(repeats, np.uint32), self._width)
        words = words.copy()  # a longer slot would use the same memory
        for i, table in enumerate(tables):
            slot = words[i * width : (i + 1) * width]
            while not pick_groups(self._codes, self._order, self._sizes, slot, table):
                slot = self._stream.longer_slot(self._drawn + i, 0, self._width, len(slot))
        tables[:, self._largest] = self._total - tables.sum(axis=1)
        self._drawn += repeats
        return tables
