"""Compiled shuffles (Fisher and Yates, exact rejection): of a pair of columns, and of reports into groups."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.numerics.compiled import compiled

Array = NDArray[Any]

_U32, _LOW32, _TWO32 = np.uint64(32), np.uint64(0xFFFFFFFF), np.uint64(1 << 32)


@compiled()
def _pick(words: Array, at: Any, choices: Any) -> Any:
    """One of so many choices, all alike, and where the next word is; -1 there if the words ran out."""
    many = np.uint64(choices)
    unfair = _TWO32 % many
    while at < len(words):
        product = np.uint64(words[at]) * many
        at += 1
        if (product & _LOW32) >= unfair:
            return np.int64(product >> _U32), at
    return np.int64(0), -1


@compiled()
def _shuffle(columns: Array, words: Array) -> Any:
    """Shuffle in place; False if the words ran out, which leaves it half done."""
    at = 0
    for i in range(len(columns) - 1, 0, -1):
        j, at = _pick(words, at, i + 1)
        if at < 0:
            return False
        columns[i], columns[j] = columns[j], columns[i]
    return True


@compiled()
def shuffled_table(rows: Array, columns: Array, words: Array, table: Array) -> Any:
    """Count pairs after shuffling ``columns``; False if the words ran out."""
    if not _shuffle(columns, words):
        return False
    table[:] = 0
    for i in range(len(rows)):
        table[rows[i], columns[i]] += 1
    return True


@compiled()
def shuffled_sum(rows: Array, columns: Array, words: Array, values: Array, sums: Array) -> Any:
    """Sum the values of the columns by row after shuffling ``columns``; False if the words ran out."""
    if not _shuffle(columns, words):
        return False
    sums[:] = 0.0
    for i in range(len(rows)):
        for j in range(values.shape[1]):
            sums[rows[i], j] += values[columns[i], j]
    return True


@compiled()
def pick_groups(codes: Array, order: Array, sizes: Array, words: Array, table: Array) -> Any:
    """Fill ``table[g]`` for the groups in ``order``, by the first steps of a shuffle; False if the words ran out.

    ``codes`` stays a permutation of itself, so the next call may start from where this one ended.
    """
    at, end = 0, len(codes)
    for g in order:
        table[g] = 0
        for _ in range(sizes[g]):
            j, at = _pick(words, at, end)
            if at < 0:
                return False
            end -= 1
            codes[end], codes[j] = codes[j], codes[end]
            table[g, codes[end]] += 1
    return True
