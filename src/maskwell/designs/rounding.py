"""From real probabilities to the integers that the sampler uses, never against privacy.

Whatever is rounded here comes out with each row's parity at most what was claimed or given. A set size that is too
rare to be given in integers at that parity is dropped, and its weight goes to the most frequent size.
"""

import math
from collections.abc import Iterable, Mapping
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np

from maskwell.designs.channels.numbers import Exact
from maskwell.designs.channels.rows import row_parity
from maskwell.errors import DesignError
from maskwell.exact import eliminate, solve
from maskwell.limits import MOST_BITS, MOST_STEPS
from maskwell.sampling.samplers import TOTAL

SizeWeights = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]

_DECIMAL = Context(prec=50)
_SUM_TOLERANCE = Fraction(1, 10**9)
_SIMPLE_DENOMINATOR = 10**6


def split_at_parity(k: int, shares: Mapping[int, Decimal], bound: Fraction) -> SizeWeights:
    """Sizes with their weights inside and outside, such that no set's parity exceeds ``bound``."""
    weights = {size: out_of_total(share) for size, share in shares.items()}
    kept = {size: split for size, w in weights.items() if (split := _split(k, size, w, bound))}
    most = max(kept, key=lambda size: sum(kept[size]), default=None)
    rest = TOTAL - sum(i + o for size, (i, o) in kept.items() if size != most)
    largest = None if most is None else _split(k, most, rest, bound)
    if most is None or largest is None:
        raise DesignError(
            f"a parity of at most 1 + {float(bound - 1):.3g} cannot be given in integers out of 2^64; "
            "use an epsilon of 1e-15 or more (below that nothing could be estimated anyway)."
        )
    kept[most] = largest
    sizes = tuple(sorted(kept))
    return sizes, tuple(kept[s][0] for s in sizes), tuple(kept[s][1] for s in sizes)


def out_of_total(share: Decimal) -> int:
    """A share as a whole number out of 2^64, rounded down."""
    return int(_DECIMAL.multiply(share, Decimal(TOTAL)))


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


def always_inside(shares: Mapping[int, Decimal]) -> SizeWeights:
    """Sizes whose sets always hold the truth."""
    weights = {size: out_of_total(share) for size, share in shares.items()}
    most = max(weights, key=lambda size: weights[size])
    weights[most] += TOTAL - sum(weights.values())
    sizes = tuple(sorted(size for size, w in weights.items() if w))
    return sizes, tuple(weights[s] for s in sizes), (0,) * len(sizes)


def refuse_long_denominator(values: Iterable[Fraction], name: str) -> None:
    """Before fractions are added up: an error if their common denominator would be longer than any number may be."""
    denominator = 1
    for value in values:
        denominator = math.lcm(denominator, value.denominator)
        if denominator.bit_length() > MOST_BITS:
            raise DesignError(
                f"{name}: the common denominator of these fractions has more than {MOST_BITS} bits; pass floats or "
                "simpler fractions."
            )


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
    exact = _common_denominator(matrix)
    if exact is not None:
        return exact
    # One column tells cheaply whether the floats stand for simple fractions.
    if sum(p.limit_denominator(_SIMPLE_DENOMINATOR) for p in matrix[:, 0]) == 1:
        simple = np.vectorize(lambda p: p.limit_denominator(_SIMPLE_DENOMINATOR), otypes=[object])(matrix)
        exact = _common_denominator(simple)
        if exact is not None and _no_row_worse(exact[0], matrix):
            return exact
    rounded = table_out_of_total(matrix)
    if not _no_row_worse(rounded, matrix):
        raise DesignError("P cannot be given in integers out of 2^64 without raising a row's parity; pass fractions.")
    return rounded, TOTAL


def _common_denominator(matrix: Exact) -> tuple[Exact, int] | None:
    denominator = 1
    for p in matrix.flat:
        denominator = math.lcm(denominator, p.denominator)
        if denominator > TOTAL:
            return None
    if (matrix.sum(axis=0) != 1).any():
        return None
    return np.vectorize(lambda p: int(p * denominator), otypes=[object])(matrix), denominator


def _no_row_worse(integers: Exact, matrix: Exact) -> bool:
    same_zeros = bool(((integers == 0) == (matrix == 0)).all())
    return same_zeros and all(row_parity(a) <= row_parity(b) for a, b in zip(integers, matrix, strict=True))


def table_out_of_total(matrix: Exact) -> Exact:
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
    fixed = dict(zip(constant, largest_remainder([matrix[i, 0] for i in constant]), strict=True))
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


def largest_remainder(shares: list[Fraction]) -> list[int]:
    """Integers out of 2^64 nearest to the shares, with the sum that the shares have."""
    floors = [int(share * TOTAL) for share in shares]
    by_remainder = sorted(range(len(shares)), key=lambda i: shares[i] * TOTAL - floors[i], reverse=True)
    for i in by_remainder[: round(sum(shares) * TOTAL) - sum(floors)]:
        floors[i] += 1
    return floors


def sums_by_category(chances: Mapping[frozenset[int], Fraction], k: int) -> tuple[list[int], int]:
    """For each category the chances of the sets that hold it, added up, as numerators over a common denominator."""
    denominator = math.lcm(*(p.denominator for p in chances.values()))
    sums = [0] * k
    for members, chance in chances.items():
        weight = int(chance * denominator)
        for j in members:
            sums[j] += weight
    return sums, denominator


def balanced_set_weights(chances: Mapping[frozenset[int], Fraction], k: int) -> tuple[dict[frozenset[int], int], int]:
    """Integer weights of sets, and their total, such that the weights of the sets that hold a category sum to it.

    Fractions that balance exactly are taken as they are. Otherwise all sets but a basis are rounded and the basis
    takes what is left: with weights in multiples of the basis's determinant it comes out whole.
    """
    subsets = list(chances)
    for candidate in (chances, {a: p.limit_denominator(_SIMPLE_DENOMINATOR) for a, p in chances.items()}):
        sums, denominator = sums_by_category(candidate, k)
        if denominator <= TOTAL and set(sums) == {denominator} and all(candidate.values()):
            return {a: int(p * denominator) for a, p in candidate.items()}, denominator
    basis, determinant = _basis(subsets, k)
    total = TOTAL // determinant * determinant
    weights = {a: round(p * total / determinant) * determinant for a, p in chances.items() if a not in basis}
    left = [total - sum(w for a, w in weights.items() if j in a) for j in range(k)]
    for a, w in zip(basis, solve([[int(j in a) for a in basis] for j in range(k)], left), strict=True):
        weights[a] = int(w)
    if min(weights.values()) <= 0:
        raise DesignError(
            "subset_probs are too small or too unequal to be given in integers; pass fractions.",
            parameter="subset_probs",
        )
    return weights, total


def _basis(subsets: list[frozenset[int]], k: int) -> tuple[list[frozenset[int]], int]:
    """Sets whose membership vectors span those of all sets, and the determinant of that system."""
    if len(subsets) * k * k > MOST_STEPS:
        raise DesignError(
            f"subset_probs as floats for {len(subsets)} subsets of {k} categories take too long to be made exact; pass "
            "fractions whose sums are 1."
        )
    _, pivots, determinant = eliminate([[int(j in subset) for subset in subsets] for j in range(k)])
    if len(pivots) < k:
        raise DesignError("subset_probs as floats must determine every category; pass fractions for such a design.")
    return [subsets[at] for at in pivots], abs(int(determinant))
