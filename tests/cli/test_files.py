"""The same cells through a column and through a file of any format: the same labels, gaps and refusals."""

import csv
import gzip
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import maskwell as mw
from maskwell.tables.answers import Answers
from maskwell.tables.files import open_columns
from maskwell.tables.matching import read_column
from tests.cli.runs import Run, assert_refused

LABELS: list[tuple[Any, ...]] = [
    (7, 0, -5, 12),
    tuple(range(13)),
    ("7", "07", "a", "é;,|"),
    ("a", "", 'say "hi"', "two\nlines"),
    (True, False),
    ("NA", "7.0", " 7", "true"),
]
CELLS = ["7", "+7", "07", "07.0", " 7", "-5", "-0", "0", "12.", "1", "true", "TRUE", "False", "a", "", "NA", "é;,|"]
CELLS += ['say "hi"', "two\nlines", "7e0", "1.5", "12345678901234567890"]
FORMATS = ("csv", "csv.gz", "tsv", "parquet", "arrow", "semicolons", "utf-16")


def written(cells: list[str | None], kind: str, folder: Path) -> Path:
    """A file of one format with the cells in one of its columns."""
    path = folder / f"cells.{kind if kind in FORMATS[:5] else 'csv'}"
    if kind in ("parquet", "arrow"):
        table = pa.table({"n": pa.array(range(len(cells))), "x": pa.array(cells, pa.string())})
        (pq.write_table if kind == "parquet" else feather.write_feather)(table, path)
        return path
    text = io.StringIO()
    delimiter = {"tsv": "\t", "semicolons": ";"}.get(kind, ",")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerows([("n", "x"), *((i, "" if cell is None else cell) for i, cell in enumerate(cells))])
    data = text.getvalue().encode("utf-16" if kind == "utf-16" else "utf-8")
    path.write_bytes(gzip.compress(data) if kind == "csv.gz" else data)
    return path


def from_column(cells: list[str | None], labels: tuple[Any, ...]) -> Any:
    """Codes of the cells as the library reads them, -1 where missing; None where it refuses."""
    try:
        column = read_column(cells, labels, "keep")
        codes = column.codes(0, column.n).astype(int)
    except mw.DataError:
        return None
    return [-1 if column.missing is not None and column.missing[i] else code for i, code in enumerate(codes.tolist())]


def from_file(path: Path, labels: tuple[Any, ...]) -> Any:
    """The same as the command line reads them."""
    answers, found = Answers("x", labels, keep_missing=True), []
    try:
        with open_columns(path, ["x"]) as opened:
            for batch in opened.batches:
                part = answers.read(batch.column("x"))
                gone = [False] * part.n if part.missing is None else part.missing.tolist()
                found += [-1 if g else c for c, g in zip(part.codes(0, part.n).tolist(), gone, strict=True)]
    except mw.DataError:
        return None
    return found


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from([*CELLS, None]), min_size=1, max_size=6), st.sampled_from(LABELS), st.data())
def test_commands_and_library_read_cells_alike(
    tmp_path: Path, cells: list[str | None], labels: tuple[Any, ...], data: Any
) -> None:
    kind = data.draw(st.sampled_from(FORMATS))
    if "" in labels and kind not in ("parquet", "arrow"):
        cells = ["" if cell is None else cell for cell in cells]  # CSV has one kind of empty cell
    path = written(cells, kind, tmp_path)
    assert from_file(path, labels) == from_column(cells, labels)
    read = mw.microdata.read(path)
    assert from_column(read.cells("x"), labels) == from_column(cells, labels)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("labels", LABELS, ids=str)
def test_every_cell_alone_is_read_alike(tmp_path: Path, cell: str, labels: tuple[Any, ...]) -> None:
    expected = from_column([cell], labels)
    for kind in FORMATS:
        assert from_file(written([cell], kind, tmp_path), labels) == expected, kind


@pytest.mark.parametrize("kind", [*FORMATS, "dta", "sav"])
def test_mask_and_plan_read_every_kind_of_file(run: Run, kind: str) -> None:
    cells = ["red", "blue", "blue", "green"] * 5
    path = written(cells, kind, Path()) if kind in FORMATS else Path(f"cells.{kind}")
    if kind not in FORMATS:
        mw.microdata.write({"n": list(range(20)), "x": pa.array(cells).dictionary_encode()}, path)
    Path("d.json").write_text(mw.designs.direct(["red", "blue", "green"]).to_json())
    ran = run("mask", path, "-c", "x", "-d", "d.json", "-o", "out.parquet")
    assert ran.code == 0, ran.err
    assert mw.Reports.read("out.parquet").decode() == cells
    planned = run("plan", "--from", path, "-c", "x", "--epsilon", 1, "--json")
    assert planned.json["categories"] == ["blue", "green", "red"], planned.err


@pytest.mark.parametrize("command", ["mask", "plan", "risk", "release"])
def test_every_command_takes_the_same_options_for_files(run: Run, command: str) -> None:
    Path("a.csv").write_bytes("x:y\né:1\nü:2\n?:3\n".encode("cp1252"))
    Path("d.json").write_text(mw.designs.direct(["é", "ü"]).to_json())
    args: dict[str, list[str]] = {
        "mask": ["mask", "a.csv", "-c", "x", "-d", "d.json", "-o", "out.parquet", "--missing", "keep"],
        "plan": ["plan", "--from", "a.csv", "-c", "x", "--epsilon", "1", "--json"],
        "risk": ["risk", "a.csv", "--keys", "x", "--json"],
        "release": ["release", "a.csv", "--pram", "x", "--diagonal", "0.9", "-o", "out.csv", "--seed", "1"],
    }
    options = ["--delimiter", ":", "--encoding", "cp1252", "--na", "?"]
    ran = run(*args[command], *options)
    assert ran.code == 0, ran.err
    if command == "plan":
        assert ran.json["categories"] == ["é", "ü"]
    if command == "risk":
        assert ran.json["missing"] == {"x": 1}
    if command == "release":
        assert "é:" in Path("out.csv").read_bytes().decode("cp1252")
    assert_refused(run(*args[command], "--encoding", "klingon"), "--encoding", "klingon")
    assert_refused(run(*args[command], "--delimiter", "::"), "--delimiter")


def test_latin_1_late_in_a_file_is_found(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maskwell.microdata.text.cells.BLOCK_BYTES", 50)
    cells = ["plain"] * 40 + ["é"]
    Path("a.csv").write_bytes(("x,y\n" + "".join(f"{cell},1\n" for cell in cells)).encode("latin-1"))
    Path("d.json").write_text(mw.designs.direct(["plain", "é"]).to_json())
    options = ["-c", "x", "-d", "d.json", "-o", "out.parquet"]
    assert run("mask", "a.csv", *options).code == 0
    assert mw.Reports.read("out.parquet").decode() == cells


def test_an_unknown_column_lists_the_nearest_and_the_others(run: Run) -> None:
    table = pa.table({"sex": ["f"], "age": [1], "race": ["a"]})
    pq.write_table(table, "a.parquet")
    Path("d.json").write_text(mw.designs.direct(2).to_json())
    every = ["'agge'", "nearest is 'age'", "sex", "race"]
    assert_refused(run("mask", "a.parquet", "-c", "agge", "-d", "d.json", "-o", "o.csv"), *every)
    assert_refused(run("risk", "a.parquet", "--keys", "agge"), *every)
    for call in (
        lambda: mw.risk.assess(table, ["agge"]),
        lambda: mw.risk.assess({"sex": ["f"], "age": [1], "race": ["a"]}, ["agge"]),
        lambda: mw.designs.product(mw.designs.direct(2), mw.designs.direct(2), names=["agge", "sex"]).mask(table),
    ):
        with pytest.raises(mw.DataError) as caught:
            call()
        assert all(text in str(caught.value) for text in every)


def test_a_name_that_is_nearly_there_is_told_of_a_csv_file_too(run: Run) -> None:
    """Not the others: without a header they would be somebody's answers."""
    Path("a.csv").write_text("region,income\nnorth,high\n")
    Path("d.json").write_text(mw.designs.direct(["high", "low"]).to_json())
    ask = ["-d", "d.json", "-o", "o.csv", "-c"]
    near = run("mask", "a.csv", *ask, "Incom")
    assert_refused(near, "the nearest is 'income'")
    far = run("mask", "a.csv", *ask, "age")
    assert_refused(far, "its first line must name the columns")
    for ran in (near, far):
        assert "region" not in ran.err
        assert "north" not in ran.err


def test_a_csv_file_that_is_no_file_of_reports_is_told_what_reads_it(run: Run) -> None:
    Path("paper.csv").write_text("habit,b\nyes,1\n")
    assert_refused(run("estimate", "paper.csv"), "'paper.design.json' was not found", "maskwell reports")
    lacking = run("estimate", "none.parquet")
    assert_refused(lacking, "'none.parquet' was not found.")
    assert ".design.json" not in lacking.err
