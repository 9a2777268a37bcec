"""Risk where records stand for different numbers of people, and where keys are missing.

Fits and statistics of weighted records against sums over all cells, and matches with missing keys counted again record
by record.
"""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from maskwell.errors import DataError
from maskwell.risk import assess
from maskwell.risk.individual import individual_risk
from tests.evidence.risk_weights import CHANCES, CODES, KEYS, SAMPLINGS, SHAPE, survey

Floats = NDArray[np.float64]


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


# Unequal weights; tests/evidence/risk_weights.py measures the bias of tau1 and tau2.


def test_b_is_quiet_where_the_model_holds_and_weights_are_unequal() -> None:
    rng, found = generator(6), []
    for _ in range(30):
        drawn = survey(rng, SAMPLINGS["by a key"]())
        report = assess(drawn.table, KEYS, drawn.weights, model="independence")
        assert report.modelled is not None
        fit = report.modelled.misfit
        found.append((fit.z1, fit.z2))
    # Each beyond 2 in below 10 % of runs if it is standard normal; alarm rate 1e-6.
    assert (np.abs(found) > 2).sum(axis=0).max() <= stats.binom.isf(1e-6, 30, 0.1)


def test_the_two_fits_reproduce_weighted_and_plain_margins() -> None:
    drawn = survey(generator(7), SAMPLINGS["by something that goes with a key"]())
    report = assess(drawn.table, KEYS, drawn.weights, model=[("k0", "k1")])
    assert report.modelled is not None
    every = np.stack([codes.reshape(-1) for codes in CODES], axis=1)
    seen = [np.isin(np.arange(size), drawn.table[key]) for key, size in zip(KEYS, SHAPE, strict=True)]
    assert all(own.all() for own in seen)
    people = report.modelled.weighted.means(every) / report.modelled.fraction
    records = report.modelled.fit.means(every)
    for key, codes in zip(KEYS, CODES, strict=True):
        np.testing.assert_allclose(np.bincount(codes, people), np.bincount(drawn.table[key], drawn.weights), atol=1e-2)
        np.testing.assert_allclose(np.bincount(codes, records), np.bincount(drawn.table[key]), atol=1e-3)
    both = np.bincount(CODES[0] * 12 + CODES[1], people)
    expected = np.bincount(drawn.table["k0"] * 12 + drawn.table["k1"], drawn.weights, 24)
    np.testing.assert_allclose(both, expected, atol=1e-2)


def test_who_is_not_in_the_sample_are_the_people_of_a_cell_less_its_records() -> None:
    """By independence both are products of margins; where most of a kind were drawn, few others are left."""
    rng = generator(9)
    table = {"one": rng.integers(0, 12, 60), "two": rng.integers(0, 9, 60)}
    weights = np.where(table["one"] < 6, 1.5, 4.0)
    report = assess(table, ["one", "two"], weights, model="independence")
    n, size = len(weights), weights.sum()
    first, second = table["one"], table["two"]
    records = np.bincount(first)[first] * np.bincount(second)[second] / n
    people = np.bincount(first, weights)[first] * np.bincount(second, weights)[second] / size
    alone = np.unique(first * 9 + second, return_inverse=True, return_counts=True)
    others = (people - records)[alone[2][alone[1]] == 1]
    assert 3 < len(others) < n
    assert others.min() > 0
    assert report.tau1 == pytest.approx(np.exp(-others).sum(), rel=1e-6)
    assert report.tau2 == pytest.approx((-np.expm1(-others) / others).sum(), rel=1e-6)


def test_b_with_weights_is_the_sum_over_all_cells() -> None:
    drawn = survey(generator(8), SAMPLINGS["by a key"]())
    report = assess(drawn.table, KEYS, drawn.weights, model="independence")
    assert report.modelled is not None
    found, pi = report.modelled.misfit, report.modelled.fraction
    cell = np.ravel_multi_index([drawn.table[key] for key in KEYS], SHAPE)
    seen = pi * np.bincount(cell, drawn.weights, CHANCES.size)
    variance = pi**2 * np.bincount(cell, drawn.weights**2, CHANCES.size)
    mu = report.modelled.weighted.means(np.stack(CODES, axis=1))
    c, lam = 1 - pi, mu / pi
    linear, curved = c * lam * np.exp(-lam), c**2 * lam * np.exp(-lam) / (2 * pi)
    b1 = (linear * (seen - mu) + curved * ((seen - mu) ** 2 - variance)).sum()
    expected = mu * variance.sum() / seen.sum()
    assert found.b1 == pytest.approx(b1, rel=1e-6)
    assert found.z1 == pytest.approx(b1 / np.sqrt((linear**2 * expected + 2 * curved**2 * expected**2).sum()), rel=1e-6)


def test_weights_of_counted_records_are_those_of_single_ones() -> None:
    drawn = survey(generator(9), SAMPLINGS["by something else"]())
    cell = np.ravel_multi_index([drawn.table[key] for key in KEYS], SHAPE)
    there, first, place, times = np.unique(cell, return_index=True, return_inverse=True, return_counts=True)
    counted = {key: column[first] for key, column in drawn.table.items()} | {
        "times": times,
        "weight": np.bincount(place, drawn.weights, len(there)),
        "squares": np.bincount(place, drawn.weights**2, len(there)),
    }
    one = assess(drawn.table, KEYS, drawn.weights)
    many = assess(counted, KEYS, "weight", repeats="times", squares="squares")
    for figure in ("tau1", "tau2", "b1", "b2", "expected_matches"):
        assert getattr(many, figure) == pytest.approx(getattr(one, figure)), figure
    equal = assess(counted, KEYS, "weight", repeats="times")
    assert (equal.cells.squares <= many.cells.squares * (1 + 1e-12)).all()


# Missing keys that match anything.


def holes(seed: int, n: int = 150) -> tuple[dict[str, list[Any]], Floats]:
    draw = generator(seed)
    columns = {
        "sex": [["f", "m", None][i] for i in draw.choice(3, n, p=[0.45, 0.45, 0.1])],
        "age": [None if i == 0 else int(10 * i) for i in draw.binomial(7, 0.4, n)],
        "area": [None if i == 5 else "abcde"[i] for i in draw.integers(0, 6, n)],
        "married": [bool(i) for i in draw.integers(0, 2, n)],
    }
    return columns, draw.uniform(2, 9, n)


def matched(rows: list[tuple[Any, ...]], weights: Floats) -> tuple[list[int], list[float]]:
    """For every record, how many match it and their weights, one pair of records at a time."""
    same = [
        [all(x is None or y is None or x == y for x, y in zip(one, other, strict=True)) for other in rows]
        for one in rows
    ]
    return [sum(row) for row in same], [float(weights[row].sum()) for row in np.array(same)]


@pytest.mark.parametrize("seed", range(3))
def test_wildcards_are_counted_as_by_hand(seed: int) -> None:
    table, weights = holes(seed)
    keys = list(table)
    rows = list(zip(*table.values(), strict=True))
    counts, sums = matched(rows, weights)
    report = assess(table, keys, weights, missing="wildcard")
    assert report.cells.matches[report.require_records()].tolist() == counts
    assert report.sample_uniques == counts.count(1)
    assert report.sample_doubles == counts.count(2)
    assert report.k == min(counts)
    assert [report.records_below(k) for k in (2, 3, 5)] == [sum(c < k for c in counts) for k in (2, 3, 5)]
    np.testing.assert_allclose(report.records, individual_risk(np.array(counts), np.array(sums)), rtol=1e-12)
    assert report.to_frame("records")["cell_size"].tolist() == counts
    for driver in report.by_key:
        others = [row[: keys.index(driver.key)] + row[keys.index(driver.key) + 1 :] for row in rows]
        assert driver.uniques_without == matched(others, weights)[0].count(1)


def test_a_wildcard_needs_a_missing_value_to_matter() -> None:
    table, weights = holes(4)
    whole = {key: column for key, column in table.items() if None not in column}
    assert list(whole) == ["married"]
    one, other = (assess(whole, list(whole), weights, missing=how) for how in ("category", "wildcard"))
    assert one.to_dict() == other.to_dict()
    assert one.tau1 is not None


def test_with_wildcards_there_is_no_model_and_it_is_said() -> None:
    table, weights = holes(4)
    report = assess(table, list(table), weights, missing="wildcard")
    assert report.tau1 is None
    assert "sex is missing in" in report.summary()
    assert "missing matches any value" in report.summary()
    assert "missing is a category" in report.summary()
    assert report.to_dict()["missing_matches"] == "anything"


def test_many_records_with_wildcards_are_not_compared_pair_by_pair() -> None:
    """300,000 records of 8 keys, all of which may be missing: pairs would be 9e10."""
    draw, n = generator(3), 300_000
    table = {f"k{i}": np.where(draw.random(n) < 0.05, np.nan, draw.integers(0, 9, n)) for i in range(8)}
    report = assess(table, list(table), missing="wildcard")
    row = 12_345
    agree = np.ones(n, bool)
    for column in table.values():
        agree &= (column == column[row]) | np.isnan(column) | np.isnan(column[row])
    assert report.cells.matches[report.require_records()[row]] == agree.sum()


def test_what_cannot_go_with_wildcards_is_refused() -> None:
    table, _ = holes(4)
    with pytest.raises(DataError, match="records with wildcards do not form"):
        assess(table, ["sex", "age"], sensitive="area", missing="wildcard")
    with pytest.raises(DataError, match='missing must be "category" or "wildcard"; got \'any\''):
        assess(table, ["sex", "age"], missing="any")  # type: ignore[arg-type]
