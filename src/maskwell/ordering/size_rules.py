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


@dataclass(frozen=True)
class SizeTransition:
    """A transition matrix between symmetric designs, as moves between sizes; the moves from a size sum to 1."""

    k: int
    moves: tuple[Move, ...]

    def applied_to(self, rows: Iterable[SizeRow]) -> dict[int, tuple[float, float]]:
        """The chances of each size with the truth inside and outside after the moves."""
        start = {row.size: (row.inside / TOTAL, row.outside / TOTAL) for row in rows}
        reached: dict[int, tuple[float, float]] = {}
        for move in self.moves:
            inside, outside = start[move.size]
            kept = inside * held_inside(self.k, move) + outside * held_outside(self.k, move)
            before = reached.get(move.to_size, (0.0, 0.0))
            reached[move.to_size] = (
                before[0] + move.chance * kept,
                before[1] + move.chance * (inside + outside - kept),
            )
        return reached

    def matrix(self, from_sizes: Iterable[int], to_sizes: Iterable[int]) -> Matrix:
        """The transition matrix between the reports of two designs with these sizes, in the order of their tables."""
        old, new = list(from_sizes), list(to_sizes)
        columns, rows = (sum(math.comb(self.k, size) for size in sizes) for sizes in (old, new))
        if rows * columns > MATRIX_CELLS:
            raise DesignError(
                f"C between {columns} and {rows} reports is too large to write out (limit {MATRIX_CELLS} cells); "
                "use transition, which gives it by set size."
            )
        before, after = _members(self.k, old), _members(self.k, new)
        shared = (after @ before.T).astype(int)
        C = np.zeros(shared.shape)
        for size, to_size, t, chance in self.moves:
            block = np.ix_(after.sum(axis=1) == to_size, before.sum(axis=1) == size)
            if t is None:
                C[block] += chance / math.comb(self.k, to_size)
            else:
                C[block] += (shared[block] == t) * (
                    chance / (math.comb(size, t) * math.comb(self.k - size, to_size - t))
                )
        return C


def _members(k: int, sizes: list[int]) -> Matrix:
    """Each set as a row of zeros and ones: by size, then by the number that its bits are."""
    masks = [sorted(sum(1 << j for j in chosen) for chosen in combinations(range(k), size)) for size in sizes]
    return np.array([[mask >> j & 1 for j in range(k)] for of_size in masks for mask in of_size], float)


def held_inside(k: int, move: Move) -> float:
    """The chance that the new set holds a given member of the old one."""
    if move.shared is None:
        return move.to_size / k
    return move.shared / move.size if move.size else 0.0


def held_outside(k: int, move: Move) -> float:
    """The chance that the new set holds a given category that the old one does not."""
    if move.shared is None:
        return move.to_size / k
    return (move.to_size - move.shared) / (k - move.size) if move.size < k else 0.0


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
        members = _members(self.k, list(self.sizes))
        at = [self.sizes.index(int(size)) for size in members.sum(axis=1)]
        return np.where(members == 1, self.inside[at][:, None], self.outside[at][:, None])
