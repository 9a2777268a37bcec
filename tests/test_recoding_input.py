"""Recoding of decimal numbers, and what a recoding or a search does not take."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from maskwell import release as mr
from maskwell.errors import DataError

TABLE = {"age": list(range(20, 60)), "sex": ["f", "m"] * 20}
NAN = float("nan")
TENS = {"age": mr.intervals(10)}


def test_decimal_numbers_lie_in_the_interval_that_they_start() -> None:
    tenths = [i / 10 for i in range(-20, 50)]
    found = mr.intervals(0.1).values(tenths, "x")
    assert found == [f"{i / 10:g} to below {(i + 1) / 10:g}" for i in range(-20, 50)]
    assert mr.intervals(0.1, top=0.3).values([0.2, 0.3, 0.7], "x")[1:] == ["0.3 and above"] * 2
    assert mr.rounded(0.1).values([0.31, 0.7, -0.26], "x") == [0.3, 0.7, -0.3]
    assert mr.rounded(0.05).values([0.175], "x") == [0.2]  # halves to the even multiple


def test_a_bottom_code_ends_where_an_interval_ends() -> None:
    assert mr.intervals(5, bottom=19).values([3, 19, 20], "age") == ["19 and below"] * 2 + ["20 to 24"]
    assert mr.intervals(0.5, bottom=2).values([1.7, 2.2], "x") == ["2 and below", "2 to below 2.5"]
    assert mr.intervals(breaks=[18, 65], bottom=17).values([3, 18], "age") == ["17 and below", "18 to 64"]
    for bottom in (20, 22):
        with pytest.raises(DataError, match="inside an interval of 'age'"):
            mr.intervals(5, bottom=bottom).values([3, 23], "age")


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: mr.groups({"x": "abc"}), "list of those"),
        (lambda: mr.hierarchy({"Oslo": "East"}), "list of its names"),
        (lambda: mr.recode(TABLE, "age", TENS, k=-1), "k must be a whole number"),
        (lambda: mr.recode(TABLE, "age", TENS, k=0), "k must be a whole number"),
        (lambda: mr.recode(TABLE, "age", TENS, k=2.5), "k must be a whole number"),  # type: ignore[arg-type]
        (lambda: mr.recode(TABLE, "age", TENS, population_size=float("nan")), "population_size must be a number"),
        (lambda: mr.recode(TABLE, "age", TENS, population_size=float("inf")), "population_size must be a number"),
        (lambda: mr.recode(TABLE, "age", TENS, keep=["age"]), "go with suppress"),
        (lambda: mr.recode(TABLE, "age", TENS, most=0.1), "go with suppress"),
        (lambda: mr.search_recoding(TABLE, ["age", "sex"], {}, k=2, importance={"agee": 2}), "names 'agee'"),
        (lambda: mr.search_recoding(TABLE, "age", {}, tau1=NAN, population_size=100), "tau1 must be a finite number"),
        (lambda: mr.search_recoding(TABLE, "age", {}, tau2=-1, population_size=100), "tau2 must be at least 0"),
        (lambda: mr.search_recoding(TABLE, "age", {}, tau2=1, population_size=NAN), "population_size must be a number"),
        (lambda: mr.search_recoding(TABLE, "age", {}, tau2=1, population_size=39), "at least the 40 records"),
        (lambda: mr.search_recoding(TABLE, "age", {}, uniques=-1), "uniques must be a whole number"),
        (lambda: mr.search_recoding(TABLE, "age", {}, matches=NAN), "matches must be a whole number"),  # type: ignore[arg-type]
        (lambda: mr.search_recoding(TABLE, "age", {}, k=2, most_tried=0), "most_tried must be at least 1"),
        (lambda: mr.search_recoding(TABLE, "age", {}, k=2, importance={"age": float("nan")}), "positive number"),
        (lambda: mr.search_recoding(TABLE, "age", {}, k=2, importance={"age": 0}), "positive number"),
    ],
)
def test_what_cannot_be_meant_is_refused(make: Callable[[], Any], match: str) -> None:
    with pytest.raises(DataError, match=match):
        make()


@pytest.mark.parametrize(("content", "match"), [(b"M\xf6rk,East\n", "not UTF-8"), (b'"' + b"x" * 200_000, "CSV")])
def test_a_file_that_is_no_hierarchy_is_told_in_a_line(content: bytes, match: str, tmp_path: Path) -> None:
    path = tmp_path / "areas.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=match) as caught:
        mr.read_hierarchy(path)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
