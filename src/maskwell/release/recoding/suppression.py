"""Local suppression: the last few values of keys that single somebody out are set missing.

A record of a combination that fewer than k records share loses as few of its keys as it takes for at least k records to
show what is left. Keys with many values go first, since most is won by them, unless one is to be kept. A missing value
counts as a category of its own, so that nobody is hidden by values that only might be equal.

What is missing tells nothing more: all records that show the same pattern are treated alike whatever their values
were, so that a person is one of at least k even for somebody who knows the rule. If the last ones are fewer than k,
records of the next rarest pattern lose all of their keys with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.advice import Advice, Setting
from maskwell.errors import DataError
from maskwell.risk.frequencies import Cells, cross_classify, group
from maskwell.tables.codes import Coded, Ints

_MOST_KEYS = 12


@dataclass(frozen=True)
class Suppression:
    """What is asked for: at least ``k`` records of each combination, and how many records may lose a value."""

    k: int
    most: float
    """The largest share of records that may lose a value."""
    keep: tuple[str, ...] = ()
    """Keys that lose values last, the first one last of all."""

    def __post_init__(self) -> None:
        if type(self.k) is not int or self.k < 2:
            raise DataError(f"suppression needs a k of 2 or more; got {self.k!r}.", parameter="k")
        if not 0 <= self.most <= 1:
            raise DataError(f"the share of records to suppress lies between 0 and 1; got {self.most!r}.")

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {"k": self.k, "most": self.most, "keep": list(self.keep)}


def suppressed(keys: Sequence[Coded], asked: Suppression) -> NDArray[np.bool_]:
    """Which values are set missing: a row for each record, a column for each key."""
    cells, cell_of_row = cross_classify(keys)
    gone = gone_of_cells(cells, asked)[cell_of_row]
    share = float(gone.any(axis=1).mean())
    if share > asked.most:
        raise DataError(
            Advice(
                f"local suppression would take values from {share:.2%} of the records, more than the {asked.most:.2%} "
                "that it may; recode the keys first (",
                Setting("search_recoding"),
                " finds the mildest way), lower k, or allow more.",
            ),
            parameter="suppress",
        )
    return gone


def gone_of_cells(cells: Cells, asked: Suppression) -> NDArray[np.bool_]:
    """Which keys the records of each cell lose."""
    if cells.n < asked.k:
        raise DataError(f"the file has {cells.n} records, fewer than k={asked.k}; no suppression makes up for that.")
    if len(cells.keys) > _MOST_KEYS:
        raise DataError(f"local suppression is for up to {_MOST_KEYS} keys; got {len(cells.keys)}.", parameter="keys")
    missing = np.array([len(labels) - (labels[-1] is None) for labels in cells.labels])
    shown = _shown(cells.codes.astype(np.int64), cells.counts, missing, asked.k, _order(cells, asked.keep))
    gone: NDArray[np.bool_] = (shown == missing) & (cells.codes != missing)
    return gone


def _order(cells: Cells, keep: Sequence[str]) -> list[int]:
    """The keys by what is to be lost first: those to keep last, those of many values first."""
    rank = {name: len(keep) - i for i, name in enumerate(keep)}
    return sorted(range(len(cells.keys)), key=lambda i: (rank.get(cells.keys[i], -1), -cells.shape[i], i))


def _shown(codes: Ints, counts: Ints, missing: Ints, k: int, order: list[int]) -> Ints:
    """What each cell shows: its codes, some of them missing."""
    shown = codes.copy()
    rare = counts < k
    # By how much is lost: one key before two, and of equally many the ones to be lost first.
    ranked = [subset for size in range(1, len(order) + 1) for subset in combinations(range(len(order)), size)]
    for subset in ranked:
        if not rare.any():
            break
        trial = shown.copy()
        for i in subset:
            trial[rare, order[i]] = missing[order[i]]
        sizes = _sizes(trial, counts, missing)
        done = rare & (sizes >= k)
        shown[done] = trial[done]
        rare &= ~done
    shown[rare] = missing
    _fill_up(shown, counts, missing, k)
    return shown


def _sizes(shown: Ints, counts: Ints, missing: Ints) -> Ints:
    """How many records show what each cell shows."""
    pattern, _ = group(list(shown.T), (missing + 1).tolist(), len(shown))
    return np.bincount(pattern, counts)[pattern].astype(np.int64)


def _fill_up(shown: Ints, counts: Ints, missing: Ints, k: int) -> None:
    """Join the rarest patterns to those without any key until every pattern has k records."""
    while ((sizes := _sizes(shown, counts, missing)) < k).any():
        bare = (shown == missing).all(axis=1)
        rest = np.where(bare, np.iinfo(np.int64).max, sizes)
        shown[(shown == shown[int(np.argmin(rest))]).all(axis=1)] = missing
