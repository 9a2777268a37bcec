"""The texts of questionnaires: English and German ones, and those of any other language that somebody gives.

Every text has a name and stands in ``texts.json``; a language that is not there is given with all of its texts. Gaps
such as ``{base}`` are filled with numbers from the design.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from maskwell.errors import DataError
from maskwell.plain_text import among

_GAP = re.compile(r"\{(\w+)\}")
_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")

LABELS: Mapping[str, Mapping[str, str]] = {
    "de": {"yes": "ja", "no": "nein", "same": "gleich", "different": "verschieden"},
}
"""Answers that need no translation from a user, by language."""


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
    found = {**known().get(language, {}), **own}
    lacking = [name for name in english if name not in found]
    if lacking:
        raise DataError(
            f"texts: the language {language!r} lacks {len(lacking)} texts, such as {lacking[0]!r}; give them as "
            f"texts={{{language!r}: {{...}}}}. Known by themselves: {', '.join(known())}.",
            parameter="texts",
        )
    return found


def fill(text: str, **gaps: Any) -> str:
    """A text with its gaps filled.

    >>> fill("{base} cards", base=10, other="unused")
    '10 cards'
    """
    return _GAP.sub(lambda gap: str(gaps[gap.group(1)]), text)
