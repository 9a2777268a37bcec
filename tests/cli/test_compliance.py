"""``maskwell compliance``: estimates and bounds as the library has them, and refusals that name what looks alike."""

from pathlib import Path

import numpy as np
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


def test_options_that_do_not_go_together(run: Run, two: list[str]) -> None:
    assert_refused(run("compliance", two[0], two[0], "-b", "x=no"), "named twice")
    assert_refused(run("compliance", *two, "-b", "x"), "NAME=VALUE")
    assert_refused(run("compliance", *two, "-b", "x=no", "-b", "x=yes"), "gives a name twice")
    assert_refused(run("compliance", *two, "-b", "x=no", "--of", "y=yes"), "--of names 'y'")
    assert_refused(run("compliance", *two, "-b", "x=no", "--answers-as", "x=no"), "both describe")
    assert_refused(run("compliance", *two, "-b", "x={yes"), "not JSON")
    assert_refused(run("compliance", *two, "-b", "x=no", "--plot", "x.gif"), "--plot writes")
