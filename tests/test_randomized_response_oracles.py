"""Randomized response beside R's RRreg, rr and GLMMRR: logits, shares, and people who do not follow the design.

The programs stop at different distances from the maximum, so that digits differ. RRreg begins its quasi-Newton search
where the log-likelihood hardly rises any more, and its Hessian is one of differences: a thousandth of a standard error.
rr stops its EM algorithm when a step gains less than 1e-10: a ten-thousandth. GLMMRR was asked to iterate to the end.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import maskwell as mw
from tests.oracles.asked import asked

FROZEN = json.loads((Path(__file__).parent / "oracles" / "randomized_response.json").read_text())
DESIGNS: dict[str, tuple[mw.Design, list[Any]]] = {
    "warner": (mw.designs.warner(truth_prob="4/5"), ["no", "yes"]),
    "forced": (mw.designs.forced_response(yes_prob="1/6", no_prob="1/12"), ["no", "yes"]),
    "unrelated": (mw.designs.unrelated_question(sensitive_prob="7/10", innocuous_yes="3/10"), ["no", "yes"]),
    "crosswise": (mw.designs.crosswise(innocuous_prob="1/4"), ["different", "same"]),
    "kuk": (mw.designs.kuk(red_if_yes="4/5", red_if_no="3/10"), [0, 1]),
    "mangat": (mw.designs.mangat(truth_prob="7/10"), ["no", "yes"]),
    "triangular": (mw.designs.triangular(innocuous_prob="1/4"), ["circle", "triangle"]),
}
RR = {"warner": "warner", "forced": "forced", "unrelated": "unrelated", "crosswise": "different"}
GLMMRR = [name for name in DESIGNS if name != "mangat"]


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    table = asked()
    assert {name: pytest.approx(total) for name, total in FROZEN["sums"].items()} == table[
        [*FROZEN["sums"]]
    ].sum().to_dict()
    return table


def reports(data: pd.DataFrame, name: str) -> mw.Reports:
    design, labels = DESIGNS[name]
    return mw.Reports.of(design, [labels[value] for value in data[name]])


def fitted(data: pd.DataFrame, name: str, **options: Any) -> mw.Regression:
    return mw.regress("trait ~ age + female", data[["age", "female"]], masked={"trait": reports(data, name)}, **options)


def agrees(name: str, values: Any, errors: Any, *, of_an_error: float, relative: float) -> None:
    """Values to a part of the standard error, standard errors to a part of themselves."""
    value, error = (np.array(FROZEN[name][key]) for key in ("value", "error"))
    assert np.all(np.abs(np.asarray(values) - value) <= of_an_error * error), (name, values, value)
    np.testing.assert_allclose(errors, error, rtol=relative, err_msg=name)


@pytest.mark.parametrize("name", DESIGNS)
def test_rrreg_has_the_observed_information(data: pd.DataFrame, name: str) -> None:
    fit = fitted(data, name)
    agrees(f"RRreg logit {name}", fit.params, fit.bse, of_an_error=1e-3, relative=2e-4)


@pytest.mark.parametrize("name", RR)
def test_rr_has_the_outer_product_of_scores_or_the_observed_information(data: pd.DataFrame, name: str) -> None:
    for cov_type, how in {"opg": "scores", "observed": "Hessian"}.items():
        fit = fitted(data, name, cov_type=cov_type)
        agrees(f"rr logit {RR[name]} {how}", fit.params, fit.bse, of_an_error=1e-4, relative=1e-4)


@pytest.mark.parametrize("family", ["logit", "probit", "cloglog"])
@pytest.mark.parametrize("name", GLMMRR)
def test_glmmrr_has_the_expected_information(data: pd.DataFrame, name: str, family: str) -> None:
    fit = fitted(data, name, family=family, cov_type="expected")
    agrees(f"GLMMRR {family} {name}", fit.params, fit.bse, of_an_error=1e-6, relative=1e-6)


def test_likelihood_ratios_are_those_of_rrreg(data: pd.DataFrame) -> None:
    fit = fitted(data, "warner")
    ratios = [fit.lr_test(term).statistic for term in ("age", "female")]
    assert ratios == pytest.approx(FROZEN["RRreg likelihood ratios"]["value"][1:], abs=1e-5)


def test_two_arms_are_those_of_rrreg(data: pd.DataFrame) -> None:
    arm = np.where(data["group"] == 1, "direct", "spinner")
    said = np.where(data["arms"] == 1, "yes", "no")
    designs = {"direct": mw.designs.direct(["yes", "no"]), "spinner": DESIGNS["warner"][0]}
    joined = mw.arms({name: mw.Reports.of(design, said[arm == name]) for name, design in designs.items()}, arm)
    fit = mw.regress("trait ~ age + female + arm", data.assign(arm=arm), masked={"trait": joined})
    assert fit.names[-1] == "arm[T.spinner]"
    agrees("RRreg two arms", fit.params, fit.bse, of_an_error=1e-3, relative=2e-4)
    expected = mw.regress("trait ~ age + female", data, masked={"trait": joined}, cov_type="expected")
    observed = mw.regress("trait ~ age + female", data, masked={"trait": joined})
    np.testing.assert_allclose(expected.bse, observed.bse, rtol=0.03)  # the same limit, not the same number


@pytest.mark.parametrize("name", DESIGNS)
def test_shares_are_those_of_rrreg(data: pd.DataFrame, name: str) -> None:
    """Its variances are over n - 1, ours over n."""
    estimate = mw.estimate(reports(data, name))
    frozen, n = FROZEN[f"RRreg share {name}"], len(data)
    assert estimate.proportions[0] == pytest.approx(frozen["value"][0], rel=1e-12)
    assert estimate.standard_errors[0] == pytest.approx(frozen["error"][0] * np.sqrt((n - 1) / n), rel=1e-12)


def test_several_cards_are_told_at_least_as_well_as_by_rrreg(data: pd.DataFrame) -> None:
    """RRreg takes the mean number of red cards; ours weighs each number for itself, so that the estimates differ."""
    design = mw.designs.kuk(red_if_yes="4/5", red_if_no="3/10", draws=3)
    estimate, frozen = mw.estimate(mw.Reports.of(design, data["cards"].tolist())), FROZEN["RRreg share cards"]
    assert (data["cards"].mean() / 3 - 0.3) / 0.5 == pytest.approx(frozen["value"][0], rel=1e-12)
    assert abs(estimate.proportions[0] - frozen["value"][0]) < frozen["error"][0] / 2
    assert estimate.standard_errors[0] < frozen["error"][0]


def groups(data: pd.DataFrame, name: str, designs: list[mw.Design]) -> list[mw.Tally]:
    """The two groups' counts, by the order of the first design's reports: yes, then no."""
    counts = [data.loc[data["group"] == at, name].value_counts() for at in (1, 2)]
    return [mw.Tally.from_counts(d, [c[1], c[0]]) for d, c in zip(designs, counts, strict=True)]


def over_n(errors: Any, data: pd.DataFrame) -> Any:
    """RRreg's standard errors over n in the place of n - 1; both groups have as many people."""
    half = len(data) // 2
    return np.array(errors) * np.sqrt((half - 1) / half)


def test_cheating_detection_is_that_of_rrreg(data: pd.DataFrame) -> None:
    designs = [mw.designs.forced_response(yes_prob=p, no_prob=0) for p in ("1/5", "3/4")]
    found = mw.compliance(groups(data, "cheated", designs), {"cheats": "no"})
    frozen = FROZEN["RRreg cheating detection"]  # carriers, honest others, cheaters
    np.testing.assert_allclose(found.class_shares, frozen["value"], rtol=1e-5)
    np.testing.assert_allclose(found.class_errors, over_n(frozen["error"], data), rtol=1e-4)


def test_the_lie_detector_is_that_of_rrreg(data: pd.DataFrame) -> None:
    """RRreg's second number is the share of carriers who tell the truth."""
    designs = [mw.designs.mangat(truth_prob=p) for p in ("1/5", "3/4")]
    found = mw.compliance(groups(data, "denied", designs), {"lies": mw.Behaviour("no", of="yes")})
    frozen = FROZEN["RRreg lie detector"]
    assert found.proportions[0] == pytest.approx(frozen["value"][0], rel=1e-5)
    assert found.proportion_errors[0] == pytest.approx(over_n(frozen["error"][0], data), rel=1e-4)
    assert 1 - found.shares[0] / found.proportions[0] == pytest.approx(frozen["value"][1], rel=1e-5)


def test_an_unrelated_question_of_unknown_share_is_that_of_rrreg(data: pd.DataFrame) -> None:
    truths = ["yes, yes", "yes, no", "no, yes", "no, no"]
    tables = [[["1", s, t, "0"], ["0", t, s, "1"]] for s, t in (("7/10", "3/10"), ("3/10", "7/10"))]
    designs: list[mw.Design] = [mw.designs.from_matrix(table, truths, reports=["yes", "no"]) for table in tables]
    found = mw.compliance(groups(data, "unknown", designs), {})
    frozen = FROZEN["RRreg unknown share"]
    for at, weights in enumerate(({"yes, yes": 1, "yes, no": 1}, {"yes, yes": 1, "no, yes": 1})):
        contrast = found.contrast(weights)
        assert contrast.value == pytest.approx(frozen["value"][at], rel=1e-5)
        assert contrast.standard_error == pytest.approx(over_n(frozen["error"][at], data), rel=1e-4)


def test_expected_information_says_what_it_is_not_for(data: pd.DataFrame) -> None:
    masked = {"trait": reports(data, "forced")}
    with pytest.raises(mw.EstimationError, match="masked outcome"):
        mw.regress("vote ~ trait", data, masked=masked, cov_type="expected")


def test_a_masked_predictor_is_near_that_of_rr_and_likelier(data: pd.DataFrame) -> None:
    """rr's algorithm leaves those who were forced to an answer out of its second step: it stops beside the maximum."""
    frozen = FROZEN["rr predictor"]  # the vote on 1, age and the trait; the trait on 1 and age
    fit = mw.regress("vote ~ age + trait", data, masked={"trait": reports(data, "forced")}, event=1)
    intercept, age, without = fit.params
    ours = np.array([intercept + without, age, -without])  # our reference category is yes
    apart = np.abs(ours - frozen["value"][:3]) / frozen["error"][:3]
    assert apart.max() < 0.5
    background = fit.solution.theta[3:]  # the log odds of no
    assert log_likelihood(data, [*ours, *-background]) > log_likelihood(data, frozen["value"])
    np.testing.assert_allclose(fit.bse[["age", "trait[T.no]"]], frozen["error"][1:3], rtol=0.01)


def log_likelihood(data: pd.DataFrame, theta: Any) -> float:
    """Of a vote and a forced response, from the formula."""
    age, vote = data["age"].to_numpy(), data["vote"].to_numpy()
    said = np.where(data["forced"].to_numpy()[:, None] == 1, [11 / 12, 1 / 6], [1 / 12, 5 / 6])  # by carriers, others
    chance = 1 / (1 + np.exp(-(theta[3] + theta[4] * age)))
    voted = 1 / (1 + np.exp(-(theta[0] + theta[1] * age[:, None] + theta[2] * np.array([1, 0]))))
    voted = np.where(vote[:, None] == 1, voted, 1 - voted)
    return float(np.log((np.column_stack([chance, 1 - chance]) * voted * said).sum(axis=1)).sum())
