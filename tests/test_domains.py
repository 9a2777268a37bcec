"""Horvitz–Thompson totals and estimates by group."""

import json
from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import maskwell as mw

LABELS = ["a", "b", "c"]


def test_totals_of_a_direct_question_are_the_textbook_ones() -> None:
    generator = np.random.default_rng(1)
    values, weights = generator.integers(0, 3, 400), generator.uniform(1, 9, 400)
    found = mw.estimate_totals(mw.designs.direct(3).mask(values).tally(weights=weights))
    y = np.eye(3)[values] * weights[:, None]
    total = y.sum(axis=0)
    centred = y - total / 400
    assert found.values == pytest.approx(total, rel=1e-12)
    assert found.covariance == pytest.approx(400 / 399 * centred.T @ centred, rel=1e-9)


@pytest.mark.parametrize("method", ["linear", "moments", "likelihood", "one-step"])
def test_weighted_direct_answers_are_the_textbook_whatever_the_method(method: str) -> None:
    """The Hájek mean, and its linearised variance sum w^2 (y - mean)(y - mean)' / (sum w)^2."""
    generator = np.random.default_rng(6)
    values, w = generator.integers(0, 3, 400), generator.uniform(1, 9, 400)
    found = mw.estimate(mw.designs.direct(3).mask(values).tally(weights=w, patterns=True), method)
    y = np.eye(3)[values]
    mean = w @ y / w.sum()
    residuals = w[:, None] * (y - mean) / w.sum()
    assert found.proportions == pytest.approx(mean, rel=1e-9)
    assert found.covariance == pytest.approx(residuals.T @ residuals, rel=1e-7)


def test_totals_of_a_direct_question_do_not_depend_on_the_method() -> None:
    generator = np.random.default_rng(7)
    tally = mw.designs.direct(3).mask(generator.integers(0, 3, 200)).tally(weights=generator.uniform(1, 9, 200))
    one, two = mw.estimate_totals(tally, "linear"), mw.estimate_totals(tally, "moments")
    assert one.values == pytest.approx(two.values, rel=1e-12)
    assert one.covariance == pytest.approx(two.covariance, rel=1e-9)
    with pytest.raises(mw.EstimationError, match="linear"):
        mw.estimate_totals(tally, "likelihood")  # type: ignore[arg-type]


@pytest.mark.parametrize("design", [mw.designs.minimax(3, epsilon=1.0), mw.designs.rappor(3, epsilon=2.0)])
def test_the_variance_of_masked_totals_is_met_by_replicated_surveys(design: mw.Design) -> None:
    """Sampling with replacement, so the stated variance is unbiased: 5 standard errors, a false alarm in 3 million."""
    generator = np.random.default_rng(2)
    population, chance = generator.integers(0, 3, 5000), generator.uniform(0.5, 2, 5000)
    chance /= chance.sum()
    runs, n = 600, 300
    totals, variances = [], []
    for run in range(runs):
        drawn = generator.choice(5000, n, p=chance)
        reports = design.mask(population[drawn], seed=run)
        found = mw.estimate_totals(reports.tally(weights=1 / (n * chance[drawn])))
        totals.append(found.values)
        variances.append(found.standard_errors**2)
    spread = np.var(totals, axis=0, ddof=1)
    truth = np.bincount(population, minlength=3)
    assert (np.abs(np.mean(totals, axis=0) - truth) < 5 * np.sqrt(spread / runs)).all()
    assert (np.abs(spread / np.mean(variances, axis=0) - 1) < 5 * np.sqrt(2 / runs)).all()


def test_totals_need_weights() -> None:
    with pytest.raises(mw.EstimationError, match="weights"):
        mw.estimate_totals(mw.designs.direct(3).mask([0, 1, 2]))


@pytest.mark.parametrize("method", ["linear", "moments", "likelihood", "one-step"])
def test_a_group_is_estimated_as_if_it_were_alone(method: str) -> None:
    design = mw.designs.uniform_subsets(5)
    values = np.random.default_rng(3).integers(0, 5, 900)
    groups = np.array(["north", "south", "west"])[np.arange(900) % 3]
    reports = design.mask(values, seed=4)
    found = mw.estimate_by(reports, groups, method=method)
    assert list(found) == ["north", "south", "west"]
    for name, estimate in found.items():
        alone = mw.Reports(design, reports.packed[groups == name])
        assert estimate.n == 300
        assert estimate.proportions == pytest.approx(mw.estimate(alone, method).proportions, abs=1e-12)


def test_groups_must_match_the_reports() -> None:
    with pytest.raises(mw.DataError, match="one label per report"):
        mw.estimate_by(mw.designs.direct(3).mask([0, 1]), ["x"])


COLUMNS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "numpy": lambda x: np.array(x, object),
    "pandas": pd.Series,
    "pandas categorical": lambda x: pd.Series(x).astype("category"),
    "pandas with an index": lambda x: pd.Series(x, index=range(9, 9 + len(x))),
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow in chunks": lambda x: pa.chunked_array([x[:2], x[2:]]),
    "arrow dictionary": lambda x: pa.array(x).dictionary_encode(),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS.keys())
@pytest.mark.parametrize("labels", [["north", "south", None, "south", "north", None], [2, 1, None, 1, 2, None]])
def test_a_missing_group_is_refused_or_kept(column: Callable[[list[Any]], Any], labels: list[Any]) -> None:
    reports = mw.designs.direct(3).mask([0, 1, 2, 1, 0, 2])
    with pytest.raises(mw.DataError, match=r"missing in 2 of 6 rows, first in data row 3.*missing=.keep. "):
        mw.estimate_by(reports, column(labels))
    found = mw.estimate_by(reports, column(labels), missing="keep")
    assert list(found) == [*sorted(set(labels) - {None}), None]
    assert found[None].n == 2
    assert found[None].proportions.tolist() == [0, 0, 1]
    assert found[labels[0]].proportions.tolist() == [1, 0, 0]


@pytest.mark.parametrize("column", [np.array, list, pd.Series, pl.Series, pa.array])
def test_a_group_that_is_not_a_number_is_missing(column: Any) -> None:
    reports = mw.designs.direct(3).mask([0, 1, 2])
    with pytest.raises(mw.DataError, match="missing in 1 of 3 rows, first in data row 2"):
        mw.estimate_by(reports, column([1.5, float("nan"), 0.5]))
    assert list(mw.estimate_by(reports, column([1.5, float("nan"), 0.5]), missing="keep")) == [0.5, 1.5, None]


def test_groups_that_cannot_be_used_are_refused_in_one_line() -> None:
    design = mw.designs.direct(3)
    reports = design.mask([0, 1, None, 2], missing="keep")
    with pytest.raises(mw.DataError, match="1 of 3 groups have no reports but missing ones, first in data row 3"):
        mw.estimate_by(reports, ["a", "a", "b", "c"])
    for groups in (["a", 1, "b", 2], 3, [["a"], ["b"], ["c"], ["d"]], np.zeros((4, 2))):
        with pytest.raises(mw.DataError, match="groups must"):
            mw.estimate_by(design.mask([0, 1, 2, 2]), groups)
    with pytest.raises(mw.DataError, match="refuse"):
        mw.estimate_by(design.mask([0, 1]), ["a", "b"], missing="drop")  # type: ignore[arg-type]


def test_groups_are_one_table() -> None:
    reports = mw.designs.warner(truth_prob=0.8).mask(["yes", "no", "no", "no"] * 30, seed=1)
    found = mw.estimate_by(reports, ["north", "south", None] * 40, missing="keep")
    frame = found.to_frame(0.9)
    assert frame["group"].fillna("missing").tolist() == [*["north"] * 2, *["south"] * 2, *["missing"] * 2]
    assert set(frame["reports"]) == {40}
    assert frame["estimate"].tolist() == [float(share) for one in found.values() for share in one.proportions]
    assert frame[["lower", "upper"]].to_numpy()[2:4] == pytest.approx(found["south"].interval(0.9))
    assert "missing" in found.summary()
    assert [group["group"] for group in found.to_dict()["groups"]] == ["north", "south", None]
    assert found.plot(level=0.9).to_dict()["title"]["subtitle"][0].startswith("With 90 % intervals; 120 reports")


def test_a_picture_of_too_many_groups_is_refused() -> None:
    reports = mw.designs.warner(truth_prob=0.8).mask(["yes"] * 101, seed=1)
    with pytest.raises(mw.EstimationError, match="would have 202 lines"):
        mw.estimate_by(reports, range(101)).plot()


def test_what_cannot_be_estimated_together_says_what_can() -> None:
    spinners = [mw.designs.warner(truth_prob=p) for p in (0.7, 0.8)]
    reports = {i: spinner.mask(["yes", "no"] * 9, seed=i) for i, spinner in enumerate(spinners)}
    arms = mw.arms(reports, [0] * 18 + [1] * 18)
    with pytest.raises(mw.EstimationError, match=r"arms have several.*mw.compliance\(arms, \{\}\)"):
        mw.estimate(arms)  # type: ignore[arg-type]
    with pytest.raises(mw.EstimationError, match="arms have several"):
        mw.estimate(arms, sample=mw.Sample(weights=np.ones(36)))  # type: ignore[arg-type]
    assert mw.compliance(arms, {}).proportions.sum() == pytest.approx(1)
    with pytest.raises(mw.EstimationError, match="label: 1"):
        mw.estimate(reports[0]).contrast(["yes"])  # type: ignore[list-item]


def test_groups_by_date_can_be_written() -> None:
    reports = mw.designs.direct(["yes", "no"]).mask(["yes", "no"] * 20)
    days = [date(2026, 1, 1), date(2026, 1, 2)] * 20
    found = json.loads(json.dumps(mw.estimate_by(reports, days).to_dict()))
    assert [group["group"] for group in found["groups"]] == ["2026-01-01", "2026-01-02"]
