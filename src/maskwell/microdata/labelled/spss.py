"""SPSS files, read and written with pyreadstat. Numbers are floats in them, and texts have a fixed width."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import narwhals.stable.v2 as nw

from maskwell.errors import DataError
from maskwell.extras import require
from maskwell.microdata.labelled.dates import from_dates, from_moments, from_times, to_dates, to_moments
from maskwell.microdata.labelled.outgoing import Clock, Outgoing, outgoing
from maskwell.microdata.labelled.readstat import parse
from maskwell.microdata.labelled.value_labels import labelled, whole
from maskwell.microdata.model import Microdata, Variable
from maskwell.whole_files import system_path

_ORIGIN, _DAY = "1582-10-14", 86400.0
_DATES, _MOMENTS = ("DATE", "ADATE", "EDATE", "JDATE", "SDATE"), ("DATETIME", "YMDHMS")
_NAME = re.compile(r"[^\W\d_][\w.$#@]*|@[\w.$#@]*")
_RESERVED = frozenset(["ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"])
_LONGEST_NAME, _LONGEST_VALUE_LABEL, _LONGEST_LABEL, _LONGEST_TEXT = 64, 120, 255, 32767
_CLOCK = Clock(
    lambda column: from_dates(column, _DAY, _ORIGIN),
    lambda column: from_moments(column, 1.0, _ORIGIN, "us"),
    lambda column: from_times(column, 1.0),
    {"date": "DATE11", "moment": "DATETIME20", "time": "TIME8"},
)


def read_spss(path: Path) -> Microdata:
    """Read a .sav or .zsav file."""
    import pyarrow as pa

    data, meta = parse(path, "sav")
    columns, variables = [], {}
    for name, cells in data.items():
        variable = Variable(
            meta.column_names_to_labels[name] or None,
            meta.original_variable_types[name],
            meta.readstat_variable_types[name],
            meta.variable_storage_width[name],
            meta.variable_display_width[name],
            meta.variable_measure[name],
            meta.variable_value_labels.get(name, {}),
            missing=tuple(meta.missing_ranges.get(name, ())),
        )
        column, codes = _read_column(cells, variable)
        columns.append(column)
        variables[name] = dataclasses.replace(variable, codes=codes)
    table = pa.Table.from_arrays(columns, names=list(data))
    return Microdata(table, "spss", variables, meta.file_label, tuple(meta.notes))


def _read_column(cells: list[Any], variable: Variable) -> tuple[Any, Any]:
    import pyarrow as pa

    family = re.match("[A-Z]*", variable.format or "")
    shown = family.group() if family else ""

    def plain(column: Any) -> Any:
        if shown in _DATES:
            return to_dates(column, _DAY, _ORIGIN)
        return to_moments(column, 1.0, _ORIGIN, "us") if shown in _MOMENTS else whole(column)

    def is_missing(code: Any) -> bool:
        return any(each["lo"] <= code <= each["hi"] for each in variable.missing)

    if variable.storage == "string":
        codes = pa.array([cell or None for cell in cells], pa.string())
    else:
        codes = pa.array(cells, pa.float64())
    if not variable.value_labels and not variable.missing:
        return plain(codes), None
    return labelled(codes, variable.value_labels, is_missing, plain)


def write_spss(data: Microdata, file: BinaryIO, name: str) -> None:
    """Write a .sav file, or a .zsav file if ``name`` ends so."""
    require("SPSS's files need", "pyreadstat")
    import pyreadstat

    columns = outgoing(data, "spss", _CLOCK)
    _refuse_what_does_not_fit(columns, name)
    squeezed = name.lower().endswith(".zsav")
    kept = {column.name: column.variable for column in columns}
    try:
        pyreadstat.write_sav(
            _Frame([_Series(column) for column in columns]),  # type: ignore[arg-type]
            system_path(file),
            file_label=data.label or "",
            column_labels={c.name: c.variable.label for c in columns},
            compress=squeezed,
            row_compress=not squeezed,
            note=list(data.notes) or None,
            variable_value_labels={c.name: _label_set(c) for c in columns if c.value_labels},
            missing_ranges={n: list(v.missing) for n, v in kept.items() if v.missing},
            variable_display_width={n: v.display_width for n, v in kept.items() if v.display_width},
            variable_measure={n: v.measure for n, v in kept.items() if v.measure},
            variable_format={c.name: shown for c in columns if (shown := _shown(c))},
        )
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError):
        raise DataError(f"{name!r} could not be written: SPSS cannot hold one of its names or labels.") from None
    _without_time(file)


def _shown(column: Outgoing) -> str | None:
    """The format; whole numbers from elsewhere are shown without decimals."""
    import pyarrow as pa

    whole = pa.types.is_integer(column.natural) or pa.types.is_boolean(column.natural)
    return column.format or ("F8.0" if whole else None)


def _label_set(column: Outgoing) -> dict[Any, str]:
    return {code if column.is_text else float(code): text for code, text in column.value_labels.items()}


def _without_time(file: BinaryIO) -> None:
    """The header says when a file was written; equal data are to give equal files."""
    file.seek(92)
    file.write(b"01 Jan 7000:00:00")


def _refuse_what_does_not_fit(columns: Sequence[Outgoing], name: str) -> None:
    import pyarrow.compute as pc

    seen: dict[str, str] = {}
    for column in columns:
        called = column.name
        if not _NAME.fullmatch(called) or called.upper() in _RESERVED or len(called.encode()) > _LONGEST_NAME:
            raise DataError(
                f"column {called!r} cannot be named so in SPSS: a name has up to {_LONGEST_NAME} bytes of letters, "
                "digits, . _ $ # or @, begins with a letter and is not a reserved word of SPSS; rename it first."
            )
        if called.upper() in seen:
            raise DataError(f"columns {seen[called.upper()]!r} and {called!r} are one name in SPSS; rename one.")
        seen[called.upper()] = called
        if any(len(label.encode()) > _LONGEST_VALUE_LABEL for label in column.value_labels.values()):
            raise DataError(f"column {called!r} has a category of more than {_LONGEST_VALUE_LABEL} bytes; shorten it.")
        if len((column.variable.label or "").encode()) > _LONGEST_LABEL:
            raise DataError(f"the label of column {called!r} has more than {_LONGEST_LABEL} bytes; shorten it.")
        if column.is_text and (pc.max(pc.binary_length(column.values)).as_py() or 0) > _LONGEST_TEXT:
            raise DataError(
                f"column {called!r} holds texts of more than {_LONGEST_TEXT:,} bytes, which SPSS cannot; "
                f"write {name!r} in another format."
            )


# pyreadstat takes data frames of pandas or Polars alone. These two give it what it asks of one, from Arrow.


class _Series:
    def __init__(self, column: Outgoing) -> None:
        self.name, self.values = column.name, column.values
        self.dtype = nw.String() if column.is_text else nw.Float64()
        self._width = column.variable.width or 0

    def null_count(self) -> int:
        return int(self.values.null_count)

    def drop_nulls(self) -> _Series:
        return self

    def __iter__(self) -> Iterator[str]:
        """The texts that decide how wide the column is: at least as wide as it was."""
        yield " " * self._width
        yield from self.values.drop_null().unique().to_pylist()


class _Frame(nw.DataFrame[Any]):
    def __init__(self, series: list[_Series]) -> None:
        self._held = series

    @property
    def implementation(self) -> Any:  # type: ignore[override]
        return nw.Implementation.POLARS

    @property
    def columns(self) -> list[str]:
        return [series.name for series in self._held]

    def __native_namespace__(self) -> Any:
        return None

    def __len__(self) -> int:
        return len(self._held[0].values)

    def iter_columns(self) -> Iterator[Any]:
        return iter(self._held)

    def iter_rows(self, **_: Any) -> Iterator[tuple[Any, ...]]:  # type: ignore[override]
        for start in range(0, len(self), _ROWS):
            yield from zip(*(series.values.slice(start, _ROWS).to_pylist() for series in self._held), strict=True)


_ROWS = 1 << 16
