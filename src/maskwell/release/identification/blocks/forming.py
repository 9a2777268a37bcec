"""Ways of forming blocks: which sensitive cells of a partition set exchange their records.

The limit on matches by the keys holds for blocks of any kind that are large enough. What an intruder with more than the
keys can do, and what the release does to associations, depends on who shares a block with whom.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.advice import Advice, Setting
from maskwell.errors import DataError
from maskwell.release.drawing import Chance
from maskwell.release.identification.blocks.blocks import Blocks
from maskwell.release.identification.blocks.likeness import (
    Picture,
    columns_to_compare,
    keys_picture,
    points,
    profile_picture,
    staying_picture,
)
from maskwell.release.identification.blocks.microaggregation import group_sizes, microaggregate
from maskwell.release.identification.rules import Rule, frequencies
from maskwell.release.log_ratios import views_of_keys
from maskwell.release.rows import random_order
from maskwell.release.staying_columns import is_plain, ranked
from maskwell.tables.codes import Coded, Ints

WHOLE = "whole"
WAYS: Mapping[str, str] = {
    WHOLE: "one block for each partition set: whoever knows the keys and one more column guesses worst, but columns "
    "that stay tell best who moved, and associations with them are weakened most",
    "random": "small blocks at random: against those who use the counts of all cells, and nobody else",
    "staying": "small blocks of cells whose records look alike in the columns that stay: against those who know such "
    "columns beside the keys",
    "profile": "small blocks of cells whose keys predict alike of the columns that stay: against those who look in the "
    "released file for records that do not go with their keys",
    "mixed": "small blocks of cells that are alike in both and in the keys: against both, and values move least",
}
"""The ways, with what each is for."""
DEFAULT_WAY = "profile"
DEFAULT_SIZE = 3

_CONTEXT = " blocks"

Progress = Callable[[float], None]
"""Told the share of the cells that are in a block."""


def read_way(way: Any, size: Any, least: int) -> tuple[str, int | None]:
    """The way of forming blocks and the number of cells that they should have, checked."""
    if way not in WAYS:
        raise DataError(f"blocks must be one of {', '.join(WAYS)}; got {way!r}.", parameter="blocks")
    if size is None:
        return way, None if way == WHOLE else max(DEFAULT_SIZE, least)
    if way == WHOLE:
        raise DataError(
            Advice(
                "block_size is for small blocks; leave it out, or form them with ",
                Setting("blocks", "mixed", quote='"'),
                ".",
            ),
            parameter="block_size",
        )
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 2:
        raise DataError(f"block_size must be a whole number of cells, such as 3; got {size!r}.", parameter="block_size")
    if size < least:
        raise DataError(
            f"block_size={size} is too small: at this xi a block needs {least} cells or more to hold it.",
            parameter="block_size",
        )
    return way, int(size)


@dataclass(frozen=True, eq=False)
class Cast:
    """All that blocks are formed from: the table, its cells and the sensitive ones of each partition set."""

    table: Any
    keys: tuple[Coded, ...]
    aside: tuple[str, ...]
    """Columns that are not keys but say nothing about a single record, such as the number of a household."""
    codes: NDArray[np.integer]
    """The code of each cell by each key."""
    counts: Ints
    cell_of_row: Ints
    whole: Blocks


def form(
    cast: Cast, way: str, size: int | None, rule: Rule, chance: Chance | None = None, show: Progress | None = None
) -> Blocks:
    """Blocks of about ``size`` cells within each partition set, all of which hold the limit; None for large ones."""
    whole = cast.whole
    if not len(whole) or (size is None and rule.one_theta):
        return whole
    gather = _gathering(cast, way, chance or Chance(), show)
    blocks: list[Ints] = []
    sets: list[tuple[int, ...]] = []
    for i, members in enumerate(whole.sets):
        places = np.arange(whole.starts[i], whole.starts[i + 1])
        counts = cast.counts[whole.cells[places]]
        for part, least in rule.parts(counts):
            wanted = [len(part)] if size is None else group_sizes(len(part), max(size, least), least)
            formed = [np.sort(group) for group in gather(places[part], wanted)]
            held = (frequencies(cast.counts[whole.cells[group]].tolist()) for group in formed)
            if not all(rule.theta(sizes) for sizes in held):
                # Cells of several frequencies hold the limit together, but not in every mixture.
                formed = [places[part]]
            blocks += sorted(formed, key=lambda group: int(group[0]))
            sets += [members] * len(formed)
    starts = np.concatenate([[0], np.cumsum([len(block) for block in blocks])])
    return Blocks(whole.cells[np.concatenate(blocks)], starts.astype(np.int64), tuple(sets))


Gather = Callable[[Ints, Sequence[int]], list[Ints]]
"""Sorts positions of sensitive cells into groups of given sizes."""


def _gathering(cast: Cast, way: str, chance: Chance, show: Progress | None) -> Gather:
    if way == WHOLE:
        return lambda cells, sizes: [cells]
    return _at_random(cast.whole, chance) if way == "random" else _alike(cast, way, show)


def _at_random(whole: Blocks, chance: Chance) -> Gather:
    ids = None if chance.key is None else np.arange(len(whole.cells))
    place = np.argsort(random_order(len(whole.cells), chance.key, ids, chance.seed, _CONTEXT))

    def gather(cells: Ints, sizes: Sequence[int]) -> list[Ints]:
        return np.split(cells[np.argsort(place[cells])], np.cumsum(sizes)[:-1])

    return gather


def _alike(cast: Cast, way: str, show: Progress | None) -> Gather:
    places, done = points(_pictures(cast, way), cast.whole.cells), 0

    def dealt(cells: int) -> None:
        nonlocal done
        done += cells
        if show:
            show(done / len(places))

    def gather(cells: Ints, sizes: Sequence[int]) -> list[Ints]:
        return [cells[group] for group in microaggregate(places[cells], sizes, dealt)]

    return gather


def _pictures(cast: Cast, way: str) -> list[Picture]:
    names = [column.name for column in cast.keys]
    columns = columns_to_compare(cast.table, [*names, *cast.aside])
    of_keys = keys_picture(cast.keys, cast.codes)
    if not columns:
        return [of_keys]
    views = views_of_keys([ranked(cast.table, name) for name in names if is_plain(cast.table, name)])
    of_records = staying_picture(cast.cell_of_row, columns)
    predicted = profile_picture(cast.cell_of_row, views, columns)
    return {"staying": [of_records], "profile": [predicted], "mixed": [of_records, predicted, of_keys]}[way]
