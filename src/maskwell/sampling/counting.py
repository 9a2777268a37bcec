"""Counting packed reports, in threads where it pays; weighted counts are sums of weights."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.sampling.threads import in_threads, worker_count

_WEIGHTED_ROWS = 1 << 14
# Enough for a thread to be worth starting: some tenths of a millisecond.
_THREAD_CODES, _THREAD_BYTES = 1 << 19, 1 << 16
_MANY_NARROW = 1 << 16  # as many sets as there can be codes of two bytes


def count_codes(codes: NDArray[Any], n_codes: int, weights: NDArray[np.float64] | None = None) -> NDArray[Any]:
    """How often each code occurs, or the sum of its weights."""
    if weights is not None:
        return np.bincount(codes, weights, minlength=n_codes)
    from maskwell.sampling.counting_kernels import count_codes as kernel

    parts = np.array_split(codes, worker_count(len(codes), _THREAD_CODES))
    return sum(in_threads(lambda part: kernel(part, n_codes), parts), np.zeros(n_codes, np.int64))


def count_sets(
    sets: NDArray[np.uint8],
    size_index: NDArray[np.int64],
    shape: tuple[int, ...],
    weights: NDArray[np.float64] | None = None,
) -> NDArray[Any]:
    """Counts by (size, category), the last column for reports of that size."""
    if weights is not None:
        return _weighted_sets(sets, size_index, shape, weights)
    if sets.shape[1] <= 2 and len(sets) >= _MANY_NARROW:
        return _narrow_sets(sets, size_index, shape)
    from maskwell.sampling.counting_kernels import count_sets as kernel

    def count(part: NDArray[np.uint8]) -> NDArray[np.int64]:
        counts = np.zeros(shape, np.int64)
        kernel(part, size_index, counts)
        return counts

    parts = np.array_split(sets, worker_count(sets.size, _THREAD_BYTES))
    return sum(in_threads(count, parts), np.zeros(shape, np.int64))


def _narrow_sets(sets: NDArray[np.uint8], size_index: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[Any]:
    """Sets of at most 16 categories are codes of one or two bytes: each that occurs is unpacked once."""
    n_bytes = sets.shape[1]
    times = count_codes(np.ascontiguousarray(sets).reshape(-1).view(f"<u{n_bytes}"), 1 << 8 * n_bytes)
    codes = np.flatnonzero(times)
    distinct = codes.astype(f"<u{n_bytes}").view(np.uint8).reshape(-1, n_bytes)
    return _weighted_sets(distinct, size_index, shape, times[codes])


def _weighted_sets(
    sets: NDArray[np.uint8],
    size_index: NDArray[np.int64],
    shape: tuple[int, ...],
    weights: NDArray[Any],
) -> NDArray[Any]:
    counts = np.zeros(shape, weights.dtype)
    k = shape[1] - 1
    for start in range(0, len(sets), _WEIGHTED_ROWS):
        bits = np.unpackbits(sets[start : start + _WEIGHTED_ROWS], axis=1, count=k, bitorder="little")
        part = weights[start : start + _WEIGHTED_ROWS]
        rows = size_index[bits.sum(axis=1, dtype=np.int64)]
        for row in np.unique(rows):
            chosen = rows == row
            counts[row, :k] += part[chosen] @ bits[chosen]
            counts[row, k] += part[chosen].sum()
    return counts
