"""Columns on their way into Stata or SPSS, which know floating-point numbers, texts, and labels for values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from maskwell.errors import DataError
from maskwell.microdata.labelled.value_labels import whole_codes
from maskwell.microdata.model import Microdata, Variable


@dataclass(frozen=True, eq=False)
class Outgoing:
    """One column: an Arrow array of floats or of text, and what goes with it."""

    name: str
    values: Any
    variable: Variable
    natural: Any
    """The Arrow type it had."""
    value_labels: Mapping[Any, str]
    format: str | None

    @property
    def is_text(self) -> bool:
        """Whether it holds text."""
        import pyarrow as pa

        return bool(pa.types.is_string(self.values.type))


@dataclass(frozen=True)
class Clock:
    """How a format counts days, moments and times of day, and the formats that show them."""

    date: Callable[[Any], Any]
    moment: Callable[[Any], Any]
    time: Callable[[Any], Any]
    formats: Mapping[str, str]


def outgoing(data: Microdata, kind: str, clock: Clock) -> list[Outgoing]:
    """Every column, with its own codes and formats if it came from this kind of file."""
    return [_column(data, name, data.kind == kind, clock) for name in data.names]


def _column(data: Microdata, name: str, own: bool, clock: Clock) -> Outgoing:
    variable = data.variable(name)
    column = _one(data.table.column(name))
    if own and variable.codes is not None:
        codes = variable.codes.take(column.indices)
        return Outgoing(name, codes, variable, codes.type, variable.value_labels, variable.format)
    described = variable if own else Variable(label=variable.label)
    category = data.category(name)
    if category is not None:
        return _coded(name, _one(category), described, variable.codes)
    values, shown = _plain(_one(data.values(name)), name, clock)
    labels = variable.value_labels if own or not isinstance(next(iter(variable.value_labels), ""), str) else {}
    return Outgoing(name, values, described, _one(data.values(name)).type, labels, variable.format if own else shown)


def _one(column: Any) -> Any:
    import pyarrow as pa

    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return array.chunk(0) if isinstance(array, pa.ChunkedArray) else array


def _coded(name: str, column: Any, variable: Variable, codes: Any) -> Outgoing:
    """Categories as the whole numbers they had elsewhere, or as 1, 2, … in their order."""
    import pyarrow as pa

    labels = column.dictionary.to_pylist()
    numbers = whole_codes(codes) if codes is not None and len(codes) == len(labels) else None
    numbers = numbers or list(range(1, len(labels) + 1))
    values = pa.array(numbers, pa.float64()).take(column.indices)
    return Outgoing(name, values, variable, pa.int32(), dict(zip(numbers, labels, strict=True)), None)


def _plain(column: Any, name: str, clock: Clock) -> tuple[Any, str | None]:
    """The values as floats or text, and the format that shows them if it is a date or time."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind, is_ = column.type, pa.types
    if is_.is_string(kind) or is_.is_large_string(kind) or is_.is_string_view(kind):
        return column.cast(pa.string()), None
    if is_.is_date(kind):
        return clock.date(column), clock.formats["date"]
    if is_.is_timestamp(kind):
        return clock.moment(column), clock.formats["moment"]
    if is_.is_time(kind):
        return clock.time(column), clock.formats["time"]
    if is_.is_boolean(kind):
        return column.cast(pa.int8()).cast(pa.float64()), None
    if is_.is_integer(kind):
        if any(abs(end) > 2**53 for end in pc.min_max(column).as_py().values() if end is not None):
            raise DataError(f"column {name!r} holds whole numbers beyond 2^53, which would be rounded; make it text.")
        return column.cast(pa.float64()), None
    if is_.is_floating(kind) or is_.is_decimal(kind) or is_.is_null(kind):
        numbers = column.cast(pa.float64())
        if pc.any(pc.is_inf(numbers)).as_py():
            raise DataError(f"column {name!r} holds infinite numbers, which the format cannot hold; make them missing.")
        return pc.if_else(pc.is_nan(numbers), pa.scalar(None, pa.float64()), numbers), None
    raise DataError(f"column {name!r} is of type {kind}, which the format cannot hold; write .parquet instead.")
