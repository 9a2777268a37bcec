"""Recoding of SPSS and Stata files: codes in the order of what they mean, and values named by code or label."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from maskwell import microdata
from maskwell import release as mr
from maskwell.errors import DataError
from maskwell.microdata import Microdata, Variable

TOWNS = {float(1000 + 7 * i): f"Town {i:02}" for i in range(12)}
MARITAL = {1.0: "single", 2.0: "married", 3.0: "divorced", 4.0: "widowed"}
JOBS = {11.0: "manager", 21.0: "engineer", 22.0: "nurse", 51.0: "cook"}


@pytest.fixture(scope="module", params=["sav", "dta"])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A labelled file."""
    random, n = np.random.default_rng(5), 600
    columns: dict[str, Any] = {"age": pa.array(random.integers(0, 100, n))}
    variables = {"age": Variable(label="Age in years", measure="scale")}
    for name, labels in {"town": TOWNS, "marital": MARITAL, "job": JOBS}.items():
        picked = pa.array(random.integers(0, len(labels), n).astype(np.int32))
        columns[name] = pa.DictionaryArray.from_arrays(picked, pa.array([*labels.values()]))
        codes = pa.array([*labels], pa.float64())
        variables[name] = Variable(label=name, measure="nominal", value_labels=labels, codes=codes)
    kind = {"sav": "spss", "dta": "stata"}[request.param]
    file = tmp_path_factory.mktemp("labelled") / f"persons.{request.param}"
    microdata.write(Microdata(pa.table(columns), kind, variables), file)
    return file


def _labels(file: Microdata, name: str) -> dict[float, str]:
    return {float(code): label for code, label in file.variable(name).value_labels.items()}


def test_codes_of_intervals_rise_with_the_numbers(path: Path) -> None:
    made = mr.recode(microdata.read(path), ["age"], {"age": mr.intervals(5, top=85)})
    expected = [*(f"{low} to {low + 4}" for low in range(0, 85, 5)), "85 and above"]
    assert _labels(made.table, "age") == {float(i + 1): label for i, label in enumerate(expected)}
    target = path.with_name(f"coarse{path.suffix}")
    microdata.write(made.table, target)
    assert _labels(microdata.read(target), "age") == _labels(made.table, "age")
    if path.suffix == ".sav":
        assert {name: microdata.read(target).variable(name).measure for name in ("age", "town")} == {
            "age": "ordinal",
            "town": "nominal",
        }


def test_labels_that_stay_keep_their_codes_and_new_ones_get_codes_that_nobody_had(path: Path) -> None:
    once = {"marital": mr.groups({"once married": ["divorced", "widowed"]})}
    made = mr.recode(microdata.read(path), ["marital"], once)
    assert _labels(made.table, "marital") == {1.0: "single", 2.0: "married", 5.0: "once married"}


def test_values_that_are_set_missing_leave_the_codes_as_they_are(path: Path) -> None:
    file = microdata.read(path)
    made = mr.recode(file, ["age", "town"], suppress=3, keep=["age"])
    assert 0 < made.table.table["town"].null_count < 600
    assert _labels(made.table, "town").items() <= TOWNS.items()


def test_groups_that_are_numbers_are_their_own_codes(path: Path) -> None:
    major = {code: [str(int(code) // 10), "any"] for code in JOBS}
    made = mr.recode(microdata.read(path), ["job"], {"job": mr.hierarchy(major)})
    assert _labels(made.table, "job") == {1.0: "1", 2.0: "2", 5.0: "5"}


def test_a_hierarchy_may_name_codes_or_labels(path: Path) -> None:
    file = microdata.read(path)
    halves = {code: ["south" if i < 6 else "north"] for i, code in enumerate(TOWNS)}
    by_code = mr.recode(file, ["town"], {"town": mr.hierarchy(halves)})
    by_label = mr.recode(file, ["town"], {"town": mr.hierarchy({TOWNS[code]: half for code, half in halves.items()})})
    assert by_code.table.table["town"].to_pylist() == by_label.table.table["town"].to_pylist()
    # In the order of the towns' codes, not of the alphabet.
    assert _labels(by_code.table, "town") == {1.0: "south", 2.0: "north"}
    ladders = {"town": mr.read_hierarchy(halves)}
    assert mr.search_recoding(file, ["age", "town"], ladders, matches=300).recipe.columns.keys() == {"town"}
    with pytest.raises(DataError, match="codes where the table has labels"):
        mr.recode(file.table, ["town"], {"town": mr.hierarchy(halves)})


def refused(path: Path) -> Path:
    """A labelled file in which some did not answer: codes 8 and 9 of SPSS, .a of Stata."""
    random, n = np.random.default_rng(6), 400
    nowhere = {8.0: "refused", 9.0: "no answer"} if path.suffix == ".sav" else {2.0**1023 + 2.0**1011: "refused"}
    labels = {1.0: "national", 2.0: "EU", 3.0: "Asia", **nowhere}
    picked = pa.array(random.integers(0, len(labels), n).astype(np.int32))
    column = pa.DictionaryArray.from_arrays(picked, pa.array([*labels.values()]))
    missing = ({"lo": 8.0, "hi": 99.0},) if path.suffix == ".sav" else ()
    codes = pa.array([*labels], pa.float64())
    variables = {"citizen": Variable(value_labels=labels, codes=codes, missing=missing)}
    table = pa.table({"citizen": column, "age": pa.array(random.integers(18, 60, n))})
    target = path.with_name(f"refused{path.suffix}")
    microdata.write(Microdata(table, {".sav": "spss", ".dta": "stata"}[path.suffix], variables), target)
    return target


def test_codes_that_are_declared_missing_stay_so_where_they_survive(path: Path) -> None:
    file = microdata.read(refused(path))
    before = _labels(file, "citizen")
    recoding = {"citizen": mr.groups({"foreign": ["EU", "Asia"]})}
    made = mr.recode(file, ["citizen", "age"], recoding).table
    release = mr.limit_identification(file, ["citizen", "age"], 0.5, recoding=recoding, seed=1)
    for i, each in enumerate((made, release.setup.given.with_table(release.table))):
        target = path.with_name(f"again{i}{path.suffix}")
        microdata.write(each, target)
        after = microdata.read(target)
        codes = _labels(after, "citizen")
        new = next(code for code, label in codes.items() if label == "foreign")
        # A code that nobody had, and no missing value of Stata.
        assert new == (10.0 if path.suffix == ".sav" else 4.0)
        assert {code: label for code, label in codes.items() if code != new}.items() <= before.items()
        assert [(one["lo"], one["hi"]) for one in after.variable("citizen").missing] == (
            [(8.0, 9.0)] if path.suffix == ".sav" else []
        )
        assert "refused" in after.values("citizen").to_pylist()
    merged = mr.recode(
        file, ["citizen"], {"citizen": mr.groups({"none": ["refused", 9] if path.suffix == ".sav" else ["refused"]})}
    )
    assert not merged.table.variable("citizen").missing


def test_what_a_file_declares_missing_is_listed_and_may_count_as_missing(path: Path) -> None:
    target = refused(path)
    file, without = microdata.read(target), microdata.read(target, user_missing=True)
    declared = file.declared_missing("citizen")
    assert list(declared.values()) == (["refused", "no answer"] if path.suffix == ".sav" else ["refused"])
    assert file.declared_missing("age") == without.declared_missing("citizen") == {}
    values = file.values("citizen").to_pylist()
    assert without.values("citizen").to_pylist() == [None if value in declared.values() else value for value in values]
    # They are written with their codes, by a release too.
    for i, table in enumerate([without.table, mr.limit_identification(without, ["citizen", "age"], 0.5, seed=1).table]):
        again = path.with_name(f"declared{i}{path.suffix}")
        microdata.write(without.with_table(table), again)
        codes = microdata.read(again)
        assert codes.declared_missing("citizen") == declared
        assert i or codes.values("citizen").to_pylist() == values
    with pytest.raises(DataError, match=r"na is for CSV files.*user_missing"):
        microdata.read(target, na=["9"])
