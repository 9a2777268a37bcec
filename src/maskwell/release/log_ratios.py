r"""How well a value of a key goes with a value of another column, by a table of the two.

For a key k and a column c the log-ratio is :math:`\ln \frac{n_{kc} + m}{n_k n_c / n + m}`: 0 if the two have nothing to
do with each other, negative where a pair occurs less often than that. m draws it to 0 where little is expected. The
rows whose pair is judged do not count in the table that judges it.

A column of many values is looked at twice: as it is, which finds values that a few records share, and in bands of its
ranks, which finds what rises and falls with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from maskwell.release.staying_columns import Staying
from maskwell.risk.frequencies import group
from maskwell.tables.codes import Floats, Ints

_SMOOTHING = 0.5
_MANY = 60
"""Columns of more values than this are also looked at in bands."""
_BANDS = 25
_FEW_BANDS = 12
"""For two keys at once, of which there is a table of both."""


class View(NamedTuple):
    """A level for each row."""

    codes: Ints
    size: int


def views(column: Staying) -> list[View]:
    """A column as it is and, if it has many values, in bands of about equally many rows."""
    exact = View(column.codes.astype(np.int64), column.size)
    return [exact, bands(exact, _BANDS)] if column.size > _MANY else [exact]


def views_of_keys(keys: Sequence[Staying]) -> list[View]:
    """Every key by itself, and every two of them together in bands."""
    found = [view for key in keys for view in views(key)]
    rough = [bands(View(key.codes.astype(np.int64), key.size), _FEW_BANDS) for key in keys]
    for first, second in combinations(rough, 2):
        if min(first.size, second.size) > 1:
            found.append(View(first.codes * second.size + second.codes, first.size * second.size))
    return found


def bands(view: View, most: int) -> View:
    """Neighbouring levels joined until there are at most ``most`` of them, of about equally many rows."""
    if view.size <= most:
        return view
    counts = np.bincount(view.codes, minlength=view.size)
    middle = np.cumsum(counts) - counts / 2
    _, band = np.unique((middle * most // counts.sum()).astype(np.int64), return_inverse=True)
    return View(band[view.codes], int(band.max()) + 1)


def log_ratio(key: View, column: View, of_key: Ints, of_column: Ints) -> Floats:
    """Pair by pair, the log-ratio of the key in rows ``of_key`` and the column in rows ``of_column``."""
    n, k, c = len(key.codes), key.codes, column.codes
    rank, _ = group(
        [np.concatenate([k, k[of_key]]), np.concatenate([c, c[of_column]])], [key.size, column.size], n + len(of_key)
    )
    one_row = of_key == of_column
    same_key, same_column = k[of_key] == k[of_column], c[of_key] == c[of_column]
    together = np.bincount(rank[:n], minlength=int(rank.max()) + 1)[rank[n:]]
    # Row of_key shows this pair where the column agrees, row of_column where the key does; neither may count.
    together = together - np.where(one_row, 1, same_column.astype(np.int64) + same_key)
    with_key = np.bincount(k, minlength=key.size)[k[of_key]] - 1 - (~one_row & same_key)
    with_column = np.bincount(c, minlength=column.size)[c[of_column]] - 1 - (~one_row & same_column)
    others = np.maximum(n - 2 + one_row, 1)
    ratio: Floats = np.log((together + _SMOOTHING) / (with_key * with_column / others + _SMOOTHING))
    return ratio
