"""The order of a released file's rows: where they were sorted, a record out of its place would tell that it moved."""

from __future__ import annotations

from typing import Any

import numpy as np

from maskwell.release.frames import reordered
from maskwell.sampling.entropy import Source
from maskwell.tables.codes import Ints
from maskwell.tables.encoded import encoded
from maskwell.tables.frames import column_names, settle

_WORDS = 2
_CONTEXT = " order of rows"


def shuffle(table: Any, *, key: bytes | None = None, ids: Any = None, seed: int | None = None) -> Any:
    """The table with its rows in random order; the last thing to do before a file is given away.

    The draws are fresh; ``key`` with ``ids`` (a value per row) gives each record the same place in any order of the
    input, and ``seed`` is for simulation.

    >>> shuffle({"x": list(range(5))}, seed=1)["x"]
    [1, 2, 4, 3, 0]
    """
    settled, lazy = settle(table)
    names = column_names(settled)
    n = len(encoded(settled).array(names[0])) if names else 0
    return reordered(settled, random_order(n, key, ids, seed), lazy=lazy)


def random_order(n: int, key: bytes | None, ids: Any, seed: int | None, context: str = _CONTEXT) -> Ints:
    """Row numbers sorted by a random 64-bit number each. All orders are alike: equal numbers are next to impossible.

    ``context`` keeps two orders apart that are drawn with one key or seed.
    """
    stream = Source(key, ids, seed, context).stream("", n)
    words, width = stream.slots(0, np.zeros(n, np.uint32), _WORDS)
    slots = words[: n * width].reshape(n, width).astype(np.uint64)
    return np.argsort(slots[:, 0] | slots[:, 1] << np.uint64(32), kind="stable")
