"""Reports of any make as rows of whole numbers, so that an audit can look at them part by part.

What an eavesdropper sees is what counts: the order of a list is part of the report, that of a set is not.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import DataError
from maskwell.reports import Reports

Cells = NDArray[np.int64]

_ABSENT = -1
# Odd multipliers: two different reports get the same number by accident only, which cannot harm an audit.
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class CellReader:
    """Turns batches of reports into cells; the first batch decides how many columns there are.

    Codes are one column. Sets, and bit masks, have a column per category with 1 for members. Sequences have a column
    per position. Sets and sequences have their size as last column. Other values are numbered as they come.
    """

    def __init__(self, k: int) -> None:
        self.k = k
        self.membership = False  # columns 0 .. k-1 say whether the report holds that category
        self.sized = False  # the last column is the size of the report
        self._width: int | None = None
        self._numbers: dict[Hashable, int] = {}

    def read(self, reports: Any) -> Cells:
        """The cells of a batch, one row per report."""
        if isinstance(reports, Reports):
            return self._packed(reports)
        if isinstance(reports, np.ndarray) and reports.ndim in (1, 2) and reports.dtype.kind in "iub":
            if self._width is None:
                self._width = 0 if reports.ndim == 1 else reports.shape[1]
                self.membership = reports.ndim == 2 and reports.shape[1] == self.k and _is_binary(reports)
            if self.membership:
                return self._with_size((reports != 0).astype(np.int64))
            return reports.astype(np.int64).reshape(len(reports), -1)
        rows = reports.tolist() if isinstance(reports, np.ndarray) else list(reports)
        if rows and isinstance(rows[0], (set, frozenset)):
            return self._sets(rows)
        if rows and isinstance(rows[0], (list, tuple, np.ndarray)):
            return self._sequences(rows)
        return np.array([[self._number(value)] for value in rows], np.int64).reshape(len(rows), 1)

    def _packed(self, reports: Reports) -> Cells:
        packed = reports.packed
        if not reports.design.codec.bit_masks:
            return packed.astype(np.int64).reshape(len(packed), -1)
        return self._with_size(np.unpackbits(packed, axis=1, count=self.k, bitorder="little").astype(np.int64))

    def _with_size(self, members: Cells) -> Cells:
        self.membership = self.sized = True
        return np.column_stack([members, members.sum(axis=1)])

    def _sets(self, rows: list[Any]) -> Cells:
        codes = all(isinstance(item, (int, np.integer)) and 0 <= item < self.k for row in rows for item in row)
        if codes and self._width in (None, self.k):
            self._width = self.k
            members = np.zeros((len(rows), self.k), np.int64)
            for at, row in enumerate(rows):
                members[at, list(row)] = 1
            return self._with_size(members)
        if self._width is None:
            for item in (item for row in rows for item in row):
                self._number(item)
            self._width = len(self._numbers) + 1
        members = np.zeros((len(rows), self._width), np.int64)
        for at, row in enumerate(rows):
            members[at, [min(self._number(item), self._width - 1) for item in row]] = 1
        self.sized = True
        return np.column_stack([members, [len(row) for row in rows]])

    def _sequences(self, rows: list[Any]) -> Cells:
        if self._width is None:
            self._width = max(len(row) for row in rows)
            self.sized = True
        cells = np.full((len(rows), self._width + 1), _ABSENT, np.int64)
        for at, row in enumerate(rows):
            numbers = [self._number(item) for item in row[: self._width]]
            cells[at, : len(numbers)] = numbers
            cells[at, -1] = len(row)
        return cells

    def _number(self, value: Any) -> int:
        plain = value.item() if isinstance(value, np.generic) else value
        if not isinstance(plain, Hashable):
            raise DataError(
                f"reports must be numbers, text, sets, sequences of these, or arrays; got {type(value).__name__}. "
                "Let the sampler return one such value per true code."
            )
        return self._numbers.setdefault(plain, len(self._numbers))

    def shown(self, number: int) -> Any:
        """The value that a number stands for."""
        return next((value for value, at in self._numbers.items() if at == number), number)


def _is_binary(array: NDArray[Any]) -> bool:
    return bool(array.dtype.kind == "b" or (array.size > 0 and array.min() >= 0 and array.max() <= 1))


def fingerprints(cells: Cells) -> NDArray[np.uint64]:
    """One number per whole report."""
    total = np.zeros(len(cells), np.uint64)
    for column in cells.T:
        total = (total + column.astype(np.uint64) + np.uint64(1)) * _MULTIPLIER
        total ^= total >> np.uint64(29)
    return total
