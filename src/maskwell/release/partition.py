"""Within what records may move: columns, intervals of a number, and groups of categories, read from ``within``.

A factor sorts the rows by one column into levels; records move only among rows that agree on every factor. A column or
a category that is exempt is a factor too, one that merging must not cross.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import DataError
from maskwell.risk.frequencies import group
from maskwell.tables.codes import Coded, Ints

Spec = dict[str, Any]
"""By column: None for its categories, a list of numbers for the starts of intervals, a list of lists for groups."""


@dataclass(frozen=True, eq=False)
class Factor:
    """A level per row, by one column."""

    name: str
    codes: NDArray[Any]
    levels: tuple[str, ...]
    ordered: bool = False
    """Whether levels next to each other are alike: true of intervals."""
    exempt: bool = False

    @property
    def size(self) -> int:
        """The number of levels."""
        return len(self.levels)


@dataclass(frozen=True, eq=False)
class Partition:
    """The sets of rows that agree on every factor."""

    factors: tuple[Factor, ...]
    set_of_row: Ints
    levels: Ints
    """The level of each set (row) by each factor (column)."""

    def __len__(self) -> int:
        return len(self.levels)

    def describe(self, position: int) -> dict[str, str]:
        """The level of one set by each column."""
        pairs = zip(self.factors, self.levels[position].tolist(), strict=True)
        return {f.name + " (exempt)" * f.exempt: f.levels[level] for f, level in pairs}


def read_spec(value: Any, parameter: str) -> Spec:
    """``within``, ``exempt`` or ``of`` as a mapping from columns to how they are cut; a name alone cuts by category."""
    if value is None:
        return {}
    if isinstance(value, str):
        return {value: None}
    if isinstance(value, Mapping):
        items = list(value.items())
    elif isinstance(value, Sequence):
        items = [pair for part in value for pair in read_spec(part, parameter).items()]
    else:
        raise DataError(
            f"{parameter} must name columns, or map columns to cuts; got {type(value).__name__}.", parameter=parameter
        )
    spec = {name: None if how is None else _plain(how, parameter) for name, how in items}
    if len(spec) < len(items) or not all(isinstance(name, str) for name in spec):
        raise DataError(f"{parameter} must name each column once, by its name.", parameter=parameter)
    return spec


def _plain(how: Any, parameter: str) -> list[Any]:
    if isinstance(how, (str, bytes)) or not isinstance(how, (Sequence, np.ndarray)):
        raise DataError(
            f"{parameter} maps a column to a list: where intervals start, such as [18, 65], or groups of categories, "
            f"such as [['a', 'b'], ['c']]; got {type(how).__name__}.",
            parameter=parameter,
        )
    items = [item.item() if isinstance(item, np.generic) else item for item in how]
    return [list(item) if isinstance(item, (list, tuple)) else item for item in items]


def factor(column: Coded, how: list[Any] | None, parameter: str, *, exempt: bool = False) -> Factor:
    """The factor of one column. Missing values are a level of their own wherever they are not named in a group."""
    if how is None:
        return Factor(column.name, column.codes, tuple(map(text_of, column.labels)), exempt=exempt)
    if not exempt and how and all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in how):
        return _intervals(column, how, parameter)
    groups = [item if isinstance(item, list) else [item] for item in how]
    level_of = _levels(column, groups, parameter)
    names = [", ".join(map(text_of, members)) for members in groups] + ["the other categories"]
    return Factor(column.name, level_of[column.codes], tuple(names), exempt=exempt)


def _levels(column: Coded, groups: list[list[Any]], parameter: str) -> NDArray[np.int32]:
    position = {label: code for code, label in enumerate(column.labels)}
    level_of = np.full(column.size, len(groups), np.int32)
    seen: set[Any] = set()
    for level, members in enumerate(groups):
        for label in members:
            if label in seen:
                raise DataError(
                    f"{parameter} names the category {label!r} of {column.name!r} more than once.", parameter=parameter
                )
            if label not in position:
                raise DataError(
                    f"{parameter} names a category {label!r} that none of the {column.size:,} categories of column "
                    f"{column.name!r} is.",
                    parameter=parameter,
                )
            seen.add(label)
            level_of[position[label]] = level
    return level_of


def _intervals(column: Coded, starts: list[Any], parameter: str) -> Factor:
    if sorted(set(starts)) != starts:
        raise DataError(
            f"{parameter} must list where the intervals of {column.name!r} start in rising order.", parameter=parameter
        )
    present = [label for label in column.labels if label is not None]
    if not all(isinstance(label, (int, float)) and not isinstance(label, bool) for label in present):
        raise DataError(
            f"{parameter} cuts {column.name!r} into intervals, but that column does not hold numbers.",
            parameter=parameter,
        )
    levels = np.searchsorted(np.array(starts, float), np.array(present, float), side="right").tolist()
    names = interval_names(starts)
    if None in column.labels:
        levels, names = [*levels, len(names)], [*names, text_of(None)]
    return Factor(column.name, np.array(levels, np.int32)[column.codes], tuple(names), ordered=True)


def interval_names(starts: Sequence[float]) -> list[str]:
    """What intervals are called that start at these numbers, one more than there are starts."""
    between = [f"{a:g} to below {b:g}" for a, b in pairwise(starts)]
    return [f"below {starts[0]:g}", *between, f"{starts[-1]:g} and above"]


def text_of(label: Any) -> str:
    """A category as text."""
    return "(missing)" if label is None else str(label)


def partition(factors: Sequence[Factor], n: int) -> Partition:
    """The sets that occur; one set of all rows if there is no factor."""
    set_of_row, first = group([f.codes for f in factors], [f.size for f in factors], n)
    levels = np.stack([f.codes[first] for f in factors], axis=1) if factors else np.zeros((1, 0), np.int64)
    return Partition(tuple(factors), set_of_row, levels.astype(np.int64))
