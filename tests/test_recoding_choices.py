"""What a recoding takes and says: categories that are there, missing values, weights, first steps and the next best."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import maskwell as mw
from maskwell import release as mr
from maskwell.errors import DataError
from maskwell.microdata import Microdata, Variable
from maskwell.release import Recode, recode, search_recoding
from maskwell.release.evaluation.public_view import public_view
from maskwell.tables.encoded import encoded
from maskwell.views.pages.release import external_page, internal_page
from tests.test_release_blocks import people

JOBS = ["cook", "farmer", "Amer-Indian-Eskimo", None]


def persons(n: int = 300) -> dict[str, Any]:
    """A table with a weight, in which one key misses values."""
    random = np.random.default_rng(8)
    return {
        "age": random.integers(18, 60, n).tolist(),
        "sex": random.choice(["f", "m"], n).tolist(),
        "job": [JOBS[i] for i in random.choice(4, n, p=[0.6, 0.3, 0.05, 0.05])],
        "weight": random.uniform(5, 40, n).tolist(),
    }


# Merging.


def test_a_misspelled_category_is_refused_with_the_nearest() -> None:
    table = persons()
    wrong = mr.groups({"other": ["farmer", "Amer-Indian"]})
    with pytest.raises(DataError, match=r"merges 'Amer-Indian', which none of its 3 .*nearest is 'Amer-Indian-Eskimo'"):
        recode(table, ["age", "job"], {"job": wrong})
    with pytest.raises(DataError, match="nearest is 'Amer-Indian-Eskimo'"):
        search_recoding(table, ["age", "job"], {"job": [wrong]}, matches=10)
    with pytest.raises(DataError, match="nearest is 'Amer-Indian-Eskimo'"):
        mr.limit_identification(table, ["age", "job"], 0.5, recoding={"job": wrong})


def test_a_category_that_nobody_has_may_be_merged_where_it_is_declared() -> None:
    column = pa.DictionaryArray.from_arrays([0, 1, 0, 0], ["cook", "nurse", "smith"])
    made = recode({"job": column, "sex": ["f", "m", "f", "f"]}, ["job"], {"job": mr.groups({"x": ["nurse", "smith"]})})
    assert list(made.table["job"].to_pylist()) == ["cook", "x", "cook", "cook"]
    assert [(each.into, each.values, each.records) for each in made.merged] == [("x", 1, 1)]


def test_what_each_group_took_is_said() -> None:
    table = persons()
    made = recode(table, ["age", "job"], {"job": mr.groups({"other": ["farmer", "Amer-Indian-Eskimo"]})})
    took = sum(job in ("farmer", "Amer-Indian-Eskimo") for job in table["job"])
    assert f"job: other takes 2 values of {took} records." in made.summary()
    assert made.to_dict()["merged"] == [{"column": "job", "into": "other", "values": 2, "records": took}]


def test_a_label_with_a_comma_is_pointed_to_by_its_code() -> None:
    labels = {1.0: "primary", 2.0: "tertiary, first stage", 3.0: "tertiary, second stage"}
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0], pa.int32()), pa.array([*labels.values()]))
    known = Variable(value_labels=labels, codes=pa.array([*labels], pa.float64()))
    file = Microdata(pa.table({"school": column}), "spss", {"school": known})
    with pytest.raises(DataError, match=r"Write 2 for 'tertiary, first stage'"):
        recode(file, ["school"], {"school": mr.groups({"x": ["tertiary", "first stage", 3]})})
    made = recode(file, ["school"], {"school": mr.groups({"x": [2, 3]})})
    assert made.table.values("school").to_pylist() == ["primary", "x", "x", "primary"]


# Missing values.


@pytest.mark.parametrize(
    ("how", "after"),
    [
        (mr.one_category(missing=True), ["any"] * 3),
        (mr.groups({"unknown": [None, "b"]}), ["a", "unknown", "unknown"]),
        (mr.groups({"unknown": [None]}), ["a", "b", "unknown"]),
    ],
)
def test_a_recoding_may_take_missing_values_in(how: Recode, after: list[str]) -> None:
    assert how.values(["a", "b", None], "x") == after
    assert Recode.from_dict(json.loads(json.dumps(how.to_dict()))) == how
    made = recode({"x": ["a", "b", None], "y": [1, 2, 3]}, ["x", "y"], {"x": how})
    assert made.table["x"] == after
    assert encoded(made.table).coded("x").missing == 0


def test_numbers_beside_a_text_for_missing_ones_are_texts() -> None:
    made = recode({"x": [1, 2, None]}, ["x"], {"x": mr.groups({"unknown": [None]})})
    assert made.table["x"] == ["1", "2", "unknown"]


def test_missing_values_that_keep_a_target_out_of_reach_are_named() -> None:
    table = {"job": ["cook"] * 20 + [None] * 2, "sex": ["f", "m"] * 11}
    ladders: dict[str, Any] = {"job": [mr.one_category()], "sex": [mr.one_category()]}
    with pytest.raises(DataError, match=r"in job 2 records\): let a level take them in .one_category\(missing=True\)"):
        search_recoding(table, ["job", "sex"], ladders, k=3)
    assert "any (missing values stay missing)" not in recode(table, ["job"], {}).summary()
    assert "one category (missing values stay missing)" in recode(table, ["job"], {"job": mr.one_category()}).summary()
    ladders["job"] = [mr.one_category(missing=True)]
    assert search_recoding(table, ["job", "sex"], ladders, k=3).recoded.effects[-1].below_k == 0


# Weights.


def test_taus_by_weights_are_those_of_an_assessment() -> None:
    table = persons()
    keys, coarser = ["age", "sex", "job"], {"age": mr.intervals(2)}
    made = recode(table, keys, coarser, weights="weight")
    for effect, frame in ((made.effects[0], table), (made.effects[-1], made.table)):
        report = mw.risk.assess(frame, keys, weights="weight", model="independence")
        assert (effect.tau1, effect.tau2) == pytest.approx((report.tau1, report.tau2))
    alike = recode(table, keys, coarser, population_size=sum(table["weight"]))
    assert alike.effects[-1].tau2 != pytest.approx(made.effects[-1].tau2)


@pytest.mark.parametrize("weights", ["weight", None])
def test_a_search_for_tau_keeps_to_the_weights(weights: str | None) -> None:
    table = persons()
    keys = ["age", "sex", "job"]
    ladders = {"age": [mr.intervals(2), mr.intervals(4), mr.intervals(12), mr.one_category()]}
    given: dict[str, Any] = {"weights": weights} if weights else {"population_size": sum(table["weight"])}
    found = search_recoding(table, keys, ladders, tau2=1.0, **given)
    reached = mw.risk.assess(found.table, keys, model="independence", **given).tau2
    assert reached is not None
    assert reached <= 1.0
    milder = [each for each in (None, *ladders["age"]) if str(each) != str(found.recipe.columns.get("age"))]
    for how in milder[: [None, *ladders["age"]].index(found.recipe.columns["age"])]:
        tau2 = recode(table, keys, {} if how is None else {"age": how}, **given).effects[-1].tau2
        assert tau2 is not None
        assert tau2 > 1.0


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"weights": "wait"}, "no column 'wait'"),
        ({"weights": "job"}, "weights must be numbers"),
        ({"weights": [1.0]}, "one number per row"),
        ({}, "population_size.*weights"),
    ],
)
def test_weights_that_are_none_are_refused(given: dict[str, Any], match: str) -> None:
    with pytest.raises(DataError, match=match):
        search_recoding(persons(), ["age", "job"], {"age": [mr.one_category()]}, tau2=1.0, **given)


# First steps, and what else reaches the target.


def test_what_is_done_first_is_part_of_what_is_found() -> None:
    table = persons()
    first = {"weight": mr.rounded(10), "age": mr.ends(top=50)}
    ladders = {"age": [mr.intervals(5, top=50), mr.intervals(10, top=50), mr.one_category()]}
    found = search_recoding(table, ["age", "sex", "job"], ladders, recoding=first, matches=60)
    assert found.recipe.columns["weight"] == first["weight"]
    assert found.table["weight"] == [round(weight / 10) * 10 for weight in table["weight"]]
    assert found.recipe.columns["age"] in ladders["age"]
    none = search_recoding(table, ["age", "sex", "job"], ladders, recoding=first, matches=10_000)
    assert none.recipe.columns == first
    assert none.loss > 0  # what is done first loses something as well
    with pytest.raises(DataError, match="not coarser than the level before it"):
        search_recoding(table, ["age"], {"age": [mr.intervals(5)]}, recoding=first, matches=5)
    suppressing = recode(table, ["age"], suppress=3).recipe
    with pytest.raises(DataError, match="last step of a search"):
        search_recoding(table, ["age"], {}, recoding=suppressing, matches=5)


def test_the_next_best_reach_the_target_and_none_is_coarser_than_one_before() -> None:
    table, keys = people(600)[["sex", "age", "area", "work"]], ["sex", "age", "area"]
    areas = mr.read_hierarchy({f"a{i:02}": [f"r{i // 10}", "all"] for i in range(40)})
    ladders: dict[str, Any] = {"age": [mr.intervals(4), mr.intervals(20), mr.one_category()], "area": areas}
    found = search_recoding(table, keys, ladders, k=3)
    assert len(found.next_best) >= 1
    losses = [found.loss, *(each.loss for each in found.next_best)]
    assert losses == sorted(losses)

    def level(columns: Any, name: str) -> int:
        own = columns.get(name)
        levels = ladders[name] if isinstance(ladders[name], list) else ladders[name].all_levels()
        return 0 if own is None else 1 + [str(each) for each in levels].index(str(own))

    nodes = [
        [level(each.columns, name) for name in ladders] for each in (found.recipe, *(o.recipe for o in found.next_best))
    ]
    for i, node in enumerate(nodes):
        assert not any(all(a >= b for a, b in zip(node, other, strict=True)) for other in nodes[:i])
    for other in found.next_best:
        assert recode(table, keys, other.recipe, k=3).effects[-1].below_k == 0
        assert f"next best: {other}." in found.summary()
    json.dumps(found.to_dict())


# Limits of what no record leaves, on numbers that are recoded.


def test_intervals_of_a_recoded_number_are_groups_of_its_new_values() -> None:
    table = people(700)[["sex", "age", "area", "work"]]
    keys, coarser = ["sex", "age", "area"], {"age": mr.intervals(5)}
    made = mr.limit_identification(table, keys, 0.4, within={"age": [40]}, recoding=coarser, seed=1)
    young = made.setup.columns.coded("age")
    old = [label for label in young.labels if int(str(label).split(" ")[0]) >= 40]
    groups = [[label for label in young.labels if label not in old], old]
    same = mr.limit_identification(table, keys, 0.4, within={"age": groups}, recoding=coarser, seed=1)
    assert made.table.equals(same.table)
    assert made.plan.fingerprint == same.plan.fingerprint
    again = mr.ReleasePlan.from_json(made.plan.to_json()).apply(table)
    assert again.table.equals(made.table)
    with pytest.raises(DataError, match=r"at 42, inside of what its recoding makes one \(40 to 44\)"):
        mr.limit_identification(table, keys, 0.4, within={"age": [42]}, recoding=coarser, seed=1)


def test_a_search_takes_no_level_that_crosses_what_no_record_leaves() -> None:
    table, keys = people(700)[["sex", "age", "area", "work"]], ["sex", "age", "area"]
    levels = {"age": [mr.intervals(10), mr.intervals(20)]}
    free = search_recoding(table, keys, levels, xi=0.3)
    held = search_recoding(table, keys, {"age": [mr.intervals(20)]}, xi=0.3, within={"age": [40]})
    assert free.recoded.effects
    assert mr.limit_identification(table, keys, 0.3, {"age": [40]}, recoding=held.recipe, seed=1).audit.holds
    crossing = {"age": [mr.intervals(breaks=[30, 50])]}
    one = search_recoding(table, keys, crossing, xi=0.3, within={"age": [40]})
    assert "age" not in one.recipe.columns


def test_a_column_that_is_no_key_is_told(tmp_path: Path) -> None:
    made = recode(persons(), ["age", "sex"], {"weight": mr.rounded(10)})
    assert "weight: rounded to 10; no key, so that the figures of risk are without it;" in made.summary()


# The order in which tables are read.


def test_intervals_stand_in_the_order_of_their_numbers_in_both_reports() -> None:
    table, keys = people(700)[["sex", "age", "area", "work"]], ["sex", "age", "area"]
    table["age"] -= 15
    made = mr.limit_identification(table, keys, 0.4, recoding={"age": mr.intervals(5, top=60)}, seed=1)
    starts = [int(label.split(" ")[0]) for label in made.comparison().frequencies["age"].levels[0]]
    assert starts == sorted(starts)
    assert starts[:2] == [0, 5]
    after = made.comparison().frequencies["age"]
    counted = table["age"].map(lambda age: min(age // 5 * 5, 60)).value_counts()
    assert after.before.tolist() == [counted[start] for start in starts]
    released = [int(label.split(" ")[0]) for label in made.table["age"]]
    assert after.after.tolist() == [released.count(start) for start in starts]
    shown = next(each for each in public_view(made, False, []).tables if each.columns == ("age",))
    assert [int(label[0].split(" ")[0]) for label in shown.labels] == starts
    assert shown.counts.tolist() == after.after.tolist()
    page = internal_page(made, of=["age"])
    rows = [page.rindex(f">{label}<") for label in made.comparison().frequencies["age"].levels[0]]
    assert rows == sorted(rows)
    inside = internal_page(made)
    for either in (inside[inside.index("age: counts before and after") :], external_page(made)):
        places = [either.index(f">{label}<") for label in ("5 to 9", "10 to 14", "45 to 49", "60 and above")]
        assert places == sorted(places)


def test_labels_stand_in_the_order_of_their_codes() -> None:
    labels = {1.0: "single", 2.0: "married", 3.0: "divorced"}
    random, n = np.random.default_rng(3), 500
    picked = pa.array(random.choice(3, n, p=[0.5, 0.4, 0.1]).astype(np.int32))
    column = pa.DictionaryArray.from_arrays(picked, pa.array([*labels.values()]))
    known = Variable(value_labels=labels, codes=pa.array([*labels], pa.float64()))
    table = pa.table({"marital": column, "age": random.integers(18, 80, n)})
    made = mr.limit_identification(Microdata(table, "spss", {"marital": known}), ["marital", "age"], 0.5, seed=1)
    assert made.comparison().frequencies["marital"].levels[0] == tuple(labels.values())
    tables = {each.columns: each for each in public_view(made, False, []).tables}
    assert [label[0] for label in tables["marital",].labels] == [*labels.values()]
