"""Dictionaries of Arrow columns whose values were changed, such that they do not tell what was there before.

A dictionary that came of encoding a column lists the values that occurred, in the order in which they first did: its
first entry is the first record's true value, and an entry that nobody has any more was somebody's.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def renewed(before: Any, after: Any) -> Any:
    """The column ``after`` with a dictionary that follows from its own values, where that of ``before`` did so.

    A dictionary with an entry that did not occur before was declared, and stays as it is. Otherwise entries that no
    longer occur are left out. Their order is kept if it means something (ordered or sorted categories, or any other
    order than that of their first occurrence).
    """
    import pyarrow as pa

    entries = after.dictionary
    old, new = _codes(before), _codes(after)
    was, first = np.unique(old, return_index=True)
    if len(was) < len(entries) or not before.dictionary.equals(entries):
        return after
    kept, place = np.unique(new, return_index=True)
    if not after.type.ordered and (np.diff(first) > 0).all() and not _sorted(entries):
        kept = kept[np.argsort(place)]
    position = np.zeros(len(entries), np.int64)
    position[kept] = np.arange(len(kept))
    indices = after.indices.to_numpy(zero_copy_only=False)
    missing = after.indices.is_null().to_numpy(zero_copy_only=False)
    codes = position[np.where(missing, 0, indices).astype(np.int64)]
    renumbered = pa.array(codes, mask=missing).cast(after.indices.type)
    return pa.DictionaryArray.from_arrays(renumbered, entries.take(pa.array(kept)), ordered=after.type.ordered)


def _codes(column: Any) -> Any:
    return column.indices.drop_null().to_numpy(zero_copy_only=False)


def _sorted(entries: Any) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return bool(pc.array_sort_indices(entries).equals(pa.array(np.arange(len(entries)), pa.uint64())))
    except pa.ArrowException:
        return False
