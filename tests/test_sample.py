"""Complex samples: beside R's survey where nothing is masked, and by simulation where something is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import maskwell as mw
from tests.oracles.people import people

FROZEN = json.loads((Path(__file__).parent / "oracles" / "survey.json").read_text())
LEVELS = ["never", "once", "often"]
SAMPLES: dict[str, dict[str, Any]] = {
    "plain": {},
    "strata": {"strata": "stratum"},
    "clusters": {"strata": "stratum", "clusters": "cluster"},
    "corrected": {"strata": "stratum", "clusters": "cluster", "fpc": "clusters"},
    "two": {"strata": "stratum", "clusters": ["cluster", "person"], "fpc": ["clusters", "people"]},
}


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    return people()


def direct(data: pd.DataFrame) -> mw.Reports:
    return mw.designs.direct(LEVELS).mask(data["answer"])


def agrees(name: str, values: Any, errors: Any) -> None:
    frozen = FROZEN[name]
    assert np.allclose(values, frozen["value"], rtol=1e-8)
    assert np.allclose(errors, frozen["error"], rtol=1e-8)


@pytest.mark.parametrize("name", SAMPLES)
def test_open_answers_have_the_means_totals_ratios_and_domains_of_r(data: pd.DataFrame, name: str) -> None:
    sample, reports = mw.Sample(data, weights="weight", **SAMPLES[name]), direct(data)
    mean = mw.estimate(reports, sample=sample)
    agrees(f"{name} mean", mean.proportions, mean.standard_errors)
    totals = mw.estimate_totals(reports, sample=sample)
    agrees(f"{name} total", totals.values, totals.standard_errors)
    quotient = mw.ratio(reports, {"often": 1}, {"never": 1}, sample=sample)
    agrees(f"{name} ratio", [quotient.value], [quotient.standard_error])
    women = mw.estimate_by(reports, data["sex"], sample=sample)["f"]
    agrees(f"{name} domain", women.proportions, women.standard_errors)
    assert sample.degrees_of_freedom == FROZEN[f"{name} df"]["value"][0]


def test_replicates_are_those_of_r(data: pd.DataFrame) -> None:
    reports = direct(data)
    clusters = mw.Sample(data, weights="weight", strata="stratum", clusters="cluster")
    jackknife = mw.estimate(reports, sample=clusters.with_replicates("jkn"))
    agrees("jkn mean", jackknife.proportions, jackknife.standard_errors)
    plain = mw.estimate(reports, sample=mw.Sample(data, weights="weight").with_replicates("jk1"))
    agrees("jk1 mean", plain.proportions, plain.standard_errors)
    pairs = data[data["cluster"] <= 2].reset_index(drop=True)
    halves = mw.Sample(pairs, weights="weight", strata="stratum", clusters="cluster")
    for method, fay in (("brr", None), ("fay", 0.3)):
        balanced = mw.estimate_totals(direct(pairs), sample=halves.with_replicates(method, fay=fay))
        agrees(f"brr total {fay or 0}", balanced.values, balanced.standard_errors)


def test_replicate_weights_that_come_with_the_data_give_the_same(data: pd.DataFrame) -> None:
    reports = direct(data)
    made = mw.Sample(data, weights="weight", strata="stratum", clusters="cluster").with_replicates("jkn")
    assert made.replicates is not None
    given = mw.Sample(
        weights=data["weight"],
        replicate_weights=made.replicates.weights,
        replicate_method="jkn",
        replicate_scales=made.replicates.factors,
    )
    one, other = (mw.estimate(reports, sample=sample) for sample in (made, given))
    assert np.allclose(one.covariance, other.covariance)


def test_the_bootstrap_is_near_the_jackknife(data: pd.DataFrame) -> None:
    reports = direct(data)
    sample = mw.Sample(data, weights="weight", strata="stratum", clusters="cluster")
    drawn = mw.estimate(reports, sample=sample.with_replicates("bootstrap", replicates=2000, seed=4))
    # The standard deviation of a variance from 2,000 draws is 3 % of it, of an error 1.6 %: six of them.
    assert np.allclose(drawn.standard_errors, FROZEN["jkn mean"]["error"], rtol=0.12)


def test_calibrated_weights_and_errors_are_those_of_r(data: pd.DataFrame) -> None:
    reports = direct(data)
    sample = mw.Sample(data, weights="weight", strata="stratum", clusters="cluster")
    post = sample.calibrate({"sex": {"f": 1300, "m": 1200}})
    assert post.weights.sum() == pytest.approx(2500)
    for name, calibrated in (
        ("post", post),
        ("rake", sample.calibrate({"sex": {"f": 1300, "m": 1200}, "region": {"north": 1100, "south": 1400}})),
    ):
        mean, totals = mw.estimate(reports, sample=calibrated), mw.estimate_totals(reports, sample=calibrated)
        agrees(f"{name} mean", mean.proportions, mean.standard_errors)
        agrees(f"{name} total", totals.values, totals.standard_errors)
    repeated = mw.estimate(reports, sample=post.with_replicates("jkn"))
    assert np.allclose(repeated.standard_errors, FROZEN["post mean"]["error"], rtol=0.1)


@pytest.mark.parametrize("rule", ["certainty", "adjust", "average"])
def test_lonely_clusters_follow_the_stated_rule(data: pd.DataFrame, rule: Any) -> None:
    one = data[~((data["stratum"] == 2) & (data["cluster"] > 1))].reset_index(drop=True)
    reports = direct(one)
    with pytest.raises(mw.EstimationError, match="single cluster"):
        _ = mw.estimate(reports, sample=mw.Sample(one, strata="stratum", clusters="cluster")).covariance
    sample = mw.Sample(one, weights="weight", strata="stratum", clusters="cluster", lonely=rule)
    mean = mw.estimate(reports, sample=sample)
    agrees(f"lonely {rule}", mean.proportions, mean.standard_errors)


@pytest.mark.parametrize("rule", ["certainty", "adjust", "average"])
@pytest.mark.parametrize("method", ["jkn", "brr", "fay", "bootstrap"])
def test_replicates_follow_the_rule_for_lonely_clusters(data: pd.DataFrame, rule: Any, method: Any) -> None:
    """Of totals the jackknife and balanced halves are the linearised variance itself, whatever the rule."""
    one = data[(data["cluster"] <= 2) & ~((data["stratum"] == 2) & (data["cluster"] > 1))].reset_index(drop=True)
    reports = direct(one)
    refusing = mw.Sample(one, weights="weight", strata="stratum", clusters="cluster")
    with pytest.raises(mw.EstimationError, match=r"1 of \d+ strata have a single cluster.*'average' or 'certainty'"):
        refusing.with_replicates(method, fay=0.3)
    sample = mw.Sample(one, weights="weight", strata="stratum", clusters="cluster", lonely=rule)
    if rule == "adjust" and method != "jkn":
        with pytest.raises(mw.EstimationError, match="use jkn"):
            sample.with_replicates(method, fay=0.3)
        return
    repeated = mw.estimate_totals(reports, sample=sample.with_replicates(method, fay=0.3, replicates=2000, seed=1))
    # The standard deviation of a variance from 2,000 draws is 3 % of it, of an error 1.6 %: six of them.
    near = 0.1 if method == "bootstrap" else 1e-9
    linearised = mw.estimate_totals(reports, sample=sample)
    assert np.allclose(repeated.standard_errors, linearised.standard_errors, rtol=near)


def test_a_cluster_that_was_bound_to_be_drawn_adds_nothing_to_replicates() -> None:
    strata, clusters = [1, 1, 2, 2, 2, 2], [1, 1, 1, 1, 2, 2]
    reports = mw.designs.direct(2).mask([0, 1, 1, 0, 1, 1])
    census = mw.Sample(weights=np.full(6, 2.0), strata=strata, clusters=clusters, fpc=[1, 1, 9, 9, 9, 9])
    rest = mw.Sample(weights=np.full(6, 2.0), strata=strata, clusters=clusters, lonely="certainty")
    errors = [
        mw.estimate_totals(reports, sample=each.with_replicates("jkn")).standard_errors for each in (census, rest)
    ]
    assert np.allclose(*errors)
    with pytest.raises(mw.EstimationError, match="a stratum with two clusters"):
        mw.Sample(weights=[1, 1], strata=[1, 2], lonely="certainty").with_replicates("jkn")


@pytest.mark.parametrize("method", ["linear", "likelihood"])
def test_the_masks_of_a_cluster_that_was_bound_to_be_drawn_vary(method: Any) -> None:
    rng = np.random.default_rng(2)
    clusters = np.concatenate([np.zeros(300, int), np.repeat(np.arange(1, 21), 10)])
    strata = np.minimum(clusters, 1)
    reports = mw.designs.warner(truth_prob=0.8).mask(rng.choice(["yes", "no"], 500), seed=1)
    certain = mw.Sample(strata=strata, clusters=clusters, lonely="certainty")
    whole = mw.Sample(weights=np.ones(500), strata=strata, clusters=clusters, fpc=np.where(strata == 0, 1, 10**12))
    first, second = (mw.estimate(reports, method, sample=sample) for sample in (certain, whole))
    assert np.allclose(first.standard_errors, second.standard_errors, rtol=1e-6)
    # The least that masks add: half of it by each stratum, and 300 of 500 are in the first.
    assert first.standard_errors[0] > np.sqrt(0.6 * 0.8 * 0.2 / 0.6**2 / 500)
    for fits in (method, "corrected"):
        if fits != "linear":
            used = {"masked": {"used": reports}, "method": fits}
            one, other = (mw.regress("used ~ 1", {}, sample=sample, **used) for sample in (certain, whole))
            assert np.allclose(one.standard_errors, other.standard_errors, rtol=1e-6)


def test_the_rao_scott_test_is_that_of_r(data: pd.DataFrame) -> None:
    sample = mw.Sample(data, weights="weight", strata="stratum", clusters="cluster")
    both = mw.designs.product(mw.designs.direct(LEVELS), mw.designs.direct(["f", "m"]), names=["answer", "sex"])
    found = mw.independence_test(both.mask(data[["answer", "sex"]]), sample=sample)
    f, p = FROZEN["chisq"]["value"][:2]
    # R takes the statistic's covariance at the estimated table, we under independence.
    assert found.p_value == pytest.approx(p, abs=0.05)
    assert found.statistic / (found.mean * 2) == pytest.approx(f, rel=0.1)
    groups = mw.homogeneity_test(direct(data), data["sex"], sample=sample)
    assert groups.p_value == pytest.approx(p, abs=0.05)
    assert mw.homogeneity_test(direct(data), data["sex"], sample=sample, method="wald").p_value > 0.05


def test_a_regression_of_open_answers_in_a_sample_is_that_of_r(data: pd.DataFrame) -> None:
    reports = mw.designs.direct(["no", "yes"]).mask(np.where(data["answer"] == "often", "yes", "no"))
    sample = mw.Sample(data, weights="weight", strata="stratum", clusters="cluster")
    for method in ("likelihood", "corrected"):
        fit = mw.regress(
            "often ~ sex + region", data, masked={"often": reports}, event="yes", method=method, sample=sample
        )
        agrees("glm", fit.params, fit.standard_errors)
    assert "18 degrees of freedom" in fit.summary()
    assert fit.wald_test("sex").p_value == pytest.approx(fit.pvalues["sex[T.m]"], rel=1e-9)


def survey(seed: int, n_strata: int, clusters: int, per: int) -> tuple[pd.DataFrame, Any]:
    """A masked cluster sample of a population whose clusters differ."""
    random = np.random.default_rng(seed)
    stratum = np.repeat(np.arange(n_strata), clusters * per)
    cluster = np.tile(np.repeat(np.arange(clusters), per), n_strata)
    shift = np.repeat(0.15 * random.standard_normal(n_strata * clusters), per)
    u = random.random(len(stratum))
    answers = np.array(LEVELS)[(u > 0.4 + shift).astype(int) + (u > 0.8 + shift / 2)]
    weights = 1 + (stratum % 3)
    return pd.DataFrame({"stratum": stratum, "cluster": cluster, "weight": weights}), answers


@pytest.mark.parametrize("variance", ["linearised", "jkn", "bootstrap"])
def test_masked_clusters_state_the_variance_that_is_found(variance: Any) -> None:
    """400 surveys: stated over found variance has a standard error of about 8 %; four of them."""
    design = mw.designs.minimax(LEVELS, epsilon=1.5)
    estimates, stated, covered = [], [], []
    for seed in range(400):
        data, answers = survey(seed, 4, 8, 6)
        sample = mw.Sample(data, weights="weight", strata="stratum", clusters="cluster")
        if variance != "linearised":
            sample = sample.with_replicates(variance, replicates=100, seed=seed)
        found = mw.estimate(design.mask(answers, seed=seed), sample=sample)
        estimates.append(found.proportions)
        stated.append(found.variances)
        covered.append(found.interval())
    centre = np.mean(estimates, axis=0)
    ratio = np.mean(stated, axis=0) / np.var(estimates, axis=0, ddof=1)
    assert (np.abs(ratio - 1) < 0.32).all(), ratio
    limits = np.array(covered)
    share = ((limits[:, :, 0] <= centre) & (centre <= limits[:, :, 1])).mean(axis=0)
    assert (share > 0.905).all(), share


def test_a_population_correction_leaves_the_noise_of_masking() -> None:
    """Everybody was asked: nothing varies but the masks, and the stated variance says so."""
    design = mw.designs.gamma_diagonal(LEVELS, epsilon=1)
    answers = np.repeat(LEVELS, [300, 200, 100])
    sample = mw.Sample(fpc=np.full(600, 600))
    found = [mw.estimate(design.mask(answers, seed=seed), sample=sample) for seed in range(400)]
    stated = np.mean([estimate.variances for estimate in found], axis=0)
    seen = np.var([estimate.proportions for estimate in found], axis=0, ddof=1)
    assert (np.abs(stated / seen - 1) < 0.3).all()
    assert mw.estimate(mw.designs.direct(LEVELS).mask(answers), sample=sample).variances == pytest.approx(0, abs=1e-12)
    assert found[0].noise.privacy_share == pytest.approx(1)


def test_an_estimate_from_a_sample_shows_itself(data: pd.DataFrame) -> None:
    sample = mw.Sample(data, weights="weight", strata="stratum", clusters="cluster")
    reports = mw.designs.minimax(LEVELS, epsilon=2).mask(data["answer"], seed=1)
    found = mw.estimate(reports, sample=sample)
    assert "design effect" in found.summary()
    assert "18 degrees of freedom" in found.summary()
    assert found.contrast({"once": 1}).interval()[0] < found.proportions[1]
    assert "totals by category" in mw.estimate_totals(reports, sample=sample).summary()
    assert list(mw.estimate_totals(reports, sample=sample).to_frame().columns)[:2] == ["category", "total"]
    assert sample.to_dict()["clusters"] == 24
    assert "24 clusters in 6 strata" in repr(sample)
    joint = mw.designs.product(mw.designs.minimax(LEVELS, epsilon=2), mw.designs.warner(["f", "m"], truth_prob=0.9))
    table = mw.estimate(joint.mask(data[["answer", "sex"]].to_numpy(), seed=2), sample=sample)
    assert table.table.shape == (3, 2)
    first = next(iter(table.design.variables))
    assert np.allclose(table.marginal(first).proportions, table.table.sum(axis=1))


def refused(match: str, **more: Any) -> None:
    with pytest.raises(mw.MaskwellError, match=match):
        mw.Sample(**more)


def test_what_is_refused(data: pd.DataFrame) -> None:
    refused("needs weights, strata", lonely="adjust")
    refused("lonely must be", weights=[1, 2], lonely="ignore")
    refused("2 are negative", weights=[-1, -2, 3])
    refused("all are zero", weights=[0, 0])
    refused("others have 1", weights=[1, 2], strata=["a"])
    refused("missing in 1 of 2", weights=[1, 2], strata=["a", None])
    refused("no column 'w'", data=data, weights="w")
    refused("there is no data", weights="weight")
    refused("population sizes", fpc=[1, 1, 1])
    refused("the same for all records", fpc=[5, 6, 5])
    refused("replicate_method must be", weights=[1, 2], replicate_weights=np.ones((2, 3)))
    refused("goes with replicate_weights", weights=[1, 2], replicate_method="jk1")
    refused("fay must be", weights=[1, 2], replicate_weights=np.ones((2, 3)), replicate_method="fay")
    sample = mw.Sample(weights=[1, 2, 3])
    with pytest.raises(mw.MaskwellError, match="one record per report"):
        mw.estimate(mw.designs.direct(2).mask([0, 1]), sample=sample)
    with pytest.raises(mw.MaskwellError, match="needs Reports"):
        mw.estimate(mw.designs.direct(2).mask([0, 1]).tally(), sample=mw.Sample(weights=[1, 2]))
    with pytest.raises(mw.MaskwellError, match="use jkn"):
        mw.Sample(weights=np.ones(6), strata=[1, 1, 1, 2, 2, 2]).with_replicates("brr")
    with pytest.raises(mw.MaskwellError, match="add up to one population"):
        sample.calibrate({"a": {"x": 3, "y": 4}, "b": {"x": 3, "y": 5}}, a=["x", "y", "y"], b=["x", "y", "y"])
    with pytest.raises(mw.MaskwellError, match="nobody in the sample"):
        sample.calibrate({"a": {"x": 3, "y": 4}}, a=["x", "x", "x"])


def test_decimal_commas_of_a_spreadsheet_are_read() -> None:
    told, plain = (mw.Sample(weights=w) for w in (["1316,084", "12", "7,25"], [1316.084, 12.0, 7.25]))
    assert told.weights.tolist() == plain.weights.tolist()
    for weights in (["1,500", "2"], ["1.234,5", "2"], ["1,5", "many"]):
        with pytest.raises(mw.DataError, match=r"weights must be numbers; data row \d holds none"):
            mw.Sample(weights=weights)


def test_a_domain_of_one_report_says_that_it_shows_no_variance() -> None:
    reports = mw.Reports.of(mw.designs.warner(truth_prob=0.8), ["yes", "no", "no", None], missing="keep")
    sample = mw.Sample(weights=[2.0, 1.0, 1.5, 1.0], strata=list("aabb"), clusters=[1, 2, 3, 4])
    one = mw.estimate_by(reports, list("nnss"), sample=sample)["s"]
    assert one.standard_errors.tolist() == [0.0, 0.0]
    assert "standard errors of 0 are no precision" in one.summary()
    assert json.loads(json.dumps(one.to_dict()))["n"] == 1
