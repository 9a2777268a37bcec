"""The texts of questionnaires: English and German ones, and those of any other language that somebody gives.

Every text has a name and stands in ``texts.json``; a language that is not there is given with all of its texts. Gaps
such as ``{base}`` are filled with numbers from the design.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from maskwell.errors import DataError
from maskwell.plain_text import among

_GAP = re.compile(r"\{(\w+)\}")
# Control characters, halves of characters, and what is no character.
_UNWRITTEN = frozenset(["Cc", "Cs", "Cn"])
# Marks that turn the direction of whatever follows them, up to the end of the page.
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")

LABELS: Mapping[str, Mapping[str, str]] = {
    "de": {"yes": "ja", "no": "nein", "same": "gleich", "different": "verschieden"},
}
"""Answers that need no translation from a user, by language."""

_DECIMAL_COMMA = frozenset(["de", "de-AT", "de-DE"])
_SWAPPED = str.maketrans(".,", ",.")


def in_language(figure: str, language: str) -> str:
    """A figure as a language writes it: where decimals follow a comma, a point would make thousands of them.

    >>> in_language("1,302.334", "de"), in_language("1,302.334", "en")
    ('1.302,334', '1,302.334')
    """
    return figure.translate(_SWAPPED) if language in _DECIMAL_COMMA else figure


@cache
def known() -> Mapping[str, Mapping[str, str]]:
    """Every text by language and name."""
    texts: dict[str, dict[str, str]] = json.loads(files(__package__).joinpath("texts.json").read_text("utf-8"))
    return texts


def texts_of(language: str, given: Mapping[str, Mapping[str, str]]) -> Mapping[str, str]:
    """All texts of a language: those that are known, with what is ``given`` in their place; none may be lacking."""
    if not _TAG.fullmatch(language):
        raise DataError(f"a language is given by its tag, such as en, de or pt-BR; got {language!r}.", parameter="text")
    english, own = known()["en"], given.get(language, {})
    for name, text in own.items():
        if name not in english:
            raise DataError(f"texts: there is no text {name!r}; {among(name, list(english))}.", parameter="texts")
        if unknown := sorted(set(_GAP.findall(text)) - set(_GAP.findall(english[name]))):
            raise DataError(f"texts: {name!r} has the gap {{{unknown[0]}}}, which nothing fills.", parameter="texts")
    found = {**known().get(language, {}), **{name: written(text, "texts") for name, text in own.items()}}
    lacking = [name for name in english if name not in found]
    if lacking:
        raise DataError(
            f"texts: the language {language!r} lacks {len(lacking)} texts, such as {lacking[0]!r}; give them as "
            f"texts={{{language!r}: {{...}}}}. Known by themselves: {', '.join(known())}.",
            parameter="texts",
        )
    return found


def written(text: str, parameter: str) -> str:
    """A text of a survey's owner as it is printed: without control characters and marks that turn what follows.

    Spaces that do not break, and the joiners that some scripts need, stay. A form would take ``${…}`` for an answer.

    >>> written("Avez-vous\u00a0?\x1b[2J", "text")
    'Avez-vous\xa0?[2J'
    """
    if "${" in text:
        raise DataError(
            f"{parameter} must not hold ${{...}}: a form would put another answer in its place.", parameter=parameter
        )
    return "".join(c for c in text if c == "\n" or (unicodedata.category(c) not in _UNWRITTEN and c not in _TURNING))


def fill(text: str, **gaps: Any) -> str:
    """A text with its gaps filled.

    >>> fill("{base} cards", base=10, other="unused")
    '10 cards'
    """
    return _GAP.sub(lambda gap: str(gaps[gap.group(1)]), text)
