"""Limits of 1/3 and less: blocks of equal frequency, each with the θ that the exact audit finds.

Statistical tests use fixed seeds; each states its false-alarm rate.
"""

import json
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from maskwell.errors import DataError, DemandError, ReportError
from maskwell.release import Release, ReleasePlan, limit_identification, plan_identification
from maskwell.release.identification.audit import audit_block, holds, match_risk, near_risk
from maskwell.release.identification.plan import plan_of
from maskwell.release.identification.rules import EqualFrequencies, OneTheta, rule_for
from tests.test_release_blocks import people

KEYS = ["sex", "age", "area"]
FALSE_ALARM = 1e-6


def rule(xi: str) -> EqualFrequencies:
    found = rule_for(Fraction(xi))
    assert isinstance(found, EqualFrequencies)
    return found


@pytest.fixture(scope="module")
def release() -> Release:
    """A release of 4,000 persons at one tenth, where cells of up to nine records are sensitive."""
    table = people(4000).assign(area=lambda frame: frame["area"].str[1:].astype(int) // 2, age=lambda f: f["age"] // 3)
    return limit_identification(table, KEYS, 0.1, "sex", seed=3)


# θ and the exact audit.


@pytest.mark.parametrize(("t", "k", "theta", "risk"), [(2, 10**6, 1.6, 0.119), (1, 10**6, 0.9, 0.110)])
def test_the_risk_falls_to_what_the_audit_of_large_blocks_says(t: int, k: int, theta: float, risk: float) -> None:
    assert float(max(match_risk({t: k}, Fraction(theta), t, a) for a in range(1, 20))) == pytest.approx(risk, abs=6e-4)


@pytest.mark.parametrize(("t", "k"), [(1, 11), (1, 40), (2, 6), (4, 3), (9, 2), (9, 30)])
def test_theta_is_the_least_that_holds_and_the_risk_falls_as_it_grows(t: int, k: int) -> None:
    limit, step = Fraction(1, 10), Fraction(t, 2**16)
    theta = rule("1/10").theta({t: k})
    assert theta is not None
    assert holds({t: k}, theta, limit)
    assert not holds({t: k}, theta - step, limit)
    assert limit * Fraction(99, 100) < audit_block({t: k}, theta).risk <= limit
    assert 0 < theta <= Fraction(t * (k - 1), k)
    grid = [audit_block({t: k}, Fraction(t * (k - 1), k) * Fraction(i, 12)).risk for i in range(1, 13)]
    assert all(a > b for a, b in pairwise(grid))
    assert grid[-1] == Fraction(1, t * k)  # evenly spread: every record of the block is as likely


@pytest.mark.parametrize("sizes", [{1: 11}, {2: 7}, {8: 1, 9: 5}, {3: 10, 9: 1}])
def test_floats_search_where_whole_numbers_decide(sizes: dict[int, int]) -> None:
    for theta in (0.3, 0.7, 0.9):
        exact = max(
            match_risk(sizes, Fraction(theta), t, a)
            for t in sizes
            for a in range(1, min(10, sum(t * n for t, n in sizes.items())) + 1)
        )
        assert near_risk(sizes, theta, Fraction(1, 10)) == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("xi", ["1/3", "0.3", "1/5", "1/10", "1/20"])
def test_every_frequency_below_one_over_the_limit_has_a_least_block(xi: str) -> None:
    found = rule(xi)
    for t in range(1, found.sensitive_below):
        k = found.least_of(t)
        assert found.theta({t: k}) is not None
        assert found.theta({t: k - 1}) is None
        assert Fraction(1, t * k) <= found.limit  # what even spreading gives
        assert found.enough({t: k}) is (found.theta({t: k}) is not None)


def test_frequencies_with_too_few_cells_join_the_next_one_or_none() -> None:
    found = rule("1/10")
    counts = np.array([1] * 11 + [8] + [9] * 5)
    parts = [sorted(counts[part].tolist()) for part, _ in found.parts(counts)]
    assert parts == [[1] * 11, [8] + [9] * 5]
    assert not found.enough({1: 3, 9: 5})
    assert not found.enough({1: 3})
    assert not found.enough({4: 1})


def test_limits_next_to_a_third_have_blocks_of_a_few_cells() -> None:
    assert isinstance(rule_for(Fraction("0.34")), OneTheta)
    assert rule("1/3").least_of(1) == 4
    near = rule_for(Fraction(1, 3) + Fraction(1, 10**25))
    assert isinstance(near, EqualFrequencies)
    assert near.least_of(1) == 3 + 1


@pytest.mark.parametrize("xi", [0, -0.1, 0.001, 1, "much"])
def test_other_limits_are_refused(xi: Any) -> None:
    with pytest.raises(DemandError, match="xi"):
        limit_identification({"a": [1, 2]}, "a", xi)


# A release.


def test_every_sensitive_cell_is_in_a_block_that_holds_the_limit(release: Release) -> None:
    audit, plan = release.audit, release.plan
    assert audit.holds
    assert audit.exact_risk <= Fraction(1, 10)
    assert plan.theta is None
    assert {count for block in plan.blocks for count in block.counts} == set(range(1, 10))
    assert audit.untouched <= Fraction(1, 10)
    for block, theta, audited in zip(plan.blocks, plan.thetas, audit.blocks, strict=True):
        assert theta == block.theta == audited.theta
        assert theta <= Fraction(min(block.counts) * (block.k - 1), block.k)
        assert audited.risk <= Fraction(1, 10)
        assert audited.all_counts.risk >= audited.risk or audited.size == 0
        if len(set(block.counts)) == 1:
            assert block.k >= rule("1/10").least_of(block.counts[0])
    assert sum(len(set(block.counts)) > 1 for block in plan.blocks) <= 4  # the leftovers of two sets
    assert "holds" in release.summary()
    assert json.loads(json.dumps(release.to_dict()))["theta"] is None


def test_a_plan_is_stored_and_repeated_and_a_changed_one_refused(release: Release) -> None:
    text = release.plan.to_json()
    stored = json.loads(text)
    assert stored["version"] == 3
    assert stored["content"]["theta"] is None
    plan: Any = ReleasePlan.from_json(text)
    assert plan == release.plan
    assert plan.apply(release.before.native).table.equals(release.table)
    assert plan_of(release.setup).fingerprint == plan.fingerprint

    def forged(change: dict[str, Any]) -> str:
        other = type(plan)(**(vars_of(plan) | change))
        return str(other.to_json())

    first, *rest = plan.blocks
    for theta in (None, first.theta * Fraction(1, 2), Fraction(first.counts[0]), first.theta - Fraction(1, 2**70)):
        block = type(first)(first.sets, first.cells, first.counts, theta)
        with pytest.raises(ReportError, match=r"promises a limit|malformed"):
            ReleasePlan.from_json(forged({"blocks": (block, *rest)}))
    with pytest.raises(ReportError, match="promises a limit"):
        ReleasePlan.from_json(forged({"theta": Fraction(1, 2)}))


def vars_of(plan: Any) -> dict[str, Any]:
    names = ("request", "theta", "units", "labels", "blocks", "randomness", "seed", "key_check")
    return {name: getattr(plan, name) for name in names}


def test_sets_with_too_few_cells_are_refused_or_joined() -> None:
    table = {"area": list(range(27)), "set": ["a"] * 12 + ["b"] * 12 + ["c"] * 3}
    with pytest.raises(DataError, match=r"1 of the 3 .*3 of 1 record, with 11 needed.*search_recoding"):
        limit_identification(table, "area", 0.1, "set", seed=1)
    made = limit_identification(table, "area", 0.1, "set", merge="merge", seed=1)
    assert made.audit.holds
    assert made.plan.merged == 1
    assert made.plan.unprotected == ("set",)
    with pytest.raises(DataError, match="no other one to join"):
        limit_identification({"area": list(range(9))}, "area", 0.1, merge="merge", seed=1)


def test_large_blocks_are_of_one_frequency(release: Release) -> None:
    plan, audit = plan_identification(release.before.native, KEYS, 0.1, "sex", blocks="whole")
    assert audit.holds
    assert plan.request.block_size is None
    assert ReleasePlan.from_json(plan.to_json()) == plan
    assert len(plan.blocks) <= 2 * 9


# What an intruder attains, by simulation.


def test_an_intruder_who_knows_the_keys_is_right_as_often_as_the_audit_says() -> None:
    """Blocks of 11 singles, 6 pairs and 3 cells of five; false alarms 1e-6 over all, an excess of .01 is caught."""
    sizes = [1] * 11 + [2] * 6 + [5] * 3
    area = np.repeat(np.arange(len(sizes)), sizes)
    table = {"area": area.tolist()}
    random, runs = np.random.default_rng(4), 1500
    right: dict[tuple[int, int], list[float]] = {}
    for run in range(runs):
        made = limit_identification(table, "area", 0.1, blocks="whole", seed=run)
        after, shown = made.cell_after, np.bincount(made.cell_after, minlength=len(sizes))
        for cell, t in enumerate(sizes):
            if shown[cell]:
                person = int(random.choice(np.flatnonzero(area == cell)))
                right.setdefault((t, int(shown[cell])), []).append(float(after[person] == cell) / shown[cell])
    blocks = {1: {1: 11}, 2: {2: 6}, 5: {5: 3}}
    thetas = {t: rule("1/10").theta(block) for t, block in blocks.items()}
    tested = [(key, np.array(found)) for key, found in right.items() if len(found) > 200]
    assert {t for (t, _), _ in tested} == {1, 2, 5}
    for (t, a), found in tested:
        theta = thetas[t]
        assert theta is not None
        expected = float(match_risk(blocks[t], theta, t, a))
        assert expected <= 0.1
        # Each outcome is 0 or 1/a.
        hits = round(found.sum() * a)
        p = stats.binomtest(hits, len(found), expected * a).pvalue
        assert p > FALSE_ALARM / len(tested)


def test_all_counts_of_small_blocks_are_enumerated() -> None:
    """Two cells of four records: all outcomes, by brute force."""
    theta = rule("1/5").theta({4: 2})
    assert theta is not None
    block = audit_block({4: 2}, theta)
    assert block.all_counts.exact
    go = float(theta) / 4
    chances = np.array([[1 - go, go], [go, 1 - go]])
    worst = 0.0
    every = np.array(list(product(range(2), repeat=8)))
    home = np.repeat([0, 1], 4)
    weight = np.prod([chances[home[r], every[:, r]] for r in range(8)], axis=0)
    shown = every.sum(axis=1)
    for total in range(9):
        seen = shown == total
        for cell, count in ((0, 8 - total), (1, total)):
            if count:
                worst = max(worst, float(weight[seen & (every[:, 0] == cell)].sum() / weight[seen].sum() / count))
    assert float(block.all_counts.risk) == pytest.approx(worst, abs=1e-12)


def test_frequencies_stay_what_they_were_on_average(release: Release) -> None:
    added = release.added_variance("area")
    np.testing.assert_allclose(added.bias, 0, atol=1e-9)
    before = release.before.native["area"].astype(str).value_counts()
    after = release.table["area"].astype(str).value_counts()
    limit = stats.norm.isf(FALSE_ALARM / 2 / len(added.counts))
    for (label,), variance in zip(added.labels, added.variance, strict=True):
        assert abs(after.get(label, 0) - before[label]) <= limit * np.sqrt(variance) + 1


def test_no_count_gains_more_variance_than_twice_itself(release: Release) -> None:
    """What the page for users says of any count by the keys, without a number that would tell θ."""
    for of in (["sex", "age", "area"], ["area"], ["sex", "age"]):
        added = release.added_variance(of)
        assert (added.variance <= 2 * added.counts).all()
    assert release.added_variance(KEYS).variance.max() > 2  # so that no bound of 2 could be stated
