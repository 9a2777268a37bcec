"""Columns that stay and tell what recoding took away: a year of birth beside an age in intervals.

For a column that stays, a record's true value is guessed as the commonest one among the other records that show the
same released value and the same value of that column. Nobody outside has those true values; but whoever knows how the
two columns go together, from another file or by what they mean, guesses as well. A guess without it stands beside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from maskwell.release.recoding.recipe import Applied
from maskwell.release.staying_columns import staying_columns
from maskwell.risk.frequencies import group
from maskwell.tables.codes import Coded, Ints

_FEWEST = 10
"""Of fewer records a share says nothing."""
WORTH_SAYING = 0.5
"""The share of what a guess without the column gets wrong; a column that puts right more of it is told."""


@dataclass(frozen=True)
class Told:
    """What a column that stays tells of the true value of a recoded one."""

    column: str
    of: str
    suppressed: bool
    """Whether the values are those that were set missing; else those that became coarser."""
    records: int
    right: float
    """The share of these records whose true value is guessed right by the column."""
    blind: float
    """The same without the column."""

    def __str__(self) -> str:
        what = "values of {} that were set missing" if self.suppressed else "true values of {}"
        return (
            f"{self.column} tells {self.right:.0%} of the {what.format(self.of)} ({self.blind:.0%} are guessed without "
            "it): leave it out, or recode it as well"
        )


def told(applied: Applied, changed: Mapping[str, tuple[Coded, Ints]], keys: Sequence[str]) -> list[Told]:
    """The columns that stay and tell much; ``changed`` has each recoded column as it was, and its released codes."""
    if not changed:
        return []
    found = []
    staying = staying_columns(applied.before, [*changed])
    for name, (true, released) in changed.items():
        gone = (
            applied.gone[:, keys.index(name)]
            if name in keys and applied.gone.shape[1]
            else np.zeros(len(released), bool)
        )
        for suppressed, rows in ((True, np.flatnonzero(gone)), (False, np.flatnonzero(~gone))):
            if len(rows) < _FEWEST:
                continue
            blind = _right(true.codes, [released], rows)
            for column in staying:
                right = _right(true.codes, [released, column.codes], rows)
                if right - blind >= WORTH_SAYING * (1 - blind) and blind < 1:
                    found.append(Told(column.name, name, suppressed, len(rows), right, blind))
    return sorted(found, key=lambda one: -one.right)


def _right(true: Ints, seen: list[Ints], rows: Ints) -> float:
    """The share of the rows whose true value is the commonest among the others that look the same."""
    looks, _ = group(seen, [int(codes.max()) + 1 for codes in seen], len(true))
    pairs, first = group([looks, true], [int(looks.max()) + 1, int(true.max()) + 1], len(true))
    counts, look_of_pair = np.bincount(pairs), looks[first]
    # The largest and the second largest count of each look: a record does not count for its own guess.
    order = np.lexsort((counts, look_of_pair))
    last = np.flatnonzero(np.r_[look_of_pair[order][1:] != look_of_pair[order][:-1], True])
    largest = counts[order][last]
    before = np.where(last > 0, last - 1, 0)
    same = (last > 0) & (look_of_pair[order][before] == look_of_pair[order][last])
    second = np.where(same, counts[order][before], 0)
    best = order[last]
    own = counts[pairs[rows]] - 1
    look = looks[rows]
    rival = np.where(best[look] == pairs[rows], second[look], largest[look])
    return float((own > rival).mean() + 0.5 * ((own == rival) & (own > 0)).mean())
