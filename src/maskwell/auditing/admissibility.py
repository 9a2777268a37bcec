"""Whether a design wastes information: is there one with the same privacy that tells strictly more?

Within parity γ the answer is no, and the design is admissible, exactly if every row takes two values whose ratio is γ
(chai-nayak-2018, Theorems 4.2 and 4.3). Without a bound on parity the direct question beats every other design. Within
φ-average security the rule is another one (nayak-zhai-2019, after Theorem 3.1, completed): all non-zero entries of a
row are equal, and the columns of a row's support hang together by pairs that are as far apart as φ allows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskwell.arithmetic import fraction
from maskwell.auditing.proportional import Sets, complement, ratio, sets_of
from maskwell.auditing.tables import TOLERANCE, as_table
from maskwell.demands import AverageSecurity
from maskwell.designs.base import Design, Matrix, Vector
from maskwell.designs.matrix import MatrixDesign
from maskwell.designs.subsets import SubsetDesign
from maskwell.sampling.plans import TOTAL

_UNITS = 3  # by which rounding to integers moves an entry at most, seen from the other value of its row
_LEAVE_OUT = "it tells nothing and could be left out."


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


class _Row(NamedTuple):
    """How far one row is from the rule, and what is wrong with it."""

    deviation: float
    complaint: str


def admissible(design: Any) -> Admissibility:
    """Whether no design of the same parity tells strictly more; a design, or a table ``P[report, truth]``.

    >>> from maskwell import designs
    >>> admissible(designs.gamma_diagonal(5, epsilon=1)).holds
    True
    >>> admissible(designs.rappor(5, epsilon=1)).why
    'the empty set is reported with chance 0.0567 whatever the truth is: it tells nothing and could be left out.'
    """
    table = None if isinstance(design, SubsetDesign) else as_table(design, "design")
    parity = design.exact_parity() if isinstance(design, Design) else _parity(table)
    if math.isinf(parity):
        return _without_bound(design, table)
    if parity == 1:
        return Admissibility(True, 0.0, "reports do not depend on the truth, and nothing else has parity 1.")
    rows = _size_rows(design, Fraction(parity)) if table is None else _table_rows(design, table, float(parity))
    return _verdict(list(rows), f"every report takes two values with ratio {float(parity):.6g}.")


def _verdict(rows: list[_Row], praise: str) -> Admissibility:
    wrong = next((row for row in rows if row.deviation > TOLERANCE), None)
    slack = max(row.deviation for row in rows)
    return Admissibility(wrong is None, slack, praise if wrong is None else wrong.complaint)


def _parity(table: Matrix | None) -> float:
    assert table is not None
    low, high = table.min(axis=1), table.max(axis=1)
    return math.inf if ((low == 0) & (high > 0)).any() else float((high / np.where(low > 0, low, 1))[high > 0].max())


def _without_bound(design: Any, table: Matrix | None) -> Admissibility:
    """With infinite parity everything is allowed, the direct question included."""
    if table is None:
        sure = all(_sure(design.k, sets) for sets in sets_of(design))
    else:
        sure = bool(((table > 0).sum(axis=1) <= 1).all())
    if sure:
        return Admissibility(True, 0.0, "every report gives the truth away, so nothing can tell more.")
    return Admissibility(
        False, 1.0, "parity is infinite, and without a bound on parity the direct question tells more than any other."
    )


def _sure(k: int, sets: Sets) -> bool:
    return (sets.size == 1 and not sets.outside) or (sets.size == k - 1 and not sets.inside)


def _size_rows(design: SubsetDesign, parity: Fraction) -> Iterator[_Row]:
    k = design.k
    for sets in sets_of(design):
        odds = ratio(k, sets)
        assert odds is not None
        own = max(odds, 1 / odds)
        short = float(1 - own / parity)
        chance = sets.weight / TOTAL
        name = {0: "the empty set", k: "the full set"}.get(sets.size, f"a set of {sets.size} of the {k} categories")
        if own == 1:
            complaint = f"{name} is reported with chance {chance:.3g} whatever the truth is: {_LEAVE_OUT}"
        else:
            complaint = (
                f"{name} has parity {float(own):.6g} and could tell more: the design's parity is {float(parity):.6g}."
            )
        as_near = own > 1 and _nearest_integers(k, sets if odds > 1 else complement(k, sets), parity)
        yield _Row(0.0 if as_near else short, complaint)


def _nearest_integers(k: int, sets: Sets, parity: Fraction) -> bool:
    """Whether moving one unit of weight towards the truth would exceed the parity."""
    if sets.outside <= 1:
        return True
    next_odds = ratio(k, Sets(sets.size, sets.inside + 1, sets.outside - 1))
    return next_odds is None or next_odds > parity


def _table_rows(design: Any, table: Matrix, parity: float) -> Iterator[_Row]:
    present = np.flatnonzero(table.max(axis=1) > 0)
    high = table.max(axis=1, keepdims=True)
    relative = table[present] / high[present]
    middle = np.minimum(1 - relative, relative * parity - 1).max(axis=1)
    short = 1 - 1 / (relative.min(axis=1) * parity)
    unit = _UNITS / TOTAL if isinstance(design, MatrixDesign) and design.total == TOTAL else 0.0
    for at, row in enumerate(present.tolist()):
        own = 1 / float(relative[at].min())
        name = f"report {_label(design, row)}"
        if own <= 1 + TOLERANCE:
            complaint = f"{name} has chance {high[row, 0]:.3g} whatever the truth is: {_LEAVE_OUT}"
        elif short[at] > middle[at] or own < parity * (1 - TOLERANCE):
            complaint = f"{name} has parity {own:.6g} and could tell more: the design's parity is {parity:.6g}."
        else:
            values = len(np.unique(np.round(relative[at], 9)))
            complaint = f"{name} takes {values} different values and could be split into reports that take two."
        deviation = max(float(middle[at]), float(short[at]), 0.0)
        yield _Row(0.0 if deviation * table[row].min() <= unit else deviation, complaint)


def _label(design: Any, row: int) -> str:
    if not isinstance(design, Design):
        return str(row)
    label = design.report_labels()[row]
    return "{" + ", ".join(sorted(map(str, label))) + "}" if isinstance(label, frozenset) else repr(label)


# Average security.


def admissible_average_secure(design: Any, phi: float | Fraction | None = None) -> Admissibility:
    """Whether no φ-average secure design tells strictly more; by default φ is the least that holds for the design.

    >>> from maskwell import designs
    >>> admissible_average_secure(designs.average_secure(3, phi=1.5), 1.5).holds
    True
    """
    farthest = _farthest(design)
    reach = float(farthest) if phi is None else float(2 * (fraction(phi, "phi") - 1))
    if phi is not None:
        AverageSecurity(phi)
    if farthest > reach * (1 + TOLERANCE):
        return Admissibility(
            False,
            farthest / reach - 1,
            f"two columns are {farthest:.6g} apart in L1 distance and φ = {1 + reach / 2:.6g} allows {reach:.6g}: "
            "the design is not average secure.",
        )
    if reach == 0:
        return Admissibility(True, 0.0, "reports do not depend on the truth, and nothing else has φ = 1.")
    rows = _secure_sizes(design, reach) if isinstance(design, SubsetDesign) else _secure_rows(design, reach)
    return _verdict(
        list(rows), "the non-zero entries of every report are equal, and its categories are as far apart as φ allows."
    )


def _farthest(design: Any) -> float:
    if isinstance(design, Design):
        return float(design.column_distance())
    return float(_distances(as_table(design, "design")).max())


def _distances(table: Matrix) -> Matrix:
    return np.array([np.abs(table - column[:, None]).sum(axis=0) for column in table.T])


def _secure_sizes(design: SubsetDesign, reach: float) -> Iterator[_Row]:
    """All pairs of columns are equally far apart."""
    k, gap = design.k, 1 - float(design.column_distance()) / reach
    for sets in sets_of(design):
        odds = ratio(k, sets)
        name = f"a set of {sets.size} of the {k} categories"
        if odds not in (None, 0, 1):
            spread = float(1 - min(odds, 1 / odds))
            yield _Row(spread, f"{name} has unequal non-zero entries.")
        else:
            support = k if odds == 1 else sets.size if odds is None else k - sets.size
            yield _Row(gap if support > 1 else 0.0, f"{name} joins categories that {_too_near(gap)}.")


def _secure_rows(design: Any, reach: float) -> Iterator[_Row]:
    table = as_table(design, "design")
    shortfall = 1 - _distances(table) / reach
    for row in np.flatnonzero(table.max(axis=1) > 0).tolist():
        values = table[row][table[row] > 0]
        name = f"report {_label(design, row)}"
        spread = float(1 - values.min() / values.max())
        if spread > TOLERANCE:
            yield _Row(spread, f"{name} has unequal non-zero entries.")
        else:
            gap = _weakest_link(shortfall[np.ix_(table[row] > 0, table[row] > 0)])
            yield _Row(gap, f"{name} joins categories that {_too_near(gap)}.")


def _too_near(gap: float) -> str:
    return f"are nearer to each other than φ allows, by {100 * gap:.3g} % of that distance: it could be split"


def _weakest_link(shortfall: NDArray[np.float64]) -> float:
    """The least gap at which the columns hang together: the largest edge of a minimum spanning tree."""
    linked = np.zeros(len(shortfall), bool)
    linked[0] = True
    nearest: Vector = shortfall[0].copy()
    worst = 0.0
    while not linked.all():
        at = int(np.argmin(np.where(linked, np.inf, nearest)))
        worst = max(worst, float(nearest[at]))
        linked[at] = True
        nearest = np.minimum(nearest, shortfall[at])
    return worst
