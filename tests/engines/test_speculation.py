"""A speculative task of Spark: a second attempt at a partition masks beside the first, and their reports are the same.

Spark speculates on clusters only, and starts a second attempt on another host than the first. So this is a cluster of a
master and two workers, each with a loopback address of its own.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import maskwell as mw
from tests.engines.sources import DESIGNS, KEYED, PEOPLE, TALLIES, assert_same_reports

pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::ResourceWarning"
)

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "2",
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.1",
    "spark.speculation.minTaskRuntime": "100ms",
    # Executors are processes of their own and find this package as we do.
    "spark.executorEnv.PYTHONPATH": os.pathsep.join(dict.fromkeys(path for path in sys.path if path)),
}


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("cluster")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    with ExitStack() as stack:
        port = _free_port()
        stack.callback(_stop, _start("master.Master", "127.0.0.1", folder, "--port", str(port)))
        _wait_for(port)
        for host in ("127.0.0.2", "127.0.0.3"):
            options = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / host))
            stack.callback(_stop, _start("worker.Worker", host, folder, *options, f"spark://127.0.0.1:{port}"))
        session = SparkSession.builder.master(f"spark://127.0.0.1:{port}").config(map=SETTINGS).getOrCreate()
        stack.callback(session.stop)
        session.sparkContext.setLogLevel("OFF")
        yield session


def _start(what: str, host: str, folder: Path, *options: str) -> subprocess.Popen[bytes]:
    import pyspark

    home = Path(pyspark.__file__).parent
    command = [home / "bin" / "spark-class", f"org.apache.spark.deploy.{what}", "--host", host, "--webui-port", "0"]
    with (folder / f"{host}.log").open("wb") as log:
        return subprocess.Popen(
            [*map(str, command), *options],
            env=os.environ | {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": host},
            stdout=log,
            stderr=log,
        )


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait_for(port: int) -> None:
    for _ in range(600):
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError("the master did not start")


def test_two_attempts_that_race_give_the_same_reports(spark: Any, tmp_path: Path) -> None:
    """The first attempt at partition 1 writes down its reports and then waits for another, which overtakes it."""
    masked = mw.engines.mask(spark.createDataFrame(PEOPLE).repartition(4), DESIGNS, **KEYED)
    folder = str(tmp_path)

    def written_down(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        attempt = context.attemptNumber()
        if context.partitionId() != 1:
            yield from batches
            return
        table = pa.Table.from_batches(list(batches))
        with pa.OSFile(f"{folder}/{attempt}.part", "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
        os.rename(f"{folder}/{attempt}.part", f"{folder}/{attempt}.arrow")
        other = f"{folder}/{1 - attempt}.arrow"
        for _ in range(1200):
            if os.path.exists(other):
                break
            time.sleep(0.1)
        if attempt == 0:
            time.sleep(20)  # or until Spark ends it
        yield from table.to_batches()

    assert_same_reports(masked.mapInArrow(written_down, masked.schema).toArrow())
    first, second = (_by_person(tmp_path / f"{attempt}.arrow") for attempt in (0, 1))
    assert first.num_rows > 1000
    assert first.equals(second)
    assert mw.engines.tally(masked, DESIGNS) == TALLIES


def _by_person(path: Path) -> pa.Table:
    with pa.OSFile(str(path)) as file:
        table = pa.ipc.open_file(file).read_all()
    return table.take(np.argsort(table["person"].to_numpy()))
