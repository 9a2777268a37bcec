"""From a table and a request to blocks of sensitive cells: everything about a release but the draws."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from maskwell.advice import Advice, Setting
from maskwell.designs.channels.exchange import ExchangeChannel
from maskwell.errors import DataError
from maskwell.release.drawing import Chance
from maskwell.release.identification.audit import IdentificationAudit, audit_block
from maskwell.release.identification.blocks.blocks import (
    Blocks,
    Groups,
    TooSmall,
    form_blocks,
    frequencies_of_sets,
    join,
    too_small,
)
from maskwell.release.identification.blocks.forming import Cast, Progress, form
from maskwell.release.identification.request import Request
from maskwell.release.identification.rules import Rule, frequencies
from maskwell.release.identification.theta import drawn_thetas, exchange
from maskwell.release.partition import Partition, factor, partition
from maskwell.release.recoding.cuts import cuts_after
from maskwell.release.recoding.recipe import apply
from maskwell.release.rows import settled
from maskwell.risk.frequencies import Cells, cross_classify, group
from maskwell.tables.codes import Coded, Floats, Ints
from maskwell.tables.encoded import EncodedTable, encoded

_SET = "(partition set)"


@dataclass(frozen=True, eq=False)
class Setup:
    """A table with its cells, its partition and its blocks.

    A unit is what moves as one: a record, or all records of a group. Cells are those of the keys within a partition
    set. Where the partition is by a column that is not a key, a combination of keys is counted set by set, which can
    only make more of them sensitive; the limit then holds for intruders who know that column and for those who do
    not. (Sets that were merged across such a column protect against the latter only.)
    """

    request: Request
    columns: EncodedTable
    """The table after it was recoded."""
    lazy: bool
    given: Any
    """The same as it was given; a file knows how it spells its values."""
    original: EncodedTable
    """The table before it was recoded."""
    keys: tuple[Coded, ...]
    parts: Partition
    cells: Cells
    cell_of_unit: Ints
    unit_of_row: Ints
    row_of_unit: Ints
    """The first row of each unit."""
    blocks: Blocks

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.unit_of_row)

    @property
    def block_of_cell(self) -> Ints:
        """The block of each cell; -1 where records stay."""
        found = np.full(len(self.cells), -1)
        found[self.blocks.cells] = self.blocks.block_of
        return found

    @property
    def changing(self) -> tuple[str, ...]:
        """The columns that a move may change: keys that differ within a block, and what moves along."""
        if not len(self.blocks):
            return ()
        codes, starts = self.cells.codes[self.blocks.cells], self.blocks.starts[:-1]
        differ = (np.minimum.reduceat(codes, starts) != np.maximum.reduceat(codes, starts)).any(axis=0)
        keys = tuple(name for name, own in zip(self.request.keys, differ.tolist(), strict=False) if own)
        return (*keys, *self.request.along)

    @cached_property
    def thetas(self) -> tuple[Fraction, ...]:
        """The θ of each block: how many records leave each of its cells on average, and as many enter it."""
        rule, counts, starts = self.request.rule, self.cells.counts[self.blocks.cells], self.blocks.starts
        return tuple(_theta(rule, counts[a:b].tolist()) for a, b in pairwise(starts.tolist()))

    @cached_property
    def leaving(self) -> Floats:
        """The chance of a record of each cell to leave it, θ/t; 0 outside blocks."""
        found = np.zeros(len(self.cells))
        thetas = np.array([float(theta) for theta in self.thetas])
        found[self.blocks.cells] = thetas[self.blocks.block_of] / self.cells.counts[self.blocks.cells]
        return found

    @property
    def expected_moves(self) -> float:
        """How many units move to another cell, on average."""
        return float(self.leaving @ self.cells.counts)

    @cached_property
    def channel(self) -> ExchangeChannel:
        """How the records of the blocks move, in the integers that are drawn."""
        return exchange(self.blocks.starts, self.cells.counts[self.blocks.cells], self.thetas)

    def audit(self) -> IdentificationAudit:
        """The exact risk of every block, as it is drawn; blocks of equal composition are computed once."""
        counts, blocks = self.cells.counts, self.blocks
        thetas = drawn_thetas(self.channel, counts[blocks.cells])
        place = {theta: i for i, theta in enumerate(dict.fromkeys(thetas))}
        sizes = np.unique(counts[blocks.cells])
        held = np.zeros((len(blocks), len(sizes) + 1), np.int64)
        np.add.at(held, (blocks.block_of, np.searchsorted(sizes, counts[blocks.cells])), 1)
        held[:, -1] = [place[theta] for theta in thetas]
        kinds, kind_of = np.unique(held, axis=0, return_inverse=True)
        of_place = list(place)
        audited = [
            audit_block(dict(zip(sizes.tolist(), kind, strict=True)), of_place[at]) for *kind, at in kinds.tolist()
        ]
        left = np.delete(counts, blocks.cells)
        return IdentificationAudit(
            self.request.xi,
            tuple(audited[kind] for kind in kind_of.ravel().tolist()),
            Fraction(1, int(left.min())) if len(left) else Fraction(0),
            Fraction(1, int(counts.min())),
        )


Arrange = Callable[[Cast, Partition], Blocks]
"""How the sensitive cells of the partition sets are sorted into blocks."""


def forming(request: Request, chance: Chance | None = None, show: Progress | None = None) -> Arrange:
    """Form blocks as the request says; random ones from ``chance``."""
    return lambda cast, _: form(cast, request.blocks, request.block_size, request.rule, chance, show)


def _theta(rule: Rule, counts: list[int]) -> Fraction:
    theta = rule.theta(frequencies(counts))
    if theta is None:
        raise AssertionError("a block was formed that cannot hold the limit")
    return theta


def prepare(table: Any, request: Request, arrange: Arrange | None = None) -> Setup:
    """The blocks of a table; an error with the remedy if one of them cannot protect its records.

    They are formed as the request says, unless ``arrange`` knows better.
    """
    original, lazy = settled(table)
    recoded = apply(request.recoding, original if lazy else encoded(table)).after
    source = settled(recoded)[0]
    within = cuts_after(request.within, request.recoding.columns, original.coded, source.coded)
    request = dataclasses.replace(request, within=within)
    extra = (*((request.together,) if request.together else ()), *request.along)
    wanted = dict.fromkeys((*request.keys, *request.within, *request.exempt, *extra))
    source.arrays(list(wanted))  # an error if one is not there
    columns = {name: source.coded(name) for name in wanted}
    rows = len(columns[request.keys[0]].codes)
    unit_of_row, row_of_unit = _units(columns[request.together] if request.together else None, rows)
    if request.together:
        fixed = (*request.keys, *request.within, *request.along)
        columns = {name: _of_units(columns[name], unit_of_row, row_of_unit, request.together) for name in fixed}
    factors = [factor(columns[name], how, "within") for name, how in request.within.items()]
    factors += [factor(columns[name], how, "exempt", exempt=True) for name, how in request.exempt.items()]
    parts = partition(factors, len(row_of_unit))
    keys = tuple(columns[name] for name in request.keys)
    cells, cell_of_unit, whole = _classify(keys, parts, request)
    cast = Cast(source, keys, extra, cells.codes[:, :-1], cells.counts, cell_of_unit[unit_of_row], whole)
    blocks = (arrange or forming(request))(cast, parts)
    return Setup(
        request,
        source,
        lazy,
        recoded.native,
        original,
        keys,
        parts,
        cells,
        cell_of_unit,
        unit_of_row,
        row_of_unit,
        blocks,
    )


def can_be_met(columns: Mapping[str, Coded], request: Request) -> bool:
    """Whether blocks that hold the limit can be formed of these columns, a record being what moves as one."""
    factors = [factor(columns[name], how, "within") for name, how in request.within.items()]
    keys = [columns[name] for name in request.keys]
    try:
        _classify(keys, partition(factors, len(keys[0].codes)), request)
    except TooSmall:
        return False
    return True


def _classify(keys: Sequence[Coded], parts: Partition, request: Request) -> tuple[Cells, Ints, Blocks]:
    """Cells and blocks. Where sets are joined, cells that differ only in the set become one and are counted anew."""
    rule = request.rule
    groups: Groups = [(s,) for s in range(len(parts))]
    while True:
        group_of_set = np.empty(len(parts), np.int64)
        for position, members in enumerate(groups):
            group_of_set[list(members)] = position
        sets = Coded(_SET, group_of_set[parts.set_of_row], tuple(range(len(groups))), 0)
        cells, cell_of_unit = cross_classify([*keys, sets])
        sensitive = np.flatnonzero(cells.counts < rule.sensitive_below)
        set_of_cell = cells.codes[:, -1]
        held = frequencies_of_sets(set_of_cell[sensitive], cells.counts[sensitive], len(groups))
        if all(rule.enough(sizes) for sizes in held if sizes):
            return cells, cell_of_unit, form_blocks(set_of_cell, sensitive, groups)
        if not request.merge:
            raise too_small(set_of_cell[sensitive], cells.counts[sensitive], parts, rule)
        groups = join(groups, held, parts, rule)


def _units(groups: Coded | None, n: int) -> tuple[Ints, Ints]:
    if groups is None:
        return np.arange(n), np.arange(n)
    if groups.missing:
        raise DataError(
            f"together={groups.name!r} is missing in {groups.missing} of {n} rows; give each a group.",
            parameter="together",
        )
    return group([groups.codes], [groups.size], n)


def _of_units(column: Coded, unit_of_row: Ints, row_of_unit: Ints, together: str) -> Coded:
    """A column of groups from one of records; it must not differ within a group."""
    codes = column.codes[row_of_unit]
    differing = len(np.unique(unit_of_row[codes[unit_of_row] != column.codes]))
    if differing:
        raise DataError(
            Advice(
                f"column {column.name!r} differs within {differing} of {len(row_of_unit)} groups of {together!r}; what "
                "is moved ",
                Setting("together"),
                f" must describe the group. With keys of single records leave out {together!r} itself: the users then "
                "lose who belongs together (docs/releasing_a_file.md, Households).",
            )
        )
    missing = int((codes == len(column.labels) - 1).sum()) if column.missing else 0
    return Coded(column.name, codes, column.labels, missing)
