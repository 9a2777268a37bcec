"""``maskwell release``: what it writes from each kind of file, that it writes all or nothing, and its refusals."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyreadstat
import pytest

from maskwell.microdata import read, write
from maskwell.release import ReleasePlan, limit_identification
from tests.cli.runs import SECRET, Run, assert_refused
from tests.persons import population

KEYS = "sex,age,race,marital,area"
LIMIT = ("--keys", KEYS, "--xi", "0.5", "--within", "sex", "--within", "age=18,65")


@pytest.fixture(scope="module")
def persons() -> pa.Table:
    """Persons with labels in an order that is not the alphabet's."""
    frame = population(3000)
    frame["sex"] = pd.Categorical(frame["sex"], categories=["male", "female"])
    return pa.Table.from_pandas(frame, preserve_index=False)


@pytest.fixture
def folder(tmp_path: Path, persons: pa.Table) -> Path:
    """The persons in every format, and a key."""
    for suffix in ("parquet", "csv", "dta", "sav"):
        write(persons, tmp_path / f"persons.{suffix}")
    (tmp_path / "key").write_bytes(bytes(range(32)))
    return tmp_path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# What is written


@pytest.mark.parametrize("suffix", ["parquet", "csv", "dta", "sav"])
def test_every_format_releases_the_same_persons(run: Run, folder: Path, persons: pa.Table, suffix: str) -> None:
    ran = run(
        "release",
        f"persons.{suffix}",
        *LIMIT,
        "--seed",
        5,
        "--keep-order",
        "-o",
        f"out.{suffix}",
        "--plan",
        "plan.json",
    )
    assert (ran.code, ran.err) == (0, "")
    for part in ("the limit 0.5 holds", "1 before", "simulation only", f"wrote out.{suffix}\nwrote plan.json"):
        assert part in ran.text
    before, after = read(f"persons.{suffix}"), read(f"out.{suffix}")
    expected = limit_identification(before.table, KEYS.split(","), 0.5, {"sex": None, "age": [18, 65]}, seed=5)
    assert after.table.to_pydict() == expected.table.to_pydict()
    for name in persons.column_names:
        changed = after.table.column(name).to_pylist() != before.table.column(name).to_pylist()
        assert changed == (name in ("age", "race", "marital", "area"))
    plan = ReleasePlan.from_json(Path("plan.json").read_text())
    assert plan.fingerprint == expected.plan.fingerprint


def test_stata_labels_and_codes_survive_the_release(run: Run, folder: Path) -> None:
    assert run("release", "persons.dta", *LIMIT, "--keep-order", "-o", "out.dta").code == 0
    before, old = pyreadstat.read_dta("persons.dta", output_format="dict")
    after, new = pyreadstat.read_dta("out.dta", output_format="dict")
    assert new.variable_value_labels == old.variable_value_labels
    assert new.original_variable_types == old.original_variable_types
    assert after["sex"] == before["sex"]
    assert list(before) == list(after)


@pytest.mark.parametrize("suffix", ["dta", "sav"])
def test_a_code_that_vanishes_from_between_others_is_told(run: Run, folder: Path, suffix: str) -> None:
    """With seed 0 the one record of the second area moves away and no other comes in; with seed 1 one is there."""
    areas = pa.DictionaryArray.from_arrays(pa.array([0] * 40 + [1] + [2] * 40), pa.array(["north", "islet", "south"]))
    write(pa.table({"area": areas, "x": [float(i % 7) for i in range(81)]}), folder / f"areas.{suffix}")
    told = "codes of 1 category of 'area' that nobody has any more"
    for seed, warned in ((0, True), (1, False)):
        command = ("release", f"areas.{suffix}", "--pram", "area", "--least-diagonal", "0.5", "--seed", seed)
        ran = run(*command, "-o", f"out{seed}.{suffix}", "--internal", f"{seed}.html", "--external", f"e{seed}.html")
        assert ran.code == 0, ran.err
        assert ("islet" not in read(f"out{seed}.{suffix}").values("area").to_pylist()) is warned
        assert (told in ran.text) is warned
        assert ("leave gaps in the numbering" in Path(f"{seed}.html").read_text()) is warned
        assert "leave gaps" not in Path(f"e{seed}.html").read_text()
        again = run(*command, "--dry-run", "--json")
        assert again.json["code_gaps"] == ({"area": 1} if warned else {})


def test_lines_of_csv_that_do_not_move_stay_as_they_are(run: Run, folder: Path) -> None:
    ran = run("release", "persons.csv", *LIMIT, "--keep-order", "-o", "out.csv", "--json")
    before, after = Path("persons.csv").read_bytes().splitlines(), Path("out.csv").read_bytes().splitlines()
    differing = sum(a != b for a, b in zip(before, after, strict=True))
    assert 0 < differing == ran.json["changed_records"]
    assert ran.json["randomness"] == ["secure"]


def test_rows_come_in_random_order_unless_they_are_to_stay(run: Run, folder: Path, persons: pa.Table) -> None:
    """Where rows are sorted, a record out of its place would tell that it was moved."""
    assert run("release", "persons.parquet", *LIMIT, "-o", "out.parquet").code == 0
    order = read("out.parquet").table.column("person").to_pylist()
    assert order != persons.column("person").to_pylist()
    assert sorted(order) == persons.column("person").to_pylist()
    kept = run("release", "persons.parquet", *LIMIT, "--keep-order", "-o", "kept.parquet")
    assert kept.code == 0
    assert read("kept.parquet").table.column("person").to_pylist() == persons.column("person").to_pylist()


def test_dictionaries_do_not_tell_the_order_of_the_rows(run: Run, folder: Path, persons: pa.Table) -> None:
    """Entries in the order of their first occurrence, of a column that stays or of one that changes."""
    for name in ("income", "age"):
        text = pa.array([f"v{value}" for value in persons.column(name).to_pylist()]).dictionary_encode()
        persons = persons.set_column(persons.column_names.index(name), name, text)
    persons = persons.append_column("empty", pa.nulls(len(persons)))
    write(persons, "coded.parquet")
    assert run("release", "coded.parquet", "--keys", "sex,age,area", "--xi", "0.5", "-o", "out.parquet").code == 0
    released = read("out.parquet").table
    place = {person: row for row, person in enumerate(persons.column("person").to_pylist())}
    rows = np.array([place[person] for person in released.column("person").to_pylist()])
    for name in ("income", "age"):
        codes = released.column(name).chunk(0).indices.to_numpy()
        # 3,000 pairs without a connection: a correlation above 0.1 has a chance below 1e-7.
        assert abs(np.corrcoef(codes, rows)[0, 1]) < 0.1


def test_views_of_text_are_released(run: Run, folder: Path, persons: pa.Table) -> None:
    sex = persons.column("sex").cast(pa.string()).cast(pa.string_view())
    table = persons.set_column(persons.column_names.index("sex"), "sex", sex)
    feather.write_feather(table, "views.arrow", compression="uncompressed")  # pyarrow 20 cannot compress views
    assert run("release", "views.arrow", *LIMIT, "-o", "out.arrow").code == 0


def test_plan_and_internal_report_are_for_their_owner_alone(run: Run, folder: Path) -> None:
    outputs = ("-o", "out.csv", "--plan", "plan.json", "--internal", "in.html", "--external", "ex.html")
    assert run("release", "persons.csv", *LIMIT, *outputs).code == 0
    assert {name: Path(name).stat().st_mode & 0o077 for name in ("plan.json", "in.html")} == {
        "plan.json": 0,
        "in.html": 0,
    }
    assert Path("ex.html").stat().st_mode & 0o044


def test_a_plan_is_not_repeated_with_another_key(run: Run, folder: Path) -> None:
    """Two files with different draws, side by side, would show who was moved."""
    Path("one.key").write_bytes(bytes(32))
    Path("two.key").write_bytes(bytes(31) + b"1")
    keyed = ("--key-file", "one.key", "--ids", "person")
    assert run("release", "persons.csv", *LIMIT, *keyed, "-o", "a.csv", "--plan", "plan.json").code == 0
    again = ("release", "persons.csv", "--replay", "plan.json", "--ids", "person", "-o", "b.csv")
    assert_refused(run(*again, "--key-file", "two.key"), "not the one that the plan was drawn with")
    assert not Path("b.csv").exists()
    assert run(*again, "--key-file", "one.key").code == 0
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()


def test_nothing_is_written_if_the_audit_fails(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It never does; were the draws changed to move less, the audit of the same integers would tell."""
    from fractions import Fraction

    from maskwell.release.identification import rules

    monkeypatch.setattr(rules, "theta_for", lambda xi: Fraction(1, 4))
    rules.rule_for.cache_clear()
    assert_refused(run("release", "persons.csv", *LIMIT, "-o", "out.csv"), "audit", "nothing was written")
    rules.rule_for.cache_clear()
    assert not Path("out.csv").exists()


def test_combinations_that_nobody_had_are_told(run: Run, folder: Path, persons: pa.Table) -> None:
    age = persons.column("age").to_pylist()
    write(persons.append_column("school", pa.array(["yes" if a < 18 else "no" for a in age])), "school.csv")
    limit = ("--keys", KEYS, "--xi", "0.5", "--within", "sex", "--blocks", "whole")
    assert "age × school" in run("release", "school.csv", *limit, "-o", "out.csv").text


def test_columns_can_be_left_out_and_formats_changed(run: Run, folder: Path) -> None:
    assert run("release", "persons.csv", *LIMIT, "--drop", "person,income", "-o", "out.dta", "--seed", 1).code == 0
    assert read("out.dta").names == KEYS.split(",")


def test_the_pages_and_all_outputs_appear_together(run: Run, folder: Path) -> None:
    pages = ("--internal", "in.html", "--external", "ex.html", "--publish-limit", "--variance", "sex,age=18,65")
    ran = run("release", "persons.parquet", *LIMIT, "-o", "out.parquet", "--plan", "plan.json", *pages)
    assert ran.code == 0, ran.err
    assert "sex, age: at most" in ran.text
    assert names(folder) >= {"in.html", "ex.html", "plan.json", "out.parquet"}
    assert "<html" in Path("in.html").read_text("utf-8")
    assert not [name for name in names(folder) if name.startswith(".")]


def test_a_column_that_gives_a_key_away_is_named(run: Run, folder: Path) -> None:
    table = read("persons.parquet").table
    number = table.column("marital").combine_chunks().dictionary_encode().indices
    write(table.append_column("status", number), "told.parquet")
    ran = run("release", "told.parquet", *LIMIT, "--dry-run")
    assert "beware: 'status' stays as it is and tells the true 'marital'" in ran.text
    assert "the release would stop: 'status'" in ran.text
    assert ran.code == 3
    without = run("release", "told.parquet", *LIMIT, "--dry-run", "--drop", "status,person")
    assert without.code == 0
    assert "beware" not in without.text
    assert run("release", "told.parquet", *LIMIT, "--dry-run", "--accept", "status", "--json").code == 0
    asked = run("release", "told.parquet", *LIMIT, "--dry-run", "--json")
    assert (asked.code, asked.json["would_stop"]) == (3, ["status"])


def test_a_column_that_decides_a_key_stops_the_release_unless_it_is_accepted(run: Run, folder: Path) -> None:
    table = read("persons.parquet").table
    nearly = np.array(table.column("age").to_pylist()) * 10 + np.random.default_rng(1).integers(25, size=len(table))
    write(table.append_column("points", pa.array(nearly)), "told.parquet")
    outputs = ("-o", "out.parquet", "--plan", "plan.json", "--internal", "in.html")
    before = names(folder)
    limit = ("--keys", KEYS, "--xi", "0.5", "--within", "sex")
    assert_refused(run("release", "told.parquet", *limit, *outputs), "'points'", "--drop points", "--accept points")
    assert names(folder) == before
    assert_refused(run("release", "told.parquet", *limit, *outputs, "--accept", "pints"), "--accept names 'pints'")
    assert_refused(run("release", "told.parquet", *limit, *outputs, "--accept", "income"), "'points'")
    accepted = run("release", "told.parquet", *limit, *outputs, "--accept", "points")
    assert accepted.code == 0, accepted.err
    # Accepted, but not forgotten.
    assert "beware: records with neighbouring 'points' mostly share 'age'" in accepted.text
    assert "records with neighbouring &#x27;points&#x27;" in Path("in.html").read_text("utf-8")
    again = ("release", "told.parquet", "--replay", "plan.json", "-o", "b.parquet")
    assert_refused(run(*again), "'points'")
    assert run(*again, "--accept", "points").code == 0


def test_one_draw_is_written_in_several_formats_or_in_none(run: Run, folder: Path) -> None:
    files = ("-o", "a.sav", "-o", "a.dta", "-o", "a.csv")
    ran = run("release", "persons.sav", *LIMIT, *files, "--json")
    assert ran.code == 0, ran
    assert ran.json["output"] == ["a.sav", "a.dta", "a.csv"]
    tables = [read(f"a.{suffix}") for suffix in ("sav", "dta", "csv")]
    for name in KEYS.split(","):
        values = [list(map(str, table.values(name).to_pylist())) for table in tables]
        assert values[0] == values[1]
    before = names(folder)
    assert_refused(run("release", "persons.sav", *LIMIT, "-o", "b.sav", "-o", "none/b.dta"), "no folder")
    assert_refused(run("release", "persons.sav", *LIMIT, "-o", "b.sav", "-o", "b.xyz"), "b.xyz")
    assert_refused(run("release", "persons.sav", *LIMIT, "-o", "b.sav", "-o", "b.sav"), "two outputs")
    assert names(folder) == before


def test_a_plan_leaves_out_again_what_was_left_out(run: Run, folder: Path) -> None:
    limit = (*LIMIT, "--drop", "person,income", "--seed", 3, "--keep-order")
    assert run("release", "persons.csv", *limit, "-o", "a.csv", "--plan", "plan.json").code == 0
    again = run("release", "persons.csv", "--replay", "plan.json", "--keep-order", "-o", "b.csv")
    assert again.code == 0, again
    assert "left out, as the plan says: person, income" in again.text
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    more = run("release", "persons.csv", "--replay", "plan.json", "--drop", "person", "-o", "c.csv")
    assert "income" not in read("c.csv").names
    assert "left out, as the plan says: income" in more.text
    plan = json.loads(Path("plan.json").read_text("utf-8"))
    Path("bad.json").write_text(json.dumps({**plan, "dropped": "person"}), "utf-8")
    assert_refused(run("release", "persons.csv", "--replay", "bad.json", "-o", "d.csv"), "'dropped' in the plan")


def test_a_column_that_decides_a_key_can_move_along(run: Run, folder: Path) -> None:
    table = read("persons.parquet").table
    born = 2026 - np.array(table.column("age").to_pylist())
    write(table.append_column("born", pa.array(born)), "told.parquet")
    limit = ("--keys", KEYS, "--xi", "0.5", "--within", "sex")
    outputs = ("--keep-order", "-o", "out.parquet", "--plan", "plan.json", "--external", "ex.html")
    assert_refused(run("release", "told.parquet", *limit, *outputs), "'born'", "--along born")
    assert run("release", "told.parquet", *limit, "--along", "born", *outputs).code == 0
    after = read("out.parquet").table
    moved = np.array(after.column("born").to_pylist()) != born
    assert moved.sum() > 500
    assert after.column("born").to_pylist() == [2026 - age for age in after.column("age").to_pylist()]
    assert "<td>born</td><td>may differ" in re.sub(
        r"<(t[hd])[^>]*>", r"<td>", Path("ex.html").read_text("utf-8")
    ).replace("</th>", "</td>")
    assert run("release", "told.parquet", "--replay", "plan.json", "-o", "b.parquet").code == 0
    assert_refused(run("release", "told.parquet", *limit, "--along", "age", *outputs), "--along names 'age'")
    assert_refused(run("release", "told.parquet", *limit, "--along", "brn", *outputs), "--along names 'brn'")
    assert_refused(run("release", "told.parquet", *limit, "--along", "born", "--drop", "born", *outputs), "--drop")


def test_a_dry_run_warns_of_all_that_the_run_warns_of(run: Run, folder: Path) -> None:
    table = read("persons.parquet").table
    age = np.array(table.column("age").to_pylist())
    more = {
        "status": table.column("marital").combine_chunks().dictionary_encode().indices,
        "points": pa.array(age * 10 + np.random.default_rng(1).integers(25, size=len(age))),
        "school": pa.array(np.where(age < 18, "yes", "no")),
        "number": pa.array(np.argsort(np.argsort(age * 10_000 + np.arange(len(age))))),
    }
    for name, column in more.items():
        table = table.append_column(name, column)
    write(table, "told.parquet")
    limit = ("--keys", KEYS, "--xi", "0.5", "--within", "sex", "--seed", 4, "--accept", ",".join(more))
    dry = run("release", "told.parquet", *limit, "--dry-run")
    ran = run("release", "told.parquet", *limit, "-o", "out.parquet")
    assert (dry.code, ran.code) == (0, 0)
    warned = [line for line in ran.text.splitlines() if line.startswith("beware")]
    assert {name for name in more if any(f"{name}" in line for line in warned)} == set(more)
    assert [line for line in dry.text.splitlines() if line.startswith("beware")] == warned
    figures = [run("release", "told.parquet", *limit, *way, "--json").json for way in (("--dry-run",), ("-o", "o.csv"))]
    for what in ("intruders", "deciding", "giveaways", "impossible", "accepted", "would_stop"):
        assert figures[0][what] == figures[1][what]


def test_the_limit_stands_beside_what_the_file_alone_tells(run: Run, folder: Path) -> None:
    for more in (("--dry-run",), ("-o", "out.csv", "--internal", "in.html")):
        text = run("release", "persons.csv", *LIMIT, "--seed", 5, *more).text
        line = " ".join(text[text.index("the limit 0.5") : text.index("by a blind guess)")].split())
        assert "who knows the keys" in line
        assert "one with the released file alone is right in" in line
        assert "by the counts of a whole block" in line
        assert "whom the limit does not cover" not in line
        known = re.search(r"whoever knows (\w+) as well, and the blocks, is right in (0\.\d\d)", " ".join(text.split()))
        assert known is not None
        assert known[1] in {"person", "income"}
    low = ("release", "persons.csv", "--keys", KEYS, "--xi", "0.3", "--within", "sex", "--seed", 5, "--dry-run")
    counted = run(*low, "--json").json["intruders"]["all_counts"]["risk"]
    said = "an intruder whom the limit does not cover" in " ".join(run(*low).text.split())
    assert said is (counted > 0.3)
    assert said


# Options


def test_cuts_groups_and_exemptions_reach_the_plan(run: Run, folder: Path) -> None:
    cuts = ("--within", "race=white|black,asian", "--exempt", "marital=never|married", "--exempt", "sex")
    limit = ("--keys", KEYS, "--xi", "1/2", *cuts, "--merge")
    assert run("release", "persons.parquet", *limit, "--dry-run", "--plan", "plan.json").code == 0
    content = json.loads(Path("plan.json").read_text())["content"]
    assert content["within"] == {"race": [["white"], ["black", "asian"]]}
    assert content["exempt"] == {"marital": ["never", "married"], "sex": None}
    assert content["merge"] is True


def test_whole_groups_move_together(run: Run, folder: Path) -> None:
    homes = pa.table({"home": [f"h{i // 2}" for i in range(400)], "size": [i // 2 % 90 for i in range(400)]})
    write(homes, "homes.csv")
    limit = ("--keys", "size", "--xi", 0.5, "--together", "home")
    ran = run("release", "homes.csv", *limit, "--keep-order", "-o", "out.csv", "--json", "--seed", 2)
    sizes = read("out.csv").table.column("size").to_pylist()
    assert ran.code == 0, ran.err
    assert sizes[::2] == sizes[1::2]


def test_a_dry_run_writes_nothing_but_the_plan(run: Run, folder: Path) -> None:
    before = names(folder)
    ran = run("release", "persons.dta", *LIMIT, "--dry-run", "--json")
    assert ran.json["audit"]["holds"] is True
    assert ran.json["expected_moves"] > 0
    assert names(folder) == before
    text = run("release", "persons.dta", *LIMIT, "--dry-run", "--plan", "plan.json").text
    assert "would hold" in text
    assert names(folder) == before | {"plan.json"}
    replayed = run("release", "persons.dta", "--replay", "plan.json", "-o", "out.dta")
    assert replayed.code == 0
    assert "the draws are new" not in replayed.text


@pytest.mark.parametrize("suffix", ["parquet", "csv", "dta", "sav"])
@pytest.mark.parametrize("chance", [("--seed", "9"), ("--key-file", "key", "--ids", "person")])
def test_a_plan_repeats_the_file_to_the_byte(run: Run, folder: Path, suffix: str, chance: Any) -> None:
    run("release", f"persons.{suffix}", *LIMIT, *chance, "-o", f"a.{suffix}", "--plan", "plan.json")
    again = chance if chance[0] == "--key-file" else ()
    ran = run("release", f"persons.{suffix}", "--replay", "plan.json", *again, "-o", f"b.{suffix}", "--json")
    assert ran.json["redrawn"] is False
    assert Path(f"b.{suffix}").read_bytes() == Path(f"a.{suffix}").read_bytes()
    assert Path(f"a.{suffix}").read_bytes() != Path(f"persons.{suffix}").read_bytes()


def test_a_plan_without_seed_or_key_says_that_draws_are_new(run: Run, folder: Path) -> None:
    run("release", "persons.csv", *LIMIT, "-o", "a.csv", "--plan", "plan.json")
    ran = run("release", "persons.csv", "--replay", "plan.json", "-o", "b.csv")
    assert "the draws are new" in ran.text
    assert Path("a.csv").read_bytes() != Path("b.csv").read_bytes()


def test_post_randomization_and_its_replay(run: Run, folder: Path) -> None:
    how = ("--pram", "marital", "--least-diagonal", "0.8", "--strata", "sex", "--exempt", "marital=widowed")
    how = (*how, "--keep-order")
    ran = run(
        "release", "persons.dta", *how, "--seed", 3, "-o", "a.dta", "--plan", "plan.json", "--variance", "marital"
    )
    assert (ran.code, ran.err) == (0, "")
    for part in ("marital: 5 categories within sex", "expected frequencies are kept", "no limit on identification"):
        assert part in ran.text
    before, after = (read(name).table.column("marital").to_pylist() for name in ("persons.dta", "a.dta"))
    moved = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    assert moved
    assert "widowed" not in {label for pair in moved for label in pair}
    assert run("release", "persons.dta", "--replay", "plan.json", "--keep-order", "-o", "b.dta").code == 0
    assert Path("a.dta").read_bytes() == Path("b.dta").read_bytes()
    dry = run("release", "persons.dta", "--pram", "marital", "--least-diagonal", "0.8", "--dry-run")
    assert "nothing was written" in dry.text


# All or nothing


def test_a_failure_leaves_old_files_and_no_new_ones(run: Run, folder: Path) -> None:
    Path("plan.json").write_text("old")
    Path("taken.html").mkdir()
    before = names(folder)
    outputs = ("-o", "out.dta", "--plan", "plan.json", "--internal", "taken.html")
    assert_refused(run("release", "persons.dta", *LIMIT, *outputs), "taken.html")
    assert_refused(
        run("release", "persons.dta", *LIMIT, "-o", "out.dta", "--plan", "plan.json", "--variance", "nobody"), "nobody"
    )
    write(read("persons.csv").table.rename_columns({"income": "in come"}), "odd.parquet")
    assert_refused(run("release", "odd.parquet", *LIMIT, "-o", "out.dta", "--plan", "plan.json"), "in come")
    assert names(folder) == before | {"odd.parquet"}
    assert Path("plan.json").read_text() == "old"


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_killed_release_leaves_nothing(folder: Path, sent: signal.Signals, code: int) -> None:
    before = names(folder)
    outputs = ("-o", "out.dta", "--plan", "plan.json", "--internal", "in.html")
    command = [sys.executable, "-m", "maskwell", "release", "persons.dta", *LIMIT, *outputs]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while names(folder) == before and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    assert process.poll() is None, "the process ended before it could be stopped"
    process.send_signal(sent)
    process.communicate()
    assert process.returncode == code
    assert names(folder) == before


# Refusals


def test_options_that_do_not_go_together(run: Run, folder: Path) -> None:
    def refused(*options: object, about: str) -> None:
        assert_refused(run("release", "persons.dta", *options), about)

    refused(about="-o must name")
    refused("-o", "out.dta", about="say how to release")
    refused("-o", "out.dta", "--xi", 0.5, about="say how to release")
    refused("-o", "out.dta", "--keys", "sex", about="--keys needs --xi")
    refused("-o", "out.dta", "--pram", "sex", about="--diagonal")
    refused("-o", "out.dta", *LIMIT, "--pram", "sex", about="one of them")
    refused("-o", "out.dta", *LIMIT, "--replay", "key", about="one of them")
    refused("-o", "out.dta", *LIMIT, "--dry-run", about="--dry-run writes nothing")
    refused("-o", "out.dta", *LIMIT, "--publish-limit", about="--external")
    refused("-o", "out.dta", *LIMIT, "--plan", "out.dta", about="one name")
    refused("-o", "persons.dta", *LIMIT, about="also the input")
    refused("-o", "out.xlsx", *LIMIT, about="must end in")
    refused("-o", "no/out.dta", *LIMIT, about="no folder")
    refused("-o", "out.dta", *LIMIT, "--key-file", "key", about="go together")
    refused("-o", "out.dta", *LIMIT, "--key-file", "key", "--ids", "nr", about="'nr'")
    refused("-o", "out.dta", "--keys", "sex,agge", "--xi", 0.5, about="--keys names 'agge'")
    refused("-o", "out.dta", "--keys", KEYS, "--xi", "half", about="--xi must be a number")
    refused("-o", "out.dta", "--keys", KEYS, "--xi", 1.2, about="--xi")
    refused("-o", "out.dta", *LIMIT, "--within", "race=wihte|black", about="that none of the")
    refused("-o", "out.dta", *LIMIT, "--within", "race=", about="after the =")
    refused("-o", "out.dta", *LIMIT, "--within", "area=far", about="numbers where intervals start")
    refused("-o", "out.dta", *LIMIT, "--within", "race=1,2", about="holds text as well")
    refused("-o", "out.dta", *LIMIT, "--drop", "race", about="--drop leaves out 'race'")
    refused("-o", ".", *LIMIT, about="'.' must end in")
    refused("-o", "out.dta", "--pram", "race", "--diagonal", "0.2", about="Use --least-diagonal, which")
    refused("-o", "out.dta", *LIMIT, "--within", "sex", about="twice")
    refused("-o", "out.dta", *LIMIT, "--within", "area", "--within", "race", about="add --merge")
    refused("-o", "out.dta", "--pram", "sex", "--diagonal", "0.9", "--exempt", "race=white", about="its one column")
    assert names(folder) == {"persons.parquet", "persons.csv", "persons.dta", "persons.sav", "key"}


def test_plans_of_other_files_and_other_documents(run: Run, folder: Path) -> None:
    run("release", "persons.csv", *LIMIT, "--key-file", "key", "--ids", "person", "-o", "a.csv", "--plan", "plan.json")
    replay = ("--replay", "plan.json", "-o", "b.csv")
    assert_refused(run("release", "persons.csv", *replay), "drawn with a key")
    keyed = (*replay, "--key-file", "key", "--ids", "person")
    assert_refused(run("release", "a.csv", *keyed), "not the one that the plan was made for")
    assert_refused(run("release", "persons.csv", *keyed, "--exempt", "sex"), "leave out --exempt")
    Path("other.csv").write_text(f"{SECRET},b\nx,1\n")
    assert_refused(run("release", "other.csv", "--replay", "plan.json", "-o", "b.csv"), "key")
    Path("plan.json").write_text(Path("plan.json").read_text().replace('"units": 3000', '"units": 3001'))
    assert_refused(run("release", "persons.csv", *keyed), "fingerprint")
    assert_refused(run("release", "persons.csv", "--replay", "key", "-o", "b.csv"), "JSON")


@pytest.mark.parametrize(
    "content", [b"", b"a,b\n", f"{SECRET},{SECRET}\n1,2\n".encode(), f'a,b\n{SECRET},"1\n'.encode()]
)
def test_bad_files_are_refused_without_a_value(run: Run, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.csv").write_bytes(content)
    assert_refused(run("release", "bad.csv", "--keys", "a", "--xi", 0.5, "-o", "out.csv"), "bad.csv")
