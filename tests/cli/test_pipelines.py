"""Whole pipelines: many files and columns into folders of reports and tallies, resumed, killed, and refused."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import maskwell as mw
from tests.cli.runs import Run, assert_refused
from tests.engines.sources import DESIGNS, KEY, PEOPLE, TALLIES, people

PARTS = 3
ROWS = len(PEOPLE) // PARTS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Data in three files, a design file for each column, and a key."""
    (tmp_path / "data").mkdir()
    for part in range(PARTS):
        pq.write_table(PEOPLE.slice(part * ROWS, ROWS), tmp_path / "data" / f"p{part}.parquet")
    for name, design in DESIGNS.items():
        (tmp_path / f"{name}.json").write_text(design.to_json())
    (tmp_path / "key").write_bytes(KEY)
    return tmp_path


DESIGN_OPTIONS = [text for name in DESIGNS for text in ("--design", f"{name}={name}.json")]
KEY_OPTIONS = ["--key-file", "key", "--ids", "person", "--survey", "health 2026"]
KEYED = [*DESIGN_OPTIONS, "--keep", "person,region", *KEY_OPTIONS]


@pytest.mark.parametrize("engine", ["arrow", "polars", "duckdb"])
def test_files_become_reports_tallies_and_estimates(run: Run, folder: Path, engine: str) -> None:
    ran = run("mask", "data/*.parquet", *KEYED, "-o", "reports", "--engine", engine)
    assert ran.code == 0, ran.err
    assert "masked 30,000 rows of habit, group, diet into 3 parts:" in ran.text
    assert "wrote reports" in ran.text
    assert "million rows a second" in ran.text
    assert mw.engines.tally(folder / "reports", DESIGNS) == TALLIES
    again = run("mask", "data/*.parquet", *KEYED, "-o", "reports", "--engine", engine, "--json").json
    assert (again["n"], again["parts_written"], again["parts_skipped"]) == (0, 0, 3)
    assert run("tally", "reports", "-o", "tallies").code == 0
    assert {name: mw.Tally.read(folder / "tallies" / f"{name}.tally.json") for name in DESIGNS} == TALLIES
    by_tally = run("estimate", "tallies/habit.tally.json", "--json").json
    by_reports = run("estimate", "reports", "--column", "habit", "--json").json
    assert by_tally == by_reports
    assert by_tally["n"] == len(PEOPLE)


def test_tallies_of_several_runs_are_merged(run: Run, folder: Path) -> None:
    for part in range(PARTS):
        assert run("mask", f"data/p{part}.parquet", *KEYED, "-o", f"day{part}").code == 0
        assert run("tally", f"day{part}", "-o", f"tally{part}").code == 0
    merged = run("merge", *(f"tally{part}" for part in range(PARTS)), "-o", "all")
    assert merged.code == 0
    assert "habit: 30,000 reports" in merged.text
    assert {name: mw.Tally.read(folder / "all" / f"{name}.tally.json") for name in DESIGNS} == TALLIES
    assert_refused(run("merge", "tally0", "tally0/habit.tally.json", "-o", "x"), "twice")
    (folder / "linked").mkdir()
    os.link(folder / "tally0" / "habit.tally.json", folder / "linked" / "habit.tally.json")
    assert_refused(run("merge", "tally0", "linked", "-o", "x"), "twice")
    for into in ("tally1", "./day0/../tally0"):
        assert_refused(run("merge", "tally0", "tally1", "-o", into), "is also an input", "choose another folder")
    assert_refused(run("merge", "data", "-o", "x"), "no stored tally")
    assert_refused(run("estimate", "all"), "name one with --column")
    assert_refused(run("estimate", "all", "--column", "nothing"), "nothing")
    assert_refused(run("estimate", "all/habit.tally.json", "day0", "-c", "habit"), "one or the other")


def test_one_file_becomes_one_file(run: Run, folder: Path) -> None:
    pc.write_csv(PEOPLE, folder / "all.csv")
    ran = run("mask", "all.csv", *KEYED, "--integer-ids", "-o", "all.parquet")
    assert ran.code == 0, ran.err
    assert mw.engines.tally(folder / "all.parquet", DESIGNS) == TALLIES
    assert pq.read_schema(folder / "all.parquet").names == ["person", "region", *DESIGNS]
    assert run("estimate", "all.parquet", "-c", "diet").code == 0
    assert_refused(run("mask", "data", *KEYED, "-o", "all.arrow"), "name a folder")


def test_a_run_is_resumed_where_it_was_left(run: Run, folder: Path) -> None:
    assert run("mask", "data", *KEYED, "-o", "reports").code == 0
    whole = {path.name: path.read_bytes() for path in (folder / "reports").iterdir()}
    (folder / "reports" / "p1.parquet").unlink()
    left = folder / "reports" / ".maskwell-left-over"
    left.mkdir()
    (left / "0").write_bytes(b"half a part")
    ran = run("mask", "data", *KEYED, "-o", "reports", "--json").json
    assert (ran["parts_written"], ran["parts_skipped"], ran["n"]) == (1, 2, ROWS)
    assert {path.name: path.read_bytes() for path in (folder / "reports").iterdir()} == whole
    # New files are added; parts that are there are not touched.
    later = people(35_000).slice(0, 10)
    pq.write_table(later.set_column(0, "person", pa.array(np.arange(10) + 10**9)), folder / "data" / "q.parquet")
    assert run("mask", "data", *KEYED, "-o", "reports", "--json").json["parts_written"] == 1


def test_folders_of_an_engine_are_read_and_made_again(run: Run, folder: Path) -> None:
    """``region=north/part.parquet``, as DuckDB, Spark and pyarrow write it: the value is in the folder's name alone."""
    pq.write_to_dataset(PEOPLE, folder / "split", partition_cols=["region"], basename_template="part-{i}.parquet")
    ran = run("mask", "split", *KEYED, "-o", "reports")
    assert ran.code == 0, ran.err
    parts = sorted(path.relative_to(folder / "reports").as_posix() for path in (folder / "reports").rglob("*.parquet"))
    assert parts == [f"region={name}/part-0.parquet" for name in sorted(set(PEOPLE["region"].to_pylist()))]
    assert run("tally", "reports", "-o", "tallies").code == 0
    assert {name: mw.Tally.read(folder / "tallies" / f"{name}.tally.json") for name in DESIGNS} == TALLIES
    (folder / "reports" / parts[1]).unlink()
    assert_refused(run("tally", "reports", "-o", "more"), "'reports' is unfinished: 1 of 2 parts")
    record = folder / "reports" / "_maskwell.json"
    record.write_text(record.read_text().replace('"state": "whole"', '"state": "unfinished"'))
    assert_refused(run("tally", "reports/*/*.parquet", "-o", "more"), "'reports' is unfinished")
    assert_refused(run("tally", str(Path("reports") / Path(parts[0]).parent), "-o", "more"), "'reports' is unfinished")
    again = run("mask", "split/*/*.parquet", *KEYED, "-o", "reports", "--json").json
    assert (again["parts_written"], again["parts_skipped"]) == (1, len(parts) - 1)
    assert mw.engines.tally(folder / "reports", DESIGNS) == TALLIES
    assert_refused(
        run("mask", "split", *DESIGN_OPTIONS, "-o", "other"), "--keep: the folders of the source tell 'region'"
    )
    assert_refused(run("mask", "split", *KEYED, "-o", "other", "--engine", "polars"), "use the engine arrow or spark")


def test_folders_are_not_named_by_what_is_masked(run: Run, folder: Path) -> None:
    pq.write_to_dataset(PEOPLE, folder / "split", partition_cols=["habit"], basename_template="part-{i}.parquet")
    assert_refused(run("mask", "split", *KEYED, "-o", "reports"), "'habit', which is masked")
    assert not (folder / "reports").exists()


def test_another_request_for_the_same_folder_is_refused(run: Run, folder: Path) -> None:
    assert run("mask", "data", *KEYED, "-o", "reports").code == 0
    (folder / "other").write_bytes(bytes(32))
    record = (folder / "reports" / "_maskwell.json").read_text()
    assert json.loads(record)["maskwell"] == "run"
    assert KEY.hex()[:16] not in record
    changed = [option if option != "key" else "other" for option in KEYED]
    assert_refused(run("mask", "data", *changed, "-o", "reports"), "another request")
    assert_refused(run("mask", "data", *DESIGN_OPTIONS, "-o", "reports"), "another request")
    assert_refused(run("mask", "data/p0.parquet", *KEYED, "-o", "reports"), "not among the files any more")
    pq.write_table(PEOPLE.slice(0, 5), folder / "data" / "p0.parquet")
    assert_refused(run("mask", "data", *KEYED, "-o", "reports"), "has changed")
    (folder / "reports" / "_maskwell.json").unlink()
    assert_refused(run("mask", "data", *KEYED, "-o", "reports"), "no run has recorded")


def test_ids_that_repeat_in_another_file_are_refused(run: Run, folder: Path) -> None:
    pq.write_table(PEOPLE.slice(7, 1), folder / "data" / "again.parquet")
    for engine in ("arrow", "duckdb"):
        ran = run("mask", "data", *KEYED, "-o", engine, "--engine", engine)
        assert_refused(ran, "repeat another")
    assert not list((folder / "duckdb").glob("*.parquet"))
    assert not (folder / "arrow" / "p0.parquet").exists()
    assert [path.name for path in (folder / "arrow").glob("*.parquet")] == ["again.parquet"]


def test_ids_that_are_numbers_in_one_file_and_text_in_another_are_refused(run: Run, folder: Path) -> None:
    pc.write_csv(PEOPLE.slice(0, 100), folder / "data" / "q.csv")
    refused = run("mask", "data", *KEYED, "-o", "reports")
    assert_refused(refused, "--ids: 'q.csv', ids are whole numbers in one file and text", "pass --integer-ids to read")
    assert_refused(run("tally", "reports", "-o", "x"), "unfinished")


@pytest.mark.parametrize("engine", ["arrow", "polars", "duckdb"])
def test_a_wrong_label_is_one_line_whatever_the_engine_says(run: Run, folder: Path, engine: str) -> None:
    wrong = PEOPLE.slice(10_000, 20).set_column(1, "habit", pa.array(["Zyzzyva-7"] * 20))
    pq.write_table(wrong, folder / "data" / "p1.parquet")
    ran = run("mask", "data", *KEYED, "-o", "reports", "--engine", engine)
    assert_refused(ran, "'p1.parquet', column 'habit': values hold a label")
    assert "Zyzzyva" not in ran.err
    assert "expression" not in ran.err
    assert [path.name for path in (folder / "reports").glob("*.parquet")] == ["p0.parquet"]


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_a_file_that_an_engine_cannot_read_is_one_line(run: Run, folder: Path, engine: str) -> None:
    """The ids can be read, which is done first; a page of another column is damaged."""
    path = folder / "data" / "p1.parquet"
    place = pq.ParquetFile(path).metadata.row_group(0).column(PEOPLE.column_names.index("group"))
    damaged = bytearray(path.read_bytes())
    damaged[place.dictionary_page_offset : place.dictionary_page_offset + 40] = bytes([255]) * 40
    path.write_bytes(damaged)
    assert_refused(run("mask", "data", *KEYED, "-o", "reports", "--engine", engine), f"cannot be read by {engine}")


@pytest.mark.parametrize("engine", ["arrow", "polars", "duckdb"])
def test_a_file_without_rows_becomes_a_part_without_rows(run: Run, folder: Path, engine: str) -> None:
    """As partitions of an engine may be empty."""
    pq.write_table(PEOPLE.slice(0, 0), folder / "data" / "empty.parquet")
    if engine == "arrow":
        pc.write_csv(PEOPLE.slice(0, 0), folder / "data" / "header.csv")
    assert run("mask", "data", *KEYED, "-o", "reports", "--engine", engine, "--json").json["n"] == len(PEOPLE)
    found = mw.engines.tally(folder / "reports", DESIGNS)
    assert found == TALLIES
    assert (found["habit"].randomness, found["habit"].question) == ("keyed", "health 2026/habit")
    assert run("tally", "reports/empty.parquet", "-o", "none").code == 0
    assert mw.Tally.read(folder / "none" / "habit.tally.json").n == 0
    assert_refused(run("mask", "data/empty.parquet", *KEYED, "-o", "one.parquet"), "no rows")


@pytest.mark.parametrize(
    ("options", "about"),
    [
        (["--design", "habit.json", "-o", "r"], "--column"),
        (["--design", "habit=habit.json", "--design", "habit=habit.json", "-o", "r"], "twice"),
        (["--design", "habit=habit.json", "-o", "-"], "files"),
        (["--design", "habit=habit.json", "-o", "nowhere/r"], "create it first"),
        (["--design", "habit=habit.json", "--seed", "1", "-o", "r"], "--seed"),
        (["--design", "habit=habit.json", "--engine", "polars", "-o", "r"], "may evaluate a part twice"),
        (
            ["--design", "habit=habit.json", "--engine", "spark", "-o", "r"],
            "Pass --ids, --key-file and --survey, so that the same report comes again; or use --engine arrow.",
        ),
        (["--design", "habit=habit.json", "--keep", "habit", "-o", "r"], "--keep"),
        (["--design", "nothing=habit.json", "-o", "r"], "'nothing'"),
        (["--design", "habit.json", "--design", "diet.json", "--column", "habit", "-o", "r.parquet"], "COLUMN=FILE"),
        (["--design", "habit=habit.json", "--key-file", "key", "-o", "r"], "go together"),
    ],
)
def test_a_wrong_request_is_one_line(run: Run, folder: Path, options: list[str], about: str) -> None:
    assert_refused(run("mask", "data", *options), about)


def test_a_run_that_is_killed_leaves_whole_parts_and_goes_on(folder: Path, run: Run) -> None:
    """SIGKILL while a part is being written: what is there is whole, and the next run gives the same in the end."""
    many = folder / "many"
    many.mkdir()
    table = people(400_000)
    for part in range(8):
        pq.write_table(table.slice(part * 50_000, 50_000), many / f"p{part}.parquet")
    command = [sys.executable, "-m", "maskwell", "mask", "many", *KEYED, "-o", "reports"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    reports = folder / "reports"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None and not list(reports.glob("*.parquet")):
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    there = list(reports.glob("*.parquet"))
    assert 0 < len(there) < 8
    for path in there:
        assert mw.Tally.read(path, column="habit").n == 50_000
    ran = run("mask", "many", *KEYED, "-o", "reports", "--json").json
    assert (ran["parts_skipped"], ran["parts_written"]) == (len(there), 8 - len(there))
    whole = mw.engines.mask(table, DESIGNS, id="person", key=KEY, survey="health 2026", keep=["person", "region"])
    assert mw.engines.tally(reports, DESIGNS) == mw.engines.tally(whole, DESIGNS)
    assert not list(reports.glob(".maskwell-*"))
