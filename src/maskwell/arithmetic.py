"""Exact and directed arithmetic: the few places where a last bit would break a privacy claim.

Probabilities are integers and parities are fractions, but e^ε is irrational. It is therefore replaced by a
rational just below it when a design is built, and compared by enclosure when one is checked.
"""

import math
from decimal import Context, Decimal
from fractions import Fraction
from numbers import Rational

import numpy as np

from maskwell.errors import MaskwellError

_DIGITS = 60
_MARGIN = Fraction(1, 10 ** (_DIGITS - 5))


def fraction(value: object, name: str, error: type[MaskwellError] = MaskwellError) -> Fraction:
    """The exact value of a number: a float at its binary value, fractions and decimals as they are."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Rational) and not isinstance(value, bool):
        return Fraction(value)
    if isinstance(value, (Decimal, float)) and math.isfinite(value):
        return Fraction(value)
    raise error(f"{name} must be a finite number; got {value!r}. Pass an int, a float or a Fraction.")


def _exp(exponent: Fraction) -> Fraction:
    context = Context(prec=_DIGITS)
    return Fraction(context.exp(context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))))


def exp_below(exponent: Fraction) -> Fraction:
    """A rational below e^exponent, by less than one part in 10^50."""
    return _exp(exponent) * (1 - _MARGIN)


def exp_above(exponent: Fraction) -> Fraction:
    """A rational above e^exponent, by less than one part in 10^50."""
    return _exp(exponent) * (1 + _MARGIN)


def log_above(value: Fraction) -> float:
    """The least float that is at least ln(value).

    >>> log_above(Fraction(1))
    0.0
    """
    if value == 1:
        return 0.0
    context = Context(prec=_DIGITS)
    logarithm = Fraction(context.subtract(context.ln(Decimal(value.numerator)), context.ln(Decimal(value.denominator))))
    bound = logarithm + _MARGIN * (abs(logarithm) + 1)
    nearest = float(bound)
    return nearest if Fraction(nearest) >= bound else math.nextafter(nearest, math.inf)


def float_below(value: Fraction) -> float:
    """The greatest float that is at most the value."""
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)
