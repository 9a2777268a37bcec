"""The one-step estimator: one Newton step on the log-likelihood from a good start, as precise for many reports.

In k - 1 free coordinates it is ``theta + (-l'')^-1 l'`` (wang-ding-2021, eq. 7, with its sign corrected); the same step
written for all k proportions uses the inverse information among directions that sum to 0. It is not held to the
simplex, so that small samples can give entries below 0.
"""

from __future__ import annotations

import math

import numpy as np

from maskwell.advice import Advice, Setting
from maskwell.designs.base import Vector
from maskwell.errors import EstimationError
from maskwell.inference.likelihood.information import invert
from maskwell.inference.likelihood.kernels import certificate, chances, weighted_products, weighted_sum
from maskwell.inference.likelihood.maximum import Maximum
from maskwell.inference.likelihood.report_rows import Rows


def one_step(rows: Rows, counts: Vector, start: Vector) -> Maximum:
    """The step, and the bound on its log-likelihood's distance from the maximum (infinite if it left the domain)."""
    k, n = len(start), float(counts.sum())
    chance = chances(rows, start)
    inverse = invert(weighted_products(rows, counts / chance**2, np.arange(k)))
    if inverse.unknown.size:
        raise EstimationError(
            Advice(
                "one-step needs reports that determine every proportion, which these do not; use ",
                Setting("method", "likelihood"),
                ".",
            )
        )
    proportions = start + inverse.matrix @ weighted_sum(rows, counts / chance, k)
    then = chances(rows, proportions)
    gap = math.inf
    if (then > 0).all():
        gap = max(n * float(certificate(rows, counts / n, then, k, -1)[1]), 0.0)
    return Maximum(proportions, gap, 1)
