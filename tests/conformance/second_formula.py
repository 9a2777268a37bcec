"""The table of symmetric designs in closed form, to 50 digits: what the integer implementation must agree with.

For a set z of size s, ``a = P(z | truth in z)`` and ``b = P(z | truth not in z)``; everything else is a sum over sizes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import comb
from typing import Any

import mpmath
from mpmath import mpf

Sizes = dict[int, tuple[Any, Any]]


def _gamma_diagonal(k: int, gamma: Any) -> Sizes:
    return {1: (gamma / (gamma + k - 1), 1 / (gamma + k - 1))}


def _minimax(k: int, gamma: Any) -> Sizes:
    def error(q: int) -> Any:
        return -(k**2) * (q * gamma**2 + k - q) / (q * gamma + k - q) ** 2

    below = int(k / (1 + gamma))
    q = min((q for q in (below, below + 1) if 1 <= q < k), key=error)
    least = mpf(k) / (comb(k, q) * (q * gamma + k - q))
    return {q: (gamma * least, least)}


def _rappor(k: int, gamma: Any) -> Sizes:
    f = 1 / (mpmath.sqrt(gamma) + 1)
    sizes = range(k + 1)
    inside = [f ** (s - 1) * (1 - f) ** (k - s + 1) if s else 0 for s in sizes]
    outside = [f ** (s + 1) * (1 - f) ** (k - s - 1) if s < k else 0 for s in sizes]
    return {s: (inside[s], outside[s]) for s in sizes}


def _trimmed_rappor(k: int, gamma: Any) -> Sizes:
    kept = {s: entry for s, entry in _rappor(k, gamma).items() if 0 < s < k}
    total = sum(comb(k - 1, s - 1) * a + comb(k - 1, s) * b for s, (a, b) in kept.items())
    return {s: (a / total, b / total) for s, (a, b) in kept.items()}


def _optimized_unary(k: int, gamma: Any) -> Sizes:
    t = 1 / (gamma + 1)
    inside = {s: t ** (s - 1) * (1 - t) ** (k - s) / 2 if s else 0 for s in range(k + 1)}
    outside = {s: t**s * (1 - t) ** (k - 1 - s) / 2 if s < k else 0 for s in range(k + 1)}
    return {s: (inside[s], outside[s]) for s in range(k + 1)}


TABLE: Mapping[str, Callable[..., Sizes]] = {
    "direct": lambda k: {1: (mpf(1), mpf(0))},
    "gamma_diagonal": _gamma_diagonal,
    "minimax": _minimax,
    "rappor": _rappor,
    "trimmed_rappor": _trimmed_rappor,
    "optimized_unary": _optimized_unary,
    "local_diversity": lambda k, l: {l: (1 / mpf(comb(k - 1, l - 1)), mpf(0))},
    "uniform_subsets": lambda k: {s: (1 / mpf(2 ** (k - 1) - k - 1), mpf(0)) for s in range(2, k - 1)},
}


@dataclass(frozen=True)
class Figures:
    """What the table says about a design."""

    size_chances: dict[int, float]
    parity: Any
    truth: float  # that a report holds the truth
    other: float  # a given other category
    truth_and_other: float
    two_others: float
    added_variance: float


def figures(name: str, k: int, parameters: dict[str, Any]) -> Figures:
    """All figures of a named design, from its row of the table."""
    with mpmath.workdps(50):
        given = {key: mpf(v.numerator) / v.denominator if key == "gamma" else v for key, v in parameters.items()}
        sizes = TABLE[name](k, **given)
        both = {s: _choose(k - 1, s - 1) * a + _choose(k - 1, s) * b for s, (a, b) in sizes.items()}
        assert abs(sum(both.values()) - 1) < mpf(10) ** -40, "a row of the table is wrong"
        information = sum(
            _choose(k - 2, s - 1) * (a - b) ** 2 * k / (s * a + (k - s) * b) for s, (a, b) in sizes.items() if 0 < s < k
        )
        ratios = [mpmath.inf if not a or not b else max(a / b, b / a) for s, (a, b) in sizes.items() if 0 < s < k]

        def chance(taken: int, truth_inside: bool) -> float:
            """That a report holds ``taken`` given categories, the truth among them or free to be anywhere else."""
            free = k - taken if truth_inside else k - taken - 1
            return float(
                sum(
                    _choose(free, s - taken) * a
                    if truth_inside
                    else _choose(free, s - taken - 1) * a + _choose(free, s - taken) * b
                    for s, (a, b) in sizes.items()
                )
            )

        return Figures(
            {s: float(weight) for s, weight in both.items()},
            max(ratios),
            chance(1, True),
            chance(1, False),
            chance(2, True),
            chance(2, False),
            float((k - 1) / information + mpf(1) / k - 1),
        )


def _choose(n: int, r: int) -> int:
    return comb(n, r) if r >= 0 else 0
