"""Identification risk against counting by hand, numerical integration, and populations whose true risk is known."""

import itertools
import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import linalg, optimize, stats

from maskwell.errors import DataError, EstimationError, MaskwellError
from maskwell.risk import RiskReport, assess, loglinear
from maskwell.risk.frequencies import Cells
from maskwell.risk.individual import individual_risk
from maskwell.risk.misfit import misfit
from maskwell.risk.poisson import curvatures, match_chance
from maskwell.risk.zeros import Zero

Floats = NDArray[np.float64]
# Two-sided quantile of a false-alarm rate of 1e-6 per comparison of a mean with its expectation.
FALSE_ALARM_Z = float(stats.norm.isf(0.5e-6))


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def small_table(seed: int, n: int = 200) -> dict[str, list[Any]]:
    """Keys of different types, two of them with missing values, and a sensitive column."""
    draw = generator(seed)
    return {
        "sex": [["f", "m"][i] for i in draw.integers(0, 2, n)],
        "age": [None if i == 0 else int(10 * i) for i in draw.binomial(7, 0.4, n)],
        "area": [None if i == 5 else "abcde"[i] for i in draw.integers(0, 6, n)],
        "married": [bool(i) for i in draw.integers(0, 2, n)],
        "income": [["low", "middle", "high", None][i] for i in draw.integers(0, 4, n)],
    }


KEYS = ["sex", "age", "area", "married"]


# Counting.


@pytest.mark.parametrize("seed", range(5))
def test_cells_are_those_counted_by_hand(seed: int) -> None:
    table = small_table(seed)
    rows = list(zip(*(table[key] for key in KEYS), strict=True))
    count = Counter(rows)
    report = assess(table, KEYS, sensitive="income")
    assert report.n == len(rows)
    assert report.sample_uniques == sum(c == 1 for c in count.values())
    assert report.sample_doubles == 2 * sum(c == 2 for c in count.values())
    assert report.k == min(count.values())
    assert [report.records_below(k) for k in (2, 3, 5)] == [sum(c for c in count.values() if c < k) for k in (2, 3, 5)]
    assert report.cells.counts[report.cell_of_record].tolist() == [count[row] for row in rows]
    labels = [tuple(own[c] for own, c in zip(report.cells.labels, cell, strict=True)) for cell in report.cells.codes]
    assert [labels[i] for i in report.cell_of_record] == rows
    assert report.missing == {key: table[key].count(None) for key in KEYS}
    for driver in report.by_key:
        others = zip(*(table[key] for key in KEYS if key != driver.key), strict=True)
        assert driver.uniques_without == sum(c == 1 for c in Counter(others).values())

    values: dict[Any, Counter[Any]] = {row: Counter() for row in count}
    for row, value in zip(rows, table["income"], strict=True):
        values[row][value] += 1
    diversity = report.diversity["income"]
    assert diversity.distinct.tolist() == [len(values[row]) for row in labels]
    entropy = [stats.entropy(list(values[row].values())) for row in labels]
    np.testing.assert_allclose(diversity.effective, np.exp(entropy), rtol=1e-12)
    assert diversity.l_distinct == 1
    assert diversity.records_below(2) == sum(count[row] for row in labels if len(values[row]) == 1)
    assert diversity.revealed == sum(c for row, c in count.items() if c > 1 and len(values[row]) == 1)


def as_backend(table: dict[str, list[Any]], backend: str) -> Any:
    frame = pd.DataFrame(table)
    match backend:
        case "pandas":
            return frame
        case "pandas categories":
            # In an order of their own, and with one that nobody has.
            return frame.assign(area=pd.Categorical(frame["area"], ["z", "e", "c", "d", "b", "a"]))
        case "pandas nullable":
            return frame.convert_dtypes()
        case "polars":
            return pl.DataFrame(table)
        case "polars categories":
            return pl.DataFrame(table).with_columns(pl.col("area").cast(pl.Categorical))
        case "polars lazy":
            return pl.DataFrame(table).lazy()
        case "arrow":
            return pa.table(table)
        case "arrow chunks":
            half = pa.table(table)
            encoded = [half.slice(0, 77), half.slice(77)]
            return pa.concat_tables(
                [t.set_column(2, "area", t["area"].combine_chunks().dictionary_encode()) for t in encoded]
            )
    return {name: np.array(column, object) for name, column in table.items()}


BACKENDS = (
    "pandas",
    "pandas categories",
    "pandas nullable",
    "polars",
    "polars categories",
    "polars lazy",
    "arrow",
    "arrow chunks",
    "arrays",
)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_table_is_the_same_wherever_it_comes_from(backend: str) -> None:
    table = small_table(3)
    expected = assess(table, KEYS, population_size=5_000, sensitive=["income"])
    found = assess(as_backend(table, backend), KEYS, population_size=5_000, sensitive=["income"])
    assert found.to_dict() == expected.to_dict()
    assert found.cells.labels == expected.cells.labels
    np.testing.assert_array_equal(found.records, expected.records)


def test_labels_are_matched_and_every_kind_of_missing_is_one() -> None:
    entries = pa.array(["x", None, "y", "x"])
    column = pa.DictionaryArray.from_arrays(pa.array([0, 3, 1, None, 2], pa.int8()), entries)
    report = assess(pa.table({"a": column}), "a")
    assert report.cells.labels == (("x", "y", None),)
    assert report.cells.counts.tolist() == [2, 1, 2]
    numbers = assess(pl.DataFrame({"a": [1.0, math.nan, None, 2.0, 1.0]}), "a")
    assert numbers.cells.labels == ((1.0, 2.0, None),)
    assert numbers.missing == {"a": 2}


@pytest.mark.parametrize(("keys", "size"), [(5, 60), (40, 7)])
def test_more_possible_cells_than_could_be_listed(keys: int, size: int) -> None:
    # 60^5 is counted by hashing; 7^40 does not fit 64 bits, so that ranks are taken on the way.
    n = 3_000
    codes = generator(keys).binomial(size - 1, 0.01, (n, keys))
    columns = {f"k{i}": codes[:, i] for i in range(keys)}
    report = assess(columns, list(columns), population_size=10 * n, model="independence")
    count = Counter(map(tuple, codes.tolist()))
    assert report.cells.counts[report.cell_of_record].tolist() == [count[row] for row in map(tuple, codes.tolist())]
    means = n * math.prod(np.bincount(codes[:, i])[codes[:, i]] / n for i in range(keys))
    alone = np.array([count[row] == 1 for row in map(tuple, codes.tolist())])
    assert report.tau1 == pytest.approx(np.exp(-9 * means[alone]).sum(), rel=1e-9)
    assert report.b1 is not None
    assert math.isfinite(report.b1)


# Risks in one cell.


def test_individual_risk_has_its_closed_forms() -> None:
    p = np.array([1e-6, 0.01, 0.2, 0.5, 0.8])
    odds = p / (1 - p)
    ones, twos = np.full(5, 1), np.full(5, 2)
    np.testing.assert_allclose(individual_risk(ones, 1 / p), odds * np.log(1 / p), rtol=1e-12)
    np.testing.assert_allclose(individual_risk(twos, 2 / p), odds - odds**2 * np.log(1 / p), rtol=1e-12)


@pytest.mark.parametrize("p", [1e-9, 1e-3, 0.1, 0.49, 0.51, 0.9, 0.999])
def test_individual_risk_is_the_integral_and_the_mean_over_populations(p: float) -> None:
    counts = np.array([1, 2, 3, 7, 29, 30, 31, 200, 5_000])
    found = individual_risk(counts, counts / p)
    odds = (1 - mpmath.mpf(p)) / p
    with mpmath.workdps(30):
        # Cut where the integrand bends.
        for f, risk in zip(counts.tolist(), found, strict=True):
            exact = mpmath.quad(lambda t, f=f: t ** (f - 1) / (1 + odds * t), [0, min(1, 1 / odds), 1])
            assert risk == pytest.approx(float(exact), rel=1e-11)
    if p >= 0.1:
        j = np.arange(7, 2_000)
        assert found[3] == pytest.approx((stats.nbinom.pmf(j - 7, 7, p) / j).sum(), rel=1e-10)


def test_a_fully_sampled_cell_has_the_risk_of_its_size() -> None:
    counts = np.array([1, 2, 50])
    np.testing.assert_allclose(individual_risk(counts, counts.astype(float)), 1 / counts, rtol=1e-14)
    np.testing.assert_allclose(individual_risk(counts, 0.5 * counts), 1 / counts, rtol=1e-14)


@given(st.integers(1, 3_000), st.floats(0, 1e6))
def test_match_chance_is_the_integral(f: int, m: float) -> None:
    found = match_chance(np.array([f]), np.array([m]))[0]
    with mpmath.workdps(30):
        assert found == pytest.approx(float(mpmath.hyp1f1(1, f + 1, -m) / f), rel=1e-11)


def test_match_chance_of_a_unique_is_r2() -> None:
    m = np.array([0.0, 1e-9, 0.3, 5.0, 800.0])
    expected = [1.0, *(-np.expm1(-m[1:]) / m[1:])]
    np.testing.assert_allclose(match_chance(np.ones(5, np.int64), m), expected, rtol=1e-13)


@pytest.mark.parametrize("x", [0.0, 1e-6, 0.04, 0.06, 1.0, 30.0])
def test_derivatives_of_the_risks(x: float) -> None:
    fraction = 0.2
    unique, match = curvatures(np.array([x]), fraction)
    risks = (lambda v: mpmath.exp(-v), lambda v: mpmath.hyp1f1(1, 2, -v))
    for found, risk in zip((unique, match), risks, strict=True):
        with mpmath.workdps(40):
            slope, bend = (float(mpmath.diff(risk, x, k) * (1 - fraction) ** k) for k in (1, 2))
        assert found.slope[0] == pytest.approx(slope, rel=1e-9)
        assert found.bend[0] == pytest.approx(bend, rel=1e-9)


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


# What is known of the population.


def test_without_a_population_only_the_file_is_described() -> None:
    report = assess(small_table(1), KEYS)
    assert report.tau1 is None
    assert report.tau2 is None
    assert report.b1 is None
    assert report.expected_matches is None
    np.testing.assert_allclose(report.records, 1 / report.cells.counts[report.cell_of_record])
    assert "tau1 and tau2 need weights= or population_size=" in report.summary()
    assert "area is missing in" in report.summary()
    assert json.loads(json.dumps(report.to_dict()))["model"] is None


def test_weights_say_how_large_the_population_is() -> None:
    table = small_table(1)
    weights = generator(1).uniform(5, 50, 200)
    by_vector, by_name = assess(table, KEYS, weights=weights), assess({**table, "w": weights}, KEYS, weights="w")
    assert by_vector.population_size == pytest.approx(weights.sum())
    assert by_vector.to_dict() == by_name.to_dict()
    sums = np.bincount(by_vector.cell_of_record, weights)
    expected = individual_risk(by_vector.cells.counts, sums)[by_vector.cell_of_record]
    np.testing.assert_allclose(by_vector.records, expected, rtol=1e-13)
    equal, known = assess(table, KEYS, weights=np.full(200, 20)), assess(table, KEYS, population_size=4_000)
    np.testing.assert_allclose(equal.records, known.records, rtol=1e-12)
    assert equal.tau1 == pytest.approx(known.tau1)
    assert assess(table, KEYS, weights, population_size=9_000).sampling_fraction == pytest.approx(200 / 9_000)


def test_a_census_has_the_risk_of_its_cells() -> None:
    report = assess(small_table(2), KEYS, population_size=200)
    assert report.tau1 == report.sample_uniques
    assert report.tau2 == pytest.approx(report.sample_uniques)
    assert report.expected_matches == pytest.approx(len(report.cells))
    assert (report.b1, report.b2) == (0, 0)


def test_all_matches_contain_those_of_the_uniques() -> None:
    report = assess(small_table(2), KEYS, population_size=4_000)
    assert report.modelled is not None
    single = report.cells.counts == 1
    assert report.tau2 == pytest.approx(report.modelled.match_chances[single].sum())
    assert report.expected_matches == pytest.approx(report.modelled.match_chances[report.cell_of_record].sum())


# Forms.


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_follow_the_table_the_cells_and_the_keys(backend: Any) -> None:
    report = assess(small_table(4), KEYS, population_size=5_000, sensitive="income")
    records, cells, keys = (pa.table(report.to_frame(of, backend)) for of in ("records", "cells", "keys"))
    np.testing.assert_allclose(records["individual_risk"].to_numpy(), report.records)
    assert records["cell_size"].to_pylist() == report.cells.counts[report.cell_of_record].tolist()
    assert (cells.num_rows, keys.num_rows) == (len(report.cells), len(KEYS))
    assert cells["area"].to_pylist()[0] in (*"abcde", None)
    unique = np.array(cells["cell_size"].to_pylist()) == 1
    assert sum(cells["uniqueness"].to_pylist()) == pytest.approx(report.tau1)
    assert sum(np.array(cells["modelled_risk"].to_pylist())[unique]) == pytest.approx(report.tau2)


def test_the_summary_and_the_dictionary_single_nobody_out() -> None:
    table = {**small_table(5), "area": [f"place-{i % 7}" for i in range(200)]}
    report = assess(table, KEYS, population_size=5_000, sensitive="income")
    told = json.dumps(report.to_dict()) + report.summary() + repr(report)
    assert "place-" not in told
    assert "sample uniques" in report.summary()
    assert report.summary() in report._repr_html_().replace("&gt;", ">").replace("&lt;", "<").replace("&#x27;", "'")


def test_one_key_is_enough() -> None:
    report = assess({"a": [1, 1, 2, 3, 3]}, "a", population_size=50)
    assert report.sample_uniques == 1
    assert report.by_key[0].uniques_without == 0


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no keys": ({"keys": []}, "keys must name"),
    "unknown key": ({"keys": ["sex", "aeg"]}, "no column 'aeg'; it has sex, age"),
    "key twice": ({"keys": ["sex", "sex"]}, "more than once"),
    "keys not names": ({"keys": 3}, "list of column names"),
    "key and sensitive": ({"sensitive": ["sex"]}, "both a key and sensitive"),
    "not a table": ({"table": [1, 2]}, "data frame or a mapping"),
    "no rows": ({"table": {"sex": [], "age": []}}, "no rows"),
    "ragged": ({"table": {"sex": [1, 2], "age": [1]}}, "equally many rows"),
    "mixed types": ({"table": {"sex": [1, "m"], "age": [1, 2]}}, "mixed or unreadable"),
    "nested": ({"table": pa.table({"sex": [[1], [2]], "age": [1, 2]})}, "no categories"),
    "small population": ({"population_size": 3}, "population_size must be a number of at least the 200"),
    "population as text": ({"population_size": "many"}, "population_size must be a number"),
    "small weights": ({"weights": [0.1] * 200}, "weights sum to 20"),
    "zero weights": ({"weights": [0.0] * 200}, "zero or negative in 200 of 200 rows"),
    "text weights": ({"weights": "sex"}, "weights must be numbers"),
    "few weights": ({"weights": [2.0] * 10}, "one number per row; got 10 for 200"),
    "unknown model": ({"model": "best"}, "model must be one of stepwise"),
    "model of numbers": ({"model": 2}, "model must be a name or a list"),
    "unknown interaction": ({"model": [("sex", "job")]}, "names 'job'"),
    "short interaction": ({"model": [("sex",)]}, "fewer than two keys"),
    "interaction as text": ({"model": ["sex"]}, "a tuple of two keys or more"),
    "zeros not a list": ({"structural_zeros": {"sex": "m"}}, "list of mappings"),
    "zero of one key": ({"structural_zeros": [{"sex": "m"}]}, "two keys or more"),
    "zero of no key": ({"structural_zeros": [{"sex": "m", "job": "x"}]}, "'job', which is no key"),
}


@pytest.mark.parametrize(("changed", "message"), BAD.values(), ids=BAD)
def test_mistakes_are_named_in_one_line(changed: dict[str, Any], message: str) -> None:
    arguments = {"table": small_table(1), "keys": ["sex", "age"], "population_size": 5_000} | changed
    if "weights" in changed:
        del arguments["population_size"]
    with pytest.raises(MaskwellError, match=message) as caught:
        assess(**arguments)
    assert "\n" not in str(caught.value)


def test_a_table_too_large_for_a_model_is_refused_with_the_remedy() -> None:
    codes = generator(1).integers(0, 50, (400, 6))
    columns = {f"k{i}": codes[:, i] for i in range(6)}
    with pytest.raises(EstimationError, match="coarsen a key, or name fewer interactions"):
        assess(columns, list(columns), population_size=5_000, model="two-way")
    with pytest.raises(EstimationError, match='takes of="records", "cells" or "keys"'):
        assess(columns, list(columns)).to_frame(of="rows")  # type: ignore[arg-type]
