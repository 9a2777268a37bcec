r"""Invariant matrices: transitions that leave every expected frequency exactly as it was, P T = T.

Two constructions. From any start matrix P, a second stage :math:`Q_{ij} = P_{ji} T_i / (PT)_j` undoes the drift, and QP
is invariant. From given diagonals, the flows between categories are balanced: what leaves a category, on average, is
what enters it, and each category stays with exactly the chance that was asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskwell.advice import Advice, Alternatives, Setting
from maskwell.designs.channels.stages import ChainedChannel, Weights, chained, stage
from maskwell.errors import DesignError
from maskwell.numerics import sparse
from maskwell.numerics.linear_programs import minimise
from maskwell.numerics.sparse import Sparse

LARGEST_TOTAL = 1 << 63
"""Up to which weights are made. Those of a design may sum to 2^64, and are kept."""

_ROUNDS = 2_000
_BALANCED = 1e-12


def two_stage(start: NDArray[np.object_], counts: Sequence[int]) -> ChainedChannel:
    """QP for a start matrix of fractions ``P[report, truth]`` and true frequencies; categories that never occur stay.

    A start whose denominators are too large for the second stage to be exact is rounded first: only the start is, so
    the result is invariant all the same.

    >>> P = np.array([[Fraction(4, 5), Fraction(1, 5)], [Fraction(1, 5), Fraction(4, 5)]], dtype=object)
    >>> two_stage(P, [30, 10]).keeps([30, 10])
    True
    """
    n = max(1, sum(counts))
    chances = _distinct(start)
    denominator = math.lcm(*(p.denominator for p in chances.values))
    if denominator * n > LARGEST_TOTAL:
        denominator = LARGEST_TOTAL // n
    first = _rounded(chances, denominator)
    # Records of each truth that come to each middle value; times the denominator, and so whole.
    second = (first * np.array(counts, np.uint64)).T
    never = ~second.any(axis=0)
    second[never, never] = 1
    return chained(stage(first), stage(second))


class _Distinct(NamedTuple):
    """The chances of a matrix, each once, and which of them every entry is: far fewer than entries, as a rule."""

    values: list[Fraction]
    position: NDArray[np.int64]


def _distinct(matrix: NDArray[np.object_]) -> _Distinct:
    found: dict[tuple[int, int], int] = {}
    position = [found.setdefault((p.numerator, p.denominator), len(found)) for p in matrix.ravel().tolist()]
    return _Distinct([Fraction(*pair) for pair in found], np.array(position).reshape(matrix.shape))


def _rounded(chances: _Distinct, denominator: int) -> Weights:
    """Whole numbers out of ``denominator`` by column; no positive chance becomes zero."""
    whole = np.array([max(1, round(p * denominator)) if p else 0 for p in chances.values], np.uint64)
    weights: Weights = whole[chances.position]
    # What rounding leaves over goes to the largest. Unsigned numbers wrap, so that it may be negative.
    every = np.arange(weights.shape[1])
    weights[weights.argmax(axis=0), every] += np.uint64(denominator) - weights.sum(axis=0)
    return weights


def balanced_flows(
    counts: Sequence[int], leaving: Sequence[Fraction], kernel: NDArray[np.float64], names: Sequence[str]
) -> ChainedChannel:
    """The invariant matrix whose category j is left with chance ``leaving[j]`` exactly.

    ``kernel[i, j]`` favours moves from j to i, and forbids them where it is 0. The flows are the kernel scaled to the
    margins that balance requires, then made whole.
    """
    k = len(counts)
    flow = [int(t) * chance for t, chance in zip(counts, leaving, strict=True)]
    moving = [j for j in range(k) if flow[j]]
    if not moving:
        return chained(stage(np.eye(k, dtype=np.uint64)))
    _refuse_too_much(flow, counts, kernel, names)
    scale = _scale(flow, max(counts))
    margin = np.array([int(flow[j] * scale) for j in moving], np.int64)
    weights = np.zeros((k, k), np.uint64)
    weights[np.ix_(moving, moving)] = _whole_flows(kernel[np.ix_(moving, moving)], margin)
    return _with_diagonal(weights, counts, scale)


def _with_diagonal(weights: Weights, counts: Sequence[int], scale: int) -> ChainedChannel:
    """The flows ``[report, truth]`` with those who stay, ``scale`` for each record; what never occurs stays."""
    totals = np.array([scale * int(t) for t in counts], np.uint64)
    np.fill_diagonal(weights, np.where(totals > 0, totals - weights.sum(axis=0), 1))
    return chained(stage(weights))


def mutual_flows(counts: Sequence[int], leaving: Sequence[Fraction], kernel: NDArray[np.float64]) -> ChainedChannel:
    """An invariant matrix whose category j is left with chance ``leaving[j]`` at most.

    As much moves from i to j as from j to i, whatever the frequencies, so a solution always exists. A move must be
    allowed both ways; how much is decided by the category that can spare less.
    """
    both = np.minimum(kernel, kernel.T).astype(np.int64)
    scale = 1 << (LARGEST_TOTAL // max(1, *counts)).bit_length() - 1
    shares = zip(counts, leaving, both.sum(axis=0).tolist(), strict=True)
    spare = [scale * int(t) * chance / max(1, total) for t, chance, total in shares]
    allowed = np.empty(both.shape, np.uint64)
    for j, outflow in enumerate(spare):
        preferences, position = np.unique(both[:, j], return_inverse=True)
        allowed[:, j] = np.array([math.floor(outflow * w) for w in preferences.tolist()], np.uint64)[position]
    # Rounding down keeps order, so that the category that can spare less also has the smaller whole number.
    return _with_diagonal(np.minimum(allowed, allowed.T), counts, scale)


def _refuse_too_much(
    flow: Sequence[Fraction], counts: Sequence[int], kernel: NDArray[np.float64], names: Sequence[str]
) -> None:
    sizes = np.array([float(f) for f in flow])
    within = (kernel > 0).T @ sizes - np.where(np.diagonal(kernel) > 0, sizes, 0)
    # Floats tell the clear cases from those that are computed exactly.
    for j in np.flatnonzero(sizes > within * (1 - 1e-9)).tolist():
        own = flow[j]
        reachable = sum((f for i, f in enumerate(flow) if i != j and kernel[i, j] > 0), Fraction(0))
        if own > reachable:
            lowest = 1 - reachable / counts[j]
            raise DesignError(
                Advice(
                    f"the diagonal is too low for a category of {counts[j]:,} records: more would leave it than enter "
                    "it from the categories it may move to, so frequencies could not be kept. Use ",
                    Alternatives(
                        [
                            (Setting("least_diagonal"), ", which raises it where needed"),
                            (
                                f"ask for at least {math.ceil(lowest * 10**4) / 10**4:.4f} for this category alone, or "
                                "use ",
                                Setting("invariant", False),
                            ),
                        ]
                    ),
                    ".",
                ),
                parameter="diagonal",
            )


def _scale(flow: Sequence[Fraction], largest: int) -> int:
    """A multiplier that makes all flows whole and leaves room for fine differences."""
    scale = math.lcm(*(f.denominator for f in flow))
    if scale * largest >= LARGEST_TOTAL:
        raise DesignError("the diagonal has too many digits to be kept exactly; give it with fewer, such as 0.85.")
    return scale << max(0, int(LARGEST_TOTAL // (2 * scale * largest)).bit_length() - 1)


def _whole_flows(kernel: NDArray[np.float64], margin: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whole non-negative numbers on the kernel's support whose rows and columns sum to the margin."""
    target = margin.astype(float)
    allowed = np.where(np.eye(len(margin), dtype=bool), 0.0, kernel)
    flow = _balanced(allowed, target)
    if flow is None:
        # Some allowed moves cannot occur at these margins; scaling would only creep towards their zeros.
        flow = _balanced(np.where(_possible(allowed > 0, target), allowed, 0.0), target)
    if flow is None:
        raise _impossible()
    whole = np.rint(flow).astype(np.int64)
    rows, columns = margin - whole.sum(axis=1), margin - whole.sum(axis=0)
    for i, j, change in _settle(flow, rows.tolist(), columns.tolist()):
        whole[i, j] += change
    if whole.min() < 0:
        raise _impossible()
    return whole


def _impossible() -> DesignError:
    return DesignError(
        Advice(
            "no invariant matrix has this diagonal with the moves that are allowed; ",
            Alternatives(
                [
                    ("allow more moves (a wider band, fewer zeros or exempt categories)",),
                    ("raise the diagonal",),
                    ("use ", Setting("invariant", False)),
                ]
            ),
            ".",
        ),
        parameter="diagonal",
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
    i, j = np.nonzero(allowed)
    k, edges = len(target), len(i)
    ones, every = np.ones(edges), np.arange(edges)
    sums = sparse.stacked([Sparse(ones, i, every, (k, edges)), Sparse(ones, j, every, (k, edges))])
    unit = target / target.min()
    small = 1e-3 / k
    # A positive flow earns up to ``small``.
    result = minimise(
        np.concatenate([np.zeros(edges), -ones]),
        limited=sparse.beside([Sparse.diagonal(-ones), Sparse.diagonal(ones)]),
        limits=np.zeros(edges),
        fixed=sparse.beside([sums, sparse.empty(2 * k, edges)]),
        totals=np.concatenate([unit, unit]),
        most=np.concatenate([np.full(edges, np.inf), np.full(edges, small)]),
    )
    if result.failure:
        raise _impossible()
    possible = np.zeros_like(allowed)
    possible[i, j] = result.x[edges:] > small / 10
    return possible


def _settle(flow: NDArray[np.float64], rows: list[int], columns: list[int]) -> list[tuple[int, int, int]]:
    """Changes along a spanning tree of the largest flows that take away what is left over in rows and columns."""
    k = len(rows)
    neighbours: list[set[int]] = [set() for _ in range(2 * k)]
    for a, b in _spanning_tree(flow):
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


def _spanning_tree(flow: NDArray[np.float64]) -> Iterator[tuple[int, int]]:
    """The largest flows that form no circle (Kruskal 1956), as pairs of nodes: rows first, columns after them."""
    k = len(flow)
    parent = list(range(2 * k))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = node = parent[parent[node]]
        return node

    i, j = np.nonzero(flow > 0)
    largest_first = np.argsort(-flow[i, j], kind="stable")
    for a, b in zip(i[largest_first].tolist(), (j[largest_first] + k).tolist(), strict=True):
        if root(a) != root(b):
            parent[root(a)] = root(b)
            yield a, b


def drifting(leaving: Sequence[Fraction], kernel: NDArray[np.float64], names: Sequence[str]) -> ChainedChannel:
    """The matrix with this diagonal and moves in proportion to the kernel; frequencies are not kept."""
    weights = np.rint(kernel).astype(np.int64)
    np.fill_diagonal(weights, 0)
    columns = []
    for j, (chance, total) in enumerate(zip(leaving, weights.sum(axis=0).tolist(), strict=True)):
        if chance and not total:
            raise DesignError(
                f"{names[j]} has nowhere to move to; allow a move, exempt it, or give it a diagonal of 1."
            )
        column = [chance.numerator * w for w in weights[:, j].tolist()]
        column[j] = (chance.denominator - chance.numerator) * max(1, total)
        columns.append(column)
    return chained(stage(list(zip(*columns, strict=True))))
