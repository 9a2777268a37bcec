r"""The inverse of planning: how much privacy a number of respondents and a wanted precision leave room for.

For each set size q the interval of the minimax design narrows as ε grows, because a smaller ε is the same report
blurred further. The size changes from q to q - 1 at :math:`\gamma^2 = (k-q)(k-q+1) / (q(q-1))`, where both add the same
variance in total but not to a category of a given share, so that the half-width may jump there. The sizes are therefore
tried one by one, from the strongest privacy on.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from maskwell import designs
from maskwell.demands import LDP, LocalDiversity
from maskwell.designs.base import Design
from maskwell.errors import DesignError
from maskwell.planning.sample_size import half_width as planned_half_width
from maskwell.planning.sample_size import sample_size
from maskwell.planning.variance_lines import margin, respondents
from maskwell.results.result import Result

_LEAST_EPSILON = 1e-9
# Beyond it the chance of a false report is below one in 10^15.
_MOST_EPSILON = 35.0
_STEP = 1e-12
_ROUNDS = 100


@dataclass(frozen=True)
class Allowance(Result):
    """The strongest demands whose designs reach ``half_width`` with ``n`` respondents; None where there is none."""

    k: int
    n: int
    half_width: float
    ldp: LDP | None
    diversity: LocalDiversity | None

    def _title(self) -> str:
        return (
            f"the strongest demands for intervals of ±{self.half_width:g} from {self.n:,} people, {self.k:,} categories"
        )

    def _figures(self) -> dict[str, str]:
        return {"LDP": str(self.ldp or "none"), "local diversity": str(self.diversity or "none")}

    def to_dict(self) -> dict[str, Any]:
        """The demands as plain values; null where there is none."""
        demands = {"ldp": self.ldp, "diversity": self.diversity}
        asked = {"k": self.k, "n": self.n, "half_width": self.half_width}
        return asked | {name: None if demand is None else demand.to_dict() for name, demand in demands.items()}


def demand_for(
    k: int,
    n: int,
    half_width: float,
    *,
    level: float = 0.95,
    proportion: float | None = None,
    simultaneous: bool = False,
) -> Allowance:
    """The least ε and the largest l for which ``n`` respondents give every category an interval of ± ``half_width``.

    Both are on the safe side: the designs that ``plan`` returns for them reach the precision. The options are those of
    ``half_width``.

    >>> allowed = demand_for(10, 5000, 0.05)
    >>> round(allowed.ldp.epsilon, 3), allowed.diversity
    (1.046, LocalDiversity(l=7))
    """
    wanted, count = margin(half_width, "half_width"), respondents(n)

    def reaches(design: Design) -> bool:
        width = planned_half_width(design, count, level=level, proportion=proportion, simultaneous=simultaneous)
        return width <= wanted

    direct = designs.direct(k)
    if not reaches(direct):
        needed = sample_size(direct, wanted, level=level, proportion=proportion, simultaneous=simultaneous)
        raise DesignError(
            f"n={count} respondents cannot give a half-width of {half_width} even to a direct question, which needs "
            f"{needed}; ask more people, or for less precision."
        )
    epsilon = _least_epsilon(direct.k, lambda e: reaches(designs.minimax(k, epsilon=e)))
    diversity = _largest(2, direct.k - 1, lambda l: reaches(designs.local_diversity(k, l=l)))
    return Allowance(
        direct.k,
        count,
        wanted,
        None if epsilon is None else LDP(epsilon),
        None if diversity is None else LocalDiversity(diversity),
    )


def _least_epsilon(k: int, reaches: Callable[[float], bool]) -> float | None:
    for low, high in _stretches(k):
        if reaches(high):
            return _first(low, high, reaches)
    return None


def _stretches(k: int) -> Iterator[tuple[float, float]]:
    """Ranges of ε over which the minimax design has one set size, from the largest size on."""
    low = _LEAST_EPSILON
    for q in range((k + 1) // 2, 1, -1):
        switch = 0.5 * math.log((k - q) * (k - q + 1) / (q * (q - 1)))
        if switch * (1 - _STEP) > low:
            yield low, switch * (1 - _STEP)
            low = switch * (1 + _STEP)
    yield low, _MOST_EPSILON


def _first(low: float, high: float, reaches: Callable[[float], bool]) -> float:
    """The least value from ``low`` on that reaches, given that ``high`` does and all above the least do."""
    if reaches(low):
        return low
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        if high - low <= _STEP * high or not low < middle < high:
            break
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def _largest(low: int, high: int, reaches: Callable[[int], bool]) -> int | None:
    """The largest integer that reaches, given that all below it do."""
    if high < low or not reaches(low):
        return None
    while high > low:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if reaches(middle) else (low, middle - 1)
    return low
