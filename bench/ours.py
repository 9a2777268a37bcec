"""Our side of what peers do too."""

from collections.abc import Iterator

import numpy as np

import maskwell as mw
from bench.frame.stages import Stage
from bench.peers import EPSILON


def mask_and_count(design: str, k: int, n: int) -> Iterator[Stage]:
    """Mask ``n`` values by a design of ``k`` categories, then count the reports and estimate."""
    made = getattr(mw.designs, design)(k, epsilon=EPSILON)
    values = np.arange(n) * 7919 % k
    yield Stage("mask", n, lambda: made.mask(values))
    reports = made.mask(values)

    def count() -> None:
        _ = mw.estimate(reports.tally()).proportions

    yield Stage("tally", n, count)
