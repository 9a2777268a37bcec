r"""What moving adds to the variance of any table of counts, exactly.

Records move independently of each other, so the variance of a released count is the sum over records of
:math:`w^2 p (1 - p)`, where p is the chance that the record ends up in that cell of the table and w the number of
table entries that move with it. This is a diagonal element of :math:`D_T - P D_T P'` for tables of keys. The chance
depends on the record's block and frequency and on whether it starts in the table's cell, so sums over groups suffice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maskwell.errors import DataError
from maskwell.frames import Backend, data_frame
from maskwell.release.partition import Factor, factor, partition, read_spec
from maskwell.release.setup import Setup
from maskwell.risk.columns import Floats, Ints, encode, read_columns
from maskwell.risk.frequencies import group, sums

NOT_SMALL = 0.1
"""An added variance above this share of the sampling variance is worth a warning."""
_MOST_CELLS = 5_000_000


@dataclass(frozen=True, eq=False, repr=False)
class AddedVariance:
    """A table of counts with what the release does to each of them, on average over the draws."""

    columns: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    """The levels of each cell, one for each column."""
    counts: Ints
    """The true counts."""
    expected: Floats
    """The expected released counts: the true ones for tables of keys, closer to independence for other tables."""
    variance: Floats
    """The exact variance of the released counts around what is expected."""
    n: int

    @property
    def bias(self) -> Floats:
        """Expected minus true counts; zero for tables of keys alone."""
        return self.expected - self.counts

    @property
    def of_proportions(self) -> Floats:
        """The added variance of the proportions."""
        return self.variance / self.n**2

    @property
    def sampling_variance(self) -> Floats:
        """The variance of the counts of a simple random sample of this size."""
        return self.counts * (1 - self.counts / self.n)

    @property
    def ratio(self) -> Floats:
        """Added over sampling variance; 0 where nothing is added."""
        sampling = self.sampling_variance
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.variance > 0, self.variance / sampling, 0.0)

    @property
    def warnings(self) -> list[str]:
        """Where analyses that ignore the release would be wrong."""
        found = []
        large, size = self.ratio > NOT_SMALL, len(self.counts)
        if large.any():
            found.append(
                f"the added variance exceeds {NOT_SMALL:.0%} of the sampling variance in {int(large.sum())} of {size} "
                f"cells (at most {float(self.ratio.max()):.2g} times it): add it to the standard errors."
            )
        spread = np.sqrt(self.variance + np.maximum(self.sampling_variance, 0))
        biased = np.abs(self.bias) > np.maximum(NOT_SMALL * spread, 1e-6)
        if biased.any():
            found.append(
                f"{int(biased.sum())} of {size} cells are biased by more than {NOT_SMALL:.0%} of a standard error: "
                "columns that are no keys stay with the record while its keys move, which weakens associations."
            )
        return found

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """A line per cell."""
        levels = {name: [cell[i] for cell in self.labels] for i, name in enumerate(self.columns)}
        figures = {"count": self.counts, "expected": self.expected, "added_variance": self.variance}
        more = {"sampling_variance": self.sampling_variance, "ratio": self.ratio}
        return data_frame(levels | figures | more, backend)

    def __repr__(self) -> str:
        largest = float(self.ratio.max()) if len(self.counts) else 0.0
        return (
            f"<added variance of {len(self.counts)} counts by {', '.join(self.columns)}: ratio at most {largest:.3g}>"
        )


def added_variance(setup: Setup, of: Any) -> AddedVariance:
    """The exact variance that a release adds to the table of counts by the columns ``of``."""
    spec = read_spec(of, "of")
    if not spec:
        raise DataError("of must name one column or more; got none.")
    arrays = read_columns(setup.table, list(spec))
    factors = [factor(encode(arrays[name], name), how, "of") for name, how in spec.items()]
    moving = [f for f in factors if f.name in setup.request.keys]
    fixed = [f for f in factors if f.name not in setup.request.keys]
    keys, rest = partition(moving, setup.n), partition(fixed, setup.n)
    if len(keys) * len(rest) > _MOST_CELLS:
        raise DataError(
            f"of asks for a table of {len(keys) * len(rest)} cells (limit {_MOST_CELLS}); name fewer columns."
        )
    shape = (len(keys), len(rest))
    counts = np.bincount(keys.set_of_row * shape[1] + rest.set_of_row, minlength=math.prod(shape)).reshape(shape)
    expected, variance = counts.astype(float), np.zeros(shape)
    _moved(setup, keys.set_of_row, rest.set_of_row, expected, variance)
    order = [[f.name for f in (*moving, *fixed)].index(f.name) for f in factors]
    labels = _labels([*moving, *fixed], keys.levels, rest.levels, order)
    shown = (counts > 0) | (expected > 0)
    flat = shown.ravel()
    return AddedVariance(
        tuple(spec),
        tuple(label for label, kept in zip(labels, flat, strict=True) if kept),
        counts[shown],
        expected[shown],
        np.maximum(variance[shown], 0.0),  # rounding may leave -1e-17
        setup.n,
    )


def _moved(setup: Setup, a_of_row: Ints, v_of_row: Ints, expected: Floats, variance: Floats) -> None:
    """Add the moves of every block to the expected counts and the variances of cells (a, v) of a table.

    ``a`` moves with the record's cell and ``v`` stays with the record.
    """
    blocks, counts = setup.blocks, setup.cells.counts
    if not len(blocks):
        return
    block_of_cell = np.full(len(counts), -1)
    block_of_cell[blocks.cells] = blocks.block_of
    first_row = np.empty(len(counts), np.int64)
    first_row[setup.cell_of_unit[::-1]] = setup.row_of_unit[::-1]
    a_of_cell = a_of_row[first_row]

    cell_of_row = setup.cell_of_unit[setup.unit_of_row]
    rows = np.flatnonzero(block_of_cell[cell_of_row] >= 0)
    # Rows of one unit move as one: their number enters squared.
    together, first = group(
        [setup.unit_of_row[rows], v_of_row[rows]], [len(setup.row_of_unit), expected.shape[1]], len(rows)
    )
    weight, cell, v = np.bincount(together), cell_of_row[rows[first]], v_of_row[rows[first]]

    theta, sizes = float(setup.theta), blocks.sizes
    order = np.argsort(block_of_cell[cell], kind="stable")
    weight, cell, v = weight[order], cell[order], v[order]
    stops = np.searchsorted(block_of_cell[cell], np.arange(len(blocks) + 1))
    for b in range(len(blocks)):
        own = blocks.cells[blocks.starts[b] : blocks.starts[b + 1]]
        present, held = np.unique(a_of_cell[own], return_counts=True)
        part = slice(stops[b], stops[b + 1])
        w, t, rest, a = weight[part], counts[cell[part]], v[part], a_of_cell[cell[part]]
        step = theta / (sizes[b] - 1)
        # As if nobody started in the table's cell …
        kinds, one = group([t, rest], [int(t.max()) + 1, int(rest.max()) + 1], len(t))
        chance = held[:, None] * step / t[one][None, :]
        at = (present[:, None], rest[one][None, :])
        np.add.at(expected, at, sums(kinds, w) * chance)
        np.add.at(variance, at, sums(kinds, w**2) * chance * (1 - chance))
        # … then those who do.
        outside = held[np.searchsorted(present, a)] * step / t
        inside = 1 - theta / t + outside - step / t
        np.add.at(expected, (a, rest), w * (inside - outside - 1))
        np.add.at(variance, (a, rest), w**2 * (inside * (1 - inside) - outside * (1 - outside)))


def _labels(stored: Sequence[Factor], keys: Ints, rest: Ints, order: Sequence[int]) -> list[tuple[str, ...]]:
    """The labels of every cell of the table, columns in the order asked for."""
    every = np.hstack([np.repeat(keys, len(rest), axis=0), np.tile(rest, (len(keys), 1))]).tolist()
    return [tuple(stored[i].levels[row[i]] for i in order) for row in every]
