r"""Leakage of symmetric channels, in closed form for thousands of categories.

Per size s, write A and B for the chance of a set that holds, or does not hold, the truth, relative to the set's
chance under a uniform prior: :math:`A = k\,in_s/(s\,w_s)`, :math:`B = k\,out_s/((k-s)\,w_s)` with
:math:`w_s = in_s + out_s`. Then

- without a prior the best guess is right with chance :math:`\sum_s \max(in_s/s, out_s/(k-s))` and the mutual
  information, which is also the capacity, is :math:`\sum_s in_s \log A + out_s \log B`;
- with a prior the best guess depends on the most likely member and non-member only, so that sets are counted by the
  rank of their first member;
- a prior w lowers the mutual information by :math:`\sum_s w_s E[x \log x]`, where :math:`x = B + (A-B)\,w(z)` and z
  is a set of size s drawn uniformly (``subset_sums``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from maskwell.designs.channels.leakage.leakage import Enclosure
from maskwell.designs.channels.leakage.subset_sums import SubsetSums
from maskwell.designs.channels.numbers import Vector
from maskwell.designs.channels.rows import SizeRow
from maskwell.sampling.samplers import TOTAL


class Size(NamedTuple):
    """One set size: its members, the chances of a set with and without the truth, and A and B."""

    s: int
    inside: float
    outside: float
    member: float
    other: float

    @property
    def share(self) -> float:
        """The chance of a set of this size."""
        return self.inside + self.outside


@dataclass(frozen=True)
class SizeLeakage:
    """Leakage of a symmetric channel; ``weights`` None means all categories alike."""

    k: int
    rows: tuple[SizeRow, ...]
    weights: Vector | None

    @cached_property
    def _sizes(self) -> list[Size]:
        return [Size(row.size, row.inside / TOTAL, row.outside / TOTAL, *row.relative(self.k)) for row in self.rows]

    @cached_property
    def _falling(self) -> Vector:
        """The prior weights, the largest first."""
        k = self.k
        return np.full(k, 1 / k) if self.weights is None else np.sort(self.weights)[::-1]

    def size(self) -> float:
        # A set and its complement are the same to a reader; only sizes with one of the two chances zero rule out.
        k = self.k
        alike = float(self._falling @ self._falling)
        ruled_out = []
        for size in self._sizes:
            if not 0 < size.s < k or (size.inside and size.outside):
                continue
            possible = size.s if size.inside else k - size.s
            ruled_out.append(size.share * (1 - alike) * (k - possible) / (k - 1))
        return math.fsum(ruled_out)

    def prediction(self) -> Fraction | float:
        k = self.k
        if self.weights is None:
            best = [
                max(Fraction(i, s) if s else Fraction(0), Fraction(o, k - s) if s < k else Fraction(0))
                for s, i, o in self.rows
            ]
            return sum(best, Fraction(0)) / TOTAL
        return math.fsum(self._best_guess(size) for size in self._sizes)

    def _best_guess(self, size: Size) -> float:
        """The chance of a set of this size and a right guess from it.

        Members are at least as likely as the rest, or the complement is looked at instead. If the most likely
        category is in the set it is the guess; otherwise it competes with the first member, whose rank is i with
        chance ``C(k-i, s-1) / C(k-1, s-1)`` relative to rank 1.
        """
        k, w = self.k, self._falling
        s, inside, member, other = size.s, size.inside, size.member, size.other
        if not 0 < s < k:
            return size.share * float(w[0])
        if member < other:
            s, inside, member, other = k - s, size.outside, other, member
        rank = np.arange(1, k - s + 1)
        chance = np.append(1.0, np.cumprod((k - rank - s + 1) / (k - rank)))
        guess = np.maximum(w[: k - s + 1], np.append(0.0, np.full(k - s, w[0] * other / member)))
        return inside * float(chance @ guess)

    def mutual_information(self) -> Enclosure:
        without = self.capacity().upper
        if self.weights is None:
            return Enclosure(without, without)
        sizes = [size for size in self._sizes if 0 < size.s < self.k]
        known = SubsetSums(self._falling).entropy_terms([(z.s, z.other, z.member - z.other) for z in sizes])
        low, high = (
            math.fsum(size.share * part for size, part in zip(sizes, parts, strict=True)) / math.log(2)
            for parts in zip(*known, strict=True)
        )
        return Enclosure(max(0.0, without - high), max(0.0, without - low))

    def capacity(self) -> Enclosure:
        """At the uniform prior: relabelling changes nothing and mutual information is concave in the prior."""
        terms = [
            chance * math.log2(ratio)
            for size in self._sizes
            for chance, ratio in ((size.inside, size.member), (size.outside, size.other))
            if chance
        ]
        value = max(0.0, math.fsum(terms))
        return Enclosure(value, value)

    def largest_posterior(self) -> float:
        """The likeliest category among the least likely others, on the likelier side of a set."""
        k, w = self.k, self._falling
        best = float(w[0])
        lightest = np.append(0.0, np.cumsum(w[::-1]))
        for size in self._sizes:
            if 0 < size.s < k:
                s, member, other = size.s, size.member, size.other
                if member < other:
                    s, member, other = k - s, other, member
                beside = float(lightest[s - 1])
                rest = max(0.0, 1 - float(w[0]) - beside)
                best = max(best, member * float(w[0]) / (member * (float(w[0]) + beside) + other * rest))
        return min(best, 1.0)
