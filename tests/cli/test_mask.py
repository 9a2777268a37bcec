"""``maskwell mask``: it draws what the library draws, whatever the file, and refuses without a true value."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maskwell as mw
from maskwell.microdata.text import cells as csv_cells
from maskwell.tables import files as data_files
from maskwell.tables.files import open_columns
from tests.cli.runs import SECRET, Run, assert_refused


@pytest.mark.parametrize("data", ["answers.csv", "answers.parquet", "answers.arrow"])
@pytest.mark.parametrize("output", ["out.parquet", "out.arrow", "out.csv"])
def test_mask_draws_what_the_library_draws(run: Run, files: Path, data: str, output: str) -> None:
    ran = run("mask", data, "--column", "colour", "--design", "design.json", "--seed", 1, "-o", output, "--json")
    assert ran.json["n"] == 3000, ran.err
    assert ran.json["randomness"] == "seeded"
    assert mw.Reports.read(output) == mw.Reports.read("reports.parquet")


def test_mask_reads_standard_input(run: Run, files: Path) -> None:
    content = (files / "answers.csv").read_bytes()
    ran = run("mask", "-", "-c", "colour", "-d", "design.json", "--seed", 1, "-o", "out.parquet", stdin=content)
    assert "masked 3,000 rows with minimax" in ran.out.decode()
    assert "simulation only\nwrote out.parquet" in ran.out.decode()
    assert mw.Reports.read("out.parquet") == mw.Reports.read("reports.parquet")


def test_batches_do_not_change_the_draw(run: Run, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_files, "_BATCH_ROWS", 100)
    monkeypatch.setattr(csv_cells, "BLOCK_BYTES", 700)
    for data in ("answers.csv", "answers.parquet", "answers.arrow"):
        assert run("mask", data, "-c", "colour", "-d", "design.json", "--seed", 1, "-o", "out.parquet").code == 0
        assert pq.ParquetFile("out.parquet").num_row_groups > 10
        assert mw.Reports.read("out.parquet") == mw.Reports.read("reports.parquet")


def test_secure_masking_differs_from_run_to_run(run: Run, files: Path) -> None:
    for name in ("one.parquet", "two.parquet"):
        assert run("mask", "answers.csv", "-c", "colour", "-d", "design.json", "-o", name).code == 0
    assert mw.Reports.read("one.parquet").randomness == "secure"
    assert mw.Reports.read("one.parquet") != mw.Reports.read("two.parquet")


def test_a_keyed_report_depends_on_the_record_alone(run: Run, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keyed = ["-c", "colour", "-d", "design.json", "--key-file", "key", "--ids", "id", "--survey", "s"]
    assert run("mask", "answers.parquet", *keyed, "-o", "typed.parquet").code == 0
    lines = (files / "answers.csv").read_text().splitlines()
    (files / "reversed.csv").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")
    monkeypatch.setattr(data_files, "_BATCH_ROWS", 100)
    assert run("mask", "reversed.csv", *keyed, "--integer-ids", "-o", "reversed.parquet").code == 0
    assert run("mask", "reversed.csv", *keyed, "-o", "text.parquet").code == 0
    typed = mw.Reports.read("typed.parquet").decode()
    assert mw.Reports.read("reversed.parquet").decode() == typed[::-1]
    assert mw.Reports.read("text.parquet").decode() != typed[::-1]
    assert mw.Reports.read("text.parquet").randomness == "keyed"


@pytest.mark.parametrize(
    ("labels", "cells", "codes"),
    [
        ([0, 1, 2], ["0", "+1", "02", "2.0", " 1 "], [0, 1, 2, 2, 1]),
        ([True, False], ["true", "FALSE", "1", "0"], [0, 1, 0, 1]),
        (["1", "2"], ["1", "2"], [0, 1]),
        (["a", ""], ["a", "", '""'], [0, 1, 1]),
        (["a;b", 'say "hi"'], ['"a;b"', '"say ""hi"""'], [0, 1]),
        (["NA", "x"], ["NA", "x"], [0, 1]),
        (["é", "b"], ["é", "b"], [0, 1]),
    ],
)
def test_cells_are_matched_by_their_text(run: Run, labels: list[Any], cells: list[str], codes: list[int]) -> None:
    design = mw.designs.direct(labels)
    Path("design.json").write_text(design.to_json())
    for encoding in ("utf-8", "utf-8-sig", "latin-1", "utf-16"):
        text = "x;id\n" + "".join(f"{cell};{i}\n" for i, cell in enumerate(cells))
        Path("data.csv").write_bytes(text.encode(encoding))
        options = ["-c", "x", "-d", "design.json", "--delimiter", ";", "-o", "out.parquet"]
        ran = run("mask", "data.csv", *options, "--encoding", encoding.removesuffix("-sig"))
        assert ran.code == 0, ran.err
        assert mw.Reports.read("out.parquet").decode() == [labels[code] for code in codes]


def test_floats_from_a_file_with_gaps_match_whole_numbers(run: Run, files: Path) -> None:
    Path("three.json").write_text(mw.designs.direct(3).to_json())
    assert run("mask", "answers.parquet", "-c", "code", "-d", "three.json", "-o", "out.parquet").code == 0
    assert mw.Reports.read("out.parquet").decode()[:4] == [0, 1, 2, 0]


def test_missing_values_are_kept_when_asked_for(run: Run, files: Path) -> None:
    Path("gaps.csv").write_text("colour,id\nred,1\n,2\nNA,3\n\nblue,4\n")
    options = ["-c", "colour", "-d", "design.json", "-o", "out.parquet", "--missing", "keep", "--na", "NA"]
    ran = run("mask", "gaps.csv", *options, "--json")
    assert (ran.json["n"], ran.json["missing"]) == (4, 2)
    assert [report is None for report in mw.Reports.read("out.parquet").decode()] == [False, True, True, False]
    Path("single.csv").write_text("colour\nred\n\nblue\n")
    assert run("mask", "single.csv", *options, "--json").json["missing"] == 1
    column = pa.table({"colour": pa.array(["red", None, ""]).dictionary_encode()})
    pq.write_table(column, "gaps.parquet")
    assert run("mask", "gaps.parquet", *options, "--json").json["missing"] == 2


@given(
    cells=st.lists(st.tuples(*[st.text(st.sampled_from('ab,"\n\ré '), max_size=5)] * 2), min_size=1, max_size=12),
    block=st.integers(1, 40),
)
def test_csv_blocks_are_cut_between_rows(cells: list[tuple[str, str]], block: int) -> None:
    """Whatever a spreadsheet may write comes back cell by cell, however small the blocks are."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([("x", "y"), *cells])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_cells, "BLOCK_BYTES", block)
        file = io.BufferedReader(io.BytesIO(text.getvalue().encode()))
        with open_columns(file, ["y", "x"]) as opened:
            found = [(row["x"], row["y"]) for batch in opened.batches for row in batch.to_pylist()]
    assert found == cells


@pytest.mark.parametrize(
    ("content", "options", "about"),
    [
        (f"colour\nred\n{SECRET}\n", [], ["data row 2", "'green'"]),
        (f"colour,n\nred,{SECRET}\n,1\n", [], ["missing", "data row 2"]),
        ("colour\nred\n\n", [], ["missing", "data row 2"]),
        ("colour\nred\nNaN\n", [], ["data row 2", "--na"]),
        (f"colour,n\nred,1\n{SECRET}\n", [], ["1 cells", "data row 2"]),
        (f"colour,n\nred,1\nred,{SECRET},3\n", [], ["3 cells", "data row 2"]),
        (f'colour,n\n"red,1\n{SECRET},2\n', [], ["quote", "line 2"]),
        (f"{SECRET},red\nblue,green\n", [], ["no column 'colour'"]),
        ("colour,colour\nred,blue\n", [], ["more than one"]),
        ("colour\n", [], ["no rows"]),
        ("", [], ["no column"]),
        ("colour,n\n,1\n,2\n", ["--missing", "keep"], ["missing"]),
        ("colour\nred\n", ["--na", "red"], ["--na"]),
        ("colour\nred\n", ["--missing", "ignore"], ["--missing", "refuse"]),
        ("colour\nred\n", ["--encoding", "klingon"], ["klingon"]),
        ("colour\nred\n", ["--delimiter", "::"], ["--delimiter"]),
        ("colour\nred\n", ["--seed", -1], ["seed"]),
        ("colour\nred\n", ["--key-file", "key"], ["--ids"]),
        ("colour,id\nred,1\n", ["--key-file", "key", "--ids", "id"], ["--survey"]),
        ("colour,id\nred,1\n", ["--key-file", "key", "--ids", "id", "--survey", "a/b"], ["slash"]),
        ("colour\nred\n", ["--survey", ""], ["--survey"]),
        ("colour\nred\n", ["--key-file", "nokey", "--ids", "colour", "--survey", "s"], ["nokey"]),
        ("colour,id\nred,1\n", ["--key-file", "design.json", "--ids", "no", "--survey", "s"], ["'no'"]),
        ("colour,id\nred,1\n", ["--key-file", "short", "--ids", "id", "--survey", "s"], ["at least 16"]),
        ("colour,id\nred,1\n", ["--key-file", "key", "--ids", "id", "--survey", "s", "--seed", 1], ["seed"]),
        (
            f"colour,id\nred,{SECRET}\nblue,{SECRET}\n",
            ["--key-file", "key", "--ids", "id", "--survey", "s"],
            ["unique"],
        ),
        (
            "colour,id\nred,1\nblue,\n",
            ["--key-file", "key", "--ids", "id", "--survey", "s"],
            ["data row 2", "empty"],
        ),
        (
            f"colour,id\nred,{SECRET}\n",
            ["--key-file", "key", "--ids", "id", "--survey", "s", "--integer-ids"],
            ["data row 1"],
        ),
    ],
)
def test_mask_refuses(run: Run, files: Path, content: str, options: list[Any], about: list[str]) -> None:
    Path("short").write_bytes(b"12345")
    Path("data.csv").write_text(content)
    before = sorted(Path().iterdir())
    assert_refused(run("mask", "data.csv", "-c", "colour", "-d", "design.json", "-o", "out.parquet", *options), *about)
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize(
    ("args", "about"),
    [
        (["nothing.csv", "-c", "colour", "-d", "design.json", "-o", "o.parquet"], ["nothing.csv"]),
        ([".", "-c", "colour", "-d", "design.json", "-o", "o.parquet"], ["a folder", "--design colour=FILE"]),
        (["answers.csv", "-c", "colour", "-d", "nothing.json", "-o", "o.parquet"], ["nothing.json"]),
        (["answers.csv", "-c", "colour", "-d", "answers.csv", "-o", "o.parquet"], ["answers.csv", "JSON"]),
        (["answers.csv", "-c", "colour", "-d", "answers.parquet", "-o", "o.parquet"], ["not text"]),
        (["answers.csv", "-c", "colour", "-d", "design.json", "-o", "o.xlsx"], [".parquet"]),
        (["answers.csv", "-c", "colour", "-d", "design.json", "-o", "no/o.parquet"], ["'no'"]),
        (["answers.csv", "-c", "colour", "-d", "design.json", "-o", "answers.csv"], ["also the input"]),
        (["answers.csv", "-c", "colour", "-d", "design.json", "-o", "-", "--json"], ["--json"]),
        (["-", "-c", "colour", "-d", "-", "-o", "o.parquet"], ["standard input"]),
        (["answers.parquet", "-c", "no", "-d", "design.json", "-o", "o.parquet"], ["'no'", "'colour'"]),
        (["answers.csv", "-c", "colour", "-d", "design.json"], ["--output"]),
        (["answers.csv"], ["--design"]),
    ],
)
def test_mask_refuses_these_arguments(run: Run, files: Path, args: list[str], about: list[str]) -> None:
    before = sorted(Path().iterdir())
    assert_refused(run("mask", *args), *about)
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize(
    ("column", "about"),
    [
        (pa.array(["red", SECRET]), "data row 2"),
        (pa.array(["red", SECRET]).dictionary_encode(), "data row 2"),
        (pa.array(["red", None]), "missing"),
        (pa.array([1.0, float("nan")]), "data row 1"),
        (pa.array([["red"], ["blue"]]), "list"),
        (pa.array([], pa.string()), "no rows"),
    ],
)
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_mask_refuses_columns(run: Run, files: Path, column: Any, about: str, suffix: str) -> None:
    table = pa.table({"colour": column})
    pq.write_table(table, "data.parquet")
    feather.write_feather(table, "data.arrow")
    assert_refused(run("mask", f"data.{suffix}", "-c", "colour", "-d", "design.json", "-o", "o.csv"), about)
    assert not list(Path().glob("o.*"))


def test_nan_is_missing_whatever_the_labels(run: Run) -> None:
    Path("design.json").write_text(mw.designs.direct(3).to_json())
    pq.write_table(pa.table({"x": [1.0, float("nan")]}), "data.parquet")
    assert_refused(
        run("mask", "data.parquet", "-c", "x", "-d", "design.json", "-o", "o.parquet"), "missing", "data row 2"
    )


def test_rows_are_counted_over_batches(run: Run, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_files, "_BATCH_ROWS", 100)
    monkeypatch.setattr(csv_cells, "BLOCK_BYTES", 700)
    lines = (files / "answers.csv").read_text().splitlines()
    for wrong, about in ((f"5,{SECRET}", "data row 1,234"), ("5", "data row 1,234")):
        Path("data.csv").write_text("\n".join([*lines[:1234], wrong, *lines[1235:]]))
        assert_refused(run("mask", "data.csv", "-c", "colour", "-d", "design.json", "-o", "o.parquet"), about)
    Path("data.csv").write_text("\n".join([*lines, lines[1]]))
    keyed = ["--key-file", "key", "--ids", "id", "--survey", "s", "-o", "o.parquet"]
    for kind in ([], ["--integer-ids"]):
        assert_refused(run("mask", "data.csv", "-c", "colour", "-d", "design.json", *keyed, *kind), "1 of 3,001")
    assert not Path("o.parquet").exists()


@pytest.mark.parametrize("name", ["audit", "mask"])
def test_a_changed_design_file_is_refused(run: Run, files: Path, name: str) -> None:
    matrix = json.loads(mw.designs.from_matrix([[0.75, 0.25], [0.25, 0.75]]).to_json())
    matrix["weights"]["rows"][0][0] = str(int(matrix["weights"]["rows"][0][0]) - 1)
    Path("changed.json").write_text(json.dumps(matrix))
    args = ["changed.json"] if name == "audit" else ["answers.csv", "-c", "colour", "-d", "changed.json", "-o", "o.csv"]
    assert_refused(run(name, *args), "changed.json", "sum to")


@pytest.mark.parametrize("marker", ["1", "01", "+1", "1.0", " 1 "])
def test_what_means_missing_is_no_category_in_any_spelling(run: Run, files: Path, marker: str) -> None:
    """The label 1 is a number, and what --na gives is text."""
    Path("numbers.json").write_text(mw.plan(3, mw.LDP(1)).to_json())
    Path("numbers.csv").write_text("x\n0\n1\n2\n")
    options = ["-c", "x", "-d", "numbers.json", "-o", "o.csv", "--missing", "keep", "--na", marker]
    assert_refused(run("mask", "numbers.csv", *options), "is a category of the design")
