"""Compiled steps from the ids of records to the blocks that a key encrypts."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.numerics.compiled import compiled

Array = NDArray[Any]


def _order_and_range_at_once(ids: Array) -> Any:
    return bool(np.all(ids[1:] > ids[:-1])), ids.min(), ids.max()


@compiled(instead=_order_and_range_at_once)
def order_and_range(ids: Array) -> Any:
    """Whether each id is larger than the one before, the least and the largest, in one reading."""
    falls = 0
    low = high = ids[0]
    for i in range(1, len(ids)):
        falls += ids[i] <= ids[i - 1]
        low = min(low, ids[i])
        high = max(high, ids[i])
    return falls == 0, low, high


@compiled()
def count_repeats(ids: Array, low: Any, seen: Array) -> Any:
    """How many ids stand earlier too; ``seen`` has a bit for each number from ``low``."""
    repeats = 0
    for i in range(len(ids)):
        offset = np.int64(ids[i] - low)
        bit = 1 << (offset & 7)
        repeats += (seen[offset >> 3] & bit) != 0
        seen[offset >> 3] |= bit
    return repeats


@compiled()
def mark_in_pages(ids: Array, keys: Array, slots: Array, pages: Array, used: int, left: Array) -> Any:
    """Mark ids in pages of bits, one page for 2^20 neighbouring numbers, and count those that were marked before.

    ``keys`` and ``slots`` are an open hash table of the pages in use. Ids whose page there is no room for go to
    ``left``. Returns the repeats, the pages now in use and how many were left.
    """
    repeats, n_left = 0, 0
    size, held_key, held = np.uint64(len(keys)), np.int64(0), -1
    for i in range(len(ids)):
        key = np.int64(ids[i]) >> 20
        if held < 0 or key != held_key:
            at = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) % size
            while slots[at] >= 0 and keys[at] != key:
                at = (at + np.uint64(1)) % size
            if slots[at] < 0:
                if used == len(pages):
                    left[n_left] = ids[i]
                    n_left += 1
                    continue
                keys[at], slots[at] = key, used
                used += 1
            held_key, held = key, slots[at]
        offset = np.int64(ids[i]) & 0xFFFFF
        bit = 1 << (offset & 7)
        repeats += (pages[held, offset >> 3] & bit) != 0
        pages[held, offset >> 3] |= bit
    return repeats, used, n_left


def _fill_id_blocks_at_once(ids: Array, blocks: Array) -> None:
    blocks[:, 0] = ids.astype(np.uint64)
    blocks[:, 1] = (ids < 0).astype(np.uint64) << np.uint64(31)


@compiled(instead=_fill_id_blocks_at_once)
def fill_id_blocks(ids: Array, blocks: Array) -> None:
    """Whole numbers as 64-bit two's complement; bit 95 of the 128-bit block says that a number is negative."""
    for i in range(len(ids)):
        blocks[i, 0] = np.uint64(ids[i])
        blocks[i, 1] = np.uint64(ids[i] < 0) << np.uint64(31)


@compiled()
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
