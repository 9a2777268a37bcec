"""The attack with the released file alone: what it may look at, and that its figures mean what they say."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from maskwell.release import limit_identification
from maskwell.release.attack.logistic import fit, score
from maskwell.release.attack.released_file import _pairs, _surest, attack_file, told_apart
from maskwell.release.attack.result import Attack, Surest
from maskwell.release.log_ratios import View, bands, log_ratio, views
from maskwell.release.staying_columns import Staying, ranked, staying_columns
from tests.persons import associated

KEYS = ["sex", "age", "area", "race"]


def attacked(true: pd.DataFrame, released: pd.DataFrame, **options: Any) -> Attack:
    stayed = (true[KEYS].to_numpy() == released[KEYS].to_numpy()).all(axis=1)
    sets = ranked(released, "sex").codes
    keys = [ranked(released, key) for key in KEYS]
    return attack_file(keys, staying_columns(released, KEYS), stayed, sets, **options)


@cache
def made() -> tuple[pd.DataFrame, pd.DataFrame]:
    true = associated()
    return true, limit_identification(true, KEYS, 0.5, "sex", blocks="whole", seed=3).table


@cache
def found() -> Attack:
    return attacked(*made())


def column(attack: Attack, name: str) -> Any:
    return next(each for each in attack.columns if each.name == name)


# What the intruder may look at.


@pytest.mark.parametrize("one_row", [True, False])
def test_rows_do_not_count_in_the_table_that_judges_them(one_row: bool) -> None:
    """Beside a count over the other rows, row by row."""
    random = np.random.default_rng(1)
    key, column = View(random.integers(4, size=60), 4), View(random.integers(5, size=60), 5)
    first = random.integers(60, size=200)
    second = first if one_row else random.integers(60, size=200)
    ratios = log_ratio(key, column, first, second)
    for i, j, ratio in zip(first.tolist(), second.tolist(), ratios.tolist(), strict=True):
        kept = np.setdiff1d(np.arange(60), [i, j])
        own_key, own_column = key.codes[kept] == key.codes[i], column.codes[kept] == column.codes[j]
        together, expected = (own_key & own_column).sum(), own_key.sum() * own_column.sum() / len(kept)
        assert ratio == pytest.approx(np.log((together + 0.5) / (expected + 0.5)))


def test_no_row_is_judged_by_what_was_learned_from_it() -> None:
    sets = np.random.default_rng(2).integers(3, size=900)
    pairs = _pairs(np.arange(900) % 3 == 0, np.arange(900) % 2 == 0, sets, 0, None)
    assert (pairs.once, pairs.judged, len(pairs.movable)) == (300, 600, 450)
    rows = np.arange(pairs.judged)
    for fold in range(5):
        judged = set(pairs.of_key[rows[pairs.fold[rows] == fold]].tolist())
        learned = pairs.outside(fold)
        assert judged
        assert len(learned) > 500
        assert not judged & {*pairs.of_key[learned].tolist(), *pairs.of_column[learned].tolist()}


def test_mismatches_are_made_within_a_set_and_of_different_rows() -> None:
    sets = np.repeat(np.arange(40), [1, *range(1, 40)])
    practice = np.arange(len(sets)) % 2 == 0
    first = np.arange(len(sets)) < 2
    pairs = _pairs(first, first, sets, 4, practice)
    learning = slice(pairs.judged, None)
    keys, columns = pairs.of_key[learning], pairs.of_column[learning]
    assert (sets[keys] == sets[columns]).all()
    assert practice[keys].all()
    assert practice[columns].all()
    assert (~pairs.real[learning]).sum() > 300
    # Each row gives its columns once.
    assert len(set(columns[~pairs.real[learning]].tolist())) == (~pairs.real[learning]).sum()


# What its figures mean.


def test_the_attack_finds_true_cells_where_columns_go_with_keys() -> None:
    attack = found()
    assert attack.shown_once > 500
    assert 0.4 < attack.base_rate < 0.6
    # The least of three figures, 43 cells, would be reached by blind guesses with a chance below 1e-6.
    for one in attack.surest:
        assert stats.binom.sf(one.right - 1, one.cells, attack.base_rate) < 1e-6, one
    assert attack.surest[0].share_right > attack.surest[2].share_right > attack.base_rate


def test_columns_that_have_to_do_with_nothing_tell_nothing() -> None:
    """The same release with its other columns dealt out anew: no figure beyond chance at 1e-6, three of them."""
    true, released = made()
    dealt = np.random.default_rng(5).permutation(len(true))
    other = [name for name in true if name not in KEYS]
    blank = released.copy()
    blank[other] = released[other].to_numpy()[dealt]
    attack = attacked(true, blank)
    for one in attack.surest:
        assert stats.binom.sf(one.right - 1, one.cells, attack.base_rate) > 1e-6 / 3
        assert stats.binom.cdf(one.right, one.cells, attack.base_rate) > 1e-6 / 3


def test_columns_are_ranked_by_what_they_tell() -> None:
    attack = found()
    order = [each.name for each in attack.columns]
    assert set(order[:2]) <= {"marital", "schooling", "income", "language", "weight"}
    assert set(order[-2:]) == {"shoe", "noise"}
    # Two-sample Kolmogorov-Smirnov, one-sided, at 1e-6 for each of the two.
    moved = attack.shown_once - attack.true
    limit = np.sqrt(-np.log(1e-6) / 2 * (1 / moved + 1 / attack.true))
    for name in ("shoe", "noise"):
        assert column(attack, name).told_apart < limit
    assert column(attack, order[0]).told_apart > limit
    # Without the columns that tell most, the others tell less.
    assert column(attack, order[0]).without[1].right <= attack.surest[1].right + 0.05 * attack.surest[1].cells


def test_a_column_that_decides_a_key_tells_all_who_moved() -> None:
    true, released = made()
    attack = attacked(true, released.assign(born=2026 - true["age"], place=true["area"] * 3 + 1))
    assert {each.name for each in attack.columns[:2]} == {"born", "place"}
    assert column(attack, "born").told_apart > 0.9
    assert attack.surest[1].share_right > 0.99


def test_values_shared_by_a_few_are_not_lost_in_bands() -> None:
    """A number of a household of three is a number like any other in bands; as it is, it ties its members together."""
    true, _ = made()
    order = np.lexsort((true["race"], true["area"]))
    household = np.empty(len(true), int)
    household[order] = np.random.default_rng(8).permutation(len(true))[np.arange(len(true)) // 3]
    people = true[KEYS].assign(household=household)
    attack = attacked(people, limit_identification(people, KEYS, 0.5, "sex", blocks="whole", seed=3).table)
    assert stats.binom.sf(attack.surest[0].right - 1, attack.surest[0].cells, attack.base_rate) < 1e-6


def test_equal_scores_count_on_average() -> None:
    stayed = np.array([True, False, True, False, True, False, False, False, False, False])
    scores = np.array([2.0, 1, 1, 1, 1, 0, 0, 0, 0, 0])
    half = _surest(scores, stayed)[2]
    assert (half.cells, half.right) == (5, 3.0)
    fifth = _surest(scores, stayed)[1]
    assert (fifth.cells, fifth.right) == (2, 1 + 2 / 4)
    assert told_apart(scores, stayed) == pytest.approx(1 - 2 / 7)
    assert told_apart(-scores, stayed) == 0.0


def test_intervals_are_those_of_wilson() -> None:
    expected = stats.binomtest(87, 100).proportion_ci(method="wilson")
    assert Surest(0.05, 100, 87).interval == pytest.approx((expected.low, expected.high))


def test_one_seed_gives_one_figure() -> None:
    true, released = made()
    assert attacked(true, released).to_dict() == found().to_dict()
    assert attacked(true, released, seed=1).to_dict() != found().to_dict()


@pytest.mark.parametrize("n", [1, 2, 5])
def test_tiny_files_and_files_without_other_columns_are_guessed_blindly(n: int) -> None:
    stayed = np.arange(n) % 2 == 0
    keys = [Staying("key", np.arange(n), n)]
    attack = attack_file(keys, [], stayed)
    assert attack.shown_once == n
    assert attack.columns == ()
    assert attack.worst == pytest.approx(attack.base_rate)
    assert attack_file(keys, [Staying("x", np.zeros(n, int), 1)], stayed).shown_once == n
    nothing = attack_file([Staying("key", np.zeros(n + 1, int), 1)], keys and [], np.ones(n + 1, bool))
    assert nothing.surest == ()
    assert "no combination of keys once" in nothing.summary()


# Its parts.


def test_numbers_spelled_as_text_are_in_the_order_of_numbers() -> None:
    table = {"x": ["10", "9", "N", "-1", "9", "100", "nan"]}
    assert ranked(table, "x").codes.tolist() == [2, 1, 4, 0, 1, 3, 5]


def test_bands_hold_about_equally_many_rows_in_order() -> None:
    codes = np.random.default_rng(3).integers(1000, size=50_000)
    made = bands(View(codes, 1000), 25)
    assert made.size == 25
    assert np.bincount(made.codes).min() > 1500
    assert (np.diff(made.codes[np.argsort(codes)]) >= 0).all()
    assert len(views(Staying("x", codes, 1000))) == 2
    assert len(views(Staying("x", codes % 7, 7))) == 1


def test_the_logistic_fit_solves_its_equations_from_any_start() -> None:
    random = np.random.default_rng(4)
    features = random.normal(size=(3000, 3)) * [1, 100, 1e-3] + [0, 5, -2]
    truth = random.random(3000) < 1 / (1 + np.exp(-(0.5 + features @ [1.0, 0.01, 0.0])))
    found = fit(features, truth)
    residual = truth - 1 / (1 + np.exp(-score(features, found)))
    spread = features.std(axis=0)
    assert residual.sum() == pytest.approx(0, abs=1e-6)
    assert (features - features.mean(axis=0)).T @ residual / spread == pytest.approx(found[1:] * spread, abs=1e-6)
    assert fit(features, truth, found * 3) == pytest.approx(found, abs=1e-6)
    separated = fit(features, features[:, 0] > 0)
    assert np.isfinite(separated).all()


def test_few_records_do_not_make_a_column_decide_by_chance() -> None:
    """150 columns of noise in files of 12 records: an alarm once in 10,000 of them, 1.5 % in all; the seed is fixed."""
    random = np.random.default_rng(6)
    apart = []
    for _ in range(50):
        keys = [Staying("row", np.arange(12) % 3, 3), Staying("line", np.arange(12) // 3, 4)]
        noise = [Staying(f"x{i}", random.integers(4, size=12), 4) for i in range(3)]
        attack = attack_file(keys, noise, random.permutation(12) % 2 == 0)
        assert attack.deciding == ()
        apart += [each.told_apart for each in attack.columns]
    # A fixed threshold would not do.
    assert max(apart) > 0.5
