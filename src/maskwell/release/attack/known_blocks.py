"""An intruder who has the released file and also knows the blocks: which of the cells shown once are true?

That is more than any page tells, but blocks follow from the true file, and somebody may guess how they were formed. For
a record shown in one cell of a block, this intruder compares how well its columns go with the keys of that cell and
with those of each other cell of the block, by log-ratios of key × column in the released file, weighted as for somebody
who has the file alone, and believes the cells first that fit so much better than the others of their block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maskwell.release.attack.logistic import fit, score
from maskwell.release.attack.released_file import SURE
from maskwell.release.identification.blocks.likeness import columns_to_compare
from maskwell.release.log_ratios import View, views_of_keys
from maskwell.release.rows import random_order
from maskwell.release.staying_columns import Staying
from maskwell.tables.codes import Floats, Ints

if TYPE_CHECKING:
    from maskwell.release.identification.release import Release

MOST_CELLS = 60
"""Of larger blocks nothing is gained by knowing them."""
_MOST_PRACTICE = 6_000
_SMOOTHING = 0.5
_HALVES = 2


def attack_known_blocks(release: Release, seed: int = 0) -> tuple[float, ...] | None:
    """The shares of true ones among the surest 5, 20 and 50 % of the cells shown once; None if blocks are large."""
    setup, after = release.setup, release.cell_after
    shown = np.bincount(after, minlength=len(setup.cells))
    block = np.full(len(setup.cells), -1)
    block[setup.blocks.cells] = setup.blocks.block_of
    once = np.flatnonzero((shown[after] == 1) & (block[after] >= 0))
    if not len(once) or int(setup.blocks.sizes.max()) > MOST_CELLS:
        return None
    fitting = _Fitting(release)
    if not fitting.columns:
        return (float((after == setup.cell_of_unit)[once].mean()),) * len(SURE)
    order = random_order(len(after), None, None, seed)
    half = np.empty(len(after), np.int64)
    half[order] = np.arange(len(after)) % _HALVES
    chance = np.empty(len(once))
    for part in range(_HALVES):
        weights = fitting.weights(order[half[order] != part][:_MOST_PRACTICE])
        in_part = half[once] == part
        chance[in_part] = fitting.chance_of_truth(once[in_part], block, weights)
    right = (after == setup.cell_of_unit)[once[np.argsort(-chance, kind="stable")]]
    return tuple(float(right[: max(1, round(share * len(once)))].mean()) for share in SURE)


class _Fitting:
    """How well the columns of a unit go with the keys of a cell, in the released file."""

    def __init__(self, release: Release) -> None:
        setup = release.setup
        self._setup, self._after = setup, release.cell_after
        without = [*setup.request.moving, *([setup.request.together] if setup.request.together else [])]
        self.columns = [
            View(view.codes[setup.row_of_unit], view.size) for view in columns_to_compare(setup.columns, without)
        ]
        codes, cell = setup.cells.codes, setup.cell_of_unit
        true = [Staying(key.name, codes[cell, i].astype(np.int64), key.size) for i, key in enumerate(setup.keys)]
        keys = views_of_keys(true)
        self._sizes = [key.size for key in keys]
        self._of_cell = np.empty((len(setup.cells), len(keys)), np.int64)
        for i, key in enumerate(keys):
            self._of_cell[cell, i] = key.codes
        self._with_key = [np.bincount(self._of_cell[self._after, i], minlength=k) for i, k in enumerate(self._sizes)]

    def ratios(self, units: Ints, cells: Ints) -> Floats:
        """A log-ratio for each column, summed over keys and pairs of keys; the unit itself does not count."""
        n = len(self._after)
        out = np.zeros((len(units), len(self.columns)))
        for at, column in enumerate(self.columns):
            value = column.codes[units]
            with_value = np.bincount(column.codes, minlength=column.size)[value] - 1
            for i, size in enumerate(self._sizes):
                group = self._of_cell[self._after, i]
                both = np.bincount(group * column.size + column.codes, minlength=size * column.size)
                wanted = self._of_cell[cells, i]
                itself = group[units] == wanted
                together = both[wanted * column.size + value] - itself
                expected = (self._with_key[i][wanted] - itself) * with_value / max(n - 1, 1)
                out[:, at] += np.log((together + _SMOOTHING) / (expected + _SMOOTHING))
        return out

    def weights(self, units: Ints) -> Floats:
        """The weight of each column, from records and mismatches made within partition sets."""
        sets = self._setup.cells.codes[self._after[units], -1]
        units = units[np.argsort(sets, kind="stable")]
        others = np.roll(units, 1)
        real = self.ratios(units, self._after[units])
        made = self.ratios(units, self._after[others])
        return fit(np.vstack([real, made]), np.repeat([True, False], len(units)))

    def chance_of_truth(self, units: Ints, block: Ints, weights: Floats) -> Floats:
        """The posterior chance that each unit is shown where it belongs, against the other cells of its block."""
        blocks, counts = self._setup.blocks, self._setup.cells.counts
        leave = self._setup.leaving * counts
        of_unit, shown_in = block[self._after[units]], self._after[units]
        size = blocks.sizes[of_unit]
        truth, total = np.zeros(len(units)), np.zeros(len(units))
        for place in range(int(size.max())):
            there = np.flatnonzero(place < size)
            cell = blocks.cells[blocks.starts[of_unit[there]] + place]
            fits = np.exp(np.clip(score(self.ratios(units[there], cell), weights), -50, 50))
            stayed = cell == shown_in[there]
            # Of the t records of a cell, each is shown in its own with chance 1 - θ/t, in another with θ/((k-1)t).
            came = np.where(stayed, counts[cell] - leave[cell], leave[cell] / (size[there] - 1))
            total[there] += fits * came
            truth[there] += np.where(stayed, fits * came, 0.0)
        return truth / total
