"""Whether a design wastes information: is there one with the same privacy that tells strictly more?

Within parity γ the answer is no, and the design is admissible, exactly if every row takes two values whose ratio is γ
(chai-nayak-2018, Theorems 4.2 and 4.3). Without a bound on parity the direct question beats every other design. Within
φ-average security the rule is another one (nayak-zhai-2019, after Theorem 3.1, completed): all non-zero entries of a
row are equal, and the columns of a row's support hang together by pairs that are as far apart as φ allows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from maskwell.demands import AverageSecurity
from maskwell.designs.channels.deviations import TOLERANCE, DistanceDeviation, ParityDeviation
from maskwell.exact import fraction
from maskwell.ordering.comparable import Comparable, comparable
from maskwell.results.numbers import figure, limit


@dataclass(frozen=True)
class Admissibility:
    """The verdict (at 1e-9), the largest relative deviation of a row from the rule, and a sentence that says why.

    A row that deviates by no more than the rounding of its probabilities to integers out of 2^64 counts as exact: rare
    reports cannot come nearer.
    """

    holds: bool
    slack: float
    why: str

    def __bool__(self) -> bool:
        return self.holds


def admissible(design: Any) -> Admissibility:
    """Whether no design of the same parity tells strictly more; a design, or a table ``P[report, truth]``.

    >>> from maskwell import designs
    >>> admissible(designs.gamma_diagonal(5, epsilon=1)).holds
    True
    >>> admissible(designs.rappor(5, epsilon=1)).why
    'the empty set has chance 0.0567 whatever the truth is: it tells nothing and could be left out.'
    """
    given = comparable(design, "design")
    parity = given.channel.parity
    if parity == math.inf:
        if given.channel.always_certain:
            return Admissibility(True, 0.0, "every report gives the truth away, so nothing can tell more.")
        why = "parity is infinite, and without a bound on parity the direct question tells more than any other."
        return Admissibility(False, 1.0, why)
    if parity == 1:
        return Admissibility(True, 0.0, "reports do not depend on the truth, and nothing else has parity 1.")
    rows = list(given.channel.parity_deviations(parity))
    wrong = next((row for row in rows if row.deviation > TOLERANCE), None)
    praise = f"every report takes two values with ratio {limit(parity)}."
    why = praise if wrong is None else _parity_complaint(given, wrong, float(parity))
    return Admissibility(wrong is None, max(row.deviation for row in rows), why)


def _parity_complaint(given: Comparable, row: ParityDeviation, parity: float) -> str:
    name = given.class_name(row.at)
    if row.parity <= 1 + TOLERANCE:
        return f"{name} has chance {row.chance:.3g} whatever the truth is: it tells nothing and could be left out."
    if row.values > 2:
        return f"{name} takes {row.values} different values and could be split into reports that take two."
    return f"{name} has parity {limit(row.parity)} and could tell more: the design's parity is {limit(parity)}."


# Average security.


def admissible_average_secure(design: Any, phi: float | Fraction | None = None) -> Admissibility:
    """Whether no φ-average secure design tells strictly more; by default φ is the least that holds for the design.

    >>> from maskwell import designs
    >>> admissible_average_secure(designs.average_secure(3, phi=1.5), 1.5).holds
    True
    """
    given = comparable(design, "design")
    farthest = float(given.channel.column_distance)
    reach = farthest if phi is None else float(2 * (fraction(phi, "phi") - 1))
    if phi is not None:
        AverageSecurity(phi)
    if farthest > reach * (1 + TOLERANCE):
        return Admissibility(
            False,
            farthest / reach - 1,
            f"two columns are {figure(farthest)} apart in L1 distance and φ = {figure(1 + reach / 2)} allows "
            f"{figure(reach)}: the design is not average secure.",
        )
    if reach == 0:
        return Admissibility(True, 0.0, "reports do not depend on the truth, and nothing else has φ = 1.")
    rows = list(given.channel.distance_deviations(reach))
    wrong = next((row for row in rows if row.deviation > TOLERANCE), None)
    praise = "the non-zero entries of every report are equal, and its categories are as far apart as φ allows."
    why = praise if wrong is None else _distance_complaint(given, wrong)
    return Admissibility(wrong is None, max(row.deviation for row in rows), why)


def _distance_complaint(given: Comparable, row: DistanceDeviation) -> str:
    name = given.class_name(row.at)
    if row.unequal:
        return f"{name} has unequal non-zero entries."
    return (
        f"{name} joins categories that are nearer to each other than φ allows, by {100 * row.deviation:.3g} % of that "
        "distance: it could be split."
    )
