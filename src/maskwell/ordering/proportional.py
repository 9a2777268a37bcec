"""Reports that say the same: rows of a matrix that are multiples of each other.

Two such reports have the same likelihood function, so telling them apart is of no use to anyone, and merging them
changes neither what a design tells nor what it hides (chai-nayak-2018, Remark 4.1). After merging, two designs tell
the same exactly if they have the same rows in some order (Theorem 4.1 there).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Design, Matrix
from maskwell.designs.channels import SizeRow
from maskwell.designs.channels.deviations import TOLERANCE
from maskwell.designs.kinds.matrix import MatrixDesign
from maskwell.designs.kinds.subsets import SubsetDesign
from maskwell.ordering.comparable import (
    both_by_size,
    comparable,
    comparable_pair,
    error_scale,
    mass_scale,
    paired_tables,
    plain_set,
)
from maskwell.results.result import Result
from maskwell.sampling.samplers import TOTAL

_UNITS = 4  # by which two roundings of one weight may differ, and one more for each ratio


@dataclass(frozen=True)
class Equivalence(Result):
    """Whether two designs tell the same. ``slack`` is the largest relative difference between matched rows."""

    holds: bool
    slack: float

    def __bool__(self) -> bool:
        return self.holds

    def _title(self) -> str:
        return f"the designs {'tell' if self.holds else 'do not tell'} the same"


def proportional_rows(table: Matrix, tolerance: float = TOLERANCE) -> list[list[int]]:
    """The rows in groups of multiples of each other, each group led by its first row; rows of zeros are left out."""
    masses = table.sum(axis=1)
    present = np.flatnonzero(masses > 0)
    shapes = table[present] / masses[present, None]
    # Proportional rows have nearly the same product with any vector; with this one hardly any others have.
    keys = shapes @ (1 + np.modf(np.arange(1, table.shape[1] + 1) * (5**0.5 - 1) / 2)[0])
    order = np.argsort(keys, kind="stable")
    window = 2 * tolerance * keys.max(initial=0.0)
    groups: list[list[int]] = []
    recent: list[int] = []  # groups whose key may still be near enough, as positions
    lead: list[int] = []
    for at in order.tolist():
        recent = [g for g in recent if keys[at] - keys[lead[g]] <= window]
        for g in recent:
            if np.abs(shapes[at] - shapes[lead[g]]).max() <= tolerance * shapes[lead[g]].max():
                groups[g].append(int(present[at]))
                break
        else:
            recent.append(len(groups))
            lead.append(at)
            groups.append([int(present[at])])
    return sorted(sorted(group) for group in groups)


@overload
def merge_proportional(design: Design) -> Design: ...
@overload
def merge_proportional(design: NDArray[Any] | Sequence[Any]) -> Matrix: ...
def merge_proportional(design: Any) -> Design | Matrix:
    """The same design, or table, with proportional rows added up: it tells and hides what it did before.

    >>> merge_proportional([[0.2, 0.1], [0.4, 0.2], [0.4, 0.7]])
    array([[0.6, 0.3],
           [0.4, 0.7]])
    """
    given = comparable(design, "design")
    if given.design is None:
        table = given.channel.floats
        return np.array([table[group].sum(axis=0) for group in proportional_rows(table)])
    # Joint rows are proportional exactly if their parts are, so the parts are merged and the result is a product again.
    return given.design.by_parts(_merged)


def _merged(design: Design) -> Design:
    # Symmetric designs have too many rows to be compared one by one, and stay symmetric when sizes are merged.
    if design.channel.sizes:
        return _merged_sizes(design)
    groups = proportional_rows(design.channel.floats)
    if len(groups) == design.report_count():
        return design
    exact = design.matrix(exact=True)
    labels = design.report_labels()
    return _from_exact(design, [exact[group].sum(axis=0) for group in groups], [_joined(labels, g) for g in groups])


def _from_exact(design: Design, rows: list[NDArray[Any]], reports: list[Any]) -> MatrixDesign:
    from maskwell.designs.named.matrices import build

    if len({type(report) for report in reports}) > 1:
        reports = [str(report) for report in reports]
    if len(set(reports)) < len(reports):
        reports = list(range(len(reports)))
    return build(design.categories, rows, reports, name=design.name, parameters=design.parameters, demand=design.demand)


def _joined(labels: list[Any], group: list[int]) -> Any:
    if len(group) == 1 and isinstance(labels[group[0]], (str, int)):
        return labels[group[0]]
    chosen = (labels[row] for row in group)
    return " or ".join(plain_set(label) if isinstance(label, frozenset) else str(label) for label in chosen)


# Symmetric designs. A set and another one are proportional if both say nothing, or if they are each other's complement
# and as much for the truth as the other is against it.


def _merged_sizes(design: Design) -> Design:
    k, rows = design.k, design.channel.sizes
    merged = {row.size: row for row in rows}
    silent = [row.size for row in merged.values() if row.odds(k) == 1]
    if len(silent) > 1 or any(0 < size < k for size in silent):
        weight = sum(merged.pop(size).weight for size in silent)
        merged[k] = SizeRow(k, weight, 0)
    for size in sorted(merged):
        other = merged.get(k - size)
        if 2 * size < k and size in merged and other is not None and size:
            mirror = other.complement(k)
            if _proportional(k, merged[size], mirror):
                del merged[k - size]
                row = merged[size]
                merged[size] = SizeRow(size, row.inside + mirror.inside, row.outside + mirror.outside)
    if tuple(merged.values()) == rows:
        return design
    sizes, inside, outside = zip(*(merged[size] for size in sorted(merged)), strict=True)
    about: dict[str, Any] = {"name": design.name, "parameters": design.parameters, "demand": design.demand}
    return SubsetDesign(design.categories, sizes, inside, outside, **about)


def _proportional(k: int, a: SizeRow, b: SizeRow) -> bool:
    """Whether sets of one size have the same ratio, but for 1e-9 or for the rounding of their weights."""
    first, second = a.odds(k), b.odds(k)
    if math.inf in (first, second) or 0 in (first, second):
        return first == second
    rounding = _UNITS / min(w for row in (a, b) for w in (row.inside, row.outside) if w)
    return abs(float(first / second - 1)) <= max(TOLERANCE, rounding)


def equivalent(a: Any, b: Any) -> Equivalence:
    """Whether two designs (or tables) tell the same: equal up to the order of rows once proportional ones are merged.

    Relative tolerance 1e-9; the slack is reported. Equivalent designs dominate each other.
    """
    first, second = comparable_pair(a, b)
    if both_by_size(first, second):
        slack = _size_difference(first.channel.k, first.channel.sizes, second.channel.sizes)
    else:
        slack = _row_difference(*paired_tables(first, second))
    return Equivalence(slack <= TOLERANCE, slack)


def _row_difference(first: Matrix, second: Matrix) -> float:
    both, m = np.vstack([first, second]), len(first)
    worst = 0.0
    for group in proportional_rows(both):
        rows = np.array(group)
        mine, theirs = (both[part].sum(axis=0) for part in (rows[rows < m], rows[rows >= m]))
        scale = error_scale(np.maximum(mine, theirs)[None, :])[0]
        worst = max(worst, float(np.abs(mine - theirs).max() / scale))
    return worst


def _size_difference(k: int, *sizes: tuple[SizeRow, ...]) -> float:
    """The same by size: sets are named so that they favour the truth, and those that say nothing by size k."""
    named = [(at, _favouring(k, row)) for at, rows in enumerate(sizes) for row in rows]
    families: list[tuple[SizeRow, list[int]]] = []
    for at, row in named:
        family = next((f for f in families if f[0].size == row.size and _proportional(k, f[0], row)), None)
        if family is None:
            family = (row, [0, 0])
            families.append(family)
        family[1][at] += row.weight
    masses = np.array([weights for _, weights in families], float) / TOTAL
    return float((np.abs(masses[:, 0] - masses[:, 1]) / mass_scale(masses.max(axis=1))).max())


def _favouring(k: int, row: SizeRow) -> SizeRow:
    return SizeRow(k, row.weight, 0) if row.odds(k) == 1 else row.favouring(k)
