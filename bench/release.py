"""Releases: five keys of a file as large as a census sample, from table to table and from file to file."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from bench.frame import Bench, Ratio, Row, Work
from bench.frame.stages import Stage
from bench.risk import KEYS, SHAPE, table
from maskwell.microdata import read, write
from maskwell.release import limit_identification
from maskwell.release.identification.blocks.forming import DEFAULT_SIZE, DEFAULT_WAY, WHOLE

TITLE = "Releasing a file"
ABOUT = "Five keys moved under ξ = 0.5 within the values of one of them, with the audit, on a made file with labels."
LIMIT = 180.0
XI, WITHIN = 0.5, {KEYS[3]: None}


def arrow(n: int) -> pa.Table:
    """The records of the risk bench as labels, with two columns beside the keys."""
    labels = {
        name: pa.DictionaryArray.from_arrays(codes.astype(np.int32), [f"{name} is {i}" for i in range(size)])
        for (name, codes), size in zip(table(n).items(), SHAPE, strict=True)
    }
    return pa.table(labels | {"person": np.arange(n), "income": np.sqrt(np.arange(n))})


def in_memory(n: int, blocks: str) -> Iterator[Stage]:
    """From a table of ``n`` records to the released table with its audit."""
    limit_identification(arrow(10_000), KEYS, XI, WITHIN, merge="merge", blocks=blocks)  # compiles the kernels
    data = arrow(n)

    def run() -> dict[str, float]:
        release = limit_identification(data, KEYS, XI, WITHIN, merge="merge", blocks=blocks)
        return {"holds": release.audit.holds, "table_mib": data.nbytes / 2**20}

    yield Stage("release", n, run, warm=False)


def from_files(n: int, suffixes: list[str]) -> Iterator[Stage]:
    """From file to released file."""
    keys, within = [key.replace(" ", "_") for key in KEYS], {KEYS[3].replace(" ", "_"): None}
    made = arrow(n)
    named = made.rename_columns([name.replace(" ", "_") for name in made.column_names])
    with tempfile.TemporaryDirectory() as folder:
        for suffix in suffixes:
            source, target = (Path(folder) / f"{name}{suffix}" for name in ("persons", "released"))
            write(named, source)

            def run(source: Path = source, target: Path = target) -> None:
                data = read(source)
                release = limit_identification(data.table, keys, XI, within, merge="merge", blocks=WHOLE)
                write(data.with_table(release.table), target)

            yield Stage(suffix, n, run, warm=False)


def measure(bench: Bench) -> Iterator[Row]:
    """Growth in n, memory, the default blocks, and four formats."""
    n = 100_000 if bench.quick else 1_000_000
    sizes = (n, 5 * n)
    works = {str(size): Work("bench.release:in_memory", {"n": size, "blocks": WHOLE}) for size in sizes}
    found = {size: stages["release"] for size, stages in bench.alternate(works, rounds=3).items()}
    first = found[str(n)]
    for size in sizes:
        stage = found[str(size)]
        ratio = first.faster_than(stage)
        yield stage.time_row(f"release of 5 keys, n = {size:,}", ratio, "the first a record", a_record=False)
    if first.added_mib is not None:
        ratio = Ratio.of([first.added_mib / first.facts["table_mib"]])
        yield Row(f"its memory beyond the table, n = {n:,}", Ratio.of([first.added_mib]), "MiB", ratio, "the table")
    blocks = bench.alone(Work("bench.release:in_memory", {"n": n, "blocks": DEFAULT_WAY}), rounds=1)["release"]
    yield blocks.time_row(f"in look-alike blocks of {DEFAULT_SIZE} cells, n = {n:,}", a_record=False)
    formats = Work("bench.release:from_files", {"n": n, "suffixes": [".parquet", ".csv", ".dta", ".sav"]})
    for suffix, stage in bench.alone(formats, rounds=1).items():
        yield stage.time_row(f"from {suffix} to {suffix}, n = {n:,}", a_record=False)
