"""How often a report that is a set of categories holds the truth, and how often another category."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from maskwell.designs.channels.numbers import Exact


class SetFacts(NamedTuple):
    """A design whose report is a set of categories that holds every truth equally often.

    ``truth_inside`` is the chance that a report holds the truth, ``other_inside`` that it holds a given other category
    (None where that depends on which).
    """

    least: int
    most: int
    truth_inside: Fraction
    other_inside: Fraction | None


def facts_of_table(categories: Sequence[Any], sets: Sequence[Any], matrix: Exact) -> SetFacts | None:
    """The facts from the labels and the exact rows; None where reports are not sets, or differ by truth."""
    if not all(isinstance(label, frozenset) for label in sets):
        return None
    possible = [(label, row) for label, row in zip(sets, matrix, strict=True) if any(row)]
    member = np.array([[int(c in label) for c in categories] for label, _ in possible], dtype=object)
    # Entry (i, j): the chance that a report holds category i when the truth is j.
    inclusion = member.T @ np.array([row for _, row in possible])
    truth = set(np.diagonal(inclusion).tolist())
    others = set(inclusion[~np.eye(len(categories), dtype=bool)].tolist())
    if len(truth) > 1:
        return None
    sizes = [len(label) for label, _ in possible]
    return SetFacts(min(sizes), max(sizes), Fraction(truth.pop()), Fraction(others.pop()) if len(others) == 1 else None)
