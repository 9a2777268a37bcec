"""Open answers beside R's survey: differences, ratios, domains, tests, items and limits, for every kind of variance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import maskwell as mw
from tests.oracles.people import people
from tests.test_sample import LEVELS, SAMPLES, direct

FROZEN = json.loads((Path(__file__).parent / "oracles" / "survey.json").read_text())
NAMED = ["plain", "strata", "clusters", "corrected", "two", "region_post", "jkn_mse", "halves_brr"]


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    return people()


def drawn(name: str, data: pd.DataFrame) -> tuple[pd.DataFrame, mw.Sample]:
    """The people and the sample that ``survey.R`` calls so."""
    if name in SAMPLES:
        return data, mw.Sample(data, weights="weight", **SAMPLES[name])
    if name == "halves_brr":
        data = data[data["cluster"] <= 2].reset_index(drop=True)
    sample = mw.Sample(data, weights="weight", strata="stratum", clusters="cluster")
    if name == "region_post":
        return data, sample.calibrate({"region": {"north": 1100, "south": 1400}})
    return data, sample.with_replicates("brr" if name == "halves_brr" else "jkn")


def agrees(name: str, value: Any, error: Any) -> None:
    np.testing.assert_allclose(np.atleast_1d(value), FROZEN[name]["value"], rtol=1e-8, err_msg=name)
    np.testing.assert_allclose(np.atleast_1d(error), FROZEN[name]["error"], rtol=1e-8, err_msg=name)


@pytest.mark.parametrize("name", NAMED)
def test_differences_ratios_contrasts_and_domains_are_those_of_r(data: pd.DataFrame, name: str) -> None:
    data, sample = drawn(name, data)
    reports = direct(data)
    difference = mw.compare_groups(reports, data["sex"], {"never": 1}, sample=sample)
    agrees(f"{name} difference", difference.value, difference.standard_error)
    risk = mw.compare_groups(reports, data["sex"], {"never": 1}, measure="ratio", sample=sample)
    agrees(f"{name} risk ratio", risk.value, risk.standard_error)
    contrast = mw.estimate(reports, sample=sample).contrast({"never": -1, "often": 1})
    agrees(f"{name} contrast", contrast.value, contrast.standard_error)
    totals = mw.estimate_totals(reports, sample=sample, domain=data["sex"] == "f")
    agrees(f"{name} domain total", totals.values, totals.standard_errors)
    assert sample.degrees_of_freedom == FROZEN[f"{name} degrees"]["value"][0]


@pytest.mark.parametrize("method", ["likelihood", "one-step"])
@pytest.mark.parametrize("name", ["clusters", "two", "region_post", "jkn_mse"])
def test_a_likelihood_of_open_answers_has_the_errors_of_r(data: pd.DataFrame, name: str, method: Any) -> None:
    """The maximum is found to 1e-6 of a log-likelihood, its place to about 1e-8; influences are exact."""
    data, sample = drawn(name, data)
    contrast = mw.estimate(direct(data), method, sample=sample).contrast({"never": -1, "often": 1})
    assert contrast.value == pytest.approx(FROZEN[f"{name} contrast"]["value"][0], rel=1e-6)
    assert contrast.standard_error == pytest.approx(FROZEN[f"{name} contrast"]["error"][0], rel=1e-6)


def test_replicates_are_calibrated_one_by_one(data: pd.DataFrame) -> None:
    sample = mw.Sample(data, weights="weight", strata="stratum", clusters="cluster")
    margins = {"sex": {"f": 1300, "m": 1200}}
    for made in (sample.with_replicates("jkn").calibrate(margins), sample.calibrate(margins).with_replicates("jkn")):
        mean, totals = mw.estimate(direct(data), sample=made), mw.estimate_totals(direct(data), sample=made)
        agrees("jkn post mean", mean.proportions, mean.standard_errors)
        agrees("jkn post total", totals.values, totals.standard_errors)


@pytest.fixture(scope="module")
def table(data: pd.DataFrame) -> mw.Reports:
    """Answers and sex, both open."""
    both = mw.designs.product(mw.designs.direct(LEVELS), mw.designs.direct(["f", "m"]), names=["answer", "sex"])
    return both.mask(data[["answer", "sex"]])


@pytest.mark.parametrize("name", ["plain", "clusters", "corrected", "jkn"])
def test_the_wald_test_is_the_adjusted_one_of_r(data: pd.DataFrame, table: mw.Reports, name: str) -> None:
    data, sample = drawn(name, data)
    f, p, above, below = FROZEN[f"{name} wald"]["value"]
    found = mw.independence_test(table, "wald", sample=sample)
    assert found.p_value == pytest.approx(p, rel=1e-8)
    assert found.statistic * below / (above * sample.degrees_of_freedom) == pytest.approx(f, rel=1e-8)
    assert found.law == f"F with {above} and {below} df"


def test_the_rao_scott_test_has_the_statistic_of_r_and_a_law_at_the_hypothesis(
    data: pd.DataFrame, table: mw.Reports
) -> None:
    """R's second-order correction takes cells of the observed table where ours takes the margins' products."""
    found = mw.independence_test(table, sample=drawn("clusters", data)[1])
    assert found.statistic == pytest.approx(FROZEN["pearson"]["value"][0], rel=1e-8)
    statistic, df, p = FROZEN["rao-scott"]["value"]
    assert found.statistic == pytest.approx(statistic, rel=1e-8)
    assert found.df == pytest.approx(df, rel=1e-8)
    assert found.p_value == pytest.approx(p, rel=1e-8)
    assert found.p_value == pytest.approx(FROZEN["chisq"]["value"][1], abs=0.02)


@pytest.fixture(scope="module")
def items(data: pd.DataFrame) -> mw.Reports:
    answers = np.select([data["answer"] == level for level in LEVELS], [0, 1, 2])
    columns = np.column_stack([answers, data["sex"] == "f", data["region"] == "north"]).astype(int)
    design = mw.designs.product(mw.designs.direct(3), mw.designs.direct(2), mw.designs.direct(2), names=["x", "y", "z"])
    return design.mask(columns)


def test_items_have_the_correlations_and_sums_of_r(data: pd.DataFrame, items: mw.Reports) -> None:
    """R's plug-in correlation divides by n; ours corrects covariances, so it differs by a term of order 1/n."""
    clusters, replicated = (drawn(name, data)[1] for name in ("clusters", "jkn_mse"))
    for name, sample in (("items", clusters), ("items_jkn", replicated)):
        found = mw.correlations(items, sample=sample).of("x", "y")
        assert found.value == pytest.approx(FROZEN[f"{name} correlation"]["value"][0], abs=0.01)
        assert found.standard_error == pytest.approx(FROZEN[f"{name} correlation"]["error"][0], rel=0.05)
    sums = mw.sum_score(items, sample=clusters)
    agrees("items sum", sums.mean.value, sums.mean.standard_error)
    agrees("items distribution", sums.proportions, sums.standard_errors)


def test_limits_are_those_of_r(data: pd.DataFrame) -> None:
    found = mw.estimate(direct(data), sample=drawn("clusters", data)[1])
    np.testing.assert_allclose(found.interval(method="wald").T.reshape(-1), FROZEN["limits"]["value"], rtol=1e-8)
    np.testing.assert_allclose(found.bound(0.95, "upper", "wald"), FROZEN["one side"]["value"], rtol=1e-8)
