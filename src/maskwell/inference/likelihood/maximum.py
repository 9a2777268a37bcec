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

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskwell.inference.likelihood.report_rows import Rows, dense_rows

Array = NDArray[Any]

MOST_TURNS = 500
_LEAST_GAP, _GAP_PER_REPORT = 1e-6, 1e-12


class Maximum(NamedTuple):
    """Proportions, the bound on how far their log-likelihood is below the maximum, and the turns it took."""

    proportions: NDArray[np.float64]
    gap: float
    turns: int


def tolerance(n: float) -> float:
    """The gap to stop at: 1e-6 units of log-likelihood, or 1e-12 a report where rounding allows no less."""
    return max(_LEAST_GAP, _GAP_PER_REPORT * n)


def maximise(rows: Rows, counts: Array, start: Array, *, goal: float | None = None, without: int = -1) -> Maximum:
    """The maximum from a start at which every report is possible; ``without`` keeps one category at zero."""
    from maskwell.inference.likelihood.kernels import climb

    least, each = (_LEAST_GAP, _GAP_PER_REPORT) if goal is None else (goal, 0.0)
    return Maximum(*climb(rows, counts, start, least, each, without, MOST_TURNS))


def most_likely(rows: Array, counts: Array) -> NDArray[np.float64]:
    """The maximum-likelihood proportions for reports with these likelihood rows."""
    k = rows.shape[1]
    return maximise(dense_rows(rows), counts.astype(float), np.full(k, 1 / k)).proportions
