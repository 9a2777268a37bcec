"""The linear program behind every comparison: the least error with which a target can be met, and what proves it."""

from typing import Any, NamedTuple

import numpy as np

from maskwell.designs.base import Vector

# Seconds, because a degenerate program can send the simplex method round in circles.
_SIMPLEX: Any = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "time_limit": 20.0}


class LeastError(NamedTuple):
    """Where the largest error is least, and the price of each error, which proves that it is."""

    at: Vector
    prices: Vector


def least_error(product: Any, target: Vector, fixed: Any, totals: Vector) -> LeastError | str:
    """The x >= 0 with ``fixed @ x = totals`` whose ``product @ x`` misses ``target`` least; if there is none, why.

    Both matrices are sparse.
    """
    from scipy import sparse
    from scipy.optimize import linprog

    error: Any = sparse.csr_matrix(np.ones((len(target), 1)))
    bounded: Any = sparse.bmat([[product, -error], [-product, -error]])
    without_error: Any = sparse.hstack([fixed, sparse.csr_matrix((len(totals), 1))])
    solution = linprog(
        np.append(np.zeros(product.shape[1]), 1.0),
        A_ub=bounded.tocsc(),
        b_ub=np.concatenate([target, -target]),
        A_eq=without_error.tocsc(),
        b_eq=totals,
        method="highs-ds",
        options=_SIMPLEX,
    )
    if solution.status != 0 or solution.x is None:
        return str(solution.message)
    above, below = np.split(solution.ineqlin.marginals, 2)
    return LeastError(solution.x[:-1], above - below)
