"""Groups of points that lie near each other, each of a given size: microaggregation by MDAV.

The point farthest from the centre takes its nearest neighbours, then the point farthest from that one takes its own,
and so on (Domingo-Ferrer and Mateo-Sanz 2002). Time grows with the square of the number of points, so many of them are
first cut in halves, across the direction in which they spread most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from maskwell.tables.codes import Floats, Ints

_MOST_AT_ONCE = 1000
"""Points that are grouped in one go: some 30 milliseconds, whatever the size of the groups."""

Dealt = Callable[[int], None]
"""Told how many points have just been dealt with."""


def group_sizes(points: int, wanted: int, least: int) -> list[int]:
    """Sizes of groups of so many points in all: at most ``wanted``, but never below ``least`` if that can be avoided.

    >>> group_sizes(12, 5, 3), group_sizes(7, 3, 3), group_sizes(5, 3, 3)
    ([4, 4, 4], [4, 3], [5])
    """
    groups = -(-points // wanted)
    if points // groups < least:
        groups = max(points // least, 1)
    small, larger = divmod(points, groups)
    return [small + 1] * larger + [small] * (groups - larger)


def microaggregate(points: Floats, sizes: Sequence[int], dealt: Dealt | None = None) -> list[Ints]:
    """Groups of these sizes, as row numbers of the points."""
    groups: list[Ints] = []
    pending = [(np.arange(len(points)), list(sizes))]
    while pending:
        rows, wanted = pending.pop()
        if len(rows) <= _MOST_AT_ONCE or len(wanted) == 1:
            groups += [rows[group] for group in _mdav(points[rows], wanted)]
            if dealt:
                dealt(len(rows))
            continue
        half = len(wanted) // 2
        order = rows[np.argsort(_widest(points[rows]), kind="stable")]
        cut = sum(wanted[:half])
        pending += [(np.sort(order[cut:]), wanted[half:]), (np.sort(order[:cut]), wanted[:half])]
    return groups


def _widest(points: Floats) -> Floats:
    """The points along the direction in which they spread most."""
    centred = points - points.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    along: Floats = centred @ directions[:, -1]
    return along


def _mdav(points: Floats, sizes: Sequence[int]) -> list[Ints]:
    left, rows = points - points.mean(axis=0), np.arange(len(points))
    squares = np.einsum("ij,ij->i", left, left)
    groups: list[Ints] = []
    first = 0
    for i, size in enumerate(sizes[:-1]):
        n = len(points) - sum(sizes[:i])
        # Every second group starts at the point that lies farthest from the last one, the others from the centre.
        if i % 2 == 0:
            first = int(np.argmax(squares[:n]))
        centre = left[first].copy()
        distances = squares[:n] - 2 * (left[:n] @ centre)
        distances[first] = -np.inf
        group = np.argpartition(distances, size - 1)[:size] if size < n else np.arange(n)
        groups.append(rows[group])
        # The taken points give their places to the last ones, so that nothing else has to move.
        kept = n - size
        stays = np.ones(size, bool)
        stays[group[group >= kept] - kept] = False
        holes, movers = group[group < kept], kept + np.flatnonzero(stays)
        for array in (left, squares, rows):
            array[holes] = array[movers]
        if i % 2 == 0:
            first = int(np.argmax(squares[:kept] - 2 * (left[:kept] @ centre)))
    groups.append(rows[: sizes[-1]].copy())
    return groups
