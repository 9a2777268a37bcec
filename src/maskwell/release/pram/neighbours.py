"""Which categories a moved value prefers: those next to it on a scale, or near it on a map."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import DesignError

Weights = dict[Any, dict[Any, float]]
"""``weights[truth][report]``: how much a move is preferred over others from the same category; 0 forbids it."""

_FINE = 1 << 20


def band(categories: Sequence[Hashable], width: int = 1) -> Weights:
    """Moves to the ``width`` nearest categories on either side of an ordered scale, all alike.

    >>> band(["low", "middle", "high"])["low"]
    {'middle': 1.0}
    """
    labels = list(categories)
    if len(set(labels)) < len(labels):
        raise DesignError("categories of a band must differ and be listed in their order.")
    if width < 1:
        raise DesignError(f"width must be a whole number >= 1; got {width!r}.", parameter="width")
    return {
        label: {labels[i]: 1.0 for i in range(max(0, j - width), min(len(labels), j + width + 1)) if i != j}
        for j, label in enumerate(labels)
    }


def by_distance(
    categories: Iterable[Hashable], distance: Callable[[Any, Any], float], *, scale: float, farthest: float = math.inf
) -> Weights:
    """Moves that become rarer with distance, in proportion to exp(-distance / scale), and none beyond ``farthest``.

    >>> weights = by_distance([0, 1, 5], lambda a, b: abs(a - b), scale=1, farthest=4)
    >>> sorted(weights[0]), sorted(weights[1])
    ([1], [0, 5])
    """
    labels = list(categories)
    if not scale > 0:
        raise DesignError(f"scale must be positive; got {scale!r}.", parameter="scale")
    weights: Weights = {}
    for truth in labels:
        far = {report: float(distance(truth, report)) for report in labels if report != truth}
        if any(not d >= 0 for d in far.values()):
            raise DesignError("distance must give a number >= 0 for every pair of categories.", parameter="distance")
        near = {report: d for report, d in far.items() if d <= farthest}
        # From the nearest one on, so that no category is so remote that all its weights vanish.
        least = min(near.values(), default=0.0)
        weights[truth] = {report: math.exp((least - d) / scale) for report, d in near.items()}
    return weights


def kernel(
    labels: Sequence[Any],
    preferred: Mapping[Any, Mapping[Any, float]] | None,
    zeros: Iterable[tuple[Any, Any]],
    exempt: Iterable[Any],
) -> NDArray[np.float64]:
    """``K[report, truth]``: whole-number preferences by position, 0 on the diagonal and where a move is forbidden."""
    position = {label: i for i, label in enumerate(labels)}
    matrix = np.ones((len(labels), len(labels)))
    if preferred is not None:
        matrix[:] = 0
        for truth, reports in preferred.items():
            for report, weight in reports.items():
                if not (weight >= 0 and math.isfinite(weight)):
                    raise DesignError(
                        f"neighbours must hold finite weights >= 0; got {weight!r}.", parameter="neighbours"
                    )
                if truth in position and report in position:
                    matrix[position[report], position[truth]] = weight
        top = matrix.max(axis=0, keepdims=True)
        # Whole numbers are exact; a weight that is allowed at all stays allowed.
        fine = np.rint(matrix / np.where(top > 0, top, 1) * _FINE)
        matrix = np.where(matrix > 0, np.maximum(fine, 1), 0)
    for truth, report in zeros:
        if truth in position and report in position:
            matrix[position[report], position[truth]] = 0
    for label in exempt:
        if label in position:
            matrix[position[label], :] = 0
            matrix[:, position[label]] = 0
    np.fill_diagonal(matrix, 0)
    return matrix
