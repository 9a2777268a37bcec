"""Advice that names a parameter and a value, kept apart from its words.

In Python it reads ``pass permutations=999``; whoever offers the parameter under another name, as the command line
does, writes the same sentence with that name. Rewording it cannot lose the name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Setting:
    """A parameter, with the value that it should have unless any will do; ``blank`` shows where a value goes.

    ``call`` is the method that takes it where that is not the one that was called.

    >>> str(Setting("permutations", 999)), str(Setting("method", "profile", call="interval")), str(Setting("weights"))
    ('permutations=999', "interval(method='profile')", 'weights')
    """

    parameter: str
    value: Any = None
    call: str | None = None
    quote: str = "'"
    blank: bool = False

    def __str__(self) -> str:
        value = f"{self.quote}{self.value}{self.quote}" if isinstance(self.value, str) else self.value
        with_value = f"{self.parameter}={'' if self.value is None else value}"
        said = with_value if self.blank or self.value is not None else self.parameter
        return f"{self.call}({said})" if self.call else said


class Alternatives(tuple[tuple["str | Setting", ...], ...]):
    """Alternatives, of which those are told whose settings there are.

    >>> either = Alternatives([("raise it",), ("use ", Setting("invariant", False))])
    >>> str(either), Advice("", either).told(lambda setting: None)
    ('raise it, or use invariant=False', 'raise it')
    """

    def __str__(self) -> str:
        return _listed("".join(map(str, parts)) for parts in self)

    def told(self, name: Naming) -> str:
        """Those whose settings have a name."""
        offered = [parts for parts in self if all(isinstance(p, str) or name(p) is not None for p in parts)]
        return _listed(_told(parts, name) for parts in offered or self)


class Advice(str):
    """A sentence in the words of Python that knows the settings in it.

    >>> advice = Advice("pass ", Setting("permutations", 999), " or more")
    >>> advice, advice.told(lambda setting: f"--{setting.parameter} {setting.value}")
    ('pass permutations=999 or more', 'pass --permutations 999 or more')
    """

    parts: tuple[str | Setting | Alternatives, ...]

    def __new__(cls, *parts: str | Setting | Alternatives) -> Advice:
        made = super().__new__(cls, "".join(map(str, parts)))
        made.parts = parts
        return made

    def told(self, name: Naming) -> str:
        """The sentence with the settings in other words; one that ``name`` has none for stays as it is."""
        return _told(self.parts, name)


Naming = Callable[[Setting], "str | None"]


def parts_of(text: str) -> tuple[str | Setting | Alternatives, ...]:
    """The parts of an advice, or a plain text as its only part: to say them inside another sentence."""
    return text.parts if isinstance(text, Advice) else (text,)


def _told(parts: Iterable[str | Setting | Alternatives], name: Naming) -> str:
    texts = []
    for part in parts:
        if isinstance(part, Alternatives):
            texts.append(part.told(name))
        else:
            texts.append(part if isinstance(part, str) else name(part) or str(part))
    return "".join(texts)


def _listed(texts: Iterable[str]) -> str:
    *first, last = texts
    return f"{', '.join(first)}, or {last}" if first else last
