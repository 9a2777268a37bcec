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
    """Whole numbers as 64-bit two's complement; bit 95 of the 128-bit block says that a number is negative."""
    for i in range(len(ids)):
        blocks[i, 0] = np.uint64(ids[i])
        blocks[i, 1] = np.uint64(ids[i] < 0) << np.uint64(31)


@njit(nogil=True, cache=True)
def join_text_block(data: Array, ends: Array, rows: Array, at: int, is_bytes: int, state: Array) -> None:
    """Join block ``at`` of each message to its state by XOR: four bytes 2 x length + is_bytes, the text, zeros."""
    for r in range(len(rows)):
        start, stop = ends[rows[r]], ends[rows[r] + 1]
        first = start + 16 * at - 4
        if at == 0:
            header = 2 * (stop - start) + is_bytes
            for b in range(4):
                state[r, b] ^= np.uint8((header >> (8 * b)) & 255)
        for b in range(4 if at == 0 else 0, min(16, stop - first)):
            state[r, b] ^= data[first + b]
