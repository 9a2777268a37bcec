"""Log-linear models of the keys' frequencies: Poisson means for every possible cell, empty ones included.

A model is a list of interactions. Keys that no chain of interactions links are independent, so that the means are a
product of small tables, one per group of linked keys, and only these tables are ever formed: independence needs no more
than the margins of the keys, whatever the number of cells. Each table is fitted by iterative proportional scaling to
the observed margins, with zeros where cells are impossible.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from string import ascii_letters

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import EstimationError
from maskwell.risk.frequencies import Cells
from maskwell.risk.structural_zeros import Zero, possible_cells
from maskwell.tables.codes import Floats, Ints

Interaction = tuple[int, ...]
"""Positions of keys whose joint distribution the model reproduces."""

MOST_CELLS = 20_000_000
_MOST_SWEEPS = 500
# In records: far below what moves a risk.
_TOLERANCE = 1e-4
# Sums over more cells than this are taken over the distribution of log means instead.
_MOST_SUMMED = 2**16
_GRID = 1e-3


@dataclass(frozen=True, eq=False)
class Component:
    """Linked keys and their joint probabilities."""

    axes: tuple[int, ...]
    table: Floats


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model: the mean of a cell is ``n`` times the product of its probabilities in the components."""

    frequencies: Floats
    """What it was fitted to: a number for each occupied cell, its records or their weights."""
    interactions: tuple[Interaction, ...]
    components: tuple[Component, ...]
    zeros: tuple[Zero, ...] = ()
    gap: float = 0.0
    """The largest difference between an observed and a fitted margin, in records."""

    @cached_property
    def n(self) -> float:
        """The sum of the frequencies."""
        return float(self.frequencies.sum())

    @property
    def converged(self) -> bool:
        """Whether the fitted margins are the observed ones."""
        return self.gap <= _TOLERANCE

    def means(self, codes: NDArray[np.integer]) -> Floats:
        """The fitted sample means of cells."""
        mean = np.full(len(codes), self.n)
        for part in self.components:
            mean *= part.table[tuple(codes[:, axis] for axis in part.axes)]
        return mean

    def total(self, function: Callable[[Floats], Floats]) -> Floats:
        """The sum over all possible cells of functions of the mean that vanish at 0 like its square, a row each."""
        if math.prod(part.table.size for part in self.components) <= _MOST_SUMMED:
            means = np.full(1, self.n)
            for part in self.components:
                means = np.multiply.outer(means, part.table[part.table > 0]).reshape(-1)
            total: Floats = function(means).sum(axis=1)
            return total
        log_p, mass = _log_law([part.table for part in self.components])
        p = np.exp(log_p)
        total = (function(self.n * p) * (mass / p)).sum(axis=1)
        return total

    def _parts(self, keys: Iterable[int]) -> list[Component]:
        wanted = set(keys)
        return [part for part in self.components if wanted & set(part.axes)]

    def linked_size(self, keys: Iterable[int]) -> int:
        """The size of the table that holds these keys."""
        return math.prod(part.table.size for part in self._parts(keys))

    def linked(self, keys: Iterable[int]) -> Component:
        """The components that hold these keys, as one."""
        parts, size = self._parts(keys), self.linked_size(keys)
        if len(parts) == 1:
            return parts[0]
        if size > MOST_CELLS:
            raise EstimationError(
                f"a model that links {sum(len(part.axes) for part in parts)} keys needs a table of {size:,} cells, "
                f"more than {MOST_CELLS:,}; coarsen a key, or name fewer interactions in model=."
            )
        axes = tuple(axis for part in parts for axis in part.axes)
        table = np.ones(())
        for part in parts:
            table = np.multiply.outer(table, part.table)
        order = sorted(range(len(axes)), key=axes.__getitem__)
        return Component(tuple(sorted(axes)), np.ascontiguousarray(table.transpose(order)))


def fit(
    cells: Cells, interactions: Sequence[Interaction], zeros: Sequence[Zero] = (), frequencies: Floats | None = None
) -> Fit:
    """Fit a model to the counts, or to other ``frequencies`` of the cells, such as their weights.

    Keys without an interaction are independent of the rest.
    """
    start = independent(cells, frequencies)
    for keys in (*(zero.keys for zero in zeros), *interactions):
        start = _replace_linked(start, start.linked(keys))
    return _scaled(replace(start, interactions=tuple(interactions), zeros=tuple(zeros)), cells)


def independent(cells: Cells, frequencies: Floats | None = None) -> Fit:
    """The model without interactions: the product of the keys' margins."""
    fitted = cells.counts.astype(np.float64) if frequencies is None else frequencies
    parts = (Component((i,), _margin(cells, (i,), fitted)) for i in range(len(cells.keys)))
    return Fit(fitted, (), tuple(parts))


def stepped(current: Fit, cells: Cells, interaction: Interaction) -> Fit:
    """Add an interaction by one scaling step from the means of a fitted model: nearly the fit, and far cheaper."""
    linked = current.linked(interaction)
    table = linked.table.copy()
    target = _margin(cells, interaction, current.frequencies)
    gap = _scale_once(table, tuple(linked.axes.index(key) for key in interaction), target)
    changed = _replace_linked(current, Component(linked.axes, table))
    return replace(changed, interactions=(*current.interactions, interaction), gap=gap * cells.n)


def extended(current: Fit, cells: Cells, interaction: Interaction) -> Fit:
    """Add an interaction to a fitted model and fit it anew, starting from the means at hand."""
    return _scaled(stepped(current, cells, interaction), cells)


def _replace_linked(current: Fit, part: Component) -> Fit:
    others = (other for other in current.components if not set(other.axes) <= set(part.axes))
    return replace(current, components=(*others, part))


def _margin(cells: Cells, keys: Sequence[int], frequencies: Floats) -> Floats:
    """The observed proportions of the combinations of some keys."""
    shape = tuple(cells.shape[key] for key in keys)
    ids: Ints = np.ravel_multi_index(tuple(cells.codes[:, key] for key in keys), shape)
    shares: Floats = np.bincount(ids, frequencies, math.prod(shape)).reshape(shape) / frequencies.sum()
    return shares


def _scaled(start: Fit, cells: Cells) -> Fit:
    """Fit each component. A start within the model stays there: scaling multiplies by functions of its margins only."""
    parts, gap = [], 0.0
    for part in start.components:
        if len(part.axes) > 1:
            table, worst = _scale(part, cells, start)
            part, gap = Component(part.axes, table), max(gap, worst * cells.n)
        parts.append(part)
    return replace(start, components=tuple(parts), gap=gap)


def _scale(part: Component, cells: Cells, model: Fit) -> tuple[Floats, float]:
    """Iterative proportional scaling until the margins are the observed ones; also how far they are from it."""
    allowed = possible_cells(model.zeros, part.axes, part.table.shape)
    table = part.table.copy() if allowed is None else part.table * allowed
    inside = [tuple(sorted(i)) for i in model.interactions if set(i) <= set(part.axes)]
    maximal = [i for i in dict.fromkeys(inside) if not any(set(i) < set(other) for other in inside)]
    single = [(axis,) for axis in part.axes if not any(axis in i for i in maximal)]
    targets = [
        (tuple(part.axes.index(key) for key in keys), _margin(cells, keys, model.frequencies))
        for keys in (*maximal, *single)
    ]
    gap = math.inf
    for _ in range(_MOST_SWEEPS):
        gap = max(_scale_once(table, axes, target) for axes, target in targets)
        if gap * cells.n <= _TOLERANCE:
            break
    return table, gap


def _scale_once(table: Floats, axes: tuple[int, ...], target: Floats) -> float:
    """Scale a table, in place, to one margin, whose axes it names in rising order; returns how far off it was."""
    rest = tuple(axis for axis in range(table.ndim) if axis not in axes)
    letters = ascii_letters[: table.ndim]
    # Several times as fast as table.sum(axis=rest) where the summed axes are not neighbours.
    margin: Floats = np.einsum(f"{letters}->{''.join(letters[axis] for axis in axes)}", table)
    ratio = np.divide(target, margin, out=np.zeros_like(margin), where=margin > 0)
    table *= np.expand_dims(ratio, rest)
    return float(np.abs(margin - target).max())


def _log_law(tables: Sequence[Floats]) -> tuple[Floats, Floats]:
    """The distribution of a cell's log probability when the cell is drawn by these probabilities, on a fine grid.

    The product of tables is a sum of logarithms, so that its law is a convolution. Each value is shared by its two
    neighbours on the grid such that the mean is kept: an error of the order of the grid's squared step, 1e-6.
    """
    shares = [table[table > 0] for table in tables]
    logs = [np.log(p) for p in shares]
    low = [float(log.min()) for log in logs]
    length = sum(math.ceil((float(log.max()) - start) / _GRID) + 2 for log, start in zip(logs, low, strict=True))
    size = 1 << (length - 1).bit_length()
    spectrum = np.ones(size // 2 + 1, complex)
    for p, log, start in zip(shares, logs, low, strict=True):
        place = (log - start) / _GRID
        left = place.astype(np.int64)
        right = p * (place - left)
        law = np.bincount(left, p - right, size) + np.bincount(left + 1, right, size)
        spectrum *= np.fft.rfft(law)
    mass = np.fft.irfft(spectrum, size)[:length]
    return sum(low) + _GRID * np.arange(length, dtype=np.float64), mass
