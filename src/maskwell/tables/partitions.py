"""Folders named ``region=north``, as engines write them: every record below has that value, which is in no file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

_NONE = "__HIVE_DEFAULT_PARTITION__"


def is_partition(folder: Path) -> bool:
    """Whether the name of a folder says a value."""
    name, equals, _ = folder.name.partition("=")
    return bool(name and equals) and not folder.name.startswith((".", "_"))


def folders_of(path: str | os.PathLike[str]) -> Path:
    """The folders directly above a file whose names say values, the outermost first; often none."""
    above: list[str] = []
    for folder in Path(os.path.abspath(path)).parents:
        if not is_partition(folder):
            break
        above.insert(0, folder.name)
    return Path(*above)


def values_of(path: str | os.PathLike[str]) -> Mapping[str, str | None]:
    """What these names say, as text: a zero in front stays, and nothing is taken for a number."""
    pairs = (part.partition("=") for part in folders_of(path).parts)
    return {unquote(name): None if value == _NONE else unquote(value) for name, _, value in pairs}
