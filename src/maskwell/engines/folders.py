"""Folders of files: which of their files are data, and which folder has the record of a run."""

from __future__ import annotations

import os
from pathlib import Path

from maskwell.microdata.files import READABLE
from maskwell.tables.partitions import is_partition


def data_in(folder: Path) -> list[Path]:
    """The files of data in a folder and in its partitions, ``region=north/`` and the like, by their names."""
    inside = sorted(folder.iterdir())
    own = [path for path in inside if path.is_file() and _is_data(path)]
    return own + [file for path in inside if path.is_dir() and is_partition(path) for file in data_in(path)]


def _is_data(path: Path) -> bool:
    return not path.name.startswith((".", "_")) and path.name.lower().endswith(READABLE)


def outermost(folder: Path) -> Path:
    """The folder that holds the record: of a partition the one above."""
    folder = folder.absolute()  # what ".." means behind a link is the system's to say
    while is_partition(folder):
        folder = folder.parent
    return folder


def inside(path: Path, folder: Path) -> str:
    """The path of a file or folder inside a folder, as records name it."""
    return Path(os.path.relpath(path, folder)).as_posix()
