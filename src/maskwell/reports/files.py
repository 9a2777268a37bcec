"""Files of reports: Parquet and Arrow with the design in their metadata, CSV with the design beside it.

A file is written under another name and moved into place when it is complete, and ends with a seal. Reading checks the
design's fingerprint, that the design can have produced every report, and the seal, batch by batch, so a file may be
larger than memory.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from maskwell.designs.storage import read_design, to_document
from maskwell.errors import ReportError
from maskwell.input_files import require_regular
from maskwell.reports.arrow_columns import arrow_type, from_array, to_array
from maskwell.reports.batch import Batch
from maskwell.reports.containers import (
    ARROW,
    PARQUET,
    PREFIX,
    Container,
    one_line_errors,
    open_container,
    open_stream,
    prefixed,
    write_arrow,
    write_parquet,
)
from maskwell.reports.randomness import checked_randomness
from maskwell.reports.seal import COUNT, DIGEST, Seal
from maskwell.reports.table_files import TABLE_FORMAT, read_table_column
from maskwell.reports.text import CsvWriter, read_csv
from maskwell.whole_files import complete_file, complete_files

if TYPE_CHECKING:
    from maskwell.designs.base import Design

B = TypeVar("B", bound=Batch)

FORMAT = "2"
SUFFIXES = (PARQUET, ARROW, ".csv")
_COLUMN = "report"
_WRITTEN_ROWS, _READ_ROWS, _BATCH_BYTES = 1 << 20, 1 << 18, 1 << 24


def to_table(reports: Batch) -> Any:
    """Reports as an Arrow table, with their seal."""
    import pyarrow as pa

    seal, about = Seal(), _about(reports)
    seal.add(reports)
    schema = _schema(reports.design, {**about, **prefixed(seal.stamp(about))})
    return pa.Table.from_batches([_to_batch(reports, schema)])


def _drawn(reports: Batch) -> dict[str, str]:
    """What the metadata of a file say of its reports besides their design."""
    asked = {} if reports.question is None else {"maskwell.question": reports.question}
    return {"maskwell.randomness": reports.randomness, **asked}


def _about(reports: Batch) -> dict[str, str]:
    return {"maskwell": FORMAT, "maskwell.design": reports.design.to_json(), **_drawn(reports)}


def _schema(design: Design, metadata: dict[str, str]) -> Any:
    import pyarrow as pa

    return pa.schema([pa.field(_COLUMN, arrow_type(design))], metadata)


def _batch_rows(design: Design, most: int) -> int:
    """How many reports are held at a time, such that memory is bounded whatever the design."""
    empty = design.sampler.empty(0)
    width = empty.dtype.itemsize * math.prod(empty.shape[1:])
    return max(1, min(most, _BATCH_BYTES // width))


def _to_batch(reports: Batch, schema: Any) -> Any:
    import pyarrow as pa

    return pa.record_batch([to_array(reports)], schema=schema)


def write_reports(path: str | os.PathLike[str], design: Design, batches: Iterable[Batch]) -> int:
    """Write batches of one design to a file, whole or not at all, and say how many reports it holds."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ReportError(f"reports are written as {', '.join(SUFFIXES)}; got {Path(path).name!r}.")
    try:
        if suffix == ".csv":
            with complete_files([_beside(path), path]) as (about, file):
                return _write_csv(file, about, design, batches)
        with complete_file(path) as file:
            return _write(file, write_parquet if suffix == PARQUET else write_arrow, design, batches)
    except OSError as error:
        raise ReportError(f"{Path(path).name!r} could not be written: {error.strerror or error}.") from None


def write_stream(sink: Any, design: Design, batches: Iterable[Batch]) -> int:
    """Write batches to an open binary file as an Arrow stream, for pipes."""
    return _write(sink, partial(write_arrow, stream=True), design, batches)


def _write(file: Any, write: Callable[..., None], design: Design, batches: Iterable[Batch]) -> int:
    about, sealed = _sealed(design, batches)
    schema = _schema(design, about)
    write(file, schema, (_to_batch(batch, schema) for batch in sealed), lambda: sealed.seal.stamp(about))
    return sealed.seal.count


def _write_csv(file: BinaryIO, beside: BinaryIO, design: Design, batches: Iterable[Batch]) -> int:
    about, sealed = _sealed(design, batches)
    writer = CsvWriter(file, design)
    for batch in sealed:
        writer.write(batch)
    writer.close()
    stated = {key.removeprefix(PREFIX): value for key, value in about.items() if key != "maskwell.design"}
    document = to_document(design) | {"report_file": stated.pop("maskwell")} | stated
    document |= sealed.seal.stamp(document) | {COUNT: sealed.seal.count}
    beside.write(json.dumps(document, indent=1, ensure_ascii=False).encode())
    return sealed.seal.count


def _sealed(design: Design, batches: Iterable[Batch]) -> tuple[dict[str, str], _Sealed]:
    """What the first batch says of all, and all of them in parts of bounded size, taken into a seal as they pass."""
    iterator = iter(batches)
    first = next(iterator, Batch(design, design.sampler.empty(0)))
    return _about(first), _Sealed(design, first, iterator)


class _Sealed:
    def __init__(self, design: Design, first: Batch, rest: Iterator[Batch]) -> None:
        self.design, self.seal = design, Seal()
        self._first, self._rest = first, rest

    def __iter__(self) -> Iterator[Batch]:
        rows = _batch_rows(self.design, _WRITTEN_ROWS)
        for batch in _with(self._first, self._rest):
            if batch.design != self.design or _drawn(batch) != _drawn(self._first):
                raise ReportError(
                    "a file holds reports of one design and question, drawn one way; write the others apart."
                )
            for start in range(0, len(batch), rows):
                part = batch.part(slice(start, start + rows))
                self.seal.add(part)
                yield part


def _with(first: Batch, rest: Iterator[Batch]) -> Iterator[Batch]:
    yield first
    yield from rest


def read_reports(path: str | os.PathLike[str], kind: type[B], column: str | None = None) -> tuple[Design, Iterator[B]]:
    """The design of a file and an iterator over its checked reports; its end is reached only if the seal is right.

    ``kind`` is the class of what comes: a batch, or one that can do more. ``column`` says which one, where a file
    holds several masked columns.
    """
    name, suffix = Path(path).name, Path(path).suffix.lower()
    if Path(path).is_dir() or "*" in name:
        what = "is a folder, not a file" if Path(path).is_dir() else "stands for many files and one is read here"
        raise ReportError(
            f"{name!r} {what}; count many with mw.engines.tally(path, {{column: design}}) or maskwell tally."
        )
    if suffix not in SUFFIXES:
        raise ReportError(f"reports are read from {', '.join(SUFFIXES)}; got {name!r}.")
    with one_line_errors(name):
        require_regular(path, ReportError)
        if suffix == ".csv":
            _refuse_other(column, name)
            return _read_csv(path, name, kind)
        return _read_container(open_container(path), kind, column)


def read_stream(source: Any, kind: type[B], name: str = "standard input") -> tuple[Design, Iterator[B]]:
    """The design of an Arrow stream and an iterator over its checked reports."""
    with one_line_errors(name):
        return _read_container(open_stream(source, name), kind, None)


def _refuse_other(column: str | None, name: str) -> None:
    if column not in (None, _COLUMN):
        raise ReportError(f"{name!r} holds one column of reports and no {column!r}; leave column out.")


def _read_container(found: Container, kind: type[B], column: str | None) -> tuple[Design, Iterator[B]]:
    name, metadata = found.name, found.metadata
    if metadata.get("maskwell") == TABLE_FORMAT:
        none, reports = read_table_column(found, kind, column, lambda design: _batch_rows(design, _READ_ROWS))
        return none.design, _guarded(reports, name, none)
    _refuse_other(column, name)
    about = {key: value for key, value in metadata.items() if key not in prefixed({COUNT: "", DIGEST: ""})}
    _check_format(about.get("maskwell"), name)
    if "maskwell.design" not in about:
        raise ReportError(f"{name!r} does not say which design its reports came from.")
    design = read_design(about["maskwell.design"])
    if found.schema.names != [_COLUMN] or found.schema.field(0).type != arrow_type(design):
        raise ReportError(f"{name!r} does not hold one column of {arrow_type(design)} reports, as its design demands.")
    none = _none(kind, design, about.get("maskwell.randomness"), about.get("maskwell.question"), name)
    stamp = {key: value for key, value in metadata.items() if key not in about}

    def batches() -> Iterator[B]:
        first_row = 0
        for batch in found.batches(_batch_rows(design, _READ_ROWS), stamp):
            part = from_array(none, batch.column(0), first_row)
            first_row += len(part)
            yield part

    verified = _verified(batches(), about, lambda: {k.removeprefix(PREFIX): v for k, v in stamp.items()}, name)
    return design, _guarded(verified, name, none)


def _none(kind: type[B], design: Design, randomness: Any, question: Any, name: str) -> B:
    """No reports of a design, but what a file says of those that it holds."""
    if question is not None and not isinstance(question, str):
        raise ReportError(f"{name!r} does not say in words which question was asked.")
    return kind(design, design.sampler.empty(0), None, checked_randomness(randomness, name), question)


def _read_csv(path: str | os.PathLike[str], name: str, kind: type[B]) -> tuple[Design, Iterator[B]]:
    require_regular(_beside(path), ReportError)
    text = _beside(path).read_text(encoding="utf-8")
    design = read_design(text)
    document = json.loads(text)
    about = {key: value for key, value in document.items() if key not in (COUNT, DIGEST)}
    _check_format(about.get("report_file"), name)
    none = _none(kind, design, about.get("randomness"), about.get("question"), name)
    verified = _verified(read_csv(path, none), about, lambda: document, name)
    return design, _guarded(verified, name, none)


def _check_format(found: Any, name: str) -> None:
    if found is None:
        raise ReportError(
            f"{name!r} is not a file of Maskwell reports (format {FORMAT}). Reports that another program has written "
            "are counted with their design (mw.engines.tally, maskwell tally --design COLUMN=FILE); answers must be "
            "masked first."
        )
    if found != FORMAT:
        raise ReportError(f"{name!r} is in another format than this version reads ({FORMAT}); mask the values again.")


def _verified(
    batches: Iterator[B], about: dict[str, Any], stamp: Callable[[], dict[str, Any]], name: str
) -> Iterator[B]:
    """The same batches; after the last one they must be those that were sealed."""
    seal = Seal()
    for batch in batches:
        seal.add(batch)
        yield batch
    seal.verify(about, stamp(), name)


def _guarded(batches: Iterator[B], name: str, none: B) -> Iterator[B]:
    """At least one batch, so that even a file without reports says how they were to be drawn."""
    with one_line_errors(name):
        first = next(batches, none)
        yield first
        yield from batches


def _beside(path: str | os.PathLike[str]) -> Path:
    return Path(path).with_suffix(".design.json")
