"""A chance in a few digits that never contradicts what is said of it."""

from __future__ import annotations

from fractions import Fraction

_MOST = 17


def in_digits(chance: Fraction, digits: int, limit: Fraction = Fraction(1)) -> str:
    """A chance in ``digits`` digits, or as many more as it takes to be on its own side of the ``limit``, and of 1.

    >>> in_digits(Fraction(1, 3), 5), in_digits(Fraction("0.9999989"), 5, Fraction("0.999999"))
    ('0.33333', '0.999999')
    """
    for places in range(digits, _MOST + 1):
        text = f"{float(chance):.{places}g}"
        shown = Fraction(text)
        if (shown <= limit) == (chance <= limit) and (shown < 1) == (chance < 1):
            return text
    return f"just below {float(limit)!r}"
