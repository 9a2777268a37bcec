"""Samples in every estimator and test: likelihoods, quotients, groups, items; by replication, or beside the known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

import maskwell as mw
from maskwell.reports import Reports
from tests.oracles.people import people
from tests.test_sample import survey

LEVELS = ["never", "once", "often"]


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    return people()


@pytest.fixture(scope="module")
def sample(data: pd.DataFrame) -> mw.Sample:
    return mw.Sample(data, weights="weight", strata="stratum", clusters="cluster")


@pytest.mark.parametrize("method", ["likelihood", "one-step"])
@pytest.mark.parametrize("how", ["linearised", "corrected", "jkn", "calibrated"])
def test_a_likelihood_of_open_answers_is_the_weighted_mean(
    data: pd.DataFrame, sample: mw.Sample, method: Any, how: str
) -> None:
    """With a direct question both are the same number, so their variances must be."""
    reports = mw.designs.direct(LEVELS).mask(data["answer"])
    drawn = {
        "linearised": lambda: sample,
        "corrected": lambda: mw.Sample(data, weights="weight", strata="stratum", clusters="cluster", fpc="clusters"),
        "jkn": lambda: sample.with_replicates("jkn"),
        "calibrated": lambda: sample.calibrate({"sex": {"f": 1300, "m": 1200}}),
    }[how]()
    one, other = mw.estimate(reports, method, sample=drawn), mw.estimate(reports, sample=drawn)
    np.testing.assert_allclose(one.proportions, other.proportions, atol=1e-8)
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-5, atol=1e-12)
    women = mw.estimate_by(reports, data["sex"], method=method, sample=drawn)["f"]
    np.testing.assert_allclose(
        women.standard_errors,
        mw.estimate_by(reports, data["sex"], sample=drawn)["f"].standard_errors,
        rtol=1e-5,
    )
    totals = [mw.estimate_totals(reports, each, sample=drawn) for each in (method, "linear")]
    np.testing.assert_allclose(totals[0].standard_errors, totals[1].standard_errors, rtol=1e-5)


def test_without_strata_and_clusters_the_sandwich_is_that_of_weights() -> None:
    design = mw.designs.rappor(4, epsilon=2)
    random = np.random.default_rng(1)
    reports = design.mask(random.integers(0, 4, 800), seed=1)
    weights = random.uniform(1, 3, 800)
    one = mw.estimate(reports, "likelihood", sample=mw.Sample(weights=weights))
    other = mw.estimate(reports, "likelihood", weights=weights)
    np.testing.assert_allclose(one.proportions, other.proportions, atol=1e-6)
    np.testing.assert_allclose(one.variances, other.variances * 800 / 799, rtol=1e-3)
    assert one.cov_type == "linearised over the sample"
    assert 0.5 < one.noise.privacy_share < 1
    linear = mw.estimate(reports, weights=weights)
    assert (one.variances.sum() < linear.variances.sum()).all()


def test_a_likelihood_from_a_sample_shows_itself(data: pd.DataFrame, sample: mw.Sample) -> None:
    both = mw.designs.product(mw.designs.minimax(LEVELS, epsilon=3), mw.designs.direct(["f", "m"]), names=["x", "sex"])
    reports = both.mask(data[["answer", "sex"]].to_numpy(), seed=5)
    found: Any = mw.estimate(reports, "likelihood", sample=sample)
    assert "design effect" in found.summary()
    assert "linearised over the sample" in found.summary()
    assert found.table.shape == (3, 2)
    part = found.marginal("x")
    assert part.degrees_of_freedom == 18
    assert part.contrast({"once": 1}).degrees_of_freedom == 18
    assert found.conditional({"x": "never"}, {"sex": "f"}).degrees_of_freedom == 18
    low, high = found.conditional_interval({"x": "never"}, {"sex": "f"})
    assert 0 <= low < found.conditional({"x": "never"}, {"sex": "f"}).value < high <= 1
    assert 0 <= found.association().value <= 1
    assert part.top(2).n == 120
    with pytest.raises(mw.EstimationError, match="in a sample use wald"):
        part.interval(method="profile")
    replicated = mw.estimate(reports, "likelihood", sample=sample.with_replicates("jkn"))
    assert "24 jkn refits" in replicated.summary()
    # To first order in one cluster of 24 both are the same; they differ by the next order, some thousandths.
    np.testing.assert_allclose(replicated.standard_errors, found.standard_errors, rtol=0.02)


def test_weights_alone_are_those_of_a_tally() -> None:
    reports = mw.designs.minimax(LEVELS, epsilon=1).mask(["never", "once", "once", "often"] * 50, seed=1)
    weights = np.arange(200) % 3 + 1
    one, other = mw.estimate(reports, weights=weights), mw.estimate(reports.tally(weights=weights))
    assert one == other
    with pytest.raises(mw.DataError, match=r"reports\.tally\(weights"):
        mw.estimate(reports.tally(), weights=weights)
    with pytest.raises(mw.DataError, match="give them to mw"):
        mw.estimate(reports, weights=weights, sample=mw.Sample(weights=weights))


def found_over_surveys(run: Any, surveys: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Mean stated variance, and the variance that was found."""
    values, stated = [], []
    for seed in range(surveys):
        data, answers = survey(seed, 4, 8, 6)
        value, variance = run(data, answers, seed)
        values.append(value)
        stated.append(variance)
    return np.mean(stated, axis=0), np.var(values, axis=0, ddof=1)


def test_masked_clusters_state_the_variance_of_a_likelihood() -> None:
    """300 surveys: stated over found variance has a standard error of about 9 %; four of them."""
    design = mw.designs.rappor(LEVELS, epsilon=3)

    def run(data: pd.DataFrame, answers: Any, seed: int) -> tuple[Any, Any]:
        drawn = mw.Sample(data, weights="weight", strata="stratum", clusters="cluster")
        found = mw.estimate(design.mask(answers, seed=seed), "likelihood", sample=drawn)
        return found.proportions, found.variances

    stated, seen = found_over_surveys(run)
    assert (np.abs(stated / seen - 1) < 0.36).all(), stated / seen


def test_groups_of_one_sample_are_compared_with_their_covariance() -> None:
    """People of both groups share clusters: without their covariance the stated variance would be far too large."""
    design = mw.designs.minimax(LEVELS, epsilon=4)

    def run(data: pd.DataFrame, answers: Any, seed: int) -> tuple[Any, Any]:
        drawn = mw.Sample(data, weights="weight", strata="stratum", clusters="cluster")
        groups = np.array(["f", "m"])[np.arange(len(answers)) % 2]
        found = mw.compare_groups(design.mask(answers, seed=seed), groups, {"once": 1}, sample=drawn)
        return found.value, found.standard_error**2

    stated, seen = found_over_surveys(run)
    assert abs(float(stated) / float(seen) - 1) < 0.36


@pytest.mark.parametrize("how", ["linearised", "population", "replicates"])
def test_sums_that_a_design_tells_alone_are_those_of_the_design_for_them(how: str) -> None:
    """A design that cannot tell b from c, beside the one with both as one category; and one that tells all."""
    rng = np.random.default_rng(5)
    weights, cluster = 1 + rng.random(360), np.arange(360) // 12
    fpc = {"fpc": np.full(360, 15)} if how == "population" else {}
    sample = mw.Sample(weights=weights, strata=cluster // 10, clusters=cluster, **fpc)
    if how == "replicates":
        sample = sample.with_replicates("jkn")
    three = mw.designs.from_matrix([["3/4", "1/4", "1/4"], ["1/4", "3/4", "3/4"]], ["a", "b", "c"], reports=["a", "o"])
    two = mw.designs.warner(["a", "o"], truth_prob="3/4")
    said = rng.choice(["a", "o"], 360, p=[0.4, 0.6]).astype(object)
    said[7] = None
    found, same = (
        mw.estimate_contrast(mw.Reports.of(design, said, missing="keep"), {"a": 1}, sample=sample)
        for design in (three, two)
    )
    assert found.value == pytest.approx(same.value, rel=1e-12)
    assert found.standard_error == pytest.approx(same.standard_error, rel=1e-9)
    assert found.degrees_of_freedom == same.degrees_of_freedom == sample.degrees_of_freedom
    with pytest.raises(mw.EstimationError, match="never tells apart"):
        mw.estimate_contrast(mw.Reports.of(three, said, missing="keep"), {"b": 1}, sample=sample)


def test_a_census_has_only_the_noise_of_masking() -> None:
    """Everybody was asked, and everything that is estimated varies by the masks alone: 300 maskings."""
    item = mw.designs.warner(truth_prob=0.85)
    design = mw.designs.product(item, item, names=["a", "b"])
    answers = np.array([["yes", "yes"]] * 150 + [["yes", "no"]] * 100 + [["no", "no"]] * 250)
    groups = np.tile(["f", "m"], 250)
    drawn = mw.Sample(fpc=np.full(500, 500))

    def measure(reports: mw.Reports) -> list[tuple[float, float]]:
        pair = mw.correlations(reports, sample=drawn).of("a", "b")
        sums = mw.sum_score(reports, sample=drawn)
        joint: Any = mw.estimate(reports, sample=drawn)
        alone = joint.part_of("a")
        beside = mw.compare_groups(alone, groups, {"yes": 1}, sample=drawn)
        fitted = mw.estimate(alone, "likelihood", sample=drawn)
        shares = [(float(fitted.proportions[0]), float(fitted.variances[0]))]
        return [
            (pair.value, pair.standard_error**2),
            (sums.variance.value, sums.variance.standard_error**2),
            (float(sums.proportions[1]), float(sums.covariance[1, 1])),
            (beside.value, beside.standard_error**2),
            *shares,
        ]

    found = np.array([measure(design.mask(answers, seed=seed)) for seed in range(300)])
    ratio = found[:, :, 1].mean(axis=0) / found[:, :, 0].var(axis=0, ddof=1)
    assert (np.abs(ratio - 1) < 0.36).all(), ratio


def test_a_variance_that_comes_out_below_zero_has_no_root() -> None:
    """A census has only the noise of masking, whose unbiased variance is negative in some small files: said as 0."""
    item = mw.designs.warner(truth_prob=0.9)
    both = mw.designs.product(item, item, names=["theft", "fraud"])
    refused = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(6, 20))
        reports = both.mask(np.array(["yes", "no"], object)[rng.integers(0, 2, (n, 2))], seed=seed)
        try:
            found = mw.correlations(reports, sample=mw.Sample(fpc=np.full(n, n))).of("theft", "fraud")
        except mw.EstimationError:
            refused += 1
        else:
            assert found.standard_error >= 0
    assert 0 < refused < 100


def test_items_are_those_of_open_answers() -> None:
    """Nothing masked: correlations, sums and their moments are the usual ones."""
    random = np.random.default_rng(4)
    table = random.integers(0, 3, (400, 3))
    table[:, 1] = np.where(random.random(400) < 0.5, table[:, 0], table[:, 1])
    design = mw.designs.product(*[mw.designs.direct(3)] * 3, names=["a", "b", "c"])
    reports = design.mask(table)
    found = mw.correlations(reports)
    np.testing.assert_allclose(found.matrix, np.corrcoef(table.T), atol=1e-12)
    np.testing.assert_allclose(found.standard_deviations, table.std(axis=0, ddof=1))
    sums = mw.sum_score(reports)
    total = table.sum(axis=1)
    np.testing.assert_allclose(sums.proportions, np.bincount(total, minlength=7) / 400, atol=1e-12)
    assert sums.mean.value == pytest.approx(total.mean())
    assert sums.mean.standard_error == pytest.approx(total.std(ddof=1) / 20)
    assert sums.variance.value == pytest.approx(total.var(ddof=1))
    alpha = 1.5 * (1 - table.var(axis=0, ddof=1).sum() / total.var(ddof=1))
    assert sums.reliability.value == pytest.approx(alpha)
    assert sums.at_least(5).value == pytest.approx((total >= 5).mean())
    assert found.of("b", "a").interval()[0] < found.of("a", "b").value < found.of("a", "b").interval()[1]
    assert list(sums.to_frame().columns) == ["sum", "estimate", "standard_error", "lower", "upper"]
    assert "correlation" in found.summary()
    assert found.to_dict()["items"] == ["a", "b", "c"]
    apart = {name: design.part(name).mask(table[:, at]) for at, name in enumerate(["a", "b", "c"])}
    np.testing.assert_allclose(mw.correlations(apart).matrix, found.matrix)


def test_masked_items_are_estimated_without_bias() -> None:
    """400 maskings of 400 people: covariance-like figures within four standard errors of what the file has."""
    random = np.random.default_rng(8)
    first = random.random(400) < 0.4
    second = np.where(random.random(400) < 0.6, first, random.random(400) < 0.3)
    third = random.random(400) < 0.5
    table = np.where(np.stack([first, second, third], axis=1), "yes", "no")
    design = mw.designs.product(*[mw.designs.warner(truth_prob=0.85)] * 3, names=["a", "b", "c"])
    total = (table == "yes").sum(axis=1)
    found = [mw.sum_score(design.mask(table, seed=seed)) for seed in range(400)]
    variances = np.array([each.variance.value for each in found])
    shares = np.array([each.proportions for each in found])
    # Masking draws anew what sampling does not: the population is the file, whose variance is that with n.
    off = variances.mean() - total.var(ddof=1)
    assert abs(off) < 4 * variances.std() / 20
    off = shares.mean(axis=0) - np.bincount(total, minlength=4) / 400
    assert (np.abs(off) < 4 * shares.std(axis=0) / 20).all()


def test_what_items_need() -> None:
    design = mw.designs.product(mw.designs.direct(LEVELS), mw.designs.direct(2), names=["a", "b"])
    reports = design.mask([["never", 0], ["once", 1], ["often", 1], ["never", 1]] * 5)
    with pytest.raises(mw.EstimationError, match="not numbers; give the number of each"):
        mw.correlations(reports)
    scores = {"a": {"never": 0, "once": 1, "often": 2}}
    assert mw.correlations(reports, scores).matrix.shape == (2, 2)
    with pytest.raises(mw.EstimationError, match="they name 'z'"):
        mw.sum_score(reports, {"z": {}})
    with pytest.raises(mw.EstimationError, match="tally"):
        mw.correlations(reports.tally(), scores)
    with pytest.raises(mw.EstimationError, match="nothing varies"):
        mw.correlations(reports, {"a": [1, 1, 1]})


def test_a_fit_in_a_sample_is_near_that_of_as_many_reports() -> None:
    design = mw.designs.rappor(4, epsilon=2)
    reports = design.mask(np.random.default_rng(2).integers(0, 4, 2000), seed=3)
    plain, drawn = mw.goodness_of_fit(reports), mw.goodness_of_fit(reports, sample=mw.Sample(weights=np.ones(2000)))
    assert drawn.statistic == pytest.approx(plain.statistic, rel=1e-6)
    assert drawn.p_value == pytest.approx(plain.p_value, abs=0.05)
    large = mw.designs.rappor(40, epsilon=2)
    answers = large.mask(np.arange(3000) % 40, seed=3)
    sizes = mw.goodness_of_fit(answers, sample=mw.Sample(weights=np.ones(3000)))
    assert "set sizes" in sizes.method
    assert sizes.p_value == pytest.approx(mw.goodness_of_fit(answers).p_value, abs=0.06)
    with pytest.raises(mw.EstimationError, match="nothing to test"):
        mw.goodness_of_fit(mw.designs.direct(3).mask([0, 1, 2] * 20), sample=mw.Sample(weights=np.ones(60)))


def test_respondents_who_do_not_follow_the_design_are_found_in_a_sample() -> None:
    design = mw.designs.rappor(4, epsilon=2)
    honest = design.mask(np.random.default_rng(2).integers(0, 4, 1500), seed=3)
    liars = mw.Reports(design, np.repeat(honest.packed[:1], 300, axis=0), None, "seeded")
    both = mw.Reports.concatenate([honest, liars])
    sample = mw.Sample(clusters=np.arange(1800) // 10)
    assert mw.goodness_of_fit(both, sample=sample).p_value < 1e-6


def test_one_side_is_one_end_of_two() -> None:
    found = mw.estimate(mw.designs.minimax(LEVELS, epsilon=2).mask(["never", "once", "often"] * 300, seed=1))
    np.testing.assert_allclose(found.bound(0.95, "upper"), found.interval(0.9)[:, 1])
    np.testing.assert_allclose(found.bound(0.95, "lower", "wald"), found.interval(0.9, "wald")[:, 0])
    contrast = found.contrast({"once": 1, "often": -1})
    assert contrast.interval(0.95, "less") == (-np.inf, contrast.interval(0.9)[1])
    tests = [contrast.test(0.05, each).p_value for each in ("less", "greater", "two-sided")]
    assert tests[0] + tests[1] == pytest.approx(1)
    assert tests[2] == pytest.approx(2 * min(tests[:2]))
    for method in ("exact", "score", "wald"):
        low = found.test("once", 0.4, "less", method)  # type: ignore[arg-type]
        assert 0 < low.p_value < 0.5
    # The score test rejects at 5 % exactly what Wilson's interval leaves out.
    end = float(found.interval(method="wilson")[1, 1])
    assert found.test("once", end, method="score").p_value == pytest.approx(0.05, abs=1e-9)
    with pytest.raises(mw.EstimationError, match="alternative must be one of"):
        contrast.test(0, "upper")  # type: ignore[arg-type]
    with pytest.raises(mw.EstimationError, match="possible: wald"):
        mw.estimate(found.tally, "likelihood").test("once", 0.3, method="score")
    with pytest.raises(mw.EstimationError, match="level above"):
        contrast.interval(0.4, "less")
    with pytest.raises(mw.EstimationError, match="side must be"):
        found.bound(side="left")  # type: ignore[arg-type]


def test_a_ratio_knows_its_limits(data: pd.DataFrame, sample: mw.Sample) -> None:
    reports = mw.designs.direct(LEVELS).mask(data["answer"])
    found = mw.ratio(reports, {"often": 1}, {"never": 1}, sample=sample)
    low, high = found.interval()
    assert low < found.value < high
    # At Fieller's limits the numerator less so many denominators is just as far from 0 as the level allows.
    quantile = student.ppf(0.975, sample.degrees_of_freedom)
    for limit in (low, high):
        off = mw.estimate(reports, sample=sample).contrast({"often": 1, "never": -limit})
        assert abs(off.value) == pytest.approx(quantile * off.standard_error)
    risk = mw.compare_groups(reports, data["sex"], {"never": 1}, measure="ratio", sample=sample)
    women, men = (mw.estimate_by(reports, data["sex"], sample=sample)[sex].proportions[0] for sex in "fm")
    assert risk.value == pytest.approx(women / men)
    with pytest.raises(mw.EstimationError, match="between="):
        mw.compare_groups(reports, data["stratum"], {"never": 1}, sample=sample)
    some = mw.compare_groups(reports, data["stratum"], {"never": 1}, between=(1, 3), sample=sample)
    assert "difference of 1 and 3" in some.summary()
    with pytest.raises(mw.EstimationError, match="there is no group"):
        mw.compare_groups(reports, data["stratum"], {"never": 1}, between=(1, 99), sample=sample)


def test_an_estimate_says_which_tests_of_a_share_it_has() -> None:
    reports = mw.designs.warner(truth_prob=0.8).mask(["yes"] * 60 + ["no"] * 140, seed=1)
    linear, weighted = mw.estimate(reports), mw.estimate(reports, weights=np.linspace(1, 2, 200))
    likelihood = mw.estimate(reports, "likelihood")
    assert linear.possible_tests == ("exact", "score", "wald")
    assert weighted.possible_tests == ("score", "wald")
    assert likelihood.possible_tests == ("wald",)
    assert (likelihood.variance_model, likelihood.binomial_model, weighted.binomial_model) == (None, None, None)
    with pytest.raises(mw.EstimationError, match="score does not hold for this estimate; possible: wald"):
        likelihood.test("yes", 0.2, method="score")
    # Wilson's limits are where the score test has a p-value of one minus the level.
    low, high = linear.interval(method="wilson")[0]
    assert linear.test("yes", low, method="score").p_value == pytest.approx(0.05)
    assert linear.test("yes", high, method="score").p_value == pytest.approx(0.05)


@pytest.fixture(scope="module")
def with_an_empty_replicate() -> tuple[mw.Reports, list[str], mw.Sample]:
    """Six answers, of which the first cluster has all women: without it there are none."""
    design = mw.designs.product(mw.designs.direct(LEVELS), mw.designs.direct(["yes", "no"]), names=["level", "used"])
    truths = [("never", "yes"), ("once", "no"), ("often", "no"), ("never", "yes"), ("once", "yes"), ("never", "no")]
    sample = mw.Sample(clusters=[1, 1, 2, 2, 3, 3]).with_replicates("jk1")
    return design.mask(truths), ["f", "f", "m", "m", "m", "m"], sample


Case = tuple[mw.Reports, list[str], mw.Sample]
WOMEN = np.array([True, True, False, False, False, False])


def _level(case: Case) -> mw.Reports:
    reports = case[0]
    return Reports(reports.design.part("level"), reports.design.codec.split(reports.packed)[0])


OF_NOBODY: dict[str, Callable[[Case], Any]] = {
    "mean": lambda c: mw.estimate_by(_level(c), c[1], sample=c[2])["f"].covariance,
    "variances alone": lambda c: mw.estimate_by(_level(c), c[1], sample=c[2])["f"].standard_errors,
    "limits": lambda c: mw.estimate_by(_level(c), c[1], sample=c[2])["f"].interval(),
    "contrast": lambda c: mw.estimate_by(_level(c), c[1], sample=c[2])["f"].contrast({"never": 1, "once": -1}),
    "moments": lambda c: mw.estimate_by(_level(c), c[1], method="moments", sample=c[2])["f"].covariance,
    "likelihood": lambda c: mw.estimate_by(_level(c), c[1], method="likelihood", sample=c[2])["f"].covariance,
    "one step": lambda c: mw.estimate_by(_level(c), c[1], method="one-step", sample=c[2])["f"].covariance,
    "joint": lambda c: mw.estimate_by(c[0], c[1], sample=c[2])["f"].covariance,
    "joint likelihood": lambda c: mw.estimate_by(c[0], c[1], method="likelihood", sample=c[2])["f"].contrast([1] * 6),
    "marginal": lambda c: mw.estimate_by(c[0], c[1], sample=c[2])["f"].marginal("used").covariance,
    "difference": lambda c: mw.compare_groups(_level(c), c[1], {"never": 1}, sample=c[2]),
    "ratio of groups": lambda c: mw.compare_groups(_level(c), c[1], {"never": 1}, measure="ratio", sample=c[2]),
    "homogeneity": lambda c: mw.homogeneity_test(_level(c), groups=c[1], sample=c[2]),
}


@pytest.mark.parametrize("what", OF_NOBODY)
def test_a_group_that_a_replicate_leaves_empty_is_named(with_an_empty_replicate: Case, what: str) -> None:
    with pytest.raises(mw.EstimationError, match="nobody is left of a group") as error:
        OF_NOBODY[what](with_an_empty_replicate)
    assert "\n" not in str(error.value)


def test_a_ratio_to_nobody_is_refused(with_an_empty_replicate: Case) -> None:
    """With people who can all be left out by one replicate a denominator is as uncertain as it is large."""
    _, _, sample = with_an_empty_replicate
    with pytest.raises(mw.EstimationError, match="too near 0 to divide by"):
        mw.ratio(_level(with_an_empty_replicate), {"never": 1}, {"once": 1}, sample=sample, domain=WOMEN)


@pytest.mark.parametrize("method", ["linear", "likelihood"])
def test_totals_of_nobody_are_none_at_all(with_an_empty_replicate: Case, method: Any) -> None:
    """A total needs no size to divide by: with the weights of a replicate that has no women there are 0 of them."""
    _, _, sample = with_an_empty_replicate
    answered = replace(_level(with_an_empty_replicate), missing=~WOMEN)
    found = mw.estimate_totals(answered, method, sample=sample)
    weights = np.array([[0, 1.5, 1.5]] * 2).T  # of the women, by replicate and category they answered
    rows = np.sqrt(2 / 3) * (np.column_stack([weights, np.zeros(3)]) - np.array([1, 1, 0]))
    np.testing.assert_allclose(found.covariance, rows.T @ rows, atol=1e-9)
    assert found.values.round(9).tolist() == [1, 1, 0]


def test_what_weights_cost_is_told_apart_from_what_clusters_cost() -> None:
    design = mw.designs.minimax(["a", "b", "c"], epsilon=2)
    reports = design.mask(["a"] * 300 + ["b"] * 200 + ["c"] * 100, seed=1)
    clustered = mw.Sample(weights=np.repeat([1.0, 3.0], 300), clusters=np.arange(600) // 20)
    found = mw.estimate(reports, sample=clustered)
    assert found.tally.effective_n == pytest.approx(1200**2 / (300 * (1 + 9))) == clustered.effective_n()
    assert "as precise as 480 equal ones" in clustered.summary()
    assert "480" not in found.summary()  # where the design effect says what weights and clusters cost together
    assert "weighted: as precise as 480 unweighted ones" in mw.estimate(reports, weights=clustered.weights).summary()
    assert f"as precise as {found.effective_n:,.0f} reports" in found.summary()
    assert found.effective_n < 300


def test_tests_and_limits_agree_where_the_population_is_one_cluster() -> None:
    """No degrees of freedom; the masks vary all the same, and count as one."""
    design = mw.designs.warner(truth_prob=0.9)
    reports = design.mask(["yes", "no"] * 200, seed=1)
    whole = mw.Sample(weights=np.ones(400), clusters=np.zeros(400, int), fpc=np.ones(400))
    groups = np.arange(400) // 200
    test = mw.homogeneity_test(reports, groups, sample=whole)
    assert whole.degrees_of_freedom == 0
    assert test.p_value == pytest.approx(mw.compare_groups(reports, groups, {"yes": 1}, sample=whole).test().p_value)
    assert 0.05 < test.p_value < 1


def test_clusters_that_are_all_alike_leave_no_chance_to_compare_with() -> None:
    """Their totals differ by rounding alone, which is no variance to compare a difference with."""
    pair = mw.designs.product(*[mw.designs.warner(truth_prob=0.9)] * 2, names=["a", "b"])
    rows = [["yes", "yes"], ["yes", "no"], ["no", "no"], ["no", "no"]]
    reports = mw.Reports.of(pair, {name: [row[at] for row in rows] * 30 for at, name in enumerate("ab")})
    alike = mw.Sample(weights=np.full(120, 1.1), clusters=np.arange(120) // 4)
    with pytest.raises(mw.EstimationError, match="shows no variance of what is tested"):
        mw.independence_test(reports, sample=alike)


def test_a_tally_of_an_estimate_from_a_sample_is_refused_by_what_would_forget_the_sample(
    data: pd.DataFrame, sample: mw.Sample
) -> None:
    """By itself such a tally would be taken as that of independent people."""
    reports = mw.designs.minimax(LEVELS, epsilon=2).mask(data["answer"], seed=1)
    for method in ("linear", "likelihood"):
        found = mw.estimate_by(reports, data["region"], sample=sample, method=method)
        tallies = [estimate.tally for estimate in found.values()]
        with pytest.raises(mw.EstimationError, match=r"strata.*homogeneity_test\(reports, groups, sample=sample\)"):
            mw.homogeneity_test(tallies)
        for forgetful in (mw.estimate, mw.estimate_totals):
            with pytest.raises(mw.EstimationError, match="belongs to an estimate from a sample"):
                forgetful(tallies[0])
        with pytest.raises(mw.EstimationError, match="give compliance the reports"):
            mw.compliance(tallies, {})
        with pytest.raises(mw.EstimationError, match="belongs to an estimate from a sample"):
            mw.Tally.merge(tallies).to_json()
    weighted = mw.estimate_by(reports, data["region"], weights=data["weight"])
    assert 0 <= mw.homogeneity_test([estimate.tally for estimate in weighted.values()]).p_value <= 1


def test_groups_of_one_batch_are_those_of_a_list() -> None:
    reports = mw.designs.minimax(LEVELS, epsilon=2).mask(LEVELS * 100, seed=1)
    groups = ["a", "b", None] * 50 + ["c", "a", "b"] * 50
    codes = np.array([label or "" for label in groups])
    parts = {label: reports.part(codes == label) for label in "abc"}
    with pytest.raises(mw.DataError, match=r"missing in 50 of 300 rows.*missing=.outside."):
        mw.homogeneity_test(reports, groups)
    whole = mw.homogeneity_test(reports, groups, missing="outside")
    assert whole.p_value == mw.homogeneity_test(list(parts.values())).p_value
    assert mw.homogeneity_test(reports, groups, missing="keep").df == pytest.approx(6, rel=0.01)
    two = mw.homogeneity_test(reports, groups, between=["c", "a"], missing="outside")
    assert two.p_value == mw.homogeneity_test([parts["c"], parts["a"]]).p_value
    for between, why in ((["a", "x"], "no group 'x'"), (["a"], "two or more"), ("ab", "two or more")):
        with pytest.raises(mw.EstimationError, match=why):
            mw.homogeneity_test(reports, groups, between=between, missing="outside")
    with pytest.raises(mw.EstimationError, match="groups= with the group of each"):
        mw.homogeneity_test(list(parts.values()), between=["a", "b"])


def test_groups_outside_leave_the_sample_whole(data: pd.DataFrame, sample: mw.Sample) -> None:
    """A part of a sample is a domain: who is outside still says which clusters were drawn."""
    reports = mw.designs.direct(LEVELS).mask(data["answer"])
    part = [
        None if cluster == data["cluster"][0] else label
        for label, cluster in zip(data["region"], data["cluster"], strict=True)
    ]
    outside = mw.homogeneity_test(reports, part, sample=sample, missing="outside", method="wald")
    both = mw.estimate_by(reports, part, sample=sample, missing="outside")
    assert list(both) == ["north", "south"]
    assert both["north"].degrees_of_freedom == sample.degrees_of_freedom
    three = mw.homogeneity_test(reports, part, sample=sample, missing="keep", between=["north", "south"], method="wald")
    assert outside.p_value == three.p_value
    apart = mw.compare_groups(reports, part, {"once": 1}, sample=sample, missing="outside")
    kept = mw.compare_groups(reports, part, {"once": 1}, sample=sample, missing="keep", between=("north", "south"))
    assert apart == kept


def test_cluster_labels_that_strata_share_are_told() -> None:
    strata, clusters = ["a"] * 4 + ["b"] * 4, [1, 1, 2, 2, 1, 2, 2, 3]
    sample = mw.Sample(strata=strata, clusters=clusters)
    assert sample.described.endswith(
        "1 to 2 records in a cluster; 2 cluster labels stand in several strata, for another cluster in each"
    )
    apart = mw.Sample(strata=strata, clusters=[11, 11, 12, 12, 21, 22, 22, 23])
    assert "several strata" not in apart.described
    assert apart.records_per_cluster == sample.records_per_cluster == (1, 2)
    assert "records in" not in mw.Sample(strata=strata).described
