"""Sums over hyperplanes for all points at once, by one cyclic convolution.

The field with q^t elements has an α whose powers meet every point once before they come back to the first. With a
linear recurrence ``s`` of α's polynomial, point i of that order has the coordinates of ``α^i``, hyperplane j the vector
``(s_j, ..., s_{j+t-1})``, and their inner product is ``s_{i+j}`` (Singer 1938). Which hyperplanes hold which points is
one pattern of zeros, shifted; the sums of counts over the hyperplanes through each point are a correlation with that
pattern, v log v operations by fast Fourier transforms, whatever q is.
"""

import itertools
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.geometry.space import Space

Numbers = NDArray[np.int64]
_DIGIT_BITS = 16


@dataclass(frozen=True, eq=False)
class Cycle:
    """``point[i]`` and ``hyperplane[j]`` by their place on the cycle; i holds in j where ``zeros[(i + j) mod v]``."""

    point: Numbers
    hyperplane: Numbers
    zeros: NDArray[np.bool_]

    @cached_property
    def _pattern(self) -> NDArray[np.complex128]:
        return np.fft.rfft(self.zeros.astype(np.float64))

    def sums(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """For each point the sum of ``values`` over the hyperplanes that hold it; as incidence is symmetric, for each
        hyperplane the sum over its points as well.
        """
        ordered = np.fft.rfft(values[self.hyperplane].astype(np.float64))
        found = np.fft.irfft(np.conj(ordered) * self._pattern, len(values))
        result = np.empty(len(values))
        result[self.point] = found
        return result

    def whole_sums(self, counts: NDArray[Any]) -> Numbers:
        """The same for whole numbers, exactly.

        Digits of 16 bits are summed one by one: with v up to 2^32 points, a digit's sums have a rounding error of less
        than 2^-52 · 20 log2(v) · 2^16 · v, far below one half up to v = 2^26.
        """
        left, total, shift = counts.astype(np.int64), np.zeros(len(counts), np.int64), 0
        while left.any():
            total += np.rint(self.sums(left & ((1 << _DIGIT_BITS) - 1))).astype(np.int64) << shift
            left, shift = left >> _DIGIT_BITS, shift + _DIGIT_BITS
        return total


@lru_cache(maxsize=4)
def cycle(space: Space) -> Cycle:
    """The cycle of a space: a million points take about a second."""
    from maskwell.designs.geometry.cycle_kernels import walk

    points, hyperplanes = np.empty((2, space.points), np.int64)
    zeros = np.empty(space.points, np.bool_)
    walk(space.q, *space.tables, _cyclic_polynomial(space), points, hyperplanes, zeros)
    return Cycle(points, hyperplanes, zeros)


def _cyclic_polynomial(space: Space) -> Numbers:
    """Coefficients ``c`` of ``α^t = c_0 + ... + c_{t-1} α^{t-1}`` such that the powers of α meet every point."""
    from maskwell.designs.geometry.cycle_kernels import power_of_alpha

    v = space.points
    exponents = [v // prime for prime in prime_factors(v)]
    places = space.q ** np.arange(space.t, dtype=object)
    for number in itertools.count(1):
        polynomial = np.array([number // place % space.q for place in places], np.int64)

        def is_scalar(exponent: int, polynomial: Numbers = polynomial) -> bool:
            return not power_of_alpha(space.q, *space.tables, polynomial, exponent)[1:].any()

        # α comes back to a multiple of 1 after v steps, and after no fewer: then it has met v points, which are all.
        if polynomial[0] and is_scalar(v) and not any(is_scalar(exponent) for exponent in exponents):
            return polynomial
    raise AssertionError("every space has such a polynomial")


def prime_factors(n: int) -> list[int]:
    """The different primes that divide n, in rising order."""
    found, divisor = [], 2
    while divisor * divisor <= n:
        if n % divisor == 0:
            found.append(divisor)
            while n % divisor == 0:
                n //= divisor
        divisor += 1
    return [*found, n] if n > 1 else found
