"""Columns of reports that were drawn elsewhere, from a file of data into a file of reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from maskwell.cli.shared.output import CommandError
from maskwell.errors import DataError, DesignError, ReportError
from maskwell.reports.arrow_columns import arrow_type, to_array
from maskwell.reports.batch import Batch
from maskwell.reports.elsewhere.labels import ReportReader, reports_sets
from maskwell.reports.elsewhere.spellings import Spellings
from maskwell.reports.randomness import EXTERNAL
from maskwell.reports.table_files import table_metadata
from maskwell.reports.text import spelled_labels
from maskwell.tables.decimals import has_decimal_commas, numbers_with_commas

if TYPE_CHECKING:
    from maskwell.designs import Design

_MOST_ROWS = 20
_DIGITS = frozenset("0123456789abcdef")


@dataclass
class ReportColumn:
    """One column of reports, read a batch at a time; errors name data rows."""

    name: str
    design: Design
    keep_missing: bool
    na: Sequence[str]
    separator: str | None
    codes: Mapping[str, str] = field(default_factory=dict)
    trim: bool = False
    rows: int = 0
    missing: int = 0
    _reader: ReportReader = field(init=False, repr=False)
    _spellings: Spellings = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.design.variables:
            raise CommandError(
                f"the design of {self.name!r} is one of several variables; give each column a design of its own, and "
                "estimate them together with maskwell estimate --joint."
            )
        sets = reports_sets(self.design)
        if sets and (self.codes or self.trim):
            raise CommandError(
                f"--code and --trim are for reports that are labels; those of {self.name!r} are sets, whose labels "
                "--separator reads without blanks around them."
            )
        self._reader = ReportReader(self.design, tuple(self.na), self.separator if sets else None)
        labels = [] if sets else spelled_labels(self.design)
        self._spellings = Spellings(labels, {c: to for c, to in self.codes.items() if to in labels}, self.trim)

    @property
    def nothing(self) -> Batch:
        """No reports, but what is said of all of them."""
        return Batch(self.design, self.design.sampler.empty(0), None, EXTERNAL, self.name)

    def read(self, column: Any) -> Batch:
        """The reports of the next rows."""
        found = self._reader.read(self._spellings.respelled(column), f"the cells of column {self.name!r} are")
        if found.wrong.any():
            raise ReportError(
                f"column {self.name!r} holds something that {self.design.title} cannot produce, "
                f"{self._where(found.wrong)}; {self._reader.allowed()}."
                f"{self._reader.hint(found)} Mend these cells in the file, say with --code what stands for a label, "
                "let --trim forgive blanks and capitals, or call a text missing with --na."
            )
        if found.absent.any() and not self.keep_missing:
            raise DataError(
                f"column {self.name!r} has missing reports, {self._where(found.absent)}; use --missing keep to leave "
                "them empty."
            )
        self.rows += len(found.packed)
        self.missing += int(found.absent.sum())
        return replace(self.nothing, packed=found.packed, missing=found.absent if found.absent.any() else None)

    def check_design(self, stored: Any) -> None:
        """An error where a form stored another design with the answers than the one that they are read with."""
        import pyarrow as pa

        column = stored.cast(pa.string()) if pa.types.is_dictionary(stored.type) else stored
        prints = set(column.unique().to_pylist()) if column.type in (pa.string(), pa.large_string()) else set()
        others = sorted(text for text in prints if text and _is_fingerprint(text) and text != self._fingerprint)
        if others and not set(others) <= _carried_out(self.design):
            raise ReportError(
                f"the column {design_column(self.name)!r} says that these answers were given by another design "
                f"({others[0][:12]}) than {self.design.title} ({self._fingerprint[:12]}); read them with the file that "
                "maskwell questionnaire --carried-out wrote."
            )

    @property
    def _fingerprint(self) -> str:
        return self.design.fingerprint

    def _where(self, flags: Any) -> str:
        count = int(flags.sum())
        rows = [f"{self.rows + at + 1:,}" for at in flags.nonzero()[0][:_MOST_ROWS].tolist()]
        of = f"{count:,} of the first {self.rows + len(flags):,} rows"
        if count == 1:
            return f"in data row {rows[0]} ({of})"
        more = ", …" if count > len(rows) else ""
        return f"in data rows {', '.join(rows)}{more} ({of})"


def _is_fingerprint(text: str) -> bool:
    return len(text) == 64 and set(text) <= _DIGITS


def _carried_out(design: Design) -> set[str]:
    """The fingerprints of what devices carry out for a design: its fractions, of which its integers are the nearest."""
    from maskwell.questionnaires import ask

    found: set[str] = set()
    for device in ("cards", "spinner", "die", None):
        for other in (None, "Other?"):
            with suppress(DesignError, DataError):
                found.add(ask(design, "Question?", name="q", device=device, innocuous=other).design.fingerprint)
    return found


def design_column(name: str) -> str:
    """The column in which a form stores the fingerprint of the design beside the answers of another one."""
    return f"{name}_design"


def batches_with(
    batches: Iterator[Any], columns: Mapping[str, ReportColumn], keep: Sequence[str]
) -> tuple[Any, Iterator[Any]]:
    """The schema of a table of kept columns and reports, and its batches."""
    import pyarrow as pa

    first = next(batches, None)
    if first is None:
        raise DataError("the file has no rows; there are no reports in it.")
    numbers = [name for name in keep if has_decimal_commas(first.column(name))]
    kept = [pa.field(name, pa.float64() if name in numbers else first.schema.field(name).type) for name in keep]
    read = [pa.field(name, arrow_type(column.design)) for name, column in columns.items()]
    schema = pa.schema([*kept, *read], table_metadata({name: column.nothing for name, column in columns.items()}))

    def each() -> Iterator[Any]:
        batch = first
        while batch is not None:
            arrays = [to_array(column.read(batch.column(name))) for name, column in columns.items()]
            stay = [numbers_with_commas(batch.column(n), n) if n in numbers else batch.column(n) for n in keep]
            yield pa.record_batch([*stay, *arrays], schema)
            batch = next(batches, None)

    return schema, each()
