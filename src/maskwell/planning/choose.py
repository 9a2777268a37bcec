"""From a privacy demand to the design that answers it at the least loss of information."""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from maskwell import designs
from maskwell.demands import LDP, AverageSecurity, Demand, LocalDiversity
from maskwell.designs.base import Design
from maskwell.errors import DemandError


def plan(categories: Iterable[Any] | int, demand: Demand) -> Design:
    """The design to use: minimax for a bound on parity, local l-diversity or average security where those are asked
    for.

    >>> from maskwell.demands import RhoPrivacy
    >>> plan(["a", "b", "c"], RhoPrivacy(Fraction(1, 10), Fraction(1, 2))).exact_parity() <= 9
    True
    """
    if isinstance(demand, LocalDiversity):
        return designs.local_diversity(categories, l=demand.l)
    if isinstance(demand, AverageSecurity):
        return designs.average_secure(categories, phi=demand.phi)
    if isinstance(demand, LDP):
        return designs.minimax(categories, epsilon=demand.epsilon)
    bound = demand.exact_bound()
    if not isinstance(bound, Fraction) or math.isinf(bound):
        raise DemandError(
            f"{demand.describe()} sets no bound on the parity, so any design answers it; state a stricter demand."
        )
    if bound <= 1:
        raise DemandError(
            f"{demand.describe()} forces parity 1: every report would be pure noise; state a weaker demand."
        )
    return designs.minimax(categories, gamma=bound).answering(demand)
