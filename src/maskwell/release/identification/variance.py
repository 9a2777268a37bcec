r"""What moving adds to the variance of any table of counts, exactly.

Records move independently of each other, so the variance of a released count is the sum over records of
:math:`w^2 p (1 - p)`, where p is the chance that the record ends up in that cell of the table and w the number of
table entries that move with it. This is a diagonal element of :math:`D_T - P D_T P'` for tables of keys. The chance
depends on the record's block and frequency and on whether it starts in the table's cell, so sums over groups suffice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from maskwell.release.added_variance import Moments, refuse_large, without_rounding
from maskwell.release.identification.setup import Setup
from maskwell.release.partition import Factor, Partition, partition
from maskwell.risk.frequencies import group, sums
from maskwell.tables.codes import Floats, Ints

_AT_ONCE = 1_000_000
"""Pairs of records and table rows that are computed in one go."""


@dataclass(frozen=True, eq=False)
class _Table:
    """A table of counts, with a row for what moves with a record's cell and a column for what stays with the record."""

    rows: Partition
    columns: Partition
    a_of_unit: Ints
    """The row of the table that each unit is in."""

    @staticmethod
    def of(setup: Setup, factors: Sequence[Factor]) -> _Table:
        rows = partition([f for f in factors if f.name in setup.request.moving], setup.n)
        columns = partition([f for f in factors if f.name not in setup.request.moving], setup.n)
        return _Table(rows, columns, rows.set_of_row[setup.row_of_unit])

    def entries(self, setup: Setup) -> tuple[Ints, Ints, Ints]:
        """Weight, unit and column of the records that may move; those of one unit and column move as one."""
        movable = np.flatnonzero(setup.block_of_cell[setup.cell_of_unit[setup.unit_of_row]] >= 0)
        unit, v = setup.unit_of_row[movable], self.columns.set_of_row[movable]
        alike, first = group([unit, v], [len(setup.row_of_unit), len(self.columns)], len(movable))
        return np.bincount(alike), unit[first], v[first]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.columns)

    def levels(self, factors: Sequence[Factor]) -> Ints:
        """The levels of every cell, a column for each factor."""
        n, m = self.shape
        levels = np.hstack([np.repeat(self.rows.levels, m, axis=0), np.tile(self.columns.levels, (n, 1))])
        stored = [f.name for f in (*self.rows.factors, *self.columns.factors)]
        return levels[:, [stored.index(f.name) for f in factors]]


def moments(setup: Setup, factors: Sequence[Factor]) -> Moments:
    """Counts, expected counts and variances by any factors of the table's rows."""
    table = _Table.of(setup, factors)
    size = math.prod(table.shape)
    refuse_large(size)
    counts = np.bincount(table.rows.set_of_row * table.shape[1] + table.columns.set_of_row, minlength=size)
    expected, variance = counts.reshape(table.shape).astype(float), np.zeros(table.shape)
    if len(setup.blocks):
        _add_moves(setup, table, expected, variance)
    return Moments(table.levels(factors), counts, expected.ravel(), without_rounding(variance.ravel(), counts))


def _add_moves(setup: Setup, table: _Table, expected: Floats, variance: Floats) -> None:
    """Add the moves of every block to the expected counts and the variances of cells (a, v) of a table.

    Where columns move along, the records of a cell differ in ``a``, and whoever comes in is given that of one of them.
    """
    (weight, unit, v), levels = table.entries(setup), len(table.rows)
    cell = setup.cell_of_unit[unit]
    block, t = setup.block_of_cell[cell], setup.cells.counts[cell]
    go = setup.leaving[cell]
    step = go / (setup.blocks.sizes[block] - 1)
    reach = _Reach.of(setup, table.a_of_unit, levels)
    # As if nobody started in the table's cell: records of one block, frequency and column are alike …
    kinds, one = group([block, t, v], [len(setup.blocks), int(t.max()) + 1, table.shape[1]], len(t))
    alike = sums(kinds, weight), sums(kinds, weight**2)
    for some, row, number in reach.crossed(block[one]):
        chance = number * step[one[some]]
        np.add.at(expected, (row, v[one[some]]), alike[0][some] * chance)
        np.add.at(variance, (row, v[one[some]]), alike[1][some] * chance * (1 - chance))
    # … then those who do: nobody is given anything by their own cell.
    who, a, share = _own_cells(setup, table.a_of_unit, cell, levels)
    same = a == table.a_of_unit[unit[who]]
    outside = reach.held(block[who], a) * step[who]
    inside = outside - share * step[who] + same * (1 - go[who])
    np.add.at(expected, (a, v[who]), weight[who] * (inside - outside - same))
    np.add.at(variance, (a, v[who]), weight[who] ** 2 * (inside * (1 - inside) - outside * (1 - outside)))


@dataclass(frozen=True, eq=False)
class _Reach:
    """How many cells of each block lie in each row of the table; of a cell that lies in several, parts."""

    pairs: Ints
    """Each block and row that occur, as one number, in rising order."""
    number: Floats
    levels: int
    starts: Ints
    """Where each block starts among the pairs."""

    @staticmethod
    def of(setup: Setup, a_of_unit: Ints, levels: int) -> _Reach:
        movable = np.flatnonzero(setup.block_of_cell[setup.cell_of_unit] >= 0)
        home = setup.cell_of_unit[movable]
        pairs, where = np.unique(setup.block_of_cell[home] * levels + a_of_unit[movable], return_inverse=True)
        starts = np.searchsorted(pairs // levels, np.arange(len(setup.blocks) + 1))
        return _Reach(pairs, sums(where, 1 / setup.cells.counts[home]), levels, starts)

    def held(self, block: Ints, row: Ints) -> Floats:
        """How many cells of these blocks lie in these rows, pair by pair."""
        return self.number[np.searchsorted(self.pairs, block * self.levels + row)]

    def crossed(self, block_of_kind: Ints) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Every kind of record with every row of the table that its block reaches, a bounded number at a time.

        Gives the kind, the row and how many cells of the block lie in it.
        """
        reach = np.diff(self.starts)[block_of_kind]
        for kinds in np.split(np.arange(len(reach)), np.flatnonzero(np.diff(np.cumsum(reach) // _AT_ONCE)) + 1):
            some, offset = _spelled_out(kinds, reach[kinds])
            at = self.starts[block_of_kind[some]] + offset
            yield some, self.pairs[at] % self.levels, self.number[at]


def _spelled_out(what: Ints, times: Ints) -> tuple[Ints, Ints]:
    """Each entry so many times, and which of these times it is."""
    repeated = np.repeat(what, times)
    return repeated, np.arange(len(repeated)) - np.repeat(np.cumsum(times) - times, times)


def _own_cells(setup: Setup, a_of_unit: Ints, cells: Ints, levels: int) -> tuple[Ints, Ints, Floats]:
    """For each of ``cells``, every row of the table that it lies in, with the share of its records that do."""
    counts = setup.cells.counts
    members = np.argsort(setup.cell_of_unit, kind="stable")
    who, offset = _spelled_out(np.arange(len(cells)), counts[cells])
    a = a_of_unit[members[(np.cumsum(counts) - counts)[cells[who]] + offset]]
    found, where = np.unique(who * levels + a, return_inverse=True)
    return found // levels, found % levels, sums(where, 1 / counts[cells[who]])


def sum_variance(setup: Setup, factors: Sequence[Factor], weights: Floats) -> float:
    """The variance of the released counts of a table times ``weights``, an array with an axis for each factor.

    Records move independently, those of one unit as one, so it is the sum over units of the variance of what a unit
    adds: over pairs of its records of the covariance of their weights, each a function of where both move to.
    """
    if not len(setup.blocks):
        return 0.0
    table = _Table.of(setup, factors)
    weight, unit, v = table.entries(setup)
    g = weights[tuple(table.levels(factors).T)].reshape(table.shape)
    cell = setup.cell_of_unit[unit]
    go = setup.leaving[cell]
    step = go / (setup.blocks.sizes[setup.block_of_cell[cell]] - 1)
    here = g[table.a_of_unit[unit], v]
    mean = (1 - go) * here + step * _elsewhere(setup, table.a_of_unit, cell, g.T, v)
    x, y = _within_units(unit)
    # What two records add is a product of weights, which depends on where they are alike.
    both, pair = group([v[x], v[y]], [table.shape[1]] * 2, len(x))
    products = g.T[v[x][pair]] * g.T[v[y][pair]]
    second = (1 - go[x]) * here[x] * here[y] + step[x] * _elsewhere(setup, table.a_of_unit, cell[x], products, both)
    return max(float((weight[x] * weight[y] * (second - mean[x] * mean[y])).sum()), 0.0)


def _elsewhere(setup: Setup, a_of_unit: Ints, cell: Ints, values: Floats, kind: Ints) -> Floats:
    """The sum over the other cells of each cell's block of the mean of ``values[kind, a]`` among their records."""
    levels = values.shape[1]
    alike, one = group([cell, kind], [len(setup.cells), len(values)], len(cell))
    total = np.zeros(len(one))
    for some, row, number in _Reach.of(setup, a_of_unit, levels).crossed(setup.block_of_cell[cell[one]]):
        np.add.at(total, some, number * values[kind[one[some]], row])
    who, a, share = _own_cells(setup, a_of_unit, cell[one], levels)
    np.add.at(total, who, -share * values[kind[one[who]], a])
    return total[alike]


def _within_units(unit: Ints) -> tuple[Ints, Ints]:
    """Every ordered pair of entries of one unit, an entry with itself among them."""
    order = np.argsort(unit, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(unit[order]) != 0])
    size = np.diff(np.r_[starts, len(unit)])
    first, offset = _spelled_out(np.arange(len(unit)), np.repeat(size, size))
    return order[first], order[np.repeat(starts, size)[first] + offset]
