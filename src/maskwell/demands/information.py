"""Information privacy: two curves that say how far a belief may move, turned into a bound on parity."""

import math
import sys
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from maskwell.demands.breach_bound import BreachCurve, BreachCurveBound
from maskwell.demands.kinds import ParityDemand, shown_number
from maskwell.errors import DemandError
from maskwell.limits import MOST_BREAKPOINTS

# Logarithms up to 710 are computed to within a few units in the last place, together less than 1e-12.
_NUDGE = 1e-10
_LARGEST_EXPONENT = math.floor(math.log(sys.float_info.max))  # 709


@dataclass(frozen=True)
class InformationPrivacy(ParityDemand):
    r"""A belief ``a`` about a respondent may only move to between ``lower(a)`` and ``upper(a)``.

    Both curves are non-decreasing functions of one float with 0 <= lower(a) <= a <= upper(a) <= 1. The demand
    holds exactly when parity is at most (Chai & Nayak 2018, eq. 3.3 and Theorem 3.1)

    .. math:: B(h) = \inf_{0<p<1} \frac{1-p}{p}\,\frac{h(p)}{1-h(p)}, \qquad
              h(a) = \min\{h_u(a),\, 1 - h_l(1-a)\}.

    The bound returned is at least 1 and never above B(h). It is within 1e-9 of B(h), relatively, for smooth
    curves and declared jumps, up to bounds of about 200; lower than that where round-off or a slow
    approach to a limit hides the curve. Evaluations alone cannot prove such a bound (a ratio that is the same
    everywhere, as for LDP, could dip between any two points), so some regularity is assumed:

    - both curves are non-decreasing, which is checked wherever they are evaluated, and computed to within
      four units in the last place;
    - jumps are listed in ``breakpoints`` (a jump of ``lower`` at b as b or as 1 - b);
    - between neighbours on a grid with steps of 1/256 in log-odds (1/2 where a < 1e-5), refined near the
      infimum, the log-odds of the curve are not below all three of: the chord, the line that continues the
      step before, and the line that continues the step after. Curvature that changes sign at most once in
      three steps is enough. Cells that are narrow enough are proven by monotonicity alone;
    - below a = 1e-300, and near 1 from about 1e-3 on, where 1 - upper(a) begins to drown in round-off, the
      ratio is continued to its limit, as a power series in 1 - a; a slower approach lowers the bound where
      it shows. A curve that evaluates to less than a at tiny a is treated near 0 as near 1: written
      ``a * (2 - a)`` instead of ``1 - (1 - a) ** 2`` it is followed all the way.

    >>> demand = InformationPrivacy(lambda a: a / 2, lambda a: min(1, 2 * a))
    >>> 2 * (1 - 1e-9) < demand.parity_bound <= 2
    True
    """

    lower: BreachCurve
    upper: BreachCurve
    breakpoints: tuple[float, ...] = ()
    _bound: float = field(init=False, repr=False, compare=False)
    kind = "information"
    title = "information privacy"

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            if not callable(getattr(self, name)):
                raise DemandError(
                    f"InformationPrivacy: {name} must be a function of one number; got "
                    f"{type(getattr(self, name)).__name__}. Pass for example lower=lambda a: a / 2."
                )
        try:
            points = tuple(float(point) for point in np.atleast_1d(np.asarray(self.breakpoints, dtype=float)))
        except (TypeError, ValueError):
            points = (math.nan,)
        if len(points) > MOST_BREAKPOINTS:
            raise DemandError(
                f"InformationPrivacy: breakpoints may be {MOST_BREAKPOINTS:,} at most; got {len(points):,}. List jumps "
                "only, not the points of a curve.",
                parameter="breakpoints",
            )
        if not all(1e-12 <= point <= 1 - 1e-12 for point in points):
            raise DemandError(
                f"InformationPrivacy: breakpoints must lie strictly between 0 and 1 (by 1e-12); got "
                f"{self.breakpoints!r}. List the places where lower or upper jumps, as in breakpoints=(0.1,).",
                parameter="breakpoints",
            )
        object.__setattr__(self, "breakpoints", points)
        edges = sorted({0.0, 1.0, *points, *(1 - point for point in points)})
        # The ratio grows with h, so the infimum for a minimum of two curves is the smaller of two infima.
        excess = min(
            BreachCurveBound(self.upper, "upper").infimum(edges), BreachCurveBound(self.lower, "lower").infimum(edges)
        )
        bound = math.inf if excess == math.inf else max(1.0, math.exp(min(excess, _LARGEST_EXPONENT)) * (1 - _NUDGE))
        object.__setattr__(self, "_bound", bound)

    def exact_bound(self) -> Fraction | float:
        return self._bound if self._bound == math.inf else Fraction(self._bound)

    def describe(self) -> str:
        return f"{self.title} with parity at most {shown_number(self._bound)}"

    def to_dict(self) -> dict[str, object]:
        """The proven bound, which says the same about designs; the two functions cannot be stored."""
        return {"kind": self.kind, "parity_bound": None if self._bound == math.inf else self._bound}
