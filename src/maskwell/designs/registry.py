"""The lists of named designs and of kinds of design.

A named design is a function that returns a design, and its entry says what it is. The command line, the documentation
table and the conformance tests read this list, so a new design needs nothing else.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from maskwell.errors import DesignError
from maskwell.plain_text import quoted

if TYPE_CHECKING:
    from maskwell.designs.base import Design

F = TypeVar("F", bound="Callable[..., Design]")
Recogniser = Callable[["Design", dict[str, Any]], bool]

REFERENCES: dict[str, str] = tomllib.loads(Path(__file__).with_name("references.toml").read_text("utf-8"))


@dataclass(frozen=True)
class Entry:
    """A named design: its function, its sources, and example parameters (``k`` says for how many categories).

    ``recognise`` tells whether a design with these parameters may bear the name, where the parameters alone do not give
    the design back.
    """

    function: Callable[..., Design]
    references: tuple[str, ...]
    examples: tuple[dict[str, Any], ...]
    recognise: Recogniser | None = None

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (self.function.__doc__ or "").strip().splitlines()[0]


DESIGNS: dict[str, Entry] = {}
KINDS: dict[str, type[Design]] = {}

# Designs that are computed rather than named: by improving another, or by an optimiser.
_DERIVED = {"improved": ("chai-nayak-2018",), "most_informative": ("ayed-2020",)}


def named(
    *references: str, examples: tuple[dict[str, Any], ...], recognise: Recogniser | None = None
) -> Callable[[F], F]:
    """Enter a function that returns a design into the list."""

    def enter(function: F) -> F:
        DESIGNS[function.__name__] = Entry(function, references, examples, recognise)
        return function

    return enter


def title(name: str, kind: str) -> str:
    """The name of a design as it is shown: plain where it was checked, else in quotes, as somebody's own words."""
    return name if name in DESIGNS or name == kind else quoted(name)


def citation(name: str) -> str:
    """The references of a named design, one a line."""
    keys = DESIGNS[name].references if name in DESIGNS else _DERIVED.get(name)
    if keys is None:
        raise DesignError(f"no reference is known for a design named {name!r}; known: {', '.join(DESIGNS)}.")
    return "\n".join(REFERENCES[key] for key in keys)
