"""Intruders who use all released counts of a block: the figure against enumeration, and what larger blocks say."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import gammaincc

from maskwell.release import plan_identification, theta_for
from maskwell.release.drawing import sampler
from maskwell.release.identification.all_counts import MOST_OUTCOMES, _by_integral, audit_all_counts, outcomes
from maskwell.release.identification.audit import audit_block
from maskwell.release.identification.theta import exchange
from maskwell.sampling.entropy import Source
from maskwell.sampling.samplers import draw

SPEC = {3: 0.411, 4: 0.459, 5: 0.488, 6: 0.508, 8: 0.534, 12: 0.561, 20: 0.585, 40: 0.602}
"""Worst cases at the closed-form θ for ξ = .5, by number of singletons, from an independent prototype."""


def enumerated(counts: list[int], theta: Fraction) -> float:
    """The largest chance over every way in which all records of a block can come out."""
    k, home = len(counts), [j for j, t in enumerate(counts) for _ in range(t)]
    chance = np.array(
        [[float(1 - theta / counts[j] if i == j else theta / ((k - 1) * counts[j])) for i in range(k)] for j in home]
    )
    every = np.array(list(itertools.product(range(k), repeat=len(home))))
    weight = np.prod([chance[r, every[:, r]] for r in range(len(home))], axis=0)
    shown = np.stack([(every == i).sum(axis=1) for i in range(k)], axis=1)
    _, outcome = np.unique(shown, axis=0, return_inverse=True)
    outcome = outcome.ravel()
    total, best = np.bincount(outcome, weight), 0.0
    for record, cell in itertools.product(range(len(home)), range(k)):
        here = every[:, record] == cell
        found = np.bincount(outcome[here], weight[here] / shown[here, cell], minlength=len(total))
        best = max(best, float((found / total).max()))
    return best


@pytest.mark.parametrize(
    "counts", [[1, 1], [2, 1], [1, 1, 1], [2, 2, 1], [2, 2, 2], [1, 1, 1, 1], [1, 1, 1, 2], [3, 1, 1], [1] * 6]
)
@pytest.mark.parametrize("theta", [Fraction(1, 5), theta_for(0.5), Fraction(4, 5)])
def test_the_audit_is_what_enumeration_gives(counts: list[int], theta: Fraction) -> None:
    found = audit_all_counts(Counter(counts), theta)
    assert found.exact
    assert float(found.risk) == pytest.approx(enumerated(counts, theta), abs=1e-12)


@pytest.mark.parametrize(("cells", "risk"), SPEC.items())
def test_the_known_worst_cases_of_singletons(cells: int, risk: float) -> None:
    assert float(audit_all_counts({1: cells}, theta_for(0.5)).risk) == pytest.approx(risk, abs=5e-4)


def test_blocks_of_up_to_five_cells_keep_the_limit_for_all_counts() -> None:
    for cells in (3, 4, 5):
        assert audit_all_counts({1: cells}, theta_for(0.5)).risk <= Fraction(1, 2)
    assert audit_all_counts({1: 6}, theta_for(0.5)).risk > Fraction(1, 2)
    # Of one frequency each, as small blocks are formed, pairs keep it too; mixed ones do not.
    for xi in (0.45, 0.49):
        assert audit_all_counts({2: 5}, theta_for(xi)).risk <= Fraction(xi)
        assert audit_all_counts({1: 5}, theta_for(xi)).risk <= Fraction(xi)
    assert audit_all_counts({1: 3, 2: 3}, theta_for(0.45)).risk > Fraction(0.45)


@pytest.mark.parametrize("theta", [theta_for(0.4), theta_for(0.5), theta_for(0.7)])
def test_all_counts_never_say_less_than_one(theta: Fraction) -> None:
    for sizes in ({1: 5}, {1: 9}, {2: 5}, {1: 3, 2: 2}, {1: 40}, {1: 500, 2: 300}):
        block = audit_block(sizes, theta)
        assert float(block.all_counts.risk) >= float(block.risk) - 1e-9


@pytest.mark.parametrize("cells", [3, 10, 40, 1500])
def test_large_blocks_of_singletons_follow_their_closed_form(cells: int) -> None:
    """All counts 1: the chance of the outcome is k! a^k times the exponential series of b/a up to its k-th term."""
    theta = float(theta_for(0.5))
    away = theta / (cells - 1)
    ratio = (1 - theta - away) / away
    closed = (1 - theta) / (cells * away) * gammaincc(cells, ratio) / gammaincc(cells + 1, ratio)
    assert _by_integral(Counter({(1, 1, 1): cells}), theta_for(0.5)) == pytest.approx(closed, abs=1e-6)
    found = audit_all_counts({1: cells}, theta_for(0.5))
    assert float(found.risk) == pytest.approx(closed, abs=1e-6)
    assert found.exact == (cells <= 16)


def test_figures_of_large_blocks_are_called_lower_bounds() -> None:
    large = audit_all_counts({1: 100, 2: 100}, theta_for(0.395))
    assert not large.exact
    assert "or more" in str(large)
    assert "at most" in str(audit_all_counts({1: 3}, theta_for(0.5)))


@pytest.mark.parametrize("sizes", [((1, 7),), ((2, 5),), ((1, 3), (2, 3))])
def test_outcomes_are_all_counts_up_to_exchange(sizes: tuple[tuple[int, int], ...]) -> None:
    cells = [size for size, number in sizes for _ in range(number)]
    records = sum(cells)
    every = (
        {
            tuple(sorted(zip(cells, shown, strict=True)))
            for shown in itertools.product(range(records + 1), repeat=len(cells))
            if sum(shown) == records
        }
        if records < 8
        else None
    )
    found = [tuple(sorted((size, shown) for size, _, shown in outcome.elements())) for outcome in outcomes(sizes)]
    assert len(set(found)) == len(found) <= MOST_OUTCOMES
    assert every is None or set(found) == every


def test_the_figure_is_what_an_intruder_reaches_in_simulated_releases() -> None:
    """Blocks of three singletons that show 1, 1, 1: records drawn by the sampler; false alarm 1e-6."""
    theta, runs = theta_for(0.5), 60_000
    moves = sampler(exchange(np.array([0, 3]), np.array([1, 1, 1]), theta))
    truth: NDArray[np.uint32] = np.tile(np.arange(3, dtype=np.uint32), runs)
    drawn = draw(moves, len(truth), lambda start, stop: truth[start:stop], Source(seed=8).stream("", len(truth)))
    shown = drawn.reshape(runs, 3)
    ones = shown[(np.sort(shown, axis=1) == np.arange(3)).all(axis=1)]
    right = float((ones[:, 0] == 0).mean())
    risk = float(audit_all_counts({1: 3}, theta).risk)
    assert abs(right - risk) < 4.9 * np.sqrt(risk * (1 - risk) / len(ones))


def test_a_figure_that_is_no_proof_does_not_make_the_limit_hold() -> None:
    """Sixty singletons at ξ = .36: what was tried stays below the limit, but not all outcomes were."""
    _, audit = plan_identification({"n": list(range(60))}, "n", 0.36, blocks="whole")
    assert not audit.all_counts.exact
    assert audit.all_counts.risk < audit.xi
    assert audit.holds
    assert not audit.holds_for_all_counts
