"""General post-randomization: invariant matrices, strata, neighbours, and estimates from the released file.

Statistical tests use fixed seeds. Each mean is compared at a false-alarm rate of 1e-6 in all, from exact variances.
"""

import importlib
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from maskwell import designs
from maskwell.designs.channels.stages import StageChannel, stage
from maskwell.errors import DataError, DesignError, EstimationError
from maskwell.release import (
    PramRelease,
    ReleasePlan,
    band,
    by_distance,
    pram,
)
from maskwell.release.pram.invariant import two_stage

FALSE_ALARM = 1e-6


# General post-randomization.


def areas(n: int = 400) -> dict[str, list[Any]]:
    random = np.random.default_rng(8)
    return {
        "area": random.choice(["north", "east", "south", "west"], n, p=[0.4, 0.3, 0.2, 0.1]).tolist(),
        "sex": random.choice(["m", "f"], n).tolist(),
    }


START = designs.from_matrix(
    [[0.7, 0.1, 0.2, 0.0], [0.1, 0.8, 0.1, 0.3], [0.1, 0.1, 0.6, 0.2], [0.1, 0.0, 0.1, 0.5]],
    ["west", "south", "north", "east"],  # no order that a table or a sort would have
)


def test_two_stages_are_exactly_invariant_from_any_start() -> None:
    random = np.random.default_rng(2)
    for k, scale in ((2, 5), (5, 100), (9, 10**6)):
        weights = random.integers(0, 10, (k, k)) + np.eye(k, dtype=int)
        start = np.array([[Fraction(int(w), int(weights[:, j].sum())) for j, w in enumerate(row)] for row in weights])
        counts = random.integers(1, scale, k).tolist()
        path = two_stage(start, counts)
        assert path.keeps(counts)
        assert (path.exact() @ np.array(counts, dtype=object) == counts).all()
        assert (path.exact().sum(axis=0) == 1).all()


def test_an_awkward_start_is_invariant_all_the_same() -> None:
    start = designs.from_matrix([[0.123456789123, 1 / 3], [0.876543210877, 2 / 3]], ["a", "b"])
    made = pram({"x": ["a"] * 999 + ["b"] * 12345}, "x", matrix=start, seed=1)
    assert made.plan.steps[0].keeps_frequencies


def test_a_matrix_is_matched_by_label_whatever_the_order() -> None:
    table = areas()
    made = pram(table, "area", matrix=START, invariant=False, seed=1)
    step = made.plan.steps[0]
    exact = START.matrix(exact=True)
    for i, report in enumerate(START.categories):
        for j, truth in enumerate(START.categories):
            assert step.matrix()[step.labels.index(report), step.labels.index(truth)] == exact[i, j]
    labels = ["west", "south", "north", "east"]
    named = {t: {r: exact[labels.index(r), labels.index(t)] for r in labels[::-1]} for t in sorted(labels)}
    assert pram(table, "area", matrix=named, invariant=False, seed=1).table == made.table
    frame = pd.DataFrame(table).astype({"area": pd.CategoricalDtype(["west", "north", "south", "east"])})
    moved = pram(frame, "area", matrix=START, invariant=False, seed=1).table
    assert moved["area"].tolist() == made.table["area"]
    assert list(moved["area"].cat.categories) == ["west", "north", "south", "east"]
    # East never becomes west and south never east: a mismatch of labels would show at once.
    pairs = set(zip(table["area"], made.table["area"], strict=True))
    assert not pairs & {("east", "west"), ("south", "east")}


def test_counts_stay_with_their_labels() -> None:
    step = pram({"x": ["b"] * 7 + ["a"] * 3 + ["c"] * 5}, "x", least_diagonal=0.5, seed=1).plan.steps[0]
    assert dict(zip(step.labels, step.counts[0], strict=True)) == {"a": 3, "b": 7, "c": 5}


@pytest.mark.parametrize("invariant", [True, False])
def test_a_diagonal_means_what_it_says(invariant: bool) -> None:
    made = pram(areas(), "area", diagonal=0.8, invariant=invariant, seed=1)
    assert set(made.plan.steps[0].diagonals()[()].values()) == {Fraction(4, 5)}
    assert made.plan.steps[0].keeps_frequencies == invariant
    own = {"north": 0.9, "east": 0.85, "south": 0.8, "west": 0.5}
    made = pram(areas(), "area", diagonal=own, invariant=invariant, seed=1)
    assert made.plan.steps[0].diagonals()[()] == {label: Fraction(str(d)) for label, d in own.items()}


def test_a_diagonal_that_frequencies_forbid_is_refused_with_one_that_works() -> None:
    table = {"x": ["a"] * 70 + ["b"] * 20 + ["c"] * 10}
    with pytest.raises(DesignError, match=r"too low for a category of 70 .*at least 0\.9143") as caught:
        pram(table, "x", diagonal=0.8, seed=1)
    assert "\n" not in str(caught.value)
    made = pram(table, "x", diagonal={"a": Fraction(32, 35), "b": 0.8, "c": 0.8}, seed=1)  # at the very edge
    assert made.plan.steps[0].keeps_frequencies
    assert made.plan.steps[0].diagonals()[()]["a"] == Fraction(32, 35)
    least = pram(table, "x", least_diagonal=0.8, seed=1).plan.steps[0]
    assert least.keeps_frequencies
    assert min(least.diagonals()[()].values()) >= Fraction(4, 5)
    assert max(least.diagonals()[()].values()) < 1


def test_every_stratum_keeps_a_matrix_of_its_own() -> None:
    table = {"x": ["a", "b", "c"] * 40 + ["a"] * 30, "h": ["one"] * 60 + ["two"] * 40 + ["three"] * 50}
    made = pram(table, "x", least_diagonal=0.7, strata="h", seed=1)
    step = made.plan.steps[0]
    assert sorted(step.levels) == [("one",), ("three",), ("two",)]
    assert step.keeps_frequencies
    matrices = [step.matrix(level).tolist() for level in step.levels]
    assert all(a != b for a, b in itertools.combinations(matrices, 2))
    given = {
        name: designs.from_matrix([[d, 0, 1 - d], [1 - d, d, 0], [0, 1 - d, d]], ["a", "b", "c"])
        for name, d in (("one", Fraction(9, 10)), ("two", Fraction(3, 4)), ("three", Fraction(1, 2)))
    }
    step = pram(table, "x", matrix=given, invariant=False, strata="h", seed=1).plan.steps[0]
    assert {level[0]: d["a"] for level, d in step.diagonals().items()} == {
        "one": Fraction(9, 10),
        "two": Fraction(3, 4),
        "three": Fraction(1, 2),
    }


def test_zeros_and_exempt_categories_are_never_touched() -> None:
    table = areas()
    made = pram(
        table,
        "area",
        diagonal={"north": 0.8, "east": 0.7, "south": 0.6},
        zeros=[("north", "south")],
        exempt=["west"],
        seed=3,
    )
    pairs = set(zip(table["area"], made.table["area"], strict=True))
    assert ("north", "south") not in pairs
    assert ("south", "north") in pairs
    assert {pair for pair in pairs if "west" in pair} == {("west", "west")}
    step = made.plan.steps[0]
    assert step.keeps_frequencies
    assert step.matrix()[step.labels.index("south"), step.labels.index("north")] == 0
    with pytest.raises(DesignError, match="zeros forbid"):
        pram(table, "area", matrix=START, zeros=[("north", "south")], seed=3)


def test_zero_chances_stay_zero_and_small_ones_stay_possible() -> None:
    start = {"a": {"a": 1 - 1e-12, "b": 1e-12}, "b": {"b": 1.0}, "c": {"c": 0.5, "b": 0.5}}
    step = pram({"x": list("aabbcc")}, "x", matrix=start, invariant=False, seed=1).plan.steps[0]
    assert [[p > 0 for p in row] for row in step.matrix()] == [
        [True, False, False],
        [True, True, True],
        [False, False, True],
    ]


def test_neighbours_are_favoured() -> None:
    ages = list(range(10))
    table = {"age": np.random.default_rng(1).integers(0, 10, 3000).tolist()}
    made = pram(table, "age", least_diagonal=0.6, neighbours=band(ages, 2), seed=1)
    jumps = np.abs(np.array(table["age"]) - made.table["age"])
    assert jumps.max() == 2
    assert made.plan.steps[0].keeps_frequencies
    far = by_distance(ages, lambda a, b: abs(a - b), scale=1.0, farthest=6)
    exact = pram(table, "age", diagonal=0.7, neighbours=far, seed=1).plan.steps[0]
    assert exact.keeps_frequencies
    P = exact.matrix(exact=False)
    assert P[4, 5] > 2 * P[3, 5] > 4 * P[2, 5] > 0
    assert P[0, 7] == 0
    assert set(exact.diagonals()[()].values()) == {Fraction(7, 10)}


def test_several_columns_change_as_one_and_missing_values_stay() -> None:
    table = pd.DataFrame({"a": ["x", "y", "x", "y", None] * 30, "b": [1, 1, 2, 2, 2] * 30})
    made = pram(table, ["a", "b"], diagonal=0.6, seed=1)
    step = made.plan.steps[0]
    assert step.labels == (("x", 1), ("x", 2), ("y", 1), ("y", 2), (None, 2))
    assert step.diagonals()[()][(None, 2)] == 1
    assert (made.table["a"].isna() == table["a"].isna()).all()
    assert (made.table.dtypes == table.dtypes).all()
    assert 0.1 < made.changed < 0.6


def test_steps_have_seeds_of_their_own_and_can_be_repeated() -> None:
    table = areas()
    first = pram(table, "area", diagonal=0.7, seed=1)
    both = pram(
        first,
        "sex",
        diagonal={
            "m": Fraction(1, 2) if table["sex"].count("m") else 1,
            "f": 1 - Fraction(table["sex"].count("m"), 2 * table["sex"].count("f")),
        },
        seed=2,
    )
    assert [step.seed for step in both.plan.steps] == [1, 2]
    plan = ReleasePlan.from_json(both.plan.to_json())
    assert plan == both.plan
    assert plan.apply(table) == both.table  # type: ignore[attr-defined]
    other = pram(first, "sex", least_diagonal=0.5, seed=3)
    assert other.table["area"] == both.table["area"]
    keyed = pram(table, "area", diagonal=0.7, key=b"k" * 32, ids=range(400))
    again = keyed.plan.apply(table, key=b"k" * 32, ids=range(400))
    assert again == keyed.table
    with pytest.raises(DataError, match="with a key: give it"):
        keyed.plan.apply(table)
    with pytest.raises(DataError, match="frequencies differ"):
        first.plan.apply({name: column[1:] for name, column in table.items()})


def test_a_plan_is_repeated_with_the_randomness_of_each_step_or_not_at_all() -> None:
    table, secret = areas(), {"key": b"k" * 32, "ids": range(400)}
    seeded = pram(table, "area", diagonal=0.7, seed=1)
    both = pram(seeded, "sex", least_diagonal=0.5, **secret)
    assert both.plan.apply(table, **secret) == both.table
    with pytest.raises(DataError, match="leave the key out"):
        seeded.plan.apply(table, **secret)
    with pytest.raises(DataError, match="cannot be repeated"):
        pram(table, "area", diagonal=0.7).plan.apply(table, **secret)


def test_a_second_spelling_does_not_tell_which_values_stayed() -> None:
    table = {"x": [0.0, -0.0, *(float(i % 4) for i in range(200)), None]}
    released = pram(table, "x", diagonal=0.6, seed=1).table["x"]
    assert released.count(0.0) > 30
    assert not any(math.copysign(1, value) < 0 for value in released[:-1])
    assert released[-1] is None


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({}, DesignError, "one of matrix"),
        ({"diagonal": 0.8, "matrix": START}, DesignError, "one of matrix"),
        ({"diagonal": 1.2}, DesignError, "between 0 and 1"),
        ({"diagonal": {"north": 0.8}}, DesignError, "every category"),
        ({"diagonal": {"nowhere": 0.8}}, DesignError, "nowhere"),
        ({"matrix": [[0.9, 0.1], [0.1, 0.9]]}, DesignError, "which category is which"),
        ({"matrix": {"east": {"north": 0.9, "east": 0.2}}}, DesignError, "sum to"),
        ({"matrix": designs.from_matrix([[1, 0], [0, 1]], ["north", "east"])}, DataError, "no column for 2"),
        ({"matrix": START, "neighbours": band(["north", "east"])}, DesignError, "neighbours"),
        ({"diagonal": 0.8, "exempt": "west"}, DesignError, "list"),
        ({"diagonal": 0.8, "exempt": ["nowhere"]}, DesignError, "nowhere"),
        ({"diagonal": 0.8, "strata": "area"}, DataError, "stratum"),
        ({"diagonal": 0.9, "neighbours": band(["north", "east", "south", "west"])}, DesignError, "diagonal"),
    ],
)
def test_wrong_requests_are_named_in_one_line(options: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said) as caught:
        pram(areas(), "area", seed=1, **options)
    assert "\n" not in str(caught.value)


def test_rows_that_sum_to_one_are_no_columns() -> None:
    by_rows = {"a": {"a": 0.9, "b": 0.3}, "b": {"a": 0.1, "b": 0.7}}
    with pytest.raises(DesignError, match="transpose"):
        pram({"x": ["a", "b"] * 5}, "x", matrix=by_rows, seed=1)


# Estimation from a release.


def replicated(table: dict[str, list[Any]], of: Any, runs: int, **options: Any) -> list[Any]:
    return [pram(table, "area", seed=seed, **options).estimate(of) for seed in range(runs)]


@pytest.mark.parametrize(
    ("of", "options"),
    [
        (["area"], {"matrix": START, "invariant": False}),
        (["area"], {"matrix": START}),
        (["area"], {"diagonal": 0.7, "strata": "sex"}),
        (["sex", "area"], {"diagonal": 0.8}),
        (["sex", "area"], {"matrix": START, "invariant": False, "strata": "sex"}),
    ],
)
def test_estimates_are_unbiased_with_the_stated_variance(of: list[str], options: dict[str, Any]) -> None:
    table, runs = areas(300), 300
    estimates = replicated(table, of, runs, **options)
    labels = estimates[0].labels
    rows = list(zip(*(table[name] for name in of), strict=True))
    truth = np.array([rows.count(label) for label in labels])
    counts = np.array([e.counts for e in estimates])
    stated = np.mean([np.diag(e.masking_covariance) for e in estimates], axis=0)
    limit = stats.norm.isf(FALSE_ALARM / 2 / len(labels))
    assert np.abs((counts.mean(axis=0) - truth) / np.sqrt(stated / runs)).max() < limit
    assert np.abs(counts.var(axis=0) / stated - 1).max() < 2 * limit * np.sqrt(2 / runs)
    assert (estimates[0].standard_errors > estimates[0].masking_errors).all()


def test_the_stated_covariance_of_an_invariant_step_is_exact() -> None:
    step = pram(areas(), "area", diagonal=0.7, seed=1).plan.steps[0]
    T, P = np.array(step.counts[0], float), step.matrix(exact=False)
    np.testing.assert_allclose(step.added_variance(), np.diag(T) - P @ np.diag(T) @ P.T, atol=1e-9)


def test_a_table_of_two_changed_columns_is_estimated_through_both_matrices() -> None:
    table = areas(4000)
    flip = designs.from_matrix([[0.8, 0.3], [0.2, 0.7]], ["f", "m"])
    made: PramRelease = pram(
        pram(table, "area", matrix=START, invariant=False, seed=1), "sex", matrix=flip, invariant=False, seed=2
    )
    found = made.estimate(["area", "sex"])
    rows = list(zip(table["area"], table["sex"], strict=True))
    truth = np.array([rows.count(label) for label in found.labels])
    limit = stats.norm.isf(FALSE_ALARM / 2 / len(truth))
    assert np.abs((found.counts - truth) / np.sqrt(np.diag(found.masking_covariance))).max() < limit
    margin = made.estimate("area")
    assert margin.counts.sum() == pytest.approx(4000)
    assert len(found.to_frame()) == 8


def test_a_singular_matrix_is_said_to_be_one() -> None:
    blind = designs.from_matrix([[0.5, 0.5], [0.5, 0.5]], ["f", "m"])
    made = pram(areas(), "sex", matrix=blind, invariant=False, seed=1)
    with pytest.raises(EstimationError, match="singular"):
        made.estimate()
    kept = pram(areas(), "sex", matrix=blind, seed=1)
    assert kept.estimate().counts.sum() == pytest.approx(400)


# Columns with hundreds of values.


def many(values: int, records: int = 4) -> dict[str, list[int]]:
    """Each value at least once, some far more often than others."""
    rng = np.random.Generator(np.random.PCG64(values))
    drawn = (rng.pareto(1.2, records * values) * values / 20).astype(int) % values
    return {"area": np.concatenate([np.arange(values), drawn]).tolist()}


@pytest.mark.parametrize(
    "how",
    [
        {"diagonal": 0.5},
        {"least_diagonal": 0.8},
        {"diagonal": 0.9, "invariant": False},
        {"matrix": designs.gamma_diagonal(250, gamma=5)},
    ],
    ids=["diagonal", "least diagonal", "drifting", "two stages"],
)
def test_many_values_need_no_matrix_of_fractions(how: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A product of such matrices took minutes for a few hundred values. Only ``exact`` may make one."""

    def refuse(self: object) -> None:
        raise AssertionError("a matrix of fractions")

    monkeypatch.setattr(StageChannel, "exact", refuse)
    release = pram(many(250), "area", seed=1, **how)
    assert release.to_dict()["steps"][0]["keeps_frequencies"] is how.get("invariant", True)
    assert 0 < release.added_variance("area").of_proportions.max() < 1
    assert ReleasePlan.from_json(release.plan.to_json()) == release.plan
    assert "chance of staying" in release.summary()


def test_whole_numbers_and_fractions_say_the_same() -> None:
    """Expected counts, floats and chances of staying, beside the plain matrix of fractions."""
    table = {"area": [i % 12 for i in range(100)] + [i % 7 for i in range(100)]}
    for how in ({"diagonal": 0.6}, {"least_diagonal": 0.7}, {"matrix": designs.gamma_diagonal(12, gamma=3)}):
        (step,) = pram(table, "area", seed=1, **how).plan.steps
        (path,), (counts,) = step.transitions, step.counts
        exact = path.exact()
        assert (exact @ np.array(counts, dtype=object) == counts).all()
        assert path.keeps(counts)
        np.testing.assert_allclose(path.floats, exact.astype(float), rtol=1e-14)
        np.testing.assert_allclose(path.staying, [float(p) for p in path.diagonal()], rtol=1e-14)
        assert path.diagonal() == list(np.diagonal(exact))
        off_by_one = [counts[0] + 1, counts[1] - 1, *counts[2:]]
        assert not path.keeps(off_by_one)


@pytest.mark.parametrize("total", [1 << 64, (1 << 64) - 1, 1 << 63, 3])
def test_weights_may_sum_to_two_to_the_64(total: int) -> None:
    part = stage([[total - 2, 1], [2, 2]])
    assert part.totals == [total // math.gcd(total - 2, 2), 3]
    assert part.exact()[0, 0] == Fraction(total - 2, total)
    assert part.expected([Fraction(1), Fraction(0)]) == [Fraction(total - 2, total), Fraction(2, total)]


def test_weights_beyond_64_bits_are_refused_unless_they_share_enough() -> None:
    assert stage([[1 << 70, 1], [1 << 71, 0]]).weights.tolist() == [[1, 1], [2, 0]]
    with pytest.raises(DesignError, match="sum to at most"):
        stage([[1 << 70, 1], [1, 0]])
    with pytest.raises(DesignError, match="sum to at most"):
        stage([[1 << 63, 1], [(1 << 63) + 1, 0]])


@pytest.mark.parametrize(("values", "strata"), [(2001, 1), (300, 50)])
def test_more_values_than_a_plan_can_hold_are_refused_before_any_work(
    values: int, strata: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: object) -> None:
        raise AssertionError("work began")

    monkeypatch.setattr(importlib.import_module("maskwell.release.pram.post_randomize"), "transition", refuse)
    table = {"area": list(range(values)), "sex": [i % strata for i in range(values)]}
    with pytest.raises(DataError, match=rf"{values:,} values.*limit 4,000,000.*Group the values.*limit_identification"):
        pram(table, "area", diagonal=0.9, strata="sex" if strata > 1 else None)
    with pytest.raises(AssertionError, match="work began"):
        pram({"area": list(range(2000))}, "area", diagonal=0.9)
