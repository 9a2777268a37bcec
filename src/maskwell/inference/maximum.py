"""Maximum likelihood over the simplex, with a certificate of how near the maximum is.

Maximise ``l(w) = sum c_a ln(x_a . w)`` over proportions w. Each turn solves the second-order model of
``sum w - l(w) / n`` under ``w >= 0`` (its minimum has sum 1 by itself; the model that mix-SQP uses: Kim, Carbonetto,
Stephens and Anitescu 2020), by projected Newton steps, and then searches along the way to its solution. Entries that
belong at zero become exactly zero. A ridge as small as the certificate keeps models without a unique minimum solvable
and vanishes fast enough for quadratic convergence.

With ``g_j = sum c_a x_aj / (x_a . w)``, no proportions have a log-likelihood above ``l(w) + n ln(max_j g_j / n)``: by
Jensen's inequality ``l(v) - l(w) <= n ln(sum_a c_a (x_a . v) / (x_a . w) / n) = n ln(sum_j v_j g_j / n)``
(wang-ding-2021, with the rows of any design).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.inference.likelihood_kernels import climb
from maskwell.inference.report_rows import Rows

Array = NDArray[Any]

MOST_TURNS = 500


@dataclass(frozen=True)
class Maximum:
    """Proportions, the bound on how far their log-likelihood is below the maximum, and the turns it took."""

    proportions: NDArray[np.float64]
    gap: float
    turns: int


def tolerance(n: float) -> float:
    """The gap to stop at: 1e-6 units of log-likelihood, or 1e-12 a report where rounding allows no less."""
    return max(1e-6, 1e-12 * n)


def maximise(
    rows: Rows,
    counts: Array,
    start: Array,
    *,
    goal: float | None = None,
    without: int = -1,
) -> Maximum:
    """The maximum from a start at which every report is possible; ``without`` keeps one category at zero."""
    goal = tolerance(float(counts.sum())) if goal is None else goal
    return Maximum(*climb(rows, counts, start, goal, without, MOST_TURNS))
