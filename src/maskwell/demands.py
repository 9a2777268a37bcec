r"""What privacy is asked for, before any design is chosen.

Four of the six demands ask for one thing in different words, a limit on a design's parity: the largest ratio
between two probabilities of the same report (Chai & Nayak 2018, Theorem 3.1). They differ in what a person
finds natural to state: a budget (``LDP``), a factor on beliefs (``BetaFactor``), two probabilities
(``RhoPrivacy``) or two curves (``InformationPrivacy``). The other two, ``AverageSecurity`` and
``LocalDiversity``, ask for something else and leave parity unbounded.

Limits are rounded towards more privacy, and ``holds_for`` compares exact fractions.
"""

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Context, Decimal
from fractions import Fraction
from operator import index
from typing import ClassVar, Protocol, TypeAlias

import numpy as np

from maskwell.breach_bound import BreachCurve, BreachCurveBound
from maskwell.errors import DemandError
from maskwell.exact import exp_above, exp_below, float_below, fraction, stored_fraction
from maskwell.limits import MOST_BREAKPOINTS

Number: TypeAlias = int | float | Fraction

_NUDGE = 1e-10


class Judged(Protocol):
    """What a demand asks of a design before it judges it."""

    def exact_parity(self) -> Fraction | float: ...
    def column_distance(self) -> Fraction: ...
    def diversity(self) -> int: ...


class Demand(ABC):
    """What the six demands share; parity is unbounded unless a demand says otherwise."""

    kind: ClassVar[str]
    title: ClassVar[str]

    def exact_bound(self) -> Fraction | float:
        """A fraction at the largest allowed parity, or just below it; ``math.inf`` where there is none."""
        return math.inf

    @property
    def parity_bound(self) -> float:
        """The largest allowed parity, rounded down; ``math.inf`` where there is none."""
        bound = self.exact_bound()
        if bound == math.inf:
            return math.inf
        return float_below(Fraction(min(bound, Fraction(sys.float_info.max))))

    @abstractmethod
    def holds_for(self, design: Judged) -> bool:
        """Whether the design meets the demand, decided without rounding."""

    def _parameters(self) -> dict[str, Number]:
        return {item.name: getattr(self, item.name) for item in fields(self)}  # type: ignore[arg-type]

    def describe(self) -> str:
        """The demand in a few words, for summaries and error messages."""
        return f"{self.title} with " + ", ".join(f"{k} = {_shown(v)}" for k, v in self._parameters().items())

    def to_dict(self) -> dict[str, object]:
        """The demand as JSON can hold it; ``demand_from_dict`` reads it back."""
        stored = {k: str(v) if isinstance(v, Fraction) else v for k, v in self._parameters().items()}
        return {"kind": self.kind, **stored}


def _shown(value: Number) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _settle(demand: Demand, name: str) -> Fraction:
    """Keep a parameter as a plain int, float or Fraction, and return its exact value."""
    value = getattr(demand, name)
    value = value.item() if isinstance(value, np.generic) else value
    exact = fraction(value, f"{type(demand).__name__}: {name}", DemandError)
    object.__setattr__(demand, name, value if isinstance(value, int | float) else exact)
    return exact


@dataclass(frozen=True)
class LDP(Demand):
    """Local differential privacy: parity at most e^epsilon.

    >>> LDP(epsilon=1).describe()
    'LDP with epsilon = 1'
    """

    epsilon: Number
    kind = "ldp"
    title = "LDP"

    def __post_init__(self) -> None:
        if not 0 < _settle(self, "epsilon") <= 10_000:
            raise DemandError(
                f"LDP needs 0 < epsilon <= 10000; got {_shown(self.epsilon)}. Zero would mean reports that "
                "ignore the truth, thousands no protection; values from 0.1 to 5 are usual.",
                parameter="epsilon",
            )

    def exact_bound(self) -> Fraction:
        """A fraction just below e^epsilon (e^x > 1 + x serves where epsilon is tiny)."""
        epsilon = Fraction(self.epsilon)
        return max(exp_below(epsilon), 1 + epsilon)

    def holds_for(self, design: Judged) -> bool:
        parity = design.exact_parity()
        if parity == math.inf:
            return False
        below, epsilon = self.exact_bound(), Fraction(self.epsilon)
        if parity <= below or parity >= exp_above(epsilon):
            return parity <= below
        return _below_exp(Fraction(parity), epsilon)


def _below_exp(value: Fraction, exponent: Fraction) -> bool:
    """Decide value < e^exponent where the usual digits do not."""
    # e to a non-zero fraction is irrational, so enough digits always part it from the value.
    digits = 120
    while True:
        context = Context(prec=digits)
        quotient = context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
        power, margin = Fraction(context.exp(quotient)), Fraction(1, 10 ** (digits - 10))
        if abs(value - power) > power * margin:
            return value < power
        digits *= 2


class _ParityDemand(Demand):
    """A demand that holds exactly when parity is at most its bound."""

    def holds_for(self, design: Judged) -> bool:
        return design.exact_parity() <= self.exact_bound()


@dataclass(frozen=True)
class BetaFactor(_ParityDemand):
    """No belief about a respondent grows or shrinks by more than the factor beta: parity at most beta."""

    beta: Number
    kind = "beta-factor"
    title = "beta-factor privacy"

    def __post_init__(self) -> None:
        if not _settle(self, "beta") > 1:
            raise DemandError(
                f"BetaFactor needs beta > 1; got {_shown(self.beta)}. "
                "With beta = 1 reports could tell nothing; try beta = 2 or more.",
                parameter="beta",
            )

    def exact_bound(self) -> Fraction:
        return Fraction(self.beta)


@dataclass(frozen=True)
class RhoPrivacy(_ParityDemand):
    """No belief below rho1 may rise above rho2, and none above rho2 may fall below rho1.

    Holds exactly when parity is at most rho2 (1 - rho1) / (rho1 (1 - rho2)) (Chai & Nayak 2018, eq. 1.6).
    """

    rho1: Number
    rho2: Number
    kind = "rho"
    title = "rho1-to-rho2 privacy"

    def __post_init__(self) -> None:
        if not 0 < _settle(self, "rho1") < _settle(self, "rho2") < 1:
            raise DemandError(
                f"RhoPrivacy needs 0 < rho1 < rho2 < 1; got rho1 = {_shown(self.rho1)}, rho2 = "
                f"{_shown(self.rho2)}. Both are probabilities, the smaller first, as in RhoPrivacy(0.1, 0.5).",
                parameter="rho1",
            )

    def exact_bound(self) -> Fraction:
        rho1, rho2 = Fraction(self.rho1), Fraction(self.rho2)
        return rho2 * (1 - rho1) / (rho1 * (1 - rho2))


@dataclass(frozen=True)
class AverageSecurity(Demand):
    """No two columns further apart than 2(phi - 1) in L1 distance; a flawed notion, kept for comparison.

    It leaves parity unbounded: some reports may give the truth away (Nayak & Zhai 2019, section 3.1).
    """

    phi: Number
    kind = "average-security"
    title = "average security"

    def __post_init__(self) -> None:
        if not 1 < _settle(self, "phi") < 2:
            raise DemandError(
                f"AverageSecurity needs 1 < phi < 2; got {_shown(self.phi)}. "
                "At 1 reports tell nothing and at 2 every design qualifies; try phi = 1.5.",
                parameter="phi",
            )

    def holds_for(self, design: Judged) -> bool:
        return design.column_distance() <= 2 * (Fraction(self.phi) - 1)


@dataclass(frozen=True)
class LocalDiversity(Demand):
    """Each report leaves at least l answers possible, and equally likely ones; parity is unbounded."""

    l: int
    kind = "local-diversity"
    title = "local diversity"

    def __post_init__(self) -> None:
        try:
            number = 0 if isinstance(self.l, bool | np.bool_) else index(self.l)
        except TypeError:
            number = 0
        if number.bit_length() > 63:
            raise DemandError(
                "LocalDiversity: l has more than 63 bits, and no design as many categories.", parameter="l"
            )
        if number < 2:
            raise DemandError(
                f"LocalDiversity needs an integer l >= 2; got {self.l!r}. "
                "A report must leave at least two answers possible.",
                parameter="l",
            )
        object.__setattr__(self, "l", number)

    def holds_for(self, design: Judged) -> bool:
        return design.diversity() >= self.l


@dataclass(frozen=True)
class InformationPrivacy(_ParityDemand):
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
        bound = math.inf if excess == math.inf else max(1.0, math.exp(min(excess, 709)) * (1 - _NUDGE))
        object.__setattr__(self, "_bound", bound)

    def exact_bound(self) -> Fraction | float:
        return self._bound if self._bound == math.inf else Fraction(self._bound)

    def describe(self) -> str:
        return f"{self.title} with parity at most {_shown(self._bound)}"

    def to_dict(self) -> dict[str, object]:
        """The proven bound, which says the same about designs; the two functions cannot be stored."""
        return {"kind": self.kind, "parity_bound": None if self._bound == math.inf else self._bound}


_KINDS: dict[str, type[Demand]] = {
    demand.kind: demand for demand in (LDP, BetaFactor, RhoPrivacy, AverageSecurity, LocalDiversity)
}


def demand_from_dict(stored: object) -> Demand:
    """The demand that ``to_dict`` stored.

    An ``InformationPrivacy`` comes back as the ``BetaFactor`` with its bound: the same demand on designs.
    (With a bound of 1, or none, there is no such factor: it comes back with the plainest curves that fit.)

    >>> demand_from_dict(RhoPrivacy(Fraction(1, 10), 0.5).to_dict())
    RhoPrivacy(rho1=Fraction(1, 10), rho2=0.5)
    """
    parameters = dict(stored) if isinstance(stored, Mapping) else {}
    kind = parameters.pop("kind", None)
    if kind == InformationPrivacy.kind and set(parameters) == {"parity_bound"}:
        bound = parameters["parity_bound"]
        if bound is None:
            return InformationPrivacy(lambda a: 0.0, lambda a: 1.0)
        if bound == 1:
            return InformationPrivacy(lambda a: a, lambda a: a)
        return BetaFactor(_restored(bound))
    demand = _KINDS.get(kind) if isinstance(kind, str) else None
    if demand is None or set(parameters) != {item.name for item in fields(demand)}:  # type: ignore[arg-type]
        raise DemandError(
            f"kind {kind!r} with parameters {sorted(parameters)} is no stored demand; use what to_dict() "
            f"returned, of kind {', '.join([*_KINDS, InformationPrivacy.kind])}."
        )
    return demand(**{name: _restored(value) for name, value in parameters.items()})


def _restored(value: object) -> Number:
    if isinstance(value, str):
        return stored_fraction(value, "a stored demand", DemandError)
    if type(value) not in (int, float):
        raise DemandError(f"a stored demand holds a {type(value).__name__} instead of a number.")
    return value  # type: ignore[return-value]
