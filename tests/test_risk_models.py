"""Log-linear models of risk against numerical optimisation and populations whose true risk is known."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import linalg, optimize, stats

from maskwell.errors import DataError
from maskwell.risk import RiskReport, assess, loglinear
from maskwell.risk.frequencies import Cells
from maskwell.risk.misfit import misfit
from maskwell.risk.structural_zeros import Zero

Floats = NDArray[np.float64]
# Two-sided quantile of a false-alarm rate of 1e-6 per comparison of a mean with its expectation.
FALSE_ALARM_Z = float(stats.norm.isf(0.5e-6))


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


# Log-linear models.


def cells_of(counts: NDArray[np.int64]) -> Cells:
    labels = tuple(tuple(range(size)) for size in counts.shape)
    return Cells(tuple("abcdef"[: counts.ndim]), labels, np.argwhere(counts > 0), counts[counts > 0])


def all_means(model: loglinear.Fit, shape: tuple[int, ...]) -> Floats:
    return model.means(np.argwhere(np.ones(shape, bool))).reshape(shape)


def poisson_regression(counts: NDArray[np.int64], interactions: Sequence[Sequence[int]], allowed: Any) -> Floats:
    """The same fit by maximising the likelihood over indicator columns, cell by cell."""
    columns = []
    for keys in ((), *((i,) for i in range(counts.ndim)), *interactions):
        for levels in itertools.product(*(range(counts.shape[k]) for k in keys)):
            column = np.zeros(counts.shape)
            column[tuple(levels[list(keys).index(i)] if i in keys else slice(None) for i in range(counts.ndim))] = 1
            columns.append(column[allowed])
    x, y = linalg.orth(np.stack(columns, axis=1)), counts[allowed]

    def loss(b: Floats) -> tuple[float, Floats]:
        means = np.exp(x @ b)
        return float(means.sum() - y @ (x @ b)), x.T @ (means - y)

    found = optimize.minimize(loss, np.zeros(x.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-7})
    means = np.zeros(counts.shape)
    means[allowed] = np.exp(x @ found.x)
    return means


SHAPE = (4, 3, 3)
COUNTS = generator(1).poisson(6.0, SHAPE) + 1


@pytest.mark.parametrize("interactions", [[], [(0, 1)], [(0, 1), (1, 2)], [(0, 1), (0, 2), (1, 2)], [(0, 1, 2)]])
def test_fitted_means_maximise_the_likelihood(interactions: list[tuple[int, ...]]) -> None:
    expected = poisson_regression(COUNTS, interactions, np.ones(SHAPE, bool))
    cells = cells_of(COUNTS)
    model = loglinear.fit(cells, interactions)
    assert model.converged
    np.testing.assert_allclose(all_means(model, SHAPE), expected, rtol=1e-4)
    grown = loglinear.independent(cells)
    for interaction in interactions:
        grown = loglinear.extended(grown, cells, interaction)
    np.testing.assert_allclose(all_means(grown, SHAPE), expected, rtol=1e-4)


def test_structural_zeros_stay_zero_and_the_rest_is_fitted_around_them() -> None:
    counts = COUNTS.copy()
    allowed = np.ones(SHAPE, bool)
    allowed[1:3, 2, :] = False
    counts[~allowed] = 0
    model = loglinear.fit(cells_of(counts), [], [Zero((0, 1), (frozenset({1, 2}), frozenset({2})))])
    means = all_means(model, SHAPE)
    assert (means[~allowed] == 0).all()
    np.testing.assert_allclose(means, poisson_regression(counts, [], allowed), rtol=1e-4)
    assert [part.axes for part in model.components] == [(2,), (0, 1)]


def test_declared_zeros_raise_the_means_of_possible_cells() -> None:
    a, b = np.meshgrid(np.arange(4), np.arange(3), indexing="ij")
    kept = ~((a == 0) & (b == 0))
    table = {"a": np.repeat(a[kept], 3), "b": np.repeat(b[kept], 3)}
    zero = [{"a": 0, "b": [0, 99]}]
    with_zero = assess(table, ["a", "b"], population_size=500, model="independence", structural_zeros=zero)
    assert with_zero.modelled is not None
    np.testing.assert_allclose(with_zero.modelled.fit.means(with_zero.cells.codes), 3, atol=1e-4)
    with pytest.raises(DataError, match=r"structural_zeros\[0\] is contradicted by 3 of 33 records"):
        assess(table, ["a", "b"], population_size=500, structural_zeros=[{"a": 0, "b": 1}])


def test_sums_over_cells_do_not_need_the_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = cells_of(generator(2).poisson(0.3, (12, 10, 9, 8)))
    for interactions in ([], [(0, 2)], list(itertools.combinations(range(4), 2))):
        model = loglinear.fit(cells, interactions)
        exact = misfit(cells, model, 0.05)
        with monkeypatch.context() as patch:
            patch.setattr(loglinear, "_MOST_SUMMED", 0)
            law = misfit(cells, model, 0.05)
        scale = abs(exact.b1 / exact.z1), abs(exact.b2 / exact.z2)
        assert law.b1 == pytest.approx(exact.b1, abs=1e-4 * scale[0])
        assert law.b2 == pytest.approx(exact.b2, abs=1e-4 * scale[1])
        assert (law.z1, law.z2) == pytest.approx((exact.z1, exact.z2), rel=1e-3)


def test_b_statistics_are_the_sums_over_all_cells() -> None:
    counts, fraction = generator(4).poisson(0.5, (6, 5, 4)), 0.1
    cells = cells_of(counts)
    model = loglinear.fit(cells, [(0, 1)])
    found, mu = misfit(cells, model, fraction), all_means(model, counts.shape)
    c, lam = 1 - fraction, mu / fraction
    residual = counts - mu
    square = residual**2 - counts
    linear, curved = c * lam * np.exp(-lam), c**2 * lam * np.exp(-lam) / (2 * fraction)
    assert found.b1 == pytest.approx((linear * residual + curved * square).sum(), rel=1e-9)
    spread = math.sqrt((linear**2 * mu + 2 * curved**2 * mu**2).sum())
    assert found.z1 == pytest.approx(found.b1 / spread, rel=1e-9)
    # The same for the chance of a match, whose derivatives are taken numerically.
    x, step = np.maximum(c * lam, 0.01), 1e-4  # empty means carry no weight
    risk = [-np.expm1(-(x + i * step)) / (x + i * step) for i in (-1, 0, 1)]
    slope, bend = c * (risk[2] - risk[0]) / (2 * step), c**2 * (risk[2] - 2 * risk[1] + risk[0]) / step**2
    terms = mu * np.exp(-mu) * (-slope / fraction * residual + bend / (2 * fraction**2) * square)
    assert found.b2 == pytest.approx(terms.sum(), rel=1e-4)


def test_taus_use_the_population_mean() -> None:
    """The sample mean in its place, as a widely used package has it, would overstate the risk many times."""
    table = {"a": [0] * 30 + [1] * 8 + [2, 3], "b": ([0, 1, 2] * 14)[:40]}
    report = assess(table, ["a", "b"], population_size=400, model="independence")
    n, fraction, expected, wrong = 40, 0.1, [], []
    for (a, b), count in Counter(zip(table["a"], table["b"], strict=True)).items():
        if count == 1:
            mean = table["a"].count(a) * table["b"].count(b) / n
            expected.append(math.exp(-mean / fraction * (1 - fraction)))
            wrong.append(math.exp(-mean * (1 - fraction)))
    assert report.tau1 == pytest.approx(sum(expected), rel=1e-12)
    assert sum(wrong) > 5 * sum(expected)
    assert report.tau2 is not None
    assert report.tau1 is not None
    assert report.tau1 < report.tau2 < report.sample_uniques


# Populations whose true risk is known.


class Population:
    """Poisson frequencies with means of a log-linear form; draws a sample and its truth."""

    def __init__(self, seed: int, shape: tuple[int, ...], size: float, pairs: Sequence[tuple[int, int]], effect: float):
        self.draw = generator(seed)
        means = np.ones(shape)
        for axis, k in enumerate(shape):
            margin = self.draw.dirichlet(np.ones(k))
            means *= margin.reshape([-1 if i == axis else 1 for i in range(len(shape))])
        for pair in pairs:
            means *= np.exp(self.draw.normal(0, effect, [k if i in pair else 1 for i, k in enumerate(shape)]))
        self.means: Floats = size * means / means.sum()
        self.keys = [f"k{i}" for i in range(len(shape))]

    def assess(self, fraction: float, model: Any) -> tuple[RiskReport, float, float]:
        """A report on a sample, and how many of its uniques are population uniques and how many matches are right."""
        people = self.draw.poisson(self.means)
        sample = self.draw.binomial(people, fraction)
        cell = np.repeat(np.arange(sample.size), sample.reshape(-1))
        columns = dict(zip(self.keys, np.unravel_index(cell, sample.shape), strict=True))
        report = assess(columns, self.keys, population_size=int(people.sum()), model=model)
        alone = people[sample == 1]
        return report, float((alone == 1).sum()), float((1 / alone).sum())


PAIRS = list(itertools.combinations(range(4), 2))
TRIPLES = [tuple(f"k{i}" for i in three) for three in itertools.combinations(range(4), 3)]


def errors_and_truth(population: Population, fraction: float, model: Any, runs: int) -> tuple[Floats, Floats, Floats]:
    """Errors of both taus, the truth, and the larger standardised B of each run."""
    errors, truths, worst = [], [], []
    for _ in range(runs):
        report, *truth = population.assess(fraction, model)
        assert report.modelled is not None
        errors.append([report.modelled.tau1 - truth[0], report.modelled.tau2 - truth[1]])
        truths.append(truth)
        fit = report.modelled.misfit
        worst.append(max(fit.z1, fit.z2, key=abs))
    return np.array(errors), np.array(truths), np.array(worst)


@pytest.mark.parametrize(
    ("model", "pairs", "size", "fraction"),
    [
        ("independence", [], 20_000, 0.1),
        ("stepwise", [], 20_000, 0.1),
        ([("k0", "k1"), ("k0", "k2")], PAIRS[:2], 40_000, 0.2),
        ("two-way", PAIRS, 160_000, 0.2),
        ("stepwise", PAIRS[:2], 40_000, 0.2),
    ],
)
def test_taus_recover_the_truth_where_the_model_holds(model: Any, pairs: Any, size: float, fraction: float) -> None:
    """The mean error is 0 within its Monte-Carlo error, up to 4 % of the truth for the bias of estimated means."""
    runs = 120
    errors, truths, _ = errors_and_truth(Population(8, (10, 8, 6, 5), size, pairs, 0.5), fraction, model, runs)
    allowed = FALSE_ALARM_Z * errors.std(axis=0, ddof=1) / math.sqrt(runs) + 0.04 * truths.mean(axis=0)
    assert (np.abs(errors.mean(axis=0)) <= allowed).all()
    # The test can tell: an error of a quarter of the truth would be noticed.
    assert (allowed < 0.25 * truths.mean(axis=0)).all()


def test_b_is_quiet_where_the_model_holds_and_loud_where_it_does_not() -> None:
    independent, dependent = (
        Population(9, (10, 8, 6, 5), 20_000, [], 0),
        Population(9, (10, 8, 6, 5), 20_000, PAIRS, 0.5),
    )
    runs = 60
    _, _, quiet = errors_and_truth(independent, 0.1, "independence", runs)
    # Either of two statistics beyond 2: below 10 % of runs if each is standard normal; alarm rate 1e-6.
    assert (np.abs(quiet) > 2).sum() <= stats.binom.isf(1e-6, runs, 0.1)
    _, _, simple = errors_and_truth(dependent, 0.1, "independence", 10)
    assert (simple > 2).all()
    _, _, rich = errors_and_truth(independent, 0.1, TRIPLES, 5)
    assert (rich < -2).all()


def test_an_overfitted_model_understates_the_risk_and_the_stepwise_one_does_not() -> None:
    population = Population(10, (10, 8, 6, 5), 20_000, [], 0)
    rich, truths, _ = errors_and_truth(population, 0.1, TRIPLES, 5)
    assert (rich.mean(axis=0) < -0.3 * truths.mean(axis=0)).all()
    stepwise, truths, _ = errors_and_truth(population, 0.1, "stepwise", 20)
    assert (np.abs(stepwise.mean(axis=0)) < 0.2 * truths.mean(axis=0)).all()


def test_stepwise_finds_the_interactions_that_matter() -> None:
    population = Population(12, (10, 8, 6, 5), 100_000, [(0, 1)], 1.0)
    report, *_ = population.assess(0.2, "stepwise")
    assert report.modelled is not None
    assert report.modelled.interactions[0] == ("k0", "k1")
    assert report.modelled.misfit.verdict == "fits"
    sizes = [step.misfit.worst for step in report.modelled.steps]
    assert sizes == sorted(sizes, reverse=True)
