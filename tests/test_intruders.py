"""Intruders who know more than the keys, and how a release speaks of all of them."""

import math
from functools import cache

import numpy as np
import pytest

from maskwell.release import Release, limit_identification
from maskwell.release.attack.known_columns import match_with_more
from maskwell.release.staying_columns import Staying
from tests.persons import associated

KEYS = ["sex", "age", "area", "race"]


@cache
def release() -> Release:
    return limit_identification(associated(4000), KEYS, 0.5, "sex", seed=3)


def test_matches_by_more_columns_are_those_of_a_search_person_by_person() -> None:
    random = np.random.default_rng(1)
    cells, n = 30, 80
    true = np.sort(np.concatenate([np.arange(cells), random.integers(cells, size=n - cells)]))
    block_of_cell = np.repeat([0, 1, -1], 10)
    after = true.copy()
    for block in (0, 1):
        rows = np.flatnonzero((block_of_cell[true] == block) & (random.random(n) < 0.5))
        after[rows] = random.choice(np.flatnonzero(block_of_cell == block), len(rows))
    columns = [Staying("x", random.integers(3, size=n), 3), Staying("y", random.integers(5, size=n), 5)]
    found = match_with_more(true, after, block_of_cell, columns)

    def right(*names: str) -> float:
        known = np.stack([column.codes for column in columns if column.name in names] or [np.zeros(n, int)])
        chances = []
        for person in np.flatnonzero(block_of_cell[true] >= 0):
            fits = (known == known[:, [person]]).all(axis=0)
            home = np.flatnonzero(fits & (after == true[person]))
            block = np.flatnonzero(fits & (block_of_cell[true] == block_of_cell[true[person]]))
            picked = home if len(home) else block
            chances.append((person in picked) / len(picked))
        return float(np.mean(chances))

    assert found.none == pytest.approx(right())
    assert {each.columns: each.right for each in found.one} == pytest.approx({("x",): right("x"), ("y",): right("y")})
    assert [each.right for each in found.two] == pytest.approx([right("x", "y")])
    assert found.one[0].right >= found.one[1].right


def test_who_knows_more_is_right_more_often() -> None:
    besides = release().intruders.besides
    assert besides.none < besides.one[0].right < besides.two[0].right
    # At θ = .618 no more than four in ten stay, and among some 700 others one column finds hardly anybody.
    assert besides.none < 0.4 < besides.two[0].right


def test_every_intruder_is_named_with_a_figure_and_how_it_was_got() -> None:
    made = release()
    said = made.intruders.each()
    has = " | ".join(each.has for each in said)
    for words in ("true keys, and the number", "counts of all combinations", "released file alone", "true keys and"):
        assert words in has
    assert [each.how.split()[0] for each in said].count("counted") == 3
    assert said[0].how.startswith("proved")
    figures = made.to_dict()["intruders"]
    assert figures["keys"] == made.audit.risk
    assert figures["file_alone"]["surest"][0]["share_right"] == made.attack().surest[0].share_right
    assert figures["keys_and_more"]["one"][0]["right"] == made.intruders.besides.one[0].right
    assert str(made.intruders).count("\n") == len(said) - 1


def test_the_summary_says_whom_the_limit_is_about() -> None:
    summary = release().summary()
    assert max(map(len, summary.splitlines())) < 100
    line = " ".join(summary.split())
    assert "holds for an intruder who knows the keys and how many records show them" in line
    assert release().attack().sentence() in line
    assert str(release().audit.all_counts) in line


def test_groups_that_move_as_one_are_attacked_as_one() -> None:
    """Members of a group show the same keys: the other members must not vouch for them.

    Twice as many rows may bring other derived columns into the attack, so that a few cells are ranked otherwise: within
    three standard errors of a share of 126 cells or more.
    """
    people = associated(2000)
    homes = people.loc[people.index.repeat(2)].reset_index(drop=True).assign(home=np.repeat(range(2000), 2))
    one, two = (
        limit_identification(table, KEYS, 0.5, "sex", together="home", blocks="whole", seed=3).attack()
        for table in (people.assign(home=range(2000)), homes)
    )
    assert one.shown_once == two.shown_once
    for first, second in zip(one.surest, two.surest, strict=True):
        assert first.cells == second.cells
        assert abs(first.right - second.right) < 3 * math.sqrt(first.cells / 4)


def test_a_file_in_which_nothing_moves_has_nothing_to_tell() -> None:
    made = limit_identification({"area": ["a", "b"] * 50, "x": list(range(100))}, "area", 0.5, seed=1)
    assert made.attack().shown_once == 0
    assert made.intruders.besides.none == 0
    assert "no combination of keys once" in made.summary()
    assert len(made.intruders.each()) >= 1
