r"""The corners of what differential privacy allows, for matrices that keep a category or move it anywhere else alike.

Category j stays with chance q_j and moves to each of the other S - 1 with chance r_j = (1 - q_j) / (S - 1). Parity at
most g then asks, for every two categories (ayed-2020, eq. 10), that

.. math:: q_j \le g\,r_k, \qquad r_k \le g\,q_j, \qquad r_k \le g\,r_j \text{ (from three categories on)}.

Only the two smallest and the two largest r can bind. With the smallest, x, and the largest, y, given, all others are
free between two limits that are piecewise linear in x and in y; a convex function is therefore largest where the
others are at one of the limits and (x, y) at a corner of a polygon. That leaves the few families below, for every S
and g. They hold every corner, and some points between corners that are feasible too. The list in Proposition 3.2 of
the paper is complete exactly for g at most S - 2; beyond, the last of the three limits cuts v_max off.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class Chance(NamedTuple):
    """A chance of staying, and what it is called."""

    name: str
    stay: Fraction


@dataclass(frozen=True)
class Family:
    """Vertices alike: each category stays with a ``common`` chance, except one category per ``single`` chance."""

    common: tuple[Chance, ...]
    single: tuple[Chance, ...] = ()

    @property
    def chances(self) -> tuple[Chance, ...]:
        """Every chance that the family uses, those of one category outermost."""
        return self.single[:1] + self.common + self.single[1:]

    @property
    def single_positions(self) -> tuple[int, ...]:
        """Where among the chances those of one category stand."""
        return (0, len(self.chances) - 1)[: len(self.single)]

    def choices(self, size: int) -> Iterator[tuple[int, ...]]:
        """Each vertex, as the position of every category's chance in ``chances``."""
        shared = [i for i in range(len(self.chances)) if i not in self.single_positions]
        for places in itertools.permutations(range(size), len(self.single)):
            alone = dict(zip(places, self.single_positions, strict=True))
            yield from itertools.product(*([alone[k]] if k in alone else shared for k in range(size)))

    def describe(self, choice: Iterable[int]) -> str:
        """How many categories stay with which chance."""
        count = Counter(choice)
        if len(count) == 1:
            return f"{self.chances[next(iter(count))].name} for all"
        return ", ".join(f"{self.chances[i].name} for {n}" for i, n in count.most_common())


def v(size: int, parity: Fraction) -> Fraction:
    """The chance of staying when every category has the same: v_α for parity e^α, v_-α for its inverse."""
    return parity / (parity + size - 1)


def v_min(size: int, parity: Fraction) -> Fraction:
    """The least chance of staying: one category may have it while all others have v_α."""
    return 1 / (parity * (parity + size - 1))


def v_max(size: int, parity: Fraction) -> Fraction:
    """The largest chance of staying where parity is at most S - 2: one category may have it, all others have v_-α."""
    return parity / (1 / parity + size - 1)


def families(size: int, parity: Fraction) -> list[Family]:
    """Every vertex for this many categories and this parity, by family."""
    n = size - 1
    high, low = Chance("v_α", v(size, parity)), Chance("v_-α", v(size, 1 / parity))
    found = [Family((high, low))]
    if size == 2:
        # The two further vertices report the same whatever the truth, and tell nothing.
        return found
    found.append(Family((high,), (Chance("v_min", v_min(size, parity)),)))
    if parity <= size - 2:
        return [*found, Family((low,), (Chance("v_max", v_max(size, parity)),))]

    def stay(off: Fraction) -> Chance:
        return Chance(f"{float(1 - n * off):.6g}", 1 - n * off)

    # From here on in terms of r. The two smallest must satisfy large * r1 + small * r2 >= 1.
    large, small = max(parity, Fraction(n)), min(parity, Fraction(n))
    top = (1 - low.stay) / n
    least = 1 / (large + parity * small)
    pair = (parity * small - 1) / (parity**2 * n * small - large)
    return [
        *found,
        Family((stay((1 - large * top / parity) / small), low), (stay(top / parity),)),
        Family((stay(parity * least),), (stay(least),)),
        Family((stay((1 - large * pair) / small),), (stay(pair), stay(parity * pair))),
    ]


def all_vertices(size: int, parity: Fraction) -> Iterator[tuple[Family, tuple[int, ...]]]:
    """Every vertex, as its family and choice; their number grows like S·2^S."""
    for family in families(size, parity):
        for choice in family.choices(size):
            yield family, choice


def excess(chances: Iterable[Chance], size: int) -> Vector:
    """How far r lies from 1/S, as a share of it: S·r - 1 for each chance of staying, from exact numbers."""
    return np.array([float((1 - size * chance.stay) / (size - 1)) for chance in chances])
