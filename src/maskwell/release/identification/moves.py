"""The moves of a release: drawn by the channel of its blocks, and written into the table.

Columns that move along go with the keys: a record that moves to another cell takes them, all of them, from one of the
records that truly belong there, each as likely as any other. A record that stays keeps its own. The expected number of
records with any value in any cell is then the true one: of a cell's θ moves away and θ moves in, a value has its share
of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maskwell.errors import DataError
from maskwell.release.drawing import Chance, applied
from maskwell.release.identification.release import Release
from maskwell.release.identification.setup import Setup
from maskwell.release.rows import read_ids, with_rows
from maskwell.sampling.entropy import Source
from maskwell.tables.codes import Ints

if TYPE_CHECKING:
    from maskwell.release.identification.plan import IdentificationPlan

_MOVES, _ALONG = " limit identification", " along"
_WORDS_ALONG = 1
_HALF = np.uint64(32)


def carry_out(setup: Setup, plan: IdentificationPlan, chance: Chance) -> Release:
    """Draw the moves of a setup and write them into its table."""
    blocks = setup.blocks
    place = np.full(len(setup.cells), -1)
    place[blocks.cells] = np.arange(len(blocks.cells))
    units = np.flatnonzero(place[setup.cell_of_unit] >= 0)
    fingerprint = plan.fingerprint if chance.key is not None else ""
    by_unit = chance._replace(ids=_ids(setup, chance.ids, units))
    stream = Source(*by_unit, _MOVES).stream(fingerprint, len(units))
    new_cell = setup.cell_of_unit.copy()
    new_cell[units] = blocks.cells[applied(setup.channel, place[setup.cell_of_unit[units]], stream)]
    rows = dict.fromkeys(plan.keys, _rows(setup, units, new_cell))
    if setup.request.along:
        rows |= dict.fromkeys(setup.request.along, _rows_along(setup, new_cell, units, by_unit, fingerprint))
    released = with_rows(setup.columns.native, rows, lazy=setup.lazy)
    changed = {
        column.name: int((setup.cells.codes[new_cell, i] != column.codes)[setup.unit_of_row].sum())
        for i, column in enumerate(setup.keys)
    }
    return Release(
        released,
        setup.columns.moved(rows, released),
        plan.drawn(stream.randomness, None if chance.seed is None else int(chance.seed), chance.key),
        setup.audit(),
        int((new_cell != setup.cell_of_unit)[setup.unit_of_row].sum()),
        changed,
        setup,
        new_cell,
    )


def _ids(setup: Setup, ids: Any, units: Ints) -> Any:
    """The ids of the units that may move; of a group the least one, so that the order of its rows does not matter."""
    plain = read_ids(setup.columns, ids, setup.n)
    if plain is None:
        return None
    least = [plain[row] for row in setup.row_of_unit.tolist()]
    if len(least) < setup.n:
        try:
            for unit, item in zip(setup.unit_of_row.tolist(), plain, strict=True):
                least[unit] = min(least[unit], item)
        except TypeError:
            raise DataError(
                "ids must be all whole numbers, all text or all bytes, none missing.", parameter="ids"
            ) from None
    return [least[unit] for unit in units.tolist()]


def _rows(setup: Setup, units: Ints, new_cell: Ints) -> Ints:
    """The row that every row takes its keys from: of the ``units`` that may move, the first of their new cell.

    Also where a unit stays: a file may spell one value in two ways (1.0 and 1.00, or two kinds of missing values), and
    the spelling that no moved record is given would tell which ones stayed.
    """
    donor = np.empty(len(setup.cells), np.int64)
    donor[setup.cell_of_unit[::-1]] = setup.row_of_unit[::-1]
    taken = np.full(len(setup.row_of_unit), -1)
    taken[units] = donor[new_cell[units]]
    rows = taken[setup.unit_of_row]
    return np.where(rows >= 0, rows, np.arange(setup.n))


def _rows_along(setup: Setup, new_cell: Ints, units: Ints, chance: Chance, fingerprint: str) -> Ints:
    """The row that every row takes the columns from that move along."""
    stream = Source(*chance, _ALONG).stream(fingerprint, len(units))
    words, width = stream.slots(0, np.zeros(len(units), np.uint32), _WORDS_ALONG)
    slots = words[: len(units) * width].reshape(len(units), width).astype(np.uint64)
    members = np.argsort(setup.cell_of_unit, kind="stable")
    counts, target = setup.cells.counts, new_cell[units]
    # One of t by the upper half of a product: even to t parts in 2^32, and no limit rests on it.
    upper = (slots[:, 0] * counts[target].astype(np.uint64)) >> _HALF
    picked = members[(np.cumsum(counts) - counts)[target] + upper.astype(np.int64)]
    moved = target != setup.cell_of_unit[units]
    source = np.arange(len(setup.row_of_unit))
    source[units[moved]] = picked[moved]
    rows = np.arange(setup.n)
    taken = source != np.arange(len(source))
    return np.where(taken[setup.unit_of_row], setup.row_of_unit[source[setup.unit_of_row]], rows)
