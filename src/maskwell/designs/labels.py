"""Category labels, and the one place where values become category codes.

A code is the position of a label in the design. Values arrive as lists, NumPy, pandas, Polars or Arrow columns and
are matched by label, never by the code a library happens to store. Errors name rows and counts, never a value.
"""

from collections.abc import Callable, Iterable, Sized
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import DataError, DesignError
from maskwell.limits import MOST_CATEGORIES, MOST_LABEL_CHARACTERS
from maskwell.plain_text import visible
from maskwell.sampling.entropy import Codes

Label = str | int | bool
Missing = Literal["refuse", "keep"]

_KINDS = {str: "text", int: "whole numbers", bool: "true/false"}
_MAX_SHOWN = 12
_MAX_LETTERS = 200
_BEYOND = 1 << 53  # a browser reads a larger number in a design as another one


def as_labels(categories: Iterable[Any] | int) -> tuple[Label, ...]:
    """The labels of a design: a list of text, of whole numbers or of booleans; a count k means 0 .. k-1."""
    if isinstance(categories, (int, np.integer)) and not isinstance(categories, bool):
        _refuse_many(int(categories))
        labels: tuple[Label, ...] = tuple(range(int(categories)))
    elif isinstance(categories, (str, bytes)) or not isinstance(categories, Iterable):
        raise DesignError(f"categories must be a list of labels or a count; got {type(categories).__name__}.")
    else:
        if isinstance(categories, Sized):
            _refuse_many(len(categories))
        listed = islice(categories, MOST_CATEGORIES + 1)
        labels = tuple(c.item() if isinstance(c, np.generic) else c for c in listed)
        _refuse_many(len(labels))
    if len(labels) < 2:
        raise DesignError(
            f"categories must name at least 2 categories; got {len(labels)}. With one category there is nothing to ask."
        )
    types = {type(label) for label in labels}
    if len(types) != 1 or not types <= set(_KINDS):
        names = ", ".join(sorted(t.__name__ for t in types))
        raise DesignError(f"categories must be all text, all whole numbers or all booleans; got {names}.")
    if isinstance(labels[0], str) and max(len(str(label)) for label in labels) > MOST_LABEL_CHARACTERS:
        raise DesignError(f"categories must be labels of at most {MOST_LABEL_CHARACTERS:,} characters each.")
    _refuse_unstorable(labels)
    if len(set(labels)) < len(labels):
        seen: set[Label] = set()
        twice = next(label for label in labels if label in seen or seen.add(label))  # type: ignore[func-returns-value]
        raise DesignError(f"categories must differ; {twice!r} is listed more than once.")
    return labels


def _refuse_many(count: int) -> None:
    if count > MOST_CATEGORIES:
        raise DesignError(
            f"categories may be {MOST_CATEGORIES:,} at most; got {_counted(count)}. Group them, or ask in two steps."
        )


def _counted(count: int) -> str:
    return f"{count:,}" if count < 10**15 else f"a number of {count.bit_length()} bits"


def _refuse_unstorable(labels: tuple[Any, ...]) -> None:
    """Labels that no file, or no column of values, could hold."""
    if isinstance(labels[0], str):
        try:
            "".join(labels).encode()
        except UnicodeEncodeError:
            raise DesignError("a label holds half of a character (a lone surrogate); give whole text.") from None
    elif not -_BEYOND < min(labels) <= max(labels) < _BEYOND:
        raise DesignError("labels that are whole numbers must lie within 2^53, as in a browser; give others as text.")


def check_reports(reports: object) -> None:
    """An error unless these can be the labels of reports: a tuple of text, whole numbers or booleans, all different."""
    if not isinstance(reports, tuple) or any(type(label) not in _KINDS for label in reports):
        raise DesignError("report labels must be text, whole numbers or booleans.")
    for kind in (str, int):
        same = tuple(label for label in reports if type(label) is kind)
        if same:
            _refuse_unstorable(same)
    if len(set(reports)) < len(reports):
        raise DesignError("report labels must differ.")


def shown(labels: tuple[Any, ...]) -> str:
    """Labels for a message, shortened."""
    text = ", ".join(_short(repr(label)) for label in labels[:_MAX_SHOWN])
    return text if len(labels) <= _MAX_SHOWN else f"{text}, … ({len(labels)} in all)"


def _short(text: str) -> str:
    return text if len(text) <= _MAX_LETTERS else f"{text[:_MAX_LETTERS]}…"


def text_of(label: Any) -> str:
    r"""A label as a reader sees it; that of several variables is a tuple. What is not printed is escaped.

    >>> text_of("yes"), text_of(("f", "high")), text_of("a\tb")
    ('yes', 'f, high', 'a\\tb')
    """
    return visible(", ".join(map(str, label)) if isinstance(label, tuple) else label)


@dataclass(frozen=True)
class Column:
    """A column of true values that can be read as codes, a range of rows at a time."""

    n: int
    codes: Callable[[int, int], Codes]
    missing: NDArray[np.bool_] | None = None


def read_column(values: Any, labels: tuple[Label, ...], missing: Missing = "refuse") -> Column:
    """Match values to labels; a missing value is an error unless ``missing="keep"``."""
    if missing not in ("refuse", "keep"):
        raise DataError(f'missing must be "refuse" or "keep"; got {missing!r}.')
    array = _whole_numbers(values)
    if array is not None and labels == tuple(range(len(labels))):
        return Column(len(array), lambda start, stop: _counted_codes(array, start, stop, labels))
    return _matched(_as_arrow(values if array is None else array, labels), labels, missing)


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
        raise DataError(f"values must be one column; got an array of shape {values.shape}.")
    return values.astype(values.dtype.newbyteorder("="), copy=False) if values.dtype.kind in "iu" else None


def _counted_codes(array: NDArray[Any], start: int, stop: int, labels: tuple[Label, ...]) -> Codes:
    part = array[start:stop]
    # Seen as unsigned, a negative number is large: one comparison finds everything outside 0 .. k-1.
    if len(part) and part.view(part.dtype.str.replace("i", "u")).max() >= len(labels):
        unknown = (array < 0) | (array >= len(labels))
        raise _unknown(int(np.argmax(unknown)), int(unknown.sum()), len(array), labels)
    return part.astype(np.uint32)


def _unknown(row: int, count: int, n: int, labels: tuple[Label, ...]) -> DataError:
    return DataError(
        f"values hold a label that the design does not know in {count} of {n} rows, first in row {row}; "
        f"allowed labels: {shown(labels)}. Recode the column or declare the category."
    )


def _as_arrow(values: Any, labels: tuple[Label, ...]) -> Any:
    """Any column as one Arrow array."""

    if len(getattr(values, "shape", ())) > 1:
        raise DataError(f"values must be one column; got a table of shape {values.shape}. Pass one of its columns.")
    if isinstance(values, (str, bytes, dict)) or not (
        isinstance(values, Iterable) or hasattr(values, "__arrow_c_array__")
    ):
        raise DataError(f"values must be a column (list, NumPy, pandas, Polars or Arrow); got {type(values).__name__}.")
    converted = as_arrow(values)
    if converted is None:
        kind = _KINDS[type(labels[0])]
        raise DataError(
            f"values are of mixed or unreadable type; the design's labels are {kind}: cast the column first."
        )
    return converted


def as_arrow(values: Any) -> Any:
    """A column of any library as one Arrow array, missing values as nulls.

    None where Arrow refuses: its error quotes a value and must not be kept anywhere.
    """
    import pyarrow as pa

    converted = _converted(values)
    return converted.combine_chunks() if isinstance(converted, pa.ChunkedArray) else converted


def _converted(values: Any) -> Any:
    import pyarrow as pa

    try:
        if isinstance(values, (pa.Array, pa.ChunkedArray)):
            return values
        if type(values).__module__.startswith("pandas") or isinstance(values, np.ndarray):
            return pa.array(values, from_pandas=True)
        if hasattr(values, "__arrow_c_stream__"):
            return pa.chunked_array(values)
        if hasattr(values, "__arrow_c_array__"):
            return pa.array(values)
        return pa.array(values if isinstance(values, Sized) else list(values), from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None


def _matched(array: Any, labels: tuple[Label, ...], missing: Missing) -> Column:
    import pyarrow as pa
    import pyarrow.compute as pc

    n = len(array)
    absent = array.is_null(nan_is_null=True)
    n_absent = pc.sum(absent).as_py() or 0
    if n_absent and missing == "refuse":
        raise DataError(
            f"values are missing in {n_absent} of {n} rows, first in row {pc.index(absent, True).as_py()}; "
            'pass missing="keep" to leave those reports empty, or recode them as a category of their own.'
        )
    if n_absent == n:
        return Column(n, lambda start, stop: np.zeros(stop - start, np.uint32), np.ones(n, np.bool_) if n else None)
    if pa.types.is_dictionary(array.type):
        by_entry = _positions(array.dictionary, labels)
        positions = pc.take(by_entry, array.indices)
    else:
        positions = _positions(array, labels)
    unknown = pc.and_(pc.is_null(positions), pc.invert(absent))
    n_unknown = pc.sum(unknown).as_py() or 0
    if n_unknown:
        raise _unknown(pc.index(unknown, True).as_py(), n_unknown, n, labels)
    codes = positions.fill_null(0).to_numpy(zero_copy_only=False).astype(np.uint32)
    return Column(
        n,
        lambda start, stop: codes[start:stop],
        absent.to_numpy(zero_copy_only=False) if n_absent else None,
    )


def _positions(array: Any, labels: tuple[Label, ...]) -> Any:
    """The position of each value among the labels, null where it is none of them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = type(labels[0])
    types = pa.types
    text = types.is_string(array.type) or types.is_large_string(array.type) or types.is_string_view(array.type)
    number = types.is_integer(array.type) or types.is_floating(array.type)
    if not {str: text, int: number, bool: types.is_boolean(array.type)}[kind]:
        # A nested type would name the fields of a value.
        found = "nested" if types.is_nested(array.type) else f"of type {array.type}"
        raise DataError(f"values are {found} but the design's labels are {_KINDS[kind]}; cast the column first.")
    if types.is_string_view(array.type):
        array = array.cast(pa.large_string())
    if kind is int:
        if types.is_uint64(array.type):
            # Beyond the largest signed integer no label can match; null makes it unknown.
            array = pc.if_else(pc.less_equal(array, pa.scalar(2**63 - 1, pa.uint64())), array, None)
        wide = array.type if types.is_floating(array.type) else pa.int64()
        return pc.index_in(array.cast(wide), value_set=pa.array(labels, wide))
    return pc.index_in(array, value_set=pa.array(labels, array.type))
