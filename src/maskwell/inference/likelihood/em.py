"""The EM algorithm for proportions: the reference that the second-order method is measured against.

One turn multiplies each proportion by ``g_j / n``, the mean share of the reports that it explains (wang-ding-2021,
section III-A). It is simple, never leaves the simplex and never goes down, but the gap shrinks by a constant factor a
turn at best, and more and more slowly where a proportion belongs at zero.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from maskwell.inference.likelihood.kernels import climb_by_em
from maskwell.inference.likelihood.maximum import Maximum, tolerance
from maskwell.inference.likelihood.report_rows import Rows

Array = NDArray[Any]


def em(rows: Rows, counts: Array, start: Array, *, goal: float | None = None, most: int = 1_000_000) -> Maximum:
    """Turns of EM from a start without zeros until the certificate is within ``goal``, or ``most`` of them."""
    goal = tolerance(float(counts.sum())) if goal is None else goal
    return Maximum(*climb_by_em(rows, counts, start, goal, most))
