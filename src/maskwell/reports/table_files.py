"""Files of several masked columns, beside others that were kept: format 3, as Parquet or Arrow.

The metadata hold the design of each masked column and how its reports were drawn; a seal covers every column, kept ones
too. Files of one column (format 2) stay as they are.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from maskwell.advice import Advice, Setting
from maskwell.designs.storage import from_document, to_document
from maskwell.errors import MaskwellError, ReportError
from maskwell.plain_text import among
from maskwell.reports.arrow_columns import arrow_type, from_array
from maskwell.reports.batch import Batch
from maskwell.reports.containers import (
    ARROW,
    PARQUET,
    PREFIX,
    Container,
    open_container,
    prefixed,
    write_arrow,
    write_parquet,
)
from maskwell.reports.randomness import checked_randomness
from maskwell.reports.seal import COUNT, DIGEST
from maskwell.reports.table_seal import DIGESTS, TableSeal, storable_type
from maskwell.strict_json import read_json
from maskwell.whole_files import complete_file

if TYPE_CHECKING:
    from maskwell.designs.base import Design

B = TypeVar("B", bound=Batch)

TABLE_FORMAT = "3"
TABLE_SUFFIXES = (PARQUET, ARROW)
_COLUMNS = "maskwell.columns"
_RUN = "maskwell.run"


def table_metadata(columns: Mapping[str, Batch]) -> dict[str, str]:
    """What a table says of its masked columns; the batches need hold no reports."""
    said = {
        name: {"design": to_document(none.design), "randomness": none.randomness, "question": none.question}
        for name, none in columns.items()
    }
    return {"maskwell": TABLE_FORMAT, _COLUMNS: json.dumps(said, ensure_ascii=False)}


def of_run(metadata: Mapping[str, str], run: str) -> dict[str, str]:
    """The same metadata for a part of a run, which names the run."""
    return {**metadata, _RUN: run}


def masked_columns(metadata: Mapping[str, str], name: str, kind: type[B]) -> dict[str, B]:
    """For each masked column no reports, but what the metadata of ``name`` say of them."""
    said = read_json(metadata.get(_COLUMNS, ""), f"{name!r}: the list of masked columns", ReportError)
    found: dict[str, B] = {}
    for column, entry in said.items() if isinstance(said, dict) else ():
        if not isinstance(entry, dict) or set(entry) != {"design", "randomness", "question"}:
            raise ReportError(f"{name!r} does not say how its column {column!r} was masked.")
        design, question = from_document(entry["design"]), entry["question"]
        if question is not None and not isinstance(question, str):
            raise ReportError(f"{name!r} does not say in words which question column {column!r} asked.")
        drawn = checked_randomness(entry["randomness"], name)
        found[column] = kind(design, design.sampler.empty(0), None, drawn, question, metadata.get(_RUN))
    if not found:
        raise ReportError(f"{name!r} does not say which of its columns were masked.")
    return found


def write_table(path: str | os.PathLike[str], schema: Any, batches: Iterable[Any], single: Sequence[str] = ()) -> int:
    """Write batches whose schema says what was masked, whole or not at all, and say how many rows there are.

    ``single`` are columns in which no value comes twice: a dictionary of their values would only cost time.
    """
    import pyarrow as pa

    suffix = Path(path).suffix.lower()
    if suffix not in TABLE_SUFFIXES:
        raise ReportError(
            f"several columns are written as {' or '.join(TABLE_SUFFIXES)}; got {Path(path).name!r}. A .csv file "
            "holds the reports of one column."
        )
    about = {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}
    stored = pa.schema([pa.field(f.name, storable_type(f.type, f.name)) for f in schema], about)
    seal = TableSeal(stored)

    def sealed() -> Iterator[Any]:
        for batch in batches:
            fitted = batch.cast(stored) if batch.schema.types != stored.types else batch
            seal.add(fitted)
            yield pa.RecordBatch.from_arrays(fitted.columns, schema=stored)

    try:
        with complete_file(path) as file:
            if suffix == PARQUET:
                dictionaries = [name for name in stored.names if name not in single]
                write_parquet(file, stored, sealed(), lambda: seal.stamp(about), dictionaries)
            else:
                write_arrow(file, stored, sealed(), lambda: seal.stamp(about))
    except OSError as error:
        raise ReportError(f"{Path(path).name!r} could not be written: {error.strerror or error}.") from None
    return seal.rows


def checksum_of(path: str | os.PathLike[str]) -> str:
    """The checksum that a Parquet file of a table ends with, of its columns and all that is said of them; else ""."""
    import pyarrow as pa

    try:
        return open_container(path).metadata.get(f"{PREFIX}{DIGEST}", "")
    except (MaskwellError, OSError, UnicodeError, pa.ArrowException):
        return ""


def read_table_column(
    found: Container, kind: type[B], column: str | None, rows: Callable[[Design], int]
) -> tuple[B, Iterator[B]]:
    """No reports of a column but what is said of it, and its checked reports; ``rows`` says how many at a time."""
    said = masked_columns(found.metadata, found.name, kind)
    if column is None and len(said) > 1:
        listed = ", ".join(said)
        raise ReportError(
            Advice(f"{found.name!r} holds several masked columns: {listed}; name one with ", Setting("column"), ".")
        )
    name = next(iter(said)) if column is None else column
    if name not in said:
        raise ReportError(f"{found.name!r} has no masked column {name!r}; {among(name, list(said), quoted=True)}.")

    def reports() -> Iterator[B]:
        first_row = 0
        for batch in read_table(found, rows(said[name].design), [name]):
            yield from_array(said[name], batch.column(0), first_row)
            first_row += len(batch)

    return said[name], reports()


def read_table(found: Container, rows: int, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """Batches of some columns, or of all; the end is reached only if they are as they were written."""
    import pyarrow as pa

    stamps = prefixed({COUNT: "", DIGESTS: "", DIGEST: ""})
    about = {key: value for key, value in found.metadata.items() if key not in stamps}
    stamp = {key: value for key, value in found.metadata.items() if key in stamps}
    for name, none in masked_columns(about, found.name, Batch).items():
        kinds = [field.type for field in found.schema if field.name == name]
        if kinds != [arrow_type(none.design)]:
            raise ReportError(f"{found.name!r} does not hold the reports of column {name!r} as its design demands.")
    wanted = list(found.schema.names if columns is None else columns)
    seal = TableSeal(pa.schema([found.schema.field(name) for name in wanted]))
    for batch in found.batches(rows, stamp, wanted):
        seal.add(batch.select(wanted))
        yield batch.select(wanted)
    seal.verify(
        about, {key.removeprefix(PREFIX): value for key, value in stamp.items()}, found.schema.names, found.name
    )
