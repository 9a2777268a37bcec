"""Identification risk against counting by hand, and the forms in which it is reported."""

import json
import math
from collections import Counter
from pathlib import Path
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
from scipy import stats

import maskwell as mw
from maskwell.errors import EstimationError, MaskwellError
from maskwell.risk import assess
from maskwell.risk.individual import individual_risk
from maskwell.risk.poisson import curvatures, match_chance
from maskwell.risk.summary import TWO_ESTIMATES
from maskwell.views.pages.risk import risk_page

Floats = NDArray[np.float64]


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
    told = json.dumps(report.to_dict()) + report.summary() + repr(report) + report._repr_html_()
    assert "place-" not in told
    assert "sample uniques" in report.summary()


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
    "zero of no key": ({"structural_zeros": [{"sex": "m", "job": "x"}]}, "'job', which is not a key"),
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


def test_both_numbers_of_correct_matches_say_what_they_are() -> None:
    rng = np.random.Generator(np.random.PCG64(3))
    table = {"age": rng.integers(0, 60, 800).tolist(), "area": (rng.pareto(1.5, 800) * 4).astype(int).tolist()}
    report = assess(table, ["age", "area"], population_size=20_000)
    figures = report.to_dict()
    assert figures["individual_matches"] == report.individual_matches == pytest.approx(report.records.sum())
    assert figures["model"]["expected_matches"] == report.expected_matches
    assert f"{report.expected_matches:,.1f}" != f"{report.individual_matches:,.1f}"
    lines = [line for line in report.summary().splitlines() if "by the model" in line or "by the individual" in line]
    counted = [line for line in lines if "population" not in line]
    assert f"every record is matched: {report.expected_matches:,.1f} by the model" in counted[0]
    assert f"{report.individual_matches:,.1f} by the individual risks" in counted[1]
    assert TWO_ESTIMATES in report.summary()
    assert TWO_ESTIMATES in risk_page(report)
    assert f"{report.individual_matches:,.1f}" in risk_page(report)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".dta", ".sav"])
def test_what_microdata_reads_is_a_table(tmp_path: Path, suffix: str) -> None:
    table = {"sex": ["f", "f", "m", "m", "m"], "age": [30, 30, 30, 40, 40]}
    mw.microdata.write(table, tmp_path / f"a{suffix}")
    report = assess(mw.microdata.read(tmp_path / f"a{suffix}"), keys=["sex", "age"])
    assert report.sample_uniques == assess(table, keys=["sex", "age"]).sample_uniques == 1
