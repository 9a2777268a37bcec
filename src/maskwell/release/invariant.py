r"""Invariant matrices: transitions that leave every expected frequency exactly as it was, P T = T.

Two constructions. From any start matrix P, a second stage :math:`Q_{ij} = P_{ji} T_i / (PT)_j` undoes the drift, and QP
is invariant. From given diagonals, the flows between categories are balanced: what leaves a category, on average, is
what enters it, and each category stays with exactly the chance that was asked for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import DesignError
from maskwell.release.transitions import LARGEST_TOTAL, Transition, identity, stage

_ROUNDS = 2_000
_BALANCED = 1e-12


def two_stage(start: NDArray[np.object_], counts: Sequence[int]) -> Transition:
    """QP for a start matrix of fractions ``P[report, truth]`` and true frequencies; categories that never occur stay.

    A start whose denominators are too large for the second stage to be exact is rounded first: only the start is, so
    the result is invariant all the same.

    >>> P = np.array([[Fraction(4, 5), Fraction(1, 5)], [Fraction(1, 5), Fraction(4, 5)]], dtype=object)
    >>> two_stage(P, [30, 10]).keeps([30, 10])
    True
    """
    k, n = len(counts), max(1, sum(counts))
    denominator = math.lcm(*(Fraction(p).denominator for p in start.ravel().tolist()))
    if denominator * n > LARGEST_TOTAL:
        denominator = LARGEST_TOTAL // n
    first = [_rounded(list(start[:, j]), denominator) for j in range(k)]
    second = []
    for middle in range(k):
        column = [first[i][middle] * int(counts[i]) for i in range(k)]
        second.append(column if any(column) else [int(i == middle) for i in range(k)])
    return Transition((stage(first), stage(second)))


def _rounded(column: list[Fraction], denominator: int) -> list[int]:
    """Whole numbers out of ``denominator``; no positive chance becomes zero."""
    weights = [max(1, round(p * denominator)) if p else 0 for p in column]
    largest = max(range(len(weights)), key=lambda i: weights[i])
    weights[largest] += denominator - sum(weights)
    return weights


def balanced_flows(
    counts: Sequence[int], leaving: Sequence[Fraction], kernel: NDArray[np.float64], names: Sequence[str]
) -> Transition:
    """The invariant matrix whose category j is left with chance ``leaving[j]`` exactly.

    ``kernel[i, j]`` favours moves from j to i, and forbids them where it is 0. The flows are the kernel scaled to the
    margins that balance requires, then made whole.
    """
    k = len(counts)
    flow = [int(t) * chance for t, chance in zip(counts, leaving, strict=True)]
    moving = [j for j in range(k) if flow[j]]
    if not moving:
        return Transition((identity(k),))
    _refuse_too_much(flow, counts, kernel, names)
    scale = _scale(flow, max(counts))
    margin = [int(flow[j] * scale) for j in moving]
    whole = _whole_flows(kernel[np.ix_(moving, moving)], margin)
    columns = [[0] * k for _ in range(k)]
    for b, j in enumerate(moving):
        for a, i in enumerate(moving):
            columns[j][i] = int(whole[a, b])
    for j in range(k):
        columns[j][j] = scale * int(counts[j]) - sum(columns[j]) if counts[j] else 1
    return Transition((stage(columns),))


def mutual_flows(counts: Sequence[int], leaving: Sequence[Fraction], kernel: NDArray[np.float64]) -> Transition:
    """An invariant matrix whose category j is left with chance ``leaving[j]`` at most.

    As much moves from i to j as from j to i, whatever the frequencies, so a solution always exists. A move must be
    allowed both ways; how much is decided by the category that can spare less.
    """
    k = len(counts)
    both = [[int(min(kernel[i, j], kernel[j, i])) for i in range(k)] for j in range(k)]
    spare = [Fraction(int(t)) * chance / max(1, sum(row)) for t, chance, row in zip(counts, leaving, both, strict=True)]
    scale = 1 << (LARGEST_TOTAL // max(1, *counts)).bit_length() - 1
    columns = [[math.floor(scale * both[j][i] * min(spare[i], spare[j])) for i in range(k)] for j in range(k)]
    for j in range(k):
        columns[j][j] = scale * int(counts[j]) - sum(columns[j]) if counts[j] else 1
    return Transition((stage(columns),))


def _refuse_too_much(
    flow: Sequence[Fraction], counts: Sequence[int], kernel: NDArray[np.float64], names: Sequence[str]
) -> None:
    for j, own in enumerate(flow):
        reachable = sum((f for i, f in enumerate(flow) if i != j and kernel[i, j] > 0), Fraction(0))
        if own > reachable:
            lowest = 1 - reachable / counts[j]
            raise DesignError(
                f"the diagonal is too low for a category of {counts[j]:,} records: more would leave it than enter it "
                "from the categories it may move to, so frequencies could not be kept. Use least_diagonal, which "
                f"raises it where needed, ask for at least {math.ceil(lowest * 10**4) / 10**4:.4f} for this category "
                "alone, or use invariant=False."
            )


def _scale(flow: Sequence[Fraction], largest: int) -> int:
    """A multiplier that makes all flows whole and leaves room for fine differences."""
    scale = math.lcm(*(f.denominator for f in flow))
    if scale * largest > LARGEST_TOTAL:
        raise DesignError("the diagonal has too many digits to be kept exactly; give it with fewer, such as 0.85.")
    return scale << max(0, int(LARGEST_TOTAL // (2 * scale * largest)).bit_length() - 1)


def _whole_flows(kernel: NDArray[np.float64], margin: Sequence[int]) -> NDArray[np.object_]:
    """Whole non-negative numbers on the kernel's support whose rows and columns sum to the margin."""
    target = np.array([float(m) for m in margin])
    allowed = np.where(np.eye(len(margin), dtype=bool), 0.0, kernel)
    flow = _balanced(allowed, target)
    if flow is None:
        # Some allowed moves cannot occur at these margins; scaling would only creep towards their zeros.
        flow = _balanced(np.where(_possible(allowed > 0, target), allowed, 0.0), target)
    if flow is None:
        raise _impossible()
    whole = np.array([[round(x) for x in row] for row in flow.tolist()], dtype=object)
    rows = [m - int(sum(whole[i])) for i, m in enumerate(margin)]
    columns = [m - int(sum(whole[:, j])) for j, m in enumerate(margin)]
    for i, j, change in _settle(flow, rows, columns):
        whole[i, j] += change
    if whole.min() < 0:
        raise _impossible()
    return whole


def _impossible() -> DesignError:
    return DesignError(
        "no invariant matrix has this diagonal with the moves that are allowed; allow more moves (a wider band, fewer "
        "zeros or exempt categories), raise the diagonal, or use invariant=False."
    )


def _balanced(kernel: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The kernel with rows and columns scaled to the target sums; None if that does not succeed."""
    if not (kernel.sum(axis=0).all() and kernel.sum(axis=1).all()):
        return None
    right = np.ones(len(target))
    for _ in range(_ROUNDS):
        left = target / (kernel @ right)
        right = target / (kernel.T @ left)
        if not (np.isfinite(left).all() and np.isfinite(right).all()):
            return None
        if np.max(np.abs(left * (kernel @ right) / target - 1)) < _BALANCED:
            scaled: NDArray[np.float64] = left[:, None] * kernel * right[None, :]
            return scaled
    return None


def _possible(allowed: NDArray[np.bool_], target: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The allowed moves that are positive in some balanced flow: a linear program in which each gains from being so."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, eye_array, hstack, vstack

    i, j = np.nonzero(allowed)
    k, edges = len(target), len(i)
    ones, every = np.ones(edges), np.arange(edges)
    sums: Any = vstack(
        [coo_array((ones, (i, every)), shape=(k, edges)), coo_array((ones, (j, every)), shape=(k, edges))]
    )
    unit = target / target.min()
    small = 1e-3 / k
    # A positive flow earns up to ``small``.
    earned: Any = hstack([-eye_array(edges), eye_array(edges)])
    balance: Any = hstack([sums, coo_array((2 * k, edges))])
    result = linprog(
        np.concatenate([np.zeros(edges), -ones]),
        A_ub=earned,
        b_ub=np.zeros(edges),
        A_eq=balance,
        b_eq=np.concatenate([unit, unit]),
        bounds=[(0, None)] * edges + [(0, small)] * edges,
        method="highs",
    )
    if result.status != 0 or result.x is None:
        raise _impossible()
    possible = np.zeros_like(allowed)
    possible[i, j] = result.x[edges:] > small / 10
    return possible


def _settle(flow: NDArray[np.float64], rows: list[int], columns: list[int]) -> list[tuple[int, int, int]]:
    """Changes along a spanning tree of the largest flows that take away what is left over in rows and columns."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    k = len(rows)
    i, j = np.nonzero(flow > 0)
    tree = minimum_spanning_tree(coo_array((flow.max() / flow[i, j], (i, j + k)), shape=(2 * k, 2 * k))).tocoo()
    neighbours: list[set[int]] = [set() for _ in range(2 * k)]
    for a, b in zip(tree.row.tolist(), tree.col.tolist(), strict=True):
        neighbours[a].add(b)
        neighbours[b].add(a)
    left, changes = [*rows, *columns], []
    leaves = [node for node in range(2 * k) if len(neighbours[node]) == 1]
    while leaves:
        leaf = leaves.pop()
        if not neighbours[leaf]:
            continue
        other = neighbours[leaf].pop()
        neighbours[other].discard(leaf)
        changes.append((min(leaf, other), max(leaf, other) - k, left[leaf]))
        left[other] -= left[leaf]
        left[leaf] = 0
        if len(neighbours[other]) == 1:
            leaves.append(other)
    if any(left):
        raise _impossible()
    return changes


def drifting(leaving: Sequence[Fraction], kernel: NDArray[np.float64], names: Sequence[str]) -> Transition:
    """The matrix with this diagonal and moves in proportion to the kernel; frequencies are not kept."""
    columns = []
    for j, chance in enumerate(leaving):
        weights = [round(w) for w in kernel[:, j].tolist()]
        weights[j] = 0
        if chance and not sum(weights):
            raise DesignError(
                f"{names[j]} has nowhere to move to; allow a move, exempt it, or give it a diagonal of 1."
            )
        stay = (chance.denominator - chance.numerator) * max(1, sum(weights))
        columns.append([stay if i == j else chance.numerator * w for i, w in enumerate(weights)])
    return Transition((stage(columns),))
