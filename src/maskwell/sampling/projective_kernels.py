"""Compiled sampler of hyperplanes through a point or past it, without a list of either.

Points and hyperplanes of a projective space are vectors whose first non-zero element is 1, numbered as numbers to the
base q among those that begin with as many zeros, the most zeros first (`docs/sampling_format.md`). A truth x has its
first non-zero element at the pivot. The hyperplanes through x are given by their other elements up to a common factor,
so that the pivot's follows from an inner product of 0; each hyperplane past x has one multiple whose inner product with
x is 1, and the other elements of that multiple are free. One pick therefore decides: exactly uniform, nothing to
reject but the pick.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.numerics.compiled import compiled

Array = NDArray[Any]

_U32, _TWO32 = np.uint64(32), np.uint64(1 << 32)
_NUMBER_BITS = 26  # of every number of a point or a pick: a space has at most 2^26 points


@compiled(inline="always")
def _reciprocal(q: int) -> Any:
    """``(m, s)`` such that ``number * m >> s`` is the whole part of ``number / q``, without a division.

    m exceeds 2^s / q by at most 1, which moves the quotient by at most ``number / 2^s``: less than 1 / q, the least
    distance from below to the next whole number.
    """
    shift = _NUMBER_BITS
    while (1 << shift) < q << _NUMBER_BITS:
        shift += 1
    return (1 << shift) // q + 1, shift


@compiled(inline="always")
def times(a: Any, b: Any, exp: Array, log: Array) -> Any:
    """The product of two elements of the field, looked up without a branch that random elements would mislead."""
    product = exp[log[a] + log[b]]
    return product if (a != 0) & (b != 0) else 0


@compiled()
def number_of(vector: Array, q: int, exp: Array, log: Array) -> Any:
    """The number of the point that a vector, not all 0, is a multiple of."""
    zeros = 0
    while vector[zeros] == 0:
        zeros += 1
    scale = exp[q - 1 - log[vector[zeros]]]
    number, offset = 0, 0
    for at in range(zeros + 1, len(vector)):
        number = number * q + times(vector[at], scale, exp, log)
        offset = offset * q + 1  # 1 + q + ... : the points that begin with more zeros
    return offset + number


@compiled(inline="always")
def _vector_of(number: Any, q: int, m: Any, s: Any, vector: Array, skipped: int) -> int:
    """Write the point with this number into all elements but the skipped one; where its 1 is."""
    size, at = 1, len(vector) - 1
    if at == skipped:
        at -= 1
    while number >= size:
        number -= size
        size *= q
        at -= 1
        if at == skipped:
            at -= 1
    for before in range(at):
        vector[before] = 0
    vector[at] = 1
    _digits_of(number, q, m, s, vector, at + 1, skipped)
    return at


@compiled(inline="always")
def _digits_of(number: Any, q: int, m: Any, s: Any, vector: Array, first: int, skipped: int) -> None:
    """Write a number to the base q, its last digit in the last element, into all elements but the skipped one."""
    for at in range(len(vector) - 1, first - 1, -1):
        if at != skipped:
            rest = number * m >> s
            vector[at] = number - rest * q
            number = rest


@compiled(inline="always")
def _hyperplane(
    x: Array, pivot: int, held: bool, pick: Any, q: int, m: Any, s: Any, y: Array, exp: Array, log: Array
) -> Any:
    """The number of the hyperplane, through x or past it, that a pick stands for."""
    if held:
        _vector_of(pick, q, m, s, y, pivot)
    else:
        _digits_of(pick, q, m, s, y, 0, pivot)
    binary = q & (q - 1) == 0
    inner = np.int64(0 if held else 1)
    for coordinate in range(pivot + 1, len(x)):
        term = times(x[coordinate], y[coordinate], exp, log)
        inner = inner ^ term if binary else inner - term
    y[pivot] = inner if binary else inner % q
    return number_of(y, q, exp, log)


@compiled()
def hyperplanes(
    truth: Array,
    words: Array,
    stride: int,
    inside: Any,
    shape: tuple[int, int, int, int],
    exp: Array,
    log: Array,
    out: Array,
    exhausted: Array,
) -> None:
    """A number below ``inside`` says that the hyperplane holds the truth; a pick says which one.

    ``shape`` is q, t, and the numbers of hyperplanes through a point and past it.
    """
    q, t, through, past = shape
    m, s = _reciprocal(q)
    n_through, n_past = np.uint64(through), np.uint64(past)
    unfair_through, unfair_past = np.uint32(_TWO32 % n_through), np.uint32(_TWO32 % n_past)
    x, y = np.zeros(t, np.int64), np.zeros(t, np.int64)
    for i in range(len(truth)):
        at = i * stride
        held = (np.uint64(words[at]) | np.uint64(words[at + 1]) << _U32) < inside
        among = n_through if held else n_past
        unfair = unfair_through if held else unfair_past
        pick, found = np.uint64(0), False
        for further in range(at + 2, at + stride):
            product = np.uint64(words[further]) * among
            if np.uint32(product) >= unfair:
                pick, found = product >> _U32, True
                break
        exhausted[i] = not found
        if found:
            pivot = _vector_of(np.int64(truth[i]), q, m, s, x, -1)
            out[i] = _hyperplane(x, pivot, held, np.int64(pick), q, m, s, y, exp, log)


@compiled()
def list_hyperplanes(shape: tuple[int, int, int, int], exp: Array, log: Array, table: Array) -> None:
    """Fill ``table[truth]`` with the hyperplanes through the truth by pick, then with those past it."""
    q, t, through, past = shape
    m, s = _reciprocal(q)
    x, y = np.zeros(t, np.int64), np.zeros(t, np.int64)
    for truth in range(len(table)):
        pivot = _vector_of(truth, q, m, s, x, -1)
        for pick in range(through):
            table[truth, pick] = _hyperplane(x, pivot, True, pick, q, m, s, y, exp, log)
        for pick in range(past):
            table[truth, through + pick] = _hyperplane(x, pivot, False, pick, q, m, s, y, exp, log)
