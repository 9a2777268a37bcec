"""Files of reports: Parquet and Arrow with the design in their metadata, CSV with the design beside it.

A file is written under another name and moved into place when it is complete. Reading checks the design's fingerprint
and that the design can have produced every report, batch by batch, so a file may be larger than memory.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from maskwell.designs.base import Design
from maskwell.designs.storage import from_document, to_document
from maskwell.designs.subsets import SubsetDesign
from maskwell.errors import MaskwellError, ReportError
from maskwell.reports import Reports
from maskwell.sampling.plans import Packed
from maskwell.whole_files import complete_file

FORMAT = "1"
SUFFIXES = (".parquet", ".arrow", ".csv")
_COLUMN = "report"
_BATCH_ROWS = 1 << 18


def to_table(reports: Reports) -> Any:
    """Reports as an Arrow table."""
    import pyarrow as pa

    return pa.Table.from_batches([_to_batch(reports, _schema(reports.design, reports.randomness))])


def _arrow_type(design: Design) -> Any:
    import pyarrow as pa

    empty = design.plan.empty(0)
    return pa.from_numpy_dtype(empty.dtype) if empty.ndim == 1 else pa.binary(empty.shape[1])


def _schema(design: Design, randomness: str) -> Any:
    import pyarrow as pa

    metadata = {"maskwell": FORMAT, "maskwell.design": design.to_json(), "maskwell.randomness": randomness}
    return pa.schema([pa.field(_COLUMN, _arrow_type(design))], metadata)


def _to_batch(reports: Reports, schema: Any) -> Any:
    import pyarrow as pa

    packed, kind = np.ascontiguousarray(reports.packed), schema.field(0).type
    if packed.ndim == 1:
        column = pa.array(packed, kind, mask=reports.missing)
    else:
        valid = None if reports.missing is None else pa.array(~reports.missing).buffers()[1]
        column = pa.Array.from_buffers(kind, len(packed), [valid, pa.py_buffer(packed)])
    return pa.record_batch([column], schema=schema)


def _from_batch(design: Design, batch: Any, randomness: str, first_row: int) -> Reports:
    column = batch.column(0)
    missing = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
    empty = design.plan.empty(0)
    packed: Packed
    if empty.ndim == 1:
        packed = (column.fill_null(0) if missing is not None else column).to_numpy()
    else:
        width = empty.shape[1]
        start, stop = column.offset * width, (column.offset + len(column)) * width
        packed = np.frombuffer(column.buffers()[1] or b"", np.uint8)[start:stop].reshape(-1, width)
        if missing is not None:
            packed = np.where(missing[:, None], np.uint8(0), packed)
    return Reports(design, packed, missing, randomness).check(first_row)


def write_reports(path: str | os.PathLike[str], design: Design, batches: Iterable[Reports]) -> int:
    """Write batches of one design to a file, whole or not at all, and say how many reports it holds."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ReportError(f"reports are written as {', '.join(SUFFIXES)}; got {Path(path).name!r}.")
    try:
        with complete_file(path) as temporary:
            if suffix == ".csv":
                count, randomness = _write_csv(temporary, design, batches)
                about = to_document(design) | {"reports": count, "randomness": randomness}
                with complete_file(_beside(path)) as design_file:
                    design_file.write_text(json.dumps(about, indent=1, ensure_ascii=False), encoding="utf-8")
            else:
                count = _write_arrow(temporary, suffix, design, batches)
    except OSError as error:
        raise ReportError(f"{Path(path).name!r} could not be written: {error.strerror or error}.") from None
    return count


def write_stream(sink: Any, design: Design, batches: Iterable[Reports]) -> int:
    """Write batches to an open binary file as an Arrow stream, for pipes."""
    import pyarrow as pa

    return _write_batches(lambda schema: pa.ipc.new_stream(sink, schema), design, batches)


def _write_arrow(path: Path, suffix: str, design: Design, batches: Iterable[Reports]) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if suffix == ".parquet":
        return _write_batches(lambda schema: pq.ParquetWriter(path, schema), design, batches)
    return _write_batches(lambda schema: pa.ipc.new_file(str(path), schema), design, batches)


def _write_batches(open_writer: Callable[[Any], Any], design: Design, batches: Iterable[Reports]) -> int:
    """The first batch says how the draws were made; a stream does not mix kinds."""
    iterator = iter(batches)
    first = next(iterator, Reports(design, design.plan.empty(0)))
    schema = _schema(design, first.randomness)
    count = 0
    with open_writer(schema) as writer:
        for batch in _with(first, iterator):
            if batch.design != design or batch.randomness != first.randomness:
                raise ReportError("a file holds reports of one design, drawn one way; write the others apart.")
            writer.write_batch(_to_batch(batch, schema))
            count += len(batch)
    return count


def _with(first: Reports, rest: Iterator[Reports]) -> Iterator[Reports]:
    yield first
    yield from rest


def read_reports(path: str | os.PathLike[str]) -> tuple[Design, Iterator[Reports]]:
    """The design of a file and an iterator over its checked reports."""
    name, suffix = Path(path).name, Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ReportError(f"reports are read from {', '.join(SUFFIXES)}; got {name!r}.")
    with _one_line_errors(name):
        if suffix == ".csv":
            text = _beside(path).read_text(encoding="utf-8")
            return Design.from_json(text), _guarded(_csv_batches(path, json.loads(text)), name)
        import pyarrow as pa
        import pyarrow.parquet as pq

        if suffix == ".parquet":
            file = pq.ParquetFile(path)
            schema, raw = file.schema_arrow, file.iter_batches(batch_size=_BATCH_ROWS)
        else:
            reader = pa.ipc.open_file(pa.memory_map(str(path)))
            schema, raw = reader.schema, (reader.get_batch(i) for i in range(reader.num_record_batches))
        return _decoded(schema, raw, name)


def read_stream(source: Any, name: str = "standard input") -> tuple[Design, Iterator[Reports]]:
    """The design of an Arrow stream and an iterator over its checked reports."""
    import pyarrow as pa

    with _one_line_errors(name):
        reader = pa.ipc.open_stream(source)
        return _decoded(reader.schema, reader, name)


def _decoded(schema: Any, raw: Iterable[Any], name: str) -> tuple[Design, Iterator[Reports]]:
    metadata = {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}
    if metadata.get("maskwell") != FORMAT or "maskwell.design" not in metadata:
        raise ReportError(f"{name!r} is not a file of Maskwell reports (format {FORMAT}); mask the values first.")
    design = Design.from_json(metadata["maskwell.design"])
    if schema.names != [_COLUMN] or schema.field(0).type != _arrow_type(design):
        raise ReportError(f"{name!r} does not hold one column of {_arrow_type(design)} reports, as its design demands.")
    randomness = metadata.get("maskwell.randomness", "unknown")
    return design, _guarded(_checked_batches(design, raw, randomness), name)


def _checked_batches(design: Design, raw: Iterable[Any], randomness: str) -> Iterator[Reports]:
    """At least one batch, so that even a file without reports says how they were to be drawn."""
    first_row = 0
    for batch in raw:
        yield _from_batch(design, batch, randomness, first_row)
        first_row += len(batch)
    if first_row == 0:
        yield Reports(design, design.plan.empty(0), None, randomness)


def _guarded(batches: Iterator[Reports], name: str) -> Iterator[Reports]:
    with _one_line_errors(name):
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
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise ReportError(f"{name!r} cannot be read: it is truncated, damaged, or no file of reports.") from None


# CSV: the label where a report is one category or row; for a set k characters 0 and 1 in the order of the categories;
# for several variables the packed bytes in hexadecimal.


def _beside(path: str | os.PathLike[str]) -> Path:
    return Path(path).with_suffix(".design.json")


def _texts(design: Design) -> list[str]:
    """The text of every report of a design that stores reports as codes."""

    def text(label: object) -> str:
        if isinstance(label, frozenset):
            return "".join("1" if c in label else "0" for c in design.categories)
        return str(label)

    return [text(label) for label in design.report_labels()]


def _to_texts(design: Design, packed: Packed) -> Any:
    """Packed reports as an Arrow column of text."""
    import pyarrow as pa

    if packed.ndim == 1:
        return pa.array(_texts(design)).take(pa.array(packed))
    if isinstance(design, SubsetDesign):
        characters = np.unpackbits(packed, axis=1, count=design.k, bitorder="little") + np.uint8(ord("0"))
    else:
        nibbles = np.stack([packed >> 4, packed & 15], axis=2).reshape(len(packed), -1)
        characters = np.frombuffer(b"0123456789abcdef", np.uint8)[nibbles]
    width = characters.shape[1]
    return pa.array(np.ascontiguousarray(characters).view(f"S{width}").ravel(), pa.binary()).cast(pa.string())


def _from_texts(design: Design, texts: Any) -> tuple[Packed, Any]:
    """Packed reports of an Arrow column of text without nulls, and which texts are no reports."""
    import pyarrow as pa
    from pyarrow import compute

    empty = design.plan.empty(0)
    if empty.ndim == 1:
        codes = compute.index_in(texts, value_set=pa.array(_texts(design)))
        return codes.fill_null(0).to_numpy(zero_copy_only=False).astype(empty.dtype), codes.is_null()
    sets = isinstance(design, SubsetDesign)
    width, alphabet = (design.k, b"01") if sets else (2 * empty.shape[1], b"0123456789abcdef")
    wrong = compute.not_equal(compute.binary_length(texts), width)
    if compute.any(wrong).as_py() or not len(texts):
        return design.plan.empty(len(texts)), wrong
    raw = texts.cast(pa.binary()).to_numpy(zero_copy_only=False).astype(f"S{width}")
    characters = raw.view(np.uint8).reshape(-1, width)
    value = np.full(256, 255, np.uint8)
    value[np.frombuffer(alphabet, np.uint8)] = np.arange(len(alphabet))
    digits = value[characters]
    packed = np.packbits(digits, axis=1, bitorder="little") if sets else (digits[:, ::2] << 4) | digits[:, 1::2]
    return packed, pa.array((digits == 255).any(axis=1))


def _write_csv(path: Path, design: Design, batches: Iterable[Reports]) -> tuple[int, str]:
    import pyarrow as pa
    from pyarrow import compute, csv

    schema = pa.schema([pa.field(_COLUMN, pa.string())])
    count, kinds = 0, set()
    with csv.CSVWriter(str(path), schema) as writer:
        for batch in batches:
            if batch.design != design:
                raise ReportError("a file holds reports of one design; write the others apart.")
            texts = _to_texts(design, batch.packed)
            if batch.missing is not None:
                texts = compute.if_else(pa.array(batch.missing), None, texts)
            writer.write_batch(pa.record_batch([texts], schema=schema))
            count += len(batch)
            kinds.add(batch.randomness)
    return count, kinds.pop() if len(kinds) == 1 else "mixed"


def _csv_batches(path: str | os.PathLike[str], about: dict[str, Any]) -> Iterator[Reports]:
    """The reports of a CSV; ``about`` is the document beside it, with the design and how many reports there are."""
    import pyarrow as pa
    from pyarrow import compute, csv

    name, design, randomness = Path(path).name, from_document(about), str(about.get("randomness", "unknown"))
    with open(path, "rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(file.tell() - 1, 0))
        if file.read(1) != b"\n":
            raise ReportError(f"{name!r} is truncated: its last line has no end.")
    convert = csv.ConvertOptions(
        column_types={_COLUMN: pa.string()},
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    parse = csv.ParseOptions(ignore_empty_lines=False, newlines_in_values=True)
    reader = csv.open_csv(str(path), convert_options=convert, parse_options=parse)
    if reader.schema.names != [_COLUMN]:
        raise ReportError(f"{name!r} must have one column named {_COLUMN!r}.")
    count = 0
    for batch in reader:
        texts = batch.column(0)
        missing = texts.is_null().to_numpy(zero_copy_only=False) if texts.null_count else None
        present = np.arange(len(texts)) if missing is None else np.flatnonzero(~missing)
        found, wrong = _from_texts(design, texts.drop_null())
        if compute.any(wrong).as_py():
            row = count + int(present[compute.index(wrong, True).as_py()])
            raise ReportError(f"{name!r}: the report in row {row} is none that {design.name} can produce.")
        packed = design.plan.empty(len(texts))
        packed[:] = 0
        packed[present] = found
        yield Reports(design, packed, missing, randomness).check(count)
        count += len(texts)
    if count != about.get("reports", count):
        raise ReportError(f"{name!r} is truncated or changed: it holds {count} reports, not {about['reports']}.")
    if count == 0:
        yield Reports(design, design.plan.empty(0), None, randomness)
