"""Engines: one input on each of them beside the kernel, and Parquet files masked beside reading and writing them.

``python -m bench engines`` is the whole: 10 M rows on every engine, and files of 1 M, 10 M and 100 M rows (about 1.5 GB
of temporary disk). Every work is a fresh process. Reports must be the kernel's bit for bit, or the part fails.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.frame import Bench, Goal, Measured, Ratio, Row, Work
from bench.frame.stages import Stage

TITLE = "Engines and large files"
ABOUT = (
    "One input, keyed, on every engine: k-ary response over 10 categories, the id kept beside the report. An engine's "
    "time is that of reading its own kind of source, masking, and consuming what comes out; all reports are the "
    "kernel's bit for bit. Files are Parquet with a 64-bit id and an answer of one byte; the floor reads and writes "
    "the same columns without masking or checksum, with the same settings."
)
LIMIT = 1800.0

SIZES = (1_000_000, 10_000_000, 100_000_000)
ROWS = 10_000_000
KEY, SURVEY, COLUMN = bytes(range(32)), "bench", "answer"
_BATCH = 1 << 20


def design() -> Any:
    """The design of all of this."""
    import maskwell as mw

    return mw.designs.gamma_diagonal(10, epsilon=1.0)


def keyed() -> dict[str, Any]:
    """How every engine is asked."""
    return {"id": "id", "key": KEY, "survey": SURVEY, "keep": ["id"]}


def write_input(path: Path, rows: int) -> None:
    """Ids that rise, and answers."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(3)
    schema = pa.schema([("id", pa.int64()), (COLUMN, pa.int8())])
    with pq.ParquetWriter(path, schema, use_dictionary=[COLUMN]) as writer:
        for start in range(0, rows, _BATCH):
            n = min(_BATCH, rows - start)
            columns = [np.arange(start, start + n), rng.integers(0, 10, n).astype(np.int8)]
            writer.write_batch(pa.record_batch([pa.array(c) for c in columns], schema=schema))


def read_and_write(source: str, target: str) -> None:
    """The floor of a file: the same columns through the same reader and writer."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(source, pre_buffer=False)
    with pq.ParquetWriter(target, file.schema_arrow, use_dictionary=[COLUMN]) as writer:
        for batch in file.iter_batches(batch_size=1 << 17):
            writer.write_batch(batch)


def file_floor(source: str, folder: str, rows: int) -> Iterator[Stage]:
    """Reading and writing."""
    yield Stage("copy", rows, lambda: read_and_write(source, f"{folder}/copy.parquet"), warm=False)


def file_masking(source: str, folder: str, rows: int) -> Iterator[Stage]:
    """Masking a file into another, and counting that."""
    import maskwell as mw

    designs, target = {COLUMN: design()}, f"{folder}/masked.parquet"
    masking = mw.engines.Masking(designs, **keyed())
    _load_kernels(source)
    yield Stage("mask", rows, lambda: _rows(mw.engines.mask_file(source, target, masking).rows), warm=False)
    yield Stage("tally", rows, lambda: _rows(mw.engines.tally(target, designs)[COLUMN].n), warm=False)


def _rows(rows: int) -> dict[str, float]:
    return {"rows": rows}


def _table(source: str) -> Any:
    import pyarrow.parquet as pq

    return pq.read_table(source)


def _load_kernels(source: str) -> None:
    """Mask and count the first rows, and read no more: the memory of a whole table would count for what follows."""
    import pyarrow.parquet as pq

    import maskwell as mw

    designs = {COLUMN: design()}
    first = next(pq.ParquetFile(source, pre_buffer=False).iter_batches(batch_size=1000))
    mw.engines.tally(mw.engines.mask(first, designs, **keyed()), designs)


def on_engine(engine: str, source: str, folder: str, rows: int) -> Iterator[Stage]:
    """Masking on one engine; then, not timed by anyone, what its reports and tallies are."""
    import maskwell as mw

    _load_kernels(source)
    consume, masked = _SETUPS[engine](source, folder)
    yield Stage("mask", rows, consume)

    def check() -> dict[str, float]:
        found = masked()
        tally = mw.engines.tally(found, {COLUMN: design()})[COLUMN]
        counted = int((tally.counts.ravel() * np.arange(1, tally.counts.size + 1)).sum())
        return {"sum": check_sum(_arrow(found)), "tally": counted}

    yield Stage("check", rows, check, warm=False)


def _arrow(found: Any) -> Any:
    """Any kind of masked source as an Arrow table."""
    if hasattr(found, "collect_schema"):
        return found.lazy().collect().to_arrow()
    return next(
        (getattr(found, how)() for how in ("read_all", "toArrow", "to_arrow_table") if hasattr(found, how)), found
    )


def check_sum(table: Any) -> int:
    """A number that depends on every pair of id and report, and not on their order."""
    ids, reports = (table[name].to_numpy().astype(np.uint64) for name in ("id", COLUMN))
    mixed = (ids * np.uint64(16) + reports + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    return int((mixed ^ (mixed >> np.uint64(29))).sum(dtype=np.uint64) >> np.uint64(12))


Setup = tuple[Callable[[], object], Callable[[], Any]]


def _kernel(source: str, folder: str) -> Setup:
    import pyarrow as pa

    table, own = _table(source), design()
    ids, answers = table["id"].to_numpy(), table[COLUMN].to_numpy()

    def consume() -> Any:
        return own.mask(answers, key=KEY, ids=ids, question=f"{SURVEY}/{COLUMN}")

    return consume, lambda: pa.table({"id": ids, COLUMN: consume().packed})


def _arrow_table(source: str, folder: str) -> Setup:
    import maskwell as mw

    table, designs = _table(source), {COLUMN: design()}
    return (lambda: mw.engines.mask(table, designs, **keyed())), (lambda: mw.engines.mask(table, designs, **keyed()))


def _files(source: str, folder: str) -> Setup:
    import maskwell as mw

    designs = {COLUMN: design()}

    def consume() -> int:
        return sum(map(len, mw.engines.mask(source, designs, **keyed())))

    return consume, lambda: mw.engines.mask(source, designs, **keyed()).read_all()


def _polars(source: str, folder: str) -> Setup:
    import polars as pl

    import maskwell as mw

    frame, designs = pl.read_parquet(source), {COLUMN: design()}
    return (lambda: mw.engines.mask(frame, designs, **keyed())), (lambda: mw.engines.mask(frame, designs, **keyed()))


def _polars_lazy(source: str, folder: str) -> Setup:
    import polars as pl

    import maskwell as mw

    lazy = mw.engines.mask(pl.scan_parquet(source), {COLUMN: design()}, **keyed())
    return (lambda: lazy.collect(engine="streaming")), (lambda: lazy)


def _duckdb_relation(source: str, folder: str) -> Setup:
    import duckdb

    import maskwell as mw

    relation = mw.engines.mask(duckdb.connect().read_parquet(source), {COLUMN: design()}, **keyed())
    return relation.to_arrow_table, lambda: relation


def _duckdb_function(source: str, folder: str) -> Setup:
    import duckdb

    import maskwell as mw

    connection = duckdb.connect()
    mw.engines.duckdb_function(
        connection, "masked", design(), key=KEY, survey=SURVEY, column=COLUMN, value_type="TINYINT"
    )
    query = f"select id, masked(id, {COLUMN}) as {COLUMN} from read_parquet('{source}')"
    return (lambda: connection.sql(query).to_arrow_table()), (lambda: connection.sql(query))


def _spark(source: str, folder: str) -> Setup:
    from pyspark.sql import SparkSession

    import maskwell as mw

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.memory", "3g").config("spark.local.dir", folder).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    masked = mw.engines.mask(spark.read.parquet(source), {COLUMN: design()}, **keyed())

    def consume() -> None:
        masked.write.format("noop").mode("overwrite").save()

    def written() -> Any:
        import pyarrow.parquet as pq

        target = f"{folder}/spark"
        masked.write.mode("overwrite").parquet(target)
        return pq.read_table(target)

    return consume, written


_SETUPS: dict[str, Callable[[str, str], Setup]] = {
    "kernel": _kernel,
    "Arrow table": _arrow_table,
    "files": _files,
    "Polars": _polars,
    "Polars, lazy and streaming": _polars_lazy,
    "DuckDB relation": _duckdb_relation,
    "DuckDB function": _duckdb_function,
    "Spark local[2]": _spark,
}


def measure(bench: Bench) -> Iterator[Row]:
    """Engines beside the kernel, then files of growing size beside their floor."""
    with tempfile.TemporaryDirectory() as folder:
        yield from _engine_rows(bench, Path(folder), ROWS // 10 if bench.quick else ROWS)
        yield from _file_rows(bench, Path(folder), tuple(size // 20 for size in SIZES) if bench.quick else SIZES)


def _engine_rows(bench: Bench, folder: Path, rows: int) -> Iterator[Row]:
    source = folder / "input.parquet"
    write_input(source, rows)
    works = {
        name: Work(
            "bench.engines:on_engine", {"engine": name, "source": str(source), "folder": str(folder), "rows": rows}
        )
        for name in _SETUPS
    }
    found = bench.alternate(works, rounds=3)
    kernel = found["kernel"]
    for name, stages in found.items():
        if stages["check"].facts != kernel["check"].facts:
            raise RuntimeError(f"{name} gives other reports or tallies than the kernel")
        beside = "" if name == "kernel" else "the kernel's time"
        ratio = None if name == "kernel" else _times(stages["mask"], kernel["mask"])
        yield stages["mask"].time_row(f"{name}, {rows:,} rows", ratio, beside)


def _file_rows(bench: Bench, folder: Path, sizes: tuple[int, ...]) -> Iterator[Row]:
    first: Measured | None = None
    for rows in sizes:
        source = folder / "input.parquet"
        write_input(source, rows)
        arguments = {"source": str(source), "folder": str(folder), "rows": rows}
        works = {name: Work(f"bench.engines:{name}", arguments) for name in ("file_floor", "file_masking")}
        found = bench.alternate(works, rounds=3)
        copy, mask, tally = found["file_floor"]["copy"], *(found["file_masking"][s] for s in ("mask", "tally"))
        first = first or mask
        last = rows == sizes[-1]
        yield copy.time_row(f"read and write a file of {rows:,} rows")
        goal = Goal(at_most=1.3) if last else None
        yield mask.time_row("  read, mask, seal and write it", _times(mask, copy), "reading and writing", goal)
        growth = _times_of_first(mask, first)
        yield mask.time_row(
            "  the same beside the smallest file", growth, "its time a row", Goal(at_most=1.25) if last else None
        )
        yield tally.time_row("  check and tally the reports", _times(tally, copy), "reading and writing")
        peak = max(mask.peak_mib or 0, tally.peak_mib or 0)
        yield Row("  peak memory of both", Ratio.of([peak]), "MiB", goal=Goal(at_most=512) if last else None)


def _times(mine: Measured, other: Measured) -> Ratio:
    """How many times as long, round by round."""
    return Ratio.of([a / b for a, b in zip(mine.seconds, other.seconds, strict=True)])


def _times_of_first(mine: Measured, first: Measured) -> Ratio:
    """How many times as long a row takes; the sizes are measured one after the other, so the rounds are no pairs."""
    return Ratio.of([s / mine.records * first.records / min(first.seconds) for s in mine.seconds])
