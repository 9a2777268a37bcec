"""Spark: the kernel's reports bit for bit, whoever evaluates a partition, however often; the key is in no text."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import maskwell as mw
from maskwell.engines import spark as engine
from tests.engines.sources import DESIGNS, KEYED, PEOPLE, TALLIES, assert_same_reports, shows_key

# pandas 3 says this inside PySpark, which tests would turn into an error.
pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::ResourceWarning"
)


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Spark logs what it does."""
    return tmp_path_factory.mktemp("events")


@pytest.fixture(scope="module")
def spark(events: Path) -> Iterator[Any]:
    """A session with two threads, which tries a failed task again; only a cluster speculates (test_speculation.py)."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
    }
    builder = SparkSession.builder.master("local[2,4]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def people(spark: Any) -> Any:
    return spark.createDataFrame(PEOPLE).repartition(2)


def test_a_spark_frame_is_masked_and_counted_by_its_workers(people: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    masked = mw.engines.mask(people, DESIGNS, **KEYED)
    assert_same_reports(masked.toArrow())
    assert mw.engines.tally(masked, DESIGNS) == TALLIES
    monkeypatch.setattr(engine, "_MERGED_BY_DRIVER", 1)  # the workers merge too
    assert mw.engines.tally(masked, DESIGNS) == TALLIES
    assert mw.engines.tally(masked.limit(0), DESIGNS)["habit"].n == 0
    assert mw.engines.repeated_ids(people, "person") == 0
    assert mw.engines.repeated_ids(people.union(people.limit(2)), "person") == 2
    with pytest.raises(mw.DataError, match="column 'person' are empty in 3 rows"):
        mw.engines.repeated_ids(people.selectExpr("case when person > 30 then person end as person"), "person")


def test_a_task_that_is_tried_again_gives_the_same_reports(people: Any, tmp_path: Path) -> None:
    """The first attempt at each partition fails after it has masked everything."""
    masked = mw.engines.mask(people, DESIGNS, **KEYED)
    folder = str(tmp_path)

    def fail_once(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        yield from batches
        marker = f"{folder}/{context.partitionId()}"
        if not os.path.exists(marker):
            open(marker, "w").close()
            raise RuntimeError("the first attempt fails")

    assert_same_reports(masked.mapInArrow(fail_once, masked.schema).toArrow())
    assert len(list(tmp_path.iterdir())) >= 2


def test_two_uses_and_an_evicted_cache_do_not_redraw(people: Any) -> None:
    masked = mw.engines.mask(people, DESIGNS, **KEYED)
    other = masked.select("person", *(masked[name].alias(f"{name}_2") for name in DESIGNS))
    both = masked.join(other, "person")
    differing = " or ".join(f"{name} <> {name}_2" for name in DESIGNS)
    assert both.where(differing).count() == 0
    cached = masked.cache()
    first = cached.toArrow()
    cached.unpersist(blocking=True)
    assert_same_reports(first)
    assert_same_reports(cached.toArrow())


def test_files_are_masked_by_tasks_of_spark(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for part in range(2):
        pq.write_table(PEOPLE.slice(part * 15_000, 15_000), tmp_path / "data" / f"{part}.parquet")
    masking = mw.engines.Masking(DESIGNS, **KEYED)
    outcome = mw.engines.mask_files(tmp_path / "data", tmp_path / "out", masking, engine="spark")
    assert (outcome.rows, outcome.written) == (len(PEOPLE), 2)
    assert mw.engines.tally(tmp_path / "out", DESIGNS) == TALLIES
    (tmp_path / "out" / "1.parquet").unlink()
    again = mw.engines.mask_files(tmp_path / "data", tmp_path / "out", masking, engine="spark")
    assert (again.written, again.skipped) == (1, 1)
    assert mw.engines.tally(tmp_path / "out", DESIGNS) == TALLIES


def test_what_is_wrong_with_a_file_comes_back_in_one_line(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    wrong = PEOPLE.set_column(1, "habit", pa.array(["Zyzzyva-7"] * len(PEOPLE)))
    pq.write_table(PEOPLE.slice(0, 10), tmp_path / "data" / "right.parquet")
    pq.write_table(wrong.slice(10, 10), tmp_path / "data" / "wrong.parquet")
    masking = mw.engines.Masking(DESIGNS, **KEYED)
    with pytest.raises(mw.DataError, match=r"^'wrong.parquet', column 'habit': .*10 of the first 10 rows") as caught:
        mw.engines.mask_files(tmp_path / "data", tmp_path / "out", masking, engine="spark")
    assert "Zyzzyva" not in str(caught.value)
    assert [path.name for path in (tmp_path / "out").glob("*.parquet")] == ["right.parquet"]

    def fail(task: Any) -> int:
        raise RuntimeError("a worker is lost")

    monkeypatch.setattr(engine, "_tried", fail)
    with pytest.raises(mw.DataError, match="Spark could not finish"):
        mw.engines.mask_files(tmp_path / "data", tmp_path / "out", masking, engine="spark")


def test_without_a_key_spark_is_refused(people: Any) -> None:
    with pytest.raises(mw.DataError, match="Spark may evaluate a part twice"):
        mw.engines.mask(people, DESIGNS)


def test_the_key_stands_in_no_plan_no_error_and_no_log(
    spark: Any, people: Any, events: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    masked = mw.engines.mask(people, DESIGNS, **KEYED)
    for mode in ("extended", "codegen", "cost", "formatted"):
        masked.explain(mode=mode)
    texts = [repr(masked), masked._jdf.queryExecution().toString()]
    wrong = PEOPLE.set_column(1, "habit", pa.array(["Zyzzyva-7"] * len(PEOPLE)))
    spark.sparkContext.setLogLevel("ERROR")
    try:
        with pytest.raises(Exception, match="column 'habit'") as caught:
            mw.engines.mask(spark.createDataFrame(wrong), DESIGNS, **KEYED).toArrow()
    finally:
        spark.sparkContext.setLogLevel("OFF")
    texts += [str(caught.value), repr(caught.value), *capfd.readouterr()]
    logs = [path.read_bytes() for path in events.rglob("*") if path.is_file() and path.suffix != ".crc"]
    assert any(b"SparkListenerTaskEnd" in log for log in logs)
    assert not any(map(shows_key, [*texts, *logs]))
    assert not any("Zyzzyva" in text for text in texts)
    assert any("mask_partition" in text for text in texts)  # it is the plan that was looked at
