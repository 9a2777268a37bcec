"""Plans keep their word: sizes reach their precision and power, and inverses invert.

Simulated rates are compared with what was planned by exact binomial tests. Each has a false-alarm rate of 1e-6, and one
percentage point is allowed for the normal approximation that every plan rests on.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import maskwell as mw
from maskwell import designs, planning
from maskwell.planning.inflation import Inflation
from maskwell.planning.variance_lines import mean_squares
from maskwell.tables import labels
from tests.conformance.members import MEMBERS

Floats = NDArray[np.float64]

FALSE_ALARM = 1e-6
ALLOWANCE = 0.01
SURVEYS = 1000

ESTIMABLE = {title: design for title, design in MEMBERS.items() if math.isfinite(design.added_variance)}
BY_ROWS = {title: design for title, design in ESTIMABLE.items() if design.kind != "subsets"}
MATRIX = designs.from_matrix([["3/5", "1/5", "1/10"], ["3/10", "7/10", "1/5"], ["1/10", "1/10", "7/10"]])


def not_below(successes: int, trials: int, rate: float) -> bool:
    """Whether a count of successes is one that a chance of at least ``rate`` would give, but for the allowance."""
    return float(stats.binom.cdf(successes, trials, rate - ALLOWANCE)) > FALSE_ALARM


def surveys(design: mw.Design, n: int, population: Floats, seed: int, count: int = SURVEYS) -> list[mw.Estimate]:
    """Estimates of independent surveys of ``n`` people who are drawn at random from the population."""
    codes = np.random.default_rng(seed).choice(design.k, size=n * count, p=population)
    masked = design.mask(np.array(design.categories)[codes], seed=seed)
    parts = [mw.Reports(design, masked.packed[i * n : (i + 1) * n]) for i in range(count)]
    return [mw.estimate(part) for part in parts]


def with_share(design: mw.Design, share: float, rival: int = 1) -> Floats:
    """A population in which the first category has the share and one rival the rest."""
    population = np.zeros(design.k)
    population[0], population[rival] = share, 1 - share
    return population


# The choice.


@pytest.mark.parametrize(
    ("demand", "name"),
    [
        (mw.LDP(1), "minimax"),
        (mw.BetaFactor(4), "minimax"),
        (mw.RhoPrivacy(Fraction(1, 10), Fraction(1, 2)), "minimax"),
        (mw.InformationPrivacy(lambda a: a / 2, lambda a: min(1.0, 2 * a)), "minimax"),
        (mw.LocalDiversity(3), "local_diversity"),
        (mw.AverageSecurity(1.5), "average_secure"),
    ],
)
def test_plan_answers_the_demand_and_keeps_n_beside_it(demand: mw.Demand, name: str) -> None:
    design, with_n = mw.plan(list("abcd"), demand), mw.plan(list("abcd"), demand, n=np.int64(2000))
    assert (design.name, design.demand) == (name, demand)
    assert demand.holds_for(design)
    assert with_n == design, "n changes neither labels nor integers"
    assert with_n.parameters == {**design.parameters, "planned_n": 2000}
    assert mw.Design.from_json(with_n.to_json()).parameters["planned_n"] == 2000


@pytest.mark.parametrize("n", [0, -5, 2.5, "many", None, math.inf])
def test_a_number_of_respondents_is_a_whole_number_from_one_on(n: Any) -> None:
    design = designs.warner(truth_prob=0.75)
    for ask in (lambda: planning.half_width(design, n), lambda: planning.power(design, n, 0.1)):
        with pytest.raises(mw.DesignError, match=r"^n must be") as caught:
            ask()
        assert "\n" not in str(caught.value)
    if n is not None:
        with pytest.raises(mw.DesignError, match=r"^n must be"):
            mw.plan(3, mw.LDP(1), n=n)


def test_what_is_no_demand_is_refused() -> None:
    with pytest.raises(mw.DemandError, match="demand must be a privacy demand; got float"):
        mw.plan(3, 1.0)  # type: ignore[arg-type]


# Half-widths and sample sizes.


@pytest.mark.parametrize("title", ESTIMABLE)
def test_no_population_has_a_wider_interval_than_planned(title: str) -> None:
    """Intervals from expected counts, of all categories, in populations drawn from the whole simplex."""
    design, n = ESTIMABLE[title], 900
    for population in np.random.default_rng(7).dirichlet(np.full(design.k, 0.5), size=12):
        tally = mw.Tally.from_counts(design, n * design.matrix() @ population)
        found = mw.estimate(tally)
        for simultaneous in (False, True):
            widths = [np.diff(found.interval(0.9, kind, simultaneous))[:, 0] / 2 for kind in ("wald", "wilson")]
            for j, category in enumerate(design.categories):
                planned = planning.half_width(
                    design, n, level=0.9, proportion=population[j], category=category, simultaneous=simultaneous
                )
                actual = max(width[j] for width in widths)
                assert actual <= planned * (1 + 1e-9)
                if design.kind == "subsets" or design.k == 2:
                    assert actual == pytest.approx(planned, rel=1e-9, abs=1e-12), "only its own share matters"


@pytest.mark.parametrize("title", ESTIMABLE)
def test_without_a_share_the_worst_one_is_planned_for(title: str) -> None:
    design = ESTIMABLE[title]
    worst = planning.half_width(design, 500)
    over_shares = [planning.half_width(design, 500, proportion=p) for p in np.linspace(0, 1, 401)]
    assert max(over_shares) <= worst * (1 + 1e-12)
    assert max(over_shares) == pytest.approx(worst, rel=1e-3)
    by_category = [planning.half_width(design, 500, category=c) for c in design.categories]
    assert max(by_category) == worst


@pytest.mark.parametrize("title", ESTIMABLE)
@pytest.mark.parametrize("proportion", [None, 0.0, 0.2, 1.0])
def test_a_sample_size_is_the_least_that_reaches_its_half_width(title: str, proportion: float | None) -> None:
    design = ESTIMABLE[title]
    for wanted in (0.2, 0.03):
        n = planning.sample_size(design, wanted, level=0.99, proportion=proportion, simultaneous=True)
        ask = {"level": 0.99, "proportion": proportion, "simultaneous": True}
        assert planning.half_width(design, n, **ask) <= wanted
        assert n == 1 or planning.half_width(design, n - 1, **ask) > wanted


SURVEYED = {
    "minimax": (designs.minimax(5, epsilon=1), 0.08, 0.3),
    "sets": (designs.minimax(7, epsilon=0.6), 0.15, None),
    "local diversity": (designs.local_diversity(6, l=3), 0.06, 0.1),
    "rappor": (designs.rappor(4, epsilon=1.5), 0.08, None),
    "forced response": (designs.forced_response(yes_prob=0.1, no_prob=0.2), 0.06, 0.15),
    "matrix": (MATRIX, 0.08, None),
}


@pytest.mark.parametrize("name", SURVEYED)
def test_planned_sample_sizes_reach_their_precision(name: str) -> None:
    """The estimate falls within the half-width of the truth, and the interval covers it, as often as stated."""
    design, wanted, proportion = SURVEYED[name]
    n = planning.sample_size(design, wanted, proportion=proportion)
    share = proportion
    if share is None:
        shares = np.linspace(0, 1, 101)
        share = float(shares[np.argmax([planning.half_width(design, n, proportion=p) for p in shares])])
    # The rival that makes the first category hardest to tell; for symmetric designs any.
    rival = 1 + int(np.argmax(mean_squares(design)[0, 1:]))
    found = surveys(design, n, with_share(design, share, rival), seed=20)
    assert not_below(sum(abs(e.proportions[0] - share) <= wanted for e in found), SURVEYS, 0.95)
    limits = np.array([e.interval()[0] for e in found])
    assert not_below(int(((limits[:, 0] <= share) & (share <= limits[:, 1])).sum()), SURVEYS, 0.95)
    half = np.diff(limits, axis=1)[:, 0] / 2
    # The half-width is concave in the estimate, so that its mean lies below the planned one, but for chance.
    assert half.mean() <= wanted + stats.norm.isf(FALSE_ALARM) * half.std() / math.sqrt(SURVEYS)


def test_a_product_is_planned_like_its_joint_matrix() -> None:
    joint = designs.product(designs.warner(truth_prob=Fraction(3, 4)), designs.minimax(3, epsilon=1))
    listed = designs.from_matrix(joint.matrix(exact=True))
    assert mean_squares(joint) == pytest.approx(mean_squares(listed), rel=1e-9)
    assert planning.sample_size(joint, 0.1) == planning.sample_size(listed, 0.1)


def test_planning_refuses_what_cannot_be_estimated_or_listed() -> None:
    with pytest.raises(mw.EstimationError, match="cannot estimate"):
        planning.sample_size(designs.collapse(4, groups=[[0, 1], [2, 3]]), 0.1)
    wide = designs.product(designs.minimax(60, epsilon=1), designs.minimax(60, epsilon=1))
    with pytest.raises(mw.DesignError, match="too many"):
        planning.half_width(wide, 1000)


@pytest.mark.parametrize(
    ("ask", "named"),
    [
        (lambda d: planning.sample_size(d, 0), "half_width"),
        (lambda d: planning.sample_size(d, 1.5), "half_width"),
        (lambda d: planning.sample_size(d, "small"), "half_width"),
        (lambda d: planning.sample_size(d, 0.1, proportion=1.2), "proportion"),
        (lambda d: planning.sample_size(d, 0.1, level=1), "level"),
        (lambda d: planning.half_width(d, 10, category="maybe"), "category"),
        (lambda d: planning.half_width(d, 10, proportion=math.nan), "proportion"),
        (lambda d: planning.power(d, 10, 0), "difference"),
        (lambda d: planning.power(d, 10, 0.6, baseline=0.5), "baseline"),
        (lambda d: planning.power(d, 10, -0.2, reference=0.1), "reference"),
        (lambda d: planning.power(d, 10, 0.1, baseline=0.1, reference=0.1), "baseline"),
        (lambda d: planning.power(d, (10, 20), 0.1, reference=0.1), "n must be"),
        (lambda d: planning.sample_size_for_power(d, 0.1, power=0.04), "power"),
        (lambda d: planning.sample_size_for_power(d, 1e-12), "respondents"),
        (lambda d: planning.variance_inflation(d, [0.5, 0.6]), "proportions"),
        (lambda d: planning.variance_inflation(d, {"maybe": 1.0}), "maybe"),
    ],
)
def test_errors_name_the_parameter_in_one_line(ask: Any, named: str) -> None:
    with pytest.raises(mw.MaskwellError, match=named) as caught:
        ask(designs.warner(truth_prob=0.75))
    assert "\n" not in str(caught.value)


# Variance against a direct question.


def test_variance_inflation_reproduces_the_published_ratios() -> None:
    """Section 3 of nayak-zhai-2019: 1.644 at γ = 20 and 153.49 % more at γ = 10, for one population."""
    population = [0.4, 0.2, 0.2, 0.1, 0.1]
    assert planning.variance_inflation(designs.minimax(5, gamma=20), population) == pytest.approx(1.644, abs=5e-4)
    assert planning.variance_inflation(designs.minimax(5, gamma=10), population) == pytest.approx(2.5349, abs=5e-5)


@pytest.mark.parametrize("title", ESTIMABLE)
def test_variance_inflation_is_the_ratio_of_the_variances_of_the_estimate(title: str) -> None:
    design = ESTIMABLE[title]
    population = np.random.default_rng(3).dirichlet(np.ones(design.k))
    variances = 1e4 * mw.estimate(mw.Tally.from_counts(design, 1e4 * design.matrix() @ population)).standard_errors ** 2
    direct = population * (1 - population)
    expected = variances.sum() / direct.sum()
    assert planning.variance_inflation(design, population) == pytest.approx(expected, rel=1e-8)
    by_label = dict(zip(design.categories, population.tolist(), strict=True))
    last = planning.variance_inflation(design, by_label, design.categories[-1])
    assert last == pytest.approx(variances[-1] / direct[-1], rel=1e-8)


def test_variance_inflation_where_a_direct_question_leaves_no_doubt() -> None:
    assert planning.variance_inflation(designs.direct(3), [1, 0, 0]) == 1
    assert planning.variance_inflation(designs.minimax(3, epsilon=1), [1, 0, 0]) == math.inf


# Power.


POWERED = {
    "minimax": (designs.minimax(4, epsilon=1.5), 0.12, 0.2),
    "local diversity": (designs.local_diversity(5, l=2), -0.1, 0.4),
    "crosswise": (designs.crosswise(innocuous_prob=0.2), 0.15, 0.1),
    "matrix": (MATRIX, 0.15, 0.3),
}


@pytest.mark.parametrize("name", POWERED)
def test_planned_sizes_find_a_difference_between_two_groups(name: str) -> None:
    design, difference, baseline = POWERED[name]
    n = planning.sample_size_for_power(design, difference, power=0.8, baseline=baseline)
    rival = 1 + int(np.argmax(mean_squares(design)[0, 1:]))
    groups = [
        surveys(design, n, with_share(design, baseline + shift, rival), seed)
        for shift, seed in ((0.0, 31), (difference, 32), (0.0, 33))
    ]

    def found(first: list[mw.Estimate], second: list[mw.Estimate]) -> int:
        pairs = zip(first, second, strict=True)
        return sum(
            abs(a.proportions[0] - b.proportions[0])
            > stats.norm.ppf(0.975) * math.hypot(a.standard_errors[0], b.standard_errors[0])
            for a, b in pairs
        )

    assert not_below(found(groups[0], groups[1]), SURVEYS, 0.8)
    assert not_below(SURVEYS - found(groups[0], groups[2]), SURVEYS, 0.95), "and no difference where there is none"


@pytest.mark.parametrize("name", POWERED)
def test_planned_sizes_find_a_difference_from_a_known_share(name: str) -> None:
    design, difference, reference = POWERED[name]
    n = planning.sample_size_for_power(design, difference, power=0.9, reference=reference)
    rival = 1 + int(np.argmax(mean_squares(design)[0, 1:]))
    limits = [e.interval()[0] for e in surveys(design, n, with_share(design, reference + difference, rival), seed=41)]
    outside = sum(not low <= reference <= high for low, high in limits)
    assert not_below(outside, SURVEYS, 0.9)


@pytest.mark.parametrize("title", ESTIMABLE)
@pytest.mark.parametrize("against", [{}, {"baseline": 0.3}, {"reference": 0.3}])
def test_a_size_for_power_is_the_least_and_power_grows(title: str, against: dict[str, float]) -> None:
    design = ESTIMABLE[title]
    n = planning.sample_size_for_power(design, 0.1, power=0.85, **against)
    powers = [planning.power(design, m, 0.1, **against) for m in (n - 1, n, 2 * n, 100 * n)]
    assert powers[0] < 0.85 <= powers[1] <= powers[2] <= powers[3]
    assert powers[3] > 0.999


@pytest.mark.parametrize("title", BY_ROWS)
def test_no_population_has_less_power_than_planned(title: str) -> None:
    """With the variances that estimates have in populations drawn from the whole simplex, each category in turn."""
    design, n, start, difference = BY_ROWS[title], 800, 0.3, 0.2
    z = stats.norm.ppf(0.95)
    squares = mean_squares(design)
    for j, category in enumerate(design.categories):
        planned = planning.power(design, n, difference, baseline=start, level=0.9, category=category)
        assert planned >= planning.power(design, n, difference, baseline=start, level=0.9) - 1e-12
        for others in np.random.default_rng(9).dirichlet(np.full(design.k - 1, 0.5), size=10):
            populations = [np.insert((1 - share) * others, j, share) for share in (start, start + difference)]
            error = math.sqrt(sum(float(squares[j] @ p) - p[j] ** 2 for p in populations) / n)
            power = stats.norm.sf(z - difference / error) + stats.norm.cdf(-z - difference / error)
            assert power >= planned - 1e-9
            if design.k == 2:
                assert power == pytest.approx(planned, abs=1e-9)


@pytest.mark.parametrize("sizes", [(500, 500), (300, 900), (900, 300)])
@pytest.mark.parametrize("difference", [0.1, -0.25, 0.6])
def test_without_a_baseline_the_worst_one_is_taken(sizes: tuple[int, int], difference: float) -> None:
    for design in (designs.minimax(4, epsilon=1), MATRIX):
        worst = planning.power(design, sizes, difference)
        starts = np.linspace(max(0, -difference), min(1, 1 - difference), 201)
        powers = [planning.power(design, sizes, difference, baseline=float(b)) for b in starts]
        assert worst <= min(powers) + 1e-12
        assert worst == pytest.approx(min(powers), abs=1e-3)


# The inverse.


@pytest.mark.parametrize("k", [2, 3, 6, 11, 40])
@pytest.mark.parametrize(("n", "wanted"), [(400, 0.1), (5000, 0.05), (100_000, 0.02)])
@pytest.mark.parametrize("proportion", [None, 0.05])
def test_a_budget_allows_the_strongest_demand_that_still_reaches_its_precision(
    k: int, n: int, wanted: float, proportion: float | None
) -> None:
    allowed = planning.demand_for(k, n, wanted, proportion=proportion)
    assert (allowed.k, allowed.n, allowed.half_width) == (k, n, wanted)

    def width(demand: mw.Demand) -> float:
        return planning.half_width(mw.plan(k, demand), n, proportion=proportion)

    assert allowed.ldp is not None
    assert width(allowed.ldp) <= wanted
    assert planning.sample_size(mw.plan(k, allowed.ldp), wanted, proportion=proportion) <= n
    stricter = [*np.linspace(0.02, 0.98, 49), 1 - 1e-6]
    assert all(width(mw.LDP(float(allowed.ldp.epsilon * part))) > wanted for part in stricter)
    if allowed.diversity is None:
        assert k == 2 or width(mw.LocalDiversity(2)) > wanted
    else:
        assert width(allowed.diversity) <= wanted
        assert allowed.diversity.l == k - 1 or width(mw.LocalDiversity(allowed.diversity.l + 1)) > wanted


def test_a_budget_that_is_too_small_says_what_a_direct_question_needs() -> None:
    needed = planning.sample_size(designs.direct(4), 0.05)
    with pytest.raises(mw.DesignError, match=rf"n=100 .* needs {needed};") as caught:
        planning.demand_for(4, 100, 0.05)
    assert "\n" not in str(caught.value)
    just_enough = planning.demand_for(4, needed, 0.05)
    assert just_enough.diversity is None


def test_power_to_one_side_and_in_complex_samples() -> None:
    design = mw.designs.minimax(3, epsilon=2)
    two, one = (planning.power(design, 900, 0.1, baseline=0.2, alternative=each) for each in ("two-sided", "greater"))
    assert one > two
    assert planning.power(design, 900, -0.1, baseline=0.3, alternative="less") == pytest.approx(
        planning.power(design, 900, -0.1, baseline=0.3, level=0.9), abs=1e-6
    )
    # A design effect that is all weights counts as so many fewer people; clusters spare the noise of masking.
    weighted = planning.power(design, 900, 0.1, baseline=0.2, design_effect=1.5, weight_effect=1.5)
    assert weighted == pytest.approx(planning.power(design, 600, 0.1, baseline=0.2))
    assert planning.power(design, 900, 0.1, baseline=0.2, design_effect=1.5) > weighted
    worst = planning.power(design, 900, 0.1, design_effect=2, weight_effect=1.2)
    tried = [planning.power(design, 900, 0.1, baseline=b, design_effect=2, weight_effect=1.2) for b in (0.1, 0.4, 0.6)]
    assert worst <= min(tried) + 1e-9
    for options, words in (
        ({"alternative": "less"}, "other side"),
        ({"alternative": "up"}, "alternative must be"),
        ({"design_effect": 0}, "design_effect"),
        ({"weight_effect": 0.5}, "weight_effect"),
    ):
        with pytest.raises(mw.MaskwellError, match=words):
            planning.power(design, 900, 0.1, baseline=0.2, **options)


def test_half_widths_in_complex_samples() -> None:
    """What sampling adds grows by the design effect, what masks add by that of the weights alone."""
    design = mw.designs.minimax(3, epsilon=2)
    plain = planning.half_width(design, 1000, proportion=0.3)
    assert planning.half_width(design, 1500, proportion=0.3, design_effect=1.5, weight_effect=1.5) == pytest.approx(
        plain, rel=1e-3
    )
    spared = planning.half_width(design, 1500, proportion=0.3, design_effect=1.5)
    assert spared < plain
    # Wald's margin, by hand: the masks' part of n times the variance is what is above p (1 - p).
    z, open_answers = 1.959964, 0.3 * 0.7
    whole = 1000 * (plain / z) ** 2
    assert spared == pytest.approx(z * math.sqrt((1.5 * open_answers + whole - open_answers) / 1500), rel=1e-6)
    worst = planning.half_width(design, 1000, design_effect=2, weight_effect=1.2)
    tried = [
        planning.half_width(design, 1000, proportion=p / 50, design_effect=2, weight_effect=1.2) for p in range(51)
    ]
    assert max(tried) <= worst <= max(tried) * 1.001
    n = planning.sample_size(design, 0.05, design_effect=2, weight_effect=1.2)
    widths = [planning.half_width(design, size, design_effect=2, weight_effect=1.2) for size in (n, n - 1)]
    assert widths[0] <= 0.05 < widths[1]
    with pytest.raises(mw.DesignError, match="weight_effect"):
        planning.half_width(design, 1000, weight_effect=0.9)


def test_what_a_sample_does_to_simulated_power_and_to_groups() -> None:
    """With a weight effect the masks' part grows by that alone, so that the sample is worth more people."""
    design, population = mw.designs.minimax(2, epsilon=2), np.array([0.4, 0.6])
    total = float(design.scores("linear").second_moment_diagonal(population).sum() - population @ population)
    sampling = 1 - float(population @ population)
    expected = (2 * sampling + 1.1 * (total - sampling)) / total
    assert Inflation.of(2, 1.1).of_population(design, population) == pytest.approx(expected)
    assert Inflation.of(2, 2).of_population(design, population) == 2
    options: dict[str, Any] = {"design_effect": 2, "surveys": 300}
    shares, n = [[0.4, 0.6], [0.5, 0.5]], 900
    safe = planning.power_of_homogeneity(design, shares, [n, n], **options).power
    better = planning.power_of_homogeneity(design, shares, [n, n], weight_effect=1.1, **options).power
    fewer = planning.power_of_homogeneity(design, shares, [n // 2, n // 2], surveys=300).power
    assert safe == fewer < better
    dice = [mw.designs.forced_response(yes_prob=p, no_prob=0) for p in ("1/6", "5/6")]
    given: dict[str, Any] = {"proportions": {"yes": 0.2, "no": 0.8}, "shares": {"always no": 0.1}}
    plain = planning.compliance_groups(dice, {"always no": "no"}, **given, n=500)
    sampled = planning.compliance_groups(dice, {"always no": "no"}, **given, n=1000, design_effect=2)
    assert sampled.power == pytest.approx(plain.power)
    assert sampled.standard_errors == pytest.approx(plain.standard_errors)
    assert "design effect" in sampled.summary()


def test_simulated_power_has_a_curve() -> None:
    """Its points are the powers themselves; the number needed is where no greater one falls short."""
    design = mw.designs.gamma_diagonal(2, epsilon=2)
    plan = mw.planning.plan_regression(
        "used ~ age",
        {"age": np.linspace(-1, 1, 20)},
        masked={"used": mw.designs.warner(truth_prob=0.9)},
        coefficients={"Intercept": 0.0, "age": 1.0},
    )
    table = [[0.4, 0.1], [0.1, 0.4]]
    for simulate in (
        lambda n: mw.planning.power_of_independence(design, design, table, n, surveys=60),
        lambda n: mw.planning.power_of_homogeneity(design, [[0.3, 0.7], [0.6, 0.4]], [n, n], surveys=60),
        lambda n: mw.planning.power_of_fit(
            mw.designs.rappor(3, epsilon=2), [0.2, 0.3, 0.5], [1] + [0] * 7, 0.2, n, surveys=60
        ),
        lambda n: plan.simulate("age", n, surveys=30, seed=1),
    ):
        curve = mw.planning.simulated_curve(simulate, [800, 60])
        assert curve.n == (60, 800)
        assert curve.powers.tolist() == [simulate(n).power for n in curve.n]
        assert curve.needed == 800
        assert (curve.interval()[:, 0] <= curve.powers).all()
        assert (curve.powers <= curve.interval()[:, 1]).all()
    few = mw.planning.simulated_curve(lambda n: mw.planning.power_of_independence(design, design, table, n), [10, 20])
    assert few.needed is None
    with pytest.raises(mw.DesignError, match="some numbers of respondents"):
        mw.planning.simulated_curve(simulate, [])


def test_a_power_curve_shows_itself() -> None:
    with pytest.raises(mw.DesignError, match="leave power out"):
        planning.power_curve(mw.designs.minimax(2, epsilon=1), 0.1, reference=0.2, power=0.9)
    curve = planning.power_curve(mw.designs.minimax(2, epsilon=1), 0.1, reference=0.2, alternative="greater")
    assert (np.diff(curve.masked) > 0).all()
    assert curve.masked[curve.n.index(curve.needed)] >= 0.8
    assert "in all" in curve.summary()
    assert curve.plot().to_dict()["layer"]
    assert list(curve.to_frame().columns) == ["n", "power", "power asked directly"]
    assert curve.to_dict()["design"]["fingerprint"] == curve.design.fingerprint


def test_simulated_power_is_that_of_the_formula_and_the_level_without_a_difference() -> None:
    """500 surveys have a standard error of .02 at a power of .8 and of .01 at 5 %: four of them."""
    design = mw.designs.minimax(2, epsilon=2)
    n = planning.sample_size_for_power(design, 0.1, baseline=0.4)
    found = planning.power_of_homogeneity(design, [[0.4, 0.6], [0.5, 0.5]], [n, n])
    assert abs(found.power - 0.8) < 0.09
    assert "simulated" in found.summary()
    doubled = planning.power_of_homogeneity(design, [[0.4, 0.6], [0.5, 0.5]], [n, n], design_effect=2)
    assert doubled.power < found.power - 0.1
    pairs = planning.power_of_independence(design, design, np.full((2, 2), 0.25), 800)
    assert abs(pairs.power - 0.05) < 0.05
    sets = mw.designs.rappor(3, epsilon=2)
    always = np.eye(sets.report_count())[0]
    assert planning.power_of_fit(sets, [0.2, 0.3, 0.5], always, 0.2, 1000).power > 0.9
    with pytest.raises(mw.DesignError, match="must be 2 by 2 shares"):
        planning.power_of_independence(design, design, [[1.0]], 100)
    with pytest.raises(mw.DesignError, match="for each of 2 groups"):
        planning.power_of_homogeneity(design, [[0.4, 0.6]], [10, 10])
    with pytest.raises(mw.DesignError, match="the same categories"):
        planning.power_of_homogeneity([design, mw.designs.direct(3)], [[0.4, 0.6]] * 2, [10, 10])
    for surveys in (1, 2.5):
        with pytest.raises(mw.DesignError, match="a whole number, 2 or more"):
            planning.power_of_homogeneity(design, [[0.4, 0.6]] * 2, [10, 10], surveys=surveys)  # type: ignore[arg-type]
    with pytest.raises(mw.DesignError, match="table must be numbers"):
        planning.power_of_independence(design, design, "even", 10)


def test_a_long_list_of_labels_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[int] = []
    check = labels._refuse_unstorable
    monkeypatch.setattr(labels, "_refuse_unstorable", lambda given: (checked.append(len(given)), check(given)))
    design = mw.plan([f"page {i}" for i in range(5000)], mw.LDP(1))
    assert design.name == "projective"
    assert checked == [5000]
    with pytest.raises(mw.DesignError, match="more than once"):
        mw.plan([*design.categories, "page 7"], mw.LDP(1))
