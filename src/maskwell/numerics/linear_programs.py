"""Linear programs, solved by HiGHS."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maskwell.numerics.sparse import Sparse, stacked

Floats = NDArray[np.float64]


class Solution(NamedTuple):
    """Where the least is, the prices of the limits (what one more unit of each adds), and why there is none."""

    x: Floats
    limit_prices: Floats
    equation_prices: Floats
    failure: str


def minimise(
    costs: ArrayLike,
    *,
    limited: Sparse | ArrayLike | None = None,
    limits: ArrayLike = (),
    fixed: Sparse | ArrayLike | None = None,
    totals: ArrayLike = (),
    most: float | ArrayLike = math.inf,
    least: float | ArrayLike = 0.0,
    options: Mapping[str, Any] | None = None,
) -> Solution:
    """The x between ``least`` and ``most`` with ``limited @ x <= limits`` and ``fixed @ x = totals`` of least cost.

    >>> minimise([1, 2], fixed=[[1, 1]], totals=[1]).x.tolist()
    [1.0, 0.0]
    """
    import highspy

    costs = np.asarray(costs, float)
    parts = [Sparse.of(part) for part in (limited, fixed) if part is not None]
    matrix = stacked(parts) if parts else Sparse.of(np.zeros((0, len(costs))))
    limits, totals = np.asarray(limits, float), np.asarray(totals, float)
    starts, rows, values = matrix.by_column()
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = len(costs), len(limits) + len(totals)
    program.col_cost_ = costs
    program.col_lower_ = np.broadcast_to(np.asarray(least, float), costs.shape).copy()
    program.col_upper_ = np.broadcast_to(np.asarray(most, float), costs.shape).copy()
    program.row_lower_ = np.concatenate([np.full(len(limits), -math.inf), totals])
    program.row_upper_ = np.concatenate([limits, totals])
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_, program.a_matrix_.value_ = starts, rows, values
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    # Threads of its own would not survive a fork.
    for name, value in {"output_flag": False, "parallel": "off", **(options or {})}.items():
        solver.setOptionValue(name, value)
    solver.passModel(program)
    solver.run()
    status = solver.getModelStatus()
    if status != highspy.HighsModelStatus.kOptimal:
        empty = np.zeros(0)
        return Solution(empty, empty, empty, solver.modelStatusToString(status))
    found = solver.getSolution()
    prices = np.asarray(found.row_dual, float)
    return Solution(np.asarray(found.col_value, float), prices[: len(limits)], prices[len(limits) :], "")
