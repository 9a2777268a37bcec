"""Columns that are moved along: a record that is given another combination of keys is given what goes with it.

A record that moves to another cell takes these columns, all of them, from one of the records that truly belong there,
each as likely as any other. A record that stays keeps its own. The expected number of records with any value in any
cell is then the true one: of a cell's θ moves away and θ moves in, a value has its share of both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maskwell.release.identification.preparation import Setup
from maskwell.sampling.entropy import Source
from maskwell.tables.codes import Ints

_CONTEXT = " along"
_WORDS = 1
_HALF = np.uint64(32)


def rows_along(
    setup: Setup, cell_after: Ints, units: Ints, chance: tuple[bytes | None, Any, int | None], fingerprint: str
) -> Ints:
    """The row that every row takes these columns from; ``chance`` is the key, the ids of ``units``, and the seed."""
    stream = Source(*chance, _CONTEXT).stream(fingerprint, len(units))
    words, width = stream.slots(0, np.zeros(len(units), np.uint32), _WORDS)
    slots = words[: len(units) * width].reshape(len(units), width).astype(np.uint64)
    members = np.argsort(setup.cell_of_unit, kind="stable")
    counts = setup.cells.counts
    starts = np.cumsum(counts) - counts
    target = cell_after[units]
    # One of t by the upper half of a product: even to t parts in 2^32, and no limit rests on it.
    upper = (slots[:, 0] * counts[target].astype(np.uint64)) >> _HALF
    picked = members[starts[target] + upper.astype(np.int64)]
    moved = target != setup.cell_of_unit[units]
    source = np.arange(len(setup.row_of_unit))
    source[units[moved]] = picked[moved]
    rows = np.arange(setup.n)
    taken = source != np.arange(len(source))
    return np.where(taken[setup.unit_of_row], setup.row_of_unit[source[setup.unit_of_row]], rows)
