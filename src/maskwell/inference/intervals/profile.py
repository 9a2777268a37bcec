"""Profile likelihood limits for single proportions.

The profile of category j at share v is the highest log-likelihood with ``w_j = v``. The others then divide ``1 - v``:
a problem of the same kind, with rows ``v x_j + (1 - v) x``. The limits are where twice the drop from the maximum
reaches the quantile of chi-square with one degree of freedom. The profile is concave and its signed root nearly
straight, so few fits find each limit.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from maskwell.designs.base import Matrix, Vector
from maskwell.inference.intervals.closed_form import normal_quantile
from maskwell.inference.likelihood.kernels import chances
from maskwell.inference.likelihood.maximum import maximise
from maskwell.inference.likelihood.report_rows import Rows, mixed
from maskwell.numerics.roots import root_between

if TYPE_CHECKING:
    from maskwell.inference.likelihood.estimate import LikelihoodEstimate

# Far beyond any quantile, and finite for the root finder: the share makes a report impossible.
_IMPOSSIBLE = 1e3
_SHARE_TOLERANCE = 1e-9


def profile_limits(estimate: LikelihoodEstimate, level: float) -> Matrix:
    """Lower and upper limits by category."""
    sample, errors = estimate.distinct, estimate.standard_errors
    quantile = normal_quantile(level)
    limits = np.empty((estimate.design.k, 2))
    for j in range(estimate.design.k):
        profile = Profile(sample.rows, sample.counts, estimate.proportions, j)
        for side in (0, 1):
            limits[j, side] = profile.limit(side == 1, quantile, float(errors[j]))
    return limits


class Profile:
    """The profile of one category around the maximum."""

    def __init__(self, rows: Rows, counts: Vector, best: Vector, category: int) -> None:
        self._rows, self._counts, self._category = rows, counts, category
        self._share = float(best[category])
        self._chance = chances(rows, best)
        others = best.copy()
        others[category] = 0.0
        elsewhere = (np.arange(len(best)) != category) / (len(best) - 1)
        # All of the population may be in this category; the others then start out equal.
        self._others = others / others.sum() if others.sum() > 0 else elsewhere
        self._elsewhere = elsewhere

    def signed_root(self, share: float) -> float:
        """The root of twice the drop of the log-likelihood at this share."""
        if share == 1.0:
            chance = mixed(self._rows, self._category, 1.0)
            return self._root_of(chances(chance, self._elsewhere))
        rows = mixed(self._rows, self._category, share)
        start = self._others
        if chances(rows, start).min() <= 0:
            start = (start + self._elsewhere) / 2
        if chances(rows, start).min() <= 0:
            return _IMPOSSIBLE
        fit = maximise(rows, self._counts, start, without=self._category)
        return self._root_of(chances(rows, fit.proportions))

    def _root_of(self, chance: Vector) -> float:
        if chance.min() <= 0:
            return _IMPOSSIBLE
        drop = -float(self._counts @ np.log(chance / self._chance))
        return math.sqrt(2 * max(drop, 0.0))

    def limit(self, upper: bool, quantile: float, error: float) -> float:
        """The share beyond the estimate at which the root reaches ``quantile``, or the end of [0, 1]."""
        end = 1.0 if upper else 0.0
        if self._share == end:
            return end
        step = quantile * error if 0 < error < 1 else 0.25
        near, far = self._share, self._share
        while self.signed_root(far) <= quantile:
            if far == end:
                return end
            near, step = far, 2 * step
            far = min(self._share + step, end) if upper else max(self._share - step, end)
        return root_between(lambda share: self.signed_root(share) - quantile, near, far, _SHARE_TOLERANCE)
