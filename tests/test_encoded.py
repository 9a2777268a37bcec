"""A table is read and encoded once: through a whole release each column once, whoever asks for it."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maskwell as mw
from maskwell.cli import main
from maskwell.tables import encoded as module
from maskwell.tables.encoded import EncodedTable, encoded
from tests.persons import population


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, Counter[str]]:
    """How often each column is encoded, and how often it is read."""
    times: dict[str, Counter[str]] = {"encoded": Counter(), "read": Counter()}
    encode, read_columns = module.encode, module.read_columns

    def counting(array: Any, name: str) -> Any:
        times["encoded"][name] += 1
        return encode(array, name)

    def reading(table: Any, names: Any) -> Any:
        times["read"].update(names)
        return read_columns(table, names)

    monkeypatch.setattr(module, "encode", counting)
    monkeypatch.setattr(module, "read_columns", reading)
    return times


def test_nobody_else_encodes() -> None:
    """The count below would miss whoever encodes a column of a release by another way; samples are not released."""
    package = Path(mw.__file__).parent
    callers = [
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if path.parent.name != "sample"
        and (" encode(" in path.read_text(encoding="utf-8") or "(encode(" in path.read_text(encoding="utf-8"))
    ]
    assert sorted(callers) == ["tables/codes.py", "tables/encoded.py"]


@pytest.mark.parametrize(
    "method",
    [
        ["--keys", "sex,age,race", "--xi", "0.4", "--within", "sex", "--within", "age=18,65", "--variance", "sex,race"],
        ["--pram", "race", "--least-diagonal", "0.8", "--strata", "sex", "--exempt", "race=white"],
    ],
    ids=["identification", "pram"],
)
def test_a_release_encodes_each_column_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counted: dict[str, Counter[str]], method: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    table = pa.Table.from_pandas(population(2000), preserve_index=False)
    assert len(table.column_names) >= 4
    mw.microdata.write(table, "in.parquet")
    pages = ["--internal", "i.html", "--external", "e.html", "--plan", "p.json"]
    assert main(["release", "in.parquet", *method, "--seed", "1", "-o", "out.parquet", *pages]) == 0
    assert set(counted["encoded"].values()) == {1}
    assert set(counted["read"].values()) == {1}
    assert set(counted["encoded"]) <= set(table.column_names)


@given(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=30), st.data())
def test_moved_columns_are_those_that_were_moved(cells: list[str | None], data: Any) -> None:
    """The codes of a moved column are those that encoding it anew would give."""
    n = len(cells)
    rows = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)))
    again = rows[::-1].copy()
    table = EncodedTable({"x": cells, "y": list(range(n))})
    once, twice = table.moved({"x": rows}), table.moved({"x": rows}).moved({"x": again})
    for found, order in ((once, rows), (twice, rows[again])):
        expected = EncodedTable({"x": [cells[i] for i in order]}).coded("x")
        assert (found.coded("x").codes == expected.codes).all()
        assert (found.coded("x").labels, found.coded("x").missing) == (expected.labels, expected.missing)
        assert found.array("x").to_pylist() == [cells[i] for i in order]
        assert found.coded("y") is table.coded("y")
        assert found.root is table


def test_columns_of_another_length_are_refused() -> None:
    table = encoded({"x": [1, 2], "y": [1]})
    assert encoded(table) is table
    table.coded("x")
    with pytest.raises(mw.DataError, match="equally many"):
        table.coded("y")


@pytest.mark.parametrize("kind", ["microdata", "lazy"])
def test_a_release_takes_files_and_lazy_frames(kind: str) -> None:
    columns = {"sex": ["f", "m"] * 20, "age": [20 + i // 2 for i in range(40)]}
    table = mw.microdata.Microdata(pa.table(columns), "arrow") if kind == "microdata" else pl.LazyFrame(columns)
    options: dict[str, Any] = {"keys": ["sex", "age"], "xi": 0.5, "within": "sex", "seed": 1}
    expected = mw.release.limit_identification(columns, **options)
    released = mw.release.limit_identification(table, **options).table
    ages = released.collect()["age"].to_list() if kind == "lazy" else released["age"].to_pylist()
    assert ages == expected.table["age"]
