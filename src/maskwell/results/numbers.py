"""How a number is written where people read it: the one place that decides how many digits it has.

A figure has four digits, and a limit on privacy is rounded up, so that it is not promised too strongly; JSON has all
digits. Estimates have as many decimals as the widths of their intervals justify.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal

Exact = Fraction | int | float
Rounding = Literal["nearest", "up", "down"]

DIGITS = 4
FLOAT_ERROR = Fraction(1, 10**12)
"""What a float may be beside the number that it stands for; no digit is rounded up for less."""
_MINUS = "\N{MINUS SIGN}"
_SHORTEST = 1e-6
_LONGEST = 10**15


def rounded(value: Fraction, rounding: Rounding) -> int:
    """A whole number beside this one."""
    if rounding == "nearest":
        return round(value)
    return math.ceil(value * (1 - FLOAT_ERROR)) if rounding == "up" else math.floor(value * (1 + FLOAT_ERROR))


def significant(value: Exact, rounding: Rounding = "nearest", digits: int = DIGITS) -> str:
    """A finite number to a few significant digits, written out; what is almost 1 gets more digits and stays below it.

    A number that nobody can count the digits of is a power of ten.

    >>> significant(2.71828), significant(2.71828, "up", 2), significant(26412.8), significant(0.99999)
    ('2.718', '2.8', '26,413', '0.99999')
    >>> significant(3**500, "up")
    '3.637 × 10^238'
    """
    exact = Fraction(value)
    if exact == 0:
        return "0"
    if exact >= _LONGEST:
        return _power_of_ten(exact, rounding, digits)
    places = digits - 1 - math.floor(math.log10(abs(exact)))
    # Digits before the point are all written.
    scale = Fraction(10) ** max(places, 0)
    near = rounded(exact * scale, rounding) / scale
    if near == 1 and rounding == "nearest" and abs(exact - 1) > FLOAT_ERROR:
        return significant(value, rounding, digits + 1)
    text = f"{float(near):,.{max(places, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _power_of_ten(exact: Fraction, rounding: Rounding, digits: int) -> str:
    power = len(str(int(exact))) - 1
    scale = 10 ** (digits - 1)
    near = rounded(exact / 10**power * scale, rounding)
    if near == 10 * scale:
        near, power = scale, power + 1
    return f"{near / scale:.{digits - 1}f}".rstrip("0").rstrip(".") + f" × 10^{power}"


def figure(value: Exact, rounding: Rounding = "nearest") -> str:
    """A figure as views show it.

    >>> figure(2.718281828), figure(0.5), figure(-0.25), figure(1.5e-9), figure(math.inf)
    ('2.718', '0.5', '−0.25', '1.5e-09', 'unbounded')
    """
    if isinstance(value, float) and not math.isfinite(value):
        return "unbounded" if value > 0 else str(value)
    text = f"{float(value):.{DIGITS}g}" if 0 < abs(Fraction(value)) < _SHORTEST else significant(value, rounding)
    return f"{_MINUS}{text[1:]}" if text.startswith("-") else text


def limit(value: Exact) -> str:
    """A limit on privacy, a parity or an ε: rounded up.

    >>> limit(7.389056), limit(Fraction(3)), limit(math.inf)
    ('7.39', '3', 'unbounded')
    """
    return figure(value, "up")


def share(value: Exact) -> str:
    """A share or a chance as a percentage.

    >>> share(0.48023), share(Fraction(1, 9)), share(0.00001234)
    ('48.02 %', '11.11 %', '0.001234 %')
    """
    return f"{figure(100 * value)} %"


def number(value: float, decimals: int) -> str:
    """A number with so many decimals, a true minus sign and never a negative zero.

    >>> number(-0.004, 2), number(-1.5, 1)
    ('0.00', '−1.5')
    """
    text = f"{value:.{decimals}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("-", _MINUS)


def counted(count: int, one: str, many: str) -> str:
    """So many things, in words that go with their number.

    >>> counted(1, "stratum", "strata"), counted(2000, "stratum", "strata")
    ('1 stratum', '2,000 strata')
    """
    return f"{count:,} {one if count == 1 else many}"


def percent(share: float, decimals: int) -> str:
    """A share as a percentage with so many decimals.

    >>> percent(0.8543, 1)
    '85.4 %'
    """
    return f"{number(100 * share, decimals)} %"


def decimals_for(limits: Any) -> int:
    """How many decimals of a percentage the widths of these intervals justify: two digits of the median half-width."""
    widths = sorted((limits[:, 1] - limits[:, 0]).tolist())
    half = 100 * widths[len(widths) // 2] / 2
    return 2 if not 0 < half < math.inf else min(max(1 - math.floor(math.log10(half)), 0), 5)


def interval(limits: Sequence[float], decimals: int) -> str:
    """Two limits as percentages.

    >>> interval((-0.01234, 0.5), 1)
    '−1.2 to 50.0'
    """
    return " to ".join(number(100 * limit, decimals) for limit in limits)


def aligned(values: Sequence[Any]) -> tuple[list[str], str]:
    """A column of a table as text, and its side: numbers on the right, with as many decimals as the usual one needs.

    >>> aligned([0.25, 0.00125, -1.5]), aligned([1200, 7]), aligned(["yes", None])
    ((['0.2500', '0.0013', '−1.5000'], '>'), (['1,200', '7'], '>'), (['yes', '–'], '<'))
    """
    known = [value for value in values if value is not None]
    if not known or not all(hasattr(value, "__float__") and not isinstance(value, (str, bool)) for value in known):
        return ["–" if value is None else str(value) for value in values], "<"
    if all(hasattr(value, "__index__") for value in known):
        return ["–" if value is None else f"{int(value):,}".replace("-", _MINUS) for value in values], ">"
    sizes = sorted(abs(float(value)) for value in known if math.isfinite(value) and value)
    usual = sizes[len(sizes) // 2] if sizes else 1.0
    decimals = min(max(DIGITS - 1 - math.floor(math.log10(usual)), 0), 8)
    return ["–" if value is None else _decimal(float(value), decimals) for value in values], ">"


def _decimal(value: float, decimals: int) -> str:
    if not math.isfinite(value):
        return figure(value)
    text = f"{value:,.{decimals}f}"
    return (text.removeprefix("-") if not text.strip("-0.,") else text).replace("-", _MINUS)
