"""A table whose columns are read and encoded once each, when they are first asked for.

What travels through an assessment or a release is this table. After a release it knows its columns from those before:
a changed value is copied from another row, so codes move and nothing is encoded again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from maskwell.errors import DataError
from maskwell.tables.codes import Coded, Ints, encode
from maskwell.tables.frames import UNEQUAL, column_names, read_columns


class EncodedTable:
    """A table of any library with its columns as Arrow arrays and as codes."""

    def __init__(self, native: Any) -> None:
        self.native = native
        self._arrays: dict[str, Any] = {}
        self._coded: dict[str, Coded] = {}

    @cached_property
    def names(self) -> list[str]:
        """The names of its columns."""
        return column_names(self.native)

    @property
    def root(self) -> EncodedTable:
        """The table before any change."""
        return self

    def arrays(self, names: Sequence[str]) -> dict[str, Any]:
        """The named columns as Arrow arrays, all of one length."""
        new = [name for name in names if name not in self._arrays]
        if new:
            self._arrays |= read_columns(self.native, new)
            if len({len(array) for array in self._arrays.values()}) > 1:
                raise DataError(UNEQUAL)
        return {name: self._arrays[name] for name in names}

    def array(self, name: str) -> Any:
        """A column as an Arrow array."""
        return self.arrays([name])[name]

    def coded(self, name: str) -> Coded:
        """A column as codes over the labels that occur in it."""
        if name not in self._coded:
            self._coded[name] = encode(self.array(name), name)
        return self._coded[name]

    def moved(self, rows: Mapping[str, Ints], native: Any = None) -> EncodedTable:
        """The table with row i of each named column taken from row ``rows[name][i]``, which ``native`` then is."""
        return _Moved(self, rows, native)

    def held_by(self, native: Any) -> EncodedTable:
        """The same columns, with what is known of them, of another object that holds them row by row."""
        same = EncodedTable(native)
        same._arrays, same._coded = self._arrays, self._coded
        return same

    def of(self, native: Any) -> EncodedTable:
        """This one, if it is that of a table; otherwise that table's own."""
        return self if self.native is native else EncodedTable(native)


class _Moved(EncodedTable):
    def __init__(self, before: EncodedTable, rows: Mapping[str, Ints], native: Any) -> None:
        super().__init__(before.native if native is None else native)
        self._before, self._rows = before, rows

    @property
    def root(self) -> EncodedTable:
        return self._before.root

    def arrays(self, names: Sequence[str]) -> dict[str, Any]:
        import pyarrow as pa

        for name, array in self._before.arrays(names).items():
            if name not in self._arrays:
                self._arrays[name] = array.take(pa.array(self._rows[name])) if name in self._rows else array
        return {name: self._arrays[name] for name in names}

    def coded(self, name: str) -> Coded:
        if name not in self._coded:
            column = self._before.coded(name)
            self._coded[name] = _taken(column, self._rows[name]) if name in self._rows else column
        return self._coded[name]


def _taken(column: Coded, rows: Ints) -> Coded:
    """A column with its rows from elsewhere, over the labels that it then holds."""
    codes = column.codes[rows]
    counts = np.bincount(codes, minlength=column.size)
    kept = np.flatnonzero(counts)
    place = np.zeros(column.size, codes.dtype)
    place[kept] = np.arange(len(kept))
    missing = int(counts[-1]) if column.missing else 0
    return Coded(column.name, place[codes], tuple(column.labels[code] for code in kept.tolist()), missing)


def encoded(table: Any) -> EncodedTable:
    """A table as one that is read and encoded once; one that is so already as it is."""
    return table if isinstance(table, EncodedTable) else EncodedTable(table)
