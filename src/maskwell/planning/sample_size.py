"""How many respondents a wanted precision needs, and how precise a given number of them is.

Everything follows from the exact variance of the linear estimator. A planned half-width is the larger of two: that of
the Wilson interval, which ``estimate`` reports, and that of the Wald interval, within which the estimate falls of the
truth with the stated probability. Where no proportion is given, the worst one is taken.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from maskwell.designs.base import Design, Vector
from maskwell.errors import DesignError
from maskwell.inference.intervals.closed_form import normal_quantile
from maskwell.planning.inflation import Inflation
from maskwell.planning.variance_lines import Lines, margin, position, respondents, share

_SUM_TOLERANCE = 1e-9
_MOST = 10**18


def half_width(
    design: Design,
    n: int,
    *,
    level: float = 0.95,
    proportion: float | None = None,
    category: Any = None,
    simultaneous: bool = False,
    design_effect: float = 1.0,
    weight_effect: float = 1.0,
) -> float:
    """Half the width of a category's interval with ``n`` respondents.

    ``proportion`` is the category's share; the widest interval over all shares if it is not given. ``category`` matters
    only for designs that treat categories differently; the worst one if not given. ``simultaneous`` is for intervals
    that hold for all categories together. The half-width of a survey varies with its estimate; this is the one at
    the share itself. ``design_effect`` is what the sample does to the variance of a direct question, ``weight_effect``
    what unequal weights do to that of masking (see ``power``).

    >>> from maskwell import designs
    >>> round(half_width(designs.direct(2), 1000), 4), round(half_width(designs.minimax(2, epsilon=1), 1000), 4)
    (0.031, 0.0671)
    >>> round(half_width(designs.minimax(2, epsilon=1), 1000, design_effect=2, weight_effect=1.2), 4)
    0.0785
    """
    quantile = _quantile(design, level, simultaneous)
    given = None if proportion is None else share(proportion, "proportion")
    sampled = Inflation.of(design_effect, weight_effect)
    return _half_width(Lines.of(design, category), respondents(n), quantile, given, sampled)


def sample_size(
    design: Design,
    half_width: float,
    *,
    level: float = 0.95,
    proportion: float | None = None,
    category: Any = None,
    simultaneous: bool = False,
    design_effect: float = 1.0,
    weight_effect: float = 1.0,
) -> int:
    """The least number of respondents whose interval for a category is no wider than ± ``half_width``.

    The options are those of ``half_width``, of which this is the inverse.

    >>> from maskwell import designs
    >>> sample_size(designs.direct(2), 0.05), sample_size(designs.minimax(2, epsilon=1), 0.05)
    (385, 1799)
    """
    wanted = margin(half_width, "half_width")
    quantile = _quantile(design, level, simultaneous)
    given = None if proportion is None else share(proportion, "proportion")
    lines, sampled = Lines.of(design, category), Inflation.of(design_effect, weight_effect)
    return least(lambda n: _half_width(lines, n, quantile, given, sampled) <= wanted, f"a half-width of {half_width}")


def variance_inflation(
    design: Design, proportions: Sequence[float] | Mapping[Any, float] | Vector, category: Any = None
) -> float:
    """How many times the variance of a direct question masking costs in a population with these proportions.

    Of all categories together (the sum of their variances), or of one of them. A direct question to this many times
    fewer people would be as precise.

    >>> from maskwell import designs
    >>> round(variance_inflation(designs.minimax(5, gamma=20), [0.4, 0.2, 0.2, 0.1, 0.1]), 3)
    1.644
    """
    p = _population(design, proportions)
    masked = design.scores("linear").second_moment_diagonal(p) - p**2
    direct = p * (1 - p)
    if category is not None:
        j = position(design, category)
        masked, direct = masked[j : j + 1], direct[j : j + 1]
    if direct.sum() == 0:
        # A direct question would leave no doubt, so any doubt is infinitely more.
        return 1.0 if masked.sum() <= _SUM_TOLERANCE else math.inf
    return float(masked.sum() / direct.sum())


def least(enough: Callable[[int], bool], goal: str) -> int:
    """The least n for which ``enough`` holds, given that it then holds for every larger one."""
    high = 1
    while not enough(high):
        high *= 2
        if high > _MOST:
            raise DesignError(f"{goal} needs more than {_MOST:.0e} respondents; ask for less, or for less privacy.")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _quantile(design: Design, level: float, simultaneous: bool) -> float:
    normal_quantile(level)
    return normal_quantile(1 - (1 - level) / design.k if simultaneous else level)


def _half_width(lines: Lines, n: int, quantile: float, proportion: float | None, sampled: Inflation) -> float:
    """The larger of the Wald and the Wilson half-width, at the worst line."""
    # Both grow with the variance at p alone, so the worst p of a line is that of its variance.
    worst = np.clip(sampled.peaks(lines), 0.0, 1.0)
    p = worst if proportion is None else np.full(len(lines.slope), proportion)
    variance, t = sampled.variance(lines, p), quantile**2 / n
    intercept, slope, curvature = sampled.curves(lines)
    wilson = (t * variance + t**2 * (intercept * curvature + slope**2 / 4)) / (1 + t * curvature) ** 2
    return math.sqrt(max(float((t * variance).max()), float(wilson.max())))


def _population(design: Design, proportions: Sequence[float] | Mapping[Any, float] | Vector) -> Vector:
    if isinstance(proportions, Mapping):
        for label in proportions:
            position(design, label)
        proportions = [proportions.get(label, 0.0) for label in design.categories]
    p = np.asarray(proportions, float)
    if p.shape != (design.k,) or not (p >= 0).all() or abs(p.sum() - 1) > _SUM_TOLERANCE:
        raise DesignError(
            f"proportions must be {design.k} shares >= 0 that sum to 1, one per category or by label; "
            f"got shape {p.shape} with sum {float(p.sum()):.6g}.",
            parameter="proportions",
        )
    return p
