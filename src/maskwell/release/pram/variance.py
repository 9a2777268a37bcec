r"""What post-randomization does to any table of counts, exactly, from the true file and the plan's matrices.

A record with the categories j before the steps is counted in cell c of the table with a chance :math:`A_{cj}`, the
product over the steps of their matrices, rows summed to the table's levels. Records are drawn independently, so that
the released count has the mean :math:`\sum_j T_j A_{cj}` and the variance :math:`\sum_j T_j A_{cj} (1 - A_{cj})`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maskwell.release.added_variance import Moments, refuse_large, without_rounding
from maskwell.release.partition import Factor, Partition, partition
from maskwell.release.pram.estimate import positions
from maskwell.release.pram.step import Step
from maskwell.risk.frequencies import group
from maskwell.tables.codes import Floats, Ints
from maskwell.tables.encoded import encoded


@dataclass(frozen=True, eq=False)
class _Part:
    """One step's share of a table."""

    step: Step
    sets: Partition
    """The levels of the table by this step's columns."""
    label_of_row: Ints
    fold: Floats
    """Which labels of the step make up which set."""


@dataclass(frozen=True, eq=False)
class _Channels:
    """How the steps lead to a table: its parts by step, the columns that stay, and by stratum counts and matrices."""

    parts: list[_Part]
    rest: Partition
    shape: tuple[int, ...]
    """Of the table: a level for each part, and the rest."""
    strata: list[tuple[Floats, list[Floats]]]
    """By stratum the true counts by label, and each step's matrix with its rows summed to the table's levels."""

    @staticmethod
    def of(steps: Sequence[Step], original: Any, factors: Sequence[Factor]) -> _Channels:
        n = len(factors[0].codes)
        parts = [_part(step, original, own, n) for step in steps if (own := _own(step, factors))]
        changed = [f.name for part in parts for f in part.sets.factors]
        rest = partition([f for f in factors if f.name not in changed], n)
        stratum, first = _strata([part.step for part in parts], original, n)
        shape = (*(len(part.sets) for part in parts), len(rest))
        sizes = (*(len(part.step.labels) for part in parts), len(rest))
        refuse_large(max(math.prod(shape), math.prod(sizes)))
        true = np.ravel_multi_index((*(part.label_of_row for part in parts), rest.set_of_row), sizes)
        levels = [_levels(part.step, original, first) for part in parts]
        by_stratum = np.split(true[np.argsort(stratum, kind="stable")], np.cumsum(np.bincount(stratum))[:-1])
        strata = []
        for h, own_true in enumerate(by_stratum):
            counts = np.bincount(own_true, minlength=math.prod(sizes)).reshape(sizes).astype(float)
            folded = zip(parts, levels, strict=True)
            strata.append((counts, [part.fold @ part.step.transitions[own[h]].floats for part, own in folded]))
        return _Channels(parts, rest, shape, strata)

    def cells(self, factors: Sequence[Factor]) -> Ints:
        """The levels of every cell of the table, a column for each factor."""
        stored = [f.name for part in self.parts for f in part.sets.factors] + [f.name for f in self.rest.factors]
        cells = _cells([*(part.sets.levels for part in self.parts), self.rest.levels])
        return cells[:, [stored.index(f.name) for f in factors]]


def moments(steps: Sequence[Step], original: Any, factors: Sequence[Factor]) -> Moments:
    """Counts, expected counts and variances by any factors of the true file's rows."""
    found = _Channels.of(steps, original, factors)
    place = np.ravel_multi_index((*(part.sets.set_of_row for part in found.parts), found.rest.set_of_row), found.shape)
    counts = np.bincount(place, minlength=math.prod(found.shape))
    expected, variance = np.zeros(found.shape), np.zeros(found.shape)
    for population, chances in found.strata:
        mean = _applied(population, chances)
        expected += mean
        variance += mean - _applied(population, [chance**2 for chance in chances])
    return Moments(found.cells(factors), counts, expected.ravel(), without_rounding(variance.ravel(), counts))


def sum_variance(steps: Sequence[Step], original: Any, factors: Sequence[Factor], weights: Floats) -> float:
    r"""The variance of the released counts of a table times ``weights``, an array with an axis for each factor.

    A record with the categories j adds a weight with the mean :math:`m_j = \sum_c A_{cj} g_c`, so that the sum has
    the variance :math:`\sum_j T_j (\sum_c A_{cj} g_c^2 - m_j^2)`.
    """
    found = _Channels.of(steps, original, factors)
    g = weights[tuple(found.cells(factors).T)].reshape(found.shape)
    total = 0.0
    for population, chances in found.strata:
        back = [chance.T for chance in chances]
        total += float((population * (_applied(g**2, back) - _applied(g, back) ** 2)).sum())
    return max(total, 0.0)


def _own(step: Step, factors: Sequence[Factor]) -> list[Factor]:
    return [f for f in factors if f.name in step.columns]


def _part(step: Step, original: Any, factors: Sequence[Factor], n: int) -> _Part:
    coded = {name: encoded(original).coded(name) for name in step.columns}
    label_of_row = positions(step, coded)
    sets = partition(factors, n)
    fold = np.zeros((len(sets), len(step.labels)))
    fold[sets.set_of_row, label_of_row] = 1
    return _Part(step, sets, label_of_row, fold)


def _strata(steps: Sequence[Step], original: Any, n: int) -> tuple[Ints, Ints]:
    names = list(dict.fromkeys(name for step in steps for name in step.strata))
    columns = [encoded(original).coded(name) for name in names]
    return group([column.codes for column in columns], [column.size for column in columns], n)


def _levels(step: Step, original: Any, rows: Ints) -> list[int]:
    """Which of a step's strata each of these rows is in."""
    if not step.strata:
        return [0] * len(rows)
    columns = [encoded(original).coded(name) for name in step.strata]
    levels = [tuple(column.labels[column.codes[row]] for column in columns) for row in rows.tolist()]
    return [step.levels.index(level) for level in levels]


def _applied(counts: Floats, chances: Sequence[Floats]) -> Floats:
    """The matrix of each step along its own axis."""
    for axis, chance in enumerate(chances):
        counts = np.moveaxis(np.tensordot(chance, counts, axes=(1, axis)), 0, axis)
    return counts


def _cells(levels: Sequence[Ints]) -> Ints:
    """The levels of every cell, in the order of a flattened array."""
    grid = np.meshgrid(*(np.arange(len(codes)) for codes in levels), indexing="ij")
    return np.hstack([codes[index.ravel()] for codes, index in zip(levels, grid, strict=True)])
