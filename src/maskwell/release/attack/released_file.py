"""An intruder who has the released file alone and knows the method: which of the cells shown once are true?

A record that was moved shows keys beside columns that stayed, and the two may not go together. The intruder measures
how well they do by log-ratios of key × column, learns their weights from records whose columns were exchanged on
purpose (made mismatches), and believes the cells first that look least like one. The custodian, who knows who moved,
counts how often that is right. No record is judged by weights that were learned from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskwell.release.attack.derived_columns import Derivations
from maskwell.release.attack.logistic import fit, score
from maskwell.release.attack.result import Attack, ColumnAttack, Surest
from maskwell.release.attack.thresholds import FALSE_ALARM
from maskwell.release.log_ratios import View, log_ratio, views, views_of_keys
from maskwell.release.rows import random_order
from maskwell.release.staying_columns import Staying
from maskwell.risk.frequencies import group
from maskwell.tables.codes import Floats, Ints

SURE = (0.05, 0.2, 0.5)
"""The shares of the cells shown once, the surest first, for which it is counted how many are right."""
_FOLDS = 5
_MOST_PRACTICE = 10_000
"""Records to learn from, and as many mismatches: more of them do not change the figures."""
_MOST_JUDGED = 50_000

Flags = NDArray[np.bool_]


def attack_file(
    keys: Sequence[Staying],
    staying: Sequence[Staying],
    stayed: Flags,
    sets: Ints | None = None,
    *,
    along: Sequence[Staying] = (),
    movable: Flags | None = None,
    practice: Flags | None = None,
    derived: Derivations | None = None,
    seed: int = 0,
) -> Attack:
    """Attack a released file, and count how often that is right.

    ``keys`` are the released keys, ``staying`` the other columns, and ``stayed`` says of each record whether it still
    shows its own keys, which the intruder does not know. Records exchange their keys within ``sets`` only, and the
    intruder makes mismatches likewise, of the records in ``practice`` if that is given. Columns that moved ``along``
    with the keys are compared like these. What a column tells of who moved is counted over the ``movable`` records, by
    default those shown once. What the intruder has ``derived`` from columns is used like these. ``seed`` picks the
    records that the intruder learns from.
    """
    n, derived = len(stayed), derived or Derivations()
    tried = derived.tried, derived.not_tried
    made_of: list[tuple[str, ...]] = [()] * len(staying) + [each.made_of for each in derived.found]
    staying = [*staying, *derived.columns]
    cell, _ = group([key.codes for key in keys], [key.size for key in keys], n)
    alone = np.bincount(cell)[cell] == 1
    true = int(stayed[alone].sum())
    once = int(alone.sum())
    pairs = _pairs(
        alone, alone if movable is None else movable, np.zeros(n, np.int64) if sets is None else sets, seed, practice
    )
    if not staying or not pairs.judged or len(pairs.of_key) - pairs.judged < 2:
        return Attack(once, true, _blind(once, true), (), *tried)
    scores = _column_scores(views_of_keys([*keys, *along]), staying, pairs)
    judge = _Judge(scores, pairs, stayed[pairs.of_key[: pairs.judged]], true / once if once else 0.0)
    each = (judge.column(i, column.name, made_of[i]) for i, column in enumerate(staying))
    columns = tuple(sorted(each, key=lambda c: -c.told_apart))
    return Attack(once, true, judge.surest(range(len(staying))), columns, *tried)


@dataclass(frozen=True, eq=False)
class _Judge:
    """Scores of all pairs, and the truth of those that are judged."""

    scores: Floats
    """By fold, pair and column."""
    pairs: _Pairs
    stayed: Flags
    base_rate: float

    def surest(self, columns: Sequence[int]) -> tuple[Surest, ...]:
        """How often the intruder is right by these columns together."""
        once = self.pairs.once
        if not columns:
            return _blind(once, round(once * self.base_rate))
        return _surest(_combined(self.scores[:, :, list(columns)], self.pairs)[:once], self.stayed[:once])

    def column(self, i: int, name: str, made_of: tuple[str, ...]) -> ColumnAttack:
        """What one column does."""
        pairs = self.pairs
        fold_scores = self.scores[pairs.fold[: pairs.judged], np.arange(pairs.judged), i]
        moving = pairs.movable
        stayed = self.stayed[moving]
        return ColumnAttack(
            name,
            _surest(fold_scores[: pairs.once], self.stayed[: pairs.once]),
            told_apart(fold_scores[moving], stayed),
            _by_chance(stayed),
            self.surest([other for other in range(self.scores.shape[2]) if other != i]),
            made_of,
        )


class _Pairs(NamedTuple):
    """Pairs of the keys of one row and the columns of another: first those to judge, then those to learn from."""

    of_key: Ints
    of_column: Ints
    once: int
    """The first of those to judge are in cells shown once."""
    judged: int
    movable: Ints
    """Which of those to judge may have moved."""
    fold: Ints
    """Of the key's row; what is learned from other folds judges the pair."""
    other_fold: Ints
    """Of the column's row."""

    @property
    def real(self) -> Flags:
        """Whether keys and columns are of one released record."""
        same: Flags = self.of_key == self.of_column
        return same

    def outside(self, fold: int) -> Ints:
        """The pairs to learn from that hold no row of a fold."""
        kept = (self.fold != fold) & (self.other_fold != fold)
        kept[: self.judged] = False
        return np.flatnonzero(kept)


def _pairs(alone: Flags, movable: Flags, sets: Ints, seed: int, practice: Flags | None) -> _Pairs:
    order = random_order(len(sets), None, None, seed)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    once = order[alone[order]][:_MOST_JUDGED]
    judged = np.concatenate([once, order[(movable & ~alone)[order]][:_MOST_JUDGED]])
    learning = (order if practice is None else order[practice[order]])[:_MOST_PRACTICE]
    learning = learning[np.lexsort((place[learning], sets[learning]))]
    of_key = np.concatenate([judged, learning, learning])
    of_column = np.concatenate([judged, learning, learning[_next_of_set(sets[learning])]])
    kept = of_key != of_column
    kept[: len(judged) + len(learning)] = True
    of_key, of_column = of_key[kept], of_column[kept]
    folds = place[of_key] % _FOLDS, place[of_column] % _FOLDS
    return _Pairs(of_key, of_column, len(once), len(judged), np.flatnonzero(movable[judged]), *folds)


def _next_of_set(sets: Ints) -> Ints:
    """For rows sorted by set the position of the next in the same set, for the last one that of the first."""
    following = np.arange(1, len(sets) + 1)
    starts = np.flatnonzero(np.diff(sets, prepend=-1))
    following[np.append(starts[1:], len(sets))[: len(starts)] - 1] = starts
    return following


def _column_scores(keys: Sequence[View], staying: Sequence[Staying], pairs: _Pairs) -> Floats:
    """By fold, pair and column: the log-odds that the pair is real, by that column, learned without the fold."""
    scores = np.empty((_FOLDS, len(pairs.of_key), len(staying)))
    for i, column in enumerate(staying):
        ratios = np.column_stack(
            [log_ratio(key, view, pairs.of_key, pairs.of_column) for key in keys for view in views(column)]
        )
        for fold, weights in enumerate(_fits([ratios] * _FOLDS, pairs)):
            scores[fold, :, i] = score(ratios, weights)
    return scores


def _combined(scores: Floats, pairs: _Pairs) -> Floats:
    """The log-odds of each judged pair by several columns, learned without its fold."""
    fold = pairs.fold[: pairs.judged]
    weights = np.stack(_fits(list(scores), pairs))[fold]
    fold_scores = scores[fold, np.arange(pairs.judged)]
    odds: Floats = (fold_scores * weights[:, 1:]).sum(axis=1) + weights[:, 0]
    return odds


def _fits(features: Sequence[Floats], pairs: _Pairs) -> list[Floats]:
    """A fit for each fold, by the pairs that hold none of its rows."""
    found: list[Floats] = []
    for fold in range(_FOLDS):
        rows = pairs.outside(fold)
        nothing = np.zeros(features[fold].shape[1] + 1)
        start = found[-1] if found else None
        found.append(fit(features[fold][rows], pairs.real[rows], start) if len(rows) else nothing)
    return found


def _surest(scores: Floats, stayed: Flags) -> tuple[Surest, ...]:
    """Of the cells with the largest scores, how many are true; among equal scores the average."""
    if not len(scores):
        return ()
    levels, rank = np.unique(-scores, return_inverse=True)
    cells = np.bincount(rank, minlength=len(levels))
    right = np.bincount(rank, stayed, minlength=len(levels))
    found = []
    for share in SURE:
        wanted = max(1, round(share * len(scores)))
        before = np.cumsum(cells) - cells
        taken = np.clip(wanted - before, 0, cells)
        found.append(Surest(share, wanted, float((right * taken / cells).sum())))
    return tuple(found)


def _blind(cells: int, true: int) -> tuple[Surest, ...]:
    """What a guess among all cells shown once attains."""
    wanted = [max(1, round(share * cells)) for share in SURE] if cells else []
    return tuple(Surest(share, n, n * true / cells) for share, n in zip(SURE, wanted, strict=False))


def told_apart(scores: Floats, stayed: Flags) -> float:
    """The largest difference, over all thresholds, between the shares of stayed and of moved records above it.

    >>> told_apart(np.array([3.0, 2.0, 1.0, 0.0]), np.array([True, True, False, False]))
    1.0
    """
    moved = int((~stayed).sum())
    if moved in (0, len(stayed)):
        return 0.0
    levels, rank = np.unique(-scores, return_inverse=True)
    above = [np.cumsum(np.bincount(rank, flags, minlength=len(levels))) for flags in (stayed, ~stayed)]
    return float(max((above[0] / (len(stayed) - moved) - above[1] / moved).max(), 0.0))


def _by_chance(stayed: Flags) -> float:
    """What ``told_apart`` exceeds with a chance of ``FALSE_ALARM`` at most if scores have nothing to do with moves."""
    moved = int((~stayed).sum())
    if moved in (0, len(stayed)):
        return 1.0
    # Smirnov's limit for one side, exp(-2 d² m n / (m + n)).
    return float(np.sqrt(-np.log(FALSE_ALARM) / 2 * len(stayed) / (moved * (len(stayed) - moved))))
