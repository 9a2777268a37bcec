"""The demand that a form states: any of the six kinds, as numbers or fractions, and how its curves run.

Information privacy is stated in limits that people can say: "a belief of at most 10 % must not rise above 50 %", and
"a belief of at least 90 % must not fall below 60 %", as many as one likes. Each limit bounds the parity by itself,
since a belief of p reaches at most γp / (1 + (γ-1)p); all of them hold exactly if parity is at most the least bound.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from maskwell.auditing import demand_curves
from maskwell.demands import BetaFactor, Demand, demand_from_dict
from maskwell.errors import DemandError
from maskwell.exact import written_fraction

_STEPS = 100
_MOST_LIMITS = 10


@dataclass(frozen=True)
class Limits:
    """Beliefs that must not rise above, or fall below, others: pairs of a belief before and after."""

    rises: tuple[tuple[Fraction, Fraction], ...]
    falls: tuple[tuple[Fraction, Fraction], ...]

    def bound(self) -> Fraction:
        """The largest parity at which all limits hold.

        >>> Limits(((Fraction(1, 10), Fraction(1, 2)),), ()).bound()
        Fraction(9, 1)
        """
        up = [after * (1 - before) / (before * (1 - after)) for before, after in self.rises]
        down = [before * (1 - after) / (after * (1 - before)) for before, after in self.falls]
        return min([*up, *down])

    def upper(self, belief: float) -> float:
        """The largest belief that is allowed after this one."""
        return min([1.0, *(float(after) for before, after in self.rises if belief <= before)])

    def lower(self, belief: float) -> float:
        """The least belief that is allowed after this one."""
        return max([0.0, *(float(after) for before, after in self.falls if belief >= before)])


@dataclass(frozen=True)
class Asked:
    """A demand as planning takes it, in words, and the limits behind it if it was stated by limits."""

    demand: Demand
    words: str
    limits: Limits | None = None

    def curves(self) -> list[list[float]] | None:
        """The least and the largest belief that is allowed after each belief: rows of three; None if there are none."""
        try:
            lower, upper, jumps = demand_curves(self.demand)
        except DemandError:
            return None
        if self.limits is not None:
            lower, upper = self.limits.lower, self.limits.upper
            jumps = tuple(float(before) for before, _ in (*self.limits.rises, *self.limits.falls))
        beside = [math.nextafter(jump, end) for jump in jumps for end in (0, 1)]
        points = np.unique([*np.linspace(0, 1, _STEPS + 1).tolist(), *jumps, *beside]).tolist()
        return [[p, float(lower(p)), float(upper(p))] for p in points]


def read_demand(stated: object) -> Asked:
    """The demand that a form states."""
    if not isinstance(stated, Mapping) or not isinstance(stated.get("kind"), str):
        raise DemandError("demand must have a kind and its numbers.", parameter="demand")
    if stated["kind"] == "information":
        return _information(stated)
    # A fraction is stored as text, and read back from it.
    stored = {name: _stored(value, name) for name, value in stated.items() if name != "kind"}
    demand = demand_from_dict({"kind": stated["kind"], **stored})
    return Asked(demand, demand.describe())


def _information(stated: Mapping[str, Any]) -> Asked:
    rises, falls = (_pairs(stated.get(name, []), name) for name in ("rises", "falls"))
    if not rises and not falls:
        raise DemandError("state at least one limit: a belief, and how far it may move.", parameter="demand")
    for before, after in rises:
        if not 0 < before < after < 1:
            raise DemandError(
                "a belief can only rise to a larger one: 0 % < before < after < 100 %.", parameter="demand"
            )
    for before, after in falls:
        if not 0 < after < before < 1:
            raise DemandError(
                "a belief can only fall to a smaller one: 0 % < after < before < 100 %.", parameter="demand"
            )
    limits = Limits(rises, falls)
    words = "; ".join(
        [
            *(f"no belief of at most {_percent(p)} rises above {_percent(q)}" for p, q in rises),
            *(f"no belief of at least {_percent(p)} falls below {_percent(q)}" for p, q in falls),
        ]
    )
    return Asked(BetaFactor(limits.bound()), words, limits)


def _pairs(given: object, name: str) -> tuple[tuple[Fraction, Fraction], ...]:
    if not isinstance(given, list) or len(given) > _MOST_LIMITS:
        raise DemandError(f"{name} must be a list of at most {_MOST_LIMITS} limits.", parameter="demand")
    if any(not isinstance(pair, list) or len(pair) != 2 for pair in given):
        raise DemandError(f"{name}: each limit is a belief before and one after.", parameter="demand")
    return tuple((_exact(a, name), _exact(b, name)) for a, b in given)


def _stored(value: object, name: str) -> int | float | str:
    """A number as a stored demand has it: a fraction only where one was typed."""
    exact = _exact(value, name)
    if exact.denominator == 1:
        return int(exact)
    return str(exact) if "/" in str(value) else float(exact)


def _exact(value: object, name: str) -> Fraction:
    """A number as it was typed: 0.1 is a tenth, and 1/3 a third."""
    return written_fraction(str(value).strip() if type(value) in (int, float, str) else None, name, DemandError)


def _percent(value: Fraction) -> str:
    return f"{float(100 * value):g} %"
