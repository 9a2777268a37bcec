"""Limit identification: move records among sensitive cells until no match is right with more than a given chance."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from maskwell.errors import DataError
from maskwell.plain_text import visible_lines
from maskwell.release.added_variance import AddedVariance
from maskwell.release.identification.audit import IdentificationAudit
from maskwell.release.identification.block_forming import DEFAULT_WAY, Chance
from maskwell.release.identification.moving_along import rows_along
from maskwell.release.identification.plan import IdentificationPlan, plan_of
from maskwell.release.identification.preparation import Setup, forming, prepare, read_request
from maskwell.release.identification.variance import added_variance
from maskwell.release.rows import read_ids, with_rows
from maskwell.release.staying_columns import Staying, staying_columns
from maskwell.sampling.entropy import Source
from maskwell.sampling.samplers import draw
from maskwell.tables.codes import Ints
from maskwell.tables.encoded import EncodedTable

if TYPE_CHECKING:
    from maskwell.release.attack.derived_columns import Derivations
    from maskwell.release.attack.intruders import Intruders
    from maskwell.release.attack.result import Attack
    from maskwell.release.evaluation.comparison import Comparison

_CONTEXT = " limit identification"


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A table that may be released, the plan behind it, and the proof that the limit holds.

    The release also holds the original table, for the custodian's own comparisons; give away ``table`` alone, and write
    dictionaries of Arrow by ``file.with_table(table)``: those of the table list the original categories.
    """

    table: Any
    plan: IdentificationPlan
    audit: IdentificationAudit
    changed_records: int
    """Records with another combination of keys than before."""
    changed_by_key: Mapping[str, int]
    """Records whose value of each key is another one."""
    setup: Setup = dataclasses.field(repr=False)
    cell_after: Ints = dataclasses.field(repr=False)
    """The cell that each unit is released in."""
    moved: EncodedTable = dataclasses.field(repr=False)
    """The columns of the table as they follow from the moves."""

    @property
    def columns(self) -> EncodedTable:
        """The released columns as codes."""
        return self.moved.of(self.table)

    @property
    def changed(self) -> float:
        """The share of records with another combination of keys than before."""
        return self.changed_records / self.setup.n

    def added_variance(self, of: Any) -> AddedVariance:
        """What the release adds to the variance of the counts by the columns ``of``, exactly.

        ``of`` is written like ``within``: a column, several, or ``{"age": [18, 65]}`` for intervals. For keys the
        released counts are unbiased; a table that also has other columns shows its bias. ``.warnings`` says where
        either is not small beside the sampling error.
        """
        return added_variance(self.setup, of)

    def comparison(self, columns: Sequence[str] | None = None) -> Comparison:
        """The file before and after: frequencies, tables of two columns, associations and the risk by the keys.

        ``columns`` are those to compare, all that can be told apart by default; keys are always among them.
        """
        from maskwell.release.evaluation.comparison import compare_release

        return self._comparison if columns is None else compare_release(self, columns)

    @cached_property
    def _comparison(self) -> Comparison:
        from maskwell.release.evaluation.comparison import compare_release

        return compare_release(self, None)

    @cached_property
    def staying(self) -> list[Staying]:
        """The columns that stay as they are, by the rank of their values."""
        return staying_columns(self.setup.columns, self.setup.request.moving)

    @cached_property
    def derived(self) -> Derivations:
        """What an intruder would make of the columns that stay: those that tell more of a key than their parts."""
        from maskwell.release.attack.derived_columns import derive

        return derive(self.setup.columns, self.setup.changing, self.staying)

    def attack(self, seed: int = 0) -> Attack:
        """What somebody who has the released file alone, and knows the method, finds out.

        The intruder compares keys with the columns that stayed and ranks the combinations of keys that are shown once
        by how well they fit; ``.surest`` says how many of the surest 5, 20 and 50 % truly are where they are shown,
        ``.columns`` which columns tell it. ``seed`` picks the records that the intruder learns from.
        """
        from maskwell.release.attack.intruders import attack_release

        return self._attack if seed == 0 else attack_release(self, seed)

    @cached_property
    def _attack(self) -> Attack:
        from maskwell.release.attack.intruders import attack_release

        return attack_release(self, 0)

    @cached_property
    def intruders(self) -> Intruders:
        """Everybody who may try to recognise somebody, with how often each is right: the limit is about one of them."""
        from maskwell.release.attack.intruders import intruders

        return intruders(self)

    def check(self, accept: Sequence[str] | str = ()) -> None:
        """Stop here if a column that stays decides a key, unless it is among those that you ``accept`` by name."""
        from maskwell.release.attack.disclosures import disclosures

        disclosures(self, rows_in_order=False).refuse(accept)

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain numbers, ready for JSON."""
        return {
            "records": self.setup.n,
            "keys": list(self.plan.keys),
            "theta": float(self.plan.theta),
            "sensitive_cells": len(self.setup.blocks.cells),
            "occupied_cells": len(self.setup.cells),
            "changed_records": self.changed_records,
            "changed": self.changed,
            "changed_by_key": dict(self.changed_by_key),
            "merged_sets": self.plan.merged,
            "blocks": self.plan.request.blocks,
            "block_size": self.plan.request.block_size,
            "audit": self.audit.to_dict(),
            "intruders": self.intruders.to_dict(),
        }

    def summary(self) -> str:
        """The release in plain text."""
        from maskwell.release.attack.intruders import limit_in_words

        sizes = self.setup.blocks.sizes
        blocks = f"{len(sizes)} blocks of {sizes.min()} to {sizes.max()} cells" if len(sizes) else "no block"
        if len(sizes) == 1:
            blocks = f"one block of {sizes[0]} cells"
        by_key = ", ".join(f"{key} {count}" for key, count in self.changed_by_key.items())
        unprotected = ", ".join(self.plan.unprotected)
        beware = [f"  beware:    sets were joined across {unprotected}; the limit is for those who do not know it"]
        return visible_lines(
            [
                f"Release of {self.setup.n} records over the keys {', '.join(self.plan.keys)}",
                f"  sensitive: {len(self.setup.blocks.cells)} of {len(self.setup.cells)} occupied cells, in {blocks}",
                f"  changed:   {self.changed_records} records ({self.changed:.2%}); by key: {by_key}",
                f"  risk:      {limit_in_words(self)}",
                *(beware if unprotected else []),
            ]
        )

    def __repr__(self) -> str:
        risk = self.audit.risk_in_digits(5)
        return f"<release of {self.setup.n} records: {self.changed:.2%} changed, largest risk {risk}>"


def limit_identification(
    table: Any,
    keys: Sequence[str] | str,
    xi: float,
    within: Any = None,
    *,
    exempt: Any = None,
    merge: Literal["suggest", "merge"] = "suggest",
    together: str | None = None,
    blocks: str = DEFAULT_WAY,
    block_size: int | None = None,
    along: Sequence[str] | str = (),
    key: bytes | None = None,
    ids: Any = None,
    seed: int | None = None,
) -> Release:
    """Release a table such that a match by the ``keys`` is right with a chance of at most ``xi``.

    The limit is about an intruder who knows the keys and how many released records show them. ``release.attack()``
    tries what somebody with the released file alone finds out, ``release.intruders`` has both and others, and
    ``release.check()`` stops if a column decides a key.

    A combination of keys (a cell) is sensitive if it occurs fewer than 1/ξ times. Within each partition set the
    sensitive cells form blocks, and a record of a sensitive cell with frequency t moves with chance θ/t to another
    cell of its block (Nayak 2020, section 5; key ``nayak-2020``). The expected frequency of every cell is the true one.
    Nothing else of a record changes, and no combination appears that was not there before.

    ``blocks`` says which cells exchange their records: all of a partition set ("whole"), or about ``block_size`` cells
    at "random", or look-alike ones: "staying", "profile" or "mixed" (``block_forming.WAYS`` says what each is for). The
    limit is the same for all; ``compare_blocks`` shows how they differ on a table. ``release.audit.all_counts`` is the
    figure for an intruder who uses the released counts of a whole block.

    ``within`` says what no record may leave: columns ("sex"), intervals of a number by where they start
    ({"age": [18, 65]}), groups of categories ({"race": [["white"], ["black"]]}, the others forming one more group), or
    a column of your own. ``exempt`` names keys that must not change, or categories that are neither left nor entered
    ({"race": ["white"]}). A block that is too small to protect its records is refused; ``merge="merge"`` joins it with
    the nearest set instead, never across what is exempt. Missing values of a key are a category of their own.

    ``along`` names columns that are no keys but go with them so closely that they would show who moved: a record that
    is given another combination is given these columns with it, from one of the records that have that combination.

    ``together`` names a column of households or other groups: all records of a group then move as one, the limit is
    on recognising a group, and the keys and ``within`` must be the same throughout a group.

    The draws are cryptographic and fresh; ``key`` with ``ids`` (a column, or its name) makes them repeatable for
    whoever holds the key, and ``seed`` is for simulation.

    >>> table = {"sex": ["f", "m"] * 20, "age": list(range(20, 60))}
    >>> release = limit_identification(table, keys=["sex", "age"], xi=0.5, within="sex", seed=1)
    >>> release.audit.holds, release.table["sex"] == table["sex"]
    (True, True)
    """
    Source(key, ids, seed).check()  # before any work
    request = read_request(keys, xi, within, exempt, merge, together, blocks, block_size, along)
    setup = prepare(table, request, forming(request, Chance(key, seed)))
    return carry_out(setup, key, ids, seed)


def plan_identification(
    table: Any,
    keys: Sequence[str] | str,
    xi: float,
    within: Any = None,
    *,
    exempt: Any = None,
    merge: Literal["suggest", "merge"] = "suggest",
    together: str | None = None,
    blocks: str = DEFAULT_WAY,
    block_size: int | None = None,
    key: bytes | None = None,
    seed: int | None = None,
) -> tuple[IdentificationPlan, IdentificationAudit]:
    """What ``limit_identification`` would do, without doing it: the plan, and the audit of its blocks.

    ``key`` and ``seed`` matter for ``blocks="random"`` alone, which are drawn anew without them.
    """
    request = read_request(keys, xi, within, exempt, merge, together, blocks, block_size)
    setup = prepare(table, request, forming(request, Chance(key, seed)))
    return plan_of(setup), setup.audit()


def carry_out(setup: Setup, key: bytes | None, ids: Any, seed: int | None) -> Release:
    """Draw the moves of a setup and write them into its table."""
    plan = plan_of(setup)
    blocks, counts = setup.blocks, setup.cells.counts
    place = np.full(len(counts), -1)
    place[blocks.cells] = np.arange(len(blocks.cells))
    units = np.flatnonzero(place[setup.cell_of_unit] >= 0)
    truth = place[setup.cell_of_unit[units]].astype(np.uint32)
    chance = key, _ids(setup, ids, units), seed
    fingerprint = plan.fingerprint if key is not None else ""
    stream = Source(*chance, _CONTEXT).stream(fingerprint, len(units))
    drawn = draw(setup.moves, len(units), lambda start, stop: truth[start:stop], stream)
    new_cell = setup.cell_of_unit.copy()
    new_cell[units] = blocks.cells[drawn]
    rows = dict.fromkeys(plan.keys, _rows(setup, units, new_cell))
    if setup.request.along:
        rows |= dict.fromkeys(setup.request.along, rows_along(setup, new_cell, units, chance, fingerprint))
    released = with_rows(setup.table, rows, lazy=setup.lazy)
    moved = int((new_cell != setup.cell_of_unit)[setup.unit_of_row].sum())
    changed = {
        column.name: int((setup.cells.codes[new_cell, i] != column.codes)[setup.unit_of_row].sum())
        for i, column in enumerate(setup.keys)
    }
    drawn_plan = plan.drawn(stream.randomness, None if seed is None else int(seed), key)
    return Release(
        released, drawn_plan, setup.audit(), moved, changed, setup, new_cell, setup.columns.moved(rows, released)
    )


def _ids(setup: Setup, ids: Any, units: Ints) -> Any:
    """The ids of the units that may move; of a group the least one, so that the order of its rows does not matter."""
    plain = read_ids(setup.table, ids, setup.n)
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
