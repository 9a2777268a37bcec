r"""What moving adds to the variance of any table of counts, exactly.

Records move independently of each other, so the variance of a released count is the sum over records of
:math:`w^2 p (1 - p)`, where p is the chance that the record ends up in that cell of the table and w the number of
table entries that move with it. This is a diagonal element of :math:`D_T - P D_T P'` for tables of keys. The chance
depends on the record's block and frequency and on whether it starts in the table's cell, so sums over groups suffice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from maskwell.release.added_variance import AddedVariance, Moments, read_factors, refuse_large, without_rounding
from maskwell.release.identification.preparation import Setup
from maskwell.release.partition import Factor, partition
from maskwell.risk.frequencies import group, sums
from maskwell.tables.codes import Floats, Ints

_AT_ONCE = 1_000_000
"""Pairs of records and table rows that are computed in one go."""


def added_variance(setup: Setup, of: Any) -> AddedVariance:
    """The exact variance that a release adds to the table of counts by the columns ``of``."""
    factors = read_factors(setup.columns, of)
    return moments(setup, factors).added(factors, setup.n)


def moments(setup: Setup, factors: Sequence[Factor]) -> Moments:
    """Counts, expected counts and variances by any factors of the table's rows."""
    moving = [f for f in factors if f.name in setup.request.moving]
    fixed = [f for f in factors if f.name not in setup.request.moving]
    keys, rest = partition(moving, setup.n), partition(fixed, setup.n)
    shape = (len(keys), len(rest))
    refuse_large(math.prod(shape))
    counts = np.bincount(keys.set_of_row * shape[1] + rest.set_of_row, minlength=math.prod(shape)).reshape(shape)
    expected, variance = counts.astype(float), np.zeros(shape)
    _moved(setup, keys.set_of_row, rest.set_of_row, expected, variance)
    stored = [f.name for f in (*moving, *fixed)]
    levels = np.hstack([np.repeat(keys.levels, shape[1], axis=0), np.tile(rest.levels, (shape[0], 1))])
    return Moments(
        levels[:, [stored.index(f.name) for f in factors]],
        counts.ravel(),
        expected.ravel(),
        without_rounding(variance.ravel(), counts.ravel()),
    )


def _moved(setup: Setup, a_of_row: Ints, v_of_row: Ints, expected: Floats, variance: Floats) -> None:
    """Add the moves of every block to the expected counts and the variances of cells (a, v) of a table.

    ``a`` moves with the record's cell and ``v`` stays with the record. Where columns move along, the records of a cell
    differ in ``a``, and whoever comes in is given that of one of them.
    """
    blocks, counts = setup.blocks, setup.cells.counts
    if not len(blocks):
        return
    block_of_cell, a_of_unit = setup.block_of_cell, a_of_row[setup.row_of_unit]
    cell_of_row = setup.cell_of_unit[setup.unit_of_row]
    rows = np.flatnonzero(block_of_cell[cell_of_row] >= 0)
    # Rows of one unit move as one: their number enters squared.
    together, first = group(
        [setup.unit_of_row[rows], v_of_row[rows]], [len(setup.row_of_unit), expected.shape[1]], len(rows)
    )
    weight, unit, v = np.bincount(together), setup.unit_of_row[rows[first]], v_of_row[rows[first]]

    theta, sizes = float(setup.theta), blocks.sizes
    cell = setup.cell_of_unit[unit]
    block, t = block_of_cell[cell], counts[cell]
    step = theta / (sizes[block] - 1) / t
    # How many cells of each block lie in each row of the table; of a cell that lies in several, parts.
    levels = expected.shape[0]
    movable = np.flatnonzero(block_of_cell[setup.cell_of_unit] >= 0)
    home = setup.cell_of_unit[movable]
    pairs, where = np.unique(block_of_cell[home] * levels + a_of_unit[movable], return_inverse=True)
    held = sums(where, 1 / counts[home])
    # As if nobody started in the table's cell: records of one block, frequency and column are alike …
    kinds, one = group([block, t, v], [len(blocks), int(t.max()) + 1, expected.shape[1]], len(t))
    alike = sums(kinds, weight), sums(kinds, weight**2)
    for some, row, number in _crossed(pairs // levels, pairs % levels, held, block[one], len(blocks)):
        chance = number * step[one[some]]
        np.add.at(expected, (row, v[one[some]]), alike[0][some] * chance)
        np.add.at(variance, (row, v[one[some]]), alike[1][some] * chance * (1 - chance))
    # … then those who do: nobody is given anything by their own cell.
    who, a, share = _own_cells(setup.cell_of_unit, counts, a_of_unit, cell, levels)
    own = a == a_of_unit[unit[who]]
    outside = held[np.searchsorted(pairs, block[who] * levels + a)] * step[who]
    inside = outside - share * step[who] + own * (1 - theta / t[who])
    np.add.at(expected, (a, v[who]), weight[who] * (inside - outside - own))
    np.add.at(variance, (a, v[who]), weight[who] ** 2 * (inside * (1 - inside) - outside * (1 - outside)))


def _own_cells(
    cell_of_unit: Ints, counts: Ints, a_of_unit: Ints, cells: Ints, levels: int
) -> tuple[Ints, Ints, Floats]:
    """For each of ``cells``, every row of the table that it lies in, with the share of its records that do."""
    members = np.argsort(cell_of_unit, kind="stable")
    starts = np.cumsum(counts) - counts
    length = counts[cells]
    who = np.repeat(np.arange(len(cells)), length)
    offset = np.arange(len(who)) - np.repeat(np.cumsum(length) - length, length)
    a = a_of_unit[members[starts[cells[who]] + offset]]
    found, where = np.unique(who * levels + a, return_inverse=True)
    return found // levels, found % levels, sums(where, 1 / length[who])


def _crossed(
    block: Ints, row: Ints, held: Floats, block_of_kind: Ints, blocks: int
) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Every kind of record with every row of the table that its block reaches, a bounded number at a time.

    Gives the kind, the row and how many cells of the block lie in it; ``block`` is in rising order.
    """
    starts = np.searchsorted(block, np.arange(blocks + 1))
    reach = np.diff(starts)[block_of_kind]
    for kinds in np.split(np.arange(len(reach)), np.flatnonzero(np.diff(np.cumsum(reach) // _AT_ONCE)) + 1):
        length = reach[kinds]
        some = np.repeat(kinds, length)
        offset = np.arange(len(some)) - np.repeat(np.cumsum(length) - length, length)
        at = starts[block_of_kind[some]] + offset
        yield some, row[at], held[at]


def sum_variance(setup: Setup, factors: Sequence[Factor], weights: Floats) -> float:
    """The variance of the released counts of a table times ``weights``, an array with an axis for each factor.

    Records move independently, those of one unit as one, so it is the sum over units of the variance of what a unit
    adds: over pairs of its records of the covariance of their weights, each a function of where both move to.
    """
    if not len(setup.blocks):
        return 0.0
    moving = [f for f in factors if f.name in setup.request.moving]
    fixed = [f for f in factors if f.name not in setup.request.moving]
    keys, rest = partition(moving, setup.n), partition(fixed, setup.n)
    levels = np.hstack([np.repeat(keys.levels, len(rest), axis=0), np.tile(rest.levels, (len(keys), 1))])
    stored = [f.name for f in (*moving, *fixed)]
    g = weights[tuple(levels[:, [stored.index(f.name) for f in factors]].T)].reshape(len(keys), len(rest))

    cell_of_row, v_of_row = setup.cell_of_unit[setup.unit_of_row], rest.set_of_row
    rows = np.flatnonzero(setup.block_of_cell[cell_of_row] >= 0)
    together, first = group([setup.unit_of_row[rows], v_of_row[rows]], [len(setup.row_of_unit), len(rest)], len(rows))
    weight, unit, v = np.bincount(together), setup.unit_of_row[rows[first]], v_of_row[rows[first]]
    cell = setup.cell_of_unit[unit]
    a_of_unit = keys.set_of_row[setup.row_of_unit]
    go = float(setup.theta) / setup.cells.counts[cell]
    step = go / (setup.blocks.sizes[setup.block_of_cell[cell]] - 1)
    here = g[a_of_unit[unit], v]
    mean = (1 - go) * here + step * _elsewhere(setup, a_of_unit, cell, g.T, v)
    x, y = _within_units(unit)
    # What two records add is a product of weights, which depends on where they are alike.
    both, pair = group([v[x], v[y]], [len(rest), len(rest)], len(x))
    products = g.T[v[x][pair]] * g.T[v[y][pair]]
    second = (1 - go[x]) * here[x] * here[y] + step[x] * _elsewhere(setup, a_of_unit, cell[x], products, both)
    return max(float((weight[x] * weight[y] * (second - mean[x] * mean[y])).sum()), 0.0)


def _elsewhere(setup: Setup, a_of_unit: Ints, cell: Ints, values: Floats, kind: Ints) -> Floats:
    """The sum over the other cells of each cell's block of the mean of ``values[kind, a]`` among their records."""
    levels, blocks, counts = values.shape[1], setup.blocks, setup.cells.counts
    movable = np.flatnonzero(setup.block_of_cell[setup.cell_of_unit] >= 0)
    home = setup.cell_of_unit[movable]
    pairs, where = np.unique(setup.block_of_cell[home] * levels + a_of_unit[movable], return_inverse=True)
    held = sums(where, 1 / counts[home])
    alike, one = group([cell, kind], [len(counts), len(values)], len(cell))
    total = np.zeros(len(one))
    block = setup.block_of_cell[cell[one]]
    for some, row, number in _crossed(pairs // levels, pairs % levels, held, block, len(blocks)):
        np.add.at(total, some, number * values[kind[one[some]], row])
    who, a, share = _own_cells(setup.cell_of_unit, counts, a_of_unit, cell[one], levels)
    np.add.at(total, who, -share * values[kind[one[who]], a])
    return total[alike]


def _within_units(unit: Ints) -> tuple[Ints, Ints]:
    """Every ordered pair of entries of one unit, an entry with itself among them."""
    order = np.argsort(unit, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(unit[order]) != 0])
    size = np.diff(np.r_[starts, len(unit)])
    reach, start = np.repeat(size, size), np.repeat(starts, size)
    first = np.repeat(np.arange(len(unit)), reach)
    offset = np.arange(len(first)) - np.repeat(np.cumsum(reach) - reach, reach)
    return order[first], order[np.repeat(start, reach) + offset]
