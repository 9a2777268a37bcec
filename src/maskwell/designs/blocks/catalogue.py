"""The catalogue of balanced block designs: which exist by construction, with how many points, blocks and members.

An entry is parameters and a recipe; nothing is built before it is asked for. Notation: v points, b blocks, each point
in r blocks, blocks of q points, each pair of points in λ blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.blocks import constructions as build
from maskwell.designs.blocks.constructions import Members
from maskwell.designs.blocks.finite_fields import prime_powers


@dataclass(frozen=True)
class BlockEntry:
    """A balanced block design that can be built."""

    name: str
    v: int
    b: int
    q: int
    recipe: Callable[[], Members]

    @property
    def r(self) -> int:
        """In how many blocks each point lies."""
        return self.b * self.q // self.v

    @property
    def balance(self) -> int:
        """λ: in how many blocks each pair of points lies."""
        return self.r * (self.q - 1) // (self.v - 1)

    @property
    def parameters(self) -> tuple[int, int, int, int, int]:
        """(v, b, r, q, λ)."""
        return self.v, self.b, self.r, self.q, self.balance

    @property
    def symmetric(self) -> bool:
        """As many blocks as points: the fewest that a balanced design can have."""
        return self.b == self.v

    def members(self) -> Members:
        """The blocks: ``members[block, point]``."""
        return self.recipe()


def catalogue(most: int, least: int = 2, most_blocks: int = 10_000) -> list[BlockEntry]:
    """Every entry with ``least`` to ``most`` points and up to ``most_blocks`` blocks, by points, size and blocks.

    >>> [entry.name for entry in catalogue(7, 7) if entry.parameters == (7, 7, 3, 3, 1)]
    ['projective plane of order 2', 'squares in GF(7)', 'Hadamard design of order 8']
    """
    # A residual or derived design may have half the points of the one that it comes from.
    large = [entry for entry in _symmetric(2 * most + 1) if entry.q < entry.v - 1]
    plain = [*_trivial(least, most), *large, *_residuals(large, most), *_halves(most)]
    within = [entry for entry in plain if least <= entry.v <= most and entry.b <= most_blocks]
    complements = [_complement(entry) for entry in within if entry.v > 2]
    # The complement of a union of cosets is another one.
    listed = [*within, *complements, *_cosets(least, most, most_blocks)]
    return sorted(listed, key=lambda entry: (entry.v, entry.q, entry.b))


def fewest_blocks(entries: Iterable[BlockEntry]) -> list[BlockEntry]:
    """Of the entries with the same points and block size, which are equally precise, one with the fewest blocks."""
    best: dict[tuple[int, int], BlockEntry] = {}
    for entry in entries:
        known = best.setdefault((entry.v, entry.q), entry)
        if entry.b < known.b:
            best[entry.v, entry.q] = entry
    return list(best.values())


def _trivial(least: int, most: int) -> Iterator[BlockEntry]:
    for v in range(least, most + 1):
        yield BlockEntry("every point", v, v, 1, partial(build.singletons, v))
        if v > 3:
            yield BlockEntry("every pair", v, v * (v - 1) // 2, 2, partial(build.pairs, v))


def _symmetric(most: int) -> Iterator[BlockEntry]:
    """Designs with as many blocks as points."""
    yield from _projective(most)
    powers = prime_powers(most)
    for v in powers:
        if v % 4 == 3 and v > 3:
            yield BlockEntry(f"squares in GF({v})", v, v, (v - 1) // 2, partial(build.squares, v))
    for p, shift in ((p, shift) for p in powers if powers[p] == p for shift in (1, 9)):
        x = isqrt(max(p - shift, 0) // 4)
        if 4 * x * x + shift == p and x % 2 and p > 13:
            recipe = partial(build.fourth_powers, p, shift == 9)
            name = f"fourth powers modulo {p}{' and zero' if shift == 9 else ''}"
            yield BlockEntry(name, p, p, (p - 1) // 4 + (shift == 9), recipe)
    for q in powers:
        if q > 2 and q + 2 in powers and q * (q + 2) <= most and q % 2:
            v = q * (q + 2)
            recipe = partial(build.twin_prime_powers, q)
            yield BlockEntry(f"twin prime powers {q} and {q + 2}", v, v, (v - 1) // 2, recipe)
    m = 2
    while 4**m <= most:
        size = 2 ** (2 * m - 1) - 2 ** (m - 1)
        yield BlockEntry(f"bent function of {2 * m} bits", 4**m, 4**m, size, partial(build.bent, m))
        m += 1
    for order in hadamard_orders(most + 1):
        if order > 4:
            recipe = partial(_from_hadamard, build.hadamard_design, order)
            yield BlockEntry(f"Hadamard design of order {order}", order - 1, order - 1, order // 2 - 1, recipe)


def _projective(most: int) -> Iterator[BlockEntry]:
    for q in prime_powers(isqrt(most)):
        dimension = 2
        while (v := (q ** (dimension + 1) - 1) // (q - 1)) <= most:
            space = f"projective plane of order {q}" if dimension == 2 else f"projective space PG({dimension},{q})"
            yield BlockEntry(space, v, v, (q**dimension - 1) // (q - 1), partial(build.hyperplanes, dimension, q))
            dimension += 1


def _residuals(entries: Iterable[BlockEntry], most: int) -> Iterator[BlockEntry]:
    """The two parts of a symmetric design, on the points outside one block and on those inside it."""
    for entry in entries:
        v, q, balance = entry.v, entry.q, entry.balance
        if v - q <= most and q - balance < v - q:
            name = entry.name.replace("projective", "affine").replace("PG(", "AG(")
            if name == entry.name:
                name = f"residual of {entry.name}"
            yield BlockEntry(name, v - q, v - 1, q - balance, partial(_apply, build.residual, entry.recipe))
        if q <= most and balance > 1:
            name = f"derived from {entry.name}"
            yield BlockEntry(name, q, v - 1, balance, partial(_apply, build.derived, entry.recipe))


def _halves(most: int) -> Iterator[BlockEntry]:
    for order in hadamard_orders(most):
        if order > 2:
            recipe = partial(_from_hadamard, build.hadamard_halves, order)
            yield BlockEntry(f"halves by a Hadamard matrix of order {order}", order, 2 * order - 2, order // 2, recipe)


def _cosets(least: int, most: int, most_blocks: int) -> Iterator[BlockEntry]:
    """For every size, the largest subgroup whose cosets make it up: its order divides the number of blocks."""
    for v in (power for power in prime_powers(most) if power >= max(least, 5)):
        largest: dict[int, tuple[int, bool]] = {}
        for order in (h for h in range(1, v - 1) if (v - 1) % h == 0 and v * (v - 1) <= most_blocks * h):
            for with_zero in (False, True):
                for size in range(order + with_zero, v - 1, order):
                    if size > 1:
                        largest[size] = (order, with_zero)
        for size, (order, with_zero) in largest.items():
            recipe = partial(build.cosets, v, order, (size - with_zero) // order, with_zero)
            name = f"cosets of order {order} in GF({v}){' with zero' if with_zero else ''}, size {size}"
            yield BlockEntry(name, v, v * (v - 1) // order, size, recipe)


def _complement(entry: BlockEntry) -> BlockEntry:
    name = f"all but one of {entry.v} points" if entry.q == 1 else f"complement of {entry.name}"
    return replace(entry, name=name, q=entry.v - entry.q, recipe=partial(_apply, build.complement, entry.recipe))


def _apply(operation: Callable[[Members], Members], recipe: Callable[[], Members]) -> Members:
    return operation(recipe())


# Hadamard matrices by order: of a field, or the product of two smaller ones.


@lru_cache(maxsize=8)
def hadamard_orders(most: int) -> dict[int, tuple[int, ...]]:
    """The orders of Hadamard matrices that can be built, each with its recipe: (q,) of a field, or two factors."""
    recipes: dict[int, tuple[int, ...]] = {2: ()}
    powers = prime_powers(max(most, 2))
    for order in range(4, most + 1, 4):
        if (order - 1) in powers:
            recipes[order] = (order - 1,)
        elif (order // 2 - 1) in powers and order % 8 == 4:
            recipes[order] = (order // 2 - 1,)
        else:
            factor = next((a for a in recipes if order % a == 0 and order // a in recipes), None)
            if factor is not None:
                recipes[order] = (factor, order // factor)
    return recipes


def hadamard_matrix(order: int) -> NDArray[np.int8]:
    """A matrix of 1 and -1 whose rows are orthogonal."""
    recipe = hadamard_orders(order)[order]
    if not recipe:
        return np.array([[1, 1], [1, -1]], np.int8)
    if len(recipe) == 1:
        return build.paley_matrix(recipe[0])
    return np.kron(hadamard_matrix(recipe[0]), hadamard_matrix(recipe[1]))


def _from_hadamard(operation: Callable[[NDArray[np.int8]], Members], order: int) -> Members:
    return operation(hadamard_matrix(order))
