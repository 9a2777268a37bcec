"""Scores, domains and samples that cannot be meant are refused where they are given, not shown as figures later."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import maskwell as mw

YES_NO = mw.designs.warner(truth_prob=0.8)
REPORTS = mw.Reports.of(YES_NO, ["yes", "no"] * 50)
SAMPLE = mw.Sample(weights=np.ones(100))
BOTH = mw.Reports.of(mw.designs.product(YES_NO, YES_NO, names=["a", "b"]), [["yes", "yes"], ["no", "no"]] * 50)
NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize("score", [NAN, INFINITE, "much", None])
@pytest.mark.parametrize(
    "use",
    [
        lambda scores: mw.estimate(REPORTS).contrast(scores),
        lambda scores: mw.estimate(REPORTS, "likelihood").contrast(scores),
        lambda scores: mw.ratio(REPORTS, scores, {"no": 1}),
        lambda scores: mw.compare_groups(REPORTS, ["f", "m"] * 50, scores),
        lambda scores: mw.correlations(BOTH, {"a": scores}),
        lambda scores: mw.sum_score(BOTH, {"a": scores}),
    ],
)
def test_scores_are_finite_numbers(use: Callable[[Any], Any], score: Any) -> None:
    with pytest.raises(mw.EstimationError, match="scores must be 2 finite numbers") as caught:
        use({"yes": score})
    assert caught.value.parameter == "scores"


def test_a_value_to_compare_with_is_a_finite_number() -> None:
    for value in (NAN, INFINITE):
        with pytest.raises(mw.EstimationError, match="value must be a finite number"):
            mw.estimate(REPORTS).contrast({"yes": 1}).test(value)


def test_a_sum_is_compared_with_a_finite_number() -> None:
    found = mw.sum_score(BOTH)
    assert found.at_least(1).value == pytest.approx(1 - found.proportions[0])
    with pytest.raises(mw.EstimationError, match="value must be a finite number"):
        found.at_least(NAN)


def test_a_sample_has_records() -> None:
    with pytest.raises(mw.DataError, match="one value per record"):
        mw.Sample(weights=[])


WOMEN = np.arange(100) < 30


@pytest.mark.parametrize("kind", [np.asarray, list, pd.Series, pl.Series])
def test_a_domain_is_a_column_of_truth_values(kind: Callable[[Any], Any]) -> None:
    domain = kind(WOMEN)
    found = mw.ratio(REPORTS, {"yes": 1}, {"no": 1}, domain=domain)
    assert found.value == pytest.approx(mw.ratio(REPORTS.part(WOMEN), {"yes": 1}, {"no": 1}).value)
    totals = mw.estimate_totals(REPORTS, sample=SAMPLE, domain=domain)
    assert totals.values.sum() == pytest.approx(30)


@pytest.mark.parametrize(
    ("domain", "match"),
    [
        (["yes", "no"] * 50, "true or false"),  # any text would count as true
        ([NAN] * 100, "true or false"),
        ([True, None] * 50, "true or false"),
        ([1, 0] * 50, "true or false"),
        ("women", "true or false"),
        ([True], "100 are needed, it has 1"),
        ([True] * 7, "100 are needed, it has 7"),
    ],
)
@pytest.mark.parametrize(
    "use",
    [
        lambda domain: mw.estimate_totals(REPORTS, sample=SAMPLE, domain=domain),
        lambda domain: mw.ratio(REPORTS, {"yes": 1}, {"no": 1}, domain=domain),
    ],
)
def test_what_is_no_domain_is_refused(use: Callable[[Any], Any], domain: Any, match: str) -> None:
    with pytest.raises(mw.DataError, match=match) as caught:
        use(domain)
    assert caught.value.parameter == "domain"


def test_items_take_a_sample_and_nothing_else() -> None:
    for use in (mw.correlations, mw.sum_score):
        with pytest.raises(mw.EstimationError, match=r"must be a mw\.Sample; got list"):
            use(BOTH, sample=[1.0] * 100)  # type: ignore[arg-type, operator]


def test_a_value_to_compare_with_may_be_written() -> None:
    reports = mw.designs.warner(truth_prob=0.9).mask(["yes", "no"] * 30, seed=1)
    found = mw.estimate(reports)
    assert found.test("yes", "3/10").p_value == found.test("yes", 0.3).p_value
    share = found.contrast({"yes": 1})
    assert share.test("1/2").p_value == share.test(0.5).p_value
    for test in (share.test, lambda value: found.test("yes", value)):
        with pytest.raises(mw.EstimationError, match="value must be a number, or a fraction as text"):
            test("much")


@pytest.mark.parametrize("scales", [[np.nan] * 3, [np.inf] * 3, [-1, 1, 1], [1, 1], "many"])
def test_scales_of_replicates_are_numbers(scales: Any) -> None:
    with pytest.raises(mw.DataError, match="3 finite numbers >= 0"):
        mw.Sample(weights=np.ones(4), replicate_weights=np.eye(4, 3), replicate_method="jkn", replicate_scales=scales)


@pytest.mark.parametrize("method", ["jk1", "brr", "bootstrap"])
def test_one_replicate_has_no_spread(method: Any) -> None:
    with pytest.raises(mw.DataError, match="2 columns of replicate_weights or more; got 1"):
        mw.Sample(weights=np.ones(4), replicate_weights=np.ones((4, 1)), replicate_method=method)


@pytest.mark.parametrize("total", ["ten", None, np.nan, 0])
def test_known_totals_are_numbers(total: Any) -> None:
    sample = mw.Sample({"sex": ["f", "m"]}, weights=[1, 1])
    with pytest.raises(mw.DataError, match="totals, which are numbers above 0"):
        sample.calibrate({"sex": {"f": 1, "m": total}})
