"""Whether a parity exceeds e^epsilon, decided by enclosure instead of by a rounded exponential."""

from fractions import Fraction
from typing import Any

from mpmath import MPIntervalContext

import maskwell as mw

_INTERVALS = MPIntervalContext()
_INTERVALS.dps = 60


def exceeds(parity: Fraction | float, epsilon: float) -> bool:
    """Whether parity > e^epsilon, by an interval that holds e^epsilon and is 60 digits narrow."""
    if not isinstance(parity, Fraction):
        return True
    enclosure = _INTERVALS.exp(_INTERVALS.mpf(epsilon))
    low, high = _fraction(enclosure.a), _fraction(enclosure.b)
    assert parity <= low or parity > high, "60 digits do not decide"
    return parity > low


def _fraction(end: Any) -> Fraction:
    """The exact value of an end of an interval (itself an interval of width zero)."""
    (sign, mantissa, exponent, _), _ = end._mpi_
    return (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def check_claim(design: mw.Design, epsilon: float) -> None:
    """Parity is at most e^epsilon, and no more than one part in a million million below: no accuracy is given away."""
    parity = design.exact_parity()
    where = (design.name, design.k, epsilon)
    assert not exceeds(parity, epsilon), where
    assert exceeds(parity * (1 + Fraction(1, 10**12)), epsilon), where
    assert design.demand is not None, where
    assert design.demand.holds_for(design), where
    # The number that is printed is rounded up, and still at most what was claimed.
    assert design.epsilon <= epsilon, where
