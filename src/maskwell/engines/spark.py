"""Spark: ``mapInArrow`` masks in the workers, and tallies are combined there; needs ``maskwell[spark]`` and Java.

The workers need Maskwell too. The key travels to them in the pickled function, as all of a task's code does; it is in
no plan, log or event of Spark.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

from maskwell.engines.contract import Counting, Masking, Tallies, require_columns
from maskwell.engines.part_engines import Task, run_task
from maskwell.errors import DataError, MaskwellError
from maskwell.extras import require
from maskwell.reports.arrow_columns import arrow_type
from maskwell.reports.tally import Tally
from maskwell.sampling.ids.column import refuse_missing_ids, require_id_type

_MERGED_BY_DRIVER = 8
_TALLIES = "column string, tally string"


def accepts(source: Any) -> bool:
    """Whether this is a frame of Spark, classic or by Spark Connect."""
    kind = type(source)
    return kind.__module__.startswith("pyspark.sql.") and kind.__name__ == "DataFrame"


def mask(source: Any, masking: Masking) -> Any:
    """A frame of masked columns, evaluated when Spark likes."""
    from pyspark.sql.types import StructField, StructType

    masking.require_keyed("Spark")
    require_columns(masking.needed, source.columns)
    kept = [source.schema[name] for name in masking.keep]
    reports = [StructField(name, _spark_type(design)) for name, design in masking.designs.items()]
    return source.select(*map(_quoted, masking.needed)).mapInArrow(_masker(masking), StructType([*kept, *reports]))


def _masker(masking: Masking) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def mask_partition(batches: Iterable[Any]) -> Iterator[Any]:
        return (_widened(masking(batch)) for batch in batches)

    return mask_partition


def _widened(batch: Any) -> Any:
    """Spark has no unsigned numbers and no bytes of fixed width."""
    import pyarrow as pa

    return batch.cast(pa.schema([pa.field(field.name, _wide(field.type)) for field in batch.schema]))


def _wide(kind: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    if not pa.types.is_unsigned_integer(kind):
        return kind
    return {8: pa.int16(), 16: pa.int32()}.get(kind.bit_width, pa.int64())


def _spark_type(design: Any) -> Any:
    from pyspark.sql.pandas.types import from_arrow_type

    return from_arrow_type(_wide(arrow_type(design)))


def tally(source: Any, counting: Counting) -> Tallies:
    """The tallies of a frame: one row of counts for each partition and column, merged in workers where there are many.

    Spark takes the result of one attempt of a task, so that no retry is counted twice.
    """
    require_columns(list(counting.designs), source.columns)
    counted = source.select(*map(_quoted, counting.designs)).mapInArrow(_counter(counting), _TALLIES)
    parts = counted.rdd.getNumPartitions() if hasattr(counted, "rdd") else 1
    if parts > _MERGED_BY_DRIVER:
        counted = counted.repartition(math.isqrt(parts)).mapInArrow(_merger(), _TALLIES)
    found = _by_column((row["column"], row["tally"]) for row in counted.collect())
    return {name: found[name] if name in found else Tally.of(counting.nothing(name)) for name in counting.designs}


def _counter(counting: Counting) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def count_partition(batches: Iterable[Any]) -> Iterator[Any]:
        yield _rows(counting.total(map(counting, batches)))

    return count_partition


def _merger() -> Callable[[Iterable[Any]], Iterator[Any]]:
    def merge_partition(batches: Iterable[Any]) -> Iterator[Any]:
        pairs = (pair for batch in batches for pair in zip(*batch.to_pydict().values(), strict=True))
        yield _rows(_by_column(pairs))

    return merge_partition


def _rows(tallies: Tallies) -> Any:
    import pyarrow as pa

    texts = [tally.to_json() for tally in tallies.values()]
    return pa.record_batch([pa.array(list(tallies), pa.string()), pa.array(texts, pa.string())], ["column", "tally"])


def _by_column(pairs: Iterable[tuple[str, str]]) -> Tallies:
    total: Tallies = {}
    for name, text in pairs:
        part = Tally.from_json(text)
        total[name] = Tally.added([total[name], part]) if name in total else part
    return total


def run_tasks(tasks: Sequence[Task], look: Callable[[], None]) -> list[int]:
    """Each file masked by a worker, as a task of Spark; all workers see the same folders. ``look`` is called meanwhile.

    Two attempts at one file move the same part into place. An error about the data comes back as it is, in one line: to
    try such a file again would not help.
    """
    if not tasks:
        return []
    context = session().sparkContext
    pieces = context.parallelize([replace(task, engine="arrow") for task in tasks], len(tasks))
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(lambda: pieces.map(_tried).collect())
        while not wait([result], timeout=0.5).done:
            look()
    try:
        outcomes: list[int | MaskwellError] = result.result()
    except Exception as error:
        raise DataError(
            f"Spark could not finish ({type(error).__name__}), and says why in its log. Parts that are there are "
            "whole: the same request again makes the others."
        ) from error
    for outcome in outcomes:
        if isinstance(outcome, MaskwellError):
            raise outcome
    return [outcome for outcome in outcomes if isinstance(outcome, int)]


def _tried(task: Task) -> int | MaskwellError:
    try:
        return run_task(task)
    except MaskwellError as error:
        return type(error)(str(error), error.parameter)


def session() -> Any:
    """The running session, or one as the environment sets it up; on this machine if it says nothing."""
    require("Spark, which runs on Java 17, needs", "pyspark")
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return SparkSession.builder.appName("maskwell").getOrCreate()


def repeated_ids(source: Any, name: str) -> int:
    """How many ids of a column repeat another, counted by Spark."""
    require_columns([name], source.columns)
    from pyspark.sql.pandas.types import to_arrow_type

    ids = source.select(_quoted(name))
    require_id_type(to_arrow_type(source.schema[name].dataType), name)
    refuse_missing_ids(ids.where(f"{_quoted(name)} is null or cast({_quoted(name)} as string) = ''").count(), name)
    return int(ids.count() - ids.distinct().count())


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
