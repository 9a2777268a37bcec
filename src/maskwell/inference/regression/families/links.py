"""Links of an event: its chance as a function of one linear predictor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from maskwell.designs.channels.numbers import Vector

_TINY = 1e-300


@dataclass(frozen=True)
class Link:
    """A distribution function by its two tails, and the logarithmic derivatives of each: first and second."""

    chance: Callable[[Vector], Vector]
    log_chance: Callable[[Vector], Vector]
    log_rest: Callable[[Vector], Vector]
    slopes: Callable[[Vector], tuple[Vector, Vector, Vector, Vector]]
    inverse: Callable[[float], float]


def logit() -> Link:
    from maskwell.numerics.normal import log_logistic, logistic

    def slopes(eta: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        p = logistic(eta)
        spread = -p * (1 - p)
        return 1 - p, spread, -p, spread

    return Link(logistic, log_logistic, lambda eta: log_logistic(-eta), slopes, lambda p: float(np.log(p / (1 - p))))


def probit() -> Link:
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


def cloglog() -> Link:
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


def identity() -> Link:
    def log_of(chance: Vector) -> Vector:
        with np.errstate(divide="ignore", invalid="ignore"):
            logs: Vector = np.log(chance)
        return logs  # not a number beyond [0, 1]: such parameters are turned down

    def slopes(eta: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        yes, no = 1 / np.maximum(eta, 1e-100), 1 / np.maximum(1 - eta, 1e-100)
        return yes, -(yes**2), -no, -(no**2)

    return Link(lambda eta: eta, log_of, lambda eta: log_of(1 - eta), slopes, lambda p: p)
