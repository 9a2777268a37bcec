"""Compiled division of reports into groups: the first steps of a shuffle, one for each member of the smaller groups."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]

_U32, _LOW32, _TWO32 = np.uint64(32), np.uint64(0xFFFFFFFF), np.uint64(1 << 32)


@njit(nogil=True, cache=True)
def pick_groups(codes: Array, order: Array, sizes: Array, words: Array, table: Array) -> Any:
    """Fill ``table[g]`` for the groups in ``order`` (Fisher and Yates, exact rejection); False if the words ran out.

    ``codes`` stays a permutation of itself, so the next call may start from where this one ended.
    """
    at, end = 0, len(codes)
    for g in order:
        table[g] = 0
        for _ in range(sizes[g]):
            choices = np.uint64(end)
            unfair = _TWO32 % choices
            product = np.uint64(0)
            while True:
                if at == len(words):
                    return False
                product = np.uint64(words[at]) * choices
                at += 1
                if (product & _LOW32) >= unfair:
                    break
            end -= 1
            j = np.int64(product >> _U32)
            codes[end], codes[j] = codes[j], codes[end]
            table[g, codes[end]] += 1
    return True
