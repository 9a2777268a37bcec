"""How often a match by the keys is right, before and after: counted on the two files, by somebody who has both.

An intruder who knows every person's true keys picks, for each of them, one of the records that show these keys. Before
the release that is right with the chance one over the size of the cell. After it, it is so only for records that still
show their own keys, among those that are found there now. This is a risk within the file: ``assess`` with the size of
the population counts matches of people who need not be in it, and finds fewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maskwell.risk.assess import assess
from maskwell.risk.frequencies import SIZES, group
from maskwell.risk.report import RiskReport
from maskwell.tables.codes import Coded
from maskwell.tables.encoded import encoded


@dataclass(frozen=True, eq=False, repr=False)
class Matches:
    """The files by cells of the keys, and the correct matches to expect in each."""

    keys: tuple[str, ...]
    before: RiskReport
    after: RiskReport
    correct_before: float
    """The expected number of correct matches in the file as it was: one for each occupied cell."""
    correct_after: float
    """The same in the released file, given the draws that were made."""
    uniques_kept: int
    """Records that are alone in their cell before and after, and in the same one: matches that would be right."""

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain numbers."""
        return {
            "keys": list(self.keys),
            "correct_before": self.correct_before,
            "correct_after": self.correct_after,
            "uniques_kept": self.uniques_kept,
            "uniques_before": self.before.sample_uniques,
            "uniques_after": self.after.sample_uniques,
            "below_before": {k: self.before.records_below(k) for k in SIZES},
            "below_after": {k: self.after.records_below(k) for k in SIZES},
        }

    def __str__(self) -> str:
        return (
            f"correct matches by {', '.join(self.keys)}, for somebody who knows who is in the file: "
            f"{self.correct_before:,.0f} expected before, "
            f"{self.correct_after:,.1f} after; {self.before.sample_uniques:,} records were unique, of which "
            f"{self.uniques_kept:,} still are with the same keys"
        )


def matches(original: Any, released: Any, keys: Sequence[str]) -> Matches:
    """Count the correct matches that an intruder would make by the keys."""
    names = list(keys)
    before, after = encoded(original), encoded(released)
    was_and_now = [_joined(before.coded(name), after.coded(name)) for name in names]
    n = len(was_and_now[0].codes) // 2
    codes, sizes = [column.codes for column in was_and_now], [column.size for column in was_and_now]
    cell, _ = group(codes, sizes, 2 * n)
    was, now = cell[:n], cell[n:]
    size_before = np.bincount(was, minlength=int(cell.max()) + 1)
    size_after = np.bincount(now, minlength=len(size_before))
    stayed = was == now
    return Matches(
        tuple(keys),
        assess(before, names),
        assess(after, names),
        float(np.count_nonzero(size_before)),
        float((1 / size_after[now[stayed]]).sum()),
        int((stayed & (size_before[was] == 1) & (size_after[now] == 1)).sum()),
    )


def _joined(before: Coded, after: Coded) -> Coded:
    """Two columns one after the other, in codes of the labels that either of them holds."""
    labels = tuple(dict.fromkeys((*before.labels, *after.labels)))
    place = {label: code for code, label in enumerate(labels)}
    codes = np.array([place[label] for label in after.labels])[after.codes]
    return Coded(before.name, np.concatenate([before.codes, codes]), labels, before.missing + after.missing)
