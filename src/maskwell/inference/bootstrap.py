"""Parametric bootstrap limits: draw a population and its reports at the estimate, estimate again, many times.

The limits are percentiles of the estimates by category. Unlike normal limits they follow the pile of estimates at 0.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import Any

import numpy as np

from maskwell.designs.base import Design, Matrix, Vector
from maskwell.designs.product import ProductDesign
from maskwell.designs.rounding import largest_remainder
from maskwell.errors import EstimationError
from maskwell.inference.intervals import normal_quantile
from maskwell.inference.simplex import project
from maskwell.sampling.entropy import Source
from maskwell.sampling.plans import TOTAL, RowPlan, draw
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
        truths = draw_truths(design, inside, int(tally.n), _derived(seed, replicate, "truths"))
        reports = design.mask(truths, seed=_derived(seed, replicate, "reports"))
        found.append(estimate(reports, method).proportions)  # type: ignore[arg-type]
    return np.array(found)


def _derived(seed: int | None, replicate: int, purpose: str) -> int | None:
    """A seed of its own for each replicate and purpose, so that no two share a keystream."""
    if seed is None:
        return None
    return int.from_bytes(hashlib.sha256(f"bootstrap {seed} {replicate} {purpose}".encode()).digest()[:8])


def draw_truths(design: Design, proportions: Vector, n: int, seed: int | None) -> Any:
    """``n`` true values at these proportions, in the form that ``design.mask`` takes."""
    weights = largest_remainder([Fraction(float(p)) for p in proportions / proportions.sum()])
    plan = RowPlan(np.array(weights, object)[:, None], TOTAL)
    nothing = np.zeros(n, np.uint32)
    stream = Source(seed=seed, part="/truths").stream(design.fingerprint, n)
    codes = draw(plan, n, lambda start, stop: nothing[start:stop], stream)
    if not isinstance(design, ProductDesign):
        return _labels(design)[codes]
    columns = np.unravel_index(codes.astype(np.int64), [part.k for part in design.parts])
    parts = zip(design.names, design.parts, columns, strict=True)
    return {name: _labels(part)[column] for name, part, column in parts}


def _labels(design: Design) -> Any:
    labels = np.empty(design.k, object)
    labels[:] = design.categories
    return labels
