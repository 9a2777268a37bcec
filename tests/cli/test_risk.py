"""``maskwell risk``: the same figures as the library from every kind of file, and one line for bad input."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from maskwell.microdata import Microdata, Variable, read, write
from maskwell.risk import assess
from tests.cli.runs import SECRET, Run, assert_refused
from tests.persons import population

KEYS = ["sex", "age", "race"]


@pytest.fixture(scope="module")
def persons() -> pa.Table:
    """Persons with weights."""
    table = pa.Table.from_pandas(population(2000), preserve_index=False)
    return table.append_column("weight", pa.array([10 + i % 7 for i in range(2000)], pa.float64()))


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".arrow", ".dta", ".sav", ".zsav"])
def test_every_kind_of_file_gives_the_same_figures(run: Run, persons: pa.Table, suffix: str) -> None:
    write(persons, f"persons{suffix}")
    options = ("--keys", "sex,age,race", "--weights", "weight", "--sensitive", "marital", "--model", "independence")
    ran = run("risk", f"persons{suffix}", *options, "--json")
    expected = assess(persons, KEYS, weights="weight", sensitive=("marital",), model="independence")
    assert ran.code == 0, ran.err
    assert ran.json["sample_uniques"] == expected.sample_uniques
    assert ran.json["model"]["tau1"] == pytest.approx(expected.tau1)
    assert ran.json["diversity"]["marital"]["revealed"] == expected.diversity["marital"].revealed


def test_the_text_is_the_summary(run: Run, persons: pa.Table) -> None:
    write(persons, "persons.parquet")
    ran = run("risk", "persons.parquet", "--keys", "sex, age", "--population", 50_000)
    assert (ran.code, ran.err) == (0, "")
    assert ran.text.strip() == assess(read("persons.parquet").table, ["sex", "age"], population_size=50_000).summary()


def test_the_page_is_written(run: Run, persons: pa.Table) -> None:
    write(persons, "persons.parquet")
    ran = run("risk", "persons.parquet", "--keys", "sex,age", "--html", "risk.html")
    assert "wrote risk.html" in ran.text
    assert "Which keys it comes from" in Path("risk.html").read_text(encoding="utf-8")
    assert_refused(run("risk", "persons.parquet", "--keys", "sex", "--html", "persons.parquet"), "persons.parquet")


def test_texts_that_mean_missing(run: Run) -> None:
    Path("a.csv").write_text("x,y\n?,1\na,N\na,2\n")
    ran = run("risk", "a.csv", "--keys", "x,y", "--na", "?", "--na", "N", "--json")
    assert ran.json["missing"] == {"x": 1, "y": 1}


def test_a_missing_key_can_match_anything(run: Run) -> None:
    Path("a.csv").write_text("x,y\na,1\na,\nb,2\n")
    assert run("risk", "a.csv", "--keys", "x,y", "--json").json["sample_uniques"] == 3
    ran = run("risk", "a.csv", "--keys", "x,y", "--missing", "wildcard", "--json")
    assert (ran.json["sample_uniques"], ran.json["missing_matches"]) == (1, "anything")


def test_bad_input_is_one_line(run: Run, persons: pa.Table) -> None:
    Path("a.csv").write_text(f"{SECRET},b\nx,1\n")
    assert_refused(run("risk", "a.csv", "--keys", "c"), "no such column", "first line")
    assert_refused(run("risk", "no.csv", "--keys", "a"), "was not found")
    assert_refused(run("risk", "a.xlsx", "--keys", "a"), "must end in")
    write(persons, "a.dta")
    assert_refused(run("risk", "a.dta", "--keys", "sex,agge"), "'agge'", "marital")
    assert_refused(run("risk", "a.dta", "--keys", "sex", "--weights", "marital"), "weights must be numbers")
    Path("b.dta").write_bytes(Path("a.dta").read_bytes()[:20_000])
    assert_refused(run("risk", "b.dta", "--keys", "sex"), "truncated")


def test_many_files_are_assessed_as_one(run: Run, tmp_path: Path) -> None:
    people = tmp_path / "people"
    people.mkdir()
    table = pa.table({"sex": ["f", "m"] * 500, "age": [i % 37 for i in range(1000)]})
    pq.write_table(table, tmp_path / "one.parquet")
    for part in range(4):
        pq.write_table(table.slice(part * 250, 250), people / f"{part}.parquet")
    asked = ["--keys", "sex,age", "--population", "50000", "--json"]
    one = run("risk", "one.parquet", *asked)
    assert one.code == 0
    assert run("risk", "people/*.parquet", *asked).json == run("risk", "people", *asked).json == one.json
    assert run("risk", "people", "--keys", "sex,age", "--html", "many.html").code == 0
    assert run("risk", "one.parquet", "--keys", "sex,age", "--html", "one.html").code == 0
    assert Path("many.html").read_bytes() == Path("one.html").read_bytes()
    (people / "more.csv").write_text("sex,age\nf,1\n")
    assert_refused(run("risk", "people", *asked), "more.csv", "Parquet or Arrow")


def test_codes_that_a_file_declares_missing_are_told_and_switched(run: Run, tmp_path: Path) -> None:
    labels = {1.0: "national", 2.0: "foreign", 9.0: "no answer"}
    picked = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2] * 20, pa.int32()), pa.array([*labels.values()]))
    known = Variable(value_labels=labels, codes=pa.array([*labels], pa.float64()), missing=({"lo": 9.0, "hi": 9.0},))
    table = pa.table({"citizen": picked, "age": pa.array([30, 40] * 30)})
    write(Microdata(table, "spss", {"citizen": known}), tmp_path / "p.sav")
    keys = ("p.sav", "--keys", "citizen,age")
    said = "citizen: 9 (no answer) is declared missing in the file and counted as a category; --user-missing counts it"
    for command in (("risk", *keys), ("recode", *keys, "--recode", "age=any"), ("release", *keys, "--xi", "0.5")):
        dry = ("--dry-run",) if command[0] == "release" else ()
        assert said in run(*command, *dry).text
        assert said not in run(*command, *dry, "--user-missing").text
    assert "citizen is missing in 20 records" in run("risk", *keys, "--user-missing").text
    assert_refused(run("risk", *keys, "--na", "9"), "--na is for CSV files", "pass --user-missing to count")


def test_what_is_odd_about_weights_is_said(run: Run, persons: pa.Table, tmp_path: Path) -> None:
    write(persons, tmp_path / "w.parquet")
    total = sum(persons.column("weight").to_pylist())
    said = f"the weights sum to {total:,.0f} and are scaled to the population of 90,000"
    asked = ("risk", "w.parquet", "--keys", "sex,age", "--weights", "weight")
    assert said in run(*asked, "--population", 90_000).text
    assert "are scaled" not in run(*asked).text
    assert (
        "weight is the weight and among the keys"
        in run("risk", "w.parquet", *asked[2:3], "sex,weight", *asked[4:]).text
    )
    assert_refused(
        run("risk", "w.parquet", "--keys", "age", "--weights", "sex", "--population", 90_000), "weights 'sex'"
    )


def test_a_page_with_wildcards_counts_no_combinations(run: Run, tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("age,job\n30,cook\n30,\n,nurse\n41,nurse\n", encoding="utf-8")
    ran = run("risk", "w.csv", "--keys", "age,job", "--missing", "wildcard", "--html", "w.html")
    assert "4 different patterns of keys, missing ones among them" in ran.text
    page = (tmp_path / "w.html").read_text("utf-8")
    assert "4 different patterns of keys" in page
    assert "combinations of the keys occur" not in page
