"""A family: how the true outcome depends on linear predictors, as if it had been seen.

A family has some linear predictors per record, ``eta[i, r]``, and outcomes ``j``. What regression needs of it are the
chances ``mu_j(eta)`` and, for any weights over the outcomes, the weighted sums of the derivatives of ``log mu_j``: with
``a_j`` the gradient and ``b_j`` the Hessian, ``sum w a``, ``-sum w b`` and ``sum w a a'``. The weights are posterior
chances for the likelihood and scores for corrected estimating equations, so both ask the same questions.

Predictor r of a record is ``(x, 1) M_r theta`` with a constant matrix ``M_r``: all share x, not theta.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.numbers import Matrix, Vector


class Moments(NamedTuple):
    """Weighted sums over outcomes, by record: of gradients, of negative Hessians, of outer products of gradients."""

    gradient: NDArray[np.float64]
    curvature: NDArray[np.float64]
    outer: NDArray[np.float64]


class Outlook(ABC):
    """The outcomes of some records at their linear predictors."""

    log_chances: Matrix

    @abstractmethod
    def moments(self, weights: Matrix) -> Moments:
        """The weighted sums of derivatives of the log chances, with one weight per record and outcome."""

    def expected(self, weights: Matrix) -> NDArray[np.float64]:
        """Negative Hessians as if the truth had been seen, positive definite wherever the parameters are."""
        return self.moments(weights).curvature

    def observed(self, posterior: Matrix) -> tuple[Matrix, NDArray[np.float64]]:
        """Gradient and negative Hessian of the log chance of a report, with the posterior chances that it leaves."""
        gradient, curvature, outer = self.moments(posterior)
        return gradient, curvature - outer + gradient[:, :, None] * gradient[:, None, :]


@dataclass(frozen=True)
class Family(ABC):
    """A model of an outcome with ``k`` categories; ``k`` is 1 for an outcome that is a number."""

    k: int

    name: ClassVar[str]
    intercept: ClassVar[bool] = True
    numeric: ClassVar[bool] = False

    @property
    @abstractmethod
    def predictors(self) -> int:
        """How many linear predictors a record has."""

    @abstractmethod
    def maps(self, p: int) -> list[Matrix]:
        """``M_r`` for each linear predictor, with ``p`` columns of x and a last row for the constant 1."""

    @abstractmethod
    def outlook(self, eta: Matrix, outcome: Vector | None) -> Outlook:
        """The outcomes at these linear predictors; ``outcome`` is the number that was seen, for numeric families."""

    @abstractmethod
    def start(self, p: int, shares: Vector) -> Vector:
        """Parameters without any effect, at the overall shares of the categories."""

    @abstractmethod
    def parameter_names(self, terms: Sequence[str], categories: Sequence[Any]) -> list[str]:
        """The names of the parameters."""

    @abstractmethod
    def mean(self, eta: Matrix) -> Matrix:
        """What is predicted: the chances of all categories, or the expected number."""

    def reported(self, p: int) -> int:
        """How many of the parameters are shown; the others, such as a scale, are fitted along."""
        return int(self.maps(p)[0].shape[1])

    def corrected_outlook(self, eta: Matrix, outcome: Vector | None) -> Outlook:
        """What corrected scores correct: the scores of the likelihood unless a family has better ones."""
        return self.outlook(eta, outcome)
