"""Reports about the same people: of several columns of one file, or of files with one variable each."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maskwell.reports import Reports


def hold_several_columns(name: str | Path) -> bool:
    """Whether a file, or the files of a folder, hold several masked columns."""
    from maskwell.engines import paths

    return len(paths.designs_in(paths.expand([name]))) > 1


def joint_reports(files: "Sequence[Reports]", paths: Sequence[str | Path]) -> "Reports":
    """Joint reports whose variables are called as the files are, or x1, x2, … where two files have one name."""
    from maskwell.reports.joint import side_by_side

    names = [Path(path).stem for path in paths]
    if len(set(names)) < len(names):
        names = [f"x{i + 1}" for i in range(len(names))]
    return side_by_side(dict(zip(names, files, strict=True)))
