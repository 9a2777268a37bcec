"""Columns that decide a key together, or by a part of their value, found by trying what an intruder would.

Every derived column is compared with every true key on a sample of rows: how often do two records that agree in it
agree in the key, and two that are neighbours in its order nearly so, beyond chance and beyond what its ingredients do
by themselves? Those that gain most join the attack as if they were columns of the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.release.attack.derivations import Ingredients, Recipe, Values, as_column
from maskwell.release.attack.thresholds import ALIKE, FALSE_ALARM, LEAST_GAIN, STANDARD_ERRORS
from maskwell.release.log_ratios import View, bands
from maskwell.release.rows import random_order
from maskwell.release.staying_columns import Staying, is_plain, ranked
from maskwell.tables.codes import Floats, Ints
from maskwell.tables.encoded import EncodedTable

_MOST_ROWS = 10_000
_MOST_PAIRS = 2_000
"""Sums and differences, and pairs of columns with few values, that are tried: those most correlated with a key."""
_FEW = 60
_BANDS = 12
_MOST_KEPT = 8
_MOST_OF_ONE = 2
"""How many derived columns one column may be in."""


@dataclass(frozen=True)
class Derived:
    """A derived column that goes with a key more closely than the columns that it is made of."""

    recipe: Recipe
    column: Staying
    key: str
    agreeing: float
    """The share of neighbouring records, equal in the derived column, that are equal in the key."""
    decides: bool
    """Whether it decides the key whatever the draws are."""

    @property
    def made_of(self) -> tuple[str, ...]:
        """The columns of the file in it."""
        return self.recipe.made_of

    def __str__(self) -> str:
        if len(self.made_of) == 1:
            return f"{self.made_of[0]!r} decides {self.key!r} by {self.recipe.how}"
        return f"{self.recipe.name} decide {self.key!r}"


@dataclass(frozen=True)
class Derivations:
    """What was tried, and what is worth an attack."""

    found: tuple[Derived, ...] = ()
    tried: int = 0
    not_tried: int = 0
    """Pairs of columns beyond the number that is tried: those least correlated with any key."""

    @property
    def columns(self) -> list[Staying]:
        """The derived columns."""
        return [each.column for each in self.found]


def derive(table: EncodedTable, changed: Sequence[str], staying: Sequence[Staying], seed: int = 0) -> Derivations:
    """The derived columns that tell most of the ``changed`` ones."""
    keys = [key for key in (ranked(table, name) for name in changed if is_plain(table, name)) if key.size > 1]
    n = len(staying[0].codes) if staying else 0
    if not keys or n < 2:
        return Derivations()
    rows = random_order(n, None, None, seed)[:_MOST_ROWS]
    sample = Values(table, rows)
    has = Ingredients(sample, staying, _FEW)
    recipes, left = list(has.parts()), 0
    for pairs in (has.pairs_of_numbers(), has.pairs_of_few()):
        likely = _most_likely(pairs, sample, keys, rows)
        recipes += likely
        left += len(pairs) - len(likely)
    screen = _Screen(keys, rows, max(len(recipes) * len(keys), 1))
    by_column = {column.name: screen.told(column.codes[rows]) for column in staying}
    plain = {name: told.score for name, told in by_column.items()}
    best_of, gaining = dict(plain), []
    for recipe in recipes:
        told = screen.told(sample.made(recipe))
        alone = [(best_of if len(recipe.parts) > 1 else plain)[name] for name in recipe.made_of]
        gains = told.score - np.max(alone, axis=0)
        best = int(np.argmax(gains))
        if len(recipe.parts) == 1:
            # What a part of a column tells, the column tells: a pair must tell more.
            best_of[recipe.made_of[0]] = np.maximum(best_of[recipe.made_of[0]], told.score)
        if gains[best] >= screen.least_gain[best]:
            gaining.append((float(gains[best]), best, told, recipe))
    gaining.sort(key=lambda each: -each[0])
    whole, found = Values(table), []
    for _, best, told, recipe in _spread(gaining):
        decides = bool(told.decides[best] and not any(by_column[name].decides[best] for name in recipe.made_of))
        found.append(Derived(recipe, as_column(recipe, whole), keys[best].name, float(told.agreeing[best]), decides))
    return Derivations(tuple(found), len(recipes), left)


def _spread(gaining: Sequence[tuple[float, int, Any, Recipe]]) -> list[tuple[float, int, Any, Recipe]]:
    """The best ones; no column may be in so many that it keeps others out, and none twice by the same key."""
    kept: list[tuple[float, int, Any, Recipe]] = []
    for each in gaining:
        mine = each[3].made_of
        uses = [sum(name in other[3].made_of for other in kept) for name in mine]
        again = any(each[1] == other[1] and set(mine) == set(other[3].made_of) for other in kept)
        if max(uses) < _MOST_OF_ONE and not again:
            kept.append(each)
        if len(kept) == _MOST_KEPT:
            break
    return kept


@dataclass(frozen=True)
class _Told:
    """What a column tells of each key."""

    score: Floats
    agreeing: Floats
    decides: NDArray[np.bool_]


class _Screen:
    """Compares columns with all keys, on a sample of rows in random order."""

    def __init__(self, keys: Sequence[Staying], rows: Ints, tested: int) -> None:
        exact = [View(key.codes[rows].astype(np.int64), key.size) for key in keys]
        rough = [bands(view, _BANDS) for view in exact]
        self._exact, self._rough = (np.column_stack([view.codes for view in views]) for views in (exact, rough))
        shares = [np.bincount(view.codes) / len(rows) for view in exact]
        self._chance = np.array([share @ share for share in shares])
        self._largest = np.array([share.max() for share in shares])
        rough_shares = [np.bincount(view.codes) / len(rows) for view in rough]
        self._rough_chance = np.array([share @ share for share in rough_shares])
        self._evidence = np.log(tested / FALSE_ALARM)
        error = np.sqrt(self._rough_chance / len(rows)) / np.maximum(1 - self._rough_chance, 1e-9)
        self.least_gain: Floats = np.maximum(LEAST_GAIN, STANDARD_ERRORS * error)

    def told(self, values: NDArray[Any]) -> _Told:
        """Neighbours in the order of a column: do those that are equal in it, and all of them, agree in the keys?"""
        order = np.argsort(values, kind="stable")
        ordered, exact, rough = values[order], self._exact[order], self._rough[order]
        same = ordered[1:] == ordered[:-1]
        followed = int(same.sum())
        covered = float((np.append(same, False) | np.append(False, same)).mean())
        agreeing = (exact[1:] == exact[:-1])[same].mean(axis=0) if followed else np.zeros(exact.shape[1])
        near = (rough[1:] == rough[:-1]).mean(axis=0)
        by_value = covered * _beyond(agreeing, self._chance)
        score = np.maximum(by_value, _beyond(near, self._rough_chance))
        # A neighbour agrees by chance no more often than the commonest value occurs (Chernoff's limit).
        certain = followed * _divergence(agreeing, self._largest) >= self._evidence
        return _Told(score, agreeing, (by_value >= ALIKE) & certain)


def _beyond(agreeing: Floats, chance: Floats) -> Floats:
    """Agreement beyond chance, as a share of what it could be."""
    beyond: Floats = np.where(chance < 1, (agreeing - chance) / np.maximum(1 - chance, 1e-9), 0.0)
    return beyond


def _divergence(seen: Floats, chance: Floats) -> Floats:
    """Of Kullback and Leibler, between two chances; 0 where less is seen than by chance."""
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.log(seen / chance) * seen
        apart += np.where(seen < 1, np.log((1 - seen) / (1 - chance)) * (1 - seen), 0.0)
    return np.where(seen > chance, apart, 0.0)


def _most_likely(pairs: list[Recipe], sample: Values, keys: Sequence[Staying], rows: Ints) -> list[Recipe]:
    """Of too many pairs those whose sums, differences or values are most correlated with a key, by its ranks."""
    if len(pairs) <= _MOST_PAIRS:
        return pairs
    parts = list(dict.fromkeys(part for recipe in pairs for part in recipe.parts))
    place = {part: i for i, part in enumerate(parts)}
    columns = np.column_stack([_centred(sample.of(part)) for part in parts])
    targets = np.column_stack([_standard(key.codes[rows]) for key in keys])
    with_key, with_each = columns.T @ targets / len(rows), columns.T @ columns / len(rows)
    first, second = (np.array([place[recipe.parts[i]] for recipe in pairs]) for i in (0, 1))
    sign = np.array([-1.0 if recipe.how == "their difference" else 1.0 for recipe in pairs])
    spread = with_each[first, first] + with_each[second, second] + 2 * sign * with_each[first, second]
    shared = np.abs(with_key[first] + sign[:, None] * with_key[second]).max(axis=1)
    likely = np.where(spread > 0, shared / np.sqrt(np.maximum(spread, 1e-300)), 0.0)
    return [pairs[i] for i in np.sort(np.argsort(-likely, kind="stable")[:_MOST_PAIRS])]


def _centred(values: NDArray[Any]) -> Floats:
    number = values.astype(np.float64)
    known = np.isfinite(number)
    return np.where(known, number - number[known].mean(), 0.0) if known.any() else np.zeros(len(number))


def _standard(values: NDArray[Any]) -> Floats:
    centred = _centred(values)
    return centred / max(float(centred.std()), 1e-12)
