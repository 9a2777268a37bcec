"""Blocks: the sensitive cells of each partition set, among which records move; what to do where they are too few."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maskwell.advice import Advice, Setting
from maskwell.errors import DataError
from maskwell.release.partition import Partition
from maskwell.tables.codes import Ints

Groups = list[tuple[int, ...]]
"""Partition sets that are treated as one."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """The sensitive cells, block by block."""

    cells: Ints
    """Positions of the cells among all occupied cells."""
    starts: Ints
    """Where each block starts in ``cells``; the last entry is where the last one ends."""
    sets: tuple[tuple[int, ...], ...]
    """The partition sets that each block joins: one, unless sets were merged."""

    def __len__(self) -> int:
        return len(self.sets)

    @property
    def sizes(self) -> Ints:
        """The number of cells of each block."""
        return np.diff(self.starts)

    @property
    def block_of(self) -> Ints:
        """The block of each sensitive cell."""
        return np.repeat(np.arange(len(self)), self.sizes)


def form_blocks(set_of_cell: Ints, sensitive: Ints, groups: Groups) -> Blocks:
    """A block for each group of partition sets that has sensitive cells."""
    counts = np.bincount(set_of_cell[sensitive], minlength=len(groups))
    order = np.argsort(set_of_cell[sensitive], kind="stable")
    used = np.flatnonzero(counts)
    starts = np.concatenate([[0], np.cumsum(counts[used])])
    return Blocks(sensitive[order], starts.astype(np.int64), tuple(groups[g] for g in used.tolist()))


def too_small(set_of_cell: Ints, parts: Partition, least: int) -> DataError:
    """What to say of sets with too few sensitive cells; ``set_of_cell`` is the set of each sensitive cell."""
    counts = np.bincount(set_of_cell, minlength=len(parts))
    occupied = counts[counts > 0]
    what = (
        f"{int((occupied < least).sum())} of the {len(occupied)} partition sets with sensitive cells have fewer than "
        f"{least} of them (the smallest has {occupied.min()}), too few to hide among at this xi"
    )
    if len(occupied) == 1:
        return DataError(f"{what}; coarsen the keys, raise xi, or leave these records out of the release.")
    coarser = [
        factor.name
        for i, factor in enumerate(parts.factors)
        if not factor.exempt and _least_without(i, set_of_cell, parts) >= least
    ]
    then = f": without {' or without '.join(map(repr, coarser))} no set would be too small" if coarser else ""
    merge = Setting("merge", "merge", quote='"')
    return DataError(
        Advice(
            f"{what}; add ", merge, f" to join each of them with the set nearest to it, or make within coarser{then}."
        )
    )


def _least_without(dropped: int, set_of_cell: Ints, parts: Partition) -> int:
    """The size of the smallest block if one factor were not used."""
    kept = np.delete(parts.levels, dropped, axis=1)
    _, merged = np.unique(kept, axis=0, return_inverse=True) if kept.shape[1] else (None, np.zeros(len(parts), int))
    counts = np.bincount(merged.ravel()[set_of_cell])
    return int(counts[counts > 0].min())


def join(groups: Groups, counts: Ints, parts: Partition, least: int) -> Groups:
    """Join the smallest group that has sensitive cells with the nearest one until none has too few.

    ``counts`` is the number of sensitive cells of each group.
    """
    idle = [group for group, count in zip(groups, counts.tolist(), strict=True) if not count]
    groups = [group for group, count in zip(groups, counts.tolist(), strict=True) if count]
    size = [count for count in counts.tolist() if count]
    ordered = np.array([factor.ordered for factor in parts.factors], bool)
    exempt = np.array([factor.exempt for factor in parts.factors], bool)
    while min(size) < least:
        smallest = size.index(min(size))
        levels = parts.levels[list(groups[smallest])]
        choices = []
        for other, group in enumerate(groups):
            gap = np.abs(levels[:, None, :] - parts.levels[list(group)][None, :, :])
            if other == smallest or gap[:, :, exempt].any():
                continue
            distance = int(np.where(ordered, gap, gap > 0).sum(axis=2).min()) if gap.size else 0
            choices.append((distance, size[other], other))
        if not choices:
            raise DataError(
                f"a block of {size[smallest]} sensitive cells, with {least} needed, has no other set to join"
                f"{' without crossing an exempt column or category' if exempt.any() else ''}; coarsen the keys, raise "
                "xi, exempt less, or leave these records out of the release."
            )
        other = min(choices)[2]
        groups[other] = tuple(sorted(groups[other] + groups[smallest]))
        size[other] += size[smallest]
        del groups[smallest], size[smallest]
    return sorted(groups + idle)
