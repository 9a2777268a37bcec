"""The points and hyperplanes of a projective space, as numbers.

With q elements in the field and t dimensions there are ``v = (q^t - 1) / (q - 1)`` points: vectors of t elements whose
first non-zero one is 1. A hyperplane is such a vector too, and holds the points whose inner product with it is 0:
``r`` of them. Points are numbered as numbers to the base q among those that begin with as many zeros, the most zeros
first: (0, 0, 1), (0, 1, 0), (0, 1, 1), ..., (1, 0, 0), .... With more points than the next smaller space has, every
hyperplane then holds some of them and not all.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.blocks.finite_fields import Elements, field

LARGEST_ORDER, LARGEST_BINARY_ORDER = 65521, 4096

Vectors = NDArray[np.int64]


@dataclass(frozen=True)
class Space:
    """Dimension ``t`` over the field with ``q`` elements."""

    q: int
    t: int

    @cached_property
    def tables(self) -> tuple[Elements, Elements]:
        """The powers of a generator of the field, twice over, and the logarithms of the elements."""
        of = field(self.q)
        return np.concatenate([of.powers, of.powers]), of.logarithms

    @property
    def points(self) -> int:
        """v, the points, and the hyperplanes."""
        return int((self.q**self.t - 1) // (self.q - 1))

    @property
    def through(self) -> int:
        """r, the hyperplanes through a point, and the points of a hyperplane."""
        return Space(self.q, self.t - 1).points

    @property
    def through_two(self) -> int:
        """λ, the hyperplanes through two points."""
        return Space(self.q, self.t - 2).points

    def vectors(self, points: Any) -> Vectors:
        """The coordinates of points, a row each."""
        numbers = np.asarray(points, np.int64)
        free = np.searchsorted(self._offsets, numbers, side="right") - 1  # coordinates after the leading 1
        rest = numbers - self._offsets[free]
        rows = np.zeros((*numbers.shape, self.t), np.int64)
        for at in range(self.t - 1, -1, -1):
            after = self.t - 1 - at
            rows[..., at] = np.where(after < free, rest % self.q, after == free)
            rest = rest // self.q
        return rows

    def numbers(self, vectors: Vectors) -> NDArray[np.int64]:
        """The points that rows of coordinates, none of them all 0, are multiples of."""
        zeros = (vectors != 0).argmax(axis=-1)
        lead = np.take_along_axis(vectors, zeros[..., None], axis=-1)
        powers, logarithms = self.tables
        scaled = self._times(vectors, powers[self.q - 1 - logarithms[lead]])
        places = self.q ** np.arange(self.t - 1, -1, -1, dtype=np.int64)
        # As a number to the base q the vector begins with its 1, which the offset stands for.
        return np.asarray(scaled @ places - places[zeros] + self._offsets[self.t - 1 - zeros])

    @cached_property
    def _offsets(self) -> Elements:
        """The first number with so many coordinates after the leading 1."""
        return np.array([(self.q**free - 1) // (self.q - 1) for free in range(self.t)], np.int64)

    def incidence(self, k: int) -> NDArray[np.bool_]:
        """Hyperplane by hyperplane, which of the first k points it holds; only where that is small."""
        return self.holds(np.arange(self.points), k)

    def holds(self, hyperplanes: NDArray[Any], k: int) -> NDArray[np.bool_]:
        """Which of the first k points each of some hyperplanes holds."""
        return self._incident(self.vectors(hyperplanes)[:, None], self.vectors(np.arange(k))[None])

    def holds_point(self, hyperplanes: NDArray[Any], point: int) -> NDArray[np.bool_]:
        """Which of some hyperplanes hold one point."""
        return self._incident(self.vectors(hyperplanes), self.vectors(np.array([point])))

    def _incident(self, a: Vectors, b: Vectors) -> NDArray[np.bool_]:
        """Whether the inner product of two vectors is 0; one coordinate at a time, which bounds the memory."""
        inner: Any = np.int64(0)
        for at in range(self.t):
            term = self._times(a[..., at], b[..., at])
            inner = inner ^ term if self.q & (self.q - 1) == 0 else (inner + term) % self.q
        return np.asarray(inner == 0)

    def _times(self, a: Vectors, b: Vectors) -> Vectors:
        powers, logarithms = self.tables
        return np.where((a == 0) | (b == 0), 0, powers[logarithms[a] + logarithms[b]])


def is_order(q: int) -> bool:
    """Whether q is a prime or a power of two within limits.

    Other prime powers would do as well, but their elements are not added in one operation, and a neighbour is as good.
    """
    if q & (q - 1) == 0:
        return 2 <= q <= LARGEST_BINARY_ORDER
    return 2 < q <= LARGEST_ORDER and all(q % divisor for divisor in range(2, math.isqrt(q) + 1))
