"""Sentences that keep the numbers they state: each with its text, its exact value and what it is a number of.

A template has no digits of its own. Whatever a reader sees as a number is a ``Number``, so that every one of them can
be recomputed from the design. Chances are told as natural frequencies, "73 of 100 people", with a larger round number
where 100 people would show none or all.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from string import Formatter
from typing import Any

from maskwell.plain_text import visible
from maskwell.results.numbers import FLOAT_ERROR, Exact, Rounding, rounded, significant

_BASES = tuple(10**power for power in range(2, 19))
# A count may misstate a chance by an eighth of it.
_CLOSE = Fraction(1, 8)
_MOST_CARDS = 1000
# Off by less than this part of a person, a count is not called approximate.
_AS_GOOD_AS_EXACT = Fraction(1, 1000)


@dataclass(frozen=True)
class Number:
    """A stated number. ``quantity`` names what it is, ``of`` the report and the truth that it belongs to, if any.

    ``base`` is 1, or the round number of people of whom ``text`` counts some; ``value`` is never multiplied by it.
    """

    text: str
    value: Exact
    quantity: str
    of: tuple[Any, ...] = ()
    base: int = 1
    rounding: Rounding = "nearest"


@dataclass(frozen=True)
class Sentence:
    """A template with its numbers, and with the labels that stand in it."""

    template: str
    numbers: Mapping[str, Number] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The sentence as it is read."""
        labels = {name: visible(label) for name, label in self.labels.items()}
        return self.template.format(**{name: number.text for name, number in self.numbers.items()}, **labels)

    def __str__(self) -> str:
        return self.text


def say(template: str, **parts: Number | str) -> Sentence:
    """The sentence with those of the numbers and labels that its template names."""
    used = {name: parts[name] for _, name, *_ in Formatter().parse(template) if name}
    numbers = {name: part for name, part in used.items() if isinstance(part, Number)}
    return Sentence(template, numbers, {name: part for name, part in used.items() if isinstance(part, str)})


def quoted(label: object) -> str:
    """A label as it stands in a sentence."""
    return f"“{label}”"


def plain(value: int, quantity: str, *of: Any) -> Number:
    """A whole number."""
    return Number(f"{value:,}", value, quantity, of)


def decimal(value: Exact, quantity: str, rounding: Rounding = "nearest", digits: int = 4) -> Number:
    """A number to a few significant digits; limits are rounded up, so that privacy is not promised too strongly.

    >>> decimal(2.71828, "parity", "up", 2).text
    '2.8'
    """
    return Number(significant(value, rounding, digits), value, quantity, rounding=rounding)


@dataclass(frozen=True)
class Chance:
    """A probability that is to be told as a count of people or of times."""

    value: Fraction
    quantity: str
    of: tuple[Any, ...] = ()
    rounding: Rounding = "nearest"


def frequencies(**chances: Chance) -> dict[str, Number]:
    """Counts out of one round number, which comes along as ``base``.

    >>> {name: number.text for name, number in frequencies(hit=Chance(Fraction(1, 300), "chance")).items()}
    {'hit': 'about 3', 'base': '1,000'}
    """
    base = next((b for b in _BASES if all(_fits(c, b) for c in chances.values())), _BASES[-1])
    return _counts(chances, base)


def device(**chances: Chance) -> dict[str, Number]:
    """Counts of cards or of marks on a spinner, out of a number for which all are whole, wherever 1,000 are enough.

    What somebody is to build must give the chances that the design has: 11 of 15 cards, and not about 73 of 100.

    >>> {name: number.text for name, number in device(statement=Chance(Fraction(11, 15), "chance")).items()}
    {'statement': '11', 'base': '15'}
    """
    simple = [chance.value.limit_denominator(_MOST_CARDS) for chance in chances.values()]
    whole = math.lcm(*(value.denominator for value in simple))
    near = all(abs(s - c.value) <= FLOAT_ERROR for s, c in zip(simple, chances.values(), strict=True))
    bases = (b for b in (100, *range(whole, _MOST_CARDS + 1, whole)) if b % whole == 0)
    base = next((b for b in bases if all(value == 0 or value * b >= 2 for value in simple)), None)
    if not near or base is None:
        return frequencies(**chances)
    return _counts(chances, base)


def _fits(chance: Chance, base: int) -> bool:
    """Whether a count out of ``base`` tells the chance well enough, and in the plural."""
    value = chance.value
    if value in (0, 1):
        return True
    count = rounded(value * base, chance.rounding)
    return 2 <= count < base and abs(count - value * base) <= _CLOSE * min(value, 1 - value) * base


def _counts(chances: Mapping[str, Chance], base: int) -> dict[str, Number]:
    return {**{name: _count(chance, base) for name, chance in chances.items()}, "base": plain(base, "base")}


def _count(chance: Chance, base: int) -> Number:
    exact = chance.value * base
    count = rounded(exact, chance.rounding)
    precise = chance.rounding != "nearest" or abs(count - exact) < _AS_GOOD_AS_EXACT
    text = f"{count:,}" if precise else f"about {count:,}"
    if chance.value in (0, 1):
        text = "none" if chance.value == 0 else f"all {base:,}"
    return Number(text, chance.value, chance.quantity, chance.of, base, chance.rounding)
