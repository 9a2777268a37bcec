"""Many rounds on the command line: planned, audited, and told where masking would not keep their promise."""

import json
from pathlib import Path

import numpy as np
import pytest

import maskwell as mw
from tests.cli.runs import Run, assert_refused

CATEGORIES = ("--categories", "wifi,cable,mobile")


def test_two_demands_are_planned_and_audited(run: Run, tmp_path: Path) -> None:
    ran = run("plan", *CATEGORIES, "--longitudinal", "2", "--per-round", "1", "-n", "1000", "-o", "network.json")
    assert ran.code == 0, ran.err
    assert "epsilon 1 in one round, 2 in all" in ran.text
    design = mw.Design.from_json((tmp_path / "network.json").read_text())
    assert design == mw.rounds.plan(["wifi", "cable", "mobile"], longitudinal=2, per_round=1)
    audited = run("audit", "network.json", "--rounds", "365", "--values", "2")
    assert "365 rounds of layered tables with up to 2 different answers" in audited.text
    found = run("audit", "network.json", "--rounds", "365", "--values", "2", "--json").json["rounds"]
    assert found == json.loads(json.dumps(mw.rounds.privacy(design, 365, 2).to_dict()))
    told = run("audit", "network.json", "--explain", "respondent").text
    assert "All of this is about one round." in told
    assert "no more than 89 in 100" in told
    for words, why in (
        (("--longitudinal", "2"), "go together"),
        (("--longitudinal", "2", "--per-round", "1", "--epsilon", "1"), "are the demand"),
        (("--longitudinal", "1", "--per-round", "2"), "--per-round"),
    ):
        assert_refused(run("plan", *CATEGORIES, *words), why)
    assert_refused(run("plan", "--longitudinal", "2", "--per-round", "1"), "--categories")
    assert_refused(run("audit", "network.json", "--values", "2"), "--rounds")


def test_masking_both_layers_at_once_is_told(run: Run, tmp_path: Path) -> None:
    design = mw.rounds.plan(["yes", "no"], longitudinal=2, per_round=1)
    (tmp_path / "d.json").write_text(design.to_json())
    (tmp_path / "a.csv").write_text("flag\nyes\nno\n")
    for words in (("-c", "flag", "-d", "d.json", "-o", "r.parquet"), ("--design", "flag=d.json", "-o", "masked")):
        ran = run("mask", "a.csv", *words)
        assert ran.code == 0
        assert "maskwell: warning: a design of two layers is masked here as one round" in ran.err
    (tmp_path / "one.json").write_text(mw.designs.direct(["yes", "no"]).to_json())
    assert run("mask", "a.csv", "-c", "flag", "-d", "one.json", "-o", "s.parquet").err.count("warning") == 0


def test_masking_several_columns_says_what_they_tell_together(run: Run, tmp_path: Path) -> None:
    for name, epsilon in (("a", 1), ("b", "1/2")):
        (tmp_path / f"{name}.json").write_text(mw.plan(["yes", "no"], mw.LDP(epsilon)).to_json())
    (tmp_path / "t.csv").write_text("a,b\nyes,no\n")
    designs = ("--design", "a=a.json", "--design", "b=b.json")
    assert (
        "what the 2 columns tell of one record together: epsilon 1.5" in run("mask", "t.csv", *designs, "-o", "m").text
    )
    assert run("mask", "t.csv", *designs, "-o", "n", "--json").json["epsilon"] == pytest.approx(1.5, rel=1e-12)


def test_a_plan_says_which_share_is_found_and_top_finds_it(run: Run) -> None:
    """A category with the share that is said has a lower limit above 0 in about half of all surveys.

    In 200 of them 60 to 140 if the chance is a half, but for one time in 1e8; at three quarters of the share, and at
    four thirds, the chance differs from a half by more than .15 (lower limits move by more than a standard error).
    """
    n, k = 20_000, 50
    ran = run("plan", "--k", k, "--epsilon", "1", "-n", n, "--json")
    share = ran.json["precision"]["found_from_share"]
    assert f"a share of {share:.2g} holds it" in run("plan", "--k", k, "--epsilon", "1", "-n", n).text
    design, rng = mw.plan(k, mw.LDP(1), n=n), np.random.default_rng(5)

    def found(share: float) -> int:
        shares = np.full(k, (1 - share) / (k - 1))
        shares[0] = share
        # Other categories have shares of their own and do not matter to the limits of the first.
        surveys = (design.mask(rng.choice(k, n, p=shares), seed=number) for number in range(200))
        return sum(bool(mw.estimate(reports).interval(simultaneous=True)[0, 0] > 0) for reports in surveys)

    assert 60 <= found(share) <= 140
    assert found(share * 0.75) < 60
    assert found(share * 4 / 3) > 140


def test_an_empty_key_file_is_told_in_words_of_the_command_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"")
    (tmp_path / "d.json").write_text(mw.designs.direct(["yes", "no"]).to_json())
    (tmp_path / "t.csv").write_text("id,flag\n1,yes\n")
    keyed = ("--key-file", "key", "--ids", "id", "--survey", "s")
    for words in (("-c", "flag", "-d", "d.json", "-o", "r.parquet"), ("--design", "flag=d.json", "-o", "m")):
        assert_refused(run("mask", "t.csv", *words, *keyed), "--key-file 'key' holds 0 bytes", "at least 16")
