"""Reports as one column of Arrow: whole numbers for codes, bytes of one width for bit masks, null for no report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from maskwell.errors import ReportError
from maskwell.reports.batch import Batch
from maskwell.sampling.samplers import Packed

if TYPE_CHECKING:
    from maskwell.designs.base import Design

B = TypeVar("B", bound=Batch)


def arrow_type(design: Design) -> Any:
    """The type of a column of a design's reports."""
    import pyarrow as pa

    empty = design.sampler.empty(0)
    return pa.from_numpy_dtype(empty.dtype) if empty.ndim == 1 else pa.binary(empty.shape[1])


def to_array(reports: Batch) -> Any:
    """Reports as an Arrow array."""
    import pyarrow as pa

    packed, kind = np.ascontiguousarray(reports.packed), arrow_type(reports.design)
    if packed.ndim == 1:
        return pa.array(packed, kind, mask=reports.missing)
    valid = None if reports.missing is None else pa.array(~reports.missing).buffers()[1]
    return pa.Array.from_buffers(kind, len(packed), [valid, pa.py_buffer(packed)])


def from_array(none: B, column: Any, first_row: int) -> B:
    """The checked reports of an array of their own type; ``none`` holds no reports, but what is said of all of them."""
    missing = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
    empty = none.design.sampler.empty(0)
    packed: Packed
    if empty.ndim == 1:
        packed = (column.fill_null(0) if missing is not None else column).to_numpy()
    else:
        width = empty.shape[1]
        start, stop = column.offset * width, (column.offset + len(column)) * width
        packed = np.frombuffer(column.buffers()[1] or b"", np.uint8)[start:stop].reshape(-1, width)
        if missing is not None:
            packed = np.where(missing[:, None], np.uint8(0), packed)
    return replace(none, packed=packed, missing=missing).check(first_row)


def narrowed(column: Any, design: Design, name: str) -> Any:
    """A column of reports in its own type again, where an engine has widened it: not all know unsigned numbers."""
    import pyarrow as pa

    kind = arrow_type(design)
    if column.type == kind:
        return column
    numbers = pa.types.is_integer(kind)
    try:
        if numbers != pa.types.is_integer(column.type):
            raise pa.ArrowInvalid
        return column.cast(kind) if numbers else column.cast(pa.large_binary()).cast(kind)
    except (pa.ArrowException, TypeError):
        raise ReportError(
            f"column {name!r} does not hold the reports of {design.title} with k={design.k}, which are {kind}; "
            "it was not masked, or by another design."
        ) from None
