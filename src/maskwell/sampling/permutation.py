"""Random pairings of two columns: what their pairs look like when the columns have nothing in common."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.sampling.entropy import Source

Codes = NDArray[np.int64]
Table = NDArray[np.int64]

_WORDS_AT_ONCE = 1 << 16


def shuffled_tables(table: Table, repeats: int, seed: int | None = None) -> Iterator[Table]:
    """Tables of the same records with the second column shuffled; each one is overwritten by the next."""
    from maskwell.sampling.shuffle_kernels import shuffled_table

    row_codes = np.repeat(np.arange(table.shape[0]), table.sum(axis=1))
    column_codes = np.repeat(np.arange(table.shape[1]), table.sum(axis=0))
    shuffled = np.empty_like(table)
    for _ in _shuffles(
        lambda words: shuffled_table(row_codes, column_codes, words, shuffled), len(row_codes), repeats, seed
    ):
        yield shuffled


def shuffled_sums(
    rows: Codes, columns: Codes, values: NDArray[np.float64], repeats: int, seed: int | None = None
) -> Iterator[NDArray[np.float64]]:
    """For each row code the sum of the values of the column codes that a shuffle puts beside it.

    Each array is overwritten by the next. Unlike a table it does not grow with the number of different columns.
    """
    from maskwell.sampling.shuffle_kernels import shuffled_sum

    order = columns.copy()
    sums = np.empty((int(rows.max()) + 1, values.shape[1]))
    for _ in _shuffles(lambda words: shuffled_sum(rows, order, words, values, sums), len(rows), repeats, seed):
        yield sums


def _shuffles(attempt: Callable[[Any], bool], n: int, repeats: int, seed: int | None) -> Iterator[None]:
    """Give each attempt random words until they suffice."""
    # A word may be rejected with a chance of up to i / 2^32 at step i.
    width = n + 64 + n * n // 2**31
    stream = Source(seed=seed).stream("shuffle", repeats)
    together = max(1, _WORDS_AT_ONCE // width)
    for start in range(0, repeats, together):
        several = np.zeros(min(together, repeats - start), np.uint32)
        # The stream's own memory is overwritten by whoever asks it for more.
        slots = stream.slots(start, several, width)[0].copy()
        for i in range(len(several)):
            words = slots[i * width : (i + 1) * width]
            while not attempt(words):
                words = stream.longer_slot(start + i, 0, width, len(words))
            yield
