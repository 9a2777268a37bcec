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
from dataclasses import dataclass, fields
from decimal import Context, Decimal
from fractions import Fraction
from operator import index
from typing import ClassVar, Protocol, TypeAlias

import numpy as np

from maskwell.errors import DemandError
from maskwell.exact import exp_above, exp_below, float_below, given_fraction

Number: TypeAlias = int | float | Fraction


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
        return f"{self.title} with " + ", ".join(f"{k} = {shown_number(v)}" for k, v in self._parameters().items())

    def to_dict(self) -> dict[str, object]:
        """The demand as JSON can hold it; ``demand_from_dict`` reads it back."""
        stored = {k: str(v) if isinstance(v, Fraction) else v for k, v in self._parameters().items()}
        return {"kind": self.kind, **stored}


def shown_number(value: Number) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _settle(demand: Demand, name: str) -> Fraction:
    """Keep a parameter as a plain int, float or Fraction, and return its exact value."""
    value = getattr(demand, name)
    value = value.item() if isinstance(value, np.generic) else value
    exact = given_fraction(value, f"{type(demand).__name__}: {name}", DemandError)
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
                f"LDP needs 0 < epsilon <= 10000; got {shown_number(self.epsilon)}. Zero would mean reports that "
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


class ParityDemand(Demand):
    """A demand that holds exactly when parity is at most its bound."""

    def holds_for(self, design: Judged) -> bool:
        return design.exact_parity() <= self.exact_bound()


@dataclass(frozen=True)
class BetaFactor(ParityDemand):
    """No belief about a respondent grows or shrinks by more than the factor beta: parity at most beta."""

    beta: Number
    kind = "beta-factor"
    title = "beta-factor privacy"

    def __post_init__(self) -> None:
        if not _settle(self, "beta") > 1:
            raise DemandError(
                f"BetaFactor needs beta > 1; got {shown_number(self.beta)}. "
                "With beta = 1 reports could tell nothing; try beta = 2 or more.",
                parameter="beta",
            )

    def exact_bound(self) -> Fraction:
        return Fraction(self.beta)


@dataclass(frozen=True)
class RhoPrivacy(ParityDemand):
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
                f"RhoPrivacy needs 0 < rho1 < rho2 < 1; got rho1 = {shown_number(self.rho1)}, rho2 = "
                f"{shown_number(self.rho2)}. Both are probabilities, the smaller first, as in RhoPrivacy(0.1, 0.5).",
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
                f"AverageSecurity needs 1 < phi < 2; got {shown_number(self.phi)}. "
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
