"""One file into one part: who reads and masks it, and the sealed file that comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from maskwell.advice import Advice, parts_of
from maskwell.engines import arrow, duckdb, polars
from maskwell.engines.contract import Masking
from maskwell.errors import DataError, MaskwellError
from maskwell.extras import require
from maskwell.microdata.files import ARROW, PARQUET
from maskwell.reports.table_files import of_run, write_table
from maskwell.sampling.ids.blocks import RepeatedIdsError
from maskwell.sampling.ids.seen import SeenIds
from maskwell.tables.files import open_columns
from maskwell.tables.partitions import values_of

PART_ENGINES = ("arrow", "polars", "duckdb")
_ERRORS_OF = ("polars", "duckdb", "_duckdb")


@dataclass(frozen=True, eq=False)
class Task:
    """A file, the part that it becomes, and how."""

    source: Path
    target: Path
    masking: Masking
    engine: str
    text: dict[str, str | None]
    may_be_empty: bool = False
    run: str = ""


def run_task(task: Task, seen: SeenIds | None = None, show: Callable[[float], None] = lambda share: None) -> int:
    """Mask a file into its part and say how many rows it has; ``seen`` are the ids of other parts."""
    masking = task.masking
    if task.engine == "arrow":
        batches = _one_ahead(_by_arrow(task, seen, show))
    else:
        require(f"The engine {task.engine} needs", task.engine)
        batches = _by_engine(task)
    batches = _named(batches, task.source.name)
    first = next(batches, None)
    if first is None:
        first = _no_rows(task)
    schema = first.schema.with_metadata(of_run(masking.metadata, task.run))
    single = [masking.id] if masking.id in masking.keep else []
    return write_table(task.target, schema, chain([first], batches), single)


def _no_rows(task: Task) -> Any:
    """What a file without rows becomes, as one of many; by itself it is a mistake."""
    import pyarrow as pa

    if not task.may_be_empty:
        raise DataError(f"{task.source.name!r} has no rows; there is nothing to mask.")
    with open_columns(task.source, task.masking.needed, **task.text) as table:
        schema = task.masking.schema(table.schema)
    return pa.RecordBatch.from_pylist([], schema)


def _named(batches: Iterator[Any], name: str) -> Iterator[Any]:
    """The same batches; an error about a column says in which file."""
    try:
        yield from batches
    except RepeatedIdsError:
        raise
    except DataError as error:
        if error.message.startswith(repr(name)):
            raise
        raise type(error)(Advice(f"{name!r}, ", *parts_of(error.message)), error.parameter) from None


def _one_ahead(batches: Iterator[Any]) -> Iterator[Any]:
    """The same batches; while one is being written, another thread reads and masks the next."""
    with ThreadPoolExecutor(1) as pool:
        upcoming = pool.submit(next, batches, None)
        while (batch := upcoming.result()) is not None:
            upcoming = pool.submit(next, batches, None)
            yield batch


def _by_arrow(task: Task, seen: SeenIds | None, show: Callable[[float], None]) -> Iterator[Any]:
    with open_columns(task.source, task.masking.needed, **task.text) as table:

        def read() -> Iterator[Any]:
            for batch in table.batches:
                yield batch
                show(table.done() / table.total if table.total else 0)

        yield from arrow.mask_batches(read(), task.masking, seen, in_file=True)
    if seen is not None:
        arrow.refuse_marked(seen, task.masking)


def _by_engine(task: Task) -> Iterator[Any]:
    """Polars or DuckDB; reports in their own types again."""
    suffix = task.source.suffix.lower()
    if suffix not in ARROW:
        raise DataError(
            f"{task.source.name!r}: the engine {task.engine} reads Parquet and Arrow; use the engine arrow."
        )
    if told := [name for name in task.masking.needed if name in values_of(task.source)]:
        raise DataError(
            f"{task.source.name!r}: the engine {task.engine} does not read {told[0]!r} from the names of folders; use "
            "the engine arrow or spark."
        )
    module = polars if task.engine == "polars" else duckdb
    heard: list[MaskwellError] = []
    masking = task.masking.heard_by(heard.append)
    try:
        for batch in module.read_and_mask(task.source, masking, parquet=suffix in PARQUET):
            yield masking.narrowed(batch)
    except Exception as error:
        if heard:
            raise heard[0] from None
        if type(error).__module__.partition(".")[0] not in _ERRORS_OF:
            raise
        # Its message may quote cells.
        raise DataError(
            f"{task.source.name!r} cannot be read by {task.engine} ({type(error).__name__}): it is damaged, another "
            "kind of file, or has a column that the engine does not know; try the engine arrow."
        ) from None
