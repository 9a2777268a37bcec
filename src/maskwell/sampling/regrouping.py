"""Random divisions of the same reports into groups of the same sizes: what groups look like that do not differ."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from maskwell.sampling.entropy import Source

Table = NDArray[np.int64]


def regrouped_tables(table: Table, seed: int | None = None) -> Iterator[Table]:
    """Tables (group by report) with both margins as given, each as likely as shuffling reports among people makes it.

    Endless. Each table is overwritten by the next. All but the largest group are drawn; that one has what is left.
    """
    from maskwell.sampling.regrouping_kernels import pick_groups

    total, sizes = table.sum(axis=0), table.sum(axis=1)
    largest = int(np.argmax(sizes))
    order = np.array([g for g in range(len(sizes)) if g != largest])
    codes = np.repeat(np.arange(table.shape[1]), total)
    picked = int(sizes[order].sum())
    # A word may be rejected with a chance of up to n / 2^32.
    width = picked + 64 + picked * len(codes) // 2**31
    stream = Source(seed=seed).stream("regroup", 1)
    one = np.zeros(1, np.uint32)
    drawn = np.zeros_like(table)
    repeat = 0
    while True:
        words, _ = stream.slots(repeat, one, width)
        while not pick_groups(codes, order, sizes, words, drawn):
            words = stream.longer_slot(repeat, 0, width, len(words))
        drawn[largest] = total - drawn[order].sum(axis=0)
        yield drawn
        repeat += 1
