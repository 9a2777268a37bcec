"""Designs as plain tables of probabilities, so that two of them can be compared entry by entry."""

from typing import Any, NamedTuple

import numpy as np

from maskwell.designs.base import Design, Matrix, Vector
from maskwell.designs.channels import Channel, GivenChannel
from maskwell.errors import DesignError
from maskwell.tables.labels import shown

# A verdict never asks for more than 1e-15 in absolute terms: that is where the arithmetic of doubles ends.
_FAINT = 1e-6
_SUM_TOLERANCE = 1e-9


class Comparable(NamedTuple):
    """A design, or a table of somebody else's: its channel, and its labels where it has some."""

    channel: Channel
    design: Design | None

    def class_name(self, at: int) -> str:
        """What the reports of a class of rows are called in a sentence."""
        k = self.channel.k
        if self.channel.classes_are_sizes:
            return {0: "the empty set", k: "the full set"}.get(at, f"a set of {at} of the {k} categories")
        if self.design is None:
            return f"report {at}"
        (label,) = self.design.class_labels([at])
        return f"report {plain_set(label)}" if isinstance(label, frozenset) else f"report {label!r}"


def plain_set(members: frozenset[Any]) -> str:
    """A set of categories in a sentence."""
    return "{" + ", ".join(sorted(map(str, members))) + "}"


def comparable(design: Any, name: str) -> Comparable:
    """A design, or an array ``P[report, truth]`` whose columns sum to 1."""
    # Tables of others, which are not designs, can be compared too: the one place that tells the two apart.
    if isinstance(design, Design):
        return Comparable(design.channel, design)
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
    return Comparable(GivenChannel(table.shape[1], name, table), None)


def comparable_pair(better: Any, worse: Any) -> tuple[Comparable, Comparable]:
    """Two of them over the same categories, in whatever order."""
    first, second = comparable(better, "better"), comparable(worse, "worse")
    if first.channel.k != second.channel.k:
        raise DesignError(
            f"designs can be compared only over the same categories; better has {first.channel.k} and worse has "
            f"{second.channel.k}. Build both for the same list."
        )
    if first.design is not None and second.design is not None:
        odd = tuple(set(first.design.categories) ^ set(second.design.categories))
        if odd:
            raise DesignError(
                f"designs can be compared only over the same categories; only one of them has {shown(odd)}. "
                "To compare by position, pass design.matrix()."
            )
    return first, second


def both_by_size(first: Comparable, second: Comparable) -> bool:
    """Whether they can be compared set size by set size, without a table."""
    # Two symmetric designs are compared by size whatever their number of categories; all others need their tables.
    return bool(first.channel.sizes and second.channel.sizes)


def paired_tables(first: Comparable, second: Comparable) -> tuple[Matrix, Matrix]:
    """Their tables, with the same categories in the same order."""
    tables = first.channel.floats, second.channel.floats
    if first.design is None or second.design is None:
        return tables
    order = [second.design.categories.index(label) for label in first.design.categories]
    return tables[0], tables[1][:, order]


def error_scale(table: Matrix) -> Vector:
    """What an error in each row is relative to: the largest entry of the row."""
    return np.asarray(table.max(axis=1) + _FAINT)


def mass_scale(masses: Vector) -> Vector:
    """The same for probabilities of whole groups of reports."""
    return np.asarray(masses + _FAINT)
