"""Which designs a respondent can carry out, and with which chances of what.

The chances are recovered from the design's exact matrix, so that what is printed is what is done.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from maskwell.designs.base import Design
from maskwell.designs.named.binary import crosswise, forced_response, kuk, unrelated_question, warner
from maskwell.errors import DesignError
from maskwell.questionnaires.devices import Chances, Kind
from maskwell.results.numbers import FLOAT_ERROR

Name = Literal["warner", "forced", "unrelated", "crosswise", "kuk"]
Rows = tuple[tuple[Fraction, ...], ...]
Packs = tuple[Chances, ...]

TRUTH = "truth"
_SIMPLE = 10**6


@dataclass(frozen=True)
class Procedure:
    """What a respondent does: draws from none, one or two devices, and says what follows from it and the truth."""

    name: Name
    packs: Packs
    devices: tuple[Kind, ...]
    build: Callable[[Packs], Design]
    """The design that other chances give."""
    coarser: Callable[[int], Packs | None]
    """Chances out of a number of equal parts, rounded towards privacy; None if nothing would be left to estimate."""
    innocuous: Fraction | None = field(default=None)
    """The share of people who answer yes to the harmless question, if there is one."""


def procedure(design: Design) -> Procedure:
    """The procedure of a design; an error for one that nobody can carry out by hand."""
    recognised = _BY_NAME.get(design.name, _forced) if design.k == 2 else _forced
    matrix = design.small_matrix()
    rows: Rows | None = None if matrix is None else tuple(tuple(row) for row in matrix)
    found = None if rows is None or design.variables else recognised(design, rows)
    if found is None:
        raise DesignError(
            f"{design.title} is no procedure that a respondent carries out by hand; take warner, forced_response, "
            "unrelated_question, crosswise, kuk or a small gamma_diagonal, or let the respondent's own device mask "
            "(mask.js).",
            parameter="design",
        )
    return found


def _warner(design: Design, rows: Rows) -> Procedure | None:
    p = rows[0][0]

    def packs(chance: Fraction) -> Packs:
        return ({"statement": chance, "negation": 1 - chance},)

    def coarser(base: int) -> Packs | None:
        chance = _towards(p, Fraction(1, 2), base)
        return None if 2 * chance == 1 or chance in (0, 1) else packs(chance)

    def build(given: Packs) -> Design:
        return warner(design.categories, truth_prob=given[0]["statement"])

    return None if p in (0, 1) else Procedure("warner", packs(p), ("spinner", "cards"), build, coarser)


def _forced(design: Design, rows: Rows) -> Procedure | None:
    """Chance tells some people what to say, and the others to tell the truth: so are many designs, k-ary ones too."""
    order = design.truthful_rows()
    if order is None:
        return None
    orders: list[Fraction] = []
    for truth, row in enumerate(order):
        others = {chance for j, chance in enumerate(rows[row]) if j != truth}
        if max(others) - min(others) > FLOAT_ERROR:
            return None
        orders.append(min(others))
    if sum(orders) in (0, 1) or sum(orders) > 1:
        return None

    def packs(chances: Sequence[Fraction]) -> Packs:
        forced = {f"say {j}": chance for j, chance in enumerate(chances) if chance}
        return ({**forced, TRUTH: 1 - sum(chances, Fraction(0))},)

    def coarser(base: int) -> Packs | None:
        chances = [Fraction(math.ceil((chance - FLOAT_ERROR) * base), base) for chance in orders]
        return packs(chances) if sum(chances) < 1 else None

    def build(given: Packs) -> Design:
        chances = [given[0].get(f"say {j}", Fraction(0)) for j in range(design.k)]
        if design.k == 2:
            return forced_response(design.categories, yes_prob=chances[0], no_prob=chances[1])
        return forced_response(design.categories, forced=chances)

    return Procedure("forced", packs(orders), ("cards", "die", "spinner"), build, coarser)


def _unrelated(design: Design, rows: Rows) -> Procedure | None:
    s = rows[0][0] - rows[0][1]
    if not 0 < s < 1:
        return None
    yes = (rows[0][1] / (1 - s)).limit_denominator(_SIMPLE)

    def packs(chance: Fraction) -> Packs:
        return ({"survey": chance, "innocuous": 1 - chance},)

    def coarser(base: int) -> Packs | None:
        chance = _towards(s, Fraction(0), base)
        return packs(chance) if 0 < chance < 1 else None

    def build(given: Packs) -> Design:
        return unrelated_question(design.categories, sensitive_prob=given[0]["survey"], innocuous_yes=yes)

    return Procedure("unrelated", packs(s), ("cards", "spinner"), build, coarser, yes)


def _crosswise(design: Design, rows: Rows) -> Procedure | None:
    share = rows[0][0].limit_denominator(_SIMPLE)
    return Procedure(
        "crosswise",
        (),
        (),
        lambda given: crosswise(design.categories, innocuous_prob=share),
        lambda base: (),
        share,
    )


def _kuk(design: Design, rows: Rows) -> Procedure | None:
    draws = len(rows) - 1
    red = [sum((count * row[j] for count, row in enumerate(rows)), Fraction(0)) / draws for j in (0, 1)]

    def packs(chances: Sequence[Fraction]) -> Packs:
        return tuple({"red": chance, "black": 1 - chance} for chance in chances)

    def coarser(base: int) -> Packs | None:
        # Each towards the other.
        chances = [_towards(red[0], red[1], base), _towards(red[1], red[0], base)]
        same_order = (chances[0] - chances[1]) * (red[0] - red[1]) > 0
        return packs(chances) if same_order and all(0 < chance < 1 for chance in chances) else None

    def build(given: Packs) -> Design:
        return kuk(design.categories, red_if_yes=given[0]["red"], red_if_no=given[1]["red"], draws=draws)

    return Procedure("kuk", packs(red), ("cards",), build, coarser)


def _towards(chance: Fraction, end: Fraction, base: int) -> Fraction:
    """The multiple of one part that is nearest to a chance, on the side of ``end``; what a float is off is forgiven."""
    if chance > end:
        return Fraction(math.floor((chance + FLOAT_ERROR) * base), base)
    return Fraction(math.ceil((chance - FLOAT_ERROR) * base), base)


_BY_NAME: dict[str, Callable[[Design, Rows], Procedure | None]] = {
    "warner": _warner,
    "unrelated_question": _unrelated,
    "crosswise": _crosswise,
    "kuk": _kuk,
}
