"""``maskwell reports``: reports that were drawn elsewhere become a file, or are refused with their data row."""

from pathlib import Path

import pytest

import maskwell as mw
from tests.cli.runs import SECRET, Run, assert_refused

DIE = mw.designs.forced_response(yes_prob="1/6", no_prob="1/6")
PAIRS = mw.designs.minimax(["a", "b", "c", "d"], epsilon=0.1)


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("die.json").write_text(DIE.to_json())
    Path("pairs.json").write_text(PAIRS.to_json())
    Path("answers.csv").write_text("q1,q2,region,weight\nyes,a;b,north,2\nno,c;d,south,1.5\nno,,south,1\n")
    return tmp_path


@pytest.mark.parametrize("output", ["out.parquet", "out.arrow", "out.csv"])
def test_one_column_is_a_file_of_reports(run: Run, answers: Path, output: str) -> None:
    ran = run("reports", "answers.csv", "--column", "q1", "--design", "die.json", "-o", output)
    assert ran.text == f"read 3 rows of q1 (forced_response); drawn elsewhere\nwrote {output}\n", ran.err
    found = mw.Reports.read(output)
    assert found == mw.Reports.of(DIE, ["yes", "no", "no"])
    assert (found.randomness, found.question) == ("external", "q1")
    shown = run("estimate", output)
    assert "drawn     elsewhere" in shown.text


def test_kept_columns_stand_beside_the_reports(run: Run, answers: Path) -> None:
    ran = run(
        "reports", "answers.csv", "-c", "q1", "-d", "die.json", "--keep", "region,weight", "-o", "out.parquet", "--json"
    )
    assert ran.json["columns"]["q1"]["design"]["fingerprint"] == DIE.fingerprint, ran.err
    assert mw.Reports.read("out.parquet", "q1").decode() == ["yes", "no", "no"]
    table = mw.microdata.read("out.parquet")
    assert table.names == ["region", "weight", "q1"]


def test_several_columns_have_a_design_each(run: Run, answers: Path) -> None:
    named = ["--design", "q1=die.json", "--design", "q2=pairs.json"]
    ran = run("reports", "answers.csv", *named, "--separator", ";", "--missing", "keep", "-o", "out.parquet")
    assert "(1 without a report of q2)" in ran.text, ran.err
    assert mw.Reports.read("out.parquet", "q2").decode() == [{"a", "b"}, {"c", "d"}, None]
    assert mw.Reports.read("out.parquet", "q1").randomness == "external"


def test_what_cannot_be_is_refused_with_its_data_row(run: Run, answers: Path) -> None:
    Path("answers.csv").write_text(f"q1\nyes\n{SECRET}\n\nno\n")
    ask = ["reports", "answers.csv", "-c", "q1", "-d", "die.json", "-o", "out.csv"]
    assert_refused(run(*ask), "first in data row 2", "'yes', 'no'")
    assert_refused(run(*ask, "--na", SECRET), "missing reports", "data row 2")
    assert not Path("out.csv").exists()
    ran = run(*ask, "--na", SECRET, "--missing", "keep")
    assert "(2 without a report of q1)" in ran.text, ran.err
    joint = mw.designs.product(DIE, PAIRS)
    Path("joint.json").write_text(joint.to_json())
    assert_refused(run("reports", "answers.csv", "-c", "q1", "-d", "joint.json", "-o", "out.csv"), "several variables")
    twice = ["-d", "q1=die.json", "--keep", "q1", "-o", "out.parquet"]
    assert_refused(run("reports", "answers.csv", *twice), "--keep names 'q1'")
    assert_refused(
        run("reports", "answers.csv", "-c", "q1", "-d", "a", "-d", "b", "-o", "out.csv"), "--column names one"
    )
