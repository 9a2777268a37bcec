"""Randomisation rules and bets that treat all categories alike, written by set size instead of set by set."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from maskwell.designs.base import Matrix, Vector
from maskwell.designs.channels import SizeRow
from maskwell.errors import DesignError
from maskwell.limits import MATRIX_CELLS
from maskwell.sampling.samplers import TOTAL


class Move(NamedTuple):
    """From a set of ``size`` to one of ``to_size`` with ``shared`` members in common; None: to any set of that size."""

    size: int
    to_size: int
    shared: int | None
    chance: float

    def holds(self, k: int) -> tuple[float, float]:
        """The chances that the new set holds a given member of the old one, and a given category outside the old."""
        if self.shared is None:
            return self.to_size / k, self.to_size / k
        inside = self.shared / self.size if self.size else 0.0
        return inside, (self.to_size - self.shared) / (k - self.size) if self.size < k else 0.0


@dataclass(frozen=True)
class SizeTransition:
    """A transition matrix between symmetric designs, as moves between sizes; the moves from a size sum to 1."""

    k: int
    sizes: tuple[int, ...]
    to_sizes: tuple[int, ...]
    moves: tuple[Move, ...]

    def applied_to(self, rows: Iterable[SizeRow]) -> dict[int, tuple[float, float]]:
        """The chances of each size with the truth inside and outside after the moves."""
        start = {row.size: (row.inside / TOTAL, row.outside / TOTAL) for row in rows}
        reached = dict.fromkeys(self.to_sizes, (0.0, 0.0))
        for move in self.moves:
            (inside, outside), (held, taken) = start[move.size], move.holds(self.k)
            kept = inside * held + outside * taken
            before, chance = reached[move.to_size], move.chance
            reached[move.to_size] = (before[0] + chance * kept, before[1] + chance * (inside + outside - kept))
        return reached

    def matrix(self) -> Matrix:
        """The transition matrix between the reports of both designs, in the order of their tables."""
        columns, rows = (sum(math.comb(self.k, size) for size in sizes) for sizes in (self.sizes, self.to_sizes))
        if rows * columns > MATRIX_CELLS:
            raise DesignError(
                f"C between {columns} and {rows} reports is too large to write out (limit {MATRIX_CELLS} cells); "
                "use transition, which gives it by set size."
            )
        before, after = _members(self.k, self.sizes), _members(self.k, self.to_sizes)
        shared = (after @ before.T).astype(int)
        C = np.zeros(shared.shape)
        for size, to_size, t, chance in self.moves:
            block = np.ix_(after.sum(axis=1) == to_size, before.sum(axis=1) == size)
            if t is None:
                C[block] += chance / math.comb(self.k, to_size)
            else:
                alike = math.comb(size, t) * math.comb(self.k - size, to_size - t)
                C[block] += (shared[block] == t) * (chance / alike)
        return C


def _members(k: int, sizes: tuple[int, ...]) -> Matrix:
    """Each set as a row of zeros and ones: by size, then by the number that its bits are."""
    masks = [sorted(sum(1 << j for j in chosen) for chosen in combinations(range(k), size)) for size in sizes]
    return np.array([[mask >> j & 1 for j in range(k)] for of_size in masks for mask in of_size], float)


@dataclass(frozen=True)
class SizeBet:
    """Payoffs for naming a set of a size that holds the truth (``inside``), and one that does not."""

    k: int
    sizes: tuple[int, ...]
    inside: Vector
    outside: Vector

    def matrix(self) -> Matrix:
        """Payoffs by set and true category, sets in the order of the design's table."""
        if sum(math.comb(self.k, size) for size in self.sizes) * self.k > MATRIX_CELLS:
            raise DesignError(f"payoffs for sets of {self.k} categories are too large to write out; use bet instead.")
        members = _members(self.k, self.sizes)
        at = [self.sizes.index(int(size)) for size in members.sum(axis=1)]
        return np.where(members == 1, self.inside[at][:, None], self.outside[at][:, None])
