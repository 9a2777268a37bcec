"""Exact and directed arithmetic: the few places where a last bit would break a privacy claim.

Probabilities are integers and parities are fractions, but e^ε is irrational. It is therefore replaced by a
rational just below it when a design is built, and compared by enclosure when one is checked.
"""

import math
import re
from collections.abc import Iterable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from numbers import Rational
from typing import NamedTuple

import numpy as np

from maskwell.errors import MaskwellError
from maskwell.limits import MOST_BITS

_DIGITS = 60
_MARGIN = Fraction(1, 10 ** (_DIGITS - 5))
_MOST_LOGARITHM = 2000
_MOST_DIGITS = int(MOST_BITS * math.log10(2))
# How an exact number is stored: a whole number or a fraction in lowest terms. A decimal point or an exponent would be
# a second way, and 1e1000000000 a short way to fill memory.
_STORED = re.compile(r"-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?")


def fraction(value: object, name: str, error: type[MaskwellError] = MaskwellError) -> Fraction:
    """The exact value of a number: a float at its binary value, fractions and decimals as they are."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Rational) and not isinstance(value, bool):
        return _of_bounded_length(Fraction(value), name, error)
    if isinstance(value, (Decimal, float)) and math.isfinite(value):
        if isinstance(value, Decimal) and abs(value.adjusted()) + len(value.as_tuple().digits) > _MOST_DIGITS:
            raise _too_long(name, error)
        return Fraction(value)
    given = type(value).__name__ if isinstance(value, str | bytes) and len(value) > _MOST_DIGITS else repr(value)
    raise error(f"{name} must be a finite number; got {given}. Pass an int, a float or a Fraction.")


def _of_bounded_length(exact: Fraction, name: str, error: type[MaskwellError]) -> Fraction:
    if max(exact.numerator.bit_length(), exact.denominator.bit_length()) > MOST_BITS:
        raise _too_long(name, error)
    return exact


def _too_long(name: str, error: type[MaskwellError]) -> MaskwellError:
    return error(f"{name} has more than {_MOST_DIGITS:,} digits; round it to a float or to a simpler fraction.")


def written_fraction(text: object, name: str, error: type[MaskwellError] = MaskwellError) -> Fraction:
    """The number that a person wrote: ``1/3``, ``0.25`` or ``2e-3``, of bounded length.

    >>> written_fraction("1/3", "p")
    Fraction(1, 3)
    """
    if not isinstance(text, str) or len(text) > _MOST_DIGITS:
        raise error(f"{name} must be a number, or a fraction as text such as '1/3' of at most {_MOST_DIGITS:,} digits.")
    try:
        return Fraction(text) if "/" in text else fraction(Decimal(text.strip()), name, error)
    except (ValueError, ArithmeticError):
        raise error(f"{name} must be a number, or a fraction as text such as '1/3'; got {text!r}.") from None


def given_fraction(value: object, name: str, error: type[MaskwellError] = MaskwellError) -> Fraction:
    """The exact value of a number, or of a fraction that a person wrote as text.

    >>> given_fraction("1/6", "yes_prob"), given_fraction(0.5, "yes_prob")
    (Fraction(1, 6), Fraction(1, 2))
    """
    return (written_fraction if isinstance(value, str) else fraction)(value, name, error)


def stored_fraction(text: object, name: str, error: type[MaskwellError] = MaskwellError) -> Fraction:
    """The fraction that ``str`` of it wrote, and no other spelling of it."""
    if not isinstance(text, str) or len(text) > 2 * _MOST_DIGITS or not _STORED.fullmatch(text):
        given = repr(text)[:80]
        raise error(f"{name} is stored as a whole number or a fraction in lowest terms, as text; got {given}.")
    exact = _of_bounded_length(Fraction(text), name, error)
    if str(exact) != text:
        raise error(f"{name} must be in lowest terms; got {text[:80]}.")
    return exact


def _exp(exponent: Fraction) -> Fraction:
    context = Context(prec=_DIGITS)
    return Fraction(context.exp(context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))))


def exp_below(exponent: Fraction) -> Fraction:
    """A rational below e^exponent, by less than one part in 10^50."""
    return _exp(exponent) * (1 - _MARGIN)


def exp_above(exponent: Fraction) -> Fraction:
    """A rational above e^exponent, by less than one part in 10^50."""
    return _exp(exponent) * (1 + _MARGIN)


def log_above(value: Fraction, times: int = 1) -> float:
    """The least float that is at least ln(value), or ln(value**times) without that power's many digits.

    >>> log_above(Fraction(1)), log_above(Fraction(3, 2), 10**9)
    (0.0, 405465108.1081644)
    """
    if value == 1:
        return 0.0
    logarithm = _ln(value)
    bound = times * (logarithm + _MARGIN * (abs(logarithm) + 1))
    nearest = float(bound)
    return nearest if Fraction(nearest) >= bound else math.nextafter(nearest, math.inf)


def _ln(value: Fraction) -> Fraction:
    context = Context(prec=_DIGITS)
    return Fraction(context.subtract(context.ln(Decimal(value.numerator)), context.ln(Decimal(value.denominator))))


def power_above(value: Fraction, times: int) -> Fraction | float:
    """A rational above a power of a number from 1 on, by less than one part in 10^20; infinity beyond e^2000.

    >>> power_above(Fraction(2), 10**9), round(power_above(Fraction(10**9 + 1, 10**9), 10**9) / math.e, 6)
    (inf, 1.0)
    """
    if value == 1:
        return value
    logarithm = _ln(value)
    bound = times * (logarithm + _MARGIN * (logarithm + 1))
    return exp_above(bound) if bound < _MOST_LOGARITHM else math.inf


def float_below(value: Fraction) -> float:
    """The greatest float that is at most the value."""
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)


# Linear algebra over the rationals, where round-off must not decide whether a row is new.


class Echelon(NamedTuple):
    """A matrix in reduced echelon form: its rows, and the columns that the first of them lead.

    ``determinant`` is that of the leading columns, up to its sign, where they are as many as the rows.
    """

    rows: list[list[Fraction]]
    pivots: list[int]
    determinant: Fraction


def eliminate(matrix: Iterable[Sequence[Fraction | int]], columns: int | None = None) -> Echelon:
    """Gauss and Jordan's elimination; only the first ``columns`` may lead a row.

    >>> eliminate([[2, 4], [1, 3]]).determinant
    Fraction(2, 1)
    """
    rows = [[Fraction(x) for x in row] for row in matrix]
    pivots: list[int] = []
    determinant = Fraction(1)
    for column in range(len(rows[0]) if columns is None else columns):
        at = len(pivots)
        pivot = next((r for r in range(at, len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        rows[at], rows[pivot] = rows[pivot], rows[at]
        lead = rows[at][column]
        determinant *= lead
        rows[at] = [x / lead for x in rows[at]]
        for r, row in enumerate(rows):
            if r != at and row[column]:
                factor = row[column]
                rows[r] = [x - factor * y for x, y in zip(row, rows[at], strict=True)]
        pivots.append(column)
    return Echelon(rows, pivots, determinant)


def solve(matrix: Sequence[Sequence[Fraction | int]], right: Sequence[Fraction | int]) -> list[Fraction]:
    """The solution of a regular square system."""
    augmented = [[*row, b] for row, b in zip(matrix, right, strict=True)]
    return [row[-1] for row in eliminate(augmented, len(matrix)).rows]
