"""Arrow and Parquet files that say what they hold and end with a stamp: opened by their metadata, read in batches.

The stamp comes last, so a file or a stream that was cut has none. Parquet adds it to the file's metadata; in Arrow it
comes with a last batch that has no rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from maskwell.errors import MaskwellError, ReportError
from maskwell.input_files import require_regular

PREFIX = "maskwell."
PARQUET, ARROW = ".parquet", ".arrow"

Stamp = Callable[[], Mapping[str, str]]
"""What the file is stamped with, asked for after its last batch."""


@dataclass(frozen=True)
class Container:
    """An open file: our metadata, the columns, and batches of so many rows, if it can choose, each with a stamp."""

    name: str
    metadata: dict[str, str]
    schema: Any
    raw: Callable[[int, Sequence[str] | None], Iterable[tuple[Any, Any]]]
    rows: int | None = None

    def batches(self, rows: int, stamp: dict[str, str], columns: Sequence[str] | None = None) -> Iterator[Any]:
        """Batches of at most ``rows`` rows; the stamp is put into ``stamp`` where it comes with the last one."""
        for batch, own in self.raw(rows, columns):
            stamp.update(own_metadata(own))
            for start in range(0, len(batch), rows):
                yield batch.slice(start, rows)


def open_container(path: str | os.PathLike[str]) -> Container:
    """Open an Arrow or Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    name = Path(path).name
    require_regular(path, ReportError)
    if Path(path).suffix.lower() in (PARQUET, ".pq"):
        file = pq.ParquetFile(path, pre_buffer=False)
        return Container(
            name,
            own_metadata(file.metadata.metadata),
            file.schema_arrow,
            lambda rows, columns: ((batch, None) for batch in file.iter_batches(batch_size=rows, columns=columns)),
            file.metadata.num_rows,
        )
    reader = pa.ipc.open_file(pa.memory_map(str(path)))
    numbered = range(reader.num_record_batches)
    return Container(
        name,
        own_metadata(reader.schema.metadata),
        reader.schema,
        lambda rows, columns: (_selected(reader.get_batch_with_custom_metadata(i), columns) for i in numbered),
    )


def open_stream(source: Any, name: str) -> Container:
    """Open an Arrow stream, which must end where its batches do."""
    import pyarrow as pa

    reader = pa.ipc.open_stream(source)

    def raw(rows: int, columns: Sequence[str] | None) -> Iterator[tuple[Any, Any]]:
        for batch in reader.iter_batches_with_custom_metadata():
            yield _selected(batch, columns)
        if source.read(1):
            raise ReportError(f"{name!r} goes on after the end of its reports; give one stream at a time, or files.")

    return Container(name, own_metadata(reader.schema.metadata), reader.schema, raw)


def _selected(pair: tuple[Any, Any], columns: Sequence[str] | None) -> tuple[Any, Any]:
    batch, own = pair
    return (batch if columns is None else batch.select(list(columns))), own


def own_metadata(metadata: Any) -> dict[str, str]:
    """The metadata that are ours."""
    found = {bytes(key).decode(): bytes(value).decode() for key, value in (metadata or {}).items()}
    return {key: value for key, value in found.items() if key.startswith("maskwell")}


def prefixed(stamp: Mapping[str, str]) -> dict[str, str]:
    """A stamp under the names that it has among the metadata."""
    return {f"{PREFIX}{key}": value for key, value in stamp.items()}


def write_parquet(
    file: BinaryIO, schema: Any, batches: Iterable[Any], stamp: Stamp, dictionaries: bool | list[str] = True
) -> None:
    """Write batches of a schema, then the stamp; ``dictionaries`` are the columns in which values repeat."""
    import pyarrow.parquet as pq

    with pq.ParquetWriter(file, schema, use_dictionary=dictionaries) as writer:
        for batch in batches:
            writer.write_batch(batch)
        writer.add_key_value_metadata(prefixed(stamp()))


def write_arrow(file: Any, schema: Any, batches: Iterable[Any], stamp: Stamp, *, stream: bool = False) -> None:
    """The same as an Arrow file, or as a stream for pipes."""
    import pyarrow as pa

    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(file, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
        nothing = pa.RecordBatch.from_pylist([], schema=schema)
        writer.write_batch(nothing, custom_metadata=prefixed(stamp()))


def _instead(name: str, missing: str) -> str:
    """What to do about a .csv file that is there without its design, or is looked for in vain."""
    if Path(name).suffix.lower() != ".csv":
        return ""
    if missing == name:
        return "; a .csv of reports stands beside its .design.json"
    return (
        f"; a .csv of reports needs its .design.json beside it. If {name!r} is a file of data with reports that people "
        "drew by hand, read it with maskwell reports first"
    )


@contextmanager
def one_line_errors(name: str) -> Iterator[None]:
    """What Arrow and the system say about a file, in one line that shows no cell."""
    import pyarrow as pa

    try:
        yield
    except MaskwellError:
        raise
    except FileNotFoundError as error:
        missing = Path(error.filename).name if error.filename else name
        raise ReportError(f"{missing!r} was not found{_instead(name, missing)}.") from None
    except (pa.ArrowException, OSError, UnicodeDecodeError, MemoryError, OverflowError):
        raise ReportError(f"{name!r} cannot be read: it is truncated, damaged, or no file of reports.") from None
