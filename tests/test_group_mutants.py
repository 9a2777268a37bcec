"""Calibrations with a planted fault, each caught by a named check of the level, of exact p-values or of coverage."""

from typing import Any

import numpy as np
import pytest

from maskwell.inference.hypotheses import group_likelihoods, group_means, homogeneity
from maskwell.inference.hypotheses.group_scores import GroupScores
from maskwell.inference.hypotheses.monte_carlo import Tail
from maskwell.inference.intervals import bootstrap, sum_distribution
from maskwell.sampling.regrouping import Regrouping
from tests import test_homogeneity, test_likelihood_estimates
from tests.evidence import homogeneity_level
from tests.evidence.bootstrap_coverage import judged, points
from tests.evidence.bootstrap_coverage import measure as measure_coverage


def level(label: str, surveys: int = 150) -> list[str]:
    """What the level topic says of one of its points."""
    position, point = next((i, p) for i, p in enumerate(homogeneity_level.points()) if p.label == label)
    return homogeneity_level.violations(homogeneity_level.measure(point, surveys, position))


def exact_p_values() -> None:
    """The check of small tables."""
    for table in ([[3, 1], [0, 6]], [[2, 7], [6, 3]], [[1, 30], [4, 20]]):
        test_homogeneity.test_small_tables_have_the_exact_p_value(table)


LARGE, SPARSE = "direct, k=2, even", "direct and gamma_diagonal epsilon=1, k=5"
UNLISTED = "minimax epsilon=1, k=8, no patterns"


@pytest.mark.parametrize("label", [LARGE, SPARSE, UNLISTED])
def test_without_a_fault_the_level_holds(label: str) -> None:
    assert level(label, 100) == []


@pytest.mark.parametrize("factor", [0.6, 2.0])
def test_weights_of_the_law(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    """A statistic compared with a law that is too narrow, or too wide."""
    honest = GroupScores.weights.func  # type: ignore[attr-defined]
    monkeypatch.setattr(GroupScores, "weights", property(lambda scores: factor * honest(scores)))
    assert level(LARGE, 600) != []


def test_samples_that_are_too_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws of twice as many people vary less than the survey."""
    honest = group_likelihoods.draw_counts
    monkeypatch.setattr(group_likelihoods, "draw_counts", lambda p, n, *rest: honest(p, 4 * n, *rest) / 4)
    assert level(SPARSE, 40) != []


def test_means_of_other_people(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tallies without patterns, with samples that vary half as much as the survey."""
    honest = group_means._means

    def calm(group: Any, shares: Any, repeats: int, seed: int | None) -> Any:
        return shares + 0.5 * (honest(group, shares, repeats, seed) - shares)

    monkeypatch.setattr(group_means, "_means", calm)
    assert level(UNLISTED, 40) != []


def test_divisions_that_are_not_random(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other division is the observed one: caught by exact p-values of small tables."""
    honest = Regrouping.draw

    def lazy(self: Regrouping, repeats: int) -> Any:
        tables = honest(self, repeats)
        tables[::2] = tables[:1]
        return tables

    monkeypatch.setattr(Regrouping, "draw", lazy)
    with pytest.raises(AssertionError):
        exact_p_values()


def test_a_tail_that_leaves_out_what_is_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Caught by exact p-values: small tables have few values, and many are equal."""

    def strict(observed: float, draw: Any, most: int = 999) -> Tail:
        return Tail(float(np.mean(draw(most) > observed + 1e-9)), most)

    monkeypatch.setattr(homogeneity, "upper_tail", strict)
    with pytest.raises(AssertionError):
        exact_p_values()


def test_limits_whose_sums_are_too_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Caught by the exact limits of direct answers, and by the coverage topic."""

    def narrow(values: Any, chances: Any, n: int, observed: float) -> tuple[float, float]:
        mean = n * float(chances @ values)
        return sum_distribution.sum_tails(values, chances, n, mean + 1.5 * (observed - mean))

    monkeypatch.setattr(bootstrap, "sum_tails", narrow)
    tests = test_likelihood_estimates.TestIntervals()
    with pytest.raises(AssertionError):
        tests.test_bootstrap_limits_of_direct_answers_are_exact("likelihood")
    point = points()[2]
    covered, used, _ = measure_coverage(point, "likelihood", 200, 0, 2)
    assert judged(point.label, "bootstrap", covered["bootstrap"], used) != []
