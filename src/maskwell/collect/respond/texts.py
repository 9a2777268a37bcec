"""The page's texts: English ones for everybody, and those that a survey gives in its own language.

Every text of the respondent's page has a name and stands in ``texts.json``; a survey replaces what it likes under
``"texts"``. Gaps such as ``{base}`` are filled in by the page, with numbers from the design's integers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

_GAP = re.compile(r"\{(\w+)\}")
# Languages and scripts that are written from right to left (Unicode CLDR).
_RIGHT_TO_LEFT = frozenset(["ar", "arc", "ckb", "dv", "fa", "he", "ks", "nqo", "ps", "sd", "syr", "ug", "ur", "yi"])
_RIGHT_TO_LEFT_SCRIPTS = frozenset(["adlm", "arab", "aran", "hebr", "mand", "nkoo", "rohg", "samr", "syrc", "thaa"])


@cache
def english() -> Mapping[str, str]:
    """Every text in English, by name."""
    texts: dict[str, str] = json.loads(files(__package__).joinpath("texts.json").read_text("utf-8"))
    return texts


class PageTexts(NamedTuple):
    """The texts of a page, and the names of those that are English because the survey does not have them."""

    texts: dict[str, str]
    english: list[str]


def page_texts(language: str, given: Mapping[str, str]) -> PageTexts:
    """The texts of a survey's page; names that the page does not know are left alone."""
    own = {name: text for name, text in given.items() if name in english()}
    borrowed = [] if language_of(language) == "en" else [name for name in english() if name not in own]
    return PageTexts({**english(), **own}, borrowed)


def wrong_text(given: Mapping[str, str]) -> str | None:
    """What is wrong with the texts of a survey, in one line, or None: an unknown name, or a gap that stays empty.

    >>> wrong_text({"send": "Senden", "guess": "{guess} von {hundert}"})
    "texts: 'guess' has the gap {hundert}, which the page cannot fill; it knows {base}, {blind}, {guess}."
    """
    for name, text in given.items():
        if name not in english():
            return f"texts: there is no text {name!r} on the respondent's page; see texts.json for their names."
        known = set(_GAP.findall(english()[name]))
        if unknown := sorted(set(_GAP.findall(text)) - known):
            listed = ", ".join(f"{{{gap}}}" for gap in sorted(known)) or "none"
            return f"texts: {name!r} has the gap {{{unknown[0]}}}, which the page cannot fill; it knows {listed}."
    return None


def language_of(tag: str) -> str:
    """The language of a language tag: ``pt`` of ``pt-BR``."""
    return tag.lower().partition("-")[0]


def direction(tag: str) -> str:
    """Which way a language is written: by the script that its tag names, else by the language.

    >>> direction("he"), direction("pt-BR"), direction("az-Arab")
    ('rtl', 'ltr', 'rtl')
    """
    scripts = [part for part in tag.lower().split("-")[1:] if len(part) == 4 and part.isalpha()]
    if scripts:
        return "rtl" if scripts[0] in _RIGHT_TO_LEFT_SCRIPTS else "ltr"
    return "rtl" if language_of(tag) in _RIGHT_TO_LEFT else "ltr"
