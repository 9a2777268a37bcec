"""People who do not follow the design: published models, what cannot be told, bounds, tests and plans."""

import math
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell.inference.compliance.groups import classes_of, read_groups
from maskwell.inference.compliance.hypotheses import likelihood_ratio, mixture_of_chi_squares, mixture_tail
from maskwell.inference.compliance.profile import balanced, best_log_likelihood
from maskwell.planning import compliance_groups

D = mw.designs
RARE, OFTEN = (D.forced_response(yes_prob=p, no_prob=0) for p in ("1/6", "5/6"))
CROSSED = [D.crosswise(innocuous_prob=p) for p in ("1/4", "3/4")]
NO = {"always no": "no"}


def groups(*pairs: tuple[mw.Design, list[int]]) -> list[mw.Tally]:
    return [mw.Tally.from_counts(design, counts) for design, counts in pairs]


DICE = groups((RARE, [320, 680]), (OFTEN, [780, 220]))


# Published models: estimates and standard errors in closed form, from shares of yes in two groups.


@pytest.mark.parametrize("yes", [(0.32, 0.78), (0.25, 0.8), (0.4, 0.7)])
@pytest.mark.parametrize("sizes", [(1000, 1000), (400, 900)])
def test_cheating_detection(yes: tuple[float, float], sizes: tuple[int, int]) -> None:
    """Clark and Desharnais (1998): honest yes, honest no and cheaters."""
    counts = [[round(n * y), n - round(n * y)] for n, y in zip(sizes, yes, strict=True)]
    l1, l2 = (c[0] / sum(c) for c in counts)
    p1, p2 = 1 / 6, 5 / 6
    found = mw.compliance(groups((RARE, counts[0]), (OFTEN, counts[1])), NO)
    v1, v2 = (x * (1 - x) / n for x, n in zip((l1, l2), sizes, strict=True))
    expected = [(p2 * l1 - p1 * l2) / (p2 - p1), (l2 - l1) / (p2 - p1), 1 + ((p2 - 1) * l1 + (1 - p1) * l2) / (p1 - p2)]
    errors = np.sqrt([p1**2 * v2 + p2**2 * v1, v1 + v2, (p2 - 1) ** 2 * v1 + (1 - p1) ** 2 * v2]) / (p2 - p1)
    assert found.class_shares == pytest.approx(expected, abs=1e-6)
    assert found.class_errors == pytest.approx(errors, rel=1e-5)
    assert found.shares == pytest.approx(expected[2:], abs=1e-6)
    assert found.proportions == pytest.approx(np.array(expected[:2]) / sum(expected[:2]), abs=1e-6)
    assert found.among_all().limits == pytest.approx(
        np.array([[expected[0], 1 - expected[1]], [expected[1], 1 - expected[0]]])
    )
    assert found.gap < 1e-5


def test_a_share_of_almost_everybody_is_all_in_the_summary() -> None:
    found = mw.compliance(groups((RARE, [500, 500]), (OFTEN, [900, 100])), NO)
    assert 0.99999 < found.followed <= 1
    line = next(line for line in found.summary().splitlines() if line.startswith("follow the design"))
    assert line.split()[-1] == "1"


def test_a_p_value_of_two_lines_stands_on_two_lines() -> None:
    designs = [mw.designs.mangat(truth_prob=p) for p in ("1/5", "3/4")]
    tallies = [mw.Tally.from_counts(d, counts) for d, counts in zip(designs, ([520, 480], [300, 700]), strict=True)]
    lines = mw.compliance(tallies, {"lies": mw.Behaviour("no", of="yes")}).summary().splitlines()
    assert any(line.startswith("without behaviours a category is estimated at or near 0") for line in lines)
    assert not any("\\n" in line for line in lines)


def test_lie_detector_is_cheating_detection_with_liars_counted_as_carriers() -> None:
    """Moshagen, Musch and Erdfelder (2012), with Mangat's design: the reports cannot tell the two models apart."""
    l1, l2, p1, p2 = 0.32, 0.78, 5 / 6, 1 / 6  # chances of the truth in Mangat's device
    design = [D.mangat(truth_prob=p) for p in ("5/6", "1/6")]
    found = mw.compliance(
        groups((design[0], [320, 680]), (design[1], [780, 220])), {"lies": mw.Behaviour("no", of="yes")}
    )
    carriers = ((l2 - l1) + (p2 - p1)) / (p2 - p1)
    error = math.sqrt((l1 * (1 - l1) / 1000 + l2 * (1 - l2) / 1000) / (p1 - p2) ** 2)
    truthful = (l2 * (1 - p1) - l1 * (1 - p2)) / ((l2 - l1) + (p2 - p1))
    assert found.among == "all people"
    assert found.proportions == pytest.approx([carriers, 1 - carriers], abs=1e-6)
    assert found.proportion_errors[0] == pytest.approx(error, rel=1e-5)
    assert 1 - found.shares[0] / found.proportions[0] == pytest.approx(truthful, abs=1e-5)
    assert found.log_likelihood == pytest.approx(mw.compliance(DICE, NO).log_likelihood)
    assert (found.among_all().least == found.among_all().greatest).all()


def test_groups_may_have_names_and_what_is_possible_has_labels() -> None:
    named = mw.compliance({"rare": DICE[0], "often": DICE[1]}, NO)
    listed = mw.compliance(DICE, NO)
    assert named.class_shares.tolist() == listed.class_shares.tolist()
    bounds = mw.compliance_bounds({"rare": DICE[0], "often": DICE[1]}, NO, most=0.3, points=2)
    assert bounds.lower.tolist() == mw.compliance_bounds(DICE, NO, most=0.3, points=2).lower.tolist()
    possible = named.among_all()
    assert possible["no"] == (possible.least[1], possible.greatest[1])
    assert possible.to_frame()["category"].tolist() == ["yes", "no"]
    assert "of all people that leaves yes 20" in named.summary()
    with pytest.raises(mw.EstimationError, match="no category 'maybe'"):
        possible["maybe"]


def test_full_compliance_is_said_to_be_assumed_where_no_behaviour_is_named() -> None:
    assumed = mw.compliance(DICE, {}).summary()
    assert "follow the design      all, which is assumed" in assumed
    assert "no behaviour was named" in assumed
    assert "assumed" not in mw.compliance(DICE, NO).summary()


def test_unrelated_question_of_unknown_share() -> None:
    """Greenberg et al. (1969): both shares of yes are told, and nothing else of the four joint truths."""
    truths = ["yes, yes", "yes, no", "no, yes", "no, no"]
    p1, p2, l1, l2 = 0.75, 0.25, 0.42, 0.5
    made = [D.from_matrix([[1, p, 1 - p, 0], [0, 1 - p, p, 1]], truths, reports=["yes", "no"]) for p in (p1, p2)]
    found = mw.compliance(groups((made[0], [420, 580]), (made[1], [300, 300])), {})
    v1, v2 = l1 * (1 - l1) / 1000, l2 * (1 - l2) / 600
    sensitive = found.contrast({"yes, yes": 1, "yes, no": 1})
    assert sensitive.value == pytest.approx((l1 * (1 - p2) - l2 * (1 - p1)) / (p1 - p2), abs=1e-6)
    expected = math.sqrt((v1 * (1 - p2) ** 2 + v2 * (1 - p1) ** 2) / (p1 - p2) ** 2)
    assert sensitive.standard_error == pytest.approx(expected, rel=1e-5)
    innocuous = found.contrast({"yes, yes": 1, "no, yes": 1})
    assert innocuous.value == pytest.approx((p2 * l1 - p1 * l2) / (p2 - p1), abs=1e-6)
    assert np.isinf(found.class_errors).all()
    assert np.isinf(found.contrast({"yes, yes": 1}).standard_error)
    assert "not told apart" in found.summary()


def test_extended_crosswise_is_a_test_of_homogeneity() -> None:
    """Heck, Hoffmann and Moshagen (2018)."""
    two = groups((CROSSED[0], [300, 700]), (CROSSED[1], [720, 280]))
    fit, compared = mw.compliance(two, {}).goodness_of_fit(), mw.homogeneity_test(two)
    assert (fit.df, compared.df) == (1, 1)
    assert fit.statistic == pytest.approx(compared.statistic, rel=1e-3)
    found = mw.compliance(two, {"always same": "same"})
    assert found.shares[0] == pytest.approx(0.3 + 0.72 - 1)
    with pytest.raises(mw.EstimationError, match="50 % 'yes' with 50 % 'no' reports as 'guess' does"):
        mw.compliance(two, {"guess": "random"})


def test_self_protective_people_say_no_to_everything() -> None:
    """Two items in two groups of other chances: who says no to all is told without a model of the items."""
    rare = D.product(RARE, RARE, names=["a", "b"])
    often = D.product(OFTEN, OFTEN, names=["a", "b"])
    truth = np.array([0.05, 0.1, 0.1, 0.6, 0.15])  # yes yes, yes no, no yes, no no, and no to everything
    behaviours = {"self-protective": ("no", "no")}
    classes = classes_of([rare, often], behaviours)
    given = [
        mw.Tally.from_counts(d, np.round(m @ truth * 10**6))
        for d, m in zip((rare, often), classes.matrices, strict=True)
    ]
    found = mw.compliance(given, behaviours)
    assert found.class_shares == pytest.approx(truth, abs=2e-5)
    with pytest.raises(mw.EstimationError, match="self-protective"):
        mw.compliance(given[:1], behaviours)


# What cannot be told is said exactly.


@pytest.mark.parametrize(
    ("given", "behaviours", "about"),
    [
        (DICE[:1], NO, "'no' reports as 16.67 % 'yes' with 83.33 % 'always no' does"),
        (DICE, {"always yes": "yes"}, "'yes' reports as 'always yes' does"),
        (DICE, {"denies": mw.Behaviour(answers_as="no", of="yes")}, "'no' reports as 'denies' does"),
        (DICE, {"first": "no", "second": "no"}, "'first' reports as 'second' does"),
    ],
)
def test_what_the_designs_cannot_tell_is_named(given: Any, behaviours: Any, about: str) -> None:
    with pytest.raises(mw.EstimationError) as refused:
        mw.compliance(given, behaviours)
    assert about in str(refused.value)
    assert "compliance_bounds" in str(refused.value)
    assert refused.value.parameter == "behaviours"


def test_nearly_equal_designs_are_told_apart_by_exact_rank() -> None:
    close = [D.forced_response(yes_prob=f"{k}/1000000", no_prob=0) for k in (166666, 166667)]
    assert len(classes_of(close, NO).unidentified) == 0
    assert len(classes_of([close[0], close[0]], NO).unidentified) == 1


@pytest.mark.parametrize(
    ("given", "behaviours", "about"),
    [
        (DICE, {"x": "maybe"}, "none of the reports of forced_response: 'yes', 'no'"),
        (DICE, {"yes": "no"}, "name of a category"),
        (DICE, {"x": None}, "does not say what people do"),
        (DICE, {"x": {"yes": "1/3"}}, "sum to 0.333333"),
        (DICE, {"x": mw.Behaviour("no", of="maybe")}, "none of the categories"),
        (DICE, {"x": mw.Behaviour("no", answers_as="no")}, "gives does and answers_as"),
        (DICE, {"x": [["no"]]}, "report that is a set"),
        (DICE, {"x": {"yes": float("nan"), "no": 1}}, "finite number"),
        (DICE, ["no"], "must be a mapping"),
        ([], NO, "tallies or reports of each group"),
        ([5], NO, "tallies or reports"),
        ([DICE[0], mw.Tally.from_counts(CROSSED[0], [0, 0])], {}, "group 1 has no reports"),
        ([DICE[0], mw.Tally.from_counts(D.direct(3), [5, 5, 5])], {}, "same categories"),
        ([D.minimax(8, epsilon=0.1).mask([1] * 9, seed=1).tally()], {}, "distinct reports"),
        ([D.minimax(40, epsilon=0.1).mask([1] * 9, seed=1)], {}, "cannot|too many"),
    ],
)
@pytest.mark.filterwarnings("ignore::maskwell.errors.SimulationWarning")
def test_bad_input_is_refused(given: Any, behaviours: Any, about: str) -> None:
    with pytest.raises(mw.EstimationError, match=about):
        mw.compliance(given, behaviours)


# Likelihood, limits and tests.


@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")  # SLSQP of SciPy 1.13
def test_constrained_maxima_are_those_of_a_general_optimiser() -> None:
    from scipy.optimize import minimize

    read = read_groups(DICE, NO)
    for direction in (np.array([-0.3, -0.3, 0.7]), np.array([0.8, -0.2, 0.0])):
        value, shares = best_log_likelihood(read.table, read.weights, balanced(direction))
        assert shares @ direction == pytest.approx(0, abs=1e-12)
        assert shares.sum() == pytest.approx(1)
        constraints = [
            {"type": "eq", "fun": lambda w: w.sum() - 1},
            {"type": "eq", "fun": lambda w, d=direction: w @ d},
        ]
        other = minimize(
            lambda w: -read.weights @ np.log(read.table @ w),
            shares * 0.9 + 0.1 / 3,
            bounds=[(1e-9, 1)] * 3,
            constraints=constraints,
            method="SLSQP",
        )
        assert value >= -other.fun - 1e-4
        assert value == pytest.approx(-other.fun, abs=1e-2)


def test_there_are_no_shares_beyond_all_classes() -> None:
    assert balanced(np.array([0.5, 0.1])).shape == (2, 0)
    assert best_log_likelihood(np.ones((2, 2)), np.ones(2), np.zeros((2, 0)))[0] == -math.inf


def test_limits_agree_in_large_groups_and_profiles_stay_inside() -> None:
    large = groups((RARE, [320_000, 680_000]), (OFTEN, [780_000, 220_000]))
    found = mw.compliance(large, NO)
    assert found.interval() == pytest.approx(found.interval(method="wald"), abs=2e-5)
    assert found.proportion_interval() == pytest.approx(found.proportion_interval(method="wald"), abs=2e-5)
    none = mw.compliance(groups((RARE, [340, 660]), (OFTEN, [866, 134])), NO)
    assert none.interval()[0, 0] == 0
    assert 0 < none.interval()[0, 1] < 0.1
    with pytest.raises(mw.EstimationError, match="profile or wald"):
        found.interval(method="wilson")  # type: ignore[arg-type]


def test_the_law_of_the_test_is_a_mixture() -> None:
    found = mw.compliance(DICE, NO).test()
    assert found.law == "1/2 chi-square 0 + 1/2 chi-square 1"
    assert found.p_value == pytest.approx(0.5 * math.erfc(math.sqrt(found.statistic / 2)))
    assert mixture_tail(0.0, [0.5, 0.5]) == 1
    drawn = mw.compliance(groups((RARE, [330, 670]), (OFTEN, [830, 170])), NO)
    by_law, by_draws = drawn.test(), drawn.test(draws=499, seed=3)
    assert by_draws.draws
    assert abs(by_law.p_value - by_draws.p_value) < 5 * max(by_draws.p_error, 0.01)


def test_two_behaviours_have_weights_that_match_draws() -> None:
    made = [D.forced_response(3, forced=f) for f in (["1/6"] * 3, ["1/2", "1/12", "1/12"], ["1/12", "1/12", "1/2"])]
    read = read_groups([mw.Tally.from_counts(d, [1000, 1000, 1000]) for d in made], {"zero": 0, "one": 1})
    population = np.array([0.3, 0.3, 0.4])
    weights = mixture_of_chi_squares(read, population)
    assert sum(weights) == pytest.approx(1)
    rng = np.random.default_rng(8)
    n, zero = 400, 0
    for _ in range(n):
        counts = [rng.multinomial(3000, d.matrix() @ population).astype(float) for d in made]
        sampled = read_groups(
            [mw.Tally.from_counts(d, c) for d, c in zip(made, counts, strict=True)], {"zero": 0, "one": 1}
        )
        zero += likelihood_ratio(sampled) < 1e-4
    assert abs(zero / n - weights[0]) < 5 * math.sqrt(weights[0] * (1 - weights[0]) / n)


def test_the_test_draws_where_the_law_does_not_hold() -> None:
    few = mw.compliance(groups((RARE, [30, 970]), (OFTEN, [500, 500])), NO).test()
    assert few.draws
    assert "at or near 0" in few.choice
    assert few.p_value < 0.02
    three = {"a": "no", "b": {"yes": "1/2", "no": "1/2"}}
    with pytest.raises(mw.EstimationError):
        mw.compliance(DICE, three)
    with pytest.raises(mw.EstimationError, match="no behaviours to test"):
        mw.compliance(DICE, {}).test()


def test_goodness_of_fit_has_the_degrees_of_freedom_that_are_left() -> None:
    with pytest.raises(mw.EstimationError, match="nothing to test"):
        mw.compliance(DICE, NO).goodness_of_fit()
    third = D.forced_response(yes_prob="1/2", no_prob=0)
    assert mw.compliance([*DICE, mw.Tally.from_counts(third, [550, 450])], NO).goodness_of_fit().df == 1
    assert mw.compliance(DICE, {}).goodness_of_fit().df == 1
    assert mw.compliance(DICE, {}).goodness_of_fit().p_value < 1e-6


def test_weights_count_and_widen_the_errors() -> None:
    rng = np.random.default_rng(5)
    weights = rng.choice([1.0, 3.0], 1000)
    reports = [mw.Reports.of(d, np.repeat(["yes", "no"], [y, 1000 - y])) for d, y in ((RARE, 320), (OFTEN, 780))]
    plain = mw.compliance(reports, NO)
    same = mw.compliance([r.tally(np.full(1000, 2.0)) for r in reports], NO)
    assert same.shares == pytest.approx(plain.shares, abs=1e-6)
    assert same.standard_errors == pytest.approx(plain.standard_errors, rel=1e-4)
    uneven = mw.compliance([r.tally(weights) for r in reports], NO)
    design_effect = (weights**2).mean() / weights.mean() ** 2
    assert uneven.standard_errors[0] / plain.standard_errors[0] == pytest.approx(math.sqrt(design_effect), rel=0.1)
    with pytest.raises(mw.EstimationError, match="equally weighted"):
        uneven.interval(method="profile")
    assert uneven.interval().tolist() == uneven.interval(method="wald").tolist()
    with pytest.raises(mw.EstimationError, match="some groups are weighted"):
        mw.compliance([reports[0].tally(weights), reports[1]], NO)
    assert "always no" in uneven.summary()


def test_what_reports_do_not_tell_has_no_narrow_limits() -> None:
    """Two truths have the same chances of all reports: their shares may be anything that leaves the third's."""
    alike = D.from_matrix([[0.6, 0.6, 0.1], [0.2, 0.2, 0.2], [0.2, 0.2, 0.7]])
    reports = mw.Reports.of(alike, [0] * 800 + [1] * 400 + [2] * 800)
    rng = np.random.default_rng(1)
    plain, weighted = mw.compliance(reports, {}), mw.compliance(reports.tally(rng.uniform(1, 2, 2000), True), {})
    for found in (plain, weighted, mw.compliance([reports], {}, sample=mw.Sample(weights=np.ones(2000)))):
        assert np.isinf(found.proportion_errors).tolist() == [True, True, False]
        limits = found.proportion_interval()
        assert limits[0].tolist() == pytest.approx(limits[1].tolist())
        assert limits[0, 0] == 0
        assert limits[0, 1] > 1 - found.proportions[2] > limits[2, 1] - limits[2, 0] > 0
        assert found.among == "all people"


# Bounds.


def test_bounds_of_one_group_follow_from_the_share() -> None:
    bounds = mw.compliance_bounds(DICE[0], NO, most=0.2, points=3)
    expected = [(0.32 / (1 - c) - 1 / 6) / (5 / 6) for c in (0, 0.1, 0.2)]
    assert bounds.lower[:, 0] == pytest.approx(expected, abs=1e-5)
    assert bounds.upper == pytest.approx(bounds.lower, abs=1e-5)
    plain = mw.estimate(DICE[0], "likelihood").interval(method="profile")
    assert bounds.limits[0] == pytest.approx(plain, abs=1e-4)
    assert bounds.plausible.all()


def test_bounds_take_in_any_behaviour_and_any_truth() -> None:
    both = mw.compliance_bounds(DICE[0], {**NO, "always yes": "yes"}, most=0.1, points=2)
    low, high = ((0.32 - 0.1) / 0.9 - 1 / 6) / (5 / 6), (0.32 / 0.9 - 1 / 6) / (5 / 6)
    assert (both.lower[1, 0], both.upper[1, 0]) == pytest.approx((low, high), abs=1e-5)
    assert both.limits[1, 0, 0] < low
    assert both.limits[1, 0, 1] > high
    everyone = mw.compliance_bounds(DICE[0], NO, most=0.1, points=2, among="all")
    assert (everyone.lower[1, 0], everyone.upper[1, 0]) == pytest.approx((0.9 * high, 0.9 * high + 0.1), abs=1e-5)
    denied = mw.compliance_bounds(DICE[0], {"lies": mw.Behaviour("no", of="yes")}, most=0.1, points=2, among="all")
    assert denied.lower[1, 0] == pytest.approx(0.9 * high + 0.1, abs=1e-5)
    assert denied.upper[1, 0] == pytest.approx(0.9 * high + 0.1, abs=1e-5)


def test_shares_that_the_reports_speak_against_are_marked() -> None:
    bounds = mw.compliance_bounds(DICE, NO, most=0.4, points=5)
    assert bounds.plausible.tolist() == [False, True, False, False, False]
    assert "not plausible" in bounds.summary()
    with pytest.raises(mw.EstimationError, match="needs behaviours"):
        mw.compliance_bounds(DICE, {})
    for most in (0, 1, float("nan"), "much"):
        with pytest.raises(mw.EstimationError, match="most must"):
            mw.compliance_bounds(DICE, NO, most=most)
    for points in (1, 2.5):
        with pytest.raises(mw.EstimationError, match="points must be a whole number"):
            mw.compliance_bounds(DICE, NO, points=points)  # type: ignore[arg-type]
    with pytest.raises(mw.EstimationError, match="equally weighted"):
        mw.compliance_bounds(mw.Reports.of(RARE, ["yes", "no"]).tally([1.0, 2.0]), NO)
    with pytest.raises(mw.EstimationError, match="followers"):
        mw.compliance_bounds(DICE, NO, among="none")  # type: ignore[arg-type]


# Plans.


def test_a_plan_states_the_errors_of_the_estimate() -> None:
    found = mw.compliance(DICE, NO)
    plan = compliance_groups(
        [RARE, OFTEN],
        NO,
        proportions=found.proportions.tolist(),
        shares={"always no": float(found.shares[0])},
        n=2000,
    )
    assert plan.sizes == (1000, 1000)
    assert plan.standard_errors == pytest.approx(found.standard_errors, rel=1e-4)
    assert plan.proportion_errors == pytest.approx(found.proportion_errors, rel=1e-4)
    assert plan.power == pytest.approx(1.0, abs=1e-6)


def test_the_least_number_of_people_is_found() -> None:
    given: dict[str, Any] = {"proportions": {"yes": 0.2, "no": 0.8}, "shares": {"always no": "1/10"}}
    plan = compliance_groups([RARE, OFTEN], NO, **given, power=0.9)
    assert plan.power is not None
    assert plan.power >= 0.9 > (plan.at(plan.n - 1).power or 0)
    exact = compliance_groups([RARE, OFTEN], NO, **given, standard_error=0.01)
    assert exact.total_error <= 0.01 < exact.at(exact.n - 1).total_error
    best = compliance_groups([RARE, OFTEN], NO, **given, n=1000, split="best")
    assert best.total_error < compliance_groups([RARE, OFTEN], NO, **given, n=1000).total_error
    for split in ([1, 2], np.array([1, 2])):
        assert compliance_groups([RARE, OFTEN], NO, **given, n=900, split=split).sizes == (300, 600)


def test_a_complex_sample_counts_as_so_many_fewer_people() -> None:
    given: dict[str, Any] = {"proportions": {"yes": 0.2, "no": 0.8}, "shares": {"always no": "1/10"}}
    half, plan = (
        compliance_groups([RARE, OFTEN], NO, **given, n=n, design_effect=effect) for n, effect in ((300, 1), (600, 2))
    )
    assert plan.power == pytest.approx(half.power)
    assert plan.standard_errors == pytest.approx(half.standard_errors)
    assert plan.proportion_errors == pytest.approx(half.proportion_errors)
    assert plan.total_error == pytest.approx(half.total_error)
    assert (plan.sizes, plan.to_dict()["design_effect"]) == ((300, 300), 2)
    assert "design effect" in plan.summary()
    assert "design effect" not in half.summary()


@pytest.mark.parametrize(
    ("changed", "about"),
    [
        ({"n": 5, "power": 0.8}, "one of n="),
        ({"n": 500, "shares": {}}, "share for each"),
        ({"n": 500, "shares": {"always no": 1}}, "leave some people"),
        ({"n": 500, "proportions": [0.5, 0.6]}, "sum to 1"),
        ({"n": 500, "proportions": {"maybe": 1}}, "not a category"),
        ({"n": 500, "split": "half"}, "split must be"),
        ({"n": 500, "split": [1, 0]}, "above 0"),
        ({"n": 500, "split": 2}, "2 parts; got int"),
        ({"n": 500, "designs": [RARE, RARE]}, "do not tell how common"),
        ({"power": 0.8, "shares": {"always no": 0}}, "cannot be planned"),
    ],
)
def test_plans_that_cannot_be_made_say_why(changed: dict[str, Any], about: str) -> None:
    given: dict[str, Any] = {
        "designs": [RARE, OFTEN],
        "behaviours": NO,
        "proportions": [0.2, 0.8],
        "shares": {"always no": 0.1},
    }
    with pytest.raises(mw.DesignError, match=about):
        compliance_groups(**{**given, **changed})
    for level in (1, float("nan")):
        with pytest.raises(mw.EstimationError, match="level must lie between"):
            compliance_groups(**given, n=500, level=level)


def test_figures_that_are_asked_for_are_numbers() -> None:
    found = mw.compliance(DICE, NO)
    for score in (float("nan"), "much"):
        with pytest.raises(mw.EstimationError, match="scores must be 3 finite numbers"):
            found.contrast({"yes": score})
    with pytest.raises(mw.EstimationError, match="'maybe', which is not a class: 'yes', 'no', 'always no'"):
        found.contrast({"maybe": 1})
    for draws in (-1, 1.5):
        with pytest.raises(mw.EstimationError, match="draws must be a whole number"):
            found.test(draws=draws)


def test_summaries_say_where_the_reports_came_from() -> None:
    reports = [mw.Reports.of(d, np.repeat(["yes", "no"], [y, 100 - y])) for d, y in ((RARE, 32), (OFTEN, 78))]
    assert "external" in mw.compliance(reports, NO).summary()
