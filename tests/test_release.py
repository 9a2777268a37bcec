"""Releases that limit identification, and general post-randomization: limits, frequencies, variances and types kept.

Statistical tests use fixed seeds. Each mean is compared at a false-alarm rate of 1e-6 in all, from exact variances.
"""

import itertools
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

from maskwell import designs
from maskwell.errors import DataError, DemandError, DesignError, EstimationError, ReportError
from maskwell.release import (
    PramRelease,
    Release,
    ReleasePlan,
    band,
    by_distance,
    limit_identification,
    plan_identification,
    pram,
    theta_for,
    worst_risk,
)
from maskwell.release.identification import carry_out
from maskwell.release.identification_audit import audit_block, match_risk
from maskwell.release.invariant import two_stage
from maskwell.release.moves import move_plan
from maskwell.release.setup import prepare, read_request
from maskwell.release.theta import least_cells
from maskwell.sampling.entropy import Source
from maskwell.sampling.plans import draw
from tests.statistics_helpers import fit_test

FALSE_ALARM = 1e-6
KEYS = ["sex", "age", "race", "marital", "area"]
RACES = ["white", "black", "asian", "two or more", "other", "indian", "native", "pacific", "alaska"]
WITHIN = {"sex": None, "age": [18, 25, 35, 45, 55, 65], "race": [["white"], ["black"]]}


def population(n: int = 59_033) -> pd.DataFrame:
    """Persons with keys of the shapes that section 5 of Nayak (2020) describes: 2, 92, 9, 5 and 44 categories."""
    random = np.random.default_rng(20)
    age = np.minimum(random.gamma(3.2, 12.5, n).astype(int), 91)
    status = ["married", "widowed", "divorced", "separated", "never"]
    marital = np.where(age > 60, random.choice(status, n, p=[0.55, 0.25, 0.1, 0.02, 0.08]), "never")
    marital = np.where((age >= 18) & (age <= 60), random.choice(status, n, p=[0.5, 0.02, 0.1, 0.03, 0.35]), marital)
    weights = random.gamma(3, 1, 44)
    chances = [0.6302, 0.2581, 0.0586, 0.0275, 0.0228, 0.0016, 0.0007, 0.0004, 0.0001]
    return pd.DataFrame(
        {
            "person": np.arange(n),
            "sex": random.choice(["female", "male"], n),
            "age": age,
            "race": pd.Categorical(random.choice(RACES, n, p=chances), categories=RACES[::-1]),
            "marital": marital,
            "area": random.choice(44, n, p=weights / weights.sum()),
            "income": random.normal(size=n),
        }
    )


@pytest.fixture(scope="module")
def persons() -> pd.DataFrame:
    return population()


@pytest.fixture(scope="module")
def release(persons: pd.DataFrame) -> Release:
    return limit_identification(persons, KEYS, 0.395, WITHIN, seed=5)


# θ and the exact audit.


def test_theta_of_the_published_example() -> None:
    assert float(theta_for(0.395)) == pytest.approx(0.799, abs=5e-4)
    assert least_cells(theta_for(0.395)) == 5


def test_the_worst_risk_is_continuous_and_decreasing() -> None:
    joint, step = Fraction(2, 3), Fraction(1, 10**12)
    assert abs(worst_risk(joint) - worst_risk(joint + step)) < 2 * step
    grid = [worst_risk(Fraction(i, 600)) for i in range(601)]
    assert all(a > b for a, b in itertools.pairwise(grid))
    assert (grid[0], grid[-1]) == (1, Fraction(1, 3))


@pytest.mark.parametrize("xi", [0.334, 0.34, 0.395, Fraction(3, 7), 0.45, 0.5, 2 / 3, 0.9, 0.999])
def test_theta_is_solved_on_the_safe_side(xi: float) -> None:
    theta = theta_for(xi)
    assert worst_risk(theta) <= Fraction(xi) < worst_risk(theta - Fraction(1, 2**63))


@pytest.mark.parametrize("xi", [1 / 3, 0.2, 1, 1.5, "half", float("nan")])
def test_a_limit_that_cannot_be_met_is_refused(xi: Any) -> None:
    with pytest.raises(DemandError, match="xi"):
        theta_for(xi)


def enumerated_risks(counts: list[int], theta: Fraction) -> dict[tuple[int, int], float]:
    """R_j(a) over every way in which all records of a block can come out."""
    k, home = len(counts), [j for j, t in enumerate(counts) for _ in range(t)]
    chance = np.array(
        [[float(1 - theta / counts[j] if i == j else theta / ((k - 1) * counts[j])) for i in range(k)] for j in home]
    )
    every = np.array(list(itertools.product(range(k), repeat=len(home))))
    weight = np.prod([chance[r, every[:, r]] for r in range(len(home))], axis=0)
    out = {}
    for j in range(k):
        target, found = home.index(j), (every == j).sum(axis=1)
        for a in range(1, len(home) + 1):
            seen = found == a
            right = weight[seen & (every[:, target] == j)].sum() / a
            out[j, a] = right / weight[seen].sum()
    return out


@pytest.mark.parametrize(
    "counts", [[1, 1], [1, 2], [2, 2, 1], [1, 1, 1, 1], [2, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1], [3, 1, 2], [4, 2]]
)
@pytest.mark.parametrize("theta", [Fraction(1, 5), Fraction(4, 5)])
def test_the_audit_is_what_enumeration_gives(counts: list[int], theta: Fraction) -> None:
    sizes = {t: counts.count(t) for t in counts}
    risks = enumerated_risks(counts, theta)
    for (j, a), risk in risks.items():
        assert float(match_risk(sizes, theta, counts[j], a)) == pytest.approx(risk, abs=1e-12)
    assert float(audit_block(sizes, theta).risk) == pytest.approx(max(risks.values()), abs=1e-12)


def test_the_limit_holds_for_random_and_adversarial_blocks() -> None:
    random = np.random.default_rng(3)
    for xi in (0.34, 0.35, 0.395, 3 / 7, 0.45, 0.49999):
        theta = theta_for(xi)
        least = least_cells(theta)
        pairs = [(least, 0), (0, least), (1, least - 1), (least - 1, 1), (5000, 0), (0, 5000), (10**6, 10**6)]
        pairs += [(int(a), int(b) + least) for a, b in random.integers(0, 3000, (15, 2))]
        for singles, doubles in pairs:
            assert audit_block({1: singles, 2: doubles}, theta).risk <= Fraction(xi)
    for xi in (0.5, 0.6, 0.75, 0.99):
        theta = theta_for(xi)
        for singles in (least_cells(theta), least_cells(theta) + 1, 40, 10**7):
            assert audit_block({1: singles}, theta).risk <= Fraction(xi)


def test_the_limit_is_nearly_reached_by_large_blocks_of_singletons() -> None:
    assert float(audit_block({1: 124}, theta_for(0.5)).risk) == pytest.approx(0.49874, abs=5e-6)
    for xi, sizes in ((0.45, {1: 10**6}), (0.6, {1: 10**6}), (0.395, {1: 10**6, 2: 10**6})):
        assert Fraction(xi) - Fraction(1, 10**6) < audit_block(sizes, theta_for(xi)).risk <= Fraction(xi)


# Moves.


def test_moves_have_exactly_the_chances_of_the_plan() -> None:
    theta, n = theta_for(0.395), 200_000
    moves = move_plan(np.array([0, 3, 8]), np.array([1, 2, 2, 1, 2, 1, 1, 2]), theta)
    for cell, first, k, t in ((1, 0, 3, 2), (5, 3, 5, 1)):
        stream = Source(seed=cell).stream("", n)
        out = draw(moves, n, lambda start, stop, cell=cell: np.full(stop - start, cell, np.uint32), stream)
        chances = np.full(k, float(theta) / ((k - 1) * t))
        chances[cell - first] = 1 - float(theta) / t
        observed = np.bincount(out, minlength=8)
        assert observed[first : first + k].sum() == n
        assert fit_test(observed[first : first + k], chances, FALSE_ALARM).p_value > FALSE_ALARM


def test_stay_weights_are_whole_so_that_flows_balance_exactly() -> None:
    theta = theta_for(0.35)
    stay = move_plan(np.array([0, 20]), np.array([1, 2] * 10), theta).stay
    flows = {int(t) * (1 - Fraction(int(w), 2**64)) for w, t in zip(stay, [1, 2] * 10, strict=True)}
    assert flows == {theta}  # what leaves each cell is θ, and so is what enters it


# The published example, on a made population of its size.


def test_the_published_example_keeps_what_the_partition_keeps(persons: pd.DataFrame, release: Release) -> None:
    after = release.table
    assert release.audit.holds
    assert release.audit.risk == pytest.approx(0.395, abs=5e-4)
    assert len(release.audit.blocks) == 42
    assert (after["sex"] == persons["sex"]).all()
    for race in ("white", "black"):
        assert ((after["race"] == race) == (persons["race"] == race)).all()
    for start in (18, 65):
        assert ((after["age"] >= start) == (persons["age"] >= start)).all()
    assert release.changed_by_key["sex"] == 0 < release.changed_by_key["race"] < release.changed_by_key["area"]
    assert 0 < release.changed < 0.5


@pytest.mark.parametrize("column", ["marital", "race"])
def test_other_margins_change_as_little_as_their_exact_variance_says(
    persons: pd.DataFrame, release: Release, column: str
) -> None:
    added = release.added_variance(column)
    np.testing.assert_allclose(added.bias, 0, atol=1e-6)
    before = persons[column].astype(str).value_counts()
    after = release.table[column].astype(str).value_counts()
    limit = stats.norm.isf(FALSE_ALARM / 2 / len(added.counts))
    for (label,), count, variance in zip(added.labels, added.counts, added.variance, strict=True):
        assert before[label] == count
        assert abs(int(after.get(label, 0)) - count) <= limit * np.sqrt(variance) + 1
    assert abs(after - before).max() < 0.01 * len(persons)


def test_the_added_variance_of_a_cell_is_below_its_bound(release: Release) -> None:
    added = release.added_variance(KEYS)
    assert added.of_proportions.max() < 2 * float(release.plan.theta) / added.n**2
    assert added.warnings  # every count of one has about as much added as sampling variance


def test_added_variance_warns_where_it_is_not_small(release: Release) -> None:
    assert "sampling variance" in release.added_variance("marital").warnings[0]
    assert release.added_variance({"age": [18, 65]}).warnings == []
    assert release.added_variance("sex").variance.max() == pytest.approx(0, abs=1e-9)


def test_a_released_table_keeps_types_order_and_all_other_columns(persons: pd.DataFrame, release: Release) -> None:
    assert list(release.table.columns) == list(persons.columns)
    assert (release.table.dtypes == persons.dtypes).all()
    assert list(release.table["race"].cat.categories) == RACES[::-1]
    for name in ("person", "income"):
        assert release.table[name].equals(persons[name])
    cells = set(map(tuple, persons[KEYS].astype(str).to_numpy()))
    assert set(map(tuple, release.table[KEYS].astype(str).to_numpy())) <= cells


def test_a_plan_can_be_stored_and_repeated(persons: pd.DataFrame, release: Release) -> None:
    plan = ReleasePlan.from_json(release.plan.to_json())
    assert plan == release.plan
    assert plan.apply(persons).table.equals(release.table)
    with pytest.raises(DataError, match="not the one"):
        plan.apply(persons.iloc[1:])
    changed = json.loads(release.plan.to_json())
    changed["content"]["xi"] = "1/2"
    with pytest.raises(ReportError, match="changed"):
        ReleasePlan.from_json(json.dumps(changed))


def test_a_dry_run_gives_plan_and_audit(persons: pd.DataFrame, release: Release) -> None:
    plan, audit = plan_identification(persons, KEYS, 0.395, WITHIN)
    assert plan == release.plan
    assert audit.to_dict() == release.audit.to_dict()
    assert "holds" in release.summary()
    json.dumps(release.to_dict())


# Small tables: frequencies, variances, keys and ids.


def small() -> dict[str, list[Any]]:
    """Singles, doubles and safe cells in two partition sets, with a column that is no key."""
    sizes = [1, 1, 1, 2, 2, 5, 1, 2]
    area = [label for label, t in zip("abcdefgh", sizes, strict=True) for _ in range(t)]
    return {"set": [1] * 15 + [2] * 15, "area": area + area, "other": ["x", "y", "y"] * 10}


def brute_variance(table: dict[str, list[Any]], names: list[str], theta: Fraction) -> dict[tuple[Any, ...], Any]:
    """Variance and expectation of every table count, from one transition column per record."""
    n = len(table["area"])
    cells = [(table["set"][r], table["area"][r]) for r in range(n)]
    out: dict[tuple[Any, ...], Any] = {}
    for r in range(n):
        t = cells.count(cells[r])
        block = sorted({c for c in cells if c[0] == cells[r][0] and cells.count(c) < 3})
        chances = {cells[r]: Fraction(1)}
        if t < 3:
            chances = {c: theta / ((len(block) - 1) * t) for c in block} | {cells[r]: 1 - theta / t}
        where: dict[tuple[Any, ...], Fraction] = {}
        for (_, area), p in chances.items():
            label = tuple(area if name == "area" else table[name][r] for name in names)
            where[label] = where.get(label, Fraction(0)) + p
        for label, p in where.items():
            mean, variance = out.get(label, (Fraction(0), Fraction(0)))
            out[label] = (mean + p, variance + p * (1 - p))
    return out


@pytest.mark.parametrize("names", [["area"], ["set", "area"], ["other", "area"], ["area", "other", "set"], ["other"]])
def test_added_variance_is_exact(names: list[str]) -> None:
    table = small()
    made = limit_identification(table, ["area"], 0.395, within="set", seed=1)
    added = made.added_variance(names)
    brute = brute_variance(table, names, made.plan.theta)
    assert {tuple(map(str, label)) for label in brute} == set(added.labels)
    for label, mean, variance in zip(added.labels, added.expected, added.variance, strict=True):
        exact = next(value for key, value in brute.items() if tuple(map(str, key)) == label)
        assert (mean, variance) == pytest.approx(tuple(map(float, exact)), abs=1e-12)


def test_frequencies_are_unbiased_with_the_stated_variance() -> None:
    setup = prepare(small(), read_request(["area"], 0.395, "set", None, "suggest", None))
    added = carry_out(setup, None, None, 0).added_variance("area")
    runs = 800
    counts = np.zeros((runs, len(added.counts)))
    for seed in range(runs):
        drawn = carry_out(setup, None, None, seed).table["area"]
        counts[seed] = [drawn.count(label) for (label,) in added.labels]
    limit = stats.norm.isf(FALSE_ALARM / 2 / len(added.counts))
    moved = added.variance > 0
    z = (counts.mean(axis=0) - added.counts)[moved] / np.sqrt(added.variance[moved] / runs)
    assert np.abs(z).max() < limit
    assert (counts[:, ~moved] == added.counts[~moved]).all()
    # The relative error of a sample variance of such counts has a standard deviation of about sqrt(2 / runs).
    assert np.abs(counts.var(axis=0)[moved] / added.variance[moved] - 1).max() < 2 * limit * np.sqrt(2 / runs)


def test_a_key_makes_draws_repeatable_in_any_order_of_rows() -> None:
    table = pd.DataFrame({"id": range(40), "area": [f"a{i // 2}" if i < 20 else f"b{i}" for i in range(40)]})
    shuffled = table.sample(frac=1, random_state=1)
    key = b"k" * 32
    first = limit_identification(table, "area", 0.395, key=key, ids="id")
    again = limit_identification(shuffled, "area", 0.395, key=key, ids=list(shuffled["id"]))
    assert first.plan.randomness == "keyed"
    assert again.table.sort_index().equals(first.table)
    assert list(again.table.index) == list(shuffled.index)
    other = limit_identification(table, "area", 0.395, key=b"l" * 32, ids="id")
    assert not other.table.equals(first.table)


def test_secure_draws_differ_and_leave_no_seed() -> None:
    table = {"area": [f"a{i}" for i in range(200)]}
    first, second = (limit_identification(table, "area", 0.5) for _ in range(2))
    assert first.table != second.table
    assert (first.plan.randomness, first.plan.seed) == ("secure", None)


# Blocks that are too small.


def lopsided() -> dict[str, list[Any]]:
    return {
        "sex": ["f"] * 30 + ["m"] * 33,
        "group": ["p"] * 20 + ["q"] * 10 + ["p"] * 30 + ["r"] * 3,
        "age": [*range(63)],
    }


def test_a_block_that_is_too_small_is_refused_with_the_remedy() -> None:
    with pytest.raises(DataError, match=r'1 of the 4 .* fewer than 5 .*merge="merge".*without \'group\'') as caught:
        limit_identification(lopsided(), ["sex", "group", "age"], 0.395, within=["sex", "group"], seed=1)
    assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match="coarsen the keys"):
        limit_identification({"area": ["a", "b", "c", "c", "c"]}, "area", 0.395, seed=1)
    with pytest.raises(DataError, match="the smallest has 1"):
        limit_identification({"area": ["a", "c", "c", "c"]}, "area", 0.395, seed=1)


def test_a_block_that_is_too_small_is_joined_with_the_nearest_when_asked() -> None:
    made = limit_identification(
        lopsided(), ["sex", "group", "age"], 0.395, within=["sex", "group"], merge="merge", seed=1
    )
    assert made.audit.holds
    assert made.plan.merged == 1
    joined = next(block.sets for block in made.plan.blocks if len(block.sets) == 2)
    # Of the sets that differ in one column, not the one that also differs in the other.
    assert [dict(s) for s in joined] == [{"sex": "m", "group": "p"}, {"sex": "m", "group": "r"}]
    with pytest.raises(DataError, match="exempt"):
        limit_identification(
            lopsided(), ["sex", "group", "age"], 0.395, within="sex", exempt={"group": ["r"]}, merge="merge", seed=1
        )


def test_intervals_are_joined_with_their_neighbour() -> None:
    table = {"age": [*range(20), 30, 31, *range(40, 60)]}
    made = limit_identification(table, "age", 0.395, within={"age": [30, 40]}, merge="merge", seed=1)
    assert made.plan.merged == 1
    assert {s["age"] for block in made.plan.blocks for s in block.sets if len(block.sets) == 2} == {
        "30 to below 40",
        "below 30",
    }


def test_merging_across_a_column_that_is_no_key_counts_cells_anew() -> None:
    table = {"part": [1] * 12 + [2] * 3, "area": [f"a{i}" for i in range(12)] + ["a0", "a1", "a1"]}
    made = limit_identification(table, "area", 0.395, within="part", merge="merge", seed=1)
    assert len(made.plan.blocks) == 1
    # a0 is a pair and a1, three times in all, is not sensitive any more.
    assert sorted(made.plan.blocks[0].counts) == [1] * 10 + [2]
    assert made.audit.holds


def test_exempt_columns_and_categories_do_not_move() -> None:
    random = np.random.default_rng(1)
    table = pd.DataFrame(
        {"a": random.integers(0, 60, 200), "b": random.choice(list("uvw"), 200), "c": random.choice(2, 200)}
    )
    made = limit_identification(table, ["a", "b", "c"], 0.395, exempt={"b": ["u"], "c": None}, seed=2)
    assert made.audit.holds
    assert (made.table["c"] == table["c"]).all()
    assert ((made.table["b"] == "u") == (table["b"] == "u")).all()
    assert (made.table["b"] != table["b"]).any()
    with pytest.raises(DataError, match="no key"):
        limit_identification(table, ["a"], 0.395, exempt="b")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"keys": []}, "keys"),
        ({"keys": ["nowhere"]}, "no column"),
        ({"within": {"area": [3, 1]}}, "rising order"),
        ({"within": {"area": [1, 3]}}, "numbers"),
        ({"within": {"area": [["zz"]]}}, "does not have"),
        ({"within": {"area": [["a"], ["a", "b"]]}}, "more than once"),
        ({"within": 3}, "within"),
        ({"merge": "yes"}, "merge"),
        ({"together": "area"}, "groups"),
        ({"key": b"k" * 32}, "ids"),
        ({"seed": -1}, "seed"),
    ],
)
def test_wrong_parameters_are_named_in_one_line(options: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=said) as caught:
        limit_identification(small(), **({"keys": ["area"], "xi": 0.395, "merge": "suggest"} | options))
    assert "\n" not in str(caught.value)


# Households.


def test_groups_move_together_and_their_records_count_together() -> None:
    random = np.random.default_rng(4)
    size = random.integers(1, 5, 80)
    home = np.repeat(np.arange(80), size)
    area = random.integers(0, 50, 80)[home]
    table = pd.DataFrame({"home": home, "area": area, "age": random.integers(0, 90, len(home))})
    made = limit_identification(table, "area", 0.395, together="home", seed=3)
    assert made.audit.holds
    assert (made.table.groupby("home")["area"].nunique() == 1).all()
    households = table.drop_duplicates("home")["area"].value_counts()
    assert sum(map(len, (block.counts for block in made.plan.blocks))) == (households < 3).sum()
    added = made.added_variance("area")
    theta, k = float(made.plan.theta), int((households < 3).sum())
    for (label,), variance in zip(added.labels, added.variance, strict=True):
        exact = 0.0
        for own, members in zip(area[np.searchsorted(home, np.arange(80))], size, strict=True):
            t = households[own]
            if t < 3 and households[int(label)] < 3:
                p = 1 - theta / t if own == int(label) else theta / ((k - 1) * t)
                exact += members**2 * p * (1 - p)
        assert variance == pytest.approx(exact, abs=1e-9)
    with pytest.raises(DataError, match="differs within"):
        limit_identification(table, ["area", "age"], 0.395, together="home", seed=3)


# Kinds of tables.


def kinds() -> list[Any]:
    base = pd.DataFrame(
        {
            "n": range(40),
            "area": pd.Categorical([f"a{i % 37}" for i in range(40)], categories=[f"a{i}" for i in range(50)][::-1]),
        }
    )
    base.index = pd.Index([7] * 40)
    enum = pl.DataFrame(
        {
            "n": range(40),
            "area": pl.Series([f"a{i % 37}" for i in range(40)], dtype=pl.Enum([f"a{i}" for i in range(50)])),
        }
    )
    arrow = pa.table({"n": list(range(40)), "area": pa.array([f"a{i % 37}" for i in range(40)]).dictionary_encode()})
    return [base, enum, enum.lazy(), arrow, {"n": range(40), "area": [f"a{i % 37}" for i in range(40)]}]


@pytest.mark.parametrize("position", range(5))
def test_every_kind_of_table_comes_out_as_itself(position: int) -> None:
    table = kinds()[position]
    made = limit_identification(table, "area", 0.395, seed=9).table
    assert type(made) is type(table)
    labels = made.collect()["area"].to_list() if isinstance(made, pl.LazyFrame) else list(map(str, made["area"]))
    expected = limit_identification(kinds()[4], "area", 0.395, seed=9).table["area"]
    assert labels == expected  # whatever the storage, the same labels under the same seed
    if isinstance(made, pd.DataFrame):
        assert (made.dtypes == table.dtypes).all()
        assert list(made["area"].cat.categories) == list(table["area"].cat.categories)
        assert made.index.equals(table.index)
    if isinstance(made, pl.DataFrame | pl.LazyFrame):
        assert made.collect_schema() == table.collect_schema()
    if isinstance(made, pa.Table):
        assert made.schema == table.schema


def test_missing_values_are_a_category_of_their_own_and_stay_missing() -> None:
    table = pd.DataFrame({"a": [None, *(f"a{i}" for i in range(20))], "b": [float("nan"), *range(20)]})
    made = limit_identification(table, ["a", "b"], 0.5, seed=2)
    assert (made.table["a"].isna() == made.table["b"].isna()).all()
    assert (made.table.dtypes == table.dtypes).all()
    whole = ReleasePlan.from_json(made.plan.to_json())
    assert (None, None) in whole.cells(0)  # type: ignore[attr-defined]


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
    with pytest.raises(DesignError, match=r"'a' is too low.*at least 0\.9143") as caught:
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
    with pytest.raises(DataError, match="without a seed"):
        keyed.plan.apply(table)
    with pytest.raises(DataError, match="frequencies differ"):
        first.plan.apply({name: column[1:] for name, column in table.items()})


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
