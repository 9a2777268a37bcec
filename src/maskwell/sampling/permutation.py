"""Random tables with given margins: what a table of pairs looks like when its two columns have nothing in common."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from maskwell.sampling.entropy import Source

Table = NDArray[np.int64]


def shuffled_tables(table: Table, repeats: int, seed: int | None = None) -> Iterator[Table]:
    """Tables of the same records with the second column shuffled; each one is overwritten by the next."""
    from maskwell.sampling.permutation_kernels import shuffled_table

    row_codes = np.repeat(np.arange(table.shape[0]), table.sum(axis=1))
    column_codes = np.repeat(np.arange(table.shape[1]), table.sum(axis=0))
    n = len(row_codes)
    # A word may be rejected with a chance of up to i / 2^32 at step i.
    width = n + 64 + n * n // 2**31
    stream = Source(seed=seed).stream("shuffle", repeats)
    one = np.zeros(1, np.uint32)
    shuffled = np.empty_like(table)
    for i in range(repeats):
        words, _ = stream.slots(i, one, width)
        while not shuffled_table(row_codes, column_codes, words, shuffled):
            words = stream.longer_slot(i, 0, width, len(words))
        yield shuffled
