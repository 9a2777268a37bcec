"""Designs as plain tables of probabilities, so that two of them can be compared entry by entry."""

from typing import Any

import numpy as np

from maskwell.designs.base import Design, Matrix, Vector
from maskwell.errors import DesignError
from maskwell.tables.labels import shown

TOLERANCE = 1e-9  # relative, of every verdict about the order of designs
# A verdict never asks for more than 1e-15 in absolute terms: that is where the arithmetic of doubles ends.
_FAINT = 1e-6
_SUM_TOLERANCE = 1e-9


def as_table(design: Any, name: str) -> Matrix:
    """``P[report, truth]`` of a design, or of an array whose columns sum to 1."""
    if isinstance(design, Design):
        table: Matrix = design.matrix()
        return table
    try:
        table = np.array(design, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim != 2 or 0 in table.shape:
        raise DesignError(
            f"{name} must be a design or a table P[report, truth] of numbers; got {type(design).__name__}. "
            "Give one row per report and one column per true category."
        )
    if not np.isfinite(table).all() or table.min() < 0:
        raise DesignError(f"{name} must hold probabilities; its least entry is {table.min():.6g}. Check the table.")
    sums = table.sum(axis=0)
    wrong = int(np.argmax(np.abs(sums - 1)))
    if abs(sums[wrong] - 1) > _SUM_TOLERANCE:
        raise DesignError(
            f"columns of {name} must sum to 1; column {wrong} sums to {sums[wrong]:.12g}. "
            "One column per true category: transpose the table if its rows sum to 1."
        )
    return table


def paired(better: Any, worse: Any) -> tuple[Matrix, Matrix]:
    """Two tables whose columns are the same categories in the same order."""
    first, second = as_table(better, "better"), as_table(worse, "worse")
    if first.shape[1] != second.shape[1]:
        raise DesignError(
            f"designs can be compared only over the same categories; better has {first.shape[1]} and worse has "
            f"{second.shape[1]}. Build both for the same list."
        )
    if isinstance(better, Design) and isinstance(worse, Design):
        refuse_other_categories(better, worse)
        second = second[:, [worse.categories.index(label) for label in better.categories]]
    return first, second


def refuse_other_categories(better: Design, worse: Design) -> None:
    """An error unless both designs ask about the same categories, in whatever order."""
    odd = tuple(set(better.categories) ^ set(worse.categories))
    if odd:
        raise DesignError(
            f"designs can be compared only over the same categories; only one of them has {shown(odd)}. "
            "To compare by position, pass design.matrix()."
        )


def error_scale(table: Matrix) -> Vector:
    """What an error in each row is relative to: the largest entry of the row."""
    return np.asarray(table.max(axis=1) + _FAINT)


def mass_scale(masses: Vector) -> Vector:
    """The same for probabilities of whole groups of reports."""
    return np.asarray(masses + _FAINT)
