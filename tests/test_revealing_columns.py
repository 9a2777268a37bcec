"""What stays in a released file and tells who was moved: values, groups, numbers and the order of rows."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from maskwell.errors import DataError
from maskwell.release import ReleasePlan, limit_identification, pram, shuffle
from maskwell.release.attack.disclosures import disclosures
from maskwell.release.attack.revealing_columns import revealing_columns
from tests.persons import KEYS, population

N = 4000


def table(**more: object) -> dict[str, object]:
    """Records in no order, with a region of ten, and columns that have nothing to do with it."""
    random = np.random.default_rng(3)
    return {"region": random.integers(10, size=N), "number": random.permutation(N), "x": random.random(N), **more}


def found(data: dict[str, object]) -> list[tuple[str | None, str, str]]:
    return [(each.column, each.changed, each.how) for each in revealing_columns(data, ["region"])]


def test_nothing_is_found_where_nothing_tells() -> None:
    assert found(table()) == []
    households = np.random.default_rng(1).permutation(N) // 3
    assert found(table(household=households)) == []


def test_members_of_a_household_tell_each_others_region() -> None:
    household = np.random.default_rng(1).permutation(np.arange(N) // 3)
    region = np.random.default_rng(2).integers(10, size=N)[household]
    data = table(household=household) | {"region": region}
    assert ("household", "region", "group") in found(data)
    # Members who move as one do not tell on each other.
    assert revealing_columns(data, ["region"], together="household") == []


def test_rows_and_numbers_in_the_order_of_a_region_tell_it() -> None:
    region = np.sort(np.random.default_rng(2).integers(10, size=N))
    assert (None, "region", "order") in found(table() | {"region": region})
    scattered = np.random.default_rng(4).permutation(N)
    data = table() | {"region": region[scattered], "number": scattered}
    assert found(data) == [("number", "region", "order")]
    # Runs of ten rows are enough.
    assert found(table() | {"region": np.repeat(np.random.default_rng(5).integers(10, size=N // 10), 10)}) == [
        (None, "region", "order")
    ]


def test_a_number_that_only_some_have_is_no_order() -> None:
    """Those with a value of their own are mostly of one region, in whatever order they are taken."""
    random = np.random.default_rng(7)
    region = random.integers(10, size=N)
    some = random.random(N) < 0.2
    region[some] = np.where(random.random(some.sum()) < 0.8, 3, region[some])
    income = np.where(some, random.permutation(N) + 1, 0)
    assert found(table() | {"region": region, "income": income}) == []


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("birth", lambda people, random: 2026 - people["age"] - random.integers(2, size=len(people))),
        ("works in", lambda people, random: np.where(random.random(len(people)) < 0.02, 5, people["area"])),
        ("wage", lambda people, random: people["age"] * 1000 + random.integers(900, size=len(people))),
        ("class", lambda people, random: people["area"].rank(method="first").astype(int) // 12),
    ],
)
def test_columns_that_nearly_decide_a_key_show_who_moved(name: str, made: Any) -> None:
    people = population(4000)[["person", "sex", "age", "area", "income"]]
    people[name] = made(people, np.random.default_rng(6))
    release = limit_identification(people, ["sex", "age", "area"], 0.5, "sex", blocks="whole", seed=1)
    assert disclosures(release, rows_in_order=False).deciding == (name,)
    with pytest.raises(DataError, match=f"{name}.*accept"):
        release.check()
    release.check(accept=name)
    without = limit_identification(
        people.drop(columns=name), ["sex", "age", "area"], 0.5, "sex", blocks="whole", seed=1
    )
    left = disclosures(without, rows_in_order=False)
    assert left.deciding == ()
    assert left.numbers == ("person",)
    assert [words.startswith("'person' is another one in nearly every record") for words in left.warnings()] == [True]
    without.check()


def test_columns_show_who_was_post_randomized() -> None:
    people = population(4000)[["person", "sex", "age", "area", "income"]]
    people["place"] = people["area"] // 5 + np.random.default_rng(6).integers(2, size=len(people))
    step = pram(people, "area", diagonal=0.8, strata="sex", seed=1)
    found = disclosures(step, rows_in_order=False)
    assert found.deciding == ("place",)
    assert "'place' stays as it is and decides a key" in found.warnings()[0]
    assert (
        disclosures(pram(people.drop(columns="place"), "area", diagonal=0.8, seed=1), rows_in_order=False).deciding
        == ()
    )


def test_what_is_said_names_the_column_and_the_remedy() -> None:
    said = str(revealing_columns(table() | {"region": np.sort(table()["region"])}, ["region"])[0])  # type: ignore[call-overload]
    assert "put the rows in random order" in said
    assert "'region'" in said


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars", "lazy", "arrow"])
def test_shuffled_tables_hold_the_same_rows(kind: str) -> None:
    data = {"a": list(range(500)), "b": [f"v{i}" for i in range(500)]}
    made = {
        "dict": lambda: data,
        "pandas": lambda: pd.DataFrame(data),
        "polars": lambda: pl.DataFrame(data),
        "lazy": lambda: pl.LazyFrame(data),
        "arrow": lambda: pa.table(data),
    }[kind]()
    after = shuffle(made)
    after = after.collect() if kind == "lazy" else after
    a, b = list(after["a"]), list(after["b"])
    if kind == "arrow":
        a, b = [each.as_py() for each in a], [each.as_py() for each in b]
    assert a != data["a"]
    assert sorted(a) == data["a"]
    assert b == [f"v{i}" for i in a]
    if kind == "pandas":
        assert after.index.equals(made.index)  # type: ignore[union-attr]


def test_every_order_is_equally_likely() -> None:
    """Four rows, 24 orders, 12,000 seeds; the chi-square has a false-alarm rate of 1e-6."""
    from scipy import stats

    orders: dict[tuple[int, ...], int] = {}
    for seed in range(12_000):
        order = tuple(shuffle({"x": [0, 1, 2, 3]}, seed=seed)["x"])
        orders[order] = orders.get(order, 0) + 1
    assert len(orders) == 24
    assert stats.chisquare(list(orders.values())).pvalue > 1e-6


def test_a_key_gives_a_record_its_place_whatever_the_order_of_the_input() -> None:
    ids = list(range(200))
    first = shuffle({"id": ids}, key=bytes(32), ids=ids)["id"]
    again = shuffle({"id": ids[::-1]}, key=bytes(32), ids=ids[::-1])["id"]
    assert first == again != ids
    assert shuffle({"id": ids}, key=bytes(31) + b"1", ids=ids)["id"] != first


def test_a_plan_knows_its_key() -> None:
    people = population(3000)
    made = limit_identification(people, KEYS, 0.5, "sex", blocks="whole", key=bytes(32), ids="person")
    plan = ReleasePlan.from_json(made.plan.to_json())
    with pytest.raises(DataError, match="not the one that the plan was drawn with"):
        plan.apply(people, key=bytes(31) + b"1", ids="person")  # type: ignore[attr-defined]
    again = plan.apply(people, key=bytes(32), ids="person")  # type: ignore[attr-defined]
    pd.testing.assert_frame_equal(again.table, made.table)
    step = pram(people, "marital", least_diagonal=0.9, key=bytes(32), ids="person")
    stored = ReleasePlan.from_json(step.plan.to_json())
    with pytest.raises(DataError, match="not the one that the plan was drawn with"):
        stored.apply(people, key=bytes(31) + b"1", ids="person")  # type: ignore[attr-defined]
    pd.testing.assert_frame_equal(stored.apply(people, key=bytes(32), ids="person"), step.table)  # type: ignore[attr-defined]
