"""Counting packed reports, in threads where it pays; weighted counts are sums of weights."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.sampling.samplers import worker_count

_WEIGHTED_ROWS = 1 << 14


def count_codes(codes: NDArray[Any], n_codes: int, weights: NDArray[np.float64] | None = None) -> NDArray[Any]:
    """How often each code occurs, or the sum of its weights."""
    if weights is not None:
        return np.bincount(codes, weights, minlength=n_codes)
    from maskwell.sampling.counting_kernels import count_codes as kernel

    parts = np.array_split(codes, worker_count(len(codes)))
    with ThreadPoolExecutor(len(parts)) as pool:
        return sum(pool.map(lambda part: kernel(part, n_codes), parts), np.zeros(n_codes, np.int64))


def count_sets(
    sets: NDArray[np.uint8],
    size_index: NDArray[np.int64],
    shape: tuple[int, ...],
    weights: NDArray[np.float64] | None = None,
) -> NDArray[Any]:
    """Counts by (size, category), the last column for reports of that size."""
    if weights is not None:
        return _weighted_sets(sets, size_index, shape, weights)
    from maskwell.sampling.counting_kernels import count_sets as kernel

    def count(part: NDArray[np.uint8]) -> NDArray[np.int64]:
        counts = np.zeros(shape, np.int64)
        kernel(part, size_index, counts)
        return counts

    parts = np.array_split(sets, worker_count(len(sets)))
    with ThreadPoolExecutor(len(parts)) as pool:
        return sum(pool.map(count, parts), np.zeros(shape, np.int64))


def _weighted_sets(
    sets: NDArray[np.uint8],
    size_index: NDArray[np.int64],
    shape: tuple[int, ...],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    counts = np.zeros(shape)
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
