"""The command line: what it prints, the files it leaves, and one clear line, without a true value, for bad input."""

import csv
import io
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maskwell as mw
from maskwell.cli import csv_columns, data_files, main
from maskwell.cli.csv_columns import Dialect, read_csv

SECRET = "Zyzzyva-7"
LABELS = ["red", "green", "blue"]


@dataclass(frozen=True)
class Ran:
    """What a run of the command line left on its three channels."""

    code: int
    out: bytes
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run a command in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run_command(*args: object, stdin: bytes | None = None) -> Ran:
        if stdin is not None:
            piped = io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin)))
            monkeypatch.setattr(sys, "stdin", piped)
        code = main([str(arg) for arg in args])
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return Ran(code, out, err.decode())

    return run_command


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A design, its reports, and the same answers as CSV, Parquet and Arrow."""
    answers = np.array(LABELS)[np.arange(3000) % 7 % 3]
    ids = np.arange(3000) * 7919 % 100_003
    (tmp_path / "answers.csv").write_text(
        "id,colour\n" + "".join(f"{i},{a}\n" for i, a in zip(ids, answers, strict=True))
    )
    table = pa.table({"id": ids, "colour": answers.tolist(), "code": (np.arange(3000) % 3).astype(float)})
    pq.write_table(table, tmp_path / "answers.parquet")
    feather.write_feather(table, tmp_path / "answers.arrow")
    design = mw.plan(LABELS, mw.LDP(2))
    (tmp_path / "design.json").write_text(design.to_json())
    design.mask(answers, seed=1).write(tmp_path / "reports.parquet")
    (tmp_path / "key").write_bytes(bytes(range(32)))
    return tmp_path


def assert_refused(ran: Ran, *about: str) -> None:
    """One clear line on stderr, nothing on stdout, exit code 2, no true value."""
    assert ran.code == 2, ran
    assert ran.out == b""
    assert re.fullmatch(r"maskwell: [^\n]+\n", ran.err), ran.err
    assert "Traceback" not in ran.err
    assert SECRET not in ran.err
    for text in about:
        assert text in ran.err


# Planning and auditing


def test_plan_prints_privacy_beside_precision(run: Run) -> None:
    ran = run("plan", "--k", 5, "--epsilon", 1, "-n", 2000)
    text = ran.out.decode()
    assert (ran.code, ran.err) == (0, "")
    for part in ("minimax design for 5 categories", "epsilon", "2.71828", "11.4298", "n = 2,000"):
        assert part in text


def test_plan_json_is_a_design_with_figures(run: Run) -> None:
    ran = run("plan", "--categories", "a, b,c", "--rho1", "1/10", "--rho2", "1/2", "-n", 500, "--json")
    design = mw.Design.from_json(ran.out)
    assert design == mw.plan(["a", "b", "c"], mw.BetaFactor(9))
    assert isinstance(design.demand, mw.RhoPrivacy)
    found = ran.json
    assert found["epsilon"] == design.epsilon
    assert found["exact_parity"] == str(design.exact_parity())
    assert found["precision"]["n"] == 500
    widths = [row["half_width"] for row in found["precision"]["shares"]]
    assert widths == [mw.planning.half_width(design, 500, proportion=p) for p in (0.01, 0.1, 0.5)]
    uniform = found["worth"] * (design.added_variance + 2 / 3)
    assert uniform == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--k", 4, "--epsilon", 1], lambda: mw.designs.minimax(4, epsilon=1)),
        (["--k", 4, "--epsilon", "0.1"], lambda: mw.designs.minimax(4, epsilon=0.1)),
        (["--k", 4, "--gamma", 9], lambda: mw.designs.minimax(4, gamma=9)),
        (["--k", 4, "--beta", "9"], lambda: mw.designs.minimax(4, gamma=9)),
        (["--k", 4, "--diversity", 3], lambda: mw.designs.local_diversity(4, l=3)),
        (["--k", 4, "--phi", "3/2"], lambda: mw.designs.average_secure(4, phi=1.5)),
        (["--k", 4, "--design", "rappor", "--epsilon", 1], lambda: mw.designs.rappor(4, epsilon=1)),
        (["--k", 4, "--design", "rappor", "--set", "epsilon=1"], lambda: mw.designs.rappor(4, epsilon=1)),
        (["--design", "warner", "--set", "truth_prob=3/4"], lambda: mw.designs.warner(truth_prob=0.75)),
        (
            ["--k", 4, "--design", "collapse", "--set", "groups=[[0,1],[2,3]]"],
            lambda: mw.designs.collapse(4, groups=[[0, 1], [2, 3]]),
        ),
    ],
)
def test_plan_writes_the_design_that_the_library_makes(run: Run, options: list[Any], expected: Any) -> None:
    ran = run("plan", *options, "-o", "design.json")
    assert ran.code == 0, ran.err
    written = mw.Design.from_json(Path("design.json").read_text())
    assert written == expected()
    assert run("plan", *options, "-o", "-").out.decode() == Path("design.json").read_text()
    assert [p.name for p in Path().iterdir()] == ["design.json"]


def test_plan_takes_labels_from_a_column(run: Run, files: Path) -> None:
    ran = run("plan", "--from", "answers.csv", "--column", "colour", "--epsilon", 1)
    assert "taken from the data" in ran.out.decode()
    assert run("plan", "--from", "answers.parquet", "-c", "colour", "--epsilon", 1, "--json").json[
        "categories"
    ] == sorted(LABELS)
    typed = run("plan", "--from", "answers.parquet", "-c", "id", "--epsilon", 1, "--json")
    assert typed.json["categories"] == sorted(int(i) for i in np.arange(3000) * 7919 % 100_003)


def test_a_label_is_not_read_as_markup(run: Run) -> None:
    ran = run("plan", "--categories", "[red],[/bold],:smile:", "--epsilon", 1)
    assert ran.code == 0
    assert "'[red]', '[/bold]', ':smile:'" in ran.out.decode()


def test_audit_of_a_file_of_a_pipe_and_of_a_name(run: Run, files: Path) -> None:
    design = mw.Design.from_json((files / "design.json").read_text())
    found = run("audit", "design.json", "--json").json
    assert found["exact_parity"] == str(design.exact_parity())
    assert found["demand_holds"] is True
    assert found["design"]["fingerprint"] == design.fingerprint
    assert run("audit", "-", "--json", stdin=(files / "design.json").read_bytes()).json == found
    named = run("audit", "--design", "rappor", "--set", "epsilon=1", "--k", 5)
    assert "15.2205" in named.out.decode()
    assert "holds, exactly" in named.out.decode()


def test_what_is_unbounded_is_null_in_json(run: Run) -> None:
    found = run("audit", "--design", "collapse", "--k", 4, "--set", "groups=[[0,1],[2,3]]", "--json").json
    assert (found["epsilon"], found["added_variance"], found["exact_parity"]) == (None, None, None)
    assert found["diversity"] == 2
    planned = run("plan", "--design", "collapse", "--k", 4, "--set", "groups=[[0,1],[2,3]]", "-n", 10, "--json").json
    assert (planned["worth"], planned["precision"]["shares"]) == (0, [])


def test_designs_lists_the_registry(run: Run) -> None:
    listed = run("designs", "--json").json
    assert [entry["name"] for entry in listed] == list(mw.designs.DESIGNS)
    assert all(entry["summary"] and entry["references"] for entry in listed)
    assert all(name in run("designs").out.decode() for name in mw.designs.DESIGNS)


# Masking


@pytest.mark.parametrize("data", ["answers.csv", "answers.parquet", "answers.arrow"])
@pytest.mark.parametrize("output", ["out.parquet", "out.arrow", "out.csv"])
def test_mask_draws_what_the_library_draws(run: Run, files: Path, data: str, output: str) -> None:
    ran = run("mask", data, "--column", "colour", "--design", "design.json", "--seed", 1, "-o", output, "--json")
    assert ran.json["rows"] == 3000, ran.err
    assert ran.json["randomness"] == "seeded"
    assert mw.Reports.read(output) == mw.Reports.read("reports.parquet")


def test_mask_reads_standard_input(run: Run, files: Path) -> None:
    content = (files / "answers.csv").read_bytes()
    ran = run("mask", "-", "-c", "colour", "-d", "design.json", "--seed", 1, "-o", "out.parquet", stdin=content)
    assert "masked 3,000 rows with minimax into out.parquet" in ran.out.decode()
    assert "simulation only" in ran.out.decode()
    assert mw.Reports.read("out.parquet") == mw.Reports.read("reports.parquet")


def test_batches_do_not_change_the_draw(run: Run, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_files, "_BATCH_ROWS", 100)
    monkeypatch.setattr(csv_columns, "BLOCK_BYTES", 700)
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
    keyed = ["-c", "colour", "-d", "design.json", "--key-file", "key", "--id-column", "id"]
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
    assert (ran.json["rows"], ran.json["missing"]) == (4, 2)
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
        patch.setattr(csv_columns, "BLOCK_BYTES", block)
        batches = read_csv(io.BytesIO(text.getvalue().encode()), "a.csv", ["y", "x"], Dialect(), lambda read: None)
        found = [(row["x"], row["y"]) for batch in batches for row in batch.to_pylist()]
    assert found == cells


# Estimating


def test_estimate_prints_the_summary(run: Run, files: Path) -> None:
    expected = mw.estimate(mw.Reports.read(files / "reports.parquet"))
    ran = run("estimate", "reports.parquet")
    assert ran.out.decode().startswith(expected.summary())
    assert "simulation" in ran.out.decode()


def test_estimate_json_has_stable_keys(run: Run, files: Path) -> None:
    expected = mw.estimate(mw.Reports.read(files / "reports.parquet"))
    found = run("estimate", "reports.parquet", "--json").json
    assert set(found) == {
        *("design", "privacy", "n", "missing", "randomness", "method", "gap", "level", "interval", "simultaneous"),
        *("categories", "estimates", "standard_errors", "intervals", "noise"),
    }
    assert found["estimates"] == expected.proportions.tolist()
    assert found["standard_errors"] == expected.standard_errors.tolist()
    assert found["intervals"] == expected.interval().tolist()
    assert (found["n"], found["categories"], found["randomness"]) == (3000, LABELS, ["seeded"])
    noise = found["noise"]
    assert noise["privacy_share"] == pytest.approx(
        noise["added_variance"] / (noise["added_variance"] + noise["sampling_variance"])
    )
    assert noise["equivalent_direct_n"] == pytest.approx(3000 * noise["worth"])


@pytest.mark.parametrize("kind", ["wilson", "wald", "clopper-pearson"])
def test_estimate_gives_the_chosen_interval(run: Run, files: Path, kind: Any) -> None:
    expected = mw.estimate(mw.Reports.read(files / "reports.parquet"), "moments")
    options = ["--method", "moments", "--interval", kind, "--simultaneous", "--level", 0.9]
    found = run("estimate", "reports.parquet", *options, "--json").json
    limits = expected.interval(0.9, kind, simultaneous=True)
    assert found["intervals"] == limits.tolist()
    text = run("estimate", "reports.parquet", *options).out.decode()
    assert f"90 % simultaneous {kind} interval" in text
    assert f"[{limits[0, 0]:8.4f}, {limits[0, 1]:8.4f}]" in text
    rows = list(csv.DictReader(io.StringIO(run("estimate", "reports.parquet", *options, "--csv", "-").out.decode())))
    assert [row["category"] for row in rows] == LABELS
    assert [float(row["lower"]) for row in rows] == limits[:, 0].tolist()


def test_estimate_merges_files_and_a_pipe(run: Run, files: Path) -> None:
    reports = mw.Reports.read(files / "reports.parquet")
    reports.write(files / "again.arrow")
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, reports.to_arrow().schema) as writer:
        writer.write_table(reports.to_arrow())
    whole = stream.getvalue().to_pybytes()
    found = run("estimate", "reports.parquet", "again.arrow", "-", "--json", stdin=whole)
    assert found.json["n"] == 9000, found.err
    assert found.json["estimates"] == pytest.approx(mw.estimate(reports).proportions.tolist())


@pytest.mark.parametrize("suffix", ["svg", "html"])
def test_estimate_draws(run: Run, files: Path, suffix: str) -> None:
    ran = run("estimate", "reports.parquet", "--plot", f"picture.{suffix}", "--csv", "table.csv")
    assert ran.code == 0, ran.err
    assert Path(f"picture.{suffix}").stat().st_size > 1000
    assert len(Path("table.csv").read_text().splitlines()) == 4


# Bad input


@pytest.mark.parametrize(
    ("options", "about"),
    [
        (["--k", 1, "--epsilon", 1], ["at least 2"]),
        (["--k", 5, "--epsilon", 0], ["epsilon", "got 0"]),
        (["--k", 5, "--epsilon", -1], ["epsilon", "got -1"]),
        (["--k", 5, "--epsilon", "nan"], ["epsilon", "nan"]),
        (["--k", 5, "--epsilon", "one"], ["--epsilon", "'one'"]),
        (["--k", 5, "--gamma", 1], ["beta > 1"]),
        (["--k", 5, "--diversity", 5], ["l=5", "k=5"]),
        (["--k", 5, "--diversity", 9], ["l=9", "k=5"]),
        (["--k", 5, "--diversity", "2.5"], ["2.5"]),
        (["--k", 5, "--phi", 2], ["phi"]),
        (["--k", 5, "--rho1", "0.5"], ["--rho2"]),
        (["--k", 5, "--rho1", "0.5", "--rho2", "0.1"], ["rho1"]),
        (["--k", 5, "--epsilon", 1, "--phi", 1.5], ["one demand"]),
        (["--k", 5], ["--epsilon"]),
        (["--k", 10**9, "--epsilon", 1], ["at most"]),
        (["--k", "five", "--epsilon", 1], ["--k"]),
        (["--epsilon", 1], ["--categories"]),
        (["--k", 5, "--categories", "a,b", "--epsilon", 1], ["not both"]),
        (["--categories", "a,a", "--epsilon", 1], ["'a'"]),
        (["--k", 5, "--epsilon", 1, "--set", "x=1"], ["--design"]),
        (["--design", "from_matrix", "--set", "P=[[0.5,0.5],[0.4,0.5]]"], ["sum to 1", "0.9"]),
        (["--design", "from_matrix", "--set", "P=7"], ["table"]),
        (["--design", "nonsense", "--k", 5], ["'nonsense'", "minimax"]),
        (["--design", "rappor", "--k", 5, "--set", "f=1"], ["'f'", "epsilon"]),
        (["--design", "rappor", "--epsilon", 1], ["--categories"]),
        (["--design", "warner"], ["truth_prob", "0.8"]),
        (["--design", "warner", "--set", "truth_prob"], ["name=value"]),
        (["--design", "collapse", "--k", 4, "--set", "groups=5"], ["wrong type"]),
        (["--k", 5, "--epsilon", 1, "-n", 0], ["-n"]),
        (["--k", 5, "--epsilon", 1, "-o", "no/such/folder.json"], ["'no/such'"]),
        (["--from", "nothing.csv", "--column", "x", "--epsilon", 1], ["nothing.csv"]),
        (["--from", "nothing.csv", "--epsilon", 1], ["--column"]),
        (["--nonsense"], ["--nonsense", "maskwell plan --help"]),
    ],
)
def test_plan_refuses(run: Run, options: list[Any], about: list[str]) -> None:
    assert_refused(run("plan", *options), *about)
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("content", "options", "about"),
    [
        (f"colour\nred\n{SECRET}\n", [], ["data row 2", "'green'"]),
        (f"colour,n\nred,{SECRET}\n,1\n", [], ["missing", "data row 2"]),
        ("colour\nred\n\n", [], ["missing", "data row 2"]),
        ("colour\nred\nNaN\n", [], ["data row 2", "--na"]),
        (f"colour,n\nred,1\n{SECRET}\n", [], ["1 cells", "data row 2"]),
        (f"colour,n\nred,1\nred,{SECRET},3\n", [], ["3 cells", "data row 2"]),
        (f'colour,n\n"red,1\n{SECRET},2\n', [], ["quoting"]),
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
        ("colour\nred\n", ["--key-file", "key"], ["--id-column"]),
        ("colour\nred\n", ["--key-file", "nokey", "--id-column", "colour"], ["nokey"]),
        ("colour,id\nred,1\n", ["--key-file", "design.json", "--id-column", "no"], ["'no'"]),
        ("colour,id\nred,1\n", ["--key-file", "short", "--id-column", "id"], ["16 bytes"]),
        ("colour,id\nred,1\n", ["--key-file", "key", "--id-column", "id", "--seed", 1], ["seed"]),
        (f"colour,id\nred,{SECRET}\nblue,{SECRET}\n", ["--key-file", "key", "--id-column", "id"], ["unique"]),
        ("colour,id\nred,1\nblue,\n", ["--key-file", "key", "--id-column", "id"], ["data row 2", "empty"]),
        (f"colour,id\nred,{SECRET}\n", ["--key-file", "key", "--id-column", "id", "--integer-ids"], ["data row 1"]),
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
        ([".", "-c", "colour", "-d", "design.json", "-o", "o.parquet"], [".csv"]),
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
        (["answers.csv"], ["--column"]),
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
    monkeypatch.setattr(csv_columns, "BLOCK_BYTES", 700)
    lines = (files / "answers.csv").read_text().splitlines()
    for wrong, about in ((f"5,{SECRET}", "data row 1,234"), ("5", "data row 1,234")):
        Path("data.csv").write_text("\n".join([*lines[:1234], wrong, *lines[1235:]]))
        assert_refused(run("mask", "data.csv", "-c", "colour", "-d", "design.json", "-o", "o.parquet"), about)
    Path("data.csv").write_text("\n".join([*lines, lines[1]]))
    keyed = ["--key-file", "key", "--id-column", "id", "-o", "o.parquet"]
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


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def test_estimate_refuses_what_is_no_file_of_reports(run: Run, files: Path) -> None:
    for name in ("cut.parquet", "cut.arrow"):
        mw.Reports.read("reports.parquet").write(name)
        _truncate(Path(name))
        assert_refused(run("estimate", name), name)
    assert_refused(run("estimate", "answers.parquet"), "answers.parquet", "reports")
    assert_refused(run("estimate", "answers.csv"), "answers.design.json")
    assert_refused(run("estimate", "nothing.parquet"), "nothing.parquet")
    assert_refused(run("estimate", "design.json"), "design.json")
    mw.Reports.read("reports.parquet").write("foreign.csv")
    Path("foreign.csv").write_text(f"report\n{SECRET}\n")
    assert_refused(run("estimate", "foreign.csv"), "foreign.csv", "row 0")
    for stream in (b"", b"ARROW1", (files / "reports.parquet").read_bytes()):
        assert_refused(run("estimate", "-", stdin=stream), "standard input")


def test_estimate_refuses_reports_of_another_design(run: Run, files: Path) -> None:
    mw.plan(LABELS, mw.LDP(1)).mask(LABELS).write("other.parquet")
    assert_refused(run("estimate", "reports.parquet", "other.parquet"), "other.parquet", "reports.parquet")


def test_estimate_refuses_a_singular_design(run: Run) -> None:
    mw.designs.collapse(4, groups=[[0, 1], [2, 3]]).mask([0, 1, 2, 3]).write("collapsed.parquet")
    assert_refused(run("estimate", "collapsed.parquet"), "collapse", "cannot estimate")


def test_estimate_refuses_an_empty_file_of_reports(run: Run, files: Path) -> None:
    mw.plan(LABELS, mw.LDP(1)).mask([]).write("none.parquet")
    assert_refused(run("estimate", "none.parquet"), "no reports")


@pytest.mark.parametrize(
    ("options", "about"),
    [
        (["reports.parquet"], ["twice"]),
        (["--level", "1.5"], ["--level"]),
        (["--method", "magic"], ["--method", "linear"]),
        (["--interval", "magic"], ["--interval", "wilson"]),
        (["--plot", "picture.gif"], [".png"]),
        (["--csv", "-", "--json"], ["--csv"]),
        (["--csv", "reports.parquet"], ["also the input"]),
        (["--csv", "no/table.csv"], ["'no'"]),
    ],
)
def test_estimate_refuses(run: Run, files: Path, options: list[str], about: list[str]) -> None:
    before = sorted(Path().iterdir())
    assert_refused(run("estimate", "reports.parquet", *options), *about)
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize(
    "args",
    [["audit"], ["audit", "design.json", "--k", "3"], ["audit", "design.json", "--design", "rappor"], ["nonsense"]],
)
def test_other_commands_refuse(run: Run, files: Path, args: list[str]) -> None:
    assert_refused(run(*args))


def test_an_unforeseen_error_does_not_show_its_message(run: Run, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr("maskwell.cli.answers.Answers.read", broken)
    ran = run("mask", "answers.csv", "-c", "colour", "-d", "design.json", "-o", "o.parquet")
    assert (ran.code, ran.out) == (70, b"")
    assert "RuntimeError" in ran.err
    assert SECRET not in ran.err
    assert not Path("o.parquet").exists()


# Published numbers and the demonstration


def test_reproduce_agrees(run: Run) -> None:
    ran = run("reproduce", "--json")
    assert ran.code == 0
    assert {record["verdict"] for record in ran.json} == {"agrees", "explained"}
    assert run("reproduce").code == 0


def test_reproduce_fails_on_an_unexplained_mismatch(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from maskwell import published

    row = published.Row("nayak-zhai-2019", "Table 1", "a number", "0.123", lambda: 0.456)
    monkeypatch.setattr(published, "rows", lambda: [row])
    assert run("reproduce").code == 1
    assert run("reproduce", "--json").code == 1


def test_demo_passes_its_folder_and_stays_silent_for_json(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from maskwell.views import demo

    class Result:
        def as_dict(self) -> dict[str, Any]:
            return {"seconds": 1.5}

    def short(folder: Path, echo: Callable[[str], None]) -> Result:
        echo(f"writing to {folder}")
        return Result()

    monkeypatch.setattr(demo, "run", short)
    assert run("demo", "--folder", "here").out == b"writing to here\n"
    assert run("demo", "--json").json == {"seconds": 1.5}


# The front door


@pytest.mark.parametrize("command", ["plan", "mask", "estimate", "audit", "designs", "reproduce", "demo"])
def test_help_has_an_example(run: Run, command: str) -> None:
    text = run(command, "--help").out.decode()
    assert f"maskwell {command}" in text.split("Examples:")[1]
    assert "--json" in text
    assert f"\n  {command} " in run("--help").out.decode()


def test_without_a_command_help_is_shown(run: Run) -> None:
    assert run().out == run("--help").out
    assert run("--version").out == f"maskwell {mw.__version__}\n".encode()


# As real processes


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A shell command in which ``maskwell`` is this interpreter's."""
    define = f'set -o pipefail; maskwell() {{ "{sys.executable}" -m maskwell "$@"; }}; '
    return subprocess.run(
        [shutil.which("bash") or "bash", "-c", define + command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_survey_through_pipes(files: Path) -> None:
    ran = shell(
        "maskwell plan --categories red,green,blue --epsilon 2 -o - "
        "| maskwell mask answers.csv -c colour -d - --seed 1 -o - | maskwell estimate - --json",
        files,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    expected = mw.estimate(mw.Reports.read(files / "reports.parquet"))
    assert json.loads(ran.stdout)["estimates"] == expected.proportions.tolist()


def test_half_a_stream_is_not_estimated(files: Path) -> None:
    (files / "bad.csv").write_text("colour\n" + "red\n" * 300_000 + f"{SECRET}\n")
    ran = shell(
        "maskwell mask bad.csv -c colour -d design.json -o - | maskwell estimate -; echo ${PIPESTATUS[@]}", files
    )
    assert ran.stdout == "2 2\n"
    assert ran.stderr.count("\n") == 2
    assert "data row 300,001" in ran.stderr
    assert "standard input" in ran.stderr
    assert SECRET not in ran.stderr


def test_a_reader_that_leaves_is_no_error(files: Path) -> None:
    (files / "long.csv").write_text("colour\n" + "red\n" * 1_000_000)
    ran = shell("maskwell mask long.csv -c colour -d design.json -o - | head -c 10 | wc -c", files)
    assert (ran.stdout.strip(), ran.stderr) == ("10", "")
    ran = shell("maskwell designs --json | true; maskwell designs | true", files)
    assert ran.stderr == ""


def test_a_bad_input_of_a_real_process(files: Path) -> None:
    ran = shell("maskwell plan --k 5 --epsilon 0", files)
    assert_refused(Ran(ran.returncode, ran.stdout.encode(), ran.stderr), "epsilon")


@pytest.fixture
def masking(files: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has masked a part of its input, written some of it, and waits for more."""
    process = subprocess.Popen(
        [sys.executable, "-m", "maskwell", "mask", "-", "-c", "colour", "-d", "design.json", "-o", "out.parquet"],
        cwd=files,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin
    process.stdin.write(b"colour\n" + b"red\n" * 1_000_000)
    process.stdin.flush()
    deadline = time.monotonic() + 30
    while not any(part.stat().st_size for part in files.glob(".out.parquet*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert list(files.glob(".out.parquet*")), "the process never began to write"
    yield process
    process.kill()
    process.communicate()


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_write_leaves_no_file(
    masking: subprocess.Popen[bytes], files: Path, sent: signal.Signals, code: int
) -> None:
    masking.send_signal(sent)
    assert masking.wait(30) == code
    assert masking.stderr
    assert masking.stderr.read().count(b"\n") == (1 if sent is signal.SIGINT else 0)
    assert not list(files.glob("*out*"))
    assert not list(files.glob(".*out*"))


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys; from maskwell.cli import main; "
        "main(['mask', '--help']); main(['plan', '--k', '5', '--epsilon', '0']); print(*sys.modules, file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = ran.stderr.splitlines()[-1].split()
    assert {"pyarrow", "numba", "scipy.stats", "pandas", "altair", "rich"} & set(loaded) == set()
