"""Dictionaries of Arrow columns whose values were changed, such that they do not tell what was there before.

A dictionary that came of encoding a column lists the values that occurred, in the order in which they first did: its
first entry is the first record's true value, and an entry that nobody has any more was somebody's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_MANY = 5
"""From here on an order that is that of first occurrence is hardly a coincidence: one in 120."""


def renewed(before: Any, after: Any) -> Any:
    """The column ``after`` with a dictionary that follows from its own values, where that of ``before`` did so.

    Entries that no longer occur are left out. Their order is kept if it means something (ordered or sorted categories,
    or any other order than that of their first occurrence).
    """
    if not before.dictionary.equals(after.dictionary):
        return after
    used, first = np.unique(_codes(before), return_index=True)
    by_occurrence = not after.type.ordered and (np.diff(first) > 0).all() and not _sorted(after.dictionary)
    declared = len(used) < len(after.dictionary)
    if declared and not (by_occurrence and len(used) >= _MANY):
        return after
    kept, place = np.unique(_codes(after), return_index=True)
    return restricted(after, kept[np.argsort(place)] if by_occurrence else kept)


def still_there(before: Any, after: Any) -> Any:
    """The positions of the entries that occur in ``after``; None if the dictionary does not follow from the values.

    A dictionary with an entry that did not occur before was declared, like a codebook, and tells nothing.
    """
    used = np.unique(_codes(before))
    if len(used) < len(after.dictionary) or not before.dictionary.equals(after.dictionary):
        return None
    return np.unique(_codes(after))


def restricted(column: Any, kept: Any) -> Any:
    """The column with the entries at these positions alone, in this order."""
    import pyarrow as pa

    position = np.zeros(len(column.dictionary), np.int64)
    position[kept] = np.arange(len(kept))
    indices = column.indices.to_numpy(zero_copy_only=False)
    missing = column.indices.is_null().to_numpy(zero_copy_only=False)
    codes = position[np.where(missing, 0, indices).astype(np.int64)]
    renumbered = pa.array(codes, mask=missing).cast(column.indices.type)
    return pa.DictionaryArray.from_arrays(
        renumbered, column.dictionary.take(pa.array(kept)), ordered=column.type.ordered
    )


def _codes(column: Any) -> Any:
    return column.indices.drop_null().to_numpy(zero_copy_only=False)


def _sorted(entries: Any) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return bool(pc.array_sort_indices(entries).equals(pa.array(np.arange(len(entries)), pa.uint64())))
    except pa.ArrowException:
        return False
