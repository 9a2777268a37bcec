"""One column of any library as one Arrow array.

Lists, NumPy, pandas, Polars, Arrow, anything that speaks Arrow's protocol; and what holds one column alone: a data
frame, lazy or not, a DuckDB relation, a mapping, or a file that ``microdata.read`` has read.
"""

from collections.abc import Iterable, Mapping, Sized
from typing import Any

import numpy as np

from maskwell.errors import DataError
from maskwell.microdata.model import Microdata


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is text, in any of its layouts."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def as_arrow(values: Any) -> Any:
    """A column as one Arrow array, missing values as nulls; None where Arrow refuses.

    Arrow's own error quotes a value and must not be kept anywhere.
    """
    import pyarrow as pa

    try:
        converted = _converted(values)
        if isinstance(converted, pa.ChunkedArray):
            if pa.types.is_dictionary(converted.type):
                converted = converted.unify_dictionaries()
            converted = converted.combine_chunks()
        return _without_views(converted)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None


def _without_views(array: Any) -> Any:
    """Views of text and of bytes in a plain layout: much of Arrow cannot work on them yet."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, _without_views(array.dictionary))
    if pa.types.is_string_view(array.type):
        return array.cast(pa.large_string())
    return array.cast(pa.large_binary()) if pa.types.is_binary_view(array.type) else array


def _converted(values: Any) -> Any:
    import pyarrow as pa

    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    if type(values).__module__.startswith("pandas") or isinstance(values, np.ndarray):
        return pa.array(values, from_pandas=True)
    if hasattr(values, "__arrow_c_stream__"):
        return pa.chunked_array(values)
    if hasattr(values, "__arrow_c_array__"):
        return pa.array(values)
    items = values if isinstance(values, Sized) else list(values)
    try:
        return pa.array(items, from_pandas=True)
    except OverflowError:
        return pa.array(items, pa.uint64())


def is_column(values: Any) -> bool:
    """Whether this can be a column at all: text is one value, a mapping is a table, and a set has no order."""
    return not isinstance(values, (str, bytes, Mapping, set, frozenset)) and (
        isinstance(values, Iterable) or hasattr(values, "__arrow_c_array__")
    )


def only_column(values: Any, what: str) -> Any:
    """The column of a table that has one; a column as it is. ``what`` names it in an error."""
    if isinstance(values, (list, tuple, range, np.ndarray)):
        return values
    if isinstance(values, Mapping):
        if len(values) != 1:
            raise _no_one_column(what, f"a mapping of {len(values)}")
        column = next(iter(values.values()))
        return column if is_column(column) else values
    if isinstance(values, Microdata):
        if len(values.names) != 1:
            raise _no_one_column(what, f"a file of {len(values.names)}")
        return values.cells(values.names[0])
    return _of_frame(values, what)


def _of_frame(values: Any, what: str) -> Any:
    import narwhals as nw
    import pyarrow as pa

    table = pa.Table.from_batches([values]) if isinstance(values, pa.RecordBatch) else values
    frame = nw.from_native(table, pass_through=True)
    if not isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
        return values
    n_columns = len(frame.collect_schema().names())
    if n_columns != 1:
        raise _no_one_column(what, f"a table of {n_columns}")
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return next(eager.iter_columns()).to_native()


def _no_one_column(what: str, got: str) -> DataError:
    return DataError(f"{what} must be one column; got {got} columns. Pass one of them.")
