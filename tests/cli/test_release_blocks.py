"""``maskwell release --blocks``: forming, comparing and repeating small blocks."""

from pathlib import Path

import pytest

from maskwell.release.identification.blocks.forming import WAYS
from tests.cli.runs import Run, assert_refused
from tests.evidence.made_survey import KEYS, made_survey

ASKED = ("release", "persons.csv", "--keys", ",".join(KEYS), "--xi", "0.5", "--within", "sex")


@pytest.fixture(autouse=True)
def persons(run: Run) -> None:
    """The made survey as a file."""
    made_survey(2_000).to_csv("persons.csv", index=False)


def test_a_dry_run_compares_every_way(run: Run) -> None:
    ran = run(*ASKED, "--dry-run", "--compare-blocks", "--seed", 1)
    assert ran.code == 0
    for word in ("Ways of forming blocks", "The price", *WAYS):
        assert word in ran.text
    assert {path.name for path in Path().iterdir()} == {"persons.csv"}


def test_blocks_are_formed_as_asked(run: Run) -> None:
    ran = run(*ASKED, "--blocks", "staying", "--block-size", 4, "-o", "out.csv", "--plan", "plan.json", "--json")
    assert (ran.code, ran.json["blocks"], ran.json["block_size"]) == (0, "staying", 4)
    assert ran.json["audit"]["holds_for_all_counts"]
    assert ran.json["compared_blocks"] is None
    default = run(*ASKED, "--dry-run", "--json")
    assert (default.json["blocks"], default.json["block_size"]) == ("profile", 3)


def test_a_plan_of_small_blocks_is_repeated_byte_for_byte(run: Run) -> None:
    first = run(*ASKED, "--blocks", "mixed", "--seed", 3, "-o", "a.csv", "--plan", "a.json")
    again = run("release", "persons.csv", "--replay", "a.json", "-o", "b.csv", "--plan", "b.json")
    assert (first.code, again.code) == (0, 0)
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()


def test_blocks_that_cannot_be_are_refused_by_the_names_of_options(run: Run) -> None:
    assert_refused(run(*ASKED, "--blocks", "mixed", "--block-size", 2, "--dry-run"), "--block-size=2 is too small")
    assert_refused(run(*ASKED, "--blocks", "alike", "--dry-run"), "--blocks must be one of")
    assert_refused(run(*ASKED, "--blocks", "whole", "--block-size", 3, "--dry-run"), "--block-size is for", "--blocks")
    pram = ("release", "persons.csv", "--pram", "work", "--diagonal", "0.9", "--dry-run")
    assert_refused(run(*pram, "--blocks", "mixed"), "one of them")


def test_the_help_names_every_way(run: Run) -> None:
    text = " ".join(run("release", "--help").text.split())
    assert all(f"{way}:" in text for way in WAYS)
