"""Stata files: read with pyreadstat; written here, since pyreadstat would store every number as long or double."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from maskwell.errors import DataError
from maskwell.microdata.labelled.dates import from_dates, from_moments, from_times, to_dates, to_moments
from maskwell.microdata.labelled.outgoing import Clock, Outgoing, outgoing
from maskwell.microdata.labelled.readstat import parse
from maskwell.microdata.labelled.stata_file import STORAGE, Column, write_file
from maskwell.microdata.labelled.value_labels import labelled, whole
from maskwell.microdata.model import Microdata, Variable

# Stata's own numbers for missing values of type double: . is 2^1023, and .a to .z follow. Of type float: from 2^127.
_MISSING, _STEP = 2.0**1023, 2.0**1011
_MISSING_FLOAT = 2.0**127
_ORIGIN, _DAY, _SECOND = "1960-01-01", 1.0, 1e3
_SMALLEST = (("int8", -127, 100), ("int16", -32767, 32740), ("int32", -2147483647, 2147483620))
_RESERVED = frozenset({"byte", "int", "long", "float", "double", "strL", "if", "in", "using", "with", "_all", "_b"})
_RESERVED |= {"_coef", "_cons", "_n", "_N", "_pi", "_pred", "_rc", "_skip"}
_LONGEST_LABEL = 80
_NAME = re.compile(r"(?!\d)\w{1,32}")


def read_stata(path: Path) -> Microdata:
    """Read a .dta file."""
    import pyarrow as pa

    data, meta = parse(path, "dta")
    columns, variables = [], {}
    for name, cells in data.items():
        labels = {_code(code): text for code, text in meta.variable_value_labels.get(name, {}).items()}
        shown, storage = meta.original_variable_types[name], meta.readstat_variable_types[name]
        column, codes = _read_column(cells, name in meta.missing_user_values, labels, shown, storage)
        columns.append(column)
        variables[name] = Variable(
            meta.column_names_to_labels[name] or None,
            shown,
            storage,
            max(meta.variable_storage_width[name] - 1, 0),  # which counts a final zero; 0 for texts stored apart
            value_labels=labels,
            label_set=meta.variable_to_label.get(name),
            codes=codes,
        )
    table = pa.Table.from_arrays(columns, names=list(data))
    return Microdata(table, "stata", variables, meta.file_label, tuple(meta.notes))


def _read_column(
    cells: list[Any], tagged: bool, labels: dict[float, str], shown: str | None, storage: str
) -> tuple[Any, Any]:
    import pyarrow as pa

    if storage == "string":
        return pa.array([cell or None for cell in cells], pa.string()), None
    kind = {"float": pa.float32(), "double": pa.float64()}.get(storage) or getattr(pa, storage)()

    def plain(numbers: Any) -> Any:
        column = numbers.cast(kind)
        if shown and re.match(r"%-?(td|d)", shown):
            return to_dates(column, _DAY, _ORIGIN)
        return to_moments(column, _SECOND, _ORIGIN, "ms") if shown and re.match("%-?tc", shown) else whole(column)

    if not labels and not tagged:
        return plain(pa.array(cells, kind)), None
    codes = pa.array([_code(cell) if isinstance(cell, str) else cell for cell in cells], pa.float64())
    return labelled(codes, labels, lambda code: code >= _MISSING, plain)


def _code(code: Any) -> float:
    """A code as a float, ``a`` to ``z`` as the floats that Stata has for them."""
    return _MISSING + _STEP * (ord(code) - ord("a") + 1) if isinstance(code, str) else float(code)


_CLOCK = Clock(
    lambda column: from_dates(column, _DAY, _ORIGIN),
    lambda column: from_moments(column, _SECOND, _ORIGIN, "ms"),
    lambda column: from_times(column, _SECOND),
    {"date": "%td", "moment": "%tc", "time": "%tcHH:MM:SS"},
)


def write_stata(data: Microdata, file: BinaryIO, name: str) -> None:
    """Write a .dta file of format 118, which Stata reads since version 14."""
    for column in data.names:
        if not _NAME.fullmatch(column) or column in _RESERVED or re.fullmatch(r"str\d+", column):
            raise DataError(
                f"column {column!r} cannot be named so in Stata: a name has up to 32 letters, digits or _, begins with "
                "no digit and is not a reserved word of Stata; rename it first."
            )
    for which, label in [("the file", data.label), *((f"column {n!r}", data.variable(n).label) for n in data.names)]:
        if label and len(label) > _LONGEST_LABEL:
            raise DataError(
                f"the label of {which} has {len(label)} characters, and Stata holds {_LONGEST_LABEL}; write "
                f"{name!r} in another format, or shorten it."
            )
    columns = [_stored(column) for column in outgoing(data, "stata", _CLOCK)]
    write_file(file, columns, data.table.num_rows, data.label or "", data.notes)


def _stored(column: Outgoing) -> Column:
    variable = column.variable
    if column.is_text:
        texts = column.values.fill_null("")
        return Column(column.name, None, texts, variable.width, column.format or "", variable.label or "")
    numbers = column.values.fill_null(_MISSING).to_numpy(zero_copy_only=False)
    missing = numbers >= _MISSING
    if variable.codes is None and missing.sum() > column.values.null_count:
        raise DataError(
            f"column {column.name!r} holds numbers of 2^1023 or more, which Stata takes for missing values."
        )
    storage = variable.storage or _storage(column, numbers[~missing])
    kind, first, step = STORAGE[storage]
    if storage == "double":
        stored = numbers
    elif storage == "float":
        stored = np.where(missing, 0, numbers).astype(kind)
        tags = (first + step * _tag(numbers[missing])).astype("<u4")
        stored[missing] = tags.view("<f4")
    else:
        stored = np.where(missing, 0, numbers).astype(kind)
        stored[missing] = first + step * _tag(numbers[missing])
    labels = {_number(code): text for code, text in column.value_labels.items() if _labels(code)}
    return Column(
        column.name,
        storage,
        stored,
        None,
        column.format or "",
        variable.label or "",
        labels,
        variable.label_set or column.name,
    )


def _tag(missing: Any) -> Any:
    return np.rint((missing - _MISSING) / _STEP).astype(np.int64)


def _labels(code: float) -> bool:
    """Whether Stata can hold a label for it: for whole numbers and for .a to .z."""
    return code >= _MISSING or (code == int(code) and abs(code) <= 2147483620)


def _number(code: float) -> int:
    return int(code) if code < _MISSING else STORAGE["int32"][1] + int(_tag(np.array(code)))


def _storage(column: Outgoing, numbers: Any) -> str:
    """The smallest type that holds a column from elsewhere."""
    import pyarrow as pa

    kind = column.natural
    if pa.types.is_float32(kind) and not (np.abs(numbers) >= _MISSING_FLOAT).any():
        return "float"
    if (pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_date(kind)) and len(numbers):
        for name, least, most in _SMALLEST:
            if numbers.min() >= least and numbers.max() <= most:
                return name
    return "double"
