"""Which label does a cell mean? One rule, for columns of every library and files of every format.

A cell is missing if it is null, NaN or an empty text; a design that has the empty label takes empty texts for that, and
whoever reads a file may name further texts. Any other cell must mean a label:

* labels that are text: the cell's text, letter by letter. A number, a truth value or a date has the text in which it is
  plainly written: 7 (stored as 7.0 too), 0.5, true, 2026-01-31.
* labels that are whole numbers: a number of that value, or a text that spells it: 7, +7, 07 and 7.0 all mean 7, with or
  without spaces around. Labels that are numbers leave no doubt what such a text says; where 07 and 7 are to differ,
  labels are text.
* labels that are true and false: a truth value, or the text true or false in either case, 1 or 0. The numbers 1 and 0
  are no truth values unless they are text, which has no type of its own.

A category of pandas, Polars, Arrow, Stata or SPSS means its label, never the code that is stored for it. Errors name
rows and counts, never a cell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from maskwell.advice import Advice, Setting
from maskwell.errors import DataError
from maskwell.tables.columns import as_arrow, is_column, is_text, only_column
from maskwell.tables.labels import KINDS, Label, shown

Missing = Literal["refuse", "keep"]
Codes = NDArray[np.uint32]

_WHOLE = r"^\s*\+?(-?)0*([0-9]{1,19})(?:\.0*)?\s*$"


@dataclass(frozen=True, eq=False)
class Column:
    """A column of true values that can be read as codes, a range of rows at a time."""

    n: int
    codes: Callable[[int, int], Codes]
    missing: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return self.n


def read_column(values: Any, labels: tuple[Label, ...], missing: Missing = "refuse") -> Column:
    """Match values with labels; a missing value is an error unless ``missing="keep"``."""
    check_missing(missing)
    return values if isinstance(values, Column) else match_column(values, Matcher(labels), missing)


def match_column(
    values: Any, matcher: Matcher, missing: Missing, other: int | None = None, before: int | None = None
) -> Column:
    """The same with a matcher that was made before, for many columns of the same labels.

    ``other`` is the position of the label that any unknown one counts as. ``before`` says how many rows of a file came
    before these: errors then name data rows, counted from 1.
    """
    array = _whole_numbers(values)
    if array is not None and matcher.counted and other is None:
        return Column(len(array), lambda start, stop: _counted_codes(array, start, stop, matcher.labels, before))
    return _matched(one_column(values if array is None else array), matcher, missing, other, before)


def check_missing(missing: Any) -> None:
    """An error unless this says what becomes of missing values."""
    if missing not in ("refuse", "keep"):
        raise DataError(f'missing must be "refuse" or "keep"; got {missing!r}.', parameter="missing")


def _whole_numbers(values: Any) -> NDArray[Any] | None:
    """A one-dimensional integer array without missing values, if that is what the values are."""
    if isinstance(values, range):
        return np.asarray(values)
    if not isinstance(values, np.ndarray):
        dtype = getattr(values, "dtype", None)
        if not isinstance(dtype, np.dtype) or dtype.kind not in "iu":
            return None
        values = values.to_numpy()
    if values.ndim != 1:
        raise DataError(f"values must be one column; got an array of shape {values.shape}.", parameter="values")
    return values.astype(values.dtype.newbyteorder("="), copy=False) if values.dtype.kind in "iu" else None


def _counted_codes(array: NDArray[Any], start: int, stop: int, labels: tuple[Label, ...], before: int | None) -> Codes:
    part = array[start:stop]
    # Seen as unsigned, a negative number is large: one comparison finds everything outside 0 .. k-1.
    if len(part) and part.view(part.dtype.str.replace("i", "u")).max() >= len(labels):
        unknown = (array < 0) | (array >= len(labels))
        raise _unknown(_where(int(np.argmax(unknown)), int(unknown.sum()), len(array), before), labels)
    return part.astype(np.uint32)


class UnknownLabelError(DataError):
    """Values that no category of the design stands for."""


def _where(row: int, count: int, n: int, before: int | None) -> str:
    """Which rows an error is about: of a column in memory counted from 0, of a file data rows from 1."""
    if before is None:
        return f" in {count} of {n} rows, first in row {row}"
    return f", first in data row {before + row + 1:,} ({count:,} of the first {before + n:,} rows)"


def _unknown(where: str, labels: tuple[Label, ...], kind: Any = None) -> UnknownLabelError:
    import pyarrow as pa

    truths = kind is not None and pa.types.is_boolean(kind)
    remedy = (
        "The column is of truth values: declare true,false." if truths else "Recode the column or declare the category."
    )
    return UnknownLabelError(
        f"values hold a label that the design does not know{where}; allowed labels: {shown(labels)}. {remedy}"
    )


def one_column(values: Any) -> Any:
    """Any column of values as one Arrow array, or an error that says what values should be."""
    column = only_column(values, "values")
    if not is_column(column):
        raise DataError(
            f"values must be a column (list, NumPy, pandas, Polars or Arrow); got {type(values).__name__}.",
            parameter="values",
        )
    converted = as_arrow(column)
    if converted is None:
        raise DataError(
            "values are of mixed or unreadable type; make them text, or all numbers, or all true or false.",
            parameter="values",
        )
    return converted


def _matched(array: Any, matcher: Matcher, missing: Missing, other: int | None, before: int | None) -> Column:
    import pyarrow.compute as pc

    n, found = len(array), matcher.match(array, "values are")
    if found.unknown is not None and other is not None:
        found = replace(found, positions=pc.if_else(found.unknown, other, found.positions), unknown=None)
    if found.unknown is not None:
        row, count = pc.index(found.unknown, True).as_py(), pc.sum(found.unknown).as_py()
        raise _unknown(_where(row, count, n, before), matcher.labels, array.type)
    if found.absent is not None and missing == "refuse":
        row, count = pc.index(found.absent, True).as_py(), pc.sum(found.absent).as_py()
        raise DataError(
            Advice(
                f"values are missing{_where(row, count, n, before)}; pass ",
                Setting("missing", "keep", quote='"'),
                " to leave those reports empty, or recode them as a category of their own.",
            ),
            parameter="values",
        )
    return found.column()


@dataclass(frozen=True, eq=False)
class Matched:
    """The position of the label that each cell means, null where it means none, as Arrow arrays.

    Which cells are missing, and which are not and mean no label, is told where there are such cells.
    """

    positions: Any
    absent: Any = None
    unknown: Any = None

    def column(self) -> Column:
        """The column, if every cell means a label or is missing."""
        codes = self.positions.fill_null(0).to_numpy(zero_copy_only=False).astype(np.uint32)
        gone = None if self.absent is None else self.absent.to_numpy(zero_copy_only=False)
        return Column(len(codes), lambda start, stop: codes[start:stop], gone)


@dataclass(frozen=True)
class Matcher:
    """Finds the label that each cell means. ``na`` lists texts that mean missing, besides the empty one."""

    labels: tuple[Label, ...]
    na: Sequence[str] = ()

    def __post_init__(self) -> None:
        import pyarrow as pa

        known = self._spelled(pa.array(self.na, pa.string())).to_pylist() if self.na else []
        spellings = set(self._spellings.to_pylist()) if self.na else ()
        clash = [text for text, spelled in zip(self.na, known, strict=True) if spelled in spellings]
        if clash:
            raise DataError(
                f"na {clash[0]!r} is a category of the design, so it cannot mean missing as well.", parameter="na"
            )

    @property
    def _kind(self) -> type:
        return type(self.labels[0])

    @cached_property
    def _spellings(self) -> Any:
        import pyarrow as pa

        return pa.array([str(c).lower() if self._kind is bool else str(c) for c in self.labels], pa.string())

    @cached_property
    def _gaps(self) -> Any:
        import pyarrow as pa

        return pa.array([*self.na, *([] if "" in self.labels else [""])], pa.string())

    @cached_property
    def counted(self) -> bool:
        """Whether the labels are 0, 1, … k-1, so that a number is its own position."""
        return self.labels == tuple(range(len(self.labels)))

    def match(self, array: Any, what: str) -> Matched:
        """The label of each cell. An error about the column's type begins with ``what``, such as "values are"."""
        import pyarrow as pa
        import pyarrow.compute as pc

        coded = pa.types.is_dictionary(array.type)
        entries = array.dictionary if coded else array
        positions = self._positions(entries, what)
        positions = pc.take(positions, array.indices) if coded else positions
        if not positions.null_count:
            return Matched(positions)
        absent = self._absent(entries)
        absent = pc.take(absent, array.indices).fill_null(True) if coded else absent
        unknown = pc.and_(positions.is_null(), pc.invert(absent))
        return Matched(positions, *(flags if pc.any(flags).as_py() else None for flags in (absent, unknown)))

    def _absent(self, array: Any) -> Any:
        """Which cells are missing; none of them means a label."""
        import pyarrow.compute as pc

        absent = array.is_null(nan_is_null=True)
        if not is_text(array.type):
            return absent
        text = _plain_text(array)
        return pc.or_(absent, pc.is_in(text, value_set=self._gaps.cast(text.type)))

    def _positions(self, array: Any, what: str) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_null(array.type):
            return pa.nulls(len(array), pa.int32())
        if not is_text(array.type) and self._kind is not str:
            return self._by_value(array, what)
        text = _plain_text(array) if is_text(array.type) else as_text(array, what)
        return pc.index_in(self._spelled(text), value_set=self._spellings.cast(text.type))

    def _by_value(self, array: Any, what: str) -> Any:
        """Numbers among labels that are numbers, truth values among those that are."""
        import pyarrow as pa
        import pyarrow.compute as pc

        types = pa.types
        number = types.is_integer(array.type) or types.is_floating(array.type)
        if not (number if self._kind is int else types.is_boolean(array.type)):
            raise _unreadable(array.type, what, f"but the design's labels are {KINDS[self._kind]}")
        if self._kind is bool:
            return pc.index_in(array, value_set=pa.array(self.labels))
        if types.is_uint64(array.type):
            # Beyond the largest signed integer no label can match; null makes it unknown.
            array = pc.if_else(pc.less_equal(array, pa.scalar(2**63 - 1, pa.uint64())), array, None)
        wide = pa.float64() if types.is_floating(array.type) else pa.int64()
        # Adding 0 makes one zero of the two that floating-point numbers have.
        array = pc.add(array.cast(wide), 0) if types.is_floating(array.type) else array.cast(wide)
        return pc.index_in(array, value_set=pa.array(self.labels, wide))

    def _spelled(self, text: Any) -> Any:
        """Texts in the one spelling that the labels have."""
        import pyarrow.compute as pc

        if self._kind is int:
            return whole_spelling(text)
        if self._kind is bool:
            lower = pc.utf8_lower(pc.utf8_trim_whitespace(text))
            return pc.replace_substring_regex(pc.replace_substring_regex(lower, "^1$", "true"), "^0$", "false")
        return text


def whole_spelling(text: Any) -> Any:
    """Texts that spell a whole number, such as +07.0, as it is plainly written: 7; other texts as they are."""
    import pyarrow.compute as pc

    return pc.replace_substring_regex(pc.replace_substring_regex(text, _WHOLE, r"\1\2"), "^-0$", "0")


def _plain_text(array: Any) -> Any:
    """Text without views, which much of Arrow cannot work on yet."""
    import pyarrow as pa

    return array.cast(pa.large_string()) if pa.types.is_string_view(array.type) else array


def as_text(array: Any, what: str) -> Any:
    """A column as Arrow text, null where a cell is null or NaN; ``what`` begins an error, such as "values are"."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if pa.types.is_floating(array.type):
            array = pc.if_else(array.is_null(nan_is_null=True), None, array)
        return array.cast(pa.large_string())
    except pa.ArrowException:
        raise _unreadable(array.type, what, "which have no text to match with labels") from None


def require_one_text(kind: Any, what: str, *, days: bool = False) -> None:
    """An error unless every engine writes cells of this type as the same text; ``days`` lets plain dates be.

    Points in time have other digits, or another zone, by engine and machine, and some numbers are widened by some.
    """
    import pyarrow as pa

    types = pa.types
    kind = kind.value_type if types.is_dictionary(kind) else kind
    temporal = types.is_temporal(kind) and not (days and types.is_date32(kind))
    if temporal or types.is_float16(kind) or types.is_decimal256(kind):
        raise DataError(
            f"{what} of type {kind}, which engines write as different texts; cast the column to text first."
        )


def _unreadable(kind: Any, what: str, why: str) -> DataError:
    import pyarrow as pa

    # A nested type would name the fields of a value.
    found = f"nested ({str(kind).partition('<')[0]})" if pa.types.is_nested(kind) else f"of type {kind}"
    return DataError(f"{what} {found}, {why}; cast the column first.")
