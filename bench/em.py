"""The EM algorithm for proportions: the reference that our second-order method is measured against.

One turn multiplies each proportion by ``g_j / n``, the mean share of the reports that it explains (wang-ding-2021,
section III-A). It is simple, never leaves the simplex and never goes down, but the gap shrinks by a constant factor a
turn at best, and more and more slowly where a proportion belongs at zero.
"""

from typing import Any

import numpy as np
from numba import njit

from maskwell.inference.likelihood.kernels import certificate, chances
from maskwell.inference.likelihood.maximum import Maximum, tolerance
from maskwell.inference.likelihood.report_rows import Rows


def em(rows: Rows, counts: np.ndarray, start: np.ndarray, *, goal: float | None = None, most: int = 10**6) -> Maximum:
    """Turns of EM from a start without zeros until the certificate is within ``goal``, or ``most`` of them."""
    goal = tolerance(float(counts.sum())) if goal is None else goal
    return Maximum(*_climb(rows, counts, start, goal, most))


@njit(nogil=True)
def _climb(rows: Rows, counts: np.ndarray, start: np.ndarray, goal: float, most: int) -> Any:
    n = counts.sum()
    share = counts / n
    w = start / start.sum()
    for turn in range(most + 1):
        pull, excess = certificate(rows, share, chances(rows, w), len(w), -1)
        if n * excess <= goal or turn == most:
            break
        w = w * pull
        w /= w.sum()
    return w, max(n * excess, 0.0), turn
