"""JSON from outside, read strictly: one way to write each thing, and nothing that a small text could blow up."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from maskwell.errors import MaskwellError
from maskwell.limits import MOST_DOCUMENT_CHARACTERS

_LONGEST_NUMBER = 40
_NUMBERS = {int, float, bool, type(None)}


def read_json(
    text: object, what: str, error: type[MaskwellError], most: int = MOST_DOCUMENT_CHARACTERS, finite: bool = True
) -> Any:
    """The value that a JSON text holds, or an error about ``what``.

    Refused besides what is no JSON: a key given twice, of which readers would take one or the other, numbers that have
    more than 40 characters or, if ``finite``, are not finite, halves of characters, and texts of more than ``most``
    characters.
    """
    if not isinstance(text, str | bytes | bytearray):
        raise error(f"{what} must be JSON text; got {type(text).__name__}.")
    if len(text) > most:
        raise error(f"{what} has {len(text):,} characters; at most {most:,} are read.")
    try:
        return strict_value(text, finite)
    except (ValueError, RecursionError) as reason:
        why = f": {reason}" if isinstance(reason, Refused) else ""
        raise error(f"{what} is not valid JSON{why}; write it with to_json().") from None


class Refused(ValueError):
    """Why a text is refused that a lenient reader would take."""


def strict_value(text: str | bytes | bytearray, finite: bool = True) -> Any:
    """The value of a text: ``Refused`` where only a lenient reader takes it, another ValueError if it is no JSON.

    A RecursionError where it is nested too deeply.
    """
    value = json.loads(
        text,
        object_pairs_hook=_without_repeats,
        parse_int=_whole_number,
        parse_float=_finite_number,
        parse_constant=_no_constant if finite else float,
    )
    refuse_half_characters(value)
    return value


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Refused("a key is given twice in one object")
    return found


def _whole_number(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        raise Refused(f"a number has {len(digits)} digits")
    if digits == "-0":
        raise Refused("-0 is not a whole number")
    return int(digits)


def _finite_number(digits: str) -> float:
    if len(digits) > _LONGEST_NUMBER:
        raise Refused(f"a number has {len(digits)} characters")
    number = float(digits)
    if not math.isfinite(number):
        raise Refused("a number is too large")
    return number


def _no_constant(name: str) -> NoReturn:
    raise Refused(f"{name} is not a number of JSON")


def refuse_half_characters(value: Any) -> None:
    """A ValueError if some text holds half of a surrogate pair, which no file can hold."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            item.encode()
        elif isinstance(item, dict):
            pending += [*item, *item.values()]
        elif isinstance(item, list):
            types = set(map(type, item))
            if types == {str}:
                "".join(item).encode()  # two halves side by side are no whole character either
            elif not types <= _NUMBERS:
                pending += item
