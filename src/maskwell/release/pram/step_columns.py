"""What a table holds of the columns of a step: the category and the stratum of every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from maskwell.release.pram.matrices import is_missing
from maskwell.risk.frequencies import cross_classify, group
from maskwell.tables.codes import Coded, Ints
from maskwell.tables.encoded import EncodedTable


@dataclass(frozen=True, eq=False)
class StepColumns:
    """What a table holds of the columns of a step."""

    labels: tuple[Any, ...]
    """The categories that occur."""
    levels: tuple[tuple[Any, ...], ...]
    truth: Ints
    """The category of every row."""
    stratum: Ints
    donors: Ints
    """The first row of each category."""

    @cached_property
    def counts(self) -> tuple[tuple[int, ...], ...]:
        """The frequencies by stratum."""
        counts = np.zeros((len(self.levels), len(self.labels)), np.int64)
        np.add.at(counts, (self.stratum, self.truth), 1)
        return tuple(map(tuple, counts.tolist()))

    def rows(self, codes: Ints) -> Ints:
        """The row that every row takes its new category from.

        Also where a category stays as it is: a file may spell one value in two ways, and the spelling that no moved
        record is given would tell which ones stayed. Missing values never move, and keep their kinds.
        """
        missing = np.array([is_missing(label) for label in self.labels])
        return np.where(missing[self.truth], np.arange(len(codes)), self.donors[codes])


def read_columns(table: EncodedTable, names: Sequence[str], strata: Sequence[str]) -> StepColumns:
    table.arrays(list(dict.fromkeys((*names, *strata))))  # an error if one is not there
    coded = {name: table.coded(name) for name in (*names, *strata)}
    cells, cell_of_row = cross_classify([coded[name] for name in names])
    labels = [tuple(own[c] for own, c in zip(cells.labels, row, strict=True)) for row in cells.codes.tolist()]
    donors = np.empty(len(labels), np.int64)
    donors[cell_of_row[::-1]] = np.arange(len(cell_of_row) - 1, -1, -1)
    stratum, levels = _strata([coded[name] for name in strata], len(cell_of_row))
    return StepColumns(
        tuple(label[0] for label in labels) if len(names) == 1 else tuple(labels), levels, cell_of_row, stratum, donors
    )


def _strata(columns: Sequence[Coded], n: int) -> tuple[Ints, tuple[tuple[Any, ...], ...]]:
    stratum, first = group([column.codes for column in columns], [column.size for column in columns], n)
    levels = [tuple(column.labels[column.codes[row]] for column in columns) for row in first.tolist()]
    return stratum, tuple(levels)
