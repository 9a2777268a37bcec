"""What one way of forming blocks does: how often each intruder is right, and how much of the associations is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from maskwell.inference.cramers_v import plain_v
from maskwell.release.attack.known_blocks import attack_known_blocks
from maskwell.release.identification.blocks.likeness import columns_to_compare, numbers_of
from maskwell.release.identification.release import Release
from maskwell.tables.codes import Ints


@dataclass(frozen=True)
class BlockFigures:
    """What one way of forming blocks gives, measured on releases that are thrown away."""

    blocks: str
    size: int | None
    keys: float
    """The largest chance of a right match by the keys among rare ones, by the count of the own cell: exact."""
    all_counts: float
    """The same by all counts of the block."""
    all_counts_exact: bool
    """Whether that is exact; if not the worst case is at least as bad."""
    file_alone: tuple[float, ...]
    """The shares right in the surest 5, 20 and 50 % of the cells shown once, by one who has the released file alone."""
    blocks_known: tuple[float, ...] | None
    """The same by one who knows the blocks as well; None where blocks are large."""
    one_more: float
    """The share of right matches by the keys and one more column, on average over columns."""
    two_more: float
    """By the keys and the most helpful column and one more, on average."""
    association: float
    """Cramér's V of changing keys and staying columns among records with rare keys, over what it was."""
    variation: float
    """Total variation of these tables, on average: the share of their records that is in another cell."""
    change: dict[str, float]
    """How far a moved record is from its true value, on average, for keys that are numbers."""


def measure(release: Release) -> BlockFigures:
    """All figures of one release."""
    blocks, besides, request = release.audit.blocks, release.intruders.besides, release.setup.request
    one, two = (np.mean([known.right for known in part] or [besides.none]) for part in (besides.one, besides.two))
    return BlockFigures(
        request.blocks,
        request.block_size,
        max((float(block.risk) for block in blocks), default=0.0),
        max((float(block.all_counts.risk) for block in blocks), default=0.0),
        all(block.all_counts.exact for block in blocks),
        tuple(surest.share_right for surest in release.attack().surest),
        attack_known_blocks(release),
        float(one),
        float(two),
        *_kept(release),
        _changes(release),
    )


def mean(figures: Sequence[BlockFigures]) -> BlockFigures:
    """The figures of several releases of one kind, on average; those that are proved are the same in all."""
    known = [each.blocks_known for each in figures if each.blocks_known is not None]
    return replace(
        figures[0],
        keys=max(each.keys for each in figures),
        all_counts=max(each.all_counts for each in figures),
        file_alone=_means([each.file_alone for each in figures]),
        blocks_known=_means(known) if known else None,
        one_more=_means([(each.one_more,) for each in figures])[0],
        two_more=_means([(each.two_more,) for each in figures])[0],
        association=_means([(each.association,) for each in figures])[0],
        variation=_means([(each.variation,) for each in figures])[0],
        change={name: _means([(each.change[name],) for each in figures])[0] for name in figures[0].change},
    )


def _means(values: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(float(value) for value in np.mean(values, axis=0)) if len(values[0]) else ()


def _rare(release: Release) -> Ints:
    """The units with rare keys: those that may have moved."""
    sensitive = np.zeros(len(release.setup.cells), bool)
    sensitive[release.setup.blocks.cells] = True
    return np.flatnonzero(sensitive[release.setup.cell_of_unit])


def _kept(release: Release) -> tuple[float, float]:
    """Cramér's V of changing keys and staying columns over what it was, and the total variation of their tables."""
    setup, units = release.setup, _rare(release)
    columns = columns_to_compare(setup.columns, (*setup.request.moving, *filter(None, [setup.request.together])))
    before, after, apart = 0.0, 0.0, []
    for name in (key for key in setup.request.keys if key in setup.changing):
        codes = setup.cells.codes[:, setup.request.keys.index(name)].astype(np.int64)
        for column in columns:
            shape = int(codes.max()) + 1, column.size
            value = column.codes[setup.row_of_unit[units]]
            tables = [
                np.bincount(codes[cell[units]] * column.size + value, minlength=shape[0] * shape[1]).reshape(shape)
                for cell in (setup.cell_of_unit, release.cell_after)
            ]
            before, after = before + plain_v(tables[0]), after + plain_v(tables[1])
            apart.append(float(np.abs(tables[1] - tables[0]).sum() / 2 / len(units)))
    return (after / before if before else 1.0), float(np.mean(apart or [0.0]))


def _changes(release: Release) -> dict[str, float]:
    """How far moved records are from their true values, for each key that holds numbers."""
    setup = release.setup
    moved = release.cell_after != setup.cell_of_unit
    found = {}
    for i, column in enumerate(setup.keys):
        values = numbers_of(column)
        if values is not None and column.name in setup.changing:
            value_of_cell = values[setup.cells.codes[:, i], 0]
            gap = np.abs(value_of_cell[release.cell_after] - value_of_cell[setup.cell_of_unit])[moved]
            found[column.name] = float(gap.mean()) if len(gap) else 0.0
    return found
