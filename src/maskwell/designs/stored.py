"""How a design's integers are stored, one way for each: weights as decimal text, positions and sizes as JSON integers.

Everything else is refused here, before it is used: a number with a sign, a leading zero, a space, an underscore or a
digit of another script, a float, a boolean, a list too few or too many.
"""

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from maskwell.errors import DesignError

# As text, because a browser's numbers end at 2^53. No weight or total is above 2^64, which has 20 digits.
_WEIGHT = re.compile(r"0|[1-9][0-9]{0,19}")


def fields(stored: object, *names: str) -> list[Any]:
    """The values of an object that has these keys and no others."""
    if not isinstance(stored, dict) or stored.keys() != set(names):
        raise DesignError(f"weights must be an object with the keys {', '.join(names)}, and no others.")
    return [stored[name] for name in names]


def listed(stored: object, what: str) -> list[Any]:
    """A list."""
    if not isinstance(stored, list):
        raise DesignError(f"{what} must be a list; got {type(stored).__name__}.")
    return stored


def weight(stored: object) -> int:
    """A weight or a total."""
    if not isinstance(stored, str) or not _WEIGHT.fullmatch(stored):
        given = repr(stored)[:80]
        raise DesignError(f"weights are whole numbers in decimal digits, as text, without sign or spaces; got {given}.")
    return int(stored)


def weights(stored: object, what: str) -> tuple[int, ...]:
    """A list of weights."""
    return tuple(weight(item) for item in listed(stored, what))


def integers(values: object, what: str, least: int = 0) -> None:
    """An error unless these are a tuple of plain integers, none below ``least``."""
    if not isinstance(values, tuple) or not all(type(value) is int for value in values):
        raise DesignError(f"{what} must be a tuple of whole numbers.")
    if values and min(values) < least:
        raise DesignError(f"{what} must be whole numbers, {least} or more.")


def rising(values: Iterable[Any]) -> bool:
    """Whether each one is above the one before it: sorted, and none twice."""
    return all(a < b for a, b in pairwise(values))
