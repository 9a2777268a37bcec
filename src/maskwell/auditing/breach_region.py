"""Which changes of belief a design rules out, and whether those that a demand forbids are among them.

A reader holds that a respondent has some property with chance p, sees the report, and then holds it with another
chance. A pair of such chances that must not come about is a breach. A demand states the breaches it forbids by two
curves; the breaches that a design rules out depend on its parity γ alone (chai-nayak-2018, eq. 3.5): no report lifts
p above γp / (1 + (γ-1)p) or pushes it below p / (1 + (γ-1)(1-p)).

Both limits are reached. Take the report whose row has parity γ and a reader who is sure that the truth is one of the
two categories with its largest and its smallest entry: that report multiplies the odds between them by γ exactly. So
this region is what the design really gives, and a demand holds if and only if its region lies inside it.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import numpy as np

from maskwell.demands import LDP, BetaFactor, Demand, InformationPrivacy, RhoPrivacy
from maskwell.demands.breach_bound import BreachCurve
from maskwell.designs.base import Vector
from maskwell.errors import DemandError

_END = 12.0  # log-odds beyond which round-off in 1 - upper(p) would hide where the curves come nearest
_POINTS = 2401
_SAME = 1e-9


@dataclass(frozen=True)
class Containment:
    """Whether the breaches that a demand forbids are all ruled out, and how narrowly.

    ``bound`` is the largest parity that the demand allows, proven from below. ``room`` is the bound over the design's
    parity: at least 1 exactly when the demand holds. ``tight_at`` is the prior belief at which the demand's curve
    comes nearest to the design's, 0 or 1 if that is a limit and None if it is as near everywhere; ``side`` says which
    of the two curves. They are found on a grid and meant for the eye; the verdict does not depend on them.
    """

    holds: bool
    bound: float
    room: float
    tight_at: float | None
    side: Literal["up", "down"]

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True)
class BreachRegion:
    """The changes of belief that a parity of ``gamma`` rules out: all above ``upper`` and all below ``lower``.

    >>> region = BreachRegion(Fraction(9))
    >>> region.upper(0.1), region.lower(0.5)
    (0.5, 0.1)
    """

    gamma: Fraction | float

    def __post_init__(self) -> None:
        if not self.gamma >= 1:
            raise DemandError(
                f"gamma must be at least 1 (a report that ignores the truth); got {self.gamma}.", parameter="gamma"
            )

    def upper(self, prior: Any) -> Any:
        """The largest belief to which a report can lift this one; arrays are taken entry by entry."""
        p = _beliefs(prior)
        with np.errstate(invalid="ignore"):
            return _shaped(np.where(p > 0, p / (p + (1 - p) / float(self.gamma)), 0.0))

    def lower(self, prior: Any) -> Any:
        """The smallest belief to which a report can push this one; arrays are taken entry by entry."""
        p = _beliefs(prior)
        with np.errstate(invalid="ignore"):
            return _shaped(np.where(p < 1, p / (p + float(self.gamma) * (1 - p)), 1.0))

    def contains(self, demand: Demand | BreachCurve, upper: BreachCurve | None = None) -> Containment:
        """Whether every breach that the demand forbids is ruled out: the demand, or its curves ``lower, upper``.

        >>> bool(BreachRegion(8).contains(RhoPrivacy(0.1, 0.5))), bool(BreachRegion(8).contains(BetaFactor(7)))
        (True, False)
        """
        if not isinstance(demand, Demand):
            if upper is None:
                raise DemandError("contains needs a demand, or both of its curves as lower, upper.")
            demand = InformationPrivacy(demand, upper)
        lower_curve, upper_curve, jumps = demand_curves(demand)
        bound = demand.exact_bound()
        tight_at, side = _nearest(lower_curve, upper_curve, jumps)
        room = math.inf if bound == math.inf else float(bound / self.gamma)
        return Containment(self.gamma <= bound, demand.parity_bound, room, tight_at, side)


def demand_curves(demand: Demand) -> tuple[BreachCurve, BreachCurve, tuple[float, ...]]:
    """The least and the largest belief that a demand allows after a given one, and where these curves jump."""
    if isinstance(demand, InformationPrivacy):
        return demand.lower, demand.upper, demand.breakpoints
    if isinstance(demand, LDP):
        region = BreachRegion(demand.parity_bound)
        return region.lower, region.upper, ()
    if isinstance(demand, BetaFactor):
        beta = float(demand.beta)
        return (lambda p: p / beta), (lambda p: min(1.0, beta * p)), (1 / beta,)
    if isinstance(demand, RhoPrivacy):
        low, high = float(demand.rho1), float(demand.rho2)
        return (lambda p: low if p >= high else 0.0), (lambda p: high if p <= low else 1.0), (low, high)
    raise DemandError(f"{demand.describe()} forbids no change of belief, so it has no breach region.")


def _beliefs(prior: Any) -> Vector:
    p = np.asarray(prior, float)
    if not ((p >= 0) & (p <= 1)).all():
        raise DemandError("prior must lie between 0 and 1: it is a probability.", parameter="prior")
    return p


def _shaped(values: Vector) -> Any:
    return values if values.ndim else float(values)


def _nearest(lower: BreachCurve, upper: BreachCurve, jumps: tuple[float, ...]) -> tuple[float | None, Any]:
    """Where the demand allows the least change of log-odds, and in which direction."""
    beside = [math.nextafter(jump, end) for jump in jumps for end in (0, 1)]
    inner = [p for p in (*jumps, *beside) if 0 < p < 1]
    curves = (("up", partial(_allowed, upper)), ("down", partial(_allowed, lower)))
    found: list[tuple[float, float, str]] = []
    spread = 0.0
    for side, allowed in curves:
        points = np.unique(np.concatenate([_expit(np.linspace(-_END, _END, _POINTS)), inner]))
        steps = np.array([allowed(p) for p in points.tolist()])
        spread = max(spread, float(steps.max()))
        at = int(np.argmin(steps))
        found.append((float(steps[at]), _named(float(points[at]), points, jumps), side))
    least = min(found, key=lambda item: item[0] - _SAME * (item[2] == "up"))
    return (None if spread - least[0] <= _SAME else least[1]), least[2]


def _allowed(curve: BreachCurve, p: float) -> float:
    """By how much the log-odds of a belief may change along a curve."""
    after = float(curve(p))
    return abs(_logit(after) - _logit(p))


def _named(point: float, points: Vector, jumps: tuple[float, ...]) -> float:
    """A grid point as what it stands for: the limit at 0 or 1, a jump, or itself."""
    if point in (points[0], points[-1]):
        return float(round(point))
    return min([*jumps, point], key=lambda jump: (abs(jump - point) > math.ulp(point), abs(jump - point)))


def _logit(p: float) -> float:
    if p <= 0 or p >= 1:
        return math.copysign(math.inf, p - 0.5)
    return math.log(p) - math.log1p(-p)


def _expit(t: Vector) -> Vector:
    odds = np.exp(-np.abs(t))
    return np.where(t < 0, odds / (1 + odds), 1 / (1 + odds))
