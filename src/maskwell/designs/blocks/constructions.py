"""Balanced block designs, built: each function returns a table ``members[block, point]`` of true and false.

In a balanced design every point lies in r blocks and every pair of points in λ of them. Most are difference families:
a few base blocks in a group whose differences cover every element alike, and all their translates.
"""

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.blocks.finite_fields import Elements, Field, add, field

Members = NDArray[np.bool_]


def develop(moduli: tuple[int, ...], bases: Iterable[Elements]) -> Members:
    """All translates of the base blocks in a group given by its digits' moduli."""
    v = int(np.prod(moduli))
    shifts = np.arange(v)[:, None]
    tables = []
    for base in bases:
        members = np.zeros((v, v), np.bool_)
        members[shifts, add(moduli, base[None, :], shifts)] = True
        tables.append(members)
    return np.concatenate(tables)


def _group(of: Field) -> tuple[int, ...]:
    return (of.prime,) * of.degree


def singletons(v: int) -> Members:
    """Every point by itself."""
    return np.eye(v, dtype=np.bool_)


def pairs(v: int) -> Members:
    """Every pair of points."""
    first, second = np.triu_indices(v, 1)
    members = np.zeros((len(first), v), np.bool_)
    rows = np.arange(len(first))
    members[rows, first] = members[rows, second] = True
    return members


def hyperplanes(dimension: int, q: int) -> Members:
    """Points and hyperplanes of the projective space over the field with q elements.

    A linear recurrence over the field whose states run through all points visits the points of a hyperplane whenever
    its output is 0: these places are a difference set (Singer).
    """
    small = field(q)
    times, plus = small.multiplication.tolist(), small.addition.tolist()
    v = (q ** (dimension + 1) - 1) // (q - 1)
    for coefficients in product(range(q), repeat=dimension + 1):
        zeros = _zeros_of_recurrence(coefficients, times, plus, v) if coefficients[0] else None
        if zeros is not None:
            return develop((v,), [np.array(zeros)])
    raise AssertionError("every finite field has a primitive polynomial of every degree")


def _zeros_of_recurrence(
    coefficients: Sequence[int], times: list[list[int]], plus: list[list[int]], v: int
) -> list[int] | None:
    """Where a recurrence is 0 among its first v outputs, if it comes back to a multiple of its start at v only."""
    state = [1] + [0] * (len(coefficients) - 1)
    zeros = []
    for place in range(v):
        if place and not any(state[1:]):
            return None
        if state[0] == 0:
            zeros.append(place)
        following = 0
        for c, x in zip(coefficients, state, strict=True):
            following = plus[following][times[c][x]]
        state = [*state[1:], following]
    return zeros


def squares(q: int) -> Members:
    """Translates of the non-zero squares of a field with q = 3 mod 4 elements (Paley)."""
    whole = field(q)
    return develop(_group(whole), [whole.powers[::2]])


def fourth_powers(p: int, with_zero: bool) -> Members:
    """Translates of the non-zero fourth powers modulo a prime 4x²+1, or with zero modulo 4x²+9, x odd."""
    base = field(p).powers[::4]
    return develop((p,), [np.append(base, 0) if with_zero else base])


def twin_prime_powers(q: int) -> Members:
    """In the product of the fields with q and q + 2 elements: pairs of equal quadratic character, and (x, 0)."""
    one, other = field(q), field(q + 2)
    same = [np.add.outer(one.powers[i::2], q * other.powers[i::2]).ravel() for i in (0, 1)]
    return develop(_group(one) + _group(other), [np.concatenate([*same, np.arange(q)])])


def bent(m: int) -> Members:
    """Pairs (x, y) of m-bit words with odd scalar product, and their translates by exclusive or."""
    words = np.arange(1 << m)
    common = words[:, None] & words[None, :]
    odd = np.zeros_like(common)
    for bit in range(m):
        odd ^= common >> bit & 1
    return develop((2,) * (2 * m), [np.flatnonzero(odd)])


def cosets(v: int, order: int, count: int, with_zero: bool) -> Members:
    """Unions of ``count`` neighbouring cosets of a multiplicative subgroup of a field with v elements, all translates.

    Maps x -> ax + b carry any pair of elements to any other, so all images of one set are a balanced design.
    """
    whole = field(v)
    index = (v - 1) // order
    bases = []
    for first in range(index):
        classes = [whole.powers[(first + c) % index :: index] for c in range(count)]
        bases.append(np.concatenate([*classes, np.zeros(int(with_zero), np.int64)]))
    return develop(_group(whole), bases)


def complement(members: Members) -> Members:
    """What each block leaves out."""
    return ~members


def residual(members: Members) -> Members:
    """Of a design with as many blocks as points: its other blocks, on the points outside the first one.

    Of a projective space this is the affine space.
    """
    return members[1:, ~members[0]]


def derived(members: Members) -> Members:
    """Of a design with as many blocks as points: its other blocks, on the points of the first one."""
    return members[1:, members[0]]


def hadamard_design(matrix: NDArray[np.int8]) -> Members:
    """From a Hadamard matrix of order 4n: 4n - 1 points and blocks of 2n - 1."""
    normal = _normalised(matrix)
    return normal[1:, 1:] > 0


def hadamard_halves(matrix: NDArray[np.int8]) -> Members:
    """From a Hadamard matrix of order 4n: 4n points in halves, each row's two sides."""
    sides = _normalised(matrix)[1:] > 0
    return np.concatenate([sides, ~sides])


def _normalised(matrix: NDArray[np.int8]) -> NDArray[np.int8]:
    """First row and column of ones."""
    by_column = matrix * matrix[0]
    normal: NDArray[np.int8] = by_column * by_column[:, :1]
    return normal


def character_matrix(q: int) -> NDArray[np.int8]:
    """The quadratic character of x - y for all pairs of elements: 1 for squares, -1 for the others, 0 for 0."""
    whole = field(q)
    character = np.zeros(q, np.int8)
    character[whole.powers[::2]] = 1
    character[whole.powers[1::2]] = -1
    elements = np.arange(q)
    sums = add(_group(whole), elements[:, None], elements[None, :])
    table = np.empty((q, q), np.int8)
    # Row x + y, column y: their difference is x.
    table[sums, elements[None, :]] = character[:, None]
    return table


def paley_matrix(q: int) -> NDArray[np.int8]:
    """A Hadamard matrix of order q + 1 for q = 3 mod 4, of order 2(q + 1) for q = 1 mod 4."""
    bordered = np.ones((q + 1, q + 1), np.int8)
    bordered[0, 0] = 0
    bordered[1:, 1:] = character_matrix(q)
    if q % 4 == 1:
        return np.kron(bordered, np.array([[1, 1], [1, -1]], np.int8)) + np.kron(
            np.eye(q + 1, dtype=np.int8), np.array([[1, -1], [-1, -1]], np.int8)
        )
    bordered[1:, 0] = -1
    return bordered + np.eye(q + 1, dtype=np.int8)
