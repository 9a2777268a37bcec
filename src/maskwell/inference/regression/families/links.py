"""Links of an event: its chance as a function of one linear predictor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from maskwell.designs.channels.numbers import Vector

_TINY = 1e-300


class Tail(NamedTuple):
    """The logarithm of a chance, and its derivatives by the linear predictor."""

    log: Vector
    first: Vector
    second: Vector


@dataclass(frozen=True)
class Link:
    """A distribution function; the logarithms of its two tails with the derivatives of each, first and second."""

    chance: Callable[[Vector], Vector]
    tails: Callable[[Vector], tuple[Tail, Tail]]
    inverse: Callable[[float], float]


def logit() -> Link:
    from maskwell.numerics.normal import log_logistic, logistic

    def tails(eta: Vector) -> tuple[Tail, Tail]:
        p = logistic(eta)
        spread = -p * (1 - p)
        return Tail(log_logistic(eta), 1 - p, spread), Tail(log_logistic(-eta), -p, spread)

    return Link(logistic, tails, lambda p: float(np.log(p / (1 - p))))


def probit() -> Link:
    from maskwell.numerics.normal import log_normal_tails, normal_cdf, normal_quantile

    def tails(eta: Vector) -> tuple[Tail, Tail]:
        log_yes, log_no = log_normal_tails(eta)
        log_density = -0.5 * eta**2 - 0.5 * np.log(2 * np.pi)
        yes, no = np.exp(log_density - log_yes), np.exp(log_density - log_no)
        return Tail(log_yes, yes, -yes * (eta + yes)), Tail(log_no, -no, -no * (no - eta))

    def start(p: float) -> float:
        return float(normal_quantile(p))

    return Link(normal_cdf, tails, start)


def cloglog() -> Link:
    def tails(eta: Vector) -> tuple[Tail, Tail]:
        with np.errstate(divide="ignore"):
            logs: Vector = np.log(-np.expm1(-np.exp(eta)))
        rate = np.exp(np.minimum(eta, 500.0))
        # log F = log(1 - exp(-rate)): its slope is rate / (exp(rate) - 1), near 1 for a small rate.
        grown = np.expm1(np.minimum(rate, 700.0))
        ratio = np.where(rate < 1e-10, 1.0, rate / np.maximum(grown, _TINY))
        second = ratio * (1 - rate - ratio)
        yes = Tail(np.where(eta < -30, eta, logs), ratio, np.where(rate < 1e-10, -rate / 2, second))
        return yes, Tail(-rate, -rate, -rate)

    return Link(
        lambda eta: -np.expm1(-np.exp(np.minimum(eta, 500.0))),
        tails,
        lambda p: float(np.log(-np.log1p(-p))),
    )


def identity() -> Link:
    def log_of(chance: Vector) -> Vector:
        with np.errstate(divide="ignore", invalid="ignore"):
            logs: Vector = np.log(chance)
        return logs  # not a number beyond [0, 1]: such parameters are turned down

    def tails(eta: Vector) -> tuple[Tail, Tail]:
        yes, no = 1 / np.maximum(eta, 1e-100), 1 / np.maximum(1 - eta, 1e-100)
        return Tail(log_of(eta), yes, -(yes**2)), Tail(log_of(1 - eta), -no, -(no**2))

    return Link(lambda eta: eta, tails, lambda p: p)
