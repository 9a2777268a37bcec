"""Row by row: how far a report can shift odds, which reports give the truth away, which say the same thing."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from maskwell.designs.base import Design
from maskwell.designs.rounding import row_parity
from maskwell.designs.subsets import SubsetDesign
from maskwell.sampling.plans import TOTAL


class RowParity(NamedTuple):
    """The parity of a row, or of all rows that stand for a set of one size.

    ``report`` is the size for symmetric designs and the report's label otherwise; ``rows`` counts them.
    """

    report: Any
    parity: Fraction | float
    rows: int


def row_parities(design: Design) -> list[RowParity]:
    """Largest over smallest entry of each row; 1 if the report says nothing, infinite if it rules something out."""
    if isinstance(design, SubsetDesign):
        rows = zip(design.sizes, design.inside, design.outside, _set_counts(design.k, design.sizes), strict=True)
        return [RowParity(s, _size_parity(design.k, s, inside, outside), count) for s, inside, outside, count in rows]
    labelled = zip(design.report_labels(), design.matrix(exact=True), strict=True)
    return [RowParity(label, row_parity(row), 1) for label, row in labelled]


def _size_parity(k: int, s: int, inside: int, outside: int) -> Fraction | float:
    if not 0 < s < k:
        return Fraction(1)
    if not inside or not outside:
        return math.inf
    ratio = Fraction(inside * (k - s), outside * s)
    return max(ratio, 1 / ratio)


def _set_counts(k: int, sizes: tuple[int, ...]) -> Iterator[int]:
    """How many sets there are of each size; from one size to the next, which is far cheaper than each afresh."""
    s, count = 0, 1
    for size in sizes:
        if size - s > 1:
            s, count = size, math.comb(k, size)
        elif size > s:
            s, count = size, count * (k - s) // size
        yield count


class Exposure(NamedTuple):
    """Reports that leave one category possible: the chance of one, for the truth that is worst off, and which."""

    chance: Fraction
    reports: tuple[Any, ...]


def exposure(design: Design) -> Exposure:
    """How often a report proves the truth, to anyone and without any prior knowledge."""
    if isinstance(design, SubsetDesign):
        # A set alone proves its only member; a set that never holds the truth proves the only category left out.
        proving = [
            (s, inside + outside)
            for s, inside, outside in zip(design.sizes, design.inside, design.outside, strict=True)
            if (s == 1 and not outside) or (s == design.k - 1 and not inside)
        ]
        chance = Fraction(sum(weight for _, weight in proving), TOTAL)
        return Exposure(chance, tuple(f"any set of {s}" for s, _ in proving))
    matrix = design.matrix(exact=True)
    rows = [z for z, row in enumerate(matrix) if sum(p > 0 for p in row) == 1]
    labels = design.report_labels()
    chances = [sum((matrix[z, j] for z in rows), Fraction(0)) for j in range(design.k)]
    return Exposure(max(chances), tuple(labels[z] for z in rows))


def proportional_rows(design: Design) -> int:
    """How many rows could be merged into others without loss, because they shift every odds alike."""
    if not isinstance(design, SubsetDesign):
        return sum(len(group) - 1 for group in proportional_groups(design))
    k = design.k
    by_size = {s: (i, o) for s, i, o in zip(design.sizes, design.inside, design.outside, strict=True)}
    # With a = i / C(k-1, s-1) and b = o / C(k-1, s), the ratio a : b is i (k-s) : o s.
    silent = [s for s, (i, o) in by_size.items() if i * (k - s) == o * s or s in (0, k)]
    merged = max(0, sum(math.comb(k, s) for s in silent) - 1)
    for s, (i, o) in by_size.items():
        if s in silent or k - s <= s or k - s not in by_size:
            continue
        # A set and its complement say the same if what one makes likelier the other makes less likely, alike.
        i2, o2 = by_size[k - s]
        if i * (k - s) * i2 * s == o * s * o2 * (k - s):
            merged += math.comb(k, s)
    return merged


def proportional_groups(design: Design) -> list[tuple[Any, ...]]:
    """The reports that say the same, by groups of two or more; needs the matrix."""
    groups: dict[tuple[Fraction, ...], list[Any]] = {}
    for label, row in zip(design.report_labels(), design.matrix(exact=True), strict=True):
        total = sum(row)
        if total:
            groups.setdefault(tuple(p / total for p in row), []).append(label)
    return [tuple(group) for group in groups.values() if len(group) > 1]
