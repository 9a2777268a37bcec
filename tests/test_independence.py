"""Tests of independence, fit and homogeneity: their level, their power, and what they refuse.

Levels are binomial: with R null surveys, a test of level 5 % may reject more than the upper limit with a chance of
1e-6, which every check here states as its false-alarm rate.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import maskwell as mw
from maskwell import designs
from maskwell.inference.hypotheses.hypothesis_test import pool
from maskwell.inference.hypotheses.independence_statistics import ENOUGH, Pairs, poisson_deviance

ALARM = 1e-6
R = 2000


def limits(surveys: int, level: float = 0.05) -> tuple[int, int]:
    """Numbers of rejections that an exact test leaves with a chance of ALARM in total."""
    law = stats.binom(surveys, level)
    return int(law.ppf(ALARM / 2)), int(law.ppf(1 - ALARM / 2))


def geometric(k: int) -> np.ndarray:
    w = 0.6 ** np.arange(k)
    return w / w.sum()


def null_tallies(design: mw.designs.ProductDesign, first: np.ndarray, second: np.ndarray, n: int, seed: int):
    chances = design.matrix() @ np.outer(first, second).ravel()
    generator = np.random.default_rng(seed)
    for _ in range(R):
        yield mw.Tally.from_counts(design, generator.multinomial(n, chances / chances.sum()))


EVEN = designs.product(designs.uniform_subsets(4), designs.uniform_subsets(4))
UNEQUAL = designs.product(designs.gamma_diagonal(3, epsilon=2.0), designs.minimax(4, epsilon=1.0))
GRID = {
    "even, n = 500": (EVEN, np.full(4, 1 / 4), np.full(4, 1 / 4), 500),
    "even, n = 2000": (EVEN, np.full(4, 1 / 4), np.full(4, 1 / 4), 2000),
    "skewed, n = 100": (EVEN, geometric(4), geometric(4), 100),
    "two kinds of design": (UNEQUAL, geometric(3), geometric(4), 500),
}


@pytest.mark.parametrize("case", ["even, n = 2000", "two kinds of design"])
def test_no_test_exceeds_its_level(case: str) -> None:
    design, first, second, n = GRID[case]
    rejected = dict.fromkeys(("lrt", "pearson", "bonferroni"), 0)
    for tally in null_tallies(design, first, second, n, seed=20261116):
        for method in rejected:
            rejected[method] += mw.independence_test(tally, method).p_value < 0.05
    low, high = limits(R)
    assert all(count <= high for count in rejected.values()), rejected
    if case == "even, n = 2000":  # nothing is rare or pooled: both limits hold
        assert rejected["lrt"] >= low, rejected
        assert rejected["pearson"] >= low, rejected


@pytest.mark.parametrize(("case", "method"), [("skewed, n = 100", "lrt-moments"), ("even, n = 500", "pearson")])
def test_permutation_is_exact(case: str, method: str) -> None:
    """With 19 permutations a test of level 5 % rejects when no shuffled table is as extreme."""
    design, first, second, n = GRID[case]
    rejected = sum(
        mw.independence_test(tally, method, permutations=19, seed=i).p_value <= 0.05
        for i, tally in enumerate(null_tallies(design, first, second, n, seed=7))
    )
    low, high = limits(R)
    assert low <= rejected <= high


def test_pearson_has_the_mean_of_its_degrees_of_freedom() -> None:
    """Not sr: at p = q = 4 the mean is 29 (four standard errors: false alarm 6e-5)."""
    design, first, second, n = GRID["even, n = 2000"]
    results = [mw.independence_test(t, "pearson") for t in null_tallies(design, first, second, n, seed=3)]
    assert {result.df for result in results} == {36 - 1 - 3 - 3}
    assert abs(np.mean([r.statistic for r in results]) - 29) < 4 * np.sqrt(2 * 29 / R)


def test_the_mean_of_a_term_of_the_ratio() -> None:
    """By enumeration of the Poisson law; for large counts the expansion of Williams."""
    for mean in (0.01, 0.3, 1.34, 5.0, 40.0):
        law = [math.exp(x * math.log(mean) - mean - math.lgamma(x + 1)) for x in range(1, 300)]
        expected = sum(2 * p * x * math.log(x / mean) for x, p in zip(range(1, 300), law, strict=True))
        assert poisson_deviance(np.array([mean]))[0] == pytest.approx(expected, rel=1e-4)
    assert poisson_deviance(np.array([0.0, 49.9, 1e6])) == pytest.approx([0, 1 + 1 / 299.4, 1], abs=1e-4)
    assert poisson_deviance(np.linspace(0, 60, 5000)).max() == pytest.approx(1.1604, abs=1e-4)


def test_the_ratio_of_direct_answers_is_the_textbook_one_and_its_tail_that_over_the_mean_of_its_terms() -> None:
    table = np.array([[30, 14, 6], [20, 21, 9]])
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    design = designs.product(designs.direct(2), designs.direct(3))
    found = mw.independence_test(mw.Tally.from_counts(design, table.ravel()), "lrt")
    ratio = 2 * (table * np.log(table / expected)).sum()
    mean = 1 + (poisson_deviance(expected) - 1).sum() / 2
    assert (found.statistic, found.df) == (pytest.approx(ratio, rel=1e-6), 2)
    assert found.p_value == pytest.approx(stats.chi2.sf(ratio / mean, 2), rel=1e-6)
    assert f"after division by {mean:.4f}" in str(found)


def test_bonferroni_is_exact_in_every_table() -> None:
    """Direct answers: four tables that are one, so four times its two-sided tail, by counting."""
    design = designs.product(designs.direct(2), designs.direct(2))
    found = mw.independence_test(mw.Tally.from_counts(design, [8, 2, 1, 9]), "bonferroni")
    chance = [math.comb(10, x) * math.comb(10, 9 - x) / math.comb(20, 9) for x in range(10)]
    assert found.p_value == pytest.approx(4 * 2 * sum(chance[8:]), rel=1e-9)
    assert (found.df, found.advice) == (None, "")
    assert "exact tails" in str(found)


@pytest.mark.parametrize("design", [EVEN, UNEQUAL], ids=["sets", "two kinds"])
def test_worth_is_the_distance_from_zero(design: mw.designs.ProductDesign) -> None:
    """n times the worths of two categories is w^2 / (Var + w^2 / n) of their pair, from the joint likelihood."""
    n, (p, q) = 1e5, [part.k for part in design.parts]
    w = np.outer(geometric(p), geometric(q))
    tally = mw.Tally.from_counts(design, n * (design.matrix() @ w.ravel()))
    first, second = Pairs.of(mw.Tally.from_counts(design, np.rint(n * (design.matrix() @ w.ravel())))).variables
    variances = mw.estimate(tally, "likelihood").variances.reshape(p, q)
    assert n * np.outer(first.worth, second.worth) == pytest.approx(w**2 / (variances + w**2 / n), rel=1e-2)


def test_permutation_is_recommended_below_the_threshold() -> None:
    """For direct questions a pair is worth what is expected of it."""
    design = designs.product(designs.direct(2), designs.direct(2))
    for least, advised in ((int(ENOUGH) - 1, True), (int(ENOUGH) + 1, False)):
        tally = mw.Tally.from_counts(design, [900, 900, least, least])
        assert bool(mw.independence_test(tally, "lrt").advice) is advised
    heavily = designs.product(designs.minimax(8, epsilon=1.0), designs.minimax(8, epsilon=1.0))
    reports = heavily.mask(np.random.default_rng(1).integers(0, 8, (10_000, 2)), seed=1)
    assert "permutations" in mw.independence_test(reports, "lrt").advice


def test_a_share_at_zero_is_not_fitted() -> None:
    """The third answer comes less often than chance alone would bring it, in both variables: 1 + 1 shares are free."""
    part = designs.gamma_diagonal(3, epsilon=1.0)
    shares = part.matrix() @ [0.5, 0.5, 0] * [1, 1, 0.9]
    counts = np.rint(5000 * np.outer(shares, shares)).astype(int)
    result = mw.independence_test(mw.Tally.from_counts(designs.product(part, part), counts.ravel()), "pearson")
    assert (result.df, result.advice) == (9 - 1 - 1 - 1, "")


def test_power_on_gender_and_income() -> None:
    """As in wang-ding-2021, Figure 5: the likelihood ratio is at least as powerful as the others (table III)."""
    half = Fraction(1, 2)
    spread = np.array([[half, 0], [half, 0], [0, half], [0, half]], dtype=object)
    part = designs.from_matrix(designs.uniform_subsets(4).matrix(exact=True) @ spread, reports=range(6))
    design = designs.product(part, part, names=["gender", "income"])
    table = np.array([[9592, 1179], [15128, 6662]]) / 32561
    chances = design.matrix() @ table.ravel()
    generator = np.random.default_rng(5)
    found = dict.fromkeys(("lrt", "pearson", "bonferroni"), 0)
    surveys = 300
    for _ in range(surveys):
        tally = mw.Tally.from_counts(design, generator.multinomial(4000, chances / chances.sum()))
        for method in found:
            found[method] += mw.independence_test(tally, method).p_value < 0.05
    slack = 4 * np.sqrt(surveys / 2)  # four standard errors of a difference of two counts
    assert found["lrt"] >= found["pearson"] - slack
    assert found["lrt"] >= found["bonferroni"] - slack
    assert found["lrt"] > surveys / 4


def test_dependence_is_found_from_masked_values() -> None:
    generator = np.random.default_rng(1)
    x = generator.integers(0, 4, 20_000)
    y = np.where(generator.random(20_000) < 0.5, x, generator.integers(0, 4, 20_000))
    reports = EVEN.mask(np.column_stack([x, y]), seed=2)
    for method in ("score", "lrt", "pearson", "bonferroni"):
        assert mw.independence_test(reports, method).p_value < 1e-6
    assert mw.independence_test(reports, "lrt-moments", permutations=99, seed=1).p_value == 0.01


def test_the_moment_ratio_needs_permutations() -> None:
    tally = mw.Tally.from_counts(EVEN, np.ones(36, int))
    with pytest.raises(mw.EstimationError, match="permutations"):
        mw.independence_test(tally, "lrt-moments")


@pytest.mark.parametrize("method", ["score", "lrt", "pearson", "bonferroni", "lrt-moments"])
def test_seeded_permutations_repeat(method: str) -> None:
    tally = mw.Tally.from_counts(EVEN, np.arange(36))
    one, two = (mw.independence_test(tally, method, permutations=50, seed=9) for _ in range(2))
    assert one == two
    assert 0 < one.p_value <= 1


def test_what_is_refused() -> None:
    single = designs.minimax(4, epsilon=1.0)
    with pytest.raises(mw.EstimationError, match="product of two"):
        mw.independence_test(single.mask([0, 1, 2, 3], seed=1))
    with pytest.raises(mw.EstimationError, match="method"):
        mw.independence_test(mw.Tally.from_counts(EVEN, np.ones(36, int)), "chi")  # type: ignore[arg-type]


def test_pooling_reaches_the_least_expected_count() -> None:
    expected = np.array([10.0, 0.5, 4.0, 0.7, 3.0, 0.1])
    pools = pool(expected)
    assert (np.bincount(pools, expected) >= 5).all()
    assert sorted(set(pools)) == list(range(pools.max() + 1))


def test_fit_holds_for_the_design_and_fails_for_another() -> None:
    design = designs.uniform_subsets(5)
    truth = np.random.default_rng(2).integers(0, 5, 5000)
    assert mw.goodness_of_fit(design.mask(truth, seed=4)).p_value > 1e-3  # this seed's draw, not a rate
    lying = np.random.default_rng(3).multinomial(5000, np.r_[np.full(10, 0.06), np.full(10, 0.04)])
    assert mw.goodness_of_fit(mw.Tally.from_counts(design, lying)).p_value < 1e-6


@pytest.mark.parametrize(("n", "shares"), [(60, geometric(5)), (400, geometric(5)), (400, np.eye(5)[0])])
def test_fit_keeps_its_level(n: int, shares: np.ndarray) -> None:
    """Pooled, not pooled, and with shares that are estimated as 0."""
    design = designs.uniform_subsets(5)
    chances = design.matrix() @ shares
    drawn = np.random.default_rng(12).multinomial(n, chances / chances.sum(), size=R)
    rejected = sum(mw.goodness_of_fit(mw.Tally.from_counts(design, counts)).p_value < 0.05 for counts in drawn)
    assert rejected <= limits(R)[1]


def test_a_share_that_no_population_has_does_not_fit() -> None:
    """Nobody can say yes more often than those of whom it is true: at 0 or 1 a square design can be tested."""
    design = designs.warner(truth_prob=0.8)
    assert mw.goodness_of_fit(mw.Tally.from_counts(design, [950, 50])).p_value < 1e-6
    assert mw.goodness_of_fit(mw.Tally.from_counts(design, [802, 198])).p_value > 0.5


def test_fit_of_a_wide_design_looks_at_set_sizes() -> None:
    design = designs.rappor(40, epsilon=1.0)
    result = mw.goodness_of_fit(design.mask(np.arange(4000) % 40, seed=5).tally())
    assert "set sizes" in result.method
    assert result.p_value > 1e-3  # this seed's draw, not a rate


def test_fit_of_a_square_design_has_nothing_to_test() -> None:
    with pytest.raises(mw.EstimationError, match="nothing to test"):
        mw.goodness_of_fit(designs.warner(truth_prob=0.8).mask(["yes"] * 50 + ["no"] * 50, seed=1))


def test_homogeneity_keeps_its_level_and_finds_a_difference() -> None:
    one, two = designs.minimax(4, epsilon=1.5), designs.rappor(4, epsilon=2.0)
    w = geometric(4)
    generator = np.random.default_rng(8)

    def drawn(design: mw.Design, population: np.ndarray, n: int) -> mw.Tally:
        chances = design.matrix() @ population
        return mw.Tally.from_counts(design, generator.multinomial(n, chances / chances.sum()))

    p_values = [mw.homogeneity_test([drawn(one, w, 3000), drawn(two, w, 2000)]).p_value for _ in range(R)]
    low, high = limits(R)
    assert low <= sum(p < 0.05 for p in p_values) <= high
    assert mw.homogeneity_test([drawn(one, w, 20_000), drawn(two, w[::-1], 20_000)]).p_value < 1e-6
    with pytest.raises(mw.EstimationError, match="same categories"):
        mw.homogeneity_test([drawn(one, w, 100), drawn(designs.minimax(3, epsilon=1.0), geometric(3), 100)])


@pytest.mark.parametrize("n", [20, 60, 400])
@pytest.mark.parametrize(
    ("design", "shares"),
    [
        (designs.uniform_subsets(5), np.eye(5)[0]),
        (designs.rappor(5, epsilon=4), np.array([0.7, 0.3, 0, 0, 0])),
        (designs.kuk(red_if_yes=0.8, red_if_no=0.4, draws=6), np.array([0.1, 0.9])),
        (designs.warner(truth_prob=0.8), np.array([0.0, 1.0])),
        (designs.gamma_diagonal(20, epsilon=3), geometric(20)),
    ],
)
def test_fit_keeps_its_level_in_sparse_samples_and_at_boundaries(design: mw.Design, shares: np.ndarray, n: int) -> None:
    """Where nothing is left to test the question is refused, which is no rejection; statistics are never negative."""
    chances = design.matrix() @ shares
    rejected = 0
    for counts in np.random.default_rng(n).multinomial(n, chances / chances.sum(), size=R):
        try:
            result = mw.goodness_of_fit(mw.Tally.from_counts(design, counts))
        except mw.EstimationError:
            continue
        assert result.statistic >= 0
        rejected += result.p_value < 0.05
    assert rejected <= limits(R)[1]
