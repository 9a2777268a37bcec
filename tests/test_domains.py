"""Horvitz–Thompson totals and estimates by group."""

import numpy as np
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
