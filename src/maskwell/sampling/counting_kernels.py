"""Compiled counters of reports, and the check that a report is possible."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.numerics.compiled import compiled
from maskwell.sampling.kernels import popcount

Array = NDArray[Any]

_EACH_BYTE = np.uint64(0x0101010101010101)


@compiled(inline="always")
def _spread(byte: Any) -> Any:
    """The eight bits of a byte as eight bytes that are 0 or 1, without a table, so that loops over it are vectors.

    A copy of the byte stands in each of eight places, and each keeps one bit: 1 in the first, 128 in the last. Adding
    127, 126, 124, ... 0 carries exactly the bits that are there to the top of their place.
    """
    kept = (np.uint64(byte) * _EACH_BYTE) & np.uint64(0x8040201008040201)
    return ((kept + np.uint64(0x00406070787C7E7F)) >> np.uint64(7)) & _EACH_BYTE


_ROWS = 1 << 14


def _count_sets_by_columns(sets: Array, size_index: Array, counts: Array) -> None:
    """``count_sets``, all members at a time."""
    k = counts.shape[1] - 1
    for start in range(0, len(sets), _ROWS):
        members = np.unpackbits(sets[start : start + _ROWS], axis=1, bitorder="little")
        sizes = size_index[members.sum(axis=1)] if len(counts) > 1 else np.zeros(len(members), np.int64)
        for s in range(len(counts)):
            held = members[sizes == s, :k]
            counts[s, :k] += held.sum(axis=0, dtype=np.int64)
            counts[s, k] += len(held)


@compiled(instead=_count_sets_by_columns)
def count_sets(sets: Array, size_index: Array, counts: Array) -> None:
    """Add to ``counts[size, category]`` (last column: reports of that size) the members of packed sets.

    Eight one-byte counters ride in a 64-bit lane and are emptied before they can overflow.
    """
    n, n_bytes = sets.shape
    n_sizes, k = counts.shape[0], counts.shape[1] - 1
    lanes = np.zeros((n_sizes, n_bytes), np.uint64)
    held = np.zeros(n_sizes, np.int64)
    for i in range(n):
        row, s = sets[i], 0
        if n_sizes > 1:
            members = np.int64(0)
            for b in range(n_bytes):
                members += popcount(np.uint64(row[b]))
            s = size_index[members]
        lane = lanes[s]
        for b in range(n_bytes):
            lane[b] += _spread(row[b])
        held[s] += 1
        if held[s] == 255:
            _empty(lanes, held, counts, s, k)
    for s in range(n_sizes):
        _empty(lanes, held, counts, s, k)


@compiled()
def _empty(lanes: Array, held: Array, counts: Array, s: int, k: int) -> None:
    for j in range(k):
        counts[s, j] += np.int64((lanes[s, j >> 3] >> np.uint64(8 * (j & 7))) & np.uint64(255))
    counts[s, k] += held[s]
    held[s] = 0
    for b in range(lanes.shape[1]):
        lanes[s, b] = 0


def _first_impossible_by_columns(sets: Array, k: int, size_index: Array) -> Any:
    """``first_impossible_set``, all members at a time."""
    for start in range(0, len(sets), _ROWS):
        members = np.unpackbits(sets[start : start + _ROWS], axis=1, bitorder="little")
        wrong = members[:, k:].any(axis=1) | (size_index[members.sum(axis=1)] < 0)
        if wrong.any():
            return start + int(np.argmax(wrong))
    return -1


@compiled(instead=_first_impossible_by_columns)
def first_impossible_set(sets: Array, k: int, size_index: Array) -> Any:
    """The first row that is not a set of ``k`` categories of an allowed size (``size_index`` >= 0), or -1."""
    n, n_bytes = sets.shape
    beyond = (255 << (k % 8)) & 255 if k % 8 else 0
    for i in range(n):
        members = 0
        for b in range(n_bytes):
            members += popcount(np.uint64(sets[i, b]))
        if (sets[i, n_bytes - 1] & beyond) != 0 or size_index[members] < 0:
            return i
    return -1


def _count_codes_at_once(codes: Array, n_codes: int) -> Array:
    return np.bincount(codes, minlength=n_codes)


@compiled(instead=_count_codes_at_once)
def count_codes(codes: Array, n_codes: int) -> Array:
    """How often each code occurs; four counters per code keep equal neighbours from waiting for each other."""
    counts = np.zeros((4, n_codes), np.int64)
    whole = len(codes) // 4 * 4
    for i in range(0, whole, 4):
        counts[0, codes[i]] += 1
        counts[1, codes[i + 1]] += 1
        counts[2, codes[i + 2]] += 1
        counts[3, codes[i + 3]] += 1
    for i in range(whole, len(codes)):
        counts[0, codes[i]] += 1
    total: Array = counts[0] + counts[1] + counts[2] + counts[3]
    return total
