"""A column as category codes over the labels that occur in it.

A code is the position of a label among the sorted labels that occur, so that it does not depend on where the table came
from. A missing value is a category of its own, the last one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import DataError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Coded:
    """One column: a code per row, the label of each code, and how many values are missing.

    The label of missing values is None.
    """

    name: str
    codes: NDArray[Any]
    labels: tuple[Any, ...]
    missing: int

    @property
    def size(self) -> int:
        """The number of categories, a missing one included."""
        return len(self.labels)


def encode(array: Any, name: str) -> Coded:
    """Codes of a column, over the labels that occur in it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string_view(array.type):
        array = array.cast(pa.large_string())
    try:
        entries = array if pa.types.is_dictionary(array.type) else pc.dictionary_encode(array)
    except pa.ArrowException:
        raise DataError(f"column {name!r} is of type {array.type}, which has no categories; cast it first.") from None
    found = entries.dictionary.to_pylist()
    raw = pc.fill_null(entries.indices.cast(pa.int32()), len(found)).to_numpy(zero_copy_only=False)
    used = np.bincount(raw, minlength=len(found) + 1)
    # The last raw code stands for nulls; a NaN, or a null inside the dictionary, is missing as well.
    absent = {code for code, label in enumerate(found) if label is None or label != label} | {len(found)}
    occurring = {found[code] for code in np.flatnonzero(used).tolist() if code not in absent}
    labels: tuple[Any, ...] = tuple(sorted(occurring, key=_sort_key))
    position = {label: code for code, label in enumerate(labels)}
    final = [len(labels) if code in absent else position.get(found[code], -1) for code in range(len(found) + 1)]
    missing = int(used[sorted(absent)].sum())
    return Coded(name, np.array(final, np.int32)[raw], (*labels, None) if missing else labels, missing)


def _sort_key(label: Any) -> tuple[str, Any]:
    # Whole and decimal numbers are one kind: a table that turned 1 into 1.0 keeps its order.
    return ("number" if isinstance(label, (int, float)) else type(label).__name__, label)


def recoded(column: Coded, before: Coded) -> Ints:
    """A released column in the codes of the original one; released values are copies of original ones."""
    position = {label: code for code, label in enumerate(before.labels)}
    codes: Ints = np.array([position[label] for label in column.labels], np.int64)[column.codes]
    return codes


def numbers(array: Any, name: str) -> Floats:
    """A column of weights: positive finite numbers, none missing."""
    import pyarrow as pa

    kinds = pa.types
    if kinds.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if not (kinds.is_integer(array.type) or kinds.is_floating(array.type) or kinds.is_decimal(array.type)):
        raise DataError(f"weights {name!r} are of type {array.type}; weights must be numbers.")
    values: Floats = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
    wrong = ~(np.isfinite(values) & (values > 0))
    if wrong.any():
        raise DataError(
            f"weights {name!r} are missing, zero or negative in {int(wrong.sum())} of {len(values)} rows, "
            f"first in row {int(np.argmax(wrong))}; a weight is the number of people that a record stands for."
        )
    return values
