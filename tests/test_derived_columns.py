"""Columns that decide a key together, or by a part of their value, stop a release; columns that do not, do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator

from maskwell.errors import DataError
from maskwell.release import limit_identification, pram
from maskwell.release.attack.derived_columns import derive
from maskwell.release.attack.disclosures import disclosures
from maskwell.release.attack.result import ColumnAttack
from maskwell.release.staying_columns import staying_columns
from maskwell.tables.encoded import encoded

N = 1500
KEYS = ["sex", "age", "reg"]
Table = dict[str, Any]


def people(random: Generator, n: int = N) -> Table:
    sex, reg = (random.choice(list(letters), n) for letters in ("fm", "NESW"))
    return {"sex": sex, "age": random.integers(90, size=n), "reg": reg, "other": random.integers(500, size=n)}


def two_years(table: Table, random: Generator) -> Table:
    syear = random.integers(1960, 2025, size=N)
    return {"byear": syear - table["age"], "syear": syear}


def two_spans(table: Table, random: Generator) -> Table:
    school = random.integers(0, table["age"] + 1)
    return {"school": school, "since": table["age"] - school}


def hidden_in_noise(table: Table, random: Generator) -> Table:
    u = random.integers(10**6, size=N)
    return {"u": u, "v": u + table["age"]}


def end_of_code(table: Table, random: Generator) -> Table:
    return {"code": [f"{i:06d}-{reg}" for i, reg in zip(random.permutation(N), table["reg"], strict=True)]}


def last_digits(table: Table, random: Generator) -> Table:
    return {"number": random.integers(10**6, size=N) * 100 + table["age"]}


def two_dates(table: Table, random: Generator) -> Table:
    """Years within texts; the day and month mean nothing."""
    year = random.integers(1960, 2025, size=N)
    born, seen = (
        [f"{d:02d}.{m:02d}.{y}" for d, m, y in zip(*random.integers(1, [[29], [13]], size=(2, N)), years, strict=True)]
        for years in (year - table["age"], year)
    )
    return {"born": born, "seen": seen}


def two_codes(table: Table, random: Generator) -> Table:
    """Two columns of four values each, of which neither alone has to do with the region."""
    first = random.integers(4, size=N)
    region = np.unique(table["reg"], return_inverse=True)[1]
    return {"first": np.array(list("prqs"))[first], "second": np.array(list("cadb"))[(region + first) % 4]}


CASES = [
    (two_years, "age", "their difference"),
    (two_spans, "age", "their sum"),
    (hidden_in_noise, "age", "their difference"),
    (end_of_code, "reg", "part 2"),
    (last_digits, "age", "the last 2 digits"),
    (two_dates, "age", "their difference"),
    (two_codes, "reg", "both"),
]


@pytest.mark.parametrize(("made", "key", "how"), CASES)
def test_what_decides_a_key_together_or_by_a_part_stops_a_release(
    made: Callable[[Table, Generator], Table], key: str, how: str
) -> None:
    random = np.random.default_rng(11)
    table = people(random)
    added = made(table, random)
    release = limit_identification(table | added, KEYS, 0.5, "sex", seed=1)
    found = disclosures(release, rows_in_order=False)
    assert set(found.deciding) == set(added)
    assert [(set(each.made_of), each.key, each.recipe.how) for each in found.together] == [(set(added), key, how)]
    with pytest.raises(DataError, match=f"decides? '{key}'"):
        release.check()
    release.check(accept=list(added))
    for name in added:
        rest = {column: values for column, values in (table | added).items() if column != name}
        limit_identification(rest, KEYS, 0.5, "sex", seed=1).check()
    limit_identification(table | added, KEYS, 0.5, "sex", along=list(added), seed=1).check()


def test_only_what_is_accepted_is_silent() -> None:
    """A column that is in two pairs, and is accepted, takes neither pair with it; nor does one that decides alone."""
    random = np.random.default_rng(18)
    table = people(random)
    u = random.integers(10**6, size=N)
    table |= {"u": u, "v": u + table["age"], "w": u + np.unique(table["reg"], return_inverse=True)[1]}
    release = limit_identification(table, KEYS, 0.5, "sex", seed=1)
    found = disclosures(release, rows_in_order=False)
    assert {(each.made_of, each.key) for each in found.together} >= {(("u", "v"), "age"), (("u", "w"), "reg")}
    assert set(found.not_accepted(["u"])) == {"v", "w"}
    assert found.not_accepted(["u", "v"]) == ["w"]
    assert found.not_accepted(["u", "v", "w"]) == []
    with pytest.raises(DataError, match=r"^'w' would stay.*u and w together .their difference. decide 'reg'"):
        release.check(accept=["u", "v"])
    alone = replace(found, columns=(ColumnAttack("u", (), 1.0, 0.1, ()),))
    assert not any("u" in each.made_of for each in alone.together)
    assert ("u", "v") in {each.made_of for each in alone.not_accepted_together(["u"])}


def test_the_attack_uses_what_it_derives() -> None:
    random = np.random.default_rng(12)
    table = people(random)
    blind = limit_identification(table, KEYS, 0.5, "sex", seed=1).attack()
    attack = limit_identification(table | two_years(table, random), KEYS, 0.5, "sex", seed=1).attack()
    assert attack.surest[0].share_right > 0.95 > blind.surest[0].share_right
    assert attack.columns[0].made_of == ("byear", "syear")
    assert attack.derived_tried > 0
    assert "were tried" in attack.summary()


def test_two_columns_tell_who_was_post_randomized() -> None:
    random = np.random.default_rng(13)
    table = people(random)
    released = pram(table | two_codes(table, random), "reg", diagonal=0.8, seed=1)
    assert disclosures(released, rows_in_order=False).deciding == ("first", "second")


def test_columns_that_have_nothing_to_do_with_a_key_raise_no_alarm() -> None:
    """A false alarm has a chance of 1e-4 at most in each file, so of 2e-3 here."""
    for seed in range(20):
        random = np.random.default_rng(seed)
        n = int(random.choice([40, 200, 1500]))
        table = people(random, n)
        for i, most in enumerate((7, 90, 3000, 10**6)):
            table[f"number{i}"] = random.integers(most, size=n)
        table["letter"] = random.choice(list("abcd"), n)
        table["code"] = [f"{i:05d}-{end}" for i, end in zip(random.permutation(n), table["letter"], strict=True)]
        held = encoded(table)
        found = derive(held, KEYS, staying_columns(held, KEYS))
        assert found.tried > 40
        assert not any(each.decides for each in found.found)


def test_of_many_pairs_the_likely_ones_are_tried_and_the_others_counted() -> None:
    random = np.random.default_rng(14)
    table = people(random, 400)
    table |= {f"n{i:02d}": random.integers(10**6, size=400) for i in range(60)}
    table["n59"] = table["n07"] + table["age"]
    held = encoded(table)
    found = derive(held, KEYS, staying_columns(held, KEYS))
    assert found.not_tried > 1000
    assert [each.made_of for each in found.found if each.decides] == [("n07", "n59")]


def test_columns_that_number_the_records_are_warned_of() -> None:
    random = np.random.default_rng(15)
    table = people(random) | {"id": random.permutation(N), "tag": [f"x{i}y" for i in random.permutation(N)]}
    table["income"] = random.normal(size=N)
    found = disclosures(limit_identification(table, KEYS, 0.5, "sex", seed=1), rows_in_order=False)
    assert found.numbers == ("id", "tag")
    assert sum("nearly every record" in words for words in found.warnings()) == 2
    assert found.deciding == ()


def test_a_chance_is_never_rounded_across_the_limit() -> None:
    table = people(np.random.default_rng(16))
    said = limit_identification(table, KEYS, 0.999999, "sex", seed=1).summary()
    assert "the limit 0.999999 holds" in said
    shown = float(said.split("right with chance ")[1].split(" at most")[0])
    assert shown <= 0.999999


def test_of_two_columns_that_decide_a_key_one_that_moves_along_is_not_enough() -> None:
    random = np.random.default_rng(17)
    table = people(random)
    school = random.integers(0, table["age"] + 1)
    table |= {"school": school, "since": table["age"] - school}
    moved = limit_identification(table, KEYS, 0.5, "sex", along="school", seed=1)
    assert disclosures(moved, rows_in_order=False).deciding == ("since",)
