"""What a custodian can ask of a release: blocks, exemptions, households and any kind of table."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from maskwell.errors import DataError, ReportError
from maskwell.release import (
    ReleasePlan,
    limit_identification,
)
from maskwell.release.attack.revealing_columns import revealing_columns
from maskwell.views.pages.release import internal_page
from tests.persons import small

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


def test_keys_that_every_block_keeps_do_not_change_unless_blocks_were_joined() -> None:
    table = lopsided() | {"copy": lopsided()["group"]}
    keys: dict[str, Any] = {"keys": ["sex", "group", "age"], "xi": 0.395, "within": ["sex", "group"], "seed": 1}
    joined = limit_identification(table, merge="merge", **keys)
    assert joined.setup.changing == ("group", "age")
    found = revealing_columns(table, joined.setup.changing, rows_in_order=False)
    assert [each.column for each in found if each.changed == "group"] == ["copy"]
    apart = limit_identification({name: own[:60] for name, own in table.items()}, **keys)
    assert apart.setup.changing == ("age",)


def test_rows_that_are_sorted_by_a_key_give_it_away() -> None:
    rng = np.random.default_rng(1)
    age = np.sort(rng.integers(0, 90, 3000))
    area = rng.integers(0, 5, 3000)
    assert [(each.column, each.changed) for each in revealing_columns({"age": age, "area": area}, ["age", "area"])] == [
        (None, "age")
    ]
    assert "random order" in str(*revealing_columns({"age": age[::-1]}, ["age"]))
    assert not revealing_columns({"age": rng.permutation(age)}, ["age"])


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
    made = limit_identification(table, "area", 0.395, within="part", merge="merge", blocks="whole", seed=1)
    assert len(made.plan.blocks) == 1
    # a0 is a pair and a1, three times in all, is not sensitive any more.
    assert sorted(made.plan.blocks[0].counts) == [1] * 10 + [2]
    assert made.audit.holds
    # Whoever knows that the one person with a1 is in part 1 finds her, so the custodian is told.
    assert made.plan.unprotected == ("part",)
    assert "joined across part" in made.summary()
    assert "joined across part" in internal_page(made)


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
    with pytest.raises(DataError, match="not a key"):
        limit_identification(table, ["a"], 0.395, exempt="b")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"keys": []}, "keys"),
        ({"keys": ["nowhere"]}, "no column"),
        ({"within": {"area": [3, 1]}}, "rising order"),
        ({"within": {"area": [1, 3]}}, "numbers"),
        ({"within": {"area": [["zz"]]}}, "none of the 8 categories"),
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
    made = limit_identification(table, "area", 0.395, together="home", blocks="whole", seed=3)
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


def test_keyed_draws_of_a_group_do_not_depend_on_the_order_of_its_rows() -> None:
    table = pd.DataFrame({"id": range(60), "home": np.arange(60) // 2, "area": np.arange(60) // 2})
    swapped = table.iloc[::-1]
    first, again = (
        limit_identification(own, "area", 0.395, together="home", key=b"k" * 32, ids="id").table
        for own in (table, swapped)
    )
    assert not first.equals(table)
    assert again.sort_index().equals(first)
    with pytest.raises(DataError, match="all whole numbers"):
        limit_identification(table, "area", 0.395, together="home", key=b"k" * 32, ids=[*range(59), "a"])


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


def test_a_second_spelling_does_not_tell_which_records_stayed() -> None:
    # At this limit pairs move too. A record that is shown with the second spelling would surely be one of the two.
    table = {"x": [0.0, -0.0, *(float(i // 2) for i in range(2, 60))], "y": ["a", "b"] * 30}
    stayed = 0
    for seed in range(30):
        released = limit_identification(table, "x", 0.4, seed=seed).table["x"]
        assert not np.signbit(released).any()
        stayed += released[1] == 0
    assert stayed


def test_missing_values_are_a_category_of_their_own_and_stay_missing() -> None:
    table = pd.DataFrame({"a": [None, *(f"a{i}" for i in range(20))], "b": [float("nan"), *range(20)]})
    made = limit_identification(table, ["a", "b"], 0.5, seed=2)
    assert (made.table["a"].isna() == made.table["b"].isna()).all()
    assert (made.table.dtypes == table.dtypes).all()
    whole = ReleasePlan.from_json(made.plan.to_json())
    assert any((None, None) in whole.cells(i) for i in range(len(whole.blocks)))  # type: ignore[attr-defined]


@pytest.mark.parametrize("zone", [None, "Europe/Paris"])
def test_dates_of_pandas_are_stored_in_plans(zone: str | None) -> None:
    days = pd.date_range("2020-01-01 12:30", periods=40, tz=zone).astype(f"datetime64[ns{f', {zone}' if zone else ''}]")
    table = pd.DataFrame({"day": days})
    made = limit_identification(table, "day", 0.395, seed=1)
    plan = ReleasePlan.from_json(made.plan.to_json())
    assert plan.apply(table).table.equals(made.table)  # type: ignore[attr-defined]
    exact = limit_identification(pd.DataFrame({"day": days + pd.Timedelta(1, "ns")}), "day", 0.395, seed=1)
    with pytest.raises(ReportError, match="nanoseconds"):
        exact.plan.to_json()


def test_a_key_of_one_value_has_no_added_variance() -> None:
    made = limit_identification({"one": ["a"] * 60, "n": range(60)}, ["one", "n"], 0.4, seed=1)
    added = made.added_variance("one")
    assert added.variance.tolist() == added.ratio.tolist() == [0]
    assert not added.warnings


def test_columns_that_are_numbered_are_left_alone() -> None:
    table = pd.DataFrame({0: range(40), "n": range(40)})
    made = limit_identification(table, "n", 0.395, seed=1)
    assert made.table[0].equals(table[0])
    assert list(made.comparison().frequencies) == ["n"]


def test_a_range_is_a_column_like_any_other() -> None:
    made = limit_identification({"n": range(40)}, "n", 0.395, seed=1)
    assert made.table == limit_identification({"n": list(range(40))}, "n", 0.395, seed=1).table
