"""From real probabilities to the integers that the sampler uses, never against privacy.

Whatever is rounded here comes out with each row's parity at most what was claimed or given. A set size that is too
rare to be given in integers at that parity is dropped, and its weight goes to the most frequent size.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import DesignError
from maskwell.sampling.plans import TOTAL

SizeWeights = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
Exact = NDArray[Any]  # of Fractions, or of integers

_SUM_TOLERANCE = Fraction(1, 10**9)
_SIMPLE_DENOMINATOR = 10**6


def split_at_parity(k: int, shares: Mapping[int, Fraction], bound: Fraction) -> SizeWeights:
    """Sizes with their weights inside and outside, such that no set's parity exceeds ``bound``."""
    weights = {size: int(share * TOTAL) for size, share in shares.items()}
    kept = {size: split for size, w in weights.items() if (split := _split(k, size, w, bound))}
    most = max(kept, key=lambda size: sum(kept[size]))
    rest = TOTAL - sum(i + o for size, (i, o) in kept.items() if size != most)
    largest = _split(k, most, rest, bound)
    assert largest is not None
    kept[most] = largest
    sizes = tuple(sorted(kept))
    return sizes, tuple(kept[s][0] for s in sizes), tuple(kept[s][1] for s in sizes)


def _split(k: int, size: int, weight: int, bound: Fraction) -> tuple[int, int] | None:
    """Inside and outside parts of a size's weight at the largest ratio within the bound; None if no integers fit."""
    if weight == 0:
        return None
    if size in (0, k):
        return (0, weight) if size == 0 else (weight, 0)
    inside = math.floor(bound * size * weight / (k - size + bound * size))
    outside = weight - inside
    too_low = outside * size > bound * inside * (k - size)
    return None if inside == 0 or too_low else (inside, outside)


def always_inside(shares: Mapping[int, Fraction]) -> SizeWeights:
    """Sizes whose sets always hold the truth."""
    weights = {size: int(share * TOTAL) for size, share in shares.items()}
    most = max(weights, key=lambda size: weights[size])
    weights[most] += TOTAL - sum(weights.values())
    sizes = tuple(sorted(size for size, w in weights.items() if w))
    return sizes, tuple(weights[s] for s in sizes), (0,) * len(sizes)


def integer_matrix(matrix: Exact) -> tuple[Exact, int]:
    """Integer weights and their total per column for a matrix of fractions whose columns sum to 1.

    Fractions with a common denominator up to 2^64 are taken as they are. Otherwise each entry becomes the simple
    fraction that it is a float of, or a number out of 2^64, whichever first leaves every row's parity where it was or
    below.
    """
    for j, total in enumerate(matrix.sum(axis=0)):
        if abs(total - 1) > _SUM_TOLERANCE:
            raise DesignError(
                f"columns of P must sum to 1; column {j} sums to {float(total):.12g}. "
                "P[report, truth] holds one column per true category: transpose it if its rows sum to 1."
            )
    if (matrix < 0).any():
        raise DesignError(f"P must hold probabilities; its least entry is {float(matrix.min()):.6g}.")
    simple = np.vectorize(lambda p: p.limit_denominator(_SIMPLE_DENOMINATOR), otypes=[object])(matrix)
    for candidate in (matrix, simple):
        exact = _common_denominator(candidate)
        if exact is not None and (candidate is matrix or _no_row_worse(exact[0], matrix)):
            return exact
    rounded = _out_of_total(matrix)
    if not _no_row_worse(rounded, matrix):
        raise DesignError("P cannot be given in integers out of 2^64 without raising a row's parity; pass fractions.")
    return rounded, TOTAL


def _common_denominator(matrix: Exact) -> tuple[Exact, int] | None:
    denominator = math.lcm(*(p.denominator for p in matrix.flat))
    if denominator > TOTAL or (matrix.sum(axis=0) != 1).any():
        return None
    return np.vectorize(lambda p: int(p * denominator), otypes=[object])(matrix), denominator


def row_parity(row: Exact) -> Fraction | float:
    """Largest over smallest entry: 1 for a row of zeros, infinite if only some are zero."""
    low, high = min(row), max(row)
    if low == high:
        return Fraction(1)
    return Fraction(high) / Fraction(low) if low else math.inf


def _no_row_worse(integers: Exact, matrix: Exact) -> bool:
    same_zeros = bool(((integers == 0) == (matrix == 0)).all())
    return same_zeros and all(row_parity(a) <= row_parity(b) for a, b in zip(integers, matrix, strict=True))


def _out_of_total(matrix: Exact) -> Exact:
    """Round to integers that sum to 2^64 by column, each row kept between bounds of no larger ratio."""
    low, high = _row_bounds(matrix)
    weights = np.empty(matrix.shape, object)
    for i, row in enumerate(matrix):
        weights[i] = [0 if p == 0 else min(max(round(p * TOTAL), low[i]), high[i]) for p in row]
    for j in range(matrix.shape[1]):
        missing = TOTAL - sum(weights[:, j])
        rows = [i for i in range(len(matrix)) if matrix[i, j] != 0]
        room = {i: high[i] - weights[i, j] if missing > 0 else weights[i, j] - low[i] for i in rows}
        for i in sorted(rows, key=lambda i: room[i], reverse=True):
            step = min(abs(missing), max(room[i], 0)) * (1 if missing > 0 else -1)
            weights[i, j] += step
            missing -= step
        if missing:
            raise DesignError(
                "P cannot be given in integers out of 2^64 without raising a row's parity; pass fractions."
            )
    return weights


def _row_bounds(matrix: Exact) -> tuple[list[int], list[int]]:
    """Bounds for the integers of each row: constant rows fixed, rows with zeros free, others at their own ratio."""
    low, high = [], []
    constant = [i for i, row in enumerate(matrix) if row_parity(row) == 1 and row[0]]
    fixed = dict(zip(constant, _largest_remainder([matrix[i, 0] for i in constant]), strict=True))
    for i, row in enumerate(matrix):
        parity = row_parity(row)
        if i in fixed or not any(row):
            bounds = (fixed.get(i, 0),) * 2
        elif isinstance(parity, Fraction):
            least = math.ceil(min(row) * TOTAL)
            bounds = (least, math.floor(least * parity))
        else:
            bounds = (1, TOTAL)
        low.append(bounds[0])
        high.append(bounds[1])
    return low, high


def _largest_remainder(shares: list[Fraction]) -> list[int]:
    floors = [int(share * TOTAL) for share in shares]
    by_remainder = sorted(range(len(shares)), key=lambda i: shares[i] * TOTAL - floors[i], reverse=True)
    for i in by_remainder[: round(sum(shares) * TOTAL) - sum(floors)]:
        floors[i] += 1
    return floors
