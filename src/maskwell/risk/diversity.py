"""l-diversity: how much a cell of the keys gives away of a sensitive column even when nobody in it is singled out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from maskwell.risk.frequencies import group
from maskwell.tables.codes import Coded, Floats, Ints


@dataclass(frozen=True, eq=False)
class Diversity:
    """The values of one sensitive column within each cell; a missing value counts as a value of its own."""

    name: str
    sizes: Ints
    distinct: Ints
    """The number of different values in each cell."""
    effective: Floats
    """e to the entropy of the values in each cell: as diverse as that many equally common values."""

    @cached_property
    def l_distinct(self) -> int:
        """The least number of different values in a cell: the file's distinct l-diversity."""
        return int(self.distinct.min())

    @cached_property
    def l_entropy(self) -> float:
        """The file's entropy l-diversity."""
        return float(self.effective.min())

    def records_below(self, l: float) -> int:
        """The number of records in cells with fewer than ``l`` different values."""
        return int(self.sizes[self.distinct < l].sum())

    @cached_property
    def revealed(self) -> int:
        """Records whose value is known from their cell although others share it: the cell holds one value only."""
        return int(self.sizes[(self.distinct == 1) & (self.sizes > 1)].sum())


def diversity(sizes: Ints, cell_of_row: Ints, column: Coded, repeats: Ints | None = None) -> Diversity:
    """Count the values of a column within every cell; a row stands for ``repeats`` records, or for one."""
    pair, first = group([cell_of_row, column.codes], [len(sizes), column.size], len(cell_of_row))
    counts, cell = np.bincount(pair, repeats), cell_of_row[first]
    distinct = np.bincount(cell, minlength=len(sizes))
    # Entropy of shares c / s: ln s - sum c ln c / s.
    entropy = np.log(sizes) - np.bincount(cell, counts * np.log(counts), minlength=len(sizes)) / sizes
    return Diversity(column.name, sizes, distinct, np.exp(np.maximum(entropy, 0.0)))
