"""Blocks: the sensitive cells of each partition set, among which records move; what to do where they are too few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from maskwell.advice import Advice, Setting
from maskwell.errors import DataError
from maskwell.release.identification.rules import Rule
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


def frequencies_of_sets(set_of_cell: Ints, counts: Ints, sets: int) -> list[dict[int, int]]:
    """How many of these cells of each set have each frequency."""
    found: list[dict[int, int]] = [{} for _ in range(sets)]
    pairs, cells = np.unique(np.stack([set_of_cell, counts]), axis=1, return_counts=True)
    for own, t, number in zip(*pairs.tolist(), cells.tolist(), strict=True):
        found[own][t] = number
    return found


def coarsen(rule: Rule) -> str:
    """The remedies that always help, and the tools for them."""
    return (
        "coarsen the keys (mw.release.search_recoding, or maskwell recode, finds the mildest way), set the last few "
        f"missing (mw.release.recode with suppress={rule.sensitive_below}, or --suppress-below {rule.sensitive_below})"
    )


class TooSmall(DataError):
    """A set has too few sensitive cells for its limit."""


def too_small(set_of_cell: Ints, counts: Ints, parts: Partition, rule: Rule) -> TooSmall:
    """What to say of sets with too few sensitive cells, given the set and the frequency of each such cell."""
    occupied = [sizes for sizes in frequencies_of_sets(set_of_cell, counts, len(parts)) if sizes]
    small = sorted((sizes for sizes in occupied if not rule.enough(sizes)), key=lambda sizes: sum(sizes.values()))
    what = (
        f"{len(small)} of the {len(occupied)} partition sets with sensitive cells have {rule.need(small[0])} "
        f"(the smallest has {sum(small[0].values())} in all), too few to hide among at this xi"
    )
    if len(occupied) == 1:
        return TooSmall(f"{what}; {coarsen(rule)}, raise xi, or leave these records out of the release.")
    coarser = [
        factor.name
        for i, factor in enumerate(parts.factors)
        if not factor.exempt and _enough_without(i, set_of_cell, counts, parts, rule)
    ]
    then = f": without {' or without '.join(map(repr, coarser))} no set would be too small" if coarser else ""
    merge = Setting("merge", "merge", quote='"')
    return TooSmall(
        Advice(
            f"{what}; add ",
            merge,
            f" to join each of them with the set nearest to it, {coarsen(rule)}, or make within coarser{then}.",
        )
    )


def _enough_without(dropped: int, set_of_cell: Ints, counts: Ints, parts: Partition, rule: Rule) -> bool:
    """Whether all sets would have enough cells if one factor were not used."""
    kept = np.delete(parts.levels, dropped, axis=1)
    _, merged = np.unique(kept, axis=0, return_inverse=True) if kept.shape[1] else (None, np.zeros(len(parts), int))
    held = frequencies_of_sets(merged.ravel()[set_of_cell], counts, int(merged.max()) + 1)
    return all(rule.enough(sizes) for sizes in held if sizes)


def join(groups: Groups, held: Sequence[Mapping[int, int]], parts: Partition, rule: Rule) -> Groups:
    """Join the smallest group that has too few sensitive cells with the nearest one until none has too few.

    ``held`` says how many sensitive cells of each group have each frequency.
    """
    idle = [group for group, sizes in zip(groups, held, strict=True) if not sizes]
    groups = [group for group, sizes in zip(groups, held, strict=True) if sizes]
    cells = [Counter(sizes) for sizes in held if sizes]
    ordered = np.array([factor.ordered for factor in parts.factors], bool)
    exempt = np.array([factor.exempt for factor in parts.factors], bool)
    while small := [i for i, sizes in enumerate(cells) if not rule.enough(sizes)]:
        smallest = min(small, key=lambda i: cells[i].total())
        levels = parts.levels[list(groups[smallest])]
        choices = []
        for other, group in enumerate(groups):
            gap = np.abs(levels[:, None, :] - parts.levels[list(group)][None, :, :])
            if other == smallest or gap[:, :, exempt].any():
                continue
            distance = int(np.where(ordered, gap, gap > 0).sum(axis=2).min()) if gap.size else 0
            choices.append((distance, cells[other].total(), other))
        if not choices:
            raise TooSmall(
                f"a set of {cells[smallest].total()} sensitive cells, which are {rule.need(cells[smallest])}, has no "
                f"other one to join{' without crossing an exempt column or category' if exempt.any() else ''}; "
                f"{coarsen(rule)}, raise xi, exempt less, or leave these records out of the release."
            )
        other = min(choices)[2]
        groups[other] = tuple(sorted(groups[other] + groups[smallest]))
        cells[other] += cells[smallest]
        del groups[smallest], cells[smallest]
    return sorted(groups + idle)
