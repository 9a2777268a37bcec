"""Releases that limit identification: the limit is kept, frequencies unbiased, variances exact.

Statistical tests use fixed seeds. Each mean is compared at a false-alarm rate of 1e-6 in all, from exact variances.
"""

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from maskwell.designs.channels.exchange import ExchangeChannel
from maskwell.errors import DataError, DemandError, ReportError
from maskwell.release import (
    Release,
    ReleasePlan,
    limit_identification,
    plan_identification,
    theta_for,
    worst_risk,
)
from maskwell.release.drawing import Chance, sampler
from maskwell.release.identification import setup as preparation
from maskwell.release.identification.audit import IdentificationAudit, audit_block, match_risk
from maskwell.release.identification.moves import carry_out
from maskwell.release.identification.plan import plan_of
from maskwell.release.identification.request import read_request
from maskwell.release.identification.setup import prepare
from maskwell.release.identification.theta import exchange, least_cells
from maskwell.sampling.entropy import Source
from maskwell.sampling.samplers import draw
from tests.persons import KEYS, RACES, WITHIN, population, small
from tests.statistics_helpers import fit_test

FALSE_ALARM = 1e-6


@pytest.fixture(scope="module")
def persons() -> pd.DataFrame:
    return population()


@pytest.fixture(scope="module")
def release(persons: pd.DataFrame) -> Release:
    return limit_identification(persons, KEYS, 0.395, WITHIN, blocks="whole", seed=5)


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
    moves = sampler(exchange(np.array([0, 3, 8]), np.array([1, 2, 2, 1, 2, 1, 1, 2]), theta))
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
    stay = exchange(np.array([0, 20]), np.array([1, 2] * 10), theta).stay
    flows = {int(t) * (1 - Fraction(int(w), 2**64)) for w, t in zip(stay, [1, 2] * 10, strict=True)}
    assert flows == {theta}  # what leaves each cell is θ, and so is what enters it


def test_the_audit_reads_what_the_sampler_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A channel that moves half as many fails the audit; one that moves unevenly is refused."""
    table = {"n": list(range(60)), "half": [i // 30 for i in range(60)]}

    def drawn(change: Callable[[ExchangeChannel], ExchangeChannel]) -> IdentificationAudit:
        monkeypatch.setattr(preparation, "exchange", lambda *given: change(exchange(*given)))
        return plan_identification(table, "n", 0.5, "half", blocks="whole")[1]

    assert drawn(lambda moves: moves).holds
    half = drawn(lambda moves: replace(moves, stay=moves.stay // 2 + np.uint64(1 << 63)))
    assert {block.theta for block in half.blocks} == {theta_for(0.5) / 2}
    assert not half.holds
    one = np.arange(60, dtype=np.uint64) == 7
    with pytest.raises(AssertionError, match="same number from every cell"):
        drawn(lambda moves: replace(moves, stay=moves.stay + one))


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
    changed["content"]["theta"] = "1/0"
    with pytest.raises(ReportError, match="malformed"):
        ReleasePlan.from_json(json.dumps(changed))


def test_a_dry_run_gives_plan_and_audit(persons: pd.DataFrame, release: Release) -> None:
    plan, audit = plan_identification(persons, KEYS, 0.395, WITHIN, blocks="whole")
    assert plan == release.plan
    assert audit.to_dict() == release.audit.to_dict()
    assert "holds" in release.summary()
    json.dumps(release.to_dict())


# Small tables: frequencies, variances, keys and ids.


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
    setup = prepare(small(), read_request(["area"], 0.395, "set"))
    added = carry_out(setup, plan_of(setup), Chance(seed=0)).added_variance("area")
    runs = 800
    counts = np.zeros((runs, len(added.counts)))
    for seed in range(runs):
        drawn = carry_out(setup, plan_of(setup), Chance(seed=seed)).table["area"]
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


def test_a_file_without_rare_cells_is_released_as_it_is() -> None:
    table = {"area": ["n", "s"] * 10, "work": ["a", "a", "b", "b"] * 5}
    release = limit_identification(table, ["area"], 0.5, seed=1)
    assert release.table == table
    assert not release.added_variance(["area", "work"]).variance.any()
    assert release.comparison().changed_records == 0
    release.check()
