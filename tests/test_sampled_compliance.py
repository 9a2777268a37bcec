"""Compliance in complex samples, beside direct calculations: with two groups of a die shares are sums of two means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import maskwell as mw

RARE, OFTEN = (mw.designs.forced_response(yes_prob=p, no_prob=0) for p in ("1/6", "5/6"))
NO = {"always no": "no"}
N, CLUSTERS = 1_200, 60


class Survey:
    """People in clusters in strata, of whom some say no whatever the die shows, asked with one die or the other."""

    def __init__(self, seed: int = 4) -> None:
        rng = np.random.default_rng(seed)
        self.cluster = np.repeat(np.arange(CLUSTERS), N // CLUSTERS)
        self.stratum = self.cluster % 3
        self.sex = rng.choice(["f", "m"], N)
        self.weight = rng.uniform(1, 3, N)
        self.arm = rng.choice(["rare", "often"], N)
        shift = 0.1 * rng.standard_normal(CLUSTERS)[self.cluster]
        truth = np.where(rng.random(N) < 0.25 + shift, "yes", "no")
        self.cheats = rng.random(N) < 0.12 + shift / 2
        masked = {"rare": RARE.mask(truth, seed=1), "often": OFTEN.mask(truth, seed=2)}
        self.answer = np.where(
            self.cheats, "no", np.where(self.arm == "rare", masked["rare"].decode(), masked["often"].decode())
        )
        self.reports = {
            name: mw.Reports.of(design, self.answer[self.arm == name], question=name)
            for name, design in (("rare", RARE), ("often", OFTEN))
        }
        self.sample = mw.Sample(weights=self.weight, strata=self.stratum, clusters=self.cluster)
        self.in_order = np.argsort(self.arm == "often", kind="stable")

    def arms(self) -> Any:
        return mw.arms(self.reports, self.arm)


@pytest.fixture(scope="module")
def survey() -> Survey:
    return Survey()


# The shares of yes, no and those who always say no, from the shares of yes in the two groups.
SHARES = np.array([[1.25, -0.25], [-1.5, 1.5], [0.25, -1.25]])


def means(survey: Survey, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weighted shares of yes in the two groups."""
    yes = survey.answer == "yes"
    groups = [survey.arm == name for name in ("rare", "often")]
    return np.array([(weights * yes)[g].sum() / weights[g].sum() for g in groups])


def directly(survey: Survey, sample: mw.Sample) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shares and their covariance from the linearised, or replicated, means of two domains."""
    both = means(survey, sample.weights)
    if sample.replicates is not None:
        again = np.array([means(survey, column) for column in sample.replicates.weights.T])
        rows = np.sqrt(sample.replicates.factors)[:, None] * (again - both)
    else:
        off = np.zeros((N, 2))
        for at, name in enumerate(("rare", "often")):
            here = survey.arm == name
            off[here, at] = ((survey.answer[here] == "yes") - both[at]) / sample.weights[here].sum()
        rows = sample.spread(off).rows
    return np.array([0, 0, 1]) + SHARES @ both, SHARES @ rows.T @ rows @ SHARES.T


@pytest.mark.parametrize("how", ["linearised", "jkn", "bootstrap", "poststratified"])
def test_shares_and_errors_are_those_of_a_direct_calculation(survey: Survey, how: str) -> None:
    sample = {
        "linearised": lambda: survey.sample,
        "jkn": lambda: survey.sample.with_replicates("jkn"),
        "bootstrap": lambda: survey.sample.with_replicates("bootstrap", replicates=40, seed=3),
        "poststratified": lambda: survey.sample.calibrate({"sex": {"f": 1100, "m": 1300}}, sex=survey.sex),
    }[how]()
    shares, covariance = directly(survey, sample)
    found = mw.compliance(survey.arms(), NO, sample=sample)
    np.testing.assert_allclose(found.class_shares, shares, atol=1e-6)
    np.testing.assert_allclose(found.class_errors, np.sqrt(np.diag(covariance)), rtol=1e-3)
    np.testing.assert_allclose(found.covariance, covariance[2:, 2:], rtol=2e-3)
    # The proportion of yes among those who follow is a ratio.
    slope = np.array([shares[1], -shares[0], 0]) / shares[:2].sum() ** 2
    np.testing.assert_allclose(found.proportion_errors[0], np.sqrt(slope @ covariance @ slope), rtol=1e-3)


def test_a_list_of_groups_is_taken_in_its_order(survey: Survey) -> None:
    order = survey.in_order
    sample = mw.Sample(weights=survey.weight[order], strata=survey.stratum[order], clusters=survey.cluster[order])
    one = mw.compliance([survey.reports["rare"], survey.reports["often"]], NO, sample=sample)
    other = mw.compliance(survey.arms(), NO, sample=survey.sample)
    np.testing.assert_allclose(one.shares, other.shares, atol=1e-7)
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-6)
    unweighted = mw.compliance(survey.arms(), NO)
    assert unweighted.shares == pytest.approx(mw.compliance(list(survey.reports.values()), NO).shares)


def test_equal_weights_without_clusters_are_the_plain_estimate(survey: Survey) -> None:
    """With as many people as there are clusters the sandwich is the inverse information, for a model without rest."""
    plain = mw.compliance(survey.arms(), NO)
    found = mw.compliance(survey.arms(), NO, sample=mw.Sample(weights=np.ones(N)))
    np.testing.assert_allclose(found.shares, plain.shares, atol=1e-6)
    np.testing.assert_allclose(found.standard_errors, plain.standard_errors, rtol=0.01)
    assert found.degrees_of_freedom == N - 1
    clustered: Any = mw.compliance(survey.arms(), NO, sample=survey.sample)
    assert clustered.design_effect > 1


def test_limits_and_the_test_have_the_degrees_of_freedom_of_the_sample(survey: Survey) -> None:
    found = mw.compliance(survey.arms(), NO, sample=survey.sample)
    df = CLUSTERS - 3
    t = 2.002465  # of 57 degrees of freedom
    assert found.degrees_of_freedom == df
    low, high = found.interval()[0]
    assert (high - low) / 2 == pytest.approx(t * found.standard_errors[0], rel=1e-5)
    test = found.test()
    assert test.statistic == pytest.approx(found.shares[0] / found.standard_errors[0])
    assert "Student's t with 57 df" in str(test)
    assert "57 degrees of freedom" in found.summary()
    assert "design effect" in found.summary()
    assert found.contrast({"yes": 1, "always no": 1}).degrees_of_freedom == df
    written = found.to_dict()
    assert written["degrees_of_freedom"] == df
    assert written["cov_type"] == "linearised over the sample"
    assert written["designs"][0]["fingerprint"] == RARE.fingerprint


def test_missing_reports_are_outside_the_domain(survey: Survey) -> None:
    """They keep their cluster in the sample, and count for nothing in the shares."""
    gone = np.arange(N) % 7 == 0
    reports = {
        name: mw.Reports.of(
            design, np.where(gone, None, survey.answer)[survey.arm == name].tolist(), missing="keep", question=name
        )
        for name, design in (("rare", RARE), ("often", OFTEN))
    }
    found = mw.compliance(mw.arms(reports, survey.arm), NO, sample=survey.sample)
    weights = np.where(gone, 0.0, survey.weight)
    without = mw.Sample(weights=weights, strata=survey.stratum, clusters=survey.cluster)
    shares, covariance = directly(survey, without)
    np.testing.assert_allclose(found.class_shares, shares, atol=1e-6)
    np.testing.assert_allclose(found.class_errors, np.sqrt(np.diag(covariance)), rtol=1e-3)


def test_a_census_has_what_masks_and_groups_make_vary() -> None:
    """With everybody in the sample who is of which class is settled; who meets which die is not."""
    rng = np.random.default_rng(9)
    n = 3_000
    kind = rng.choice(3, n, p=[0.25, 0.6, 0.15])  # yes, no, always no
    found = []
    for _ in range(150):
        arm = rng.integers(2, size=n)
        forced = rng.random(n) < np.array([1 / 6, 5 / 6])[arm]
        answer = np.where((kind == 0) | ((kind == 1) & forced), "yes", "no")
        reports = [mw.Reports.of(d, answer[arm == at], question="census") for at, d in enumerate((RARE, OFTEN))]
        census = mw.Sample(weights=np.ones(n), fpc=np.full(n, float(n)))
        found.append(mw.compliance(reports, NO, sample=census))
    spread = np.std([each.shares[0] for each in found])
    stated = np.sqrt(np.mean([each.covariance[0, 0] for each in found]))
    # The error of a standard deviation over 150 surveys is 6 %: five of them, a false alarm of 1e-6.
    assert stated == pytest.approx(spread, rel=0.3)
    plain = mw.compliance(reports, NO).standard_errors[0]
    assert stated < 0.95 * plain


def test_what_is_refused(survey: Survey) -> None:
    def error(groups: Any, behaviours: Any = NO, sample: Any = survey.sample) -> str:
        with pytest.raises(mw.MaskwellError) as caught:
            _ = mw.compliance(groups, behaviours, sample=sample).covariance
        assert "\n" not in str(caught.value)
        return str(caught.value)

    listed = list(survey.reports.values())
    assert "must be a mw.Sample" in error(listed, sample="weights")
    assert "1,200 are needed, it has 3" in error(listed, sample=mw.Sample(weights=[1.0, 2, 3]))
    assert "no longer knows who gave which report" in error([each.tally() for each in listed])
    assert "do not tell how common" in error(listed[0], sample=mw.Sample(weights=np.ones(len(listed[0]))))
    nobody = np.where(survey.arm == "rare", 0.0, 1.0)
    assert "group 0 has no reports, or no weight" in error(survey.arms(), sample=mw.Sample(weights=nobody))
    few = mw.Sample(clusters=np.where(survey.arm == "rare", 0, 1 + survey.cluster)).with_replicates("jk1")
    assert "nobody is left of a group" in error(survey.arms(), sample=few)
    found = mw.compliance(survey.arms(), NO, sample=survey.sample)
    for refused, about in (
        (lambda: found.interval(method="profile"), "equally weighted"),
        (lambda: found.test(draws=99), "take reports as independent"),
        (lambda: found.goodness_of_fit(), "unweighted"),
    ):
        with pytest.raises(mw.EstimationError, match=about):
            refused()
