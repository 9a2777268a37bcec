"""Files of reports about the same people, one for each variable, as joint reports."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maskwell.reports import Reports


def joint_reports(files: "Sequence[Reports]", paths: Sequence[str | Path]) -> "Reports":
    """Joint reports whose variables are called as the files are, or x1, x2, … where two files have one name."""
    from maskwell.reports.joint import side_by_side

    names = [Path(path).stem for path in paths]
    if len(set(names)) < len(names):
        names = [f"x{i + 1}" for i in range(len(names))]
    return side_by_side(dict(zip(names, files, strict=True)))
