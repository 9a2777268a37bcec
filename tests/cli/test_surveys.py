"""``maskwell questionnaire`` and ``maskwell handover``: the library's files, and one line for bad input."""

import csv
from pathlib import Path

import maskwell as mw
from maskwell.questionnaires import ask, page, xlsform
from tests.cli.runs import Run, assert_refused


def design(path: str = "design.json", truth_prob: float = 0.7) -> mw.Design:
    made = mw.designs.warner(truth_prob=truth_prob)
    Path(path).write_text(made.to_json(), encoding="utf-8")
    return made


def test_a_form_and_cards_are_those_of_the_library(run: Run) -> None:
    made = design()
    files = ["--form", "form.xlsx", "--cards", "cards.html", "--carried-out", "done.json"]
    texts = ["--question", "Did you?", "--question", "de=Haben Sie?"]
    ran = run("questionnaire", "design.json", *texts, "--name", "tax", *files, "--language", "de", "--title", "Taxes")
    assert ran.code == 0, ran.err
    question = ask(made, {"en": "Did you?", "de": "Haben Sie?"}, name="tax")
    assert Path("form.xlsx").read_bytes() == xlsform(question, title="Taxes")
    assert Path("cards.html").read_text("utf-8") == page(question, "de")
    assert mw.Design.from_json(Path("done.json").read_text("utf-8")) == question.design
    assert "10 equal parts of a spinner" in ran.text
    assert run("questionnaire", "design.json", "--question", "Did you?", "--json").json["devices"][0]["parts"] == 10


def test_what_a_device_cannot_is_refused_or_made_nearest(run: Run) -> None:
    made = design(truth_prob=0.7318)
    asked = ["questionnaire", "design.json", "--question", "Did you?", "--cards", "cards.html"]
    assert_refused(run(*asked), "--device: no spinner", "realisable", "added variance")
    ran = run(*asked, "--nearest", "--device", "cards", "--carried-out", "done.json")
    assert ran.code == 0, ran.err
    done = mw.Design.from_json(Path("done.json").read_text("utf-8"))
    assert done.exact_parity() <= made.exact_parity()
    assert "with done.json, not with design.json" in ran.text
    assert_refused(run(*asked, "--nearest", "--device", "cards"), "--nearest carries out another", "--carried-out")
    assert_refused(run(*asked, "--device", "form"), "must first be told the true answer")


def test_bad_requests_are_one_line(run: Run) -> None:
    design()
    asked = ["questionnaire", "design.json", "--question", "Did you?"]
    assert_refused(run(*asked), "name what to write")
    assert_refused(run(*asked, "--form", "form.xls"), "must end in .xlsx")
    assert_refused(run(*asked, "--cards", "no/cards.html"), "create it first")
    assert_refused(run(*asked, "--question", "Again?", "--cards", "c.html"), "twice in the language 'en'")
    assert_refused(run(*asked, "--name", "a b", "--cards", "c.html"), "--name must be letters")
    assert_refused(run("handover", "no.parquet", "-o", "out"), "was not found")


def test_reports_are_handed_over(run: Run) -> None:
    reports = mw.designs.warner(truth_prob=0.8).mask(["yes", "no"] * 50, seed=1)
    reports.write("reports.parquet")
    ran = run("handover", "reports.parquet", "-o", "out", "--name", "tax", "--question", "Did you?", "--json")
    assert ran.code == 0, ran.err
    assert sorted(path.name for path in Path("out").iterdir()) == sorted(ran.json["contents"])
    assert {"masked.sav", "tax.matrix.csv", "tax.scores.csv", "ddi.xml"} <= set(ran.json["contents"])
    text = run("handover", "reports.parquet", "-o", "out", "--format", "csv").text
    assert "report.matrix.csv" in text


def test_kept_columns_and_all_masked_ones_are_handed_over(run: Run) -> None:
    design(truth_prob=0.8)
    rows = "".join(f"{a},{b},{w},north\n" for a, b, w in [("yes", "no", 1.5), ("no", "no", 2.0)] * 5)
    Path("typed.csv").write_text(f'tax,drugs,"weight, raked",region\n{rows}', encoding="utf-8")
    read = ["--design", "tax=design.json", "--design", "drugs=design.json", "--keep", '"weight, raked",region']
    assert run("reports", "typed.csv", *read, "-o", "reports.parquet").code == 0
    ran = run("handover", "reports.parquet", "-o", "out", "--format", "csv")
    assert ran.code == 0, ran.err
    with Path("out", "masked.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    assert {"tax", "tax_score_1", "drugs", "drugs_score_2", "weight, raked", "region"} <= set(lines[0])
    assert dict(zip(lines[0], lines[2], strict=True))["weight, raked"] == "2.0"
    one = run("handover", "reports.parquet", "-o", "one", "--format", "csv", "--column", "tax", "--name", "taxes")
    assert one.code == 0, one.err
    assert Path("one", "taxes.matrix.csv").exists()
    assert not Path("one", "drugs.matrix.csv").exists()
    assert_refused(run("handover", "reports.parquet", "-o", "two", "--name", "x"), "--name and --question are for one")
    both = run("handover", "reports.parquet", "-o", "out", "--format", "csv", "--json").json
    assert set(both["columns"]) == {"tax", "drugs"}
