"""The columns of any table by name: pandas, Polars, Arrow, DuckDB, mappings of columns, and files that were read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from maskwell.errors import DataError
from maskwell.microdata.model import Microdata
from maskwell.plain_text import among
from maskwell.tables.columns import as_arrow, is_column

UNEQUAL = "the columns of a table must have equally many rows."


def names_of(value: Any, parameter: str) -> tuple[str, ...]:
    """Column names from one name or a list of them."""
    names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Sequence) else None
    if names is None or not all(isinstance(name, str) for name in names):
        raise DataError(f"{parameter} must be a list of column names; got {type(value).__name__}.", parameter=parameter)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{parameter} names the column {twice!r} more than once.", parameter=parameter)
    return names


def read_columns(table: Any, names: Sequence[str]) -> dict[str, Any]:
    """The named columns as Arrow arrays, all of one length."""
    columns = {name: _arrow(column, name) for name, column in native_columns(table, names).items()}
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise DataError(UNEQUAL)
    if lengths <= {0}:
        raise DataError("the table has no rows; there is nothing to assess.")
    return columns


def as_frame(table: Any, parameter: str = "table") -> Any:
    """A data frame of any library, lazy or not; ``parameter`` is what the caller calls it."""
    import narwhals as nw

    try:
        return nw.from_native(table)
    except TypeError:
        raise DataError(
            f"{parameter} must be a data frame or a mapping from names to columns; got {type(table).__name__}.",
            parameter=parameter,
        ) from None


def native_columns(table: Any, names: Sequence[str], parameter: str = "table") -> dict[str, Any]:
    """The named columns as they are."""
    if isinstance(table, Microdata):
        return native_columns(table.table, names, parameter)
    if isinstance(table, Mapping):
        _refuse_unknown(names, [str(name) for name in table], parameter)
        return {name: table[name] for name in names}
    import narwhals as nw

    frame = as_frame(table, parameter)
    _refuse_unknown(names, frame.collect_schema().names(), parameter)
    wanted = frame.select(*names)
    eager = wanted.collect() if isinstance(wanted, nw.LazyFrame) else wanted
    return {name: eager[name].to_native() for name in names}


def columns_of_variables(table: Any, names: Sequence[str]) -> list[Any]:
    """The columns of a data frame, a mapping, an n x d array or a list of rows, in the order of the names."""
    d = len(names)
    if isinstance(table, np.ndarray):
        if table.ndim != 2 or table.shape[1] != d:
            raise DataError(
                f"values must be an n x {d} array, a column per variable; got shape {table.shape}.", parameter="values"
            )
        return [table[:, i] for i in range(d)]
    if isinstance(table, (list, tuple)):
        if not all(isinstance(row, (list, tuple)) and len(row) == d for row in table):
            raise DataError(
                f"a list must hold rows of {d} values, one per variable (None for a missing value); "
                "pass columns as a mapping from names."
            )
        return [[row[i] for row in table] for i in range(d)]
    return list(native_columns(table, names).values())


def _refuse_unknown(names: Sequence[str], available: Sequence[Any], parameter: str) -> None:
    what = "the table" if parameter == "table" else parameter
    for name in names:
        if name not in available:
            raise DataError(f"{what} has no column {name!r}; {among(name, [str(other) for other in available])}.")


def _arrow(values: Any, name: str) -> Any:
    """Any column as one Arrow array."""
    array = as_arrow(values) if is_column(values) else None
    if array is None:
        raise DataError(f"column {name!r} is of mixed or unreadable type; cast it to one type first.")
    return array


def settle(table: Any) -> tuple[Any, bool]:
    """The table as it can be read twice, and whether it was lazy: those may change their order at every reading."""
    if isinstance(table, Microdata):
        return table.table, False
    if isinstance(table, Mapping):
        return table, False
    import narwhals as nw

    frame = as_frame(table)
    if isinstance(frame, nw.LazyFrame):
        return frame.collect().to_native(), True
    return table, False


def column_names(table: Any, parameter: str = "table") -> list[str]:
    """The names of a table's columns; pandas knows columns without a name, which no request can name either."""
    if isinstance(table, Microdata):
        return table.names
    if isinstance(table, Mapping):
        return [name for name in table if isinstance(name, str)]
    return [name for name in as_frame(table, parameter).collect_schema().names() if isinstance(name, str)]
