"""The bench's own code, at sizes that take no time: what it measures is in ``docs/performance.md``."""

import tomllib
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import pytest

from bench import peer_bugs
from bench.__main__ import PARTS, main
from bench.frame import Bench, Goal, Measured, Ratio, Row, Work
from bench.frame.page import as_page, write
from bench.frame.results import PartResult, read
from bench.frame.stages import Stage, measure

ROW = Row("minimax, k = 10, mask", Ratio(80.0, 70.0, 90.0), "M/s", Ratio(25.0, 20.0, 31.0), "a peer", Goal(30))


def result(*rows: Row) -> dict[str, PartResult]:
    return {"masking": PartResult.now("masking", "Masking", "About it.", rows, 12.3, 0.5)}


def test_a_work_is_measured_in_a_process_of_its_own() -> None:
    found = Bench(rounds=2, seconds=0.0).alternate({"ours": Work("bench.floor:memory", {"n": 1000})})
    stage = found["ours"]["copy of memory"]
    assert stage.records == 1000
    assert len(stage.seconds) == 2
    assert stage.rates.low > 0


def test_a_work_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match="no_such_work"):
        Bench().alone(Work("bench.floor:no_such_work"))


def test_stages_are_run_once_to_warm_up_and_keep_what_they_return() -> None:
    calls: list[int] = []

    def call() -> dict[str, float]:
        calls.append(1)
        return {"gap": 0.5}

    found = measure([Stage("warm", 7, call), Stage("cold", 7, call, warm=False)], seconds=0.0)
    assert len(calls) == 3
    assert [found[name]["facts"] for name in ("warm", "cold")] == [{"gap": 0.5}] * 2
    assert len(found["cold"]["seconds"]) == 1


def test_a_ratio_is_formed_within_each_round() -> None:
    """A round in which everything took three times as long changes no ratio."""
    ours = Measured(1000, [1.0, 3.0, 1.0], None, None, {})
    theirs = Measured(10, [0.5, 1.5, 0.6], None, None, {})
    assert ours.faster_than(theirs) == pytest.approx((50.0, 50.0, 60.0))
    assert ours.rate_row("mask", theirs, "a peer", Goal(at_least=55)).verdict == "missed"
    assert ours.rate_row("mask", theirs, "a peer", Goal(at_least=50)).verdict == "met"


def test_a_missed_goal_is_said() -> None:
    assert ROW.cells() == ("minimax, k = 10, mask", "80 (70–90) M/s", "25 (20–31) × a peer", "at least 30: missed")
    assert Row("memory", Ratio.of([70.0]), "MiB", goal=Goal(at_most=64)).verdict == "missed"


def test_results_are_written_read_and_shown(tmp_path: Path) -> None:
    found = result(ROW, Row("memory", Ratio.of([7.0]), "MiB"))
    write(found, tmp_path)
    assert read(tmp_path / "performance.json") == found
    assert "| 25 (20–31) × a peer | at least 30: missed |" in as_page(found)
    assert (tmp_path / "performance.svg").read_text("utf-8").startswith("<svg")


@pytest.mark.parametrize("name", PARTS)
def test_a_part_says_what_it_is(name: str) -> None:
    part = import_module(f"bench.{name}")
    assert part.TITLE
    assert part.ABOUT.endswith(".")
    assert 0 < part.LIMIT <= 1800
    assert callable(part.measure)


def test_an_unknown_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["maskin"]) == 2
    assert "unknown part 'maskin'" in capsys.readouterr().err


def test_every_mistake_of_peers_has_our_side_its_test_and_its_place_on_the_page() -> None:
    text = peer_bugs.PAGE.read_text("utf-8")
    listed = tomllib.loads(peer_bugs.LIST.read_text("utf-8"))
    for bug in listed["bug"]:
        assert callable(getattr(peer_bugs, bug["run"]))
        assert f"## {bug['title']}\n\n{bug['why']}\n\n" in text
    for row in [*listed["bug"], *listed["not_run"]]:
        assert (peer_bugs.PAGE.parents[1] / "tests" / row["test"]).is_file()


def test_thresholds_of_seven_bits_are_counted_against_exact_claims() -> None:
    """Our side of the page, and the ratio that 38 of 128 values give in place of f = 0.3."""
    assert peer_bugs.thresholds_of_7_bits() == {"designs": 99, "above": 0}
    assert peer_bugs.ratio_of_f(Fraction(30, 100)) == Fraction(289, 9)
    assert peer_bugs.ratio_of_f(Fraction(38, 128)) == Fraction((256 - 38) ** 2, 38**2) > Fraction(289, 9)
