"""How often a report that is a set of categories holds the truth, and how often another category."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from maskwell.designs.base import Design

# Beyond it, listing all reports of a design helps nobody.
_MOST_CELLS = 20_000


class SetFacts(NamedTuple):
    """A design whose report is a set of categories that holds every truth equally often.

    ``truth_inside`` is the chance that a report holds the truth, ``other_inside`` that it holds a given other category
    (None where that depends on which).
    """

    least: int
    most: int
    truth_inside: Fraction
    other_inside: Fraction | None


def small_matrix(design: Design) -> NDArray[np.object_] | None:
    """The exact matrix of a design that is small enough to be told row by row."""
    return design.matrix(exact=True) if design.report_count() * design.k <= _MOST_CELLS else None


def facts_of_table(design: Design) -> SetFacts | None:
    """The facts from the labels and the exact rows; None where reports are no sets, unlike by truth, or too many."""
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
