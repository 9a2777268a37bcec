"""The reference of the library: which names a page lists, as directives of Sphinx that read their docstrings."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import maskwell
from maskwell.designs import Design

MODULES = (
    *("designs", "planning", "risk", "release", "rounds", "engines", "microdata"),
    *("questionnaires", "handover", "collect"),
)
_CONSTANTS = {
    "maskwell.designs.DESIGNS": "Every named design by its name: the function, its sources, and example parameters.",
    "maskwell.microdata.READABLE": "The endings of the names of files that can be read.",
}
# What stands for all names of `import maskwell` that no page lists by name, so that none is left out.
REST = "maskwell.rest"


def public_names() -> list[str]:
    """Every public name: those of ``import maskwell``, and those of its modules that are not the same thing again."""
    front = [f"maskwell.{name}" for name in maskwell.__all__ if name not in MODULES]
    things = {id(found(name)) for name in front}
    inside = [f"maskwell.{module}.{name}" for module in MODULES for name in found(f"maskwell.{module}").__all__]
    return front + [name for name in inside if id(found(name)) not in things]


def found(name: str) -> Any:
    """The thing of a dotted name; a function where a module that has its name holds it."""
    first, *rest = name.split(".")
    thing, path = importlib.import_module(first), first
    for part in rest:
        path += f".{part}"
        thing = getattr(thing, part) if hasattr(thing, part) else importlib.import_module(path)
    return thing


def reference(wanted: Iterable[str], folder: str | Path) -> str:
    """The listed names with their docstrings; ``module.*`` stands for all names of a module."""
    lines = [_directive(name) for name in _each(wanted, Path(folder))]
    return "```{eval-rst}\n" + "\n\n".join(lines) + "\n```"


def _each(wanted: Iterable[str], folder: Path) -> Iterator[str]:
    public = public_names()
    for name in wanted:
        if name == REST:
            listed = {line for page in folder.rglob("*.md") for line in _listed(page.read_text("utf-8"))}
            yield from (other for other in public if other.count(".") == 1 and other not in listed)
        elif name.endswith(".*"):
            yield from (other for other in public if other.rpartition(".")[0] == name.removesuffix(".*"))
        else:
            yield name


def _listed(text: str) -> list[str]:
    return [name for block in re.findall(r"```\{names\}\n(.*?)```", text, re.DOTALL) for name in block.split()]


def _directive(name: str) -> str:
    thing = found(name)
    if inspect.isclass(thing):
        # What all designs can do is said once, of the class that they share.
        shared = "\n   :inherited-members: Design" if issubclass(thing, Design) and thing is not Design else ""
        return f".. autoclass:: {name}{shared}"
    if callable(thing):
        return f".. autofunction:: {name}"
    return f".. py:data:: {name}\n\n   {_CONSTANTS[name]}"


def undocumented(names: Iterable[str]) -> list[str]:
    """Which of these have no docstring: functions, classes, and the public members that classes define or inherit."""
    silent = []
    for name in names:
        thing = found(name)
        if not callable(thing):
            silent += [name] if name not in _CONSTANTS else []
            continue
        if not (thing.__doc__ or "").strip() or _made_up(thing):
            silent.append(name)
        if inspect.isclass(thing):
            silent += [f"{name}.{member}" for member in _silent_members(thing)]
    return silent


def _made_up(thing: Any) -> bool:
    """Whether the docstring is the signature that a dataclass or a named tuple gives itself."""
    return inspect.isclass(thing) and str(thing.__doc__).startswith(f"{thing.__name__}(")


def _silent_members(cls: type) -> Iterator[str]:
    ours = [base for base in cls.__mro__ if base.__module__.startswith("maskwell")]
    for member in sorted({name for base in ours for name in vars(base) if not name.startswith("_")}):
        where = next(base for base in ours if member in vars(base))
        value = vars(where)[member]
        is_code = inspect.isfunction(value) or isinstance(value, property | classmethod | staticmethod)
        is_code |= type(value).__name__ == "cached_property"
        if is_code and not inspect.getdoc(value):
            # A method that overrides one with a docstring does what that says.
            above = [base for base in ours if base is not where and member in vars(base)]
            if not any(inspect.getdoc(vars(base)[member]) for base in above):
                yield member
