"""Samples that tell little: each estimate or test of them says so, in place of an error of 0 or a chance of 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import maskwell as mw

WARNER = mw.designs.warner(truth_prob=0.7)
OPEN = mw.designs.direct(["yes", "no"])
N = 200
CLUSTER = np.arange(N) // 20
TRUTH = np.array(["yes"] * 80 + ["no"] * 120)
WEIGHTS = np.random.default_rng(1).uniform(1, 3, N)


def masked(design: Any = WARNER, truth: Any = TRUTH, seed: int = 1) -> mw.Reports:
    return design.mask(truth, seed=seed)


def test_what_is_left_of_a_sum_that_is_0_is_no_variance() -> None:
    """Two groups of one cluster each show how people vary within, and nothing of how clusters do."""
    sample = mw.Sample(clusters=CLUSTER, weights=WEIGHTS)
    group = np.where(CLUSTER == 0, "a", np.where(CLUSTER == 1, "b", "c"))
    assert not mw.estimate_by(masked(), CLUSTER, sample=sample)[0].variances.any()
    compared = mw.compare_groups(masked(), group, {"yes": 1}, sample=sample, between=("a", "b"))
    assert compared.standard_error == 0
    with pytest.raises(mw.EstimationError):
        compared.test()
    with pytest.raises(mw.EstimationError, match="no variance of what is tested"):
        mw.homogeneity_test(masked(), CLUSTER, sample=sample)


@pytest.mark.parametrize(
    "sample",
    [mw.Sample(clusters=np.arange(N) // 100), mw.Sample(fpc=np.full(N, N))],
    ids=["a cluster each", "census"],
)
def test_a_difference_without_variance_is_no_agreement(sample: mw.Sample) -> None:
    halves = np.repeat(["x", "y"], N // 2)
    with pytest.raises(mw.EstimationError, match="What differs, differs"):
        mw.homogeneity_test(masked(OPEN), halves, sample=sample)
    alike = mw.homogeneity_test(masked(OPEN, np.full(N, "yes")), halves, sample=sample)
    assert alike.p_value == 1


def test_a_category_that_nobody_has_changes_no_test() -> None:
    rng = np.random.default_rng(3)
    sample = mw.Sample(clusters=CLUSTER, weights=WEIGHTS)
    truth, group = rng.choice(["a", "b"], N), rng.choice(["x", "y"], N)
    tests = [
        mw.homogeneity_test(mw.designs.direct(categories).mask(truth), group, sample=sample, method=method)
        for method in ("rao-scott", "wald")
        for categories in (["a", "b"], ["a", "b", "c"], ["c", "b", "a"])
    ]
    for three in (tests[:3], tests[3:]):
        assert len({round(test.p_value, 9) for test in three}) == 1
    pair = {"answer": truth, "group": group}
    found = []
    for categories in (["a", "b"], ["c", "a", "b"]):
        both = mw.designs.product(
            mw.designs.direct(categories), mw.designs.direct(["x", "y"]), names=["answer", "group"]
        )
        found.append(mw.independence_test(both.mask(pair), sample=sample).p_value)
    assert found[0] == pytest.approx(found[1])


def test_masks_of_a_cluster_that_was_bound_to_be_drawn_are_in_no_replicate() -> None:
    strata = np.minimum(CLUSTER, 1)
    certain = mw.Sample(weights=WEIGHTS, strata=strata, clusters=CLUSTER, lonely="certainty")
    counted = mw.Sample(strata=strata, clusters=CLUSTER, fpc=np.where(strata == 0, 1, 90))
    for sample in (certain, counted):
        repeated = sample.with_replicates("jkn")
        mw.estimate(masked(OPEN), sample=repeated)
        for method in ("linear", "likelihood"):
            with pytest.raises(mw.EstimationError, match="no replicate shows what masks"):
                mw.estimate(masked(), method, sample=repeated)
        with pytest.raises(mw.EstimationError, match="no replicate shows what masks"):
            mw.regress("used ~ 1", {}, masked={"used": masked()}, sample=repeated)


def test_an_average_of_nothing_is_refused() -> None:
    with pytest.raises(mw.EstimationError, match="no variance to take the average of"):
        _ = mw.estimate(masked(), sample=mw.Sample(strata=np.arange(N), lonely="average")).covariance


def test_who_counts_for_nobody_makes_no_likelihood_impossible() -> None:
    reports = mw.designs.direct(["a", "b", "c"]).mask(["a", "b"] * 28 + ["a"] + ["c"] * 3)
    weights = np.append(np.ones(57), np.zeros(3))
    for method in ("likelihood", "one-step"):
        found = mw.estimate(reports, method, sample=mw.Sample(weights=weights))
        assert np.isfinite(found.standard_errors).all()
        totals = mw.estimate_totals(reports, method=method, sample=mw.Sample(weights=weights))
        assert np.isfinite(totals.standard_errors).all()


def test_replicate_weights_need_those_of_the_whole_sample() -> None:
    made = mw.Sample(weights=WEIGHTS, clusters=CLUSTER).with_replicates("jk1").replicates
    assert made is not None
    with pytest.raises(mw.DataError, match="replicate_weights need weights="):
        mw.Sample(replicate_weights=made.weights, replicate_method="jk1")


def test_calibration_adds_no_degrees_of_freedom() -> None:
    sample = mw.Sample(weights=WEIGHTS, strata=CLUSTER // 5, clusters=CLUSTER).with_replicates("bootstrap", seed=1)
    age = np.arange(N) % 8
    raked = sample.calibrate({"age": dict.fromkeys(range(8), 50.0)}, age=age)
    assert raked.degrees_of_freedom == sample.degrees_of_freedom == 8


def test_where_nobody_follows_the_design_there_are_no_shares_among_those_who_do() -> None:
    groups = [mw.designs.forced_response(yes_prob=p, no_prob="1/6") for p in ("1/6", "4/6")]
    found = mw.compliance([mw.Reports.of(design, ["no"] * 30) for design in groups], {"always no": "no"})
    assert found.shares[0] == pytest.approx(1)
    assert np.isnan(found.proportions).all()
    assert np.isinf(found.proportion_errors).all()
    assert found.proportion_interval().tolist() == [[0, 1], [0, 1]]
    assert "follow the design      0" in found.summary()
    assert found.to_dict()["proportions"] == [None, None]


def test_an_item_that_is_always_the_same_has_no_correlation() -> None:
    both = mw.designs.product(mw.designs.direct(["a", "b"]), mw.designs.direct(["x", "y"]), names=["one", "other"])
    for sample in (None, mw.Sample(weights=WEIGHTS[:60])):
        with pytest.raises(mw.EstimationError, match="too near 0 to divide by"):
            mw.correlations(both.mask([["a", "y"]] * 30 + [["b", "y"]] * 30), sample=sample)


def test_totals_of_nobody_are_refused() -> None:
    sample = mw.Sample(weights=WEIGHTS)
    for method in ("linear", "likelihood"):
        with pytest.raises(mw.EstimationError, match="has no reports, or no weight"):
            mw.estimate_totals(masked(), method=method, sample=sample, domain=np.zeros(N, bool))
