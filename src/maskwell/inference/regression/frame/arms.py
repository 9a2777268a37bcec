"""Arms: one question put to groups of people by different designs, one of which may be the direct question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import DataError
from maskwell.reports import Reports
from maskwell.tables.columns import as_arrow


@dataclass(frozen=True, eq=False)
class Arms:
    """The reports of each arm, in the order of the records of that arm, and which arm each record belongs to."""

    names: tuple[Any, ...]
    reports: tuple[Reports, ...]
    codes: NDArray[np.int64]
    categories: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.codes)


def arms(reports: Any, groups: Any) -> Arms:
    """Join the reports of several arms, given by name; ``groups`` names the arm of each record, in their order.

    >>> import maskwell as mw
    >>> direct, spinner = mw.designs.direct(["yes", "no"]), mw.designs.warner(truth_prob=0.75)
    >>> reports = {"open": direct.mask(["yes", "no"]), "spinner": spinner.mask(["no"])}
    >>> both = mw.arms(reports, ["open", "spinner", "open"])
    >>> len(both), both.categories
    (3, ('yes', 'no'))
    """
    if not isinstance(reports, Mapping) or not reports:
        raise DataError("reports must be a mapping from the name of each arm to its Reports.", parameter="reports")
    for name, part in reports.items():
        if not isinstance(part, Reports):
            raise DataError(f"the arm {name!r} must hold Reports; got {type(part).__name__}.", parameter="reports")
    column = as_arrow(groups)
    if column is None:
        raise DataError("groups must be one column: the name of the arm of each record.", parameter="groups")
    place = {name: at for at, name in enumerate(reports)}
    named = column.to_pylist()
    if unknown := [row for row, name in enumerate(named) if name not in place]:
        raise DataError(
            f"groups names no arm in {len(unknown)} rows, first in row {unknown[0]}; arms: "
            f"{', '.join(repr(name) for name in place)}.",
            parameter="groups",
        )
    codes = np.array([place[name] for name in named], np.int64)
    parts = tuple(reports.values())
    for at, (name, part) in enumerate(reports.items()):
        expected = int((codes == at).sum())
        if len(part) != expected:
            raise DataError(
                f"the arm {name!r} has {len(part):,} reports, but groups has {expected:,} records of it; give each arm "
                "the reports of its records, in their order.",
                parameter="groups",
            )
    first = parts[0].design.categories
    if any(part.design.variables or set(part.design.categories) != set(first) for part in parts):
        raise DataError("the designs of all arms must have the same categories.", parameter="reports")
    return Arms(tuple(reports), parts, codes, first)
