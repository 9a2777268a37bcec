"""The default test of independence: what its statistic is, what it chooses, and that it holds its level both ways.

Levels are binomial; every check states its false-alarm rate.
"""

import itertools

import numpy as np
import pytest
from scipy import integrate, stats

import maskwell as mw
from maskwell import designs
from maskwell.inference.hypotheses.independence_score import ScoreTest
from maskwell.inference.hypotheses.weighted_chi_squares import weighted_chi_square_tail

ALARM = 1e-6

HEAVY = designs.product(designs.minimax(5, epsilon=1.0), designs.minimax(5, epsilon=1.0))
SPARSE = designs.product(designs.direct(8), designs.direct(8))
SETS = designs.product(designs.uniform_subsets(4), designs.gamma_diagonal(3, epsilon=1.0))


def geometric(k: int) -> np.ndarray:
    w = 0.6 ** np.arange(k)
    return w / w.sum()


def drawn(design: mw.designs.ProductDesign, table: np.ndarray, n: int, generator: np.random.Generator) -> mw.Tally:
    chances = design.matrix() @ table.ravel()
    return mw.Tally.from_counts(design, generator.multinomial(n, chances / chances.sum()))


# The statistic.


@pytest.mark.parametrize(
    "table", [[[30, 14, 6], [20, 21, 9]], [[5, 0, 9], [0, 0, 0], [7, 0, 2]], [[400, 3], [2, 95]]], ids=["", "empty", ""]
)
def test_for_open_answers_it_is_pearson_s_chi_square(table: list[list[int]]) -> None:
    counts = np.array(table)
    design = designs.product(*(designs.direct(k) for k in counts.shape))
    found = mw.independence_test(mw.Tally.from_counts(design, counts.ravel()), permutations=0)
    kept = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    expected = stats.chi2_contingency(kept, correction=False)
    n = counts.sum()
    assert (found.statistic, found.df) == (pytest.approx(expected.statistic, rel=1e-5), expected.dof)
    # The mean over all shuffles is n / (n - 1) times the degrees of freedom.
    tail = stats.chi2.sf(expected.statistic * (n - 1) / n, expected.dof)
    assert found.p_value == pytest.approx(tail, rel=1e-4)


@pytest.mark.parametrize("design", [SETS, HEAVY], ids=["sets and labels", "sets"])
def test_mean_and_variance_over_all_shuffles_are_exact(design: mw.designs.ProductDesign) -> None:
    """Six reports, all 720 shuffles."""
    k = [part.k for part in design.parts]
    reports = design.mask(np.random.default_rng(2).integers(0, k, (6, 2)), seed=3)
    test = ScoreTest(reports.tally())
    first, second = design.split(reports.packed)
    values = []
    for order in itertools.permutations(range(6)):
        shuffled = mw.Reports(design, design.join([first, second[list(order)]])).tally()
        values.append(ScoreTest(shuffled).statistic)
    assert np.mean(values) == pytest.approx(test.weights.sum(), rel=1e-6)
    assert np.var(values) == pytest.approx(test.exact_variance, rel=1e-6)


def test_shuffled_statistics_have_the_exact_moments() -> None:
    """Mean and variance of 4,000 shuffles, within 5 standard errors (false alarm 1e-6)."""
    test = ScoreTest(drawn(SPARSE, np.outer(geometric(8), geometric(8)), 150, np.random.default_rng(1)))
    values = np.array(list(test.shuffled(4_000, seed=2)))
    spread = np.sqrt(test.exact_variance)
    assert abs(values.mean() - test.weights.sum()) < 5 * spread / np.sqrt(4_000)
    fourth = ((values - values.mean()) ** 4).mean() / spread**4
    assert abs(values.var() / test.exact_variance - 1) < 5 * np.sqrt((fourth - 1) / 4_000)


@pytest.mark.parametrize("weights", [[1.0, 0.5], [1.0, 0.3, 0.1], [1.0, 1.0, 0.01], [2.0, 2.0, 2.0]])
@pytest.mark.parametrize("tail", [0.9, 0.3, 0.05, 1e-3, 1e-9])
def test_tail_of_weighted_chi_squares(weights: list[float], tail: float) -> None:
    """Against numerical inversion (Imhof 1961); the saddlepoint is off by less than a tenth of the tail."""
    w = np.array(weights)

    def imhof(x: float) -> float:
        def integrand(u: float) -> float:
            angle = 0.5 * (np.arctan(w * u).sum() - x * u)
            return float(np.sin(angle) / (u * np.prod((1 + (w * u) ** 2) ** 0.25)))

        return float(0.5 + integrate.quad(integrand, 0, 2_000, limit=20_000)[0] / np.pi)

    x = float(w.mean() * stats.chi2.isf(tail, len(w)))
    found = weighted_chi_square_tail(x, w)
    if len(set(weights)) == 1:
        assert found == pytest.approx(tail, rel=1e-9)
    elif tail > 1e-4:  # beyond that the inversion has no digits left
        assert found == pytest.approx(imhof(x), rel=0.1)
    else:
        assert stats.chi2.sf(x / w.max(), 1) < found < stats.chi2.sf(x / w.max(), len(w))


def test_the_tail_is_smooth_at_the_mean() -> None:
    w = np.array([1.0, 0.5, 0.2])
    near = [weighted_chi_square_tail(w.sum() + step, w) for step in np.linspace(-0.05, 0.05, 201)]
    assert (np.diff(near) < 0).all()
    assert np.abs(np.diff(near, 2)).max() < 1e-5


# What is chosen.


def test_many_even_reports_have_the_limiting_law_and_few_or_rare_ones_are_shuffled() -> None:
    generator = np.random.default_rng(4)
    many = mw.independence_test(drawn(HEAVY, np.full((5, 5), 1 / 25), 3_000, generator))
    assert many.permutations == 0
    assert "limiting law" in many.choice
    assert "weighted sum of 16 chi-squares" in str(many)
    few = drawn(HEAVY, np.full((5, 5), 1 / 25), 40, generator)
    rare = drawn(SPARSE, np.outer(geometric(8), geometric(8)), 100, generator)
    for tally in (few, rare):
        found = mw.independence_test(tally)
        assert found.permutations == 999
        assert found.choice in found.summary()
        assert found == mw.independence_test(tally)  # shuffles that nobody asked for are the same each time
        assert found.to_dict()["choice"] == found.choice
        assert "permutations=999" in mw.independence_test(tally, permutations=0).advice


def test_what_is_asked_for_is_done() -> None:
    tally = drawn(HEAVY, np.full((5, 5), 1 / 25), 3_000, np.random.default_rng(4))
    asked = mw.independence_test(tally, permutations=49, seed=1)
    assert (asked.permutations, asked.choice) == (49, "")
    assert mw.independence_test(tally, "lrt").choice == ""
    for wrong in (-1, 2.5, "many"):
        with pytest.raises(mw.EstimationError, match="whole number"):
            mw.independence_test(tally, permutations=wrong)


@pytest.mark.parametrize("n", [2, 3, 50])
def test_reports_that_are_all_alike_show_nothing(n: int) -> None:
    pair = designs.product(designs.direct(3), designs.direct(3))
    assert mw.independence_test(pair.mask(np.zeros((n, 2), int))).p_value == 1


def test_parts_of_reports_are_refused() -> None:
    pair = designs.product(designs.direct(2), designs.direct(2))
    with pytest.raises(mw.EstimationError, match="whole counts"):
        mw.independence_test(mw.Tally.from_counts(pair, [1.5, 2, 3, 4]))


def test_sets_of_many_categories_need_no_table_of_pairs() -> None:
    """Some 37,000 different reports of each variable would make more than 1e9 pairs."""
    part = designs.minimax(20, epsilon=1.0)
    pair = designs.product(part, part)
    x = np.random.default_rng(5).integers(0, 20, 40_000)
    found = mw.independence_test(pair.mask(np.column_stack([x, x]), seed=6).tally())
    assert found.p_value < 1e-4
    with pytest.raises(mw.EstimationError, match="method='score'"):
        mw.independence_test(pair.mask(np.column_stack([x, x]), seed=6), "lrt")


def test_a_design_that_tells_groups_alone_is_tested_by_groups() -> None:
    part = designs.collapse(4, groups=[[0, 1], [2, 3]])
    x = np.random.default_rng(7).integers(0, 4, 400)
    reports = designs.product(part, part).mask(np.column_stack([x, (x + 1) % 4]), seed=1)
    found = mw.independence_test(reports, permutations=0)
    codes = np.array([[int(c >= 2) for c in pair] for pair in np.column_stack([x, (x + 1) % 4])])
    table = np.zeros((2, 2))
    np.add.at(table, tuple(codes.T), 1)
    assert (found.statistic, found.df) == (
        pytest.approx(stats.chi2_contingency(table, correction=False).statistic, rel=1e-5),
        1,
    )


# Level and power.


@pytest.mark.parametrize(
    ("design", "n", "surveys"),
    [(HEAVY, 3_000, 1_500), (SETS, 800, 1_000), (SPARSE, 200, 300)],
    ids=["heavily masked", "sets and labels", "sparse"],
)
def test_the_default_holds_its_level_on_both_sides(design: mw.designs.ProductDesign, n: int, surveys: int) -> None:
    """The likelihood ratio rejected 0 to .004 of the first; false alarm 1e-6 for each design."""
    margins = [geometric(part.k) for part in design.parts]
    generator = np.random.default_rng(20261116)
    null = (drawn(design, np.outer(*margins), n, generator) for _ in range(surveys))
    rejected = sum(mw.independence_test(tally).p_value <= 0.05 for tally in null)
    law = stats.binom(surveys, 0.05)
    assert law.ppf(ALARM / 2) <= rejected <= law.isf(ALARM / 2)


def test_the_default_sees_what_the_ratio_does_not() -> None:
    """Heavy masking, skewed margins, half of the people with the same answer to both; 300 surveys."""
    w, generator = geometric(5), np.random.default_rng(9)
    table = 0.5 * np.outer(w, w) + 0.5 * np.diag(w)
    found = dict.fromkeys(("score", "lrt"), 0)
    for _ in range(300):
        tally = drawn(HEAVY, table, 3_000, generator)
        for method in found:
            found[method] += mw.independence_test(tally, method).p_value <= 0.05  # type: ignore[arg-type]
    assert found["score"] > 300 * 0.6  # .71 in a pilot with other draws: 4 standard errors below
    assert found["lrt"] < 300 * 0.3


def test_rare_categories_do_not_drown_the_others() -> None:
    """Among 100 open answers Pearson's chi-square is decided by the rarest pairs: it saw .18 of these associations."""
    w, generator = geometric(8), np.random.default_rng(10)
    table = np.outer(w, w)
    table[:2, :2] += np.array([[1, -1], [-1, 1]]) * w[1] ** 2
    seen = sum(mw.independence_test(drawn(SPARSE, table, 100, generator)).p_value <= 0.05 for _ in range(100))
    assert seen > 60  # .8 in a pilot with other draws: 5 standard errors below
