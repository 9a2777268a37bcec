"""The topics of ``make evidence``, reduced: every criterion is met, at the false-alarm rate that the topic states."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import maskwell as mw
from maskwell.designs import DESIGNS
from tests.evidence import coverage
from tests.evidence.cases import CASES, Case
from tests.evidence.limits import CHECKS, KINDS
from tests.evidence.record import Result, Size, write
from tests.evidence.surveys import tallies
from tests.evidence.topics import SPEED, TOPICS

ROOT = Path(__file__).resolve().parents[1]
# Coverage is run design by design, so that the tests share the machine's cores. A cluster of Spark that loses processes
# takes minutes at any size; tests/engines/test_spark.py has retries and speculation in one process.
EVERY = {**TOPICS, **SPEED}
WHOLE = [name for name in EVERY if name not in ("coverage", "spark_failures")]


@pytest.mark.parametrize("run", [EVERY[name] for name in WHOLE], ids=WHOLE)
def test_topic_meets_its_criterion(run: Callable[[Size], Result]) -> None:
    assert run("reduced").failures == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_intervals_cover(case: Case) -> None:
    """At least 2,000 surveys for each design, estimator and kind of interval; false alarm 1e-6 over all designs."""
    cells = coverage.measure(case, "reduced")
    assert coverage.conclude(cells).failures == []
    for method, kind in {(cell.method, cell.kind) for cell in cells}:
        surveys = sum(cell.surveys for cell in cells if (cell.method, cell.kind) == (method, kind))
        assert surveys * coverage.alike(case) >= 2000


def test_every_design_that_tells_single_categories_is_tried() -> None:
    estimable = {name for name in DESIGNS if name != "collapse"}
    assert estimable == {case.name for case in CASES}
    assert len({case.seed for case in CASES}) == len(CASES)


def test_the_limits_allow_for_all_comparisons() -> None:
    """Per survey cell: each category and all together, twice where the count is binomial."""
    cells = [(case.design.k + 1) * 2 * len(KINDS) * 2 for case in CASES]
    assert sum(cells) * len(coverage.RESPONDENTS) * 2 <= CHECKS


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_simulated_tallies_are_those_of_row_counts(case: Case) -> None:
    """The fast way to a tally agrees with ``Tally.from_counts`` on the same draws."""
    design, population = case.design, case.populations["rare"]
    probabilities = design.matrix() @ population
    rows = np.random.default_rng(3).multinomial(50, probabilities / probabilities.sum(), size=5)
    fast = tallies(design, population, 50, 5, np.random.default_rng(3))
    assert all(tally == mw.Tally.from_counts(design, counts) for tally, counts in zip(fast, rows, strict=True))


def test_pages_say_what_failed(tmp_path: Path) -> None:
    result = Result("topic", "Title", "Why?", "None below.", {"draws": 1000}, ["All well."], [], ["one | two is wrong"])
    write(result, 1.0, tmp_path)
    assert "not met: 1 failure" in (tmp_path / "README.md").read_text("utf-8")
    assert "is wrong" in (tmp_path / "topic.md").read_text("utf-8")
    assert json.loads((tmp_path / "topic.json").read_text("utf-8"))["sizes"] == {"draws": 1000}


@pytest.mark.parametrize("name", TOPICS)
def test_full_size_results_are_written_and_met(name: str) -> None:
    """What ``docs/evidence`` holds was measured at full size and met its criterion."""
    document = json.loads((ROOT / "docs" / "evidence" / f"{name}.json").read_text("utf-8"))
    assert document["failures"] == []
    assert document["date"]
    assert {"python", "maskwell", "numpy"} <= document["versions"].keys()
    assert f"({name}.md)" in (ROOT / "docs" / "evidence" / "README.md").read_text("utf-8")
