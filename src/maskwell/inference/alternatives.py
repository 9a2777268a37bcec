"""Directions of tests and of limits: two-sided, or towards smaller or larger values only; normal or Student's.

``"less"`` asks whether a value lies below the one it is compared with, so that small estimates speak against chance;
the limits that belong to it reach from below up to an upper limit. ``"greater"`` is its mirror image.
"""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

from maskwell.errors import EstimationError
from maskwell.inference.intervals.closed_form import normal_quantile
from maskwell.numerics.beta import t_cdf, t_quantile
from maskwell.numerics.normal import normal_cdf

Alternative = Literal["two-sided", "less", "greater"]
_REACH = {"two-sided": "different from", "less": "less than", "greater": "greater than"}


def checked(alternative: Any) -> Alternative:
    """The alternative, if it is one."""
    if alternative not in get_args(Alternative):
        known = ", ".join(get_args(Alternative))
        raise EstimationError(f"alternative must be one of {known}; got {alternative!r}.", parameter="alternative")
    return alternative  # type: ignore[no-any-return]


def words(alternative: Alternative) -> str:
    """What it claims of a value beside another.

    >>> words("less")
    'less than'
    """
    return _REACH[alternative]


def quantile(level: float, df: float = math.inf) -> float:
    """t such that a Student variable falls within ±t with probability ``level``; a normal one without ``df``.

    >>> round(quantile(0.95), 4), round(quantile(0.95, 10), 4)
    (1.96, 2.2281)
    """
    if math.isinf(df):
        return normal_quantile(level)
    normal_quantile(level)  # refuses a level outside (0, 1)
    return t_quantile(max(df, 1.0), 0.5 + level / 2)


def both_sides(level: float, alternative: Alternative) -> float:
    """The level of the two-sided limits of which one is the limit to one side at ``level``.

    >>> round(both_sides(0.95, "less"), 9), both_sides(0.95, "two-sided")
    (0.9, 0.95)
    """
    normal_quantile(level)
    if checked(alternative) == "two-sided":
        return level
    if level <= 0.5:
        raise EstimationError(f"a limit to one side needs a level above 0.5; got {level}.", parameter="level")
    return 1 - 2 * (1 - level)


def limits(
    value: float, error: float, level: float, df: float = math.inf, alternative: Alternative = "two-sided"
) -> tuple[float, float]:
    """The value and as many standard errors to both sides, or to one with no limit on the other, as the level asks for.

    >>> [round(limit, 3) for limit in limits(1.0, 0.5, 0.95, alternative="greater")]
    [0.178, inf]
    """
    margin = quantile(both_sides(level, alternative), df) * error
    low = -math.inf if alternative == "less" else value - margin
    high = math.inf if alternative == "greater" else value + margin
    return low, high


def p_value(z: float, df: float = math.inf, alternative: Alternative = "two-sided") -> float:
    """The chance of a standardised value at least as far out in the direction of the alternative.

    >>> round(p_value(1.6449, alternative="greater"), 4), round(p_value(1.6449), 4)
    (0.05, 0.1)
    """

    def below(x: float) -> float:
        return float(normal_cdf(x) if math.isinf(df) else t_cdf(max(df, 1.0), x))

    if checked(alternative) == "two-sided":
        return math.nan if math.isnan(z) else min(2 * below(-abs(z)), 1.0)
    return below(z) if alternative == "less" else below(-z)
