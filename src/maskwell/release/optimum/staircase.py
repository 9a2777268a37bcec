r"""The most informative design of any shape at a given parity, by a linear program over staircase rows.

Some optimum has only rows in which every entry is one of two values, g times apart (Kairouz, Oh & Viswanath 2016,
Extremal mechanisms for local differential privacy, JMLR 17): rows θ·s with s in {1, g}^S. A row contributes
θ·Σ_k p_k s_k ln(s_k / Σ_j p_j s_j), which is linear in θ, and Σ θ s = 1 for every category. There are 2^S rows, so this
is for few categories; it tells what the restriction to one chance of staying per category costs.
"""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import DesignError
from maskwell.numerics.linear_programs import minimise
from maskwell.release.optimum.relaxation import relative_entropy
from maskwell.release.optimum.vertices import Vector
from maskwell.sampling.samplers import TOTAL

MOST_CATEGORIES = 14
# Rows rarer than this are left to the rounding of the others.
_NEGLIGIBLE = 1e-10
_LEAST_EXCESS = 1e-4
_ACCURATE: Any = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


class Staircase(NamedTuple):
    """Rows of the optimum: how often each is used, and in which categories it is high; and a bound on all others."""

    weights: list[float]
    high: NDArray[np.bool_]
    bound: float


def matrix_information(p: Vector, matrix: NDArray[np.float64]) -> float:
    """Mutual information in nats between truth and report, for any matrix with a row per report."""
    reports = matrix @ p
    ratio = matrix / reports[:, None] - 1
    return float(reports @ (relative_entropy(ratio) @ p))


def solve(p: Vector, excess: float) -> Staircase:
    """The best mixture of rows of 1 and 1 + excess, and a bound from the dual program that no other mixture exceeds."""
    size = len(p)
    if size > MOST_CATEGORIES:
        raise DesignError(
            f"restricted=False needs a linear program with 2^S columns and takes at most {MOST_CATEGORIES} categories; "
            f"got {size}. Use restricted=True, or merge categories.",
            parameter="restricted",
        )
    if excess < _LEAST_EXCESS:
        raise DesignError(
            f"restricted=False needs an epsilon of at least {_LEAST_EXCESS:g}; got {excess:.3g}. Below it, the solver "
            "cannot tell rows apart. Use restricted=True.",
            parameter="restricted",
        )
    codes = np.arange(1, 2**size - 1)
    high = (codes[:, None] >> np.arange(size)) & 1 == 1
    sums = size + excess * high.sum(axis=1)
    # Scaled to sums of 1: a column of huge numbers beside small ones would be below the solver's tolerance.
    rows = (1 + excess * high) / sums[:, None]
    gains = _contributions(p, high, excess) / sums
    scale = float(gains.max())
    if scale <= 0:
        return Staircase([1.0], np.zeros((1, size), np.bool_), 0.0)  # One category only: nothing can be told.
    result = minimise(-gains / scale, fixed=rows.T, totals=np.ones(size), options=_ACCURATE)
    if result.failure:
        raise DesignError(
            f"the linear program for {size} categories at parity {1 + excess:.6g} failed: {result.failure}"
        )
    prices = -scale * result.equation_prices
    # Prices are lifted until no row is underpriced: then their sum is a bound whatever the solver's accuracy.
    missing = max(0.0, float((gains - rows @ prices).max()))
    bound = float(prices.sum()) + missing * size + 2.0**-48 * float(np.abs(prices).sum())
    used = result.x > _NEGLIGIBLE
    return Staircase([float(w) for w in result.x[used] / sums[used]], high[used], bound)


def integers(found: Staircase, parity: Fraction) -> tuple[tuple[int, ...], ...]:
    """The rows in integers out of 2^64, no entry more than ``parity`` times another of its row.

    The solver's columns sum to 1 but for its accuracy; what is missing goes to the row that has most room for it.
    """
    top = [max(1, math.floor(Fraction(weight) * parity * TOTAL)) for weight in found.weights]
    low = [math.ceil(most / parity) for most in top]
    columns = []
    for column in found.high.T.tolist():
        whole = [top[i] if high else low[i] for i, high in enumerate(column)]
        missing = TOTAL - sum(whole)
        room = [(top[i] - w) if missing > 0 else (low[i] - w) for i, w in enumerate(whole)]
        widest = max(range(len(room)), key=lambda i: abs(room[i]))
        if abs(room[widest]) < abs(missing):
            raise too_private(parity, len(found.high.T))
        whole[widest] += missing
        columns.append(whole)
    return tuple(zip(*columns, strict=True))


def too_private(parity: Fraction, size: int) -> DesignError:
    """The error for a demand that integers cannot meet."""
    return DesignError(
        f"a parity of at most 1 + {float(parity - 1):.3g} cannot be given in integers out of 2^64 for {size} "
        "categories; use an epsilon of 1e-10 or more (far below that a report tells nothing anyway)."
    )


def _contributions(p: Vector, high: NDArray[np.bool_], excess: float) -> Vector:
    """What a row of 1 and 1 + excess tells, in nats; from the excess, so that nothing cancels where it is small."""
    favoured = high @ p
    reports = 1 + excess * favoured
    ratio = excess * (high - favoured[:, None]) / reports[:, None]
    return np.asarray(reports * (relative_entropy(ratio) @ p))
