"""Parametric bootstrap limits: draw a population and its reports at the estimate, estimate again, many times.

The limits are percentiles of the estimates by category. Unlike normal limits they follow the pile of estimates at 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maskwell.designs.base import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.inference.draws import derived_seed, draw_truths
from maskwell.inference.intervals import normal_quantile
from maskwell.inference.simplex import project
from maskwell.tally import Tally

_FEWEST = 99


def bootstrap_limits(
    tally: Tally, method: str, proportions: Vector, level: float, replicates: int, seed: int | None
) -> Matrix:
    """Percentile limits by category."""
    limits: Matrix = percentiles(replicated(tally, method, proportions, replicates, seed), level).T
    return limits


def percentiles(found: Any, level: float) -> Any:
    """The limits that leave equal shares of the replicates on either side."""
    normal_quantile(level)  # refuses a level outside (0, 1)
    tail = (1 - level) / 2
    return np.quantile(found, [tail, 1 - tail], axis=0)


def replicated(tally: Tally, method: str, proportions: Vector, replicates: int, seed: int | None) -> Matrix:
    """The estimates from reports that are drawn again, a row per replicate."""
    if replicates < _FEWEST:
        raise EstimationError(f"replicates must be at least {_FEWEST} for limits; got {replicates}.")
    if tally.n != int(tally.n):
        raise EstimationError(f"bootstrap draws whole reports; this tally has {tally.n} of them, use profile limits.")
    if tally.squares is not None:
        raise EstimationError("bootstrap takes reports as equally weighted; use wald limits for a weighted tally.")
    from maskwell.inference.linear import estimate

    design, inside, found = tally.design, project(proportions), []
    for replicate in range(replicates):
        truths = draw_truths(design, inside, int(tally.n), derived_seed(seed, replicate, "truths"))
        reports = design.mask(truths, seed=derived_seed(seed, replicate, "reports"))
        found.append(estimate(reports, method).proportions)  # type: ignore[arg-type]
    return np.array(found)
