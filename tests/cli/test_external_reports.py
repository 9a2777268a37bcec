"""``maskwell reports``: reports that were drawn elsewhere become a file, or are refused with their data row."""

import csv
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
    assert_refused(run(*ask), "in data row 2 (1 of the first 4 rows)", "'yes', 'no'", "--code", "--trim")
    assert_refused(run(*ask, "--na", SECRET), "missing reports", "in data rows 2, 3 (2 of")
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


def test_the_first_twenty_bad_rows_are_listed(run: Run, answers: Path) -> None:
    Path("many.csv").write_text("q1,b\n" + "".join(f"{'x' if at % 2 else 'yes'},1\n" for at in range(60)))
    listed = ", ".join(str(at + 1) for at in range(1, 40, 2))
    ask = ["reports", "many.csv", "-c", "q1", "-d", "die.json", "-o", "out.csv"]
    assert_refused(run(*ask), f"in data rows {listed}, … (30 of the first 60 rows)")


def test_codes_and_other_spellings_become_labels(run: Run, answers: Path) -> None:
    Path("coded.csv").write_text("q1,b\n1,x\n0,x\n NO ,x\nYes,x\n9,x\n")
    ask = ["reports", "coded.csv", "-c", "q1", "-d", "die.json", "-o", "out.csv", "--na", "9", "--missing", "keep"]
    assert_refused(run(*ask), "in data rows 1, 2, 3, 4", "2 of these would be reports but for capitals and blanks")
    ran = run(*ask, "--code", "1=yes", "--code", "0=no", "--trim")
    assert ran.code == 0, ran.err
    assert mw.Reports.read("out.csv").decode() == ["yes", "no", "no", "yes", None]
    assert_refused(run(*ask, "--code", "1=yess"), "--code '1=yess' names no report", "nearest is 'yes'")
    assert_refused(run(*ask, "--code", "1"), "CODE=LABEL")
    assert_refused(run(*ask, "--code", "1=yes", "--code", "1=no"), "gives '1' two labels")
    assert_refused(run(*ask, "--code", "no=yes"), "is itself a label")
    sets = ["reports", "answers.csv", "-c", "q2", "-d", "pairs.json", "--separator", ";", "-o", "out.csv"]
    assert_refused(run(*sets, "--trim"), "for reports that are labels")


def test_codes_are_read_from_files_that_know_numbers(run: Run, answers: Path) -> None:
    mw.microdata.write({"q1": [1, 0, 1]}, "coded.parquet")
    ask = ["reports", "coded.parquet", "-c", "q1", "-d", "die.json", "--code", "1=yes", "--code", "0=no"]
    assert run(*ask, "-o", "out.csv").code == 0
    assert mw.Reports.read("out.csv").decode() == ["yes", "no", "yes"]


def test_a_column_is_kept_once(run: Run, answers: Path) -> None:
    ask = ["reports", "answers.csv", "-c", "q1", "-d", "die.json", "-o", "out.parquet", "--keep"]
    assert_refused(run(*ask, "region,weight,weight"), "--keep names 'weight' twice")


def test_the_design_that_a_form_stored_must_be_the_one_that_is_read_with(run: Run, answers: Path) -> None:
    """Who masked by another design than that of the file is not estimated with it."""
    other = mw.designs.forced_response(yes_prob="1/4", no_prob="1/4")
    rows = [("yes", DIE.fingerprint), ("no", ""), ("no", DIE.fingerprint)]
    ask = ["reports", "form.csv", "-c", "q1", "-d", "die.json", "-o", "out.parquet", "--keep", "region"]
    for stored, fits in ((DIE.fingerprint, True), (other.fingerprint, False), ("yes, a die", True)):
        with open("form.csv", "w", newline="") as file:
            csv.writer(file).writerows(
                [("q1", "region", "q1_design"), *((said, "n", has and stored) for said, has in rows)]
            )
        if fits:
            assert run(*ask).text.startswith("read 3 rows"), stored
            assert mw.microdata.read("out.parquet").names == ["region", "q1"]
        else:
            assert_refused(run(*ask), "'q1_design'", other.fingerprint[:12], DIE.fingerprint[:12], "--carried-out")
    # A device has the fraction 7/10, of which the number 0.7 is only the nearest.
    planned = mw.designs.warner(truth_prob=0.7)
    carried_out = mw.questionnaires.ask(planned, "Ever?", name="q1").design
    assert carried_out != planned
    planned.write("spinner.json")
    Path("form.csv").write_text(f"q1,q1_design\nyes,{carried_out.fingerprint}\n")
    assert run("reports", "form.csv", "-c", "q1", "-d", "spinner.json", "-o", "out.csv").code == 0


def test_kept_numbers_with_decimal_commas_are_numbers(run: Run, answers: Path) -> None:
    Path("sheet.csv").write_text("q1;weight;version\nyes;120,5;1,234\nno;;2,500\nno;80;3,000\n")
    ask = ["reports", "sheet.csv", "-c", "q1", "-d", "die.json", "--keep", "weight,version", "-o", "out.parquet"]
    assert run(*ask).code == 0
    found = mw.microdata.read("out.parquet")
    assert found.cells("weight").to_pylist() == [120.5, None, 80.0]
    assert found.cells("version").to_pylist() == ["1,234", "2,500", "3,000"]  # these may be thousands


def test_files_with_decimal_commas_are_handed_over_as_numbers(run: Run, answers: Path) -> None:
    Path("sheet.csv").write_text("q1;weight\nyes;120,5\nno;80\n")
    ask = ["mask", "sheet.csv", "--column", "q1", "--design", "die.json", "--keep", "weight", "-o", "masked.parquet"]
    assert run(*ask).code == 0
    assert run("handover", "masked.parquet", "-o", "for_r", "--format", "csv").code == 0
    rows = list(csv.reader(next(Path("for_r").glob("*.csv")).read_text("utf-8").splitlines()))
    assert [row[rows[0].index("weight")] for row in rows] == ["weight", "120.5", "80"]


def test_masking_says_what_the_column_was_taken_for(run: Run, answers: Path) -> None:
    """On standard error: whoever masks what was masked by hand would mask it twice."""
    ask = ["mask", "answers.csv", "--column", "q1", "--design", "die.json"]
    alone = run(*ask, "-o", "alone.parquet")
    beside = run(*ask, "-o", "beside.parquet", "--keep", "region,weight")
    for ran in (alone, beside):
        assert ran.code == 0, ran.err
        assert ran.err.startswith("q1 was taken for true answers;")
        assert "maskwell reports" in ran.err
    assert "million rows" not in beside.text  # three rows tell no speed
    assert mw.microdata.read("beside.parquet").names == ["region", "weight", "q1"]
    assert_refused(run(*ask, "-o", "b.parquet", "--keep", "region", "--seed", "1"), "--seed masks one column alone")
    assert run(*ask, "-o", "alone.parquet", "--json").err == ""
