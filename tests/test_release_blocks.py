"""Small blocks: every way of forming them keeps the limit, the expected counts and the plan.

Statistical tests use fixed seeds; each states its false-alarm rate.
"""

import itertools
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from maskwell.errors import DataError, ReportError
from maskwell.release import Release, ReleasePlan, limit_identification, plan_identification, theta_for
from maskwell.release.identification.blocks.forming import WAYS, WHOLE
from maskwell.release.identification.blocks.microaggregation import group_sizes, microaggregate
from maskwell.release.identification.theta import least_cells
from maskwell.release.rows import random_order

KEYS = ["sex", "age", "area"]
SMALL = [way for way in WAYS if way != WHOLE]
FALSE_ALARM = 1e-6


def people(n: int = 3000, seed: int = 7) -> pd.DataFrame:
    """Persons whose work, schooling and income depend on age and area."""
    random = np.random.default_rng(seed)
    age, area = random.integers(18, 90, n), random.integers(0, 40, n)
    work = np.where(age > 66, "retired", np.where(random.random(n) < 0.1 + area / 60, "farm", "office"))
    return pd.DataFrame(
        {
            "person": np.arange(n),
            "sex": random.choice(["f", "m"], n),
            "age": age,
            "area": [f"a{i:02}" for i in area],
            "work": work,
            "school": np.clip((age // 20 + random.integers(0, 4, n)), 0, 6),
            "income": np.round(np.where(work == "retired", 900, 2000) * random.lognormal(0, 0.5, n), 2),
            "note": pd.Series([None] * n, dtype=object),
        }
    )


@pytest.fixture(scope="module")
def persons() -> pd.DataFrame:
    return people()


@pytest.fixture(scope="module")
def releases(persons: pd.DataFrame) -> dict[str, Release]:
    return {way: limit_identification(persons, KEYS, 0.5, "sex", blocks=way, seed=5) for way in WAYS}


# What every way keeps.


@pytest.mark.parametrize("way", SMALL)
@pytest.mark.parametrize("size", [None, 4, 5, 9])
@pytest.mark.parametrize("xi", [0.36, 0.395, 0.45, 0.5, 0.7])
def test_every_sensitive_cell_is_in_one_block_of_the_size_asked_for(
    persons: pd.DataFrame, way: str, size: int | None, xi: float
) -> None:
    least = least_cells(theta_for(xi))
    if size is not None and size < least:
        with pytest.raises(DataError, match=rf"block_size={size} is too small.* {least} "):
            plan_identification(persons, KEYS, xi, "sex", blocks=way, block_size=size)
        return
    plan, audit = plan_identification(persons, KEYS, xi, "sex", blocks=way, block_size=size, seed=1)
    counts = persons.groupby(KEYS, observed=True).size()
    rare = counts[counts < 1 / xi]
    found = [cell for block in range(len(plan.blocks)) for cell in plan.cells(block)]
    assert sorted(found) == sorted(rare.index)
    assert [rare[cell] for cell in found] == [t for block in plan.blocks for t in block.counts]
    sizes = [block.k for block in plan.blocks]
    wanted = size or max(3, least)
    assert min(sizes) >= least
    # Leftovers make a block at most one larger where only blocks of the least size would be left.
    assert max(sizes) <= (wanted if wanted > least else wanted + 1)
    assert all(len({cell[0] for cell in plan.cells(b)}) == 1 for b in range(len(plan.blocks)))
    assert audit.holds
    assert all(block.risk <= Fraction(xi) for block in audit.blocks)


def test_cells_of_one_frequency_stay_among_themselves_where_there_are_enough(persons: pd.DataFrame) -> None:
    plan, audit = plan_identification(persons, KEYS, 0.45, "sex", blocks="mixed")
    assert {len(set(block.counts)) for block in plan.blocks} == {1}
    assert {t for block in plan.blocks for t in block.counts} == {1, 2}
    assert audit.holds_for_all_counts
    few = {"area": [*"abcdefgh", "i", "i"]}
    plan, _ = plan_identification(few, "area", 0.45, blocks="random", seed=1)
    assert any(set(block.counts) == {1, 2} for block in plan.blocks)


@pytest.mark.parametrize("way", SMALL)
def test_expected_counts_are_the_true_ones(releases: dict[str, Release], way: str) -> None:
    release = releases[way]
    for of in (["age"], ["area"], ["sex", "age", "area"], {"age": [30, 60]}):
        np.testing.assert_allclose(release.added_variance(of).bias, 0, atol=1e-9)


def test_counts_are_unbiased_with_the_stated_variance_in_small_blocks() -> None:
    """Against simulation; false alarm 1e-6 over all counts of both tables."""
    table = {
        "area": [f"a{i:02}" for i in (*range(20), *range(20, 26), *range(20, 26))],
        "kind": ["x", "y", "z", "x"] * 8,
    }
    runs = 600
    made = [limit_identification(table, "area", 0.45, blocks="profile", seed=seed) for seed in range(runs)]
    assert len({one.plan.fingerprint for one in made}) == 1
    for of in (["area"], ["area", "kind"]):
        added = made[0].added_variance(of)
        drawn = np.array(
            [
                [list(zip(*(one.table[name] for name in of), strict=True)).count(label) for label in added.labels]
                for one in made
            ]
        )
        z = (drawn.mean(axis=0) - added.expected) / np.sqrt(added.variance / runs)
        limit = stats.norm.isf(FALSE_ALARM / 4 / len(added.counts))
        assert np.abs(z[added.variance > 0]).max() < limit
        ratio = drawn.var(axis=0)[added.variance > 0] / added.variance[added.variance > 0]
        # Counts of few records have heavier tails than normal ones, at most about four times the variance of s².
        assert np.abs(ratio - 1).max() < 2 * limit * np.sqrt(2 / runs) * 2


@pytest.mark.parametrize("way", SMALL)
def test_records_move_within_their_block_alone(releases: dict[str, Release], persons: pd.DataFrame, way: str) -> None:
    release = releases[way]
    block_of = {cell: b for b in range(len(release.plan.blocks)) for cell in release.plan.cells(b)}
    before = [tuple(row) for row in persons[KEYS].itertuples(index=False)]
    after = [tuple(row) for row in release.table[KEYS].itertuples(index=False)]
    assert all(a == b or block_of[a] == block_of[b] for a, b in zip(before, after, strict=True))
    assert 0 < release.changed_records == sum(a != b for a, b in zip(before, after, strict=True))
    assert release.table.drop(columns=KEYS).equals(persons.drop(columns=KEYS))


def test_look_alike_blocks_move_less_far_than_others(releases: dict[str, Release], persons: pd.DataFrame) -> None:
    """What they are for: the values that a record is given go with what stays of it."""
    moved = {
        way: np.abs(release.table["age"] - persons["age"])[release.table["age"] != persons["age"]].mean()
        for way, release in releases.items()
    }
    assert max(moved["profile"], moved["mixed"]) < 0.6 * min(moved[WHOLE], moved["random"])
    of_retired = {
        way: float(((release.table["age"] <= 66) & (persons["work"] == "retired")).sum())
        for way, release in releases.items()
    }
    assert 3 * max(of_retired[way] for way in ("staying", "profile", "mixed")) < of_retired[WHOLE]


# Plans.


@pytest.mark.parametrize("way", WAYS)
def test_a_plan_holds_its_blocks_and_repeats_them(
    releases: dict[str, Release], persons: pd.DataFrame, way: str
) -> None:
    release = releases[way]
    text = release.plan.to_json()
    plan = ReleasePlan.from_json(text)
    assert plan == release.plan
    assert json.loads(text)["version"] == (1 if way == WHOLE else 2)
    again = plan.apply(persons)  # type: ignore[attr-defined]
    assert again.table.equals(release.table)
    assert again.plan.to_json() == text
    with pytest.raises(DataError, match="not the one"):
        plan.apply(persons.iloc[1:])  # type: ignore[attr-defined]


def test_a_plan_is_repeated_from_its_blocks_not_by_forming_them_anew(
    releases: dict[str, Release], persons: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("blocks were formed anew")

    monkeypatch.setattr("maskwell.release.identification.setup.form", never)
    assert releases["mixed"].plan.apply(persons).table.equals(releases["mixed"].table)


def test_false_blocks_of_a_plan_are_refused(releases: dict[str, Release], persons: pd.DataFrame) -> None:
    def forged(change: Any) -> ReleasePlan:
        document = json.loads(releases["mixed"].plan.to_json())
        change(document["content"])
        for _ in range(2):
            try:
                return ReleasePlan.from_json(json.dumps(document))
            except ReportError:
                made = type(releases["mixed"].plan).from_content(document["content"], document["draws"])
                document["fingerprint"] = made.fingerprint
        raise AssertionError

    def split(content: Any) -> None:
        block = content["blocks"][0]
        rest = {"sets": block["sets"], "cells": block["cells"][2:], "counts": block["counts"][2:]}
        block["cells"], block["counts"] = block["cells"][:2], block["counts"][:2]
        content["blocks"].append(rest)

    def twice(content: Any) -> None:
        content["blocks"][0]["cells"][0] = content["blocks"][1]["cells"][0]

    def missing(content: Any) -> None:
        del content["blocks"][0]

    def empty(content: Any) -> None:
        content["blocks"].append({"sets": content["blocks"][0]["sets"], "cells": [], "counts": []})

    for change in (split, twice, missing, empty):
        with pytest.raises(DataError, match=r"fewer than 3 cells|not the one"):
            forged(change).apply(persons)  # type: ignore[attr-defined]
    document = json.loads(releases["mixed"].plan.to_json())
    document["content"]["forming"]["way"] = "elsewhere"
    with pytest.raises(ReportError, match="malformed"):
        ReleasePlan.from_json(json.dumps(document))


@pytest.mark.parametrize("way", SMALL)
def test_a_key_makes_blocks_and_draws_repeatable_in_any_order_of_rows(persons: pd.DataFrame, way: str) -> None:
    shuffled = persons.sample(frac=1, random_state=1)
    key = b"k" * 32
    first, again = (
        limit_identification(own, KEYS, 0.5, "sex", blocks=way, key=key, ids="person") for own in (persons, shuffled)
    )
    assert first.plan == again.plan
    assert again.table.sort_index().equals(first.table)


def test_random_blocks_are_drawn_anew_without_a_seed(persons: pd.DataFrame) -> None:
    plans = [plan_identification(persons, KEYS, 0.5, "sex", blocks="random")[0] for _ in range(2)]
    assert plans[0] != plans[1]
    seeded = [plan_identification(persons, KEYS, 0.5, "sex", blocks="random", seed=s)[0] for s in (1, 1, 2)]
    assert seeded[0] == seeded[1] != seeded[2]


# Tables of every shape.


@pytest.mark.parametrize("way", SMALL)
def test_tables_without_anything_to_compare_are_released_too(way: str) -> None:
    only_keys = {"n": list(range(50)), "m": ["a", "b"] * 25}
    assert limit_identification(only_keys, ["n", "m"], 0.5, blocks=way, seed=1).audit.holds
    constant = {"n": [f"n{i}" for i in range(50)], "c": ["x"] * 50, "id": [f"i{i}" for i in range(50)]}
    assert limit_identification(constant, "n", 0.5, blocks=way, seed=1).audit.holds
    none = {"n": ["a"] * 50, "c": ["x", "y"] * 25}
    assert limit_identification(none, "n", 0.5, blocks=way, seed=1).changed_records == 0
    missing = {"n": [None, *range(49)], "c": [None, 1.5] * 25, "d": [float("nan"), *np.arange(49.0)]}
    assert limit_identification(missing, "n", 0.5, blocks=way, seed=1).audit.holds


@pytest.mark.parametrize("way", SMALL)
def test_small_blocks_of_joined_sets_and_of_households(persons: pd.DataFrame, way: str) -> None:
    few = pd.concat([persons[persons["sex"] == "f"], persons[persons["sex"] == "m"].head(2)])
    joined = limit_identification(few, KEYS, 0.5, "sex", merge="merge", blocks=way, seed=1)
    assert joined.plan.merged == 1
    assert joined.audit.holds
    assert joined.plan.apply(few).table.equals(joined.table)
    homes = pd.DataFrame({"home": np.arange(400) // 2, "area": np.arange(400) // 2 % 150, "age": np.arange(400) % 70})
    together = limit_identification(homes, "area", 0.5, together="home", blocks=way, seed=1)
    assert (together.table.groupby("home")["area"].nunique() == 1).all()
    assert max(block.k for block in together.plan.blocks) <= 4


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"blocks": "similar"}, "blocks must be one of whole, random, staying, profile, mixed"),
        ({"blocks": WHOLE, "block_size": 3}, "block_size is for small blocks"),
        ({"blocks": "mixed", "block_size": 2}, "too small"),
        ({"blocks": "mixed", "block_size": 0}, "whole number"),
        ({"blocks": "mixed", "block_size": 3.0}, "whole number"),
        ({"blocks": "mixed", "block_size": True}, "whole number"),
    ],
)
def test_wrong_blocks_are_refused_in_one_line(persons: pd.DataFrame, options: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=said) as caught:
        limit_identification(persons, KEYS, 0.5, "sex", **options)
    assert "\n" not in str(caught.value)


# Grouping points.


@pytest.mark.parametrize("wanted", range(3, 8))
@pytest.mark.parametrize("least", [2, 3, 5])
def test_group_sizes_add_up_and_keep_their_bounds(wanted: int, least: int) -> None:
    for points in range(least, 60):
        sizes = group_sizes(points, max(wanted, least), least)
        assert sum(sizes) == points
        assert min(sizes) >= least
        assert max(sizes) - min(sizes) <= 1
        assert max(sizes) < 2 * max(wanted, least)


@pytest.mark.parametrize("n", [3, 17, 1000, 5003])
def test_groups_are_of_points_that_lie_near_each_other(n: int) -> None:
    points = np.random.default_rng(n).normal(size=(n, 4))
    sizes = group_sizes(n, 3, 3)
    groups = microaggregate(points, sizes)
    assert sorted(itertools.chain(*(group.tolist() for group in groups))) == list(range(n))
    assert sorted(map(len, groups)) == sorted(sizes)
    if n >= 1000:
        spread = np.mean([points[group].var(axis=0).sum() for group in groups])
        assert spread < 0.1 * points.var(axis=0).sum()


def test_groups_start_at_the_edge() -> None:
    points = np.random.default_rng(3).normal(size=(90, 3))
    first = microaggregate(points, group_sizes(90, 3, 3))[0]
    apart = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    farthest = int(np.argmax(apart))
    assert farthest in first
    near = np.argsort(((points - points[farthest]) ** 2).sum(axis=1))[:3]
    assert sorted(first) == sorted(near)


def test_random_blocks_and_the_order_of_rows_are_drawn_apart() -> None:
    assert random_order(100, None, None, 1).tolist() != random_order(100, None, None, 1, " blocks").tolist()


@pytest.mark.parametrize(("way", "alike"), [("profile", "kind"), ("staying", "value"), ("mixed", "kind")])
def test_cells_of_a_block_are_alike_in_what_their_way_looks_at(way: str, alike: str) -> None:
    """The kind of an area, which its name does not tell, predicts a column; a value is the record's own."""
    random = np.random.default_rng(8)
    kind_of_area = random.permutation(np.repeat([0, 1], 15))
    area, number = random.integers(0, 30, 1200), random.integers(0, 400, 1200)
    kind = kind_of_area[area]
    table = pd.DataFrame(
        {
            "area": [f"a{i:02}" for i in area],
            "number": [f"n{i:03}" for i in random.permutation(400)[number]],
            "kind": kind,
            "value": np.where(random.random(1200) < 0.9, kind, 1 - kind),
        }
    )
    asked = table.drop(columns="kind")
    # The number first: cells that follow each other then differ in their area.
    keys = ["number", "area"]
    plan, _ = plan_identification(asked, keys, 0.5, blocks=way)
    own = table.drop_duplicates(keys, keep=False).set_index(keys)[alike]
    spread = [len({own[cell] for cell in plan.cells(b)}) for b in range(len(plan.blocks))]
    # At random a block of three would be alike in a quarter of the cases.
    assert np.mean(np.array(spread) == 1) > 0.9
