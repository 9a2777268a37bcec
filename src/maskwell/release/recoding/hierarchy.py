"""Hierarchies of categories, from a file: a line for each value, and in it the value's name at every level.

The first column holds the values themselves, the next ones what they become at level 1, 2 … A first line of names does
no harm: it is that of a value which nobody has. Each level is coarser than the one before it: values that are one at a
level are one at all higher levels.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maskwell.errors import DataError
from maskwell.input_files import read_whole
from maskwell.release.recoding.ways import Named, Recode


@dataclass(frozen=True)
class Hierarchy:
    """The names of each value at every level; ``level(i)`` recodes by one of them."""

    name: str
    lines: tuple[tuple[str, ...], ...]

    @property
    def levels(self) -> int:
        """The number of levels above the values themselves."""
        return len(self.lines[0]) - 1

    def level(self, level: int) -> Recode:
        """The recoding to this level."""
        if not 1 <= level <= self.levels:
            raise DataError(f"{self.name} has the levels 1 to {self.levels}; got {level!r}.", parameter="level")
        pairs = tuple((line[0], line[level]) for line in self.lines)
        return Recode(Named(pairs, f"level {level} of {self.name}", False))

    def all_levels(self) -> list[Recode]:
        """Every level, the mildest first."""
        return [self.level(i) for i in range(1, self.levels + 1)]


def read_hierarchy(source: str | os.PathLike[str] | Mapping[Any, Sequence[Any]], delimiter: str = ",") -> Hierarchy:
    """A hierarchy from a CSV file, or from a mapping of each value to its names at level 1, 2 …

    >>> regions = read_hierarchy({"Oslo": ["East", "Norway"], "Bergen": ["West", "Norway"]})
    >>> regions.level(1).values(["Bergen", "Oslo"], "city")
    ['West', 'East']
    """
    if isinstance(source, Mapping):
        name = "the hierarchy"
        if any(isinstance(names, str) for names in source.values()):
            raise DataError('a hierarchy maps each value to a list of its names: {"Oslo": ["East", "Norway"]}.')
        lines = [(str(value), *map(str, names)) for value, names in source.items()]
    else:
        name = Path(source).name
        lines = [line for line in _cells(Path(source), delimiter) if any(line)]
    return _checked(name, lines)


def _cells(path: Path, delimiter: str) -> list[tuple[str, ...]]:
    try:
        text = read_whole(path, DataError).decode("utf-8-sig")
        return [tuple(cell.strip() for cell in line) for line in csv.reader(io.StringIO(text), delimiter=delimiter)]
    except UnicodeDecodeError:
        raise DataError(f"{path.name!r} is not UTF-8 text; save it as CSV in UTF-8.") from None
    except csv.Error:
        raise DataError(f"{path.name!r} is not a CSV file; save it as one, with a line for each value.") from None


def _checked(name: str, lines: list[tuple[str, ...]]) -> Hierarchy:
    if not lines or len(lines[0]) < 2 or len({len(line) for line in lines}) > 1:
        raise DataError(f"{name} must have a line for each value: the value, then its name at level 1, 2 and so on.")
    if len({line[0] for line in lines}) < len(lines):
        raise DataError(f"{name} names a value in more than one line; give each value one.")
    for level in range(1, len(lines[0]) - 1):
        above: dict[str, str] = {}
        for line in lines:
            if above.setdefault(line[level], line[level + 1]) != line[level + 1]:
                raise DataError(
                    f"{name}: values that are one at level {level} are two at level {level + 1}; each level must be "
                    "coarser than the one before."
                )
    return Hierarchy(name, tuple(lines))


def hierarchy(source: str | os.PathLike[str] | Mapping[Any, Sequence[Any]], level: int = 1) -> Recode:
    """The recoding to one level of a hierarchy: a CSV file (value, level 1, level 2 …) or a mapping.

    >>> hierarchy({"Oslo": ["East", "Norway"], "Bergen": ["West", "Norway"]}, level=2).values(["Oslo"], "city")
    ['Norway']
    """
    return read_hierarchy(source).level(level)
