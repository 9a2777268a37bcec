"""The points and hyperplanes of a projective space, as numbers.

With q elements in the field and t dimensions there are ``v = (q^t - 1) / (q - 1)`` points: vectors of t elements whose
first non-zero one is 1. A hyperplane is such a vector too, and holds the points whose inner product with it is 0:
``r`` of them, and ``pair`` of those that hold one point hold another one too. Points are numbered by how many zeros they
begin with and then as numbers to the base q: (1, 0, 0), (1, 0, 1), ..., (0, 1, 0), ..., (0, 0, 1).
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.finite_fields import Elements, field

LARGEST_ORDER = 1 << 16

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
        return (self.q**self.t - 1) // (self.q - 1)

    @property
    def through(self) -> int:
        """r, the hyperplanes through a point, and the points of a hyperplane."""
        return (self.q ** (self.t - 1) - 1) // (self.q - 1)

    @property
    def through_two(self) -> int:
        """λ, the hyperplanes through two points."""
        return (self.q ** (self.t - 2) - 1) // (self.q - 1)

    def vectors(self, points: Any) -> Vectors:
        """The coordinates of points, a row each."""
        left = np.array(points, np.int64)
        rows = np.zeros((*left.shape, self.t), np.int64)
        pending = np.ones(left.shape, np.bool_)
        for zeros in range(self.t):
            size = self.q ** (self.t - 1 - zeros)
            here = pending & (left < size)
            rows[here, zeros] = 1
            rest = left[here]
            for at in range(self.t - 1, zeros, -1):
                rest, rows[here, at] = np.divmod(rest, self.q)
            left = np.where(pending & ~here, left - size, left)
            pending &= ~here
        return rows

    def numbers(self, vectors: Vectors) -> NDArray[np.int64]:
        """The points that rows of coordinates, none of them all 0, are multiples of."""
        zeros = (vectors != 0).argmax(axis=-1)
        lead = np.take_along_axis(vectors, zeros[..., None], axis=-1)
        powers, logarithms = self.tables
        scaled = self._times(vectors, powers[self.q - 1 - logarithms[lead]])
        sizes = self.q ** np.arange(self.t - 1, -1, -1, dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        # As a number to the base q the vector begins with its 1, which the offset already counts.
        number: NDArray[np.int64] = scaled @ sizes - sizes[zeros] + offsets[zeros]
        return number

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
    """Whether q is a prime or a power of two within limits, so that elements are added in one operation."""
    return 2 <= q <= LARGEST_ORDER and (q & (q - 1) == 0 or all(q % d for d in range(2, math.isqrt(q) + 1)))
