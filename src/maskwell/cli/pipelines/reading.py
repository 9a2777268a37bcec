"""Columns of reports that were drawn elsewhere, from a file of data into a file of reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from maskwell.cli.shared.output import CommandError
from maskwell.errors import DataError, ReportError
from maskwell.reports.arrow_columns import arrow_type, to_array
from maskwell.reports.batch import Batch
from maskwell.reports.elsewhere.labels import ReportReader, reports_sets
from maskwell.reports.randomness import EXTERNAL
from maskwell.reports.table_files import table_metadata

if TYPE_CHECKING:
    from maskwell.designs import Design


@dataclass
class ReportColumn:
    """One column of reports, read a batch at a time; errors name data rows."""

    name: str
    design: Design
    keep_missing: bool
    na: Sequence[str]
    separator: str | None
    rows: int = 0
    missing: int = 0
    _reader: ReportReader = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.design.variables:
            raise CommandError(
                f"the design of {self.name!r} is one of several variables; give each column a design of its own, and "
                "estimate them together with maskwell estimate --joint."
            )
        separator = self.separator if reports_sets(self.design) else None
        self._reader = ReportReader(self.design, tuple(self.na), separator)

    @property
    def nothing(self) -> Batch:
        """No reports, but what is said of all of them."""
        return Batch(self.design, self.design.sampler.empty(0), None, EXTERNAL, self.name)

    def read(self, column: Any) -> Batch:
        """The reports of the next rows."""
        found = self._reader.read(column, f"the cells of column {self.name!r} are")
        if found.wrong.any():
            raise ReportError(
                f"column {self.name!r} holds something that {self.design.title} cannot produce, "
                f"{self._where(found.wrong)}; {self._reader.allowed()}."
                f"{self._reader.hint(found)} Mend these cells in the file, or call a text missing with --na."
            )
        if found.absent.any() and not self.keep_missing:
            raise DataError(
                f"column {self.name!r} has missing reports, {self._where(found.absent)}; use --missing keep to leave "
                "them empty."
            )
        self.rows += len(found.packed)
        self.missing += int(found.absent.sum())
        return replace(self.nothing, packed=found.packed, missing=found.absent if found.absent.any() else None)

    def _where(self, flags: Any) -> str:
        first, count = self.rows + int(flags.argmax()) + 1, int(flags.sum())
        return f"first in data row {first:,} ({count:,} of the first {self.rows + len(flags):,} rows)"


def batches_with(
    batches: Iterator[Any], columns: Mapping[str, ReportColumn], keep: Sequence[str]
) -> tuple[Any, Iterator[Any]]:
    """The schema of a table of kept columns and reports, and its batches."""
    import pyarrow as pa

    first = next(batches, None)
    if first is None:
        raise DataError("the file has no rows; there are no reports in it.")
    kept = [pa.field(name, first.schema.field(name).type) for name in keep]
    read = [pa.field(name, arrow_type(column.design)) for name, column in columns.items()]
    schema = pa.schema([*kept, *read], table_metadata({name: column.nothing for name, column in columns.items()}))

    def each() -> Iterator[Any]:
        batch = first
        while batch is not None:
            arrays = [to_array(column.read(batch.column(name))) for name, column in columns.items()]
            yield pa.record_batch([*(batch.column(name) for name in keep), *arrays], schema)
            batch = next(batches, None)

    return schema, each()
