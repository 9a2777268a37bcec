"""What a matrix of exact numbers sends to zero: found modulo primes, where numbers stay short, and then proven.

Elimination over the rationals takes hours where a few hundred columns depend on each other, since its numbers grow at
every step. Modulo a prime they do not. Fractions are put together from as many primes as they need and multiplied out
with the exact matrix: the result never depends on the primes, only the time that it takes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import DesignError

Integers = NDArray[Any]

# Operations modulo primes, and products of exact integers, in one question: some ten seconds each.
_MOST_STEPS = 10**9
_MOST_PRODUCTS = 10**8
_BELOW = 1 << 31  # products of two residues fit into 64 bits


def rank(matrix: Iterable[Sequence[Fraction | int]]) -> int:
    """The number of independent columns, which is that of independent rows."""
    rows = list(matrix)
    return len(rows[0]) - len(null_space(rows))


def null_space(matrix: Iterable[Sequence[Fraction | int]]) -> list[list[Fraction]]:
    """The vectors that the matrix sends to zero: for each column that earlier ones make up, the one with a 1 there.

    >>> [[str(x) for x in vector] for vector in null_space([[1, 2, 3], [2, 4, 6]])]
    [['-2', '1', '0'], ['-3', '0', '1']]
    """
    # Rows that are multiples of each other say the same, and a column that is there twice is made up by the first.
    columns = list(zip(*dict.fromkeys(map(_primitive, matrix)), strict=True))
    first = {column: at for at, column in reversed(list(enumerate(columns)))}
    distinct = sorted(first.values())
    parts = _dependencies(np.array([columns[at] for at in distinct], object).T)
    made_of = {distinct[at]: {distinct[pivot]: x for pivot, x in part.items()} for at, part in parts.items()}
    vectors = []
    for at, column in enumerate(columns):
        earlier = first[column]
        part = made_of.get(earlier, {earlier: Fraction(1)})
        if at != earlier or at in made_of:
            vector = [Fraction(0)] * len(columns)
            vector[at] = Fraction(1)
            for pivot, x in part.items():
                vector[pivot] = -x
            vectors.append(vector)
    return vectors


def _primitive(row: Sequence[Fraction | int]) -> tuple[int, ...]:
    """The shortest whole numbers in the proportions of a row."""
    common = math.lcm(*(x.denominator for x in row))
    whole = [int(x.numerator) * (common // x.denominator) for x in row]
    divisor = math.gcd(*whole) or 1
    return tuple(x // divisor for x in whole)


def _dependencies(exact: Integers) -> dict[int, dict[int, Fraction]]:
    """Of each column that earlier ones make up, how much of which."""
    rows, best, steps = exact, None, 0
    for prime in _primes():
        reduced, pivots, spanning = _eliminated(rows, prime)
        order = (-len(pivots), pivots)
        if best is None or order < best:
            # A prime can hide a pivot but not make one up, so the most and the earliest ones are right.
            best, modulus, used = order, prime, 1
            free = [j for j in range(rows.shape[1]) if j not in set(pivots)]
            found, rows = reduced[:, free].astype(object), rows[spanning]
        elif order == best:
            found += modulus * ((reduced[:, free] - found) * pow(modulus, -1, prime) % prime)
            modulus, used = modulus * prime, used + 1
        if order == best and used & (used - 1) == 0:  # as often as the primes have doubled in number
            solution = _simplest_fractions(found, modulus)
            if solution is not None and _solves(rows, pivots, free, *solution):
                if _solves(exact, pivots, free, *solution):
                    return _parts(pivots, free, *solution)
                rows, best = exact, None  # the prime that chose the rows hid one
        steps += rows.size * len(pivots) // 2 + found.size * used
        if steps > _MOST_STEPS:
            break
    raise DesignError(
        f"{len(exact):,} reports of {exact.shape[1]:,} categories depend on each other in a way that takes too long to "
        "find exactly; merge categories that are reported alike, or pass simpler fractions."
    )


def _primes() -> Iterator[int]:
    """The primes below 2^31, from the largest down."""
    return (n for n in range(_BELOW - 1, 2, -2) if all(_passes(n, base) for base in (2, 3, 5, 7)))


def _passes(n: int, base: int) -> bool:
    """Miller and Rabin's test; below 3,215,031,751 only primes pass it to the bases 2, 3, 5 and 7."""
    twos = (n - 1 & 1 - n).bit_length() - 1
    power = pow(base, n - 1 >> twos, n)
    return power in (1, n - 1) or any((power := power * power % n) == n - 1 for _ in range(twos - 1))


def _eliminated(matrix: Integers, prime: int) -> tuple[NDArray[np.int64], list[int], list[int]]:
    """Modulo a prime: the rows that are left in reduced echelon form, the columns they lead, and where they stood."""
    rows = (matrix % prime).astype(np.int64)
    order = np.arange(len(rows))
    pivots: list[int] = []
    for column in range(rows.shape[1]):
        at = len(pivots)
        below = np.flatnonzero(rows[at:, column])
        if not len(below):
            continue
        swap = [at, at + int(below[0])]
        rows[swap], order[swap] = rows[swap[::-1]], order[swap[::-1]]
        rows[at, column:] = rows[at, column:] * pow(int(rows[at, column]), -1, prime) % prime
        others = np.flatnonzero(rows[:, column])
        others = others[others != at]
        rows[others, column:] = (rows[others, column:] - rows[others, column, None] * rows[at, column:]) % prime
        pivots.append(column)
        if len(pivots) == len(rows):
            break
    return rows[: len(pivots)], pivots, order[: len(pivots)].tolist()


def _simplest_fractions(residues: Integers, modulus: int) -> tuple[Integers, list[int]] | None:
    """Numerators, and a denominator for each column, of the fractions with these residues; None if one is not simple.

    By Wang's reconstruction: at most one fraction with numerator and denominator below the root of half the modulus
    has a given residue, and the steps of Euclid's algorithm pass it.
    """
    most = math.isqrt(modulus // 2)
    numerators, denominators = residues.copy(), []
    for j in range(residues.shape[1]):
        common = 1
        for i in range(len(residues)):
            # Entries of a column share most of their denominator, so what is left is simple.
            high, low, before, factor = modulus, residues[i, j] * common % modulus, 0, 1
            while low > most:
                quotient = high // low
                high, low, before, factor = low, high - quotient * low, factor, before - quotient * factor
            if abs(factor) > most:
                return None
            sign = 1 if factor > 0 else -1
            numerators[:i, j] *= abs(factor)
            numerators[i, j] = sign * low
            common *= abs(factor)
        denominators.append(common)
    return numerators, denominators


def _solves(rows: Integers, pivots: list[int], free: list[int], numerators: Integers, denominators: list[int]) -> bool:
    """Whether the pivot columns make up the free ones in these proportions."""
    if len(rows) * max(numerators.size, 1) > _MOST_PRODUCTS:
        return False
    return bool((rows[:, pivots] @ numerators == rows[:, free] * np.array(denominators, object)).all())


def _parts(
    pivots: list[int], free: list[int], numerators: Integers, denominators: list[int]
) -> dict[int, dict[int, Fraction]]:
    return {
        column: {p: Fraction(x, denominators[at]) for p, x in zip(pivots, numerators[:, at], strict=True) if x}
        for at, column in enumerate(free)
    }
