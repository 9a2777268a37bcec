"""``maskwell compare``, and the reports that ``audit``, ``compare`` and ``plan`` write."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell.cli.commands.compare import _columns, _parts
from maskwell.results.numbers import limit
from tests.cli.runs import Run, assert_refused
from tests.page_reader import assert_needs_no_network

D = mw.designs


@pytest.fixture(autouse=True)
def two_designs(tmp_path: Path) -> None:
    """The two designs of nayak-zhai-2019, §3.1, as files."""
    (tmp_path / "P1.json").write_text(D.from_matrix([["1/2", 0], [0, "1/2"], ["1/2", "1/2"]]).to_json())
    (tmp_path / "P2.json").write_text(D.from_matrix([["7/10", "1/5"], ["3/10", "4/5"]]).to_json())


# compare


def test_compare_says_which_design_exposes_the_respondent(run: Run) -> None:
    ran = run("compare", "P1.json", "P2.json")
    assert (ran.code, ran.err) == (0, "")
    text = " ".join(ran.text.split())
    assert "P1 exposes the respondent: with chance 0.5 the report proves the true answer" in text
    assert "P2 never proves an answer." in text
    assert "same average security, φ = 1.5, and yet only P1 exposes the respondent" in text
    assert re.search(r"parity +unbounded +3\.5", ran.text)


def test_compare_of_named_designs(run: Run) -> None:
    ran = run("compare", "rappor", "trimmed_rappor", "local_diversity:l=3", "--set", "epsilon=1", "--k", 5)
    text = " ".join(ran.text.split())
    assert "trimmed_rappor should replace rappor" in text
    assert re.search(r"added variance +15\.22 +14\.11 +4", text)
    match = mw.planning.match_local_diversity(5, 3)
    assert limit(match.gamma) in text


def test_compare_json_carries_proofs_that_multiply_out(run: Run) -> None:
    found = run("compare", "P1.json", "P2.json", "--json").json
    designs = {name: mw.Design.from_json(Path(f"{name}.json").read_text()) for name in ("P1", "P2")}
    yes, no = sorted(found["order"], key=lambda row: not row["dominates"])
    assert (yes["better"], yes["worse"], yes["dominates"], no["dominates"]) == ("P1", "P2", True, False)
    product = np.array(yes["C"]) @ designs["P1"].matrix()
    assert np.allclose(product, designs["P2"].matrix(), atol=1e-9, rtol=0)
    payoffs, better, worse = np.array(no["payoffs"]), designs[no["better"]].matrix(), designs[no["worse"]].matrix()
    assert (payoffs * worse).sum() > (better @ payoffs.T).max(axis=1).sum() + 1e-9
    assert found["designs"]["P1"]["exposure"] == "1/2"
    assert found["designs"]["P1"]["average_security"] == found["designs"]["P2"]["average_security"] == 1.5
    assert found["verdicts"][0].startswith("P1 exposes")
    assert found["matched_minimax"]["P2"]["gamma"] == pytest.approx(mw.planning.match_added_variance(2, 1.68).gamma)


def test_compare_writes_a_page(run: Run) -> None:
    ran = run("compare", "P1.json", "P2.json", "--html", "report.html")
    assert ran.text.endswith("wrote report.html\n")
    text = Path("report.html").read_text("utf-8")
    assert_needs_no_network(text)
    assert "P1 exposes the respondent" in text


def test_compare_reads_a_pipe_and_a_prior(run: Run) -> None:
    piped = Path("P1.json").read_bytes()
    found = run("compare", "-", "P2.json", "--prior", "1/4,3/4", "--json", stdin=piped).json
    assert found["designs"]["P2"]["guess_probability"] == pytest.approx(0.775)


@pytest.mark.parametrize(
    ("args", "about"),
    [
        (["P1.json"], "two designs or more"),
        (["P1.json", "nothing"], "neither a design file nor the name"),
        (["P1.json", "nothing.json"], "nothing.json"),
        (["minimax", "rappor", "--set", "epsilon=1"], "--k"),
        (["minimax:epsilon=1", "direct", "--k", "3", "--set", "phi=1.5"], "none of the named designs"),
        (["minimax:epsilon=1", "P1.json", "--k", "3"], "not for the same categories"),
        (["minimax:colour=1", "direct", "--k", "3"], "no parameter 'colour'"),
        (["minimax:epsilon", "direct", "--k", "3"], "name=value"),
        (["P1.json", "P2.json", "--prior", "a,b"], "--prior must be a number"),
        (["P1.json", "P2.json", "--prior", "0.5,0.2"], "sum to 1"),
        (["P1.json", "P2.json", "--html", "nowhere/report.html"], "no folder"),
        (["P1.json", "P2.json", "--html", "P1.json"], "also the input"),
        ([], "designs"),
    ],
)
def test_compare_refuses_in_one_line(run: Run, args: list[str], about: str) -> None:
    ran = run("compare", *args)
    assert_refused(ran)
    assert about.lower() in ran.err.lower()


def test_columns_are_named_apart() -> None:
    assert _columns(["a/P.json", "b/P.json", "rappor"]) == ["P (1)", "P (2)", "rappor"]
    assert _columns(["minimax:epsilon=1", "minimax:epsilon=2"]) == ["minimax:epsilon=1", "minimax:epsilon=2"]


def test_commas_in_brackets_part_nothing() -> None:
    assert _parts('P=[[1,0],[0,1]],reports=["a,b","c"]') == ["P=[[1,0],[0,1]]", 'reports=["a,b","c"]']
    assert _parts("") == []


def test_compare_help_has_examples(run: Run) -> None:
    text = run("compare", "--help").text
    assert "maskwell compare" in text.split("Examples:")[1]
    assert all(option in text for option in ("--json", "--html"))


# audit and plan


def test_audit_prints_every_figure_and_the_warnings(run: Run) -> None:
    ran = run("audit", "P1.json", "--prior", "0.5,0.5")
    text = " ".join(ran.text.split())
    audit = mw.audit(mw.Design.from_json(Path("P1.json").read_text()), [0.5, 0.5])
    for warning in audit.warnings:
        assert warning in text
    for words in ("right guesses 0.75", "information 0.5 bits", "admissible NO", "one false report 1.5"):
        assert words in text
    assert "Threat model" in text


def test_audit_json_is_the_whole_audit(run: Run) -> None:
    found = run("audit", "P2.json", "--prior", "0.2,0.8", "--json").json
    expected = mw.audit(mw.Design.from_json(Path("P2.json").read_text()), [0.2, 0.8]).to_dict()
    assert {**found, "design": None} == {
        **json.loads(json.dumps(expected)),
        "design": None,
        "vocabulary": 1,
        "output": [],
    }


def test_audit_says_what_a_report_is_worth_to_a_reader(run: Run) -> None:
    aims = {"accuse": {"0": 1}, "pass by": {"1": "2"}}
    Path("aims.json").write_text(json.dumps(aims))
    ran = run("audit", "P2.json", "--gain", "aims.json", "--json", "--plot", "gains.svg")
    design = mw.Design.from_json(Path("P2.json").read_text())
    expected = mw.audit(design).gain_leakage({"accuse": {0: 1}, "pass by": {1: 2}}).to_dict()
    assert ran.json["gain_leakage"] == json.loads(json.dumps(expected)), ran.err
    assert ran.json["output"] == ["gains.svg"]
    assert Path("gains.svg").stat().st_size > 1000
    assert "multiplicative leakage" in run("audit", "P2.json", "--gain", "aims.json").text
    assert_refused(run("audit", "P2.json", "--plot", "gains.svg"), "give --gain as well")
    assert_refused(run("audit", "P2.json", "--gain", "aims.json", "--plot", "gains.gif"), "--plot writes")
    assert_refused(run("audit", "P2.json", "--gain", "aims.json", "--explain", "respondent"), "--gain goes without it")
    for text, about in (
        ("[1]", "what each guess gains by category"),
        ("{", "not JSON"),
        ('{"x": {"9": 1}}', "names '9', which is no category"),
        ('{"x": {"0": -1}}', "is negative"),
    ):
        Path("aims.json").write_text(text)
        assert_refused(run("audit", "P2.json", "--gain", "aims.json"), "--gain", about)


@pytest.mark.parametrize("audience", ["respondent", "interviewer", "methodologist"])
def test_audit_explains(run: Run, audience: Any) -> None:
    design = mw.Design.from_json(Path("P2.json").read_text())
    assert run("audit", "P2.json", "--explain", audience).text == f"{mw.explain(design, audience)}\n"
    found = run("audit", "P2.json", "--explain", audience, "--json").json
    assert found["sentences"] == str(mw.explain(design, audience)).splitlines()


def test_audit_writes_a_page_and_a_codebook(run: Run) -> None:
    ran = run("audit", "P2.json", "--html", "audit.html", "--codebook", "book.md")
    assert "wrote book.md" in ran.text
    assert "wrote audit.html" in ran.text
    assert_needs_no_network(Path("audit.html").read_text("utf-8"))
    design = mw.Design.from_json(Path("P2.json").read_text())
    assert Path("book.md").read_text("utf-8") == mw.codebook(design).to_markdown() + "\n"
    run("audit", "P2.json", "--codebook", "book.json")
    assert json.loads(Path("book.json").read_text("utf-8")) == json.loads(mw.codebook(design).to_json())


@pytest.mark.parametrize(
    ("args", "about"),
    [
        (["--codebook", "book.txt"], ".md or .json"),
        (["--codebook", "nowhere/book.md"], "no folder"),
        (["--explain", "everybody"], "everybody"),
        (["--prior", "1,2,3"], "2 entries"),
        (["--html", "P2.json"], "also the input"),
    ],
)
def test_audit_refuses_in_one_line(run: Run, args: list[str], about: str) -> None:
    assert_refused(run("audit", "P2.json", *args), about)


def test_plan_writes_a_page(run: Run) -> None:
    ran = run("plan", "--k", 3, "--epsilon", 1, "-n", 500, "--html", "plan.html")
    assert ran.text.endswith("wrote plan.html\n")
    text = Path("plan.html").read_text("utf-8")
    assert_needs_no_network(text)
    assert f"± {100 * mw.planning.half_width(D.minimax(3, epsilon=1), 500, proportion=0.1):.2f}" in text
    assert_refused(run("plan", "--k", 3, "--epsilon", 1, "--html", "nowhere/plan.html"), "no folder")
