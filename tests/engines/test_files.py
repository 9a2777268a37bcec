"""Files as a source, and files of several masked columns: read back whole or by column, or refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import maskwell as mw
from maskwell.engines import combinations as counted
from maskwell.reports.containers import open_container
from maskwell.reports.table_files import read_table, write_table
from tests.engines.sources import DESIGNS, KEYED, PEOPLE, REPORTS, TALLIES, assert_same_reports

KEPT = pa.table(
    {
        "flag": [True, None, False],
        "word": ["a", "", None],
        "label": pa.array(["x", "y", "x"]).dictionary_encode(),
        "number": [1.5, None, float("nan")],
        "day": pa.array([1, 2, None], pa.date32()),
        "time": pa.array([1, 2, None], pa.timestamp("s")),
        "amount": pa.array([1, None, 3], pa.int32()).cast(pa.decimal128(12, 2)),
        "raw": [b"a", None, b"ccc"],
        "empty": pa.nulls(3),
        "habit": ["yes", "no", "no"],
    }
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The input as three files of different formats."""
    (tmp_path / "data").mkdir()
    pq.write_table(PEOPLE.slice(0, 10_000), tmp_path / "data" / "a.parquet", row_group_size=3000)
    feather.write_feather(PEOPLE.slice(10_000, 10_000), tmp_path / "data" / "b.arrow")
    pq.write_table(PEOPLE.slice(20_000), tmp_path / "data" / "c.parquet")
    return tmp_path


def test_a_file_a_pattern_a_folder_and_a_list_are_read(folder: Path) -> None:
    data = folder / "data"
    for source in (data, str(data / "*"), [data / "a.parquet", str(data / "[bc].*")]):
        masked = mw.engines.mask(source, DESIGNS, **KEYED)
        assert isinstance(masked, pa.RecordBatchReader)
        assert_same_reports(masked.read_all())
    assert mw.engines.repeated_ids(data, "person") == 0
    pc.write_csv(PEOPLE, folder / "all.csv")
    assert_same_reports(_numbered(mw.engines.mask(folder / "all.csv", DESIGNS, **KEYED, integer_ids=True).read_all()))


def _numbered(masked: pa.Table) -> pa.Table:
    """Cells of a CSV file are text."""
    return masked.set_column(0, "person", masked["person"].cast(pa.int64()))


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_masked_and_kept_columns_stand_in_one_sealed_file(folder: Path, suffix: str) -> None:
    masked, path = mw.engines.mask(folder / "data", DESIGNS, **KEYED), folder / f"out{suffix}"
    assert write_table(path, masked.schema, masked) == len(PEOPLE)
    assert mw.engines.tally(path, DESIGNS) == TALLIES
    for name, reports in REPORTS.items():
        again = mw.Reports.read(path, column=name)
        assert again == reports
        assert (again.randomness, again.question) == ("keyed", f"health 2026/{name}")
        assert mw.Tally.read(path, column=name) == TALLIES[name]
    with pytest.raises(mw.ReportError, match="several masked columns: habit, group, diet"):
        mw.Reports.read(path)
    with pytest.raises(mw.ReportError, match="no masked column 'region'"):
        mw.Reports.read(path, column="region")
    REPORTS["habit"].write(folder / "one.parquet")
    with pytest.raises(mw.ReportError, match="leave column out"):
        mw.Reports.read(folder / "one.parquet", column="habit")
    assert mw.engines.tally(folder / "one.parquet", {"habit": DESIGNS["habit"]})["habit"] == TALLIES["habit"]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_kept_columns_come_back_as_they_were(tmp_path: Path, suffix: str) -> None:
    kept = [name for name in KEPT.column_names if name != "habit"]
    masked = mw.engines.mask(KEPT, {"habit": DESIGNS["habit"]}, keep=kept)
    path = tmp_path / f"kept{suffix}"
    write_table(path, masked.schema, masked.to_batches(max_chunksize=2))
    again = pa.Table.from_batches(list(read_table(open_container(path), 2)))
    assert str(again.to_pydict()) == str(masked.to_pydict())  # as text, since NaN differs from itself
    nested = pa.table({"habit": ["yes"], "list": [[1]]})
    wrong = mw.engines.mask(nested, {"habit": DESIGNS["habit"]}, keep="list")
    with pytest.raises(mw.ReportError, match="column 'list'"):
        write_table(path, wrong.schema, wrong.to_batches())
    with pytest.raises(mw.ReportError, match=r"holds the reports of one column"):
        write_table(tmp_path / "x.csv", masked.schema, masked.to_batches())


def _changed(table: pa.Table, column: str, value: Any) -> pa.Table:
    at = table.column_names.index(column)
    cells = [value, *table[column].to_pylist()[1:]]
    return table.set_column(at, table.schema.field(at), pa.array(cells, table.schema.field(at).type))


def test_a_file_that_was_changed_anywhere_is_refused(tmp_path: Path) -> None:
    masked, path = mw.engines.mask(PEOPLE, DESIGNS, **KEYED), tmp_path / "out.parquet"
    write_table(path, masked.schema, masked.to_batches())
    file = pq.ParquetFile(path)
    table, metadata = file.read(), {k.decode(): v.decode() for k, v in file.metadata.metadata.items()}
    metadata.pop("ARROW:schema")
    other = int(table["group"][0].as_py() == 0)

    def attempt(changed: pa.Table, said: dict[str, str], columns: list[str] | None = None) -> None:
        pq.write_table(changed.replace_schema_metadata(said), path)
        list(read_table(open_container(path), 1000, columns))

    attempt(table, metadata)
    said = json.loads(metadata["maskwell.columns"])
    said["habit"]["question"] = "other"
    for changed, about in (
        (_changed(table, "region", "west"), metadata),
        (_changed(table, "group", other), metadata),
        (table.slice(1), metadata),
        (table.drop_columns("region"), metadata),
        (table.append_column("more", table["group"]), metadata),
        (table, metadata | {"maskwell.columns": json.dumps(said)}),
        (table, metadata | {"maskwell.columns": "{}"}),
        (table, {key: value for key, value in metadata.items() if key != "maskwell.digest"}),
        (table, metadata | {"maskwell.digests": "{}"}),
    ):
        with pytest.raises(mw.ReportError):
            attempt(changed, about)
    # A column is checked by itself: what happened to another does not matter, what happened to it does.
    attempt(_changed(table, "region", "west"), metadata, ["group"])
    with pytest.raises(mw.ReportError, match="checksum"):
        attempt(_changed(table, "group", other), metadata, ["group"])


def test_the_names_of_folders_are_a_column(tmp_path: Path) -> None:
    """As text, missing where the engine says so, and never in place of a column that the file has."""
    data = tmp_path / "data"
    for place, zone in (("north%20west", "01"), ("__HIVE_DEFAULT_PARTITION__", "x")):
        (data / f"place={place}" / f"zone={zone}").mkdir(parents=True)
    plain = {"habit": ["yes", "no"], "zone": ["own", "own"]}
    pq.write_table(pa.table({"habit": ["yes"]}), data / "place=north%20west" / "zone=01" / "a.parquet")
    pc.write_csv(pa.table({"habit": ["no", "no"]}), data / "place=north%20west" / "zone=01" / "b.csv")
    feather.write_feather(pa.table(plain), data / "place=__HIVE_DEFAULT_PARTITION__" / "zone=x" / "a.arrow")
    (data / "other").mkdir()
    pq.write_table(pa.table({"habit": ["yes"]}), data / "other" / "ignored.parquet")
    masked = mw.engines.mask(data, {"habit": DESIGNS["habit"]}, keep=["zone", "place"]).read_all()
    assert masked.select(["zone", "place"]).to_pylist() == [
        *[{"zone": "own", "place": None}] * 2,
        *[{"zone": "01", "place": "north west"}] * 3,
    ]
    assert masked.column_names == ["zone", "place", "habit"]
    with pytest.raises(mw.DataError, match="no column 'region'"):
        mw.engines.mask(data, {"habit": DESIGNS["habit"]}, keep=["region"]).read_all()
    with pytest.raises(mw.DataError, match="folder alone"):
        mw.engines.mask(data, {"place": mw.designs.direct(["north west", "south"])}).read_all()
    (tmp_path / "years").mkdir()
    (data / "other").rename(tmp_path / "years" / "2026")
    with pytest.raises(mw.DataError, match=r"pattern in quotes, '.*/years/\*\*/\*.parquet'"):
        mw.engines.mask(tmp_path / "years", DESIGNS)
    (tmp_path / "nothing").mkdir()
    with pytest.raises(mw.DataError, match=r"may hold \.parquet"):
        mw.engines.mask(tmp_path / "nothing", DESIGNS)


def test_files_that_do_not_fit_are_refused(folder: Path) -> None:
    with pytest.raises(mw.DataError, match="no file"):
        mw.engines.mask(str(folder / "*.nothing"), DESIGNS)
    with pytest.raises(mw.DataError, match="cannot be read"):
        mw.engines.mask(folder / "nowhere.parquet", DESIGNS)
    pq.write_table(PEOPLE.set_column(4, "region", pa.array(range(len(PEOPLE)))), folder / "data" / "d.parquet")
    with pytest.raises(mw.DataError, match="column 'region' is int64 in one file"):
        mw.engines.mask(folder / "data", DESIGNS, keep="region").read_all()
    with pytest.raises(mw.DataError, match="30,000 of 60,000"):
        mw.engines.mask(folder / "data", DESIGNS, **(KEYED | {"keep": ()})).read_all()


def test_reports_that_another_engine_wrote_are_counted(tmp_path: Path) -> None:
    masked = mw.engines.mask(PEOPLE, DESIGNS, **KEYED).replace_schema_metadata(None)
    pq.write_table(masked, tmp_path / "a.parquet")
    assert mw.engines.tally(tmp_path, DESIGNS) == TALLIES


def assert_close(found: Any, expected: Any) -> None:
    """Equal, numbers to nine digits."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            assert_close(found[key], expected[key])
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_close(one, other)
    else:
        assert found == (pytest.approx(expected, rel=1e-9) if isinstance(expected, float) else expected)


def test_the_risk_of_many_files_is_that_of_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    n = 20_000
    table = pa.table(
        {
            "sex": np.array(["f", "m", None], object)[rng.integers(0, 3, n)].tolist(),
            "age": rng.integers(0, 90, n),
            "area": rng.integers(0, 40, n),
            "ill": rng.integers(0, 3, n),
            "weight": rng.uniform(5, 50, n),
        }
    )
    for part in range(4):
        pq.write_table(table.slice(part * 5000, 5000), tmp_path / f"{part}.parquet")
    monkeypatch.setattr(counted, "_JOINED_AT", 3000)
    keys, sensitive = ["sex", "age", "area"], ["ill"]
    found = counted.combinations(sorted(tmp_path.iterdir()), [*keys, *sensitive], "weight")
    counting = {"repeats": counted.REPEATS, "squares": counted.SQUARES}
    many = mw.risk.assess(found, keys, weights="weight", sensitive=sensitive, **counting)
    one = mw.risk.assess(table, keys, weights="weight", sensitive=sensitive)
    # The same numbers; sums of weights are added in another order.
    assert_close(many.to_dict(), one.to_dict())
    with pytest.raises(mw.EstimationError, match="counted and not kept"):
        many.records  # noqa: B018
