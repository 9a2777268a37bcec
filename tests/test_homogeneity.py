"""Do groups differ? What must never come out, exact p-values, and that draws repeat."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency, fisher_exact

import maskwell as mw
from maskwell import designs
from maskwell.inference.hypotheses.monte_carlo import upper_tail
from maskwell.sampling.regrouping import Regrouping

YES_NO = designs.direct(["yes", "no"])
CROSSWISE = designs.crosswise(innocuous_prob=0.2)
WARNER = designs.warner(truth_prob=0.75)


def counted(design: mw.Design, counts: Any) -> mw.Tally:
    return mw.Tally.from_counts(design, counts)


def without_patterns(tally: mw.Tally) -> mw.Tally:
    return mw.Tally(tally.design, tally.counts, tally.n)


def drawn(design: mw.Design, population: Any, n: int, seed: int) -> mw.Tally:
    chances = design.matrix() @ np.asarray(population)
    return counted(design, np.random.default_rng(seed).multinomial(n, chances / chances.sum()))


@pytest.mark.parametrize(
    ("first", "second", "most"),
    [
        (counted(YES_NO, [1000, 0]), counted(YES_NO, [0, 1000]), 1e-9),
        (counted(YES_NO, [12, 0]), counted(YES_NO, [0, 12]), 1e-4),
        (counted(YES_NO, [0, 1000]), counted(WARNER, [500, 500]), 2e-4),
        (counted(YES_NO, [0, 1000]), counted(YES_NO, [20, 980]), 1e-3),
        (counted(WARNER, [900, 100]), counted(WARNER, [800, 200]), 1e-6),
        (counted(WARNER, [100, 900]), counted(WARNER, [200, 800]), 1e-6),
        (counted(designs.direct(3), [500, 0, 0]), counted(designs.direct(3), [0, 250, 250]), 1e-9),
        (counted(designs.direct(3), [500, 0, 0]), counted(designs.gamma_diagonal(3, epsilon=1), [50, 50, 400]), 2e-4),
        (counted(CROSSWISE, [1, 999]), counted(CROSSWISE, [150, 850]), 1e-6),
    ],
)
def test_a_glaring_difference_is_seen(first: mw.Tally, second: mw.Tally, most: float) -> None:
    """All in one category against none, at 0 direct against half masked, and beyond what any population gives."""
    for pair in ([first, second], [second, first]):
        result = mw.homogeneity_test(pair)
        assert result.statistic > 0
        assert result.p_value <= most


def test_groups_that_all_say_the_same_do_not_differ() -> None:
    result = mw.homogeneity_test([counted(YES_NO, [30, 0]), counted(YES_NO, [500, 0])])
    assert (result.statistic, result.p_value) == (0, 1)
    assert "alike" in str(result)


def test_direct_answers_are_compared_as_by_pearson() -> None:
    """(n - 1) / n times Pearson's statistic, whose mean over permutations is exactly its degrees of freedom."""
    table = np.array([[20, 30, 40, 10], [30, 30, 15, 30], [90, 90, 90, 60]])
    expected = chi2_contingency(table)
    result = mw.homogeneity_test([counted(designs.direct(4), row) for row in table])
    n = table.sum()
    assert result.statistic == pytest.approx(expected.statistic * (n - 1) / n, rel=1e-9)
    assert result.df == pytest.approx(expected.dof, rel=1e-9)
    assert result.permutations == 0


@pytest.mark.parametrize("table", [[[3, 1], [0, 6]], [[2, 7], [6, 3]], [[1, 30], [4, 20]]])
def test_small_tables_have_the_exact_p_value(table: list[list[int]]) -> None:
    """Within 5 standard errors of the enumeration over all divisions, a false alarm in 2 million."""
    result = mw.homogeneity_test([counted(YES_NO, row) for row in table])
    (a, b), (c, d) = table
    ones, size, n = a + c, a + b, a + b + c + d
    share = ones / n

    def squared(x: int) -> float:
        return (x - size * share) ** 2

    chance = {
        x: math.comb(ones, x) * math.comb(n - ones, size - x) / math.comb(n, size)
        for x in range(max(0, size + ones - n), min(ones, size) + 1)
    }
    exact = sum(p for x, p in chance.items() if squared(x) >= squared(a) - 1e-9)
    assert result.permutations
    assert abs(result.p_value - exact) <= 5 * max(result.p_error, 1e-4)
    assert fisher_exact(table).pvalue == pytest.approx(exact, rel=0.5)


def test_divisions_of_the_same_reports_are_all_equally_likely() -> None:
    """Three groups of 1, 2 and 2 of five different reports: 30 divisions, chi-square at a false alarm of 1e-6."""
    from scipy.stats import chi2

    table = np.array([[1, 0, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 0, 1, 1]])
    rounds = 30_000
    seen: dict[bytes, int] = {}
    for found in Regrouping(table, seed=1).draw(rounds):
        assert (found.sum(axis=0) == 1).all()
        assert (found.sum(axis=1) == [1, 2, 2]).all()
        seen[found.tobytes()] = seen.get(found.tobytes(), 0) + 1
    assert len(seen) == 30
    statistic = sum((count - rounds / 30) ** 2 / (rounds / 30) for count in seen.values())
    assert chi2.sf(statistic, 29) > 1e-6


def test_a_tail_is_valid_and_stops_early() -> None:
    """P(p <= a) is at most a for the stopped p-value too; 5 standard errors, a false alarm in 2 million."""
    rng = np.random.default_rng(5)
    runs = 4000
    found = [upper_tail(rng.random(), lambda m: rng.random(m), most=199, enough=10) for _ in range(runs)]
    for level in (0.01, 0.05, 0.2, 0.5):
        rate = np.mean([tail.p_value <= level for tail in found])
        assert rate <= level + 5 * math.sqrt(level * (1 - level) / runs)
    assert np.mean([tail.draws for tail in found]) < 100
    assert upper_tail(2.0, lambda m: rng.random(m), most=99).p_value == 0.01


GROUPS = {
    "one design": [counted(designs.gamma_diagonal(4, epsilon=4), row) for row in ([14, 6, 0, 0], [15, 12, 2, 1])],
    "two designs": [
        drawn(designs.direct(4), [0.7, 0.3, 0, 0], 20, 1),
        drawn(designs.uniform_subsets(4), [0.7, 0.3, 0, 0], 30, 2),
    ],
    "no patterns": [
        without_patterns(drawn(designs.minimax(6, epsilon=0.5), np.full(6, 1 / 6), n, n)) for n in (20, 30)
    ],
}


@pytest.mark.parametrize("groups", GROUPS.values(), ids=GROUPS.keys())
def test_a_test_repeated_gives_the_same_answer_and_says_what_it_did(groups: list[mw.Tally]) -> None:
    first, again = mw.homogeneity_test(groups), mw.homogeneity_test(groups)
    assert first == again
    assert mw.homogeneity_test(groups, seed=1) == mw.homogeneity_test(groups, seed=1)
    assert first.p_error > 0
    assert "standard error of p" in str(first)
    assert ("permutations" if first.permutations else "samples drawn") in str(first)
    assert first.to_dict()["draws"] == first.draws


def test_reports_and_their_tallies_agree() -> None:
    design = designs.uniform_subsets(5)
    groups = [design.mask(np.arange(60) % 5, seed=1), design.mask(np.arange(90) % 4, seed=2)]
    assert mw.homogeneity_test(groups) == mw.homogeneity_test([g.tally(patterns=True) for g in groups])


def test_what_a_singular_design_tells_is_compared() -> None:
    """The shares of single categories cannot be told, the totals of groups of them can."""
    design = designs.collapse(4, groups=[[0, 1], [2, 3]])
    differ = mw.homogeneity_test([counted(design, [300, 100]), counted(design, [200, 200])])
    assert differ.df == pytest.approx(1)
    assert differ.p_value < 1e-6
    assert mw.homogeneity_test([counted(design, [300, 100]), counted(design, [301, 99])]).p_value > 0.5


def test_weighted_groups_are_compared() -> None:
    rng = np.random.default_rng(4)
    design = designs.gamma_diagonal(3, epsilon=2)

    def group(population: list[float], seed: int) -> mw.Tally:
        values = rng.choice(3, 2000, p=population)
        return design.mask(values, seed=seed).tally(weights=rng.uniform(1, 5, 2000))

    same = mw.homogeneity_test([group([0.5, 0.3, 0.2], 1), group([0.5, 0.3, 0.2], 2)])
    assert same.p_value > 1e-3  # this seed's draw, not a rate
    assert mw.homogeneity_test([group([0.5, 0.3, 0.2], 1), group([0.2, 0.3, 0.5], 2)]).p_value < 1e-6


def test_what_cannot_be_compared_is_refused() -> None:
    noise = designs.from_matrix([["1/2", "1/2"], ["1/2", "1/2"]])
    with pytest.raises(mw.EstimationError, match="do not depend on the truth"):
        mw.homogeneity_test([counted(noise, [5, 5]), counted(noise, [9, 1])])
    with pytest.raises(mw.EstimationError, match="at least two groups"):
        mw.homogeneity_test([counted(YES_NO, [1, 1])])
    with pytest.raises(mw.EstimationError, match="no reports"):
        mw.homogeneity_test([counted(YES_NO, [1, 1]), counted(YES_NO, [0, 0])])
    with pytest.raises(mw.EstimationError, match="int"):
        mw.homogeneity_test([counted(YES_NO, [1, 1]), 3])  # type: ignore[list-item]
