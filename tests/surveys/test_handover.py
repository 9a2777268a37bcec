"""What analysts get: the same reports in every format, matrices and scores that estimate, and a DDI description."""

import csv
import io
import json
import math
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell import designs as D
from maskwell.errors import DataError, DesignError
from maskwell.handover import ddi, write
from maskwell.microdata import read

N = 400
DDI = "{ddi:codebook:2_6}"
# The order that the schema of DDI-Codebook 2.6 demands of what stands in a variable.
ORDER = ["labl", "security", "qstn", "txt", "catgry", "varFormat", "notes"]


def masked() -> dict[str, mw.Reports]:
    rng = np.random.default_rng(2)
    taxes = rng.choice(["yes", "no"], N, p=[0.3, 0.7]).astype(object)
    taxes[:7] = None
    return {
        "tax": D.warner(truth_prob=0.8).mask(taxes, seed=1, missing="keep"),
        "job": D.uniform_subsets(["a", "b", "c", "d", "e"]).mask(rng.choice(list("abcde"), N), seed=2),
        "cards": D.kuk(red_if_yes=0.8, red_if_no=0.3, draws=2).mask(rng.choice(["yes", "no"], N), seed=3),
        "half": D.collapse(["a", "b", "c"], groups=[["a", "b"], ["c"]]).mask(rng.choice(list("abc"), N), seed=4),
    }


REPORTS = masked()


@pytest.mark.parametrize("format", ["sav", "dta", "csv", "parquet"])
def test_a_folder_holds_the_reports_and_all_to_estimate_from_them(format: Any, tmp_path: Path) -> None:
    weights = np.random.default_rng(3).uniform(1, 3, N)
    written = write(REPORTS, tmp_path, title="A survey", format=format, beside={"weight": weights})
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(written.files)
    found = read(tmp_path / f"masked.{format}")
    columns = found.table.to_pydict()
    np.testing.assert_allclose(columns["weight"], weights)
    for name, reports in REPORTS.items():
        lines = list(csv.reader(io.StringIO((tmp_path / f"{name}.matrix.csv").read_text("utf-8"))))
        design = reports.design
        np.testing.assert_array_equal(np.array([line[1:] for line in lines[1:]], float), design.matrix())
        assert lines[0][1:] == list(design.categories)
        told = [line[0] for line in lines[1:]]
        expected = [
            None if report is None else told[design.report_labels().index(report)] for report in reports.decode()
        ]
        seen = [None if value in (None, "") else str(value) for value in columns[name]]
        assert seen == expected
        assert mw.Design.from_json((tmp_path / f"{name}.design.json").read_text("utf-8")) == design
    # Means of scores, weighted as well, are the estimates.
    for name in ("tax", "job", "cards"):
        present = np.array([value is not None for value in REPORTS[name].decode()])
        for w in (None, weights):
            estimate = mw.estimate(REPORTS[name].tally(weights=w))
            scores = [np.array(columns[f"{name}_score_{j + 1}"], float) for j in range(REPORTS[name].design.k)]
            means = [np.average(s[present], weights=None if w is None else w[present]) for s in scores]
            np.testing.assert_allclose(means, estimate.proportions, atol=1e-9)
    assert "half_score_1" not in columns
    assert "half.scores.csv" not in written.files


@pytest.mark.parametrize("format", ["sav", "dta"])
def test_labels_say_what_codes_and_columns_are(format: Any, tmp_path: Path) -> None:
    write(REPORTS, tmp_path, title="A survey", format=format, questions={"tax": "Did you ever evade taxes?"})
    found = read(tmp_path / f"masked.{format}")
    assert {int(code): label for code, label in found.variables["tax"].value_labels.items()} == {1: "yes", 2: "no"}
    assert found.variables["tax"].label == "Randomised report, not an answer: Did you ever evade taxes?"
    assert found.variables["job_score_2"].label == "job: score of “b”, whose mean estimates its share"
    assert found.values("cards").to_pylist()[0] in (0, 1, 2)
    book = ET.parse(tmp_path / "ddi.xml").getroot()
    for variable in book.iter(f"{DDI}var"):
        codes = [item.text for item in variable.iter(f"{DDI}catValu")]
        labels = [item.text for item in variable.findall(f"{DDI}catgry/{DDI}labl")]
        known = found.variables[variable.attrib["name"]].value_labels
        assert not known or [known[float(code)] for code in codes] == labels  # type: ignore[arg-type]


def test_the_description_is_well_formed_and_in_the_order_of_the_schema() -> None:
    """By its structure, since the official schema is on no package index; the output was held against it by hand."""
    designs = {name: reports.design for name, reports in REPORTS.items()}
    text = ddi(designs, title="A <survey> & more", records=N, questions={"tax": "Did you “ever” …?"})
    book = ET.fromstring(text)
    assert (book.tag, book.attrib) == (f"{DDI}codeBook", {"version": "2.6"})
    assert [part.tag.removeprefix(DDI) for part in book] == ["docDscr", "stdyDscr", "fileDscr", "dataDscr"]
    assert book.findtext(f"{DDI}stdyDscr/{DDI}citation/{DDI}titlStmt/{DDI}titl") == "A <survey> & more"
    assert book.findtext(f".//{DDI}caseQnty") == str(N)
    variables = book.findall(f"{DDI}dataDscr/{DDI}var")
    assert [variable.attrib["name"] for variable in variables] == list(designs)
    assert len({variable.attrib["ID"] for variable in variables}) == len(variables)
    for variable, design in zip(variables, designs.values(), strict=True):
        tags = [part.tag.removeprefix(DDI) for part in variable]
        assert sorted(tags, key=ORDER.index) == tags
        notes = {note.attrib["subject"]: note.text or "" for note in variable.findall(f"{DDI}notes")}
        assert mw.Design.from_json(notes["design"]) == design
        assert notes["fingerprint"] == design.fingerprint
        assert (
            (float(notes["epsilon"]) >= design.epsilon)
            if math.isfinite(design.epsilon)
            else ("unbounded" in notes["epsilon"])
        )
        assert json.loads(notes["true answers"]) == list(design.categories)
        assert len(variable.findall(f"{DDI}catgry")) == design.report_count()
        assert "not true answers" in (variable.findtext(f"{DDI}security") or "")
    assert variables[0].findtext(f"{DDI}qstn/{DDI}qstnLit") == "Did you “ever” …?"
    # Counts of reports would be read as counts of answers.
    assert not list(book.iter(f"{DDI}catStat"))


def test_no_character_makes_the_description_ill_formed() -> None:
    text = ddi({"x": D.warner(["a\x00\ufffe<", "b]]>"], truth_prob=0.8)}, title="\x01\u202e]]>")
    assert "\\x01" in (ET.fromstring(text).findtext(f".//{DDI}titl") or "")


def test_what_cannot_be_handed_over_is_refused(tmp_path: Path) -> None:
    tax = REPORTS["tax"]
    with pytest.raises(DataError, match="format must be one of sav"):
        write(tax, tmp_path, title="x", format="xls")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="create it first"):
        write(tax, tmp_path / "no" / "way", title="x")
    with pytest.raises(DataError, match="the same people, one each; got 400 of 'a', 1 of 'b'"):
        write({"a": tax, "b": tax.design.mask(["yes"], seed=1)}, tmp_path, title="x")
    with pytest.raises(DataError, match="beside must have a row for each of the 400 reports"):
        write(tax, tmp_path, title="x", beside={"w": [1.0]})
    with pytest.raises(DataError, match="'report', as a masked variable is called"):
        write(tax, tmp_path, title="x", beside={"report": np.ones(N)})
    with pytest.raises(DataError, match="two columns would be called 'report_score_1'"):
        write(tax, tmp_path, title="x", beside={"report_score_1": np.ones(N)})
    with pytest.raises(DesignError, match="more than 1,000,000 cells"):
        write(D.minimax(200, epsilon=1).mask([1], seed=1), tmp_path, title="x")
    with pytest.raises(DataError, match="not a masked variable"):
        ddi(tax.design, title="x", questions={"other": "?"})
    with pytest.raises(DataError, match=r"could not be|cannot be named"):
        write({"two words": tax}, tmp_path, title="x")
    assert list(tmp_path.iterdir()) == []


def test_a_hand_over_shows_itself(tmp_path: Path) -> None:
    written = write(REPORTS["tax"], tmp_path, title="x", format="csv")
    assert "masked.csv" in written.summary()
    assert json.loads(json.dumps(written.to_dict()))["n"] == N
    assert "report.matrix.csv" in repr(written)


def test_a_folder_is_made_and_files_are_named_as_every_system_takes_them(tmp_path: Path) -> None:
    tax = REPORTS["tax"]
    written = write({"Q1: tax?": tax}, tmp_path / "new", title="x", format="csv")
    assert {"Q1_ tax_.matrix.csv", "Q1_ tax_.codebook.md"} <= {path.name for path in (tmp_path / "new").iterdir()}
    assert written.files["Q1_ tax_.design.json"].startswith("Q1: tax?")
    with pytest.raises(DataError, match="files of two variables would be called 'a_b'"):
        write({"a:b": tax, "a?b": tax}, tmp_path, title="x", format="csv")


def test_the_guide_shows_the_same_estimates_in_r_and_here() -> None:
    """R ran when the guide was written; what it printed stays beside what the example in Python prints today."""
    text = (Path(__file__).parents[2] / "docs" / "masked_data_in_r.md").read_text("utf-8")
    python, base, survey, *_ = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    numbers = [[float(number) for number in re.findall(r"\d\.\d+", block)] for block in (python, base, survey)]
    shares, errors, weighted, weighted_errors = numbers[0][:2], numbers[0][2:4], numbers[0][4:6], numbers[0][6:8]
    assert numbers[1][::2] == shares
    # R divided by n - 1.
    assert numbers[1][1::2] == pytest.approx([error * math.sqrt(1500 / 1499) for error in errors], abs=1.1e-5)
    assert numbers[2][:4] == [weighted[0], weighted_errors[0], weighted[1], weighted_errors[1]]


def test_names_that_lead_elsewhere_and_what_is_no_report_are_refused(tmp_path: Path) -> None:
    """The name of a variable is the beginning of names of files, which must stay in their folder."""
    inside = tmp_path / "inside"
    inside.mkdir()
    tax = REPORTS["tax"]
    for name in ("../tax", "a/b", "a\\b", "", ".hidden", "a\0b"):
        with pytest.raises(DataError, match="beginning of a file's name"):
            write({name: tax}, inside, title="x", format="csv")
    for wrong in ([tax], {"tax": tax.tally()}, 5):
        with pytest.raises(DataError, match="reports must be Reports"):
            write(wrong, inside, title="x")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="one masked variable at least"):
        write({}, inside, title="x")
    assert [path.name for path in tmp_path.rglob("*")] == ["inside"]


def test_a_folder_says_how_its_reports_were_drawn(tmp_path: Path) -> None:
    die = mw.Reports.of(D.forced_response(yes_prob="1/6", no_prob="1/6"), ["yes"] * 100 + ["no"] * 300)
    written = write({"tax": REPORTS["tax"], "die": die}, tmp_path, title="x", format="csv")
    assert written.randomness == {"tax": "seeded", "die": "external"}
    assert "for simulation only: tax" in written.summary()
    book = ET.parse(tmp_path / "ddi.xml").getroot()
    told = [note.text for note in book.iter(f"{DDI}notes") if note.attrib.get("subject") == "drawn"]
    assert told == [
        "from a seed: a simulation, which protects nobody",
        "elsewhere: that people followed the design is assumed, not seen",
    ]


def test_reports_that_would_be_spelled_alike_are_refused(tmp_path: Path) -> None:
    """A set of two and a set of one whose name has a comma."""
    design = D.rappor(["a", "b", "a, b"], epsilon=3)
    with pytest.raises(DesignError, match=r"two reports of 'q' would both be written '\{a, b\}'"):
        write({"q": design.mask(["a", "a, b"], seed=1)}, tmp_path / "made", title="t", format="csv")
    assert not (tmp_path / "made").exists()
