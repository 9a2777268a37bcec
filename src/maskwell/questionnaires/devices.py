"""Things that draw lots in a respondent's hand, and whether they can draw with the chances of a design.

A device has a whole number of equal parts, so that its chances are exact: cards in a pack, parts of a spinner, faces of
a die. What it cannot give exactly it does not give at all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, combinations, pairwise
from typing import Literal

from maskwell.results.numbers import FLOAT_ERROR

Kind = Literal["cards", "spinner", "die"]

MOST_PARTS: Mapping[Kind, int] = {"cards": 100, "spinner": 360, "die": 36}
"""The most equal parts that people can handle: a pack that can be shuffled, degrees of a circle, faces of two dice."""
# A smaller pack would be shuffled badly.
_FEWEST_CARDS = 10
_FACES = range(1, 7)
# How many of the 36 pairs of faces have each sum.
_SUMS = {total: 6 - abs(total - 7) for total in range(2, 13)}

Chances = Mapping[str, Fraction]
"""What can come up, and how often."""


@dataclass(frozen=True)
class Part:
    """One thing that can come up: on how many of the equal parts and, on dice, with which numbers."""

    outcome: str
    count: int
    faces: tuple[int, ...] = ()


@dataclass(frozen=True)
class Device:
    """A pack of cards, a spinner, or dice."""

    kind: Kind
    base: int
    """The number of equal parts."""
    parts: tuple[Part, ...]
    dice: int = 0

    @property
    def chances(self) -> dict[str, Fraction]:
        """The exact chance of everything that can come up."""
        return {part.outcome: Fraction(part.count, self.base) for part in self.parts}


def device(kind: Kind, chances: Chances) -> Device | None:
    """The device with these chances; None if there is none of this kind.

    >>> device("cards", {"truth": Fraction(3, 4), "say yes": Fraction(1, 4)}).parts
    (Part(outcome='truth', count=9, faces=()), Part(outcome='say yes', count=3, faces=()))
    >>> device("spinner", {"truth": Fraction(1, 1000), "say yes": Fraction(999, 1000)}) is None
    True
    """
    simple = {outcome: chance.limit_denominator(MOST_PARTS[kind]) for outcome, chance in chances.items()}
    near = all(abs(simple[outcome] - chance) <= FLOAT_ERROR for outcome, chance in chances.items())
    if not near or sum(simple.values()) != 1 or sum(chance > 0 for chance in simple.values()) < 2:
        return None
    drawn = {outcome: chance for outcome, chance in simple.items() if chance}
    if kind == "die":
        return _dice(drawn)
    least = math.lcm(*(chance.denominator for chance in drawn.values()))
    base = least * (-(-_FEWEST_CARDS // least) if kind == "cards" else 1)
    if base > MOST_PARTS[kind]:
        return None
    return Device(kind, base, tuple(Part(outcome, int(chance * base)) for outcome, chance in drawn.items()))


def _dice(chances: Chances) -> Device | None:
    """One die, or the sum of two; the last outcome gets the numbers that are left."""
    counts = [chance * len(_FACES) for chance in chances.values()]
    if all(count.denominator == 1 for count in counts):
        ends = accumulate((int(count) for count in counts), initial=0)
        faces = [tuple(_FACES[low:high]) for low, high in pairwise(ends)]
        return _of_faces(chances, faces, 1)
    *forced, _ = chances.values()
    outer = _outer_sums(forced)
    if outer is not None:
        return _of_faces(chances, [*outer, _rest(outer)], 2)
    sums = _any_sums([chance * 36 for chance in forced], tuple(_SUMS))
    return None if sums is None else _of_faces(chances, sums, 2)


def _outer_sums(forced: Sequence[Fraction]) -> list[tuple[int, ...]] | None:
    """The lowest sums for the first outcome and the highest for the second, as people remember best."""
    low = _run(forced[0], list(_SUMS))
    high = _run(forced[1], list(reversed(_SUMS))) if len(forced) == 2 else ()
    if low is None or high is None or len(forced) > 2:
        return None
    return [low, *([high] if len(forced) == 2 else [])]


def _rest(taken: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(total for total in _SUMS if not any(total in own for own in taken))


def _any_sums(counts: Sequence[Fraction], free: tuple[int, ...]) -> list[tuple[int, ...]] | None:
    """Sums for each outcome that come up as often as it must, as few as possible each, and what is left for the last.

    >>> _any_sums([Fraction(3)] * 4, tuple(_SUMS))
    [(4,), (10,), (2, 3), (11, 12), (5, 6, 7, 8, 9)]
    """
    if not counts:
        return [free] if free else None
    for size in range(1, len(free) + 1):
        for own in combinations(free, size):
            if sum(_SUMS[total] for total in own) != counts[0]:
                continue
            others = _any_sums(counts[1:], tuple(total for total in free if total not in own))
            if others is not None:
                return [own, *others]
    return None


def _run(chance: Fraction, sums: Sequence[int]) -> tuple[int, ...] | None:
    """The sums from one end that have a chance together."""
    for length, pairs in enumerate(accumulate(_SUMS[total] for total in sums), start=1):
        if Fraction(pairs, 36) == chance:
            return tuple(sorted(sums[:length]))
    return None


def _of_faces(chances: Chances, faces: Sequence[tuple[int, ...]], dice: int) -> Device:
    weight = dict.fromkeys(_FACES, 1) if dice == 1 else _SUMS
    parts = [Part(outcome, sum(weight[face] for face in own), own) for outcome, own in zip(chances, faces, strict=True)]
    return Device("die", len(_FACES) ** dice, tuple(parts), dice)
