"""The audit of a design: exact privacy figures, and whether the demand it names holds."""

from dataclasses import dataclass
from fractions import Fraction

from maskwell.designs.base import Design


@dataclass(frozen=True)
class Audit:
    """What a design gives. ``average_security`` is the least φ that holds."""

    design: Design
    parity: float
    exact_parity: Fraction | float
    epsilon: float
    l1: float
    average_security: float
    diversity: int
    added_variance: float
    demand_holds: bool | None

    @property
    def bayes_factor_bound(self) -> float:
        """No report changes anyone's odds, for any property and prior, by more than this factor."""
        return self.parity


def audit(design: Design) -> Audit:
    """Audit a design from its exact integers."""
    distance = design.column_distance()
    return Audit(
        design=design,
        parity=design.parity,
        exact_parity=design.exact_parity(),
        epsilon=design.epsilon,
        l1=float(distance),
        average_security=float(1 + distance / 2),
        diversity=design.diversity(),
        added_variance=design.added_variance,
        demand_holds=design.demand.holds_for(design) if design.demand else None,
    )
