"""``maskwell estimate``: text, JSON and pictures, and files that hold no reports."""

import csv
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import maskwell as mw
from tests.cli.runs import LABELS, SECRET, Run, assert_refused


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
        *("categories", "estimates", "standard_errors", "intervals", "noise", "vocabulary", "output"),
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
    assert f"90 % interval ({kind.title()}, for all together)" in text
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


def test_reports_from_a_seed_are_told_in_every_form(run: Run, files: Path) -> None:
    """Also where some of them are and others are not, which the library warns of."""
    mw.plan(LABELS, mw.LDP(2)).mask(LABELS * 500).write(files / "secure.parquet")
    for names in (["reports.parquet"], ["reports.parquet", "secure.parquet"]):
        assert "for simulation only" in run("estimate", *names).text
        assert "for simulation only" in run("estimate", *names, "--interval", "wald").text
        table = run("estimate", *names, "--csv", "-")
        assert b"simulation" not in table.out
        assert table.err.count("\n") == 1
        assert "this is a simulation" in table.err
    assert run("estimate", *names, "--json").json["randomness"] == ["secure", "seeded"]
    alone = run("estimate", "secure.parquet")
    assert "simulation" not in alone.text
    assert alone.err == ""


def test_estimate_refuses_to_pool_different_questions(run: Run, files: Path) -> None:
    design = mw.designs.minimax(LABELS, epsilon=1)
    for asked in ("drugs", "drink"):
        ids = [str(i) for i in range(len(LABELS))]
        design.mask(LABELS, key=bytes(32), ids=ids, question=asked).write(files / f"{asked}.parquet")
    assert_refused(run("estimate", "drugs.parquet", "drink.parquet"), "different questions")
    assert run("estimate", "drugs.parquet").code == 0
