"""Compiled shuffles: one permutation of a pair of columns, counted or summed as it is made."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]

_U32, _LOW32, _TWO32 = np.uint64(32), np.uint64(0xFFFFFFFF), np.uint64(1 << 32)


@njit(nogil=True, cache=True)
def _shuffle(columns: Array, words: Array) -> Any:
    """Shuffle in place (Fisher and Yates, exact rejection); False if the words ran out, which leaves it half done."""
    at = 0
    for i in range(len(columns) - 1, 0, -1):
        choices = np.uint64(i + 1)
        unfair = _TWO32 % choices
        product = np.uint64(0)
        while True:
            if at == len(words):
                return False
            product = np.uint64(words[at]) * choices
            at += 1
            if (product & _LOW32) >= unfair:
                break
        j = np.int64(product >> _U32)
        columns[i], columns[j] = columns[j], columns[i]
    return True


@njit(nogil=True, cache=True)
def shuffled_table(rows: Array, columns: Array, words: Array, table: Array) -> Any:
    """Count pairs after shuffling ``columns``; False if the words ran out."""
    if not _shuffle(columns, words):
        return False
    table[:] = 0
    for i in range(len(rows)):
        table[rows[i], columns[i]] += 1
    return True


@njit(nogil=True, cache=True)
def shuffled_sum(rows: Array, columns: Array, words: Array, values: Array, sums: Array) -> Any:
    """Sum the values of the columns by row after shuffling ``columns``; False if the words ran out."""
    if not _shuffle(columns, words):
        return False
    sums[:] = 0.0
    for i in range(len(rows)):
        for j in range(values.shape[1]):
            sums[rows[i], j] += values[columns[i], j]
    return True
