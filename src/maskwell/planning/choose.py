"""From a privacy demand to the design that answers it at the least loss of information."""

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from maskwell import designs
from maskwell.demands import LDP, AverageSecurity, Demand, LocalDiversity
from maskwell.designs.base import Design
from maskwell.designs.choice import best_design
from maskwell.errors import DemandError
from maskwell.planning.variance_lines import respondents


def plan(categories: Iterable[Any] | int, demand: Demand, *, n: int | None = None) -> Design:
    """The design to use: of least error for a bound on parity, local l-diversity or average security where those are
    asked for.

    Within a parity that is minimax; for more categories than sets are practical for it is projective, and where ε is
    too large for that k-ary response. ``planning.why_taken(design)`` says what decided: error, bits and time.

    ``n``, the number of respondents to expect, does not change the choice: n divides the error of every design alike,
    so the best design is the best at any n. It is kept in the design's parameters as ``planned_n``, where a codebook
    shows it; ``planning.half_width`` says what precision it buys.

    >>> from maskwell.demands import RhoPrivacy
    >>> plan(["a", "b", "c"], RhoPrivacy(Fraction(1, 10), Fraction(1, 2))).exact_parity() <= 9
    True
    """
    if n is None:
        return _best(categories, demand)
    planned_n = respondents(n)
    design = _best(categories, demand)
    return replace(design, parameters={**design.parameters, "planned_n": planned_n})


def _best(categories: Iterable[Any] | int, demand: Demand) -> Design:
    if not isinstance(demand, Demand):
        raise DemandError(
            f"demand must be a privacy demand; got {type(demand).__name__}. Pass for example LDP(1).",
            parameter="demand",
        )
    if isinstance(demand, LocalDiversity):
        return designs.local_diversity(categories, l=demand.l)
    if isinstance(demand, AverageSecurity):
        return designs.average_secure(categories, phi=demand.phi)
    if isinstance(demand, LDP):
        return best_design(categories, epsilon=demand.epsilon)
    bound = demand.exact_bound()
    if not isinstance(bound, Fraction) or math.isinf(bound):
        raise DemandError(
            f"{demand.describe()} sets no bound on the parity, so any design answers it; state a stricter demand."
        )
    if bound <= 1:
        raise DemandError(
            f"{demand.describe()} forces parity 1: every report would be pure noise; state a weaker demand."
        )
    return best_design(categories, gamma=bound).answering(demand)
