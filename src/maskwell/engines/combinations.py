"""Equal records counted as files are read: what a risk assessment needs of them, in memory that grows with the cells.

Per different combination of the columns about their own bytes plus 16; up to twice that while two counts are joined.
How many records the files hold does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from maskwell.engines import paths
from maskwell.errors import DataError
from maskwell.tables.codes import numbers

REPEATS = "maskwell.repeats"
SQUARES = "maskwell.squared weights"
_JOINED_AT = 1 << 20


def combinations(files: Sequence[Path], columns: Sequence[str], weights: str | None = None) -> Any:
    """The different combinations of some columns, how often each came, and sums of weights and of their squares."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for path in files:
        if path.suffix.lower() not in (".parquet", ".arrow", ".feather"):
            raise DataError(f"{path.name!r}: several files are counted from Parquet or Arrow, whose cells have types.")
    if weights in columns or {REPEATS, SQUARES} & set(columns):
        raise DataError("a column of weights cannot be a key or sensitive as well.", parameter="weights")
    read = [] if weights is None else [weights]
    added = [*read, *([SQUARES] if read else [])]
    waiting: list[Any] = []
    total: Any = None
    for batch in paths.read(files, list(dict.fromkeys([*columns, *read]))):
        once = pa.Table.from_batches([batch]).append_column(REPEATS, pa.repeat(pa.scalar(1, pa.int64()), len(batch)))
        for name in read:
            weight = pa.array(numbers(batch.column(name), name))  # none of them missing or negative
            once = once.append_column(SQUARES, pc.multiply(weight, weight))
        waiting.append(_summed(once, columns, added))
        if sum(map(len, waiting)) > max(_JOINED_AT, 0 if total is None else len(total)):
            total, waiting = _joined(total, waiting, columns, added), []
    if total is None and not waiting:
        raise DataError("the files have no rows; there is nothing to assess.")
    return _joined(total, waiting, columns, added)


def _joined(total: Any, waiting: Sequence[Any], columns: Sequence[str], added: Sequence[str]) -> Any:
    import pyarrow as pa

    parts = [*([] if total is None else [total]), *waiting]
    try:
        together = pa.concat_tables(parts)
    except pa.ArrowInvalid:
        raise DataError("the files have columns of different types under one name; cast them first.") from None
    return _summed(together, columns, added)


def _summed(table: Any, columns: Sequence[str], added: Sequence[str]) -> Any:
    sums = [REPEATS, *added]
    counted = table.group_by(list(columns)).aggregate([(name, "sum") for name in sums])
    return counted.select([*columns, *(f"{name}_sum" for name in sums)]).rename_columns([*columns, *sums])
