"""Finite fields, as far as block designs are built from them.

An element of the field with p^n elements is a number 0 .. p^n - 1 whose digits in base p are the coefficients of a
polynomial; its powers of one generator are listed, so that products are sums of logarithms.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

Elements = NDArray[np.int64]


@lru_cache(maxsize=8)
def prime_powers(most: int) -> dict[int, int]:
    """Every prime power up to ``most``, in rising order, with its prime."""
    composite = bytearray(most + 1)
    found = {}
    for p in range(2, most + 1):
        if not composite[p]:
            composite[p * p :: p] = b"\1" * len(range(p * p, most + 1, p))
            power = p
            while power <= most:
                found[power] = p
                power *= p
    return dict(sorted(found.items()))


@dataclass(frozen=True)
class Field:
    """The field with ``prime ** degree`` elements."""

    prime: int
    degree: int

    @property
    def order(self) -> int:
        """The number of elements."""
        return int(self.prime**self.degree)

    @cached_property
    def powers(self) -> Elements:
        """The powers 0 .. order - 2 of a generator: every element but 0."""
        if self.degree == 1:
            candidates = (self._powers_of_number(g) for g in range(1, self.prime))
        else:
            polynomials = product(range(self.prime), repeat=self.degree)
            candidates = (self._powers_of_x(lower) for lower in polynomials if lower[0])
        return np.array(next(powers for powers in candidates if len(powers) == self.order - 1), np.int64)

    def _powers_of_number(self, g: int) -> list[int]:
        powers = [1]
        while (following := powers[-1] * g % self.prime) != 1:
            powers.append(following)
        return powers

    def _powers_of_x(self, lower: tuple[int, ...]) -> list[int]:
        """Powers of x modulo the polynomial x^n - ..., until they come back to 1, whose lower terms are given.

        A reducible polynomial has fewer units than the field has elements besides 0, so its powers come back too soon.
        """
        p, top = self.prime, self.prime ** (self.degree - 1)
        reduced = [[c * leading % p for c in lower] for leading in range(p)]
        powers, digits = [1], [1] + [0] * (self.degree - 1)
        while True:
            shifted = [0, *digits[:-1]]
            digits = [(a + b) % p for a, b in zip(shifted, reduced[digits[-1]], strict=True)]
            number = 0
            for digit in reversed(digits):
                number = number * p + digit
            if number == 1 or len(powers) == top * p:
                return powers
            powers.append(number)

    @cached_property
    def logarithms(self) -> Elements:
        """The power of the generator that each element is; of no meaning for 0."""
        logs = np.zeros(self.order, np.int64)
        logs[self.powers] = np.arange(self.order - 1)
        return logs

    @cached_property
    def multiplication(self) -> Elements:
        """The multiplication table; for small fields."""
        logs = self.logarithms
        table: Elements = self.powers[np.add.outer(logs, logs) % (self.order - 1)]
        table[0, :] = table[:, 0] = 0
        return table

    @cached_property
    def addition(self) -> Elements:
        """The addition table; for small fields."""
        elements = np.arange(self.order)
        return add((self.prime,) * self.degree, elements[:, None], elements[None, :])


@lru_cache(maxsize=32)
def field(order: int) -> Field:
    """The field of a prime power order."""
    p = prime_powers(order)[order]
    degree = next(n for n in range(1, order) if p**n == order)
    return Field(p, degree)


def add(moduli: tuple[int, ...], a: Elements, b: Elements) -> Elements:
    """Sums in the group of numbers that are added digit by digit, digit i modulo ``moduli[i]``, lowest digit first."""
    if len(moduli) == 1:
        return (a + b) % moduli[0]
    total: Elements = np.zeros(np.broadcast_shapes(a.shape, b.shape), np.int64)
    place = 1
    for m in moduli:
        total += place * ((a // place + b // place) % m)
        place *= m
    return total
