"""Text from outside, such as names, labels and columns, made safe to show.

A control character in a design's name could clear a terminal and paint another audit there, a line break could add a
line to a summary, and a mark that reverses the direction of writing could turn a sentence round. Whoever shows text
that may come from a file shows it through this module.
"""

import difflib
import html
import re
import unicodedata
from collections.abc import Iterable, Sequence

# Whatever Markdown may read as markup, in a line of text and in a table.
_MARKUP = re.compile(r"([\\`*\[\]<>|#~&]|(?<!\w)_|_(?!\w))")


def visible(text: object, most: int | None = None) -> str:
    r"""The text on one line, with every character that is not printed written as its escape.

    That is everything that ``str.isprintable`` refuses: control and format characters, separators of lines and
    paragraphs, spaces that look like others, halves of characters. ``most`` cuts a longer text short.

    >>> visible("mini\x1b[2Jmax\nparity 1")
    'mini\\x1b[2Jmax\\nparity 1'
    """
    plain = str(text)
    if most is not None and len(plain) > most:
        plain = f"{plain[: most - 1]}…"
    if plain.isprintable():
        return plain
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in plain)


# Alphabets with letters that look like those of another.
_ALIKE = {"LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"}


def quoted(text: str) -> str:
    r"""Somebody's own words in quotes, out of which they cannot break; escapes for what looks like another character.

    >>> print(quoted("our design"), quoted("min\u0456max"))
    'our design' 'min\u0456max'
    """
    disguised = unicodedata.normalize("NFKC", text) != text or any(map(_mixes_alphabets, re.findall(r"\w+", text)))
    return ascii(text) if disguised else repr(text)


def _mixes_alphabets(word: str) -> bool:
    alphabets = {unicodedata.name(letter, "").partition(" ")[0] for letter in word if letter.isalpha()}
    return len(alphabets & _ALIKE) > 1


def visible_lines(lines: Iterable[str]) -> str:
    """Lines under each other; none of them can break into two, or be more than text."""
    return "\n".join(map(visible, lines))


def visible_html(text: object) -> str:
    """The same inside an HTML element or attribute."""
    return html.escape(visible(text))


def visible_markdown(text: object) -> str:
    r"""The same inside a paragraph or table of Markdown.

    >>> visible_markdown("a|b `c` <script>")
    'a\\|b \\`c\\` \\<script\\>'
    """
    return _MARKUP.sub(r"\\\1", visible(text))


def markdown_code(text: object) -> str:
    r"""The same as a piece of code, fenced by more backquotes than the text has in a row.

    >>> markdown_code("a`b"), markdown_code("x")
    ('`` a`b ``', '`x`')
    """
    plain = visible(text)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", plain)), default=0))
    return f"{fence}{plain}{fence}" if len(fence) == 1 and plain.strip() else f"{fence} {plain} {fence}"


def among(name: str, available: Sequence[str], most: int = 200, *, quoted: bool = False) -> str:
    """What there is instead of a name that is not there, and which of it is nearest.

    >>> among("agge", ["sex", "age", "race"]), among("x", ["sex"], quoted=True)
    ("it has sex, age, race; the nearest is 'age'", "it has 'sex'")
    """
    listed = ", ".join(repr(other) if quoted else other for other in available[:most])
    more = f" and {len(available) - most} more" if len(available) > most else ""
    return f"it has {listed}{more}{nearest(name, available)}"


def nearest(name: str, available: Sequence[str]) -> str:
    """Which of the names that there are is nearest to one that is not there; nothing if none is near.

    >>> nearest("agge", ["sex", "age"]), nearest("x", ["sex"])
    ("; the nearest is 'age'", '')
    """
    lower = {other.lower(): other for other in available}
    near = [repr(lower[text]) for text in difflib.get_close_matches(name.lower(), lower, n=3)]
    return f"; the {'nearest are' if len(near) > 1 else 'nearest is'} {', '.join(near)}" if near else ""
