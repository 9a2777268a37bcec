"""The linear program behind every comparison: the least error with which a target can be met, and what proves it."""

from typing import NamedTuple

import numpy as np

from maskwell.designs.base import Vector
from maskwell.numerics import sparse
from maskwell.numerics.linear_programs import minimise
from maskwell.numerics.sparse import Sparse

# Seconds, because a degenerate program can send the simplex method round in circles.
_SIMPLEX = {
    "solver": "simplex",
    "primal_feasibility_tolerance": 1e-10,
    "dual_feasibility_tolerance": 1e-10,
    "time_limit": 20.0,
}


class LeastError(NamedTuple):
    """Where the largest error is least, and the price of each error, which proves that it is."""

    at: Vector
    prices: Vector


def least_error(product: Sparse, target: Vector, fixed: Sparse, totals: Vector) -> LeastError | str:
    """The x >= 0 with ``fixed @ x = totals`` whose ``product @ x`` misses ``target`` least; if there is none, why."""
    error = sparse.Sparse.of(-np.ones((len(target), 1)))
    bounded = [sparse.beside([product, error]), sparse.beside([-product, error])]
    solution = minimise(
        np.append(np.zeros(product.shape[1]), 1.0),
        limited=sparse.stacked(bounded),
        limits=np.concatenate([target, -target]),
        fixed=sparse.beside([fixed, sparse.empty(len(totals), 1)]),
        totals=totals,
        options=_SIMPLEX,
    )
    if solution.failure:
        return solution.failure
    above, below = np.split(solution.limit_prices, 2)
    return LeastError(solution.x[:-1], above - below)
