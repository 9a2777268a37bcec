"""An intruder who knows somebody's keys and further columns, which stay with the record and so help to find it.

The person's record still shows the true values of the further columns. The intruder looks for them among the released
records with the person's keys and, if none of these has them, among those with which it may have changed places. The
custodian, who knows where everybody went, counts how often the record picked is the person's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from maskwell.release.log_ratios import View, views
from maskwell.release.staying_columns import Staying
from maskwell.risk.frequencies import group
from maskwell.tables.codes import Ints


@dataclass(frozen=True)
class KnownColumns:
    """Columns that the intruder knows besides the keys, and how often a match by all of them is right."""

    columns: tuple[str, ...]
    right: float
    """The share of right matches, over all persons with rare keys."""

    def to_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return asdict(self)


@dataclass(frozen=True)
class KnownBesides:
    """What knowing one or two columns besides the keys adds."""

    none: float
    """By the keys alone."""
    one: tuple[KnownColumns, ...]
    """Every column by itself, the most helpful first."""
    two: tuple[KnownColumns, ...]
    """The most helpful column with every other one."""

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain numbers."""
        one, two = ([known.to_dict() for known in part] for part in (self.one, self.two))
        return {"none": self.none, "one": one, "two": two}


def match_with_more(true_cell: Ints, cell_after: Ints, block_of_cell: Ints, staying: Sequence[Staying]) -> KnownBesides:
    """How often matches are right, over the persons of cells with a block (``block_of_cell`` >= 0).

    Of columns with many values the intruder is taken to know about what they are: one of some 25 bands.
    """
    rare = np.flatnonzero(block_of_cell[true_cell] >= 0)
    was, now, block = true_cell[rare], cell_after[rare], block_of_cell[true_cell[rare]]
    known = {column.name: _rough(column, rare) for column in staying}

    def right(*names: str) -> float:
        if not len(rare):
            return 0.0
        codes, sizes = [known[name].codes for name in names], [known[name].size for name in names]
        return _share_right(was, now, block, group(codes, sizes, len(rare))[0])

    one = sorted((KnownColumns((name,), right(name)) for name in known), key=lambda each: -each.right)
    best = one[0].columns[0] if one else None
    pairs = [KnownColumns((best, name), right(best, name)) for name in known if best is not None and name != best]
    return KnownBesides(right(), tuple(one), tuple(sorted(pairs, key=lambda each: -each.right)))


def _rough(column: Staying, rows: Ints) -> View:
    view = views(column)[-1]
    return View(view.codes[rows], view.size)


def _share_right(was: Ints, now: Ints, block: Ints, value: Ints) -> float:
    """The share of persons whose record is picked, on average over picks among records that look alike."""
    n, values = len(was), int(value.max()) + 1
    place, _ = group(
        [np.concatenate([now, was]), np.tile(value, 2)], [int(max(now.max(), was.max())) + 1, values], 2 * n
    )
    at_home = np.bincount(place[:n], minlength=int(place.max()) + 1)[place[n:]]
    candidates, _ = group([block, value], [int(block.max()) + 1, values], n)
    in_block = np.bincount(candidates)[candidates]
    # With nobody at home who fits, the person has moved, and every record of the block that fits may be the one.
    chance = np.where(at_home > 0, (was == now) / np.maximum(at_home, 1), 1 / in_block)
    return float(chance.mean())
