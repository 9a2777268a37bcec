"""``maskwell recode`` and the recoding of ``maskwell release``: what they write, find, repeat and refuse."""

import json
from pathlib import Path

import pandas as pd
import pytest

from maskwell.microdata import read
from maskwell.release import ReleasePlan
from tests.cli.runs import Run, assert_refused
from tests.test_release_blocks import people

KEYS = ("--keys", "sex,age,area")
AREAS = "area,region,land\n" + "".join(f"a{i:02},r{i // 10},all\n" for i in range(40))
COARSER = ("--recode", "age=width:5", "--top", "age=80", "--recode", "area=file:areas.csv")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    persons = people(700).drop(columns=["note", "person"])
    persons.to_csv(tmp_path / "p.csv", index=False)
    persons.astype({"work": "category", "area": "category"}).to_stata(tmp_path / "p.dta", write_index=False)
    (tmp_path / "areas.csv").write_text(AREAS, encoding="utf-8")
    return tmp_path


def test_a_recoded_file_is_written_with_its_recipe(run: Run, folder: Path) -> None:
    ran = run("recode", "p.csv", *KEYS, *COARSER, "--suppress-below", 4, "-o", "out.csv", "--recipe", "r.json")
    assert ran.code == 0, ran
    assert "wrote r.json\nwrote out.csv" in ran.text
    assert "all together, fewer than 4 suppressed" in ran.text
    out = pd.read_csv(folder / "out.csv", keep_default_na=False)
    assert out.groupby(["sex", "age", "area"]).size().min() >= 4
    assert set(out["area"]) <= {"r0", "r1", "r2", "r3", ""}
    assert out["income"].tolist() == pd.read_csv(folder / "p.csv")["income"].tolist()
    figures = run("recode", "p.csv", *KEYS, *COARSER, "--suppress-below", 4, "--json").json
    assert figures["recipe"] == json.loads((folder / "r.json").read_text(encoding="utf-8"))


def test_a_search_finds_a_recipe_that_a_release_takes(run: Run, folder: Path) -> None:
    ladders = ("--ladder", "age=width:2,10,20|any", "--ladder", "area=file:areas.csv")
    ran = run("recode", "p.csv", *KEYS, *ladders, "--k", 3, "--suppress-most", "0.02", "--recipe", "r.json")
    assert ran.code == 0, ran
    assert "the mildest of the lattice" in ran.text
    found = run("recode", "p.csv", *KEYS, *ladders, "--xi", "0.1", "--within", "sex", "--json").json
    assert found["optimal"] is True
    planned = run("release", "p.csv", *KEYS, "--xi", "0.4", "--recipe", "r.json", "--dry-run", "--json")
    assert planned.code == 0, planned
    assert planned.json["recoding"]["recipe"] == json.loads((folder / "r.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("suffix", ["csv", "dta"])
def test_a_release_recodes_moves_and_repeats(run: Run, folder: Path, suffix: str) -> None:
    made = ("--xi", "0.1", "--recode", "age=width:2", "--seed", 3, "--keep-order")
    files = ("--plan", "plan.json", "--internal", "i.html", "--external", "e.html")
    ran = run("release", f"p.{suffix}", *KEYS, *made, "-o", f"out.{suffix}", *files)
    assert ran.code == 0, ran
    assert "recoded:   age: intervals of 2" in ran.text
    assert "the limit 0.1 holds" in ran.text
    out = read(folder / f"out.{suffix}")
    assert all(" to " in label for label in out.values("age").to_pylist())
    assert "recoding" in ReleasePlan.from_json((folder / "plan.json").read_text(encoding="utf-8")).content()
    again = run("release", f"p.{suffix}", "--replay", "plan.json", "-o", f"again.{suffix}", "--keep-order")
    assert again.code == 0, again
    assert (folder / f"again.{suffix}").read_bytes() == (folder / f"out.{suffix}").read_bytes()
    page = (folder / "i.html").read_text(encoding="utf-8")
    assert "intervals of 2" in page
    assert "Entropy kept of each column" in page
    # Whoever uses the file sees that values are intervals, and reads it; what recoding did to risk stays inside.
    page = (folder / "e.html").read_text(encoding="utf-8")
    assert "made coarser first: intervals of 2" in page
    assert "Entropy kept of each column" not in page


@pytest.mark.parametrize(
    ("given", "about"),
    [
        (("recode", "p.csv", *KEYS, "--recode", "age"), "names no column or nothing to do"),
        (("recode", "p.csv", *KEYS, "--recode", "age=wide:5"), "says nothing that can be done"),
        (("recode", "p.csv", *KEYS, "--recode", "age=width:x"), "no number"),
        (("recode", "p.csv", *KEYS, "--recode", "age=width:2", "--recode", "age=width:5"), "'age' more than once"),
        (("recode", "p.csv", *KEYS, "--top", "age=50", "--top", "age=60"), "--top names the column 'age'"),
        (("recode", "p.csv", *KEYS, "--ladder", "age=width:2", "--ladder", "age=any", "--k", 3), "--ladder names"),
        (("recode", "p.csv", *KEYS, "--recode", "agee=width:5"), "no such column"),
        (("recode", "p.csv", *KEYS, "--recode", "work=width:5"), "is for numbers"),
        (("recode", "p.csv", *KEYS, "--k", "5", "--xi", "0.1"), "needs --ladder"),
        (("recode", "p.csv", *KEYS, "--ladder", "age=width:5"), "needs a target"),
        (("recode", "p.csv", *KEYS, "--ladder", "age=width:5|x", "--k", 3), "'x' is no level; its levels, from mild"),
        (("recode", "p.csv", *KEYS, "--ladder", "age=width:10;top=85", "--k", 3), "inside one of the intervals of 10"),
        (("recode", "p.csv", *KEYS, "--recode", "age=width:5;roof=85"), "after a ; stands top=85"),
        (("recode", "p.csv", *KEYS, "--recode", "age=width:5,10"), "--ladder takes several"),
        (("recode", "p.csv", *KEYS, "--recode", "sex=merge:x=f,n"), "merges 'n'"),
        (("recode", "p.csv", *KEYS, "--ladder", "age=width:5", "--k", 3, "--suppress-below", 3), "leave out --supp"),
        (("recode", "p.csv", *KEYS, "--importance", "age=3"), "give --ladder"),
        (("recode", "p.csv", *KEYS, "--ladder", "age=any", "--k", 3, "--importance", "3"), "for example age=3"),
        (("recode", "p.csv", *KEYS, "--spare", "sex"), "--spare goes with --suppress-below"),
        (("recode", "p.csv", *KEYS, "--suppress-below", 3, "--spare", "work"), "which is no key"),
        (("recode", "p.csv", *KEYS, "--ladder", "age=width:5", "--tau2", 1), "need --population"),
        (("recode", "p.csv", *KEYS, "--suppress-below", 9, "--suppress-most", "0.001"), "maskwell recode --ladder"),
        (("recode", "p.csv", *KEYS, "--ladder", "age=width:5", "--k", 900), "not even the coarsest"),
        (("recode", "p.csv", *KEYS, "--suppress-most", "0.1"), "goes with --suppress-below"),
        (("recode", "p.csv", *KEYS, "--recode", "area=file:none.csv"), "none.csv"),
        (("release", "p.csv", *KEYS, "--xi", "0.1", "--recipe", "areas.csv", "--dry-run"), "no recipe"),
        (("release", "p.csv", "--pram", "area", "--diagonal", "0.9", "--recode", "age=width:5", "--dry-run"), "how to"),
        (("release", "p.csv", *KEYS, "--xi", "0.02", "--within", "area", "--dry-run"), "maskwell recode"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_line(run: Run, folder: Path, given: tuple[str, ...], about: str) -> None:
    assert_refused(run(*given), about)


def test_a_ladder_combines_bands_top_codes_and_groups_after_a_first_step(run: Run, folder: Path) -> None:
    ladders = ("--ladder", "age=width:5,10|any", "--ladder", "area=merge:x=a00,a01|y=a02,a03|file:areas.csv:2")
    asked = ("--top", "age=60", "--recode", "income=round:1000", "--matches", 200, "--importance", "age=4")
    found = run("recode", "p.csv", *KEYS, *ladders, *asked, "--recipe", "r.json", "--json")
    assert found.code == 0, found
    columns = found.json["recipe"]["columns"]
    assert columns["income"] == {"way": "rounded", "to": 1000}
    assert columns["age"]["top"] == 60
    every = [columns, *(each["recipe"]["columns"] for each in found.json["next_best"])]
    assert {"area", "age", "income"} >= {name for own in every for name in own}
    # The last few can be suppressed after the recipe.
    planned = run(
        "release", "p.csv", *KEYS, "--xi", "0.4", "--recipe", "r.json", "--suppress-below", 2, "--dry-run", "--json"
    )
    assert planned.json["recoding"]["recipe"]["suppression"]["k"] == 2, planned
    plain = run("recode", "p.csv", *KEYS, "--ladder", "age=width:5;top=60|width:20;top=60", "--matches", 10**4)
    assert "as they are" in plain.text


def test_missing_values_are_taken_in_where_it_is_said(run: Run, tmp_path: Path) -> None:
    people(300).assign(work=people(300)["work"].where(people(300).index > 9)).to_csv(tmp_path / "m.csv", index=False)
    keys = ("--keys", "sex,work", "--k", 5)
    refused = run("recode", "m.csv", *keys, "--ladder", "work=any", "--ladder", "sex=any", "--matches", 1)
    assert_refused(refused, "in work 10 records", "any:missing")
    taken = run("recode", "m.csv", *keys, "--ladder", "work=any:missing", "--ladder", "sex=any", "--matches", 1)
    assert "one category, missing values too" in taken.text
    merged = run("recode", "m.csv", "--keys", "work", "--recode", "work=merge:unknown=(missing)", "-o", "out.csv")
    assert "unknown takes 1 value of 10 records" in merged.text
    assert pd.read_csv(tmp_path / "out.csv")["work"].notna().all()


def test_weights_stand_for_the_population(run: Run, tmp_path: Path) -> None:
    persons = people(500)
    persons.assign(weight=10 + persons["age"] % 7).to_csv(tmp_path / "w.csv", index=False)
    search = ("--keys", "sex,age,area", "--ladder", "age=width:2,10|any", "--tau2", 3, "--weights", "weight", "--json")
    found = run("recode", "w.csv", *search)
    assert found.code == 0, found
    assert found.json["effects"][-1]["tau2"] <= 3


def test_a_labelled_file_takes_codes_where_it_takes_labels(run: Run, tmp_path: Path) -> None:
    persons = people(700)
    marital = pd.Categorical(persons["work"]).rename_categories(str)
    persons = persons[["sex", "age", "income"]].assign(work=marital)
    persons.to_stata(tmp_path / "p.dta", write_index=False)
    codes = {label: code for code, label in read(tmp_path / "p.dta").variable("work").value_labels.items()}
    first, second = list(codes)[:2]
    (tmp_path / "codes.csv").write_text("".join(f"{code:g},{'x' if code < 2 else 'y'}\n" for code in codes.values()))
    (tmp_path / "labels.csv").write_text("".join(f"{label},{'x' if codes[label] < 2 else 'y'}\n" for label in codes))
    for by_code, by_label in (
        ("work=file:codes.csv", "work=file:labels.csv"),
        (f"work=merge:both={codes[first]:g},{codes[second]:g}", f"work=merge:both={first},{second}"),
    ):
        for how, name in ((by_code, "c.dta"), (by_label, "l.dta")):
            ran = run("recode", "p.dta", "--keys", "sex,age,work", "--recode", how, "-o", name)
            assert ran.code == 0, ran
        assert read(tmp_path / "c.dta").table.equals(read(tmp_path / "l.dta").table)
    groups = [f"work={'|'.join(names)}" for names in ((f"{codes[first]:g}", f"{codes[second]:g}"), (first, second))]
    asked = ("--keys", "sex,age,income", "--xi", 0.5, "--dry-run", "--json", "--seed", 1)
    assert len({run("release", "p.dta", *asked, "--within", how).json["fingerprint"] for how in groups}) == 1


def test_limits_of_a_recoded_number_are_those_of_its_values(run: Run, folder: Path) -> None:
    asked = ("release", "p.csv", *KEYS, "--xi", "0.4", "--recode", "age=width:5", "--dry-run")
    planned = run(*asked, "--within", "age=40", "--json")
    assert planned.code == 0, planned
    assert_refused(run(*asked, "--within", "age=42"), "--within cuts 'age' at 42, inside of what its recoding makes")
    search = ("recode", "p.csv", *KEYS, "--ladder", "age=width:20", "--xi", "0.3", "--within", "age=40")
    assert run(*search).code == 0
