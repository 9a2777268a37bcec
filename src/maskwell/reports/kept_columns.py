"""Reports with the columns that were kept beside them, row by row about the same people.

Weights, strata, clusters and groups are not sensitive, so ``--keep`` writes them into the file of the reports. Whoever
estimates from a sample reads both in one go, checked against the seal of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from maskwell.errors import ReportError
from maskwell.plain_text import among
from maskwell.reports.arrow_columns import from_array
from maskwell.reports.containers import Container, one_line_errors, open_container
from maskwell.reports.files import SUFFIXES
from maskwell.reports.reports import Reports
from maskwell.reports.table_files import TABLE_FORMAT, TABLE_SUFFIXES, masked_columns, read_table

_ROWS = 1 << 18


@dataclass(frozen=True, eq=False)
class KeptColumns:
    """The reports of some masked columns, and some kept ones in batches of rows."""

    reports: dict[str, Reports]
    batches: Sequence[Any]

    @cached_property
    def table(self) -> Any:
        """The kept columns."""
        return joined_batches(self.batches)


def read_kept_columns(
    paths: Sequence[str | PathLike[str]],
    masked: Sequence[str] | None,
    kept: Callable[[Sequence[str]], Sequence[str]],
) -> KeptColumns:
    """Read files one after the other; ``kept`` chooses from the names of the columns that were kept.

    ``masked`` names the masked columns that are wanted, all of them if it is None.
    """

    reports: dict[str, list[Reports]] = {}
    batches: list[Any] = []
    for path in paths:
        name = Path(path).name
        with one_line_errors(name):
            found = _opened(path, name)
            nothing = masked_columns(found.metadata, name, Reports)
            wanted = list(nothing) if masked is None else list(masked)
            if unknown := [column for column in wanted if column not in nothing]:
                raise ReportError(f"{name!r} has no masked column {unknown[0]!r}; {among(unknown[0], list(nothing))}.")
            beside = list(kept([column for column in found.schema.names if column not in nothing]))
            first_row = 0
            for batch in read_table(found, _ROWS, [*wanted, *beside]):
                for column in wanted:
                    part = from_array(nothing[column], batch.column(column), first_row)
                    reports.setdefault(column, []).append(part)
                batches.append(batch.select(beside))
                first_row += len(batch)
            for column in wanted:
                reports.setdefault(column, []).append(nothing[column])
    joined = {column: Reports.concatenate(parts) for column, parts in reports.items()}
    return KeptColumns(joined, batches)


def holds_kept_columns(path: str | PathLike[str]) -> bool:
    """Whether a file of reports is one of masked columns beside others, rather than of reports and nothing else."""
    with one_line_errors(Path(path).name):
        return _table_file(path) is not None


def _table_file(path: str | PathLike[str]) -> Container | None:
    found = open_container(path) if Path(path).suffix.lower() in TABLE_SUFFIXES else None
    return None if found is None or found.metadata.get("maskwell") != TABLE_FORMAT else found


def _opened(path: str | PathLike[str], name: str) -> Container:
    if Path(path).suffix.lower() not in SUFFIXES:
        raise ReportError(f"reports are read from {', '.join(SUFFIXES)}; got {name!r}.")
    found = _table_file(path)
    if found is None:
        raise ReportError(
            f"{name!r} holds reports and nothing else; columns that are to stay beside them are written when they are "
            "masked: maskwell mask … --design COLUMN=FILE --keep COLUMN,COLUMN -o reports.parquet."
        )
    return found


def joined_batches(batches: Sequence[Any]) -> Any:
    """A table of kept columns, of one file or of several; it has its rows without a column, too."""
    import pyarrow as pa

    try:
        return pa.Table.from_batches(batches) if batches else pa.table({})
    except pa.ArrowInvalid:
        raise ReportError("a kept column has one type in one file and another in the next; mask them alike.") from None
