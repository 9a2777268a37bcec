"""``maskwell compliance``: estimates and bounds as the library has them, and refusals that name what looks alike."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import maskwell as mw
from tests.cli.runs import Run, assert_refused

RARE, OFTEN = (mw.designs.forced_response(yes_prob=p, no_prob=0) for p in ("1/6", "5/6"))
REPORTS = [mw.Reports.of(d, np.repeat(["yes", "no"], [y, 1000 - y])) for d, y in ((RARE, 320), (OFTEN, 780))]


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    REPORTS[0].write("rare.parquet")
    REPORTS[1].tally().write("often.tally.json")
    return ["rare.parquet", "often.tally.json"]


def test_the_estimate_is_that_of_the_library(run: Run, two: list[str]) -> None:
    expected = mw.compliance(REPORTS, {"always no": "no"})
    ran = run("compliance", *two, "--behaviour", "always no=no", "--json", "--plot", "shares.svg")
    assert ran.json["shares"] == expected.shares.tolist(), ran.err
    assert ran.json["test"]["p_value"] == expected.test().p_value
    assert ran.json["files"] == two
    assert Path("shares.svg").stat().st_size > 1000
    shown = run("compliance", *two, "-b", "denies=no", "--of", "denies=yes", "--level", 0.9)
    assert "90 % from" in shown.text, shown.err
    assert "all people" in shown.text
    guess = run("compliance", *two, "-b", 'guess={"yes": "3/4", "no": "1/4"}')
    assert "guess" in guess.text, guess.err


def test_what_cannot_be_told_has_bounds(run: Run, two: list[str]) -> None:
    alone = ["compliance", two[0], "--behaviour", "always no=no"]
    assert_refused(run(*alone), "or use --bounds", "'no' reports as 16.67 % 'yes' with 83.33 % 'always no' does")
    ran = run(*alone, "--bounds", "1/5", "--among", "all", "--json", "--plot", "bounds.png")
    expected = mw.compliance_bounds(REPORTS[0], {"always no": "no"}, most=0.2, among="all")
    assert np.array(ran.json["upper"]) == pytest.approx(expected.upper), ran.err
    assert "do not follow" in run(*alone, "--bounds", 0.2).text
    assert "'no' reports as 'denies' does" in run("compliance", *two, "--answers-as", "denies=no").err


def test_a_sample_is_read_from_the_columns_beside_the_reports(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cluster that has people of both groups is one, whichever file they stand in."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    columns, groups = [], []
    for name, design, yes in (("rare", RARE, 60), ("often", OFTEN, 150)):
        table = pd.DataFrame({"answer": rng.permutation(np.repeat(["yes", "no"], [yes, 200 - yes]))})
        table["weight"], table["psu"] = rng.uniform(1, 3, 200), rng.integers(20, size=200)
        table["region"] = table["psu"] % 2
        table.to_csv(f"{name}.csv", index=False)
        Path(f"{name}.json").write_text(design.to_json(), encoding="utf-8")
        made = ["reports", f"{name}.csv", "--column", "answer", "--design", f"{name}.json"]
        kept = run(*made, "--keep", "weight,psu,region", "-o", f"{name}.parquet")
        assert kept.code == 0, kept.err
        columns.append(table)
        groups.append(mw.Reports.of(design, table["answer"]))
    both = pd.concat(columns)
    sample = mw.Sample(both, weights="weight", strata="region", clusters="psu")
    expected = mw.compliance(groups, {"always no": "no"}, sample=sample)
    command = ["compliance", "rare.parquet", "often.parquet", "-b", "always no=no"]
    described = ["--weights", "weight", "--strata", "region", "--clusters", "psu"]
    ran = run(*command, *described, "--json", "--plot", "shares.svg")
    assert ran.json["standard_errors"] == pytest.approx(expected.standard_errors), ran.err
    assert ran.json["degrees_of_freedom"] == 18
    assert ran.json["test"]["p_value"] == pytest.approx(expected.test().p_value)
    assert "18 degrees of freedom" in run(*command, *described).text
    replicated = run(*command, *described, "--replicate-method", "jkn", "--json")
    errors = mw.compliance(groups, {"always no": "no"}, sample=sample.with_replicates("jkn")).standard_errors
    assert replicated.json["standard_errors"] == pytest.approx(errors), replicated.err
    assert_refused(run(*command, "--weights", "wait"), "no column 'wait'")
    assert_refused(run(*command, *described, "--bounds", 0.2), "--bounds takes reports as independent")
    groups[0].tally().write("rare.tally.json")
    assert_refused(run("compliance", "rare.tally.json", "-b", "x=no", "--weights", "weight"), "stored tally")


def test_options_that_do_not_go_together(run: Run, two: list[str]) -> None:
    assert_refused(run("compliance", two[0], two[0], "-b", "x=no"), "named twice")
    assert_refused(run("compliance", *two, "-b", "x"), "NAME=VALUE")
    assert_refused(run("compliance", *two, "-b", "x=no", "-b", "x=yes"), "gives a name twice")
    assert_refused(run("compliance", *two, "-b", "x=no", "--of", "y=yes"), "--of names 'y'")
    assert_refused(run("compliance", *two, "-b", "x=no", "--answers-as", "x=no"), "both describe")
    assert_refused(run("compliance", *two, "-b", "x={yes"), "not JSON")
    assert_refused(run("compliance", *two, "-b", "x=no", "--plot", "x.gif"), "--plot writes")


def test_an_assumption_and_a_die_that_never_forces_a_no_are_told(run: Run) -> None:
    """Nobody who names no behaviour reads that everybody followed; nor that a "no" was safe."""
    one, other = (mw.designs.forced_response(yes_prob=p, no_prob=0) for p in ("1/6", "5/6"))
    mw.Reports.of(one, ["yes"] * 32 + ["no"] * 68).write("rare.parquet")
    mw.Reports.of(other, ["yes"] * 78 + ["no"] * 22).write("often.parquet")
    text = run("compliance", "rare.parquet", "often.parquet").text
    assert "all, which is assumed" in text
    assert "-b 'always no=no'" in text
    assert "Note on rare.parquet, often.parquet: Parity is infinite" in text
    asked = run("compliance", "rare.parquet", "often.parquet", "-b", "always no=no").text
    assert "assumed" not in asked
    assert "Parity is infinite" in asked
