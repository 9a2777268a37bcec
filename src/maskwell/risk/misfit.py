r"""Whether a model suits the risk: B1 and B2, second-order estimates of the bias of τ1 and τ2.

A sample unique arises in a cell with the chance g(λ) = πλ e^(−πλ) and is given the risk h(λ̂) instead of h(λ), so that
the bias is :math:`\sum_k g(\lambda_k) [h(\hat\lambda_k) - h(\lambda_k)]`. To second order in λ̂ − λ, with π(λ̂ − λ)
estimated by μ̂ − f, its square by (f − μ̂)² − f as for a Poisson count, and everything else taken at the fitted means
(Skinner and Shlomo 2008),

.. math:: B = \sum_k g \left\{ -\frac{h'}{\pi} (f - \hat\mu) + \frac{h''}{2\pi^2} [(f - \hat\mu)^2 - f] \right\}.

The second term weighs over- and underdispersion where it matters for the risk, and its weights are never negative. A
model that is too simple leaves overdispersion, B > 0; one that follows single records leaves too little, B < 0. Under
the model the two terms of a Poisson count are uncorrelated and have variances μ and 2μ², which gives B its variance.

With unequal weights the weighted count of a cell, in units of records, takes the place of f, and the sum s of its
squared weights that of f in [(f − μ̂)² − f]. A sum of the weights of Poisson many records has s for an unbiased estimate
of its variance, the two terms are still uncorrelated, and their variances are v and 2v² with v = ωμ, where ω is what
unequal weights multiply a variance by on average. The functions g and h take one sampling fraction for all cells: as
weights of terms that are 0 in the mean they need be no closer.

B is a sign of misfit and not a correction: beyond mild misfit its size is not that of the bias.
"""

from dataclasses import dataclass

import numpy as np

from maskwell.risk.frequencies import Cells
from maskwell.risk.loglinear import Fit
from maskwell.risk.poisson import curvatures, unsampled
from maskwell.tables.codes import Floats

LIMIT = 2.0
"""The standardised B beyond which a model is called too simple or too rich."""


@dataclass(frozen=True)
class Misfit:
    """B for τ1 and τ2, and each over its standard error."""

    b1: float
    b2: float
    z1: float
    z2: float

    @property
    def worst(self) -> float:
        """The larger of the two standardised statistics, in size."""
        return max(abs(self.z1), abs(self.z2))

    @property
    def verdict(self) -> str:
        """``fits``, ``too simple`` (the τ are probably too high) or ``too rich`` (they are probably too low)."""
        if self.worst <= LIMIT:
            return "fits"
        decisive = self.z1 if abs(self.z1) > abs(self.z2) else self.z2
        return "too simple" if decisive > 0 else "too rich"


def misfit(cells: Cells, model: Fit, fraction: float) -> Misfit:
    """B1 and B2 of a model that was fitted to the weighted records, over all possible cells."""

    spread = float(cells.variances.sum()) / cells.n

    def at_empty_cells(means: Floats) -> Floats:
        parts = []
        for linear, square in _weights(means, fraction):
            parts.append(-linear * means + square * means**2)
            parts.append(linear**2 * spread * means + 2 * (square * spread * means) ** 2)
        return np.stack(parts)

    b1, v1, b2, v2 = model.total(at_empty_cells)
    seen, means = cells.weighted, model.means(cells.codes)
    # What records add to the terms of an otherwise empty cell.
    added = [
        float((a * seen + c * (seen * (seen - 2 * means) - cells.variances)).sum())
        for a, c in _weights(means, fraction)
    ]
    b1, b2 = b1 + added[0], b2 + added[1]
    return Misfit(float(b1), float(b2), _standardised(b1, v1), _standardised(b2, v2))


def _weights(means: Floats, fraction: float) -> list[tuple[Floats, Floats]]:
    """The weights of f − μ and of (f − μ)² − f, for τ1 and for τ2."""
    unique = means * np.exp(-means)
    pairs = curvatures(unsampled(means, fraction), fraction)
    return [(-unique * h.slope / fraction, unique * h.bend / (2 * fraction**2)) for h in pairs]


def _standardised(value: float, variance: float) -> float:
    return float(value / np.sqrt(variance)) if variance > 0 else 0.0
