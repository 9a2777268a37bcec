"""Columns that move along with the keys: from whom a moved record has them, and what that does to tables."""

import json
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from maskwell.errors import DataError, MaskwellError
from maskwell.release import Release, ReleasePlan, limit_identification
from maskwell.release.attack.disclosures import disclosures
from maskwell.release.evaluation.public_view import public_view
from maskwell.release.identification.plan import IdentificationPlan
from maskwell.views.pages.release import external_page, internal_page
from tests.persons import associated, small

KEYS = ["sex", "age", "area", "race"]


def told(n: int = 4000) -> pd.DataFrame:
    """Persons with a birth year and a quarter that go with the keys."""
    people = associated(n)
    random = np.random.default_rng(1)
    return people.assign(
        born=2026 - people["age"] - random.integers(2, size=n), quarter=people["area"] * 4 + random.integers(4, size=n)
    )


def released(people: Any, **options: Any) -> Release:
    return limit_identification(people, KEYS, 0.395, "sex", along=["born", "quarter"], seed=2, **options)


def test_a_moved_record_has_all_of_them_from_one_who_belongs_there() -> None:
    people = told()
    made = released(people)
    moved = ~(made.table[KEYS].to_numpy() == people[KEYS].to_numpy()).all(axis=1)
    assert moved.sum() == made.changed_records > 1000
    every = [*KEYS, "born", "quarter"]
    pd.testing.assert_frame_equal(made.table[~moved], people[~moved])
    true = set(people[every].itertuples(index=False, name=None))
    assert set(made.table.loc[moved, every].itertuples(index=False, name=None)) <= true
    rest = [name for name in people if name not in every]
    pd.testing.assert_frame_equal(made.table[rest], people[rest])


def test_everybody_who_belongs_there_is_equally_likely_to_give_them() -> None:
    """Cells of two, whose members differ: 600 seeds; the share of the first has a false-alarm rate of 1e-6."""
    table = small() | {"tag": list(range(30))}
    given: Counter[int] = Counter()
    pairs = [
        [i for i, area in enumerate(table["area"]) if area == label and table["set"][i] == 1] for label in ("d", "e")
    ]
    for seed in range(600):
        made = limit_identification(table, "area", 0.395, "set", along="tag", seed=seed)
        tags = made.table["tag"]
        for pair in pairs:
            given.update(tag == pair[0] for i, tag in enumerate(tags) if tag in pair and tag != i)
    draws = sum(given.values())
    assert draws > 300
    assert abs(given[True] / draws - 0.5) < 4.9 * 0.5 / draws**0.5


SEEDS = 1500
TAGGED = small() | {"tag": [i % 4 for i in range(30)]}


@cache
def drawn() -> list[dict[str, Any]]:
    return [limit_identification(TAGGED, "area", 0.395, "set", along="tag", seed=seed).table for seed in range(SEEDS)]


@pytest.mark.parametrize("of", [["tag"], ["area", "tag"], ["tag", "other"], ["set", "tag"], ["area"]])
def test_means_and_variances_are_those_of_the_draws(of: list[str]) -> None:
    """1,500 seeds: 5.7 standard errors are exceeded once in 80 million times by a mean; some 100 cells, twice each."""
    added = limit_identification(TAGGED, "area", 0.395, "set", along="tag", seed=0).added_variance(of)
    cells = [tuple(map(str, label)) for label in added.labels]
    found = [Counter(zip(*(map(str, made[name]) for name in of), strict=True)) for made in drawn()]
    counts = np.array([[own[cell] for cell in cells] for own in found], float)
    assert counts.sum(axis=1).tolist() == [30] * SEEDS
    assert (np.abs(counts.mean(axis=0) - added.expected) <= 5.7 * np.sqrt(added.variance / SEEDS) + 1e-9).all()
    squares = (counts - added.expected) ** 2
    error = squares.std(axis=0) / SEEDS**0.5
    assert (np.abs(squares.mean(axis=0) - added.variance) <= 5.7 * error + 1e-9).all()
    if "other" not in of:
        assert added.bias == pytest.approx(0, abs=1e-9)


def test_a_column_that_moves_along_no_longer_shows_who_moved() -> None:
    people = told()
    staying = limit_identification(people, KEYS, 0.5, "sex", blocks="whole", seed=2)
    assert {"born", "quarter"} <= set(disclosures(staying, rows_in_order=False).deciding)
    moving = limit_identification(people, KEYS, 0.5, "sex", along=["born", "quarter"], blocks="whole", seed=2)
    moving.check()
    assert moving.attack().surest[2].share_right < staying.attack().surest[2].share_right - 0.1
    # The limit is that of the keys, and so are the moves.
    assert moving.audit.to_dict() == staying.audit.to_dict()
    assert moving.table["age"].tolist() == staying.table["age"].tolist()


def test_plans_keep_what_moves_along() -> None:
    people = told().assign(person=np.arange(4000))
    made = limit_identification(people, KEYS, 0.5, "sex", along=["born", "quarter"], key=bytes(32), ids="person")
    plan = ReleasePlan.from_json(made.plan.to_json())
    again = plan.apply(people, key=bytes(32), ids="person")  # type: ignore[attr-defined]
    pd.testing.assert_frame_equal(again.table, made.table)
    shuffled = people.sample(frac=1, random_state=1)
    order = plan.apply(shuffled, key=bytes(32), ids="person").table.sort_values("person")  # type: ignore[attr-defined]
    assert (order["age"].to_numpy() == made.table["age"].to_numpy()).all()
    content = json.loads(made.plan.to_json())["content"]
    assert content["along"] == ["born", "quarter"]
    for wrong in (["age"], ["sex"], [1], {"born": 1}):
        with pytest.raises(MaskwellError):
            IdentificationPlan.from_content(content | {"along": wrong}, made.plan.draws())
    assert "along" not in json.loads(limit_identification(people, KEYS, 0.5, "sex", seed=1).plan.to_json())["content"]


def test_pages_say_that_they_may_differ() -> None:
    made = released(told())
    view = public_view(made, False, [["born", "quarter"], ["born", "marital"]])
    assert set(view.moving) == {"age", "area", "race", "born", "quarter"}
    assert "born" not in view.kept
    kinds = {table.columns: table.kind for table in view.tables}
    assert kinds["born", "quarter"] == kinds["born",] == "unbiased"
    assert kinds["born", "marital"] == "weakened"
    assert "quarter" in external_page(made)
    assert "what moves with the keys although it is none" in internal_page(made)


@pytest.mark.parametrize(
    ("along", "match"), [("age", "a key"), ("sex", "a key"), ("marital", "no record may leave"), ("home", "groups")]
)
def test_what_cannot_move_along_is_refused(along: str, match: str) -> None:
    people = associated(500).assign(home=range(500))
    with pytest.raises(DataError, match=f"along names '{along}'.*{match}"):
        limit_identification(people, KEYS, 0.5, ["sex", "marital"], along=along, together="home", seed=1)


def test_what_moves_along_with_a_group_must_describe_the_group() -> None:
    homes = pd.DataFrame({"home": np.repeat(range(100), 2), "size": np.repeat(range(100), 2)})
    homes["rent"] = homes["size"] * 3
    made = limit_identification(homes, "size", 0.5, together="home", along="rent", seed=1)
    assert (made.table["rent"] == made.table["size"] * 3).all()
    assert made.changed_records > 50
    with pytest.raises(DataError, match="'rent' differs within"):
        limit_identification(homes.assign(rent=range(200)), "size", 0.5, together="home", along="rent", seed=1)
    with pytest.raises(DataError, match="no column 'rnet'"):
        limit_identification(homes, "size", 0.5, along="rnet", seed=1)


# Numbers of which nearly every record has its own.


def weighted(n: int = 3000, digits: int | None = None) -> dict[str, Any]:
    """Persons with a weight of many digits."""
    random = np.random.default_rng(9)
    weight = random.uniform(10, 50, n)
    return {
        "sex": random.choice(["f", "m"], n),
        "age": random.integers(16, 90, n),
        "region": random.choice(["n", "e", "s", "w"], n),
        "weight": weight if digits is None else weight.round(digits),
    }


def test_a_weight_that_occurs_twice_tells_who_moved_and_is_said() -> None:
    table = weighted()
    made = limit_identification(table, ["sex", "age", "region"], 0.5, "sex", along="weight", seed=3)
    (found,) = made.repeated
    values = np.asarray(made.table["weight"])
    counts = Counter(values.tolist())
    again = np.array([counts[value] > 1 for value in values.tolist()])
    moved = made.cell_after != made.setup.cell_of_unit
    assert (found.column, found.records) == ("weight", int(again.sum()))
    assert (found.moved, found.moved_else) == pytest.approx((moved[again].mean(), moved[~again].mean()))
    assert found.moved > 5 * found.moved_else
    # Both show one combination, as the module says.
    cells = {value: set() for value in values[again].tolist()}
    for value, cell in zip(values[again].tolist(), made.cell_after[again].tolist(), strict=True):
        cells[value].add(cell)
    assert {len(own) for own in cells.values()} == {1}
    warnings = disclosures(made).warnings()
    assert sum("'weight' goes along and is another value in nearly every record" in words for words in warnings) == 1
    assert disclosures(made).to_dict()["repeated"] == [found.to_dict()]
    assert "goes along and is another value" in internal_page(made).replace("&#x27;", "'")


def test_values_that_many_share_mark_nobody() -> None:
    made = limit_identification(weighted(digits=0), ["sex", "age", "region"], 0.5, "sex", along="weight", seed=3)
    assert made.changed_records
    assert made.repeated == ()
    nobody = limit_identification(weighted(), ["sex"], 0.5, along="weight", seed=3)
    assert nobody.repeated == ()


def test_the_page_for_users_has_words_and_no_table_for_weights_that_moved_along() -> None:
    made = limit_identification(weighted(), ["sex", "age", "region"], 0.5, "sex", along="weight", seed=3)
    view = public_view(made, False, [])
    assert view.untold == ("weight",)
    assert "weight" in view.moving
    assert ("weight",) not in [table.columns for table in view.tables]
    page = external_page(made)
    assert "There is no table of weight" in page
    assert "can be calibrated to known totals again" in page
    coarse = limit_identification(weighted(digits=0), ["sex", "age", "region"], 0.5, "sex", along="weight", seed=3)
    assert ("weight",) in [table.columns for table in public_view(coarse, False, []).tables]
