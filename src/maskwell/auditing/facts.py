"""What plain words about a design rest on: chances and possibilities, exact and where possible in closed form."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Design
from maskwell.designs.subsets import SubsetDesign
from maskwell.sampling.plans import TOTAL

# Beyond it, listing all reports of a design helps nobody.
_MOST_CELLS = 20_000


@dataclass(frozen=True)
class SetFacts:
    """A design whose report is a set of categories that holds every truth equally often.

    ``truth_inside`` is the chance that a report holds the truth, ``other_inside`` that it holds a given other category
    (None where that depends on which).
    """

    least: int
    most: int
    truth_inside: Fraction
    other_inside: Fraction | None


def set_facts(design: Design) -> SetFacts | None:
    """The facts of a design that reports sets or single categories, alike for every truth; None for other designs."""
    return _of_subsets(design) if isinstance(design, SubsetDesign) else _of_rows(design)


def _of_subsets(design: SubsetDesign) -> SetFacts:
    rows = zip(design.sizes, design.inside, design.outside, strict=True)
    others = sum(inside * (s - 1) + outside * s for s, inside, outside in rows)
    return SetFacts(
        least=design.sizes[0],
        most=design.sizes[-1],
        truth_inside=Fraction(sum(design.inside), TOTAL),
        other_inside=Fraction(others, TOTAL * (design.k - 1)),
    )


def _of_rows(design: Design) -> SetFacts | None:
    matrix = small_matrix(design)
    if matrix is None:
        return None
    sets = design.report_labels()
    if not all(isinstance(label, frozenset) for label in sets):
        return None
    possible = [(label, row) for label, row in zip(sets, matrix, strict=True) if any(row)]
    member = np.array([[int(c in label) for c in design.categories] for label, _ in possible], dtype=object)
    # Entry (i, j): the chance that a report holds category i when the truth is j.
    inclusion = member.T @ np.array([row for _, row in possible])
    own = set(np.diagonal(inclusion).tolist())
    others = set(inclusion[~np.eye(design.k, dtype=bool)].tolist())
    if len(own) > 1:
        return None
    sizes = [len(label) for label, _ in possible]
    return SetFacts(min(sizes), max(sizes), Fraction(own.pop()), Fraction(others.pop()) if len(others) == 1 else None)


def small_matrix(design: Design) -> NDArray[np.object_] | None:
    """The exact matrix of a design that is small enough to be told row by row."""
    return design.matrix(exact=True) if design.report_count() * design.k <= _MOST_CELLS else None


@dataclass(frozen=True)
class Exclusions:
    """Reports that leave one truth possible, with that truth, and reports that rule out some, with those."""

    certain: tuple[tuple[Any, Any], ...]
    partial: tuple[tuple[Any, tuple[Any, ...]], ...]


def exclusions(design: Design, matrix: NDArray[np.object_]) -> Exclusions:
    """What reports rule out, from the zeros of the matrix."""
    certain, partial = [], []
    for report, row in zip(design.report_labels(), matrix, strict=True):
        possible = [c for c, p in zip(design.categories, row, strict=True) if p]
        if len(possible) == 1:
            certain.append((report, possible[0]))
        elif 0 < len(possible) < design.k:
            partial.append((report, tuple(c for c in design.categories if c not in possible)))
    return Exclusions(tuple(certain), tuple(partial))


def worth(design: Design) -> float:
    """Which part of a direct answer a report is worth when all categories are equally common; 0 if not estimable."""
    if math.isinf(design.added_variance):
        return 0.0
    uniform = np.full(design.k, 1 / design.k)
    masked = float(design.scores("linear").second_moment_diagonal(uniform).sum()) - 1 / design.k
    return (1 - 1 / design.k) / masked
