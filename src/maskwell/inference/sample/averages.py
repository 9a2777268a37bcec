"""Weighted averages of numbers that reports carry, and smooth functions of them, in a sample.

Each record carries some numbers that are unbiased for numbers of the respondent's true answer. Their averages vary by
the sample, and functions of the averages by the delta method: slopes are taken by a complex step, which has no error of
its own. Replicate weights make every function anew. Where a population correction shrank the variance, the part that
masking adds is given back in full: it needs, for each two of the numbers, one that is unbiased for the product of what
they are unbiased for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.inference.sample.sample import Sample
from maskwell.inference.sample.scores import require_finite

_STEP = 1e-100
Function = Callable[[NDArray[Any]], NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Averages:
    """Averages over a domain of a sample.

    ``values`` has a row per record and a column per number. ``products`` takes a weight per record, and gives the
    weighted sum over records of unbiased products of each two of the true numbers.
    """

    sample: Sample
    values: Matrix
    domain: NDArray[np.bool_]
    products: Callable[[Vector], Matrix]

    @cached_property
    def _shares(self) -> Vector:
        """The weights in the domain, 1 in sum."""
        weights = np.where(self.domain, self.sample.weights, 0.0)
        total = float(weights.sum())
        if total <= 0:
            raise EstimationError("a group of the sample has no reports, or no weight; leave it out.")
        shares: Vector = weights / total
        return shares

    @cached_property
    def means(self) -> Vector:
        """The averages."""
        found: Vector = self._shares @ self.values
        return found

    @cached_property
    def _replicated(self) -> Matrix | None:
        """The averages with each column of replicate weights."""
        if self.sample.replicates is None:
            return None
        weights = self.sample.replicates.weights * self.domain[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Matrix = (weights.T @ self.values) / weights.sum(axis=0)[:, None]
        return found

    @cached_property
    def covariance(self) -> Matrix:
        """The covariance of the averages."""
        return self.covariance_of(lambda means: means)

    def covariance_of(self, function: Function) -> Matrix:
        """The covariance of a smooth function of the averages."""
        if self._replicated is not None:
            assert self.sample.replicates is not None
            with np.errstate(divide="ignore", invalid="ignore"):
                again = np.array([function(means) for means in self._replicated])
            require_finite(again)
            rows = np.sqrt(self.sample.replicates.factors)[:, None] * (again - function(self.means))
            return np.asarray(rows.T @ rows)
        slopes = slopes_of(function, self.means)
        off = np.where(self.domain[:, None], self.values - self.means, 0.0) @ slopes.T
        size = float(np.where(self.domain, self.sample.weights, 0.0).sum())
        rows, lacking = self.sample.spread(off / size)
        found = rows.T @ rows
        if (lacking * self.domain).any():
            found = found + slopes @ self._masked(lacking * self._shares**2) @ slopes.T
        return np.asarray(found)

    def errors_of(self, function: Function) -> Vector:
        """The standard errors of a smooth function of the averages.

        Where a population correction leaves masking alone, an unbiased variance may come out below 0, and rounding
        alone makes one where the slopes are 0: neither has a root, and 0 is the nearest variance.
        """
        found: Vector = np.sqrt(np.maximum(np.diagonal(self.covariance_of(function)), 0.0))
        return found

    def _masked(self, weights: Vector) -> Matrix:
        both: Matrix = (self.values * weights[:, None]).T @ self.values
        return both - self.products(weights)


def slopes_of(function: Function, at: Vector) -> Matrix:
    """The derivatives of a function of numbers, one row per value that it gives.

    >>> slopes_of(lambda x: np.array([x[0] / x[1]]), np.array([1.0, 2.0]))
    array([[ 0.5 , -0.25]])
    """
    stepped = at + 1j * _STEP * np.eye(len(at))
    found: Matrix = np.array([np.asarray(function(point)).imag / _STEP for point in stepped]).T
    return found
