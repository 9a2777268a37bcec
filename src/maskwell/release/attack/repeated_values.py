"""Columns that moved along and mark who moved by values that occur twice: a weight with fifteen digits, say.

A record that moves takes such columns from one of the records that have the combination which it is given. If nearly
every value is another one, a value that two records show was copied, and one of the two is a record that moved. Both
then show the same combination, so that this says nothing of combinations shown once, which an attack looks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.release.attack.thresholds import LEAST_GAIN, MOSTLY_ALONE
from maskwell.release.staying_columns import Staying, is_plain, ranked
from maskwell.tables.encoded import EncodedTable

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class RepeatedValues:
    """How often records moved that show a value of a column which others show, and how often others did."""

    column: str
    records: int
    """Those that show such a value."""
    moved: float
    """The share of these that moved."""
    moved_else: float
    """The same of those that show a value of their own."""

    def to_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"{self.column!r} goes along and is another value in nearly every record, so that a value which occurs "
            f"twice was copied: of the {self.records:,} records that show one {self.moved:.0%} moved, of the others "
            f"{self.moved_else:.0%}. Round it before the release, so that many records share each value, or "
            "leave it out and make it anew for the released file, as weights are by calibration."
        )


def are_repeated(column: Staying) -> Flags:
    """Which records show a value that another one shows."""
    shown: Flags = np.bincount(column.codes)[column.codes] > 1
    return shown


def nearly_unique(table: EncodedTable, names: Sequence[str]) -> list[str]:
    """The columns of which nearly every record has a value of its own, so that a copy stands out."""
    plain = [name for name in names if is_plain(table, name)]
    return [name for name in plain if float(are_repeated(ranked(table, name)).mean()) <= 1 - MOSTLY_ALONE]


def repeated_values(along: Sequence[Staying], moved: Flags) -> list[RepeatedValues]:
    """Of nearly unique columns that moved ``along`` those whose repeated values tell which records ``moved``."""
    found = []
    for column in along:
        again = are_repeated(column)
        if not again.any() or again.all():
            continue
        here, else_ = float(moved[again].mean()), float(moved[~again].mean())
        # However few they are: that a value was copied is no matter of chance.
        if here - else_ >= LEAST_GAIN:
            found.append(RepeatedValues(column.name, int(again.sum()), here, else_))
    return found
