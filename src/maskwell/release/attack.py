"""An intruder who has the released file alone and knows the method: which of the cells shown once are true?

A record that was moved shows keys beside columns that stayed, and the two may not go together. The intruder measures
how well they do by log-ratios of key × column, learns their weights from records whose columns were exchanged on
purpose (made mismatches), and believes the cells first that look least like one. The custodian, who knows who moved,
counts how often that is right. No record is judged by weights that were learned from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskwell.release.log_ratios import View, log_ratio, views, views_of_keys
from maskwell.release.logistic import fit, score
from maskwell.release.order import random_order
from maskwell.release.staying import Staying
from maskwell.risk.columns import Floats, Ints
from maskwell.risk.frequencies import group

SURE = (0.05, 0.2, 0.5)
"""The shares of the cells shown once, the surest first, for which it is counted how many are right."""
_FOLDS = 5
_MOST_PRACTICE = 15_000
"""Records to learn from, and as many mismatches: more of them do not change the figures."""
_MOST_JUDGED = 50_000
_Z = 1.959963984540054
"""Of 95 % intervals."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Surest:
    """The cells that an intruder is surest of, and how many of them are true."""

    share: float
    """Of all cells shown once."""
    cells: int
    right: float
    """How many are true, on average over the order of cells that look alike."""

    @property
    def share_right(self) -> float:
        """The share that is true."""
        return self.right / self.cells

    @property
    def interval(self) -> tuple[float, float]:
        """95 % limits of the chance behind it (Wilson)."""
        n, p = self.cells, self.share_right
        middle = (p + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        reach = _Z / (1 + _Z**2 / n) * float(np.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2)))
        return max(0.0, middle - reach), min(1.0, middle + reach)

    def to_dict(self) -> dict[str, Any]:
        """The figures by name."""
        lower, upper = self.interval
        return {
            "share": self.share,
            "cells": self.cells,
            "right": self.right,
            "share_right": self.share_right,
            "lower": lower,
            "upper": upper,
        }


@dataclass(frozen=True)
class ColumnAttack:
    """What one column that stays does for the intruder."""

    name: str
    surest: tuple[Surest, ...]
    """With this column alone."""
    told_apart: float
    """How far this column alone tells moved records from those that stayed: 0 not at all, 1 all of them."""
    without: tuple[Surest, ...]
    """With all columns but this one."""

    def to_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return {
            "column": self.name,
            "told_apart": self.told_apart,
            "alone": [one.to_dict() for one in self.surest],
            "without": [one.to_dict() for one in self.without],
        }


@dataclass(frozen=True)
class Attack:
    """What somebody finds out from the released file alone."""

    shown_once: int
    """Cells of the keys in which the released file has one record."""
    true: int
    """Of these, the ones whose record truly belongs there."""
    surest: tuple[Surest, ...]
    """Empty if no cell is shown once."""
    columns: tuple[ColumnAttack, ...]
    """The columns behind it, the most telling first."""

    @property
    def base_rate(self) -> float:
        """The share of true ones among all cells shown once: what a blind guess attains."""
        return self.true / self.shown_once if self.shown_once else 0.0

    @property
    def worst(self) -> float:
        """The largest share right, among the surest of any size."""
        return max((one.share_right for one in self.surest), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain numbers, ready for JSON."""
        return {
            "shown_once": self.shown_once,
            "true": self.true,
            "base_rate": self.base_rate,
            "surest": [one.to_dict() for one in self.surest],
            "columns": [column.to_dict() for column in self.columns],
        }

    def sentence(self) -> str:
        """The figures in one sentence."""
        if not self.surest:
            return "the released file shows no combination of keys once, so there is no single record to be sure of"
        rights = " / ".join(f"{one.share_right:.2f}" for one in self.surest)
        shares = " / ".join(f"{100 * one.share:g}" for one in self.surest)
        behind = ", ".join(column.name for column in self.columns[:3] if column.told_apart > 0)
        return (
            f"one with the released file alone is right in {rights} of the surest {shares} % of the "
            f"{self.shown_once:,} cells shown once ({self.base_rate:.2f} by a blind guess)"
            f"{f', mostly by {behind}' if behind else ''}"
        )

    def summary(self) -> str:
        """The attack in plain text, with the columns behind it."""
        lines = [f"Attack with the released file alone: {self.sentence()}"]
        if self.surest:
            lines.append(f"  {'surest':>8} {'cells':>8} {'right':>8}   95 % interval")
            for one in self.surest:
                lower, upper = one.interval
                lines.append(
                    f"  {100 * one.share:>6g} % {one.cells:>8,} {one.share_right:>8.3f}   {lower:.3f} to {upper:.3f}"
                )
        if self.columns:
            lines.append("  by column alone (surest 5 / 20 / 50 %), told apart, and all columns without it:")
        for column in self.columns:
            alone, rest = (
                " / ".join(f"{one.share_right:.2f}" for one in part) for part in (column.surest, column.without)
            )
            lines.append(f"    {column.name}: {alone}; {column.told_apart:.2f}; {rest}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        rights = " / ".join(f"{one.share_right:.2f}" for one in self.surest) or "nothing to be sure of"
        return f"<attack on {self.shown_once} cells shown once: right {rights}>"


def attack_file(
    keys: Sequence[Staying],
    staying: Sequence[Staying],
    stayed: Flags,
    sets: Ints | None = None,
    *,
    seed: int = 0,
    practice: Flags | None = None,
) -> Attack:
    """Attack a released file, and count how often that is right.

    ``keys`` are the released keys, ``staying`` the other columns, and ``stayed`` says of each record whether it still
    shows its own keys, which the intruder does not know. Records exchange their keys within ``sets`` only, and the
    intruder makes mismatches likewise, of the records in ``practice`` if that is given. ``seed`` picks the records
    that the intruder learns from.
    """
    n = len(stayed)
    cell, _ = group([key.codes for key in keys], [key.size for key in keys], n)
    once = np.flatnonzero(np.bincount(cell)[cell] == 1)
    true = int(stayed[once].sum())
    pairs = _pairs(once, np.zeros(n, np.int64) if sets is None else sets, seed, practice)
    if not len(once) or not staying or len(pairs.of_key) - pairs.judged < 2:
        return Attack(len(once), true, _blind(len(once), true), ())
    stayed = stayed[pairs.of_key[: pairs.judged]]
    by_column = _column_scores(views_of_keys(keys), staying, pairs)
    whole = range(len(staying))
    together = _surest(_combined(by_column, pairs, list(whole)), stayed)
    columns = []
    for i in whole:
        alone = by_column[pairs.fold[: pairs.judged], np.arange(pairs.judged), i]
        rest = [other for other in whole if other != i]
        without = _surest(_combined(by_column, pairs, rest), stayed) if rest else _blind(len(once), true)
        columns.append(ColumnAttack(staying[i].name, _surest(alone, stayed), told_apart(alone, stayed), without))
    columns.sort(key=lambda column: -column.told_apart)
    return Attack(len(once), true, together, tuple(columns))


class _Pairs(NamedTuple):
    """Pairs of the keys of one row and the columns of another: first those to judge, then those to learn from."""

    of_key: Ints
    of_column: Ints
    judged: int
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


def _pairs(once: Ints, sets: Ints, seed: int, practice: Flags | None) -> _Pairs:
    order = random_order(len(sets), None, None, seed)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    judged = once[np.argsort(place[once])][:_MOST_JUDGED]
    learning = (order if practice is None else order[practice[order]])[:_MOST_PRACTICE]
    # Each gives its columns to the next of its set, the last to the first.
    learning = learning[np.lexsort((place[learning], sets[learning]))]
    starts = np.flatnonzero(np.diff(sets[learning], prepend=-1))
    following = np.arange(1, len(learning) + 1)
    following[np.append(starts[1:], len(learning))[: len(starts)] - 1] = starts
    of_key = np.concatenate([judged, learning, learning])
    of_column = np.concatenate([judged, learning, learning[following] if len(learning) else learning])
    alone = of_key == of_column
    alone[: len(judged) + len(learning)] = False
    of_key, of_column = of_key[~alone], of_column[~alone]
    return _Pairs(of_key, of_column, len(judged), place[of_key] % _FOLDS, place[of_column] % _FOLDS)


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


def _combined(scores: Floats, pairs: _Pairs, columns: list[int]) -> Floats:
    """The log-odds of each judged pair by several columns, learned without its fold."""
    used = scores[:, :, columns]
    weights = np.stack(_fits(list(used), pairs))[pairs.fold[: pairs.judged]]
    own = used[pairs.fold[: pairs.judged], np.arange(pairs.judged)]
    odds: Floats = (own * weights[:, 1:]).sum(axis=1) + weights[:, 0]
    return odds


def _fits(features: Sequence[Floats], pairs: _Pairs) -> list[Floats]:
    """A fit for each fold, by the pairs that hold none of its rows."""
    found: list[Floats] = []
    for fold in range(_FOLDS):
        rows = pairs.outside(fold)
        found.append(fit(features[fold][rows], pairs.real[rows], found[-1] if found else None))
    return found


def _surest(scores: Floats, stayed: Flags) -> tuple[Surest, ...]:
    """Of the cells with the largest scores, how many are true; among equal scores the average."""
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
