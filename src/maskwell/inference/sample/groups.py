"""Groups of respondents by a column of labels, and a part of them by a column that says who belongs to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from maskwell.advice import Advice, Setting
from maskwell.errors import DataError, EstimationError
from maskwell.plain_text import among
from maskwell.tables.columns import as_arrow, is_column
from maskwell.tables.labels import text_of

Missing = Literal["refuse", "keep", "outside"]
"""What becomes of records without a group: an error, a group of their own, or in the sample but in no group."""
_OUTSIDE = -1


def members(domain: Any, n: int) -> NDArray[np.bool_]:
    """Who belongs to a domain, by a true or false for each of n records.

    >>> members([True, False, True], 3)
    array([ True, False,  True])
    """
    import pyarrow as pa

    column = as_arrow(domain) if is_column(domain) else None
    if column is None or not pa.types.is_boolean(column.type) or column.null_count:
        raise DataError("domain must be one column, true or false for each record.", parameter="domain")
    if len(column) != n:
        raise DataError(f"domain must have one entry per record: {n:,} are needed, it has {len(column):,}.", "domain")
    return np.asarray(column.to_numpy(zero_copy_only=False), np.bool_)


def grouped(groups: Any, n: int, missing: Missing) -> tuple[list[Any], NDArray[np.int64]]:
    """The labels of the groups in rising order, and each report's place in it.

    ``None`` is last, or the place -1, where labels are missing and not refused.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if missing not in get_args(Missing):
        raise DataError(f"missing must be one of {', '.join(get_args(Missing))}; got {missing!r}.", "missing")
    column = as_arrow(groups)
    if column is None or pa.types.is_nested(column.type):
        raise DataError(
            "groups must be one column of labels of one type, one per report; cast the column first.",
            parameter="groups",
        )
    if len(column) != n:
        raise DataError(f"groups must hold one label per report: expected {n}, got {len(column)}.", parameter="groups")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())  # views cannot be encoded yet
    absent = column.is_null(nan_is_null=True)
    n_absent = pc.sum(absent).as_py() or 0
    if n_absent and missing == "refuse":
        raise DataError(
            Advice(
                f"groups are missing in {n_absent} of {n} rows, first in data row "
                f"{pc.index(absent, True).as_py() + 1:,}; pass ",
                Setting("missing", "keep"),
                " to make a group of them (under None), or ",
                Setting("missing", "outside"),
                " to have them in the sample, which stays whole, but in no group.",
            ),
            parameter="groups",
        )
    encoded = pc.if_else(absent, pa.scalar(None, column.type), column).dictionary_encode()
    rank = np.empty(len(encoded.dictionary) + 1, np.int64)
    order = pc.array_sort_indices(encoded.dictionary).to_numpy()
    rank[order], rank[-1] = np.arange(len(order)), len(order)
    codes = rank[encoded.indices.fill_null(len(order)).to_numpy()]
    labels = encoded.dictionary.take(order).to_pylist()
    if n_absent and missing == "outside":
        return labels, np.where(codes == len(order), _OUTSIDE, codes)
    return labels + [None] * bool(n_absent), codes


def some_of(labels: list[Any], codes: NDArray[np.int64], between: Any) -> tuple[list[Any], NDArray[np.int64]]:
    """Some of the groups in the order given; who is in another one has the place -1.

    >>> some_of(["a", "b", "c"], np.array([0, 1, 2, 1]), ["c", "b"])
    (['c', 'b'], array([-1,  1,  0,  1]))
    """
    chosen = list(between) if isinstance(between, Sequence) and not isinstance(between, str) else []
    if len(chosen) < 2 or len(chosen) > len(set(chosen)):
        raise EstimationError("between must name two or more different groups.", parameter="between")
    for label in chosen:
        if label not in labels:
            known = among(text_of(label), list(map(text_of, labels)), quoted=True)
            raise EstimationError(f"there is no group {label!r}: {known}.", parameter="between")
    places = np.full(len(labels) + 1, _OUTSIDE)
    places[[labels.index(label) for label in chosen]] = np.arange(len(chosen))
    return chosen, places[codes]
