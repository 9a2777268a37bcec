"""``maskwell plan``, ``audit`` and ``designs``: what they print and write, and what they refuse."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from tests.cli.runs import LABELS, Run, assert_refused


def test_plan_prints_privacy_beside_precision(run: Run) -> None:
    ran = run("plan", "--k", 5, "--epsilon", 1, "-n", 2000)
    text = ran.out.decode()
    assert (ran.code, ran.err) == (0, "")
    for part in ("minimax design for 5 categories", "epsilon", "2.719", "11.43", "n = 2,000"):
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
    assert "15.22" in named.out.decode()
    assert "holds, exactly" in named.out.decode()


def test_what_is_unbounded_is_null_in_json(run: Run) -> None:
    found = run("audit", "--design", "collapse", "--k", 4, "--set", "groups=[[0,1],[2,3]]", "--json").json
    assert (found["epsilon"], found["added_variance"], found["exact_parity"]) == (None, None, None)
    assert found["diversity"] == 2
    planned = run("plan", "--design", "collapse", "--k", 4, "--set", "groups=[[0,1],[2,3]]", "-n", 10, "--json").json
    assert (planned["worth"], planned["precision"]["shares"]) == (0, [])


def test_designs_lists_the_registry(run: Run) -> None:
    listed = run("designs", "--json").json["designs"]
    assert [entry["name"] for entry in listed] == list(mw.designs.DESIGNS)
    assert all(entry["summary"] and entry["references"] for entry in listed)
    assert all(name in run("designs").out.decode() for name in mw.designs.DESIGNS)


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
        (["--k", 5, "--categories", "a,b", "--epsilon", 1], ["not two"]),
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


def test_forced_answers_to_several_categories_are_asked_for_as_such(run: Run) -> None:
    ask = ["plan", "--design", "forced_response", "--categories", "a,b,c"]
    assert_refused(run(*ask), "3 categories needs forced=", 'forced={"a": "1/6", "c": "1/6"}', "eriksson")
    assert run(*ask, "--set", 'forced={"a": "1/6", "c": "1/6"}').code == 0
    assert_refused(run("plan", "--design", "forced_response", "--categories", "yes,no"), "yes_prob= and no_prob=")


def test_one_design_is_shown_with_its_definition_and_a_call(run: Run) -> None:
    text = run("designs", "forced_response").text
    assert "whatever" in text
    assert "the truth is" in text
    assert "maskwell plan --design forced_response" in text
    assert "rappor" not in text
    assert [entry["name"] for entry in run("designs", "warner", "--json").json["designs"]] == ["warner"]
    assert_refused(run("designs", "forced_respons"), "is no design", "nearest is 'forced_response'")
