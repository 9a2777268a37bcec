"""A Spark cluster whose workers are killed while they mask: do the reports and tallies stay the same?"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import maskwell as mw
from tests.engines.sources import DESIGNS, KEY, KEYED, people
from tests.evidence.record import Result, Size, Table

MASTER = "local-cluster[2,1,1024]"
ROWS: dict[Size, int] = {"reduced": 20_000, "full": 200_000}
PARTITIONS = 6
CASES = ("nothing is killed", "a Python worker is killed", "an executor is killed")


def run(size: Size) -> Result:
    """Mask and count under each kind of failure, beside the kernel alone."""
    table = people(ROWS[size])
    order = np.argsort(table["person"].to_numpy())
    reports = {
        name: design.mask(table[name], key=KEY, ids=table["person"], question=f"health 2026/{name}")
        for name, design in DESIGNS.items()
    }
    expected = {name: own.to_arrow()["report"].take(order).to_pylist() for name, own in reports.items()}
    tallies = {name: own.tally() for name, own in reports.items()}
    rows: list[tuple[str, int, str, str]] = []
    failures: list[str] = []
    spark = _session()
    try:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "people"
            spark.createDataFrame(table).repartition(PARTITIONS).write.parquet(str(source))
            for case in CASES:
                masked = mw.engines.mask(spark.read.parquet(str(source)).repartition(PARTITIONS), DESIGNS, **KEYED)
                marks = Path(folder) / case.replace(" ", "-")
                marks.mkdir()
                hurt = masked.mapInArrow(_killer(case, str(marks)), masked.schema)
                found = hurt.toArrow()
                found = found.take(np.argsort(found["person"].to_numpy()))
                same = all(found[name].to_pylist() == cells for name, cells in expected.items())
                killed = len(list(marks.iterdir()))
                for mark in marks.iterdir():  # the tally is counted under the same failure again
                    mark.unlink()
                counted = mw.engines.tally(hurt, DESIGNS) == tallies
                killed += len(list(marks.iterdir()))
                rows.append((case, killed, "identical" if same else "other", "identical" if counted else "other"))
                if not (same and counted):
                    failures.append(f"{case}: reports or tallies differ from the kernel's")
                if bool(killed) != (case != CASES[0]):
                    failures.append(f"{case}: {killed} processes were killed")
    finally:
        spark.stop()
    return Result(
        name="spark_failures",
        title="Masking on a Spark cluster whose processes are killed",
        question=f"Three columns of {len(table):,} people are masked with a key on Spark's {MASTER}, in {PARTITIONS} "
        "partitions. Processes are ended by SIGKILL while a partition is being masked, and Spark runs it again "
        "elsewhere. Are the reports and the tallies those of the kernel without Spark?",
        criterion="Every report and every count identical, and a process was killed in each case that says so.",
        sizes={"people": len(table), "partitions": PARTITIONS, "columns": len(DESIGNS)},
        findings=[
            f"{sum(row[1] for row in rows)} processes killed; reports and tallies identical in "
            f"{sum(row[2:] == ('identical', 'identical') for row in rows)} of {len(rows)} cases."
        ],
        tables=[Table("By what is killed", ("case", "killed", "reports", "tallies"), rows)],
        failures=failures,
    )


def _session() -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    # Executors are processes of their own and find this package as we do.
    paths = os.pathsep.join(dict.fromkeys(path for path in sys.path if path))
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "1024m",
        "spark.executorEnv.PYTHONPATH": paths,
        "spark.task.maxFailures": "8",
    }
    builder = SparkSession.builder.master(MASTER)
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def _killer(case: str, marks: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Passes batches on; on the first attempt at one partition it ends a process once something was masked."""

    def kill_once(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        mark = f"{marks}/{context.partitionId()}"
        chosen = case != CASES[0] and context.partitionId() == 1 and not os.path.exists(mark)
        for batch in batches:
            yield batch
            if chosen:
                open(mark, "w").close()
                os.kill(os.getpid() if case == CASES[1] else _executor(), signal.SIGKILL)

    return kill_once


def _executor() -> int:
    """The executor that runs this worker: an ancestor of it, and nothing else."""
    process = os.getpid()
    while process > 1:
        if b"CoarseGrainedExecutorBackend" in Path(f"/proc/{process}/cmdline").read_bytes():
            return process
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    raise RuntimeError("no executor above this process")
