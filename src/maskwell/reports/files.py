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
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import numpy as np

from maskwell.designs.storage import read_design, to_document
from maskwell.errors import MaskwellError, ReportError
from maskwell.input_files import require_regular
from maskwell.reports.batch import Batch
from maskwell.reports.randomness import checked_randomness
from maskwell.reports.seal import COUNT, DIGEST, Seal
from maskwell.reports.text import CsvWriter, read_csv
from maskwell.sampling.samplers import Packed
from maskwell.whole_files import complete_file, complete_files

if TYPE_CHECKING:
    from maskwell.designs.base import Design

B = TypeVar("B", bound=Batch)

FORMAT = "2"
SUFFIXES = (".parquet", ".arrow", ".csv")
_COLUMN = "report"
_PREFIX = "maskwell."
_WRITTEN_ROWS, _READ_ROWS, _BATCH_BYTES = 1 << 20, 1 << 18, 1 << 24


def to_table(reports: Batch) -> Any:
    """Reports as an Arrow table, with their seal."""
    import pyarrow as pa

    seal, about = Seal(), _about(reports)
    seal.add(reports)
    schema = _schema(reports.design, {**about, **_prefixed(seal.stamp(about))})
    return pa.Table.from_batches([_to_batch(reports, schema)])


def _arrow_type(design: Design) -> Any:
    import pyarrow as pa

    empty = design.sampler.empty(0)
    return pa.from_numpy_dtype(empty.dtype) if empty.ndim == 1 else pa.binary(empty.shape[1])


def _drawn(reports: Batch) -> dict[str, str]:
    """What the metadata of a file say of its reports besides their design."""
    asked = {} if reports.question is None else {"maskwell.question": reports.question}
    return {"maskwell.randomness": reports.randomness, **asked}


def _about(reports: Batch) -> dict[str, str]:
    return {"maskwell": FORMAT, "maskwell.design": reports.design.to_json(), **_drawn(reports)}


def _prefixed(stamp: dict[str, str]) -> dict[str, str]:
    return {f"{_PREFIX}{key}": value for key, value in stamp.items()}


def _schema(design: Design, metadata: dict[str, str]) -> Any:
    import pyarrow as pa

    return pa.schema([pa.field(_COLUMN, _arrow_type(design))], metadata)


def _batch_rows(design: Design, most: int) -> int:
    """How many reports are held at a time, such that memory is bounded whatever the design."""
    empty = design.sampler.empty(0)
    width = empty.dtype.itemsize * math.prod(empty.shape[1:])
    return max(1, min(most, _BATCH_BYTES // width))


def _to_batch(reports: Batch, schema: Any) -> Any:
    import pyarrow as pa

    packed, kind = np.ascontiguousarray(reports.packed), schema.field(0).type
    if packed.ndim == 1:
        column = pa.array(packed, kind, mask=reports.missing)
    else:
        valid = None if reports.missing is None else pa.array(~reports.missing).buffers()[1]
        column = pa.Array.from_buffers(kind, len(packed), [valid, pa.py_buffer(packed)])
    return pa.record_batch([column], schema=schema)


def _from_batch(none: B, batch: Any, first_row: int) -> B:
    """The reports of a batch; ``none`` holds no reports, but what a file says of all of them."""
    column, design = batch.column(0), none.design
    missing = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
    empty = design.sampler.empty(0)
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
            return (_write_parquet if suffix == ".parquet" else _write_arrow)(file, design, batches)
    except OSError as error:
        raise ReportError(f"{Path(path).name!r} could not be written: {error.strerror or error}.") from None


def write_stream(sink: Any, design: Design, batches: Iterable[Batch]) -> int:
    """Write batches to an open binary file as an Arrow stream, for pipes."""
    import pyarrow as pa

    about, sealed = _sealed(design, batches)
    schema = _schema(design, about)
    with pa.ipc.new_stream(sink, schema) as writer:
        return _write_ipc(writer, schema, about, sealed)


def _write_arrow(file: BinaryIO, design: Design, batches: Iterable[Batch]) -> int:
    import pyarrow as pa

    about, sealed = _sealed(design, batches)
    schema = _schema(design, about)
    with pa.ipc.new_file(file, schema) as writer:
        return _write_ipc(writer, schema, about, sealed)


def _write_ipc(writer: Any, schema: Any, about: dict[str, str], sealed: _Sealed) -> int:
    """The seal comes last, with a batch without reports: a stream that was cut has none."""
    for batch in sealed:
        writer.write_batch(_to_batch(batch, schema))
    stamp = _prefixed(sealed.seal.stamp(about))
    writer.write_batch(_to_batch(Batch(sealed.design, sealed.design.sampler.empty(0)), schema), custom_metadata=stamp)
    return sealed.seal.count


def _write_parquet(file: BinaryIO, design: Design, batches: Iterable[Batch]) -> int:
    import pyarrow.parquet as pq

    about, sealed = _sealed(design, batches)
    schema = _schema(design, about)
    with pq.ParquetWriter(file, schema) as writer:
        for batch in sealed:
            writer.write_batch(_to_batch(batch, schema))
        writer.add_key_value_metadata(_prefixed(sealed.seal.stamp(about)))
    return sealed.seal.count


def _write_csv(file: BinaryIO, beside: BinaryIO, design: Design, batches: Iterable[Batch]) -> int:
    about, sealed = _sealed(design, batches)
    writer = CsvWriter(file, design)
    for batch in sealed:
        writer.write(batch)
    writer.close()
    stated = {key.removeprefix(_PREFIX): value for key, value in about.items() if key != "maskwell.design"}
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


def read_reports(path: str | os.PathLike[str], kind: type[B]) -> tuple[Design, Iterator[B]]:
    """The design of a file and an iterator over its checked reports; its end is reached only if the seal is right.

    ``kind`` is the class of what comes: a batch, or one that can do more.
    """
    name, suffix = Path(path).name, Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ReportError(f"reports are read from {', '.join(SUFFIXES)}; got {name!r}.")
    with _one_line_errors(name):
        require_regular(path, ReportError)
        if suffix == ".csv":
            return _read_csv(path, name, kind)
        return (_read_parquet if suffix == ".parquet" else _read_arrow)(path, name, kind)


def read_stream(source: Any, kind: type[B], name: str = "standard input") -> tuple[Design, Iterator[B]]:
    """The design of an Arrow stream and an iterator over its checked reports."""
    import pyarrow as pa

    with _one_line_errors(name):
        reader = pa.ipc.open_stream(source)
        return _decoded(
            _own(reader.schema.metadata), reader.schema, lambda rows: _whole_stream(reader, source, name), name, kind
        )


def _whole_stream(reader: Any, source: Any, name: str) -> Iterator[Any]:
    yield from reader.iter_batches_with_custom_metadata()
    if source.read(1):
        raise ReportError(f"{name!r} goes on after the end of its reports; give one stream at a time, or files.")


def _read_arrow(path: str | os.PathLike[str], name: str, kind: type[B]) -> tuple[Design, Iterator[B]]:
    import pyarrow as pa

    reader = pa.ipc.open_file(pa.memory_map(str(path)))
    numbers = range(reader.num_record_batches)
    return _decoded(
        _own(reader.schema.metadata),
        reader.schema,
        lambda rows: map(reader.get_batch_with_custom_metadata, numbers),
        name,
        kind,
    )


def _read_parquet(path: str | os.PathLike[str], name: str, kind: type[B]) -> tuple[Design, Iterator[B]]:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    return _decoded(
        _own(file.metadata.metadata),
        file.schema_arrow,
        lambda rows: ((batch, None) for batch in file.iter_batches(batch_size=rows)),
        name,
        kind,
    )


def _own(metadata: Any) -> dict[str, str]:
    """The metadata that are ours."""
    found = {bytes(key).decode(): bytes(value).decode() for key, value in (metadata or {}).items()}
    return {key: value for key, value in found.items() if key.startswith("maskwell")}


def _decoded(
    metadata: dict[str, str], schema: Any, raw: Callable[[int], Iterable[Any]], name: str, kind: type[B]
) -> tuple[Design, Iterator[B]]:
    """``raw`` gives batches of so many rows, if it can choose, each with its own metadata."""
    about = {key: value for key, value in metadata.items() if key not in _prefixed({COUNT: "", DIGEST: ""})}
    _check_format(about.get("maskwell"), name)
    if "maskwell.design" not in about:
        raise ReportError(f"{name!r} does not say which design its reports came from.")
    design = read_design(about["maskwell.design"])
    if schema.names != [_COLUMN] or schema.field(0).type != _arrow_type(design):
        raise ReportError(f"{name!r} does not hold one column of {_arrow_type(design)} reports, as its design demands.")
    none = _none(kind, design, about.get("maskwell.randomness"), about.get("maskwell.question"), name)
    stamp = {key: value for key, value in metadata.items() if key not in about}

    def batches() -> Iterator[B]:
        rows, first_row = _batch_rows(design, _READ_ROWS), 0
        for batch, own in raw(rows):
            stamp.update(_own(own))
            for start in range(0, len(batch), rows):
                part = _from_batch(none, batch.slice(start, rows), first_row)
                first_row += len(part)
                yield part

    verified = _verified(batches(), about, lambda: {k.removeprefix(_PREFIX): v for k, v in stamp.items()}, name)
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
        raise ReportError(f"{name!r} is not a file of Maskwell reports (format {FORMAT}); mask the values first.")
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
    with _one_line_errors(name):
        first = next(batches, none)
        yield first
        yield from batches


@contextmanager
def _one_line_errors(name: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except MaskwellError:
        raise
    except FileNotFoundError as error:
        missing = Path(error.filename).name if error.filename else name
        raise ReportError(f"{missing!r} was not found; a .csv of reports needs its .design.json beside it.") from None
    except (pa.ArrowException, OSError, UnicodeDecodeError, MemoryError, OverflowError):
        raise ReportError(f"{name!r} cannot be read: it is truncated, damaged, or no file of reports.") from None


def _beside(path: str | os.PathLike[str]) -> Path:
    return Path(path).with_suffix(".design.json")
