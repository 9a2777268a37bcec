"""Reports that say the same: rows of a matrix that are multiples of each other.

Two such reports have the same likelihood function, so telling them apart is of no use to anyone, and merging them
changes neither what a design tells nor what it hides (chai-nayak-2018, Remark 4.1). After merging, two designs tell
the same exactly if they have the same rows in some order (Theorem 4.1 there).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from maskwell.auditing.tables import TOLERANCE, as_table, error_scale, mass_scale, paired, refuse_other_categories
from maskwell.designs.base import Design, Matrix
from maskwell.designs.matrix import MatrixDesign
from maskwell.designs.product import ProductDesign
from maskwell.designs.subsets import SubsetDesign
from maskwell.sampling.plans import TOTAL

_UNITS = 4  # by which two roundings of one weight may differ, and one more for each ratio


class Sets(NamedTuple):
    """All sets of one size of a symmetric design, as weights out of 2^64."""

    size: int
    inside: int
    outside: int

    @property
    def weight(self) -> int:
        return self.inside + self.outside


@dataclass(frozen=True)
class Equivalence:
    """Whether two designs tell the same. ``slack`` is the largest relative difference between matched rows."""

    holds: bool
    slack: float

    def __bool__(self) -> bool:
        return self.holds


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
    if isinstance(design, SubsetDesign):
        return _merged_sizes(design)
    if isinstance(design, ProductDesign):
        # Joint rows are proportional exactly if their parts are.
        return replace(design, parts=tuple(merge_proportional(part) for part in design.parts))
    table = as_table(design, "design")
    groups = proportional_rows(table)
    if not isinstance(design, Design):
        return np.array([table[group].sum(axis=0) for group in groups])
    if len(groups) == len(table):
        return design
    exact = design.matrix(exact=True)
    labels = design.report_labels()
    return _from_exact(design, [exact[group].sum(axis=0) for group in groups], [_joined(labels, g) for g in groups])


def _from_exact(design: Design, rows: list[NDArray[Any]], reports: list[Any]) -> MatrixDesign:
    from maskwell.designs.explicit import build

    if len({type(report) for report in reports}) > 1:
        reports = [str(report) for report in reports]
    if len(set(reports)) < len(reports):
        reports = list(range(len(reports)))
    return build(design.categories, rows, reports, name=design.name, parameters=design.parameters, demand=design.demand)


def _joined(labels: list[Any], group: list[int]) -> Any:
    if len(group) == 1 and isinstance(labels[group[0]], (str, int)):
        return labels[group[0]]
    return " or ".join(_plain(labels[row]) for row in group)


def _plain(label: Any) -> str:
    return "{" + ", ".join(sorted(map(str, label))) + "}" if isinstance(label, frozenset) else str(label)


# Symmetric designs. A set and another one are proportional if both say nothing, or if they are each other's complement
# and as much for the truth as the other is against it.


def sets_of(design: SubsetDesign) -> list[Sets]:
    """The sizes of a design with their weights."""
    return [Sets(*row) for row in zip(design.sizes, design.inside, design.outside, strict=True)]


def ratio(k: int, sets: Sets) -> Fraction | None:
    """How much likelier such a set is for its members than for others; None stands for infinity."""
    if sets.size in (0, k):
        return Fraction(1)
    return Fraction(sets.inside * (k - sets.size), sets.outside * sets.size) if sets.outside else None


def complement(k: int, sets: Sets) -> Sets:
    """The same reports, each named by the categories that it leaves out."""
    return Sets(k - sets.size, sets.outside, sets.inside)


def _merged_sizes(design: SubsetDesign) -> SubsetDesign:
    k, merged = design.k, {sets.size: sets for sets in sets_of(design)}
    silent = [sets.size for sets in merged.values() if ratio(k, sets) == 1]
    if len(silent) > 1 or any(0 < size < k for size in silent):
        weight = sum(merged.pop(size).weight for size in silent)
        merged[k] = Sets(k, weight, 0)
    for size in sorted(merged):
        other = merged.get(k - size)
        if 2 * size < k and size in merged and other is not None and size:
            mirror = complement(k, other)
            if _proportional(k, merged[size], mirror):
                del merged[k - size]
                merged[size] = Sets(size, merged[size].inside + mirror.inside, merged[size].outside + mirror.outside)
    if list(merged.values()) == sets_of(design):
        return design
    sizes, inside, outside = zip(*(merged[size] for size in sorted(merged)), strict=True)
    about: dict[str, Any] = {"name": design.name, "parameters": design.parameters, "demand": design.demand}
    return SubsetDesign(design.categories, sizes, inside, outside, **about)


def _proportional(k: int, a: Sets, b: Sets) -> bool:
    """Whether sets of one size have the same ratio, but for 1e-9 or for the rounding of their weights."""
    first, second = ratio(k, a), ratio(k, b)
    if first is None or second is None or first == 0 or second == 0:
        return first == second
    rounding = _UNITS / min(w for sets in (a, b) for w in (sets.inside, sets.outside) if w)
    return abs(first / second - 1) <= max(TOLERANCE, rounding)


def equivalent(a: Any, b: Any) -> Equivalence:
    """Whether two designs (or tables) tell the same: equal up to the order of rows once proportional ones are merged.

    Relative tolerance 1e-9; the slack is reported. Equivalent designs dominate each other.
    """
    if isinstance(a, SubsetDesign) and isinstance(b, SubsetDesign):
        refuse_other_categories(a, b)
        slack = _size_difference(a, b)
    else:
        first, second = paired(a, b)
        slack = _row_difference(first, second)
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


def _size_difference(a: SubsetDesign, b: SubsetDesign) -> float:
    """The same by size: sets are named so that they favour the truth, and those that say nothing by size k."""
    named = [(design_at, _favouring(a.k, sets)) for design_at, d in enumerate((a, b)) for sets in sets_of(d)]
    families: list[tuple[Sets, list[int]]] = []
    for at, sets in named:
        family = next((f for f in families if f[0].size == sets.size and _proportional(a.k, f[0], sets)), None)
        if family is None:
            family = (sets, [0, 0])
            families.append(family)
        family[1][at] += sets.weight
    masses = np.array([weights for _, weights in families], float) / TOTAL
    return float((np.abs(masses[:, 0] - masses[:, 1]) / mass_scale(masses.max(axis=1))).max())


def _favouring(k: int, sets: Sets) -> Sets:
    odds = ratio(k, sets)
    if odds == 1:
        return Sets(k, sets.weight, 0)
    return sets if odds is None or odds > 1 else complement(k, sets)
