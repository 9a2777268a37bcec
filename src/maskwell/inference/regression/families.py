"""Families: how the true outcome depends on linear predictors, as if it had been seen.

A family has some linear predictors per record, ``eta[i, r]``, and outcomes ``j``. What regression needs of it are the
chances ``mu_j(eta)`` and, for any weights over the outcomes, the weighted sums of the derivatives of ``log mu_j``: with
``a_j`` the gradient and ``b_j`` the Hessian, ``sum w a``, ``-sum w b`` and ``sum w a a'``. The weights are posterior
chances for the likelihood and scores for corrected estimating equations, so both ask the same questions.

Predictor r of a record is ``(x, 1) M_r theta`` with a constant matrix ``M_r``: all share x, not theta.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.numbers import Matrix, Vector

_TINY = 1e-300


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


@dataclass(frozen=True)
class Link:
    """A distribution function by its two tails, and the logarithmic derivatives of each: first and second."""

    chance: Callable[[Vector], Vector]
    log_chance: Callable[[Vector], Vector]
    log_rest: Callable[[Vector], Vector]
    slopes: Callable[[Vector], tuple[Vector, Vector, Vector, Vector]]
    inverse: Callable[[float], float]


@dataclass(frozen=True)
class _BinaryOutlook(Outlook):
    """Outcome 0 is the event, with chance F(eta); outcome 1 is none."""

    log_chances: Matrix
    first: Matrix
    second: Matrix

    def moments(self, weights: Matrix) -> Moments:
        gradient = (weights * self.first).sum(axis=1)
        curvature = -(weights * self.second).sum(axis=1)
        outer = (weights * self.first**2).sum(axis=1)
        return Moments(gradient[:, None], curvature[:, None, None], outer[:, None, None])


@dataclass(frozen=True)
class Binary(Family):
    """An event or none, with one linear predictor and a link."""

    link: Link
    called: str

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the link."""
        return self.called

    @property
    def predictors(self) -> int:
        return 1

    def maps(self, p: int) -> list[Matrix]:
        return [np.eye(p + 1, p)]

    def outlook(self, eta: Matrix, outcome: Vector | None) -> Outlook:
        flat = eta[:, 0]
        a_yes, b_yes, a_no, b_no = self.link.slopes(flat)
        logs = np.column_stack([self.link.log_chance(flat), self.link.log_rest(flat)])
        return _BinaryOutlook(logs, np.column_stack([a_yes, a_no]), np.column_stack([b_yes, b_no]))

    def start(self, p: int, shares: Vector) -> Vector:
        theta = np.zeros(p)
        theta[0] = self.link.inverse(min(max(float(shares[0]), 0.02), 0.98))
        return theta

    def parameter_names(self, terms: Sequence[str], categories: Sequence[Any]) -> list[str]:
        return list(terms)

    def mean(self, eta: Matrix) -> Matrix:
        chance = self.link.chance(eta[:, 0])
        return np.column_stack([chance, 1 - chance])


@dataclass(frozen=True)
class _LeastSquares(Outlook):
    """The estimating function (event - eta) of least squares, whose solution needs no chance to lie within [0, 1]."""

    log_chances: Matrix
    eta: Vector

    def moments(self, weights: Matrix) -> Moments:
        total = weights.sum(axis=1)
        gradient = weights[:, 0] - total * self.eta
        outer = weights[:, 0] * (1 - self.eta) ** 2 + weights[:, 1] * self.eta**2
        return Moments(gradient[:, None], total[:, None, None], outer[:, None, None])


@dataclass(frozen=True)
class LinearProbability(Binary):
    """The chance itself is linear. Its corrected scores are those of least squares."""

    def corrected_outlook(self, eta: Matrix, outcome: Vector | None) -> Outlook:
        return _LeastSquares(np.zeros((len(eta), 2)), eta[:, 0])


@dataclass(frozen=True)
class _MultinomialOutlook(Outlook):
    log_chances: Matrix

    def moments(self, weights: Matrix) -> Moments:
        p = np.exp(self.log_chances)[:, 1:]
        w = weights[:, 1:]
        total = weights.sum(axis=1)[:, None]
        gradient = w - total * p
        spread = _diagonals(p) - p[:, :, None] * p[:, None, :]
        crossed = w[:, :, None] * p[:, None, :]
        outer = _diagonals(w) - crossed - crossed.transpose(0, 2, 1) + total[:, :, None] * p[:, :, None] * p[:, None, :]
        return Moments(gradient, total[:, :, None] * spread, outer)

    def observed(self, posterior: Matrix) -> tuple[Matrix, NDArray[np.float64]]:
        """The spread of the prior chances less that of the posterior ones: few passes over the records."""
        p, t = np.exp(self.log_chances[:, 1:]), posterior[:, 1:]
        spread = t[:, :, None] * t[:, None, :]
        spread -= p[:, :, None] * p[:, None, :]
        gradient = t - p
        each = np.arange(p.shape[1])
        spread[:, each, each] -= gradient
        return gradient, spread


@dataclass(frozen=True)
class Multinomial(Family):
    """A linear predictor for each category but the first: its log odds against the first."""

    name = "multinomial"

    @property
    def predictors(self) -> int:
        return self.k - 1

    def maps(self, p: int) -> list[Matrix]:
        blocks = []
        for r in range(self.k - 1):
            block = np.zeros((p + 1, p * (self.k - 1)))
            block[:p, r * p : (r + 1) * p] = np.eye(p)
            blocks.append(block)
        return blocks

    def outlook(self, eta: Matrix, outcome: Vector | None) -> Outlook:
        from maskwell.inference.regression.kernels import log_softmax

        return _MultinomialOutlook(log_softmax(eta))

    def start(self, p: int, shares: Vector) -> Vector:
        theta = np.zeros((self.k - 1, p))
        safe = np.maximum(shares, 0.02)
        theta[:, 0] = np.log(safe[1:] / safe[0])
        return theta.ravel()

    def parameter_names(self, terms: Sequence[str], categories: Sequence[Any]) -> list[str]:
        return [f"{category}: {term}" for category in categories[1:] for term in terms]

    def mean(self, eta: Matrix) -> Matrix:
        return np.exp(self.outlook(eta, None).log_chances)


@dataclass(frozen=True)
class _CumulativeOutlook(Outlook):
    """``mu_j = F(eta_j) - F(eta_(j-1))``: a category touches the two linear predictors around it."""

    log_chances: Matrix
    density: Matrix
    slope: Matrix

    def moments(self, weights: Matrix) -> Moments:
        n, d = self.density.shape
        inverse = np.exp(-self.log_chances)
        a = np.zeros((n, d + 1, d))
        second = np.zeros((n, d, d))  # the sum over outcomes of w mu'' / mu
        for r in range(d):
            a[:, r, r] = self.density[:, r] * inverse[:, r]
            a[:, r + 1, r] = -self.density[:, r] * inverse[:, r + 1]
            second[:, r, r] = self.slope[:, r] * (weights[:, r] * inverse[:, r] - weights[:, r + 1] * inverse[:, r + 1])
        gradient = np.einsum("nj,njr->nr", weights, a)
        outer = np.einsum("nj,njr,njs->nrs", weights, a, a)
        return Moments(gradient, outer - second, outer)


@dataclass(frozen=True)
class Cumulative(Family):
    """Ordered categories: ``logit P(at most j) = threshold_j - x beta``; a positive effect means higher categories."""

    name = "cumulative"
    intercept = False

    @property
    def predictors(self) -> int:
        return self.k - 1

    def maps(self, p: int) -> list[Matrix]:
        maps = []
        for r in range(self.k - 1):
            block = np.zeros((p + 1, p + self.k - 1))
            block[:p, self.k - 1 :] = -np.eye(p)
            block[p, r] = 1.0
            maps.append(block)
        return maps

    def outlook(self, eta: Matrix, outcome: Vector | None) -> Outlook:
        from maskwell.numerics.normal import logistic

        below, above = logistic(eta), logistic(-eta)
        density = below * above
        n = len(eta)
        lower = np.column_stack([np.zeros(n), below, np.ones(n)])
        upper = np.column_stack([np.ones(n), above, np.zeros(n)])
        # Where both limits are beyond the middle, the difference of the upper tails keeps its digits.
        chances = np.where(lower[:, :-1] > 0.5, upper[:, :-1] - upper[:, 1:], lower[:, 1:] - lower[:, :-1])
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(chances > _TINY, np.log(np.maximum(chances, _TINY)), -np.inf)
        return _CumulativeOutlook(logs, density, density * (above - below))

    def start(self, p: int, shares: Vector) -> Vector:
        safe = np.maximum(shares, 0.02)
        below = np.cumsum(safe / safe.sum())[:-1]
        return np.concatenate([np.log(below / (1 - below)), np.zeros(p)])

    def parameter_names(self, terms: Sequence[str], categories: Sequence[Any]) -> list[str]:
        thresholds = [f"{low}|{high}" for low, high in pairwise(categories)]
        return [*thresholds, *terms]

    def mean(self, eta: Matrix) -> Matrix:
        return np.exp(self.outlook(eta, None).log_chances)


@dataclass(frozen=True)
class _NormalOutlook(Outlook):
    log_chances: Matrix
    residual: Vector
    precision: Vector

    def moments(self, weights: Matrix) -> Moments:
        w, r, v = weights[:, 0], self.residual, self.precision
        n = len(r)
        a = np.column_stack([r * v, r**2 * v - 1])
        curvature = np.empty((n, 2, 2))
        curvature[:, 0, 0] = v
        curvature[:, 0, 1] = curvature[:, 1, 0] = 2 * r * v
        curvature[:, 1, 1] = 2 * r**2 * v
        outer = a[:, :, None] * a[:, None, :]
        return Moments(w[:, None] * a, w[:, None, None] * curvature, w[:, None, None] * outer)

    def expected(self, weights: Matrix) -> NDArray[np.float64]:
        """Their means over outcomes: far from the maximum residuals say little about the way to it."""
        found = np.zeros((len(self.residual), 2, 2))
        found[:, 0, 0] = weights[:, 0] * self.precision
        found[:, 1, 1] = weights[:, 0] * 2
        return found


@dataclass(frozen=True)
class Normal(Family):
    """A number that was seen: its mean is linear, its scale is fitted along (as its logarithm)."""

    name = "normal"
    numeric = True

    @property
    def predictors(self) -> int:
        return 2

    def maps(self, p: int) -> list[Matrix]:
        mean, scale = np.zeros((p + 1, p + 1)), np.zeros((p + 1, p + 1))
        mean[:p, :p] = np.eye(p)
        scale[p, p] = 1.0
        return [mean, scale]

    def outlook(self, eta: Matrix, outcome: Vector | None) -> Outlook:
        assert outcome is not None
        residual, precision = outcome - eta[:, 0], np.exp(-2 * eta[:, 1])
        logs = -0.5 * np.log(2 * np.pi) - eta[:, 1] - 0.5 * residual**2 * precision
        return _NormalOutlook(logs[:, None], residual, precision)

    def start(self, p: int, shares: Vector) -> Vector:
        """``shares`` are the mean and the standard deviation of the outcome."""
        theta = np.zeros(p + 1)
        theta[0], theta[-1] = shares[0], np.log(shares[1])
        return theta

    def parameter_names(self, terms: Sequence[str], categories: Sequence[Any]) -> list[str]:
        return list(terms)

    def reported(self, p: int) -> int:
        return p

    def mean(self, eta: Matrix) -> Matrix:
        return eta[:, :1]


def _diagonals(values: Matrix) -> NDArray[np.float64]:
    n, d = values.shape
    wide = np.zeros((n, d, d))
    wide[:, np.arange(d), np.arange(d)] = values
    return wide


def _logit() -> Link:
    from maskwell.numerics.normal import log_logistic, logistic

    def slopes(eta: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        p = logistic(eta)
        spread = -p * (1 - p)
        return 1 - p, spread, -p, spread

    return Link(logistic, log_logistic, lambda eta: log_logistic(-eta), slopes, lambda p: float(np.log(p / (1 - p))))


def _probit() -> Link:
    from maskwell.numerics.normal import log_normal_cdf, normal_cdf, normal_quantile

    def tail(eta: Vector) -> tuple[Vector, Vector]:
        """Derivatives of the logarithm of the normal distribution function."""
        ratio = np.exp(-0.5 * eta**2 - 0.5 * np.log(2 * np.pi) - log_normal_cdf(eta))
        return ratio, -ratio * (eta + ratio)

    def slopes(eta: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        a_yes, b_yes = tail(eta)
        a_no, b_no = tail(-eta)
        return a_yes, b_yes, -a_no, b_no

    def start(p: float) -> float:
        return float(normal_quantile(p))

    return Link(normal_cdf, log_normal_cdf, lambda eta: log_normal_cdf(-eta), slopes, start)


def _cloglog() -> Link:
    def log_chance(eta: Vector) -> Vector:
        with np.errstate(divide="ignore"):
            logs: Vector = np.log(-np.expm1(-np.exp(eta)))
        return np.where(eta < -30, eta, logs)

    def slopes(eta: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        rate = np.exp(np.minimum(eta, 500.0))
        # log F = log(1 - exp(-rate)): its slope is rate / (exp(rate) - 1), near 1 for a small rate.
        grown = np.expm1(np.minimum(rate, 700.0))
        ratio = np.where(rate < 1e-10, 1.0, rate / np.maximum(grown, _TINY))
        second = ratio * (1 - rate - ratio)
        return ratio, np.where(rate < 1e-10, -rate / 2, second), -rate, -rate

    return Link(
        lambda eta: -np.expm1(-np.exp(np.minimum(eta, 500.0))),
        log_chance,
        lambda eta: -np.exp(np.minimum(eta, 500.0)),
        slopes,
        lambda p: float(np.log(-np.log1p(-p))),
    )


def _identity() -> Link:
    def log_of(chance: Vector) -> Vector:
        with np.errstate(divide="ignore", invalid="ignore"):
            logs: Vector = np.log(chance)
        return logs  # not a number beyond [0, 1]: such parameters are turned down

    def slopes(eta: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        yes, no = 1 / np.maximum(eta, 1e-100), 1 / np.maximum(1 - eta, 1e-100)
        return yes, -(yes**2), -no, -(no**2)

    return Link(lambda eta: eta, log_of, lambda eta: log_of(1 - eta), slopes, lambda p: p)


FAMILIES = ("logit", "probit", "cloglog", "identity", "multinomial", "cumulative", "normal")


def family_of(name: str, k: int) -> Family:
    """The family of a name, for an outcome of ``k`` categories."""
    links = {"logit": _logit, "probit": _probit, "cloglog": _cloglog}
    if name in links:
        return Binary(2, links[name](), name)
    if name == "identity":
        return LinearProbability(2, _identity(), name)
    if name == "normal":
        return Normal(1)
    return {"multinomial": Multinomial, "cumulative": Cumulative}[name](k)
