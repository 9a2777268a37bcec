"""Dates as Stata and SPSS count them, where the numbers are whole days or exact moments."""

from __future__ import annotations

from typing import Any

import numpy as np

_DAY = 86400


def to_dates(column: Any, per_day: float, origin: str) -> Any:
    """Counts since ``origin`` as Arrow dates; the column itself where it does not hold whole days."""
    import pyarrow as pa

    numbers, valid = _numbers(column)
    days = numbers / per_day
    shift = int((np.datetime64("1970-01-01") - np.datetime64(origin)).astype(int))
    if not _exact(days[valid]) or (np.abs(days[valid]) > 2**31 - 1 - abs(shift)).any():
        return column
    return pa.array(np.where(valid, days, 0).astype(np.int64) - shift, mask=~valid).cast(pa.int32()).cast(pa.date32())


def to_moments(column: Any, per_second: float, origin: str, unit: str) -> Any:
    """Counts since ``origin`` as Arrow timestamps; the column itself where they are not exact in this unit."""
    import pyarrow as pa

    numbers, valid = _numbers(column)
    shift, scale = _moments(per_second, origin, unit)
    counts = np.rint((numbers - shift) * scale)
    if not _exact(counts[valid]) or (counts / scale + shift != numbers)[valid].any():
        return column
    return pa.array(np.where(valid, counts, 0).astype(np.int64), mask=~valid).cast(pa.timestamp(unit))


def _moments(per_second: float, origin: str, unit: str) -> tuple[float, float]:
    """What 1970 is in counts since ``origin``, and how many units a count has."""
    seconds = int((np.datetime64("1970-01-01", "s") - np.datetime64(origin, "s")).astype(int))
    return seconds * per_second, {"ms": 1e3, "us": 1e6}[unit] / per_second


def from_dates(column: Any, per_day: float, origin: str) -> Any:
    """The inverse of ``to_dates``, as floats."""
    import pyarrow as pa

    shift = int((np.datetime64("1970-01-01") - np.datetime64(origin)).astype(int))
    numbers, valid = _numbers(column.cast(pa.date32()).cast(pa.int32()))
    return pa.array((numbers + shift) * per_day, mask=~valid)


def from_moments(column: Any, per_second: float, origin: str, unit: str) -> Any:
    """The inverse of ``to_moments``, as floats."""
    import pyarrow as pa

    shift, scale = _moments(per_second, origin, unit)
    numbers, valid = _numbers(column.cast(pa.timestamp(unit), safe=False).cast(pa.int64()))
    return pa.array(numbers / scale + shift, mask=~valid)


def from_times(column: Any, per_second: float) -> Any:
    """Times of day as counts since midnight, as floats."""
    import pyarrow as pa

    numbers, valid = _numbers(column.cast(pa.time64("us"), safe=False).cast(pa.int64()))
    return pa.array(numbers / (1e6 / per_second), mask=~valid)


def _numbers(column: Any) -> tuple[Any, Any]:
    import pyarrow as pa

    valid = ~column.is_null().to_numpy(zero_copy_only=False)
    return column.cast(pa.float64()).fill_null(0).to_numpy(zero_copy_only=False), valid


def _exact(numbers: Any) -> bool:
    return bool((numbers == np.rint(numbers)).all() and (np.abs(numbers) < 2**53).all())
