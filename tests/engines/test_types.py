"""Types of ids and of answers: what every engine reads alike is masked alike, and the rest is refused by all."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import maskwell as mw
from maskwell.engines.part_engines import PART_ENGINES, Task, run_task
from maskwell.sampling.ids.column import read_id_column

N = 64
KEYED: dict[str, Any] = {"id": "person", "key": bytes(range(32)), "survey": "s"}
DESIGN = mw.plan(50, mw.LDP(1))
COUNTS = pa.array(range(1, N + 1))
SUFFIXES = (".parquet", ".arrow")


def _written(table: pa.Table, path: Path) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        feather.write_feather(table, path, compression="uncompressed")
    return path


def _masked(path: Path, engine: str, design: mw.Design = DESIGN, **more: Any) -> list[Any]:
    masking = mw.engines.Masking({"answer": design}, **(KEYED | more))
    target = path.with_name("out.parquet")
    run_task(Task(path, target, masking, engine, {}))
    found: list[Any] = mw.Reports.read(target, column="answer").positions()
    return found


ALIKE = {
    "int16": COUNTS.cast(pa.int16()),
    "uint64": COUNTS.cast(pa.uint64()),
    "text": COUNTS.cast(pa.string()),
    "float": pa.array([i * 0.37 for i in range(N)], pa.float32()),
    "double": pa.array([i * 0.37 for i in range(N)]),
    "decimal": pa.array([Decimal(i) / 4 for i in range(N)]).cast(pa.decimal128(10, 2)),
    "binary": pa.array([b"%04d" % i for i in range(N)]),
    "fixed binary": pa.array([b"%04d" % i for i in range(N)], pa.binary(4)),
    "dictionary of text": COUNTS.cast(pa.string()).dictionary_encode(),
}

OTHERWISE = [
    pa.date32(),
    pa.date64(),
    pa.time32("s"),
    pa.time64("us"),
    pa.timestamp("s"),
    pa.timestamp("ms"),
    pa.timestamp("us", "UTC"),
    pa.duration("us"),
]


def _points(kind: Any) -> Any:
    """Different points or lengths of time."""
    if pa.types.is_date(kind):
        return COUNTS.cast(pa.int32()).cast(pa.date32()).cast(kind)
    return (COUNTS.cast(pa.int32()) if kind.bit_width == 32 else COUNTS).cast(kind)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", ALIKE)
def test_ids_of_these_types_give_the_same_reports_in_every_engine(name: str, suffix: str, tmp_path: Path) -> None:
    table = pa.table({"person": ALIKE[name], "answer": pa.array([i % 50 for i in range(N)])})
    path = _written(table, tmp_path / f"in{suffix}")
    first, *others = (_masked(path, engine) for engine in PART_ENGINES)
    assert others == [first, first]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("kind", OTHERWISE, ids=str)
def test_ids_that_engines_write_differently_are_refused(kind: Any, suffix: str, tmp_path: Path) -> None:
    table = pa.table({"person": _points(kind), "answer": pa.array([i % 50 for i in range(N)])})
    path = _written(table, tmp_path / f"in{suffix}")
    # DuckDB reads lengths of time in Parquet as whole numbers; the others refuse them, so that there is one report.
    engines = PART_ENGINES[:2] if pa.types.is_duration(kind) and suffix == ".parquet" else PART_ENGINES
    for engine in engines:
        with pytest.raises(mw.DataError, match=r"ids in column 'person' are of type .*; cast the column to text"):
            _masked(path, engine)


@pytest.mark.parametrize(
    "column",
    [
        _points(pa.timestamp("ms")).dictionary_encode(),
        COUNTS.cast(pa.float32()).cast(pa.float16()),
        pa.array([Decimal(1)]).cast(pa.decimal256(50, 2)),
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
    ],
    ids=lambda column: str(column.type),
)
def test_these_are_no_ids_either(column: Any) -> None:
    with pytest.raises(mw.DataError, match="cast the column to text"):
        read_id_column(column, "person")


def test_categories_of_whole_numbers_are_ids_only_where_it_is_said_what_they_are(tmp_path: Path) -> None:
    """They were text where Arrow read them, and numbers elsewhere: a choice made now would draw again for somebody."""
    categories = COUNTS.dictionary_encode()
    with pytest.raises(mw.DataError, match=r"kept as categories.*cast them to text for the same reports"):
        read_id_column(categories, "person")
    assert read_id_column(categories, "person", whole_numbers=True).tolist() == COUNTS.to_pylist()
    answers = pa.array([i % 50 for i in range(N)])
    path = _written(pa.table({"person": categories, "answer": answers}), tmp_path / "in.arrow")
    with pytest.raises(mw.DataError, match="kept as categories"):
        _masked(path, "arrow")
    plain = _written(pa.table({"person": COUNTS, "answer": answers}), tmp_path / "plain.arrow")
    wanted = _masked(plain, "arrow")
    assert [_masked(path, engine) for engine in ("polars", "duckdb")] == [wanted, wanted]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("kind", OTHERWISE[1:], ids=str)
def test_answers_that_engines_write_differently_are_refused(kind: Any, suffix: str, tmp_path: Path) -> None:
    """Under ``other`` an engine that writes them in its own way would draw for another answer."""
    points = _points(kind)
    labels = [*points.cast(pa.string()).to_pylist(), "(other)"]
    path = _written(pa.table({"person": COUNTS, "answer": points}), tmp_path / f"in{suffix}")
    design = mw.plan(labels, mw.LDP(1))
    engines = PART_ENGINES[:2] if pa.types.is_duration(kind) and suffix == ".parquet" else PART_ENGINES
    for engine in engines:
        if pa.types.is_date64(kind) and (engine == "duckdb" or (engine, suffix) == ("arrow", ".parquet")):
            continue  # what is read are days, which all write alike
        with pytest.raises(mw.DataError, match=r"column 'answer': values are of type .*; cast the column to text"):
            _masked(path, engine, design, other={"answer": "(other)"})


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_days_are_answers_in_every_engine(suffix: str, tmp_path: Path) -> None:
    days = _points(pa.date32())
    path = _written(pa.table({"person": COUNTS, "answer": days}), tmp_path / f"in{suffix}")
    design = mw.plan(days.cast(pa.string()).to_pylist(), mw.LDP(1))
    first, *others = (_masked(path, engine, design) for engine in PART_ENGINES)
    assert others == [first, first]
