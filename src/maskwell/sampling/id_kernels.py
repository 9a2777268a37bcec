"""Compiled steps from the ids of records to the blocks that a key encrypts."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]


@njit(nogil=True, cache=True)
def order_and_range(ids: Array) -> Any:
    """Whether each id is larger than the one before, the least and the largest, in one reading."""
    falls = 0
    low = high = ids[0]
    for i in range(1, len(ids)):
        falls += ids[i] <= ids[i - 1]
        low = min(low, ids[i])
        high = max(high, ids[i])
    return falls == 0, low, high


@njit(nogil=True, cache=True)
def count_repeats(ids: Array, low: Any, seen: Array) -> Any:
    """How many ids stand earlier too; ``seen`` has a bit for each number from ``low``."""
    repeats = 0
    for i in range(len(ids)):
        offset = np.int64(ids[i] - low)
        bit = 1 << (offset & 7)
        repeats += (seen[offset >> 3] & bit) != 0
        seen[offset >> 3] |= bit
    return repeats


@njit(nogil=True, cache=True)
def fill_id_blocks(ids: Array, blocks: Array) -> None:
    """Whole numbers as 64-bit two's complement, their sign in the last bit of a 128-bit block."""
    for i in range(len(ids)):
        blocks[i, 0] = np.uint64(ids[i])
        blocks[i, 1] = np.uint64(ids[i] < 0) << np.uint64(63)
