"""Files of reports, row by row about the same people, as reports of several variables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from maskwell.errors import ReportError

if TYPE_CHECKING:
    from maskwell.reports import Reports


def side_by_side(files: "Sequence[Reports]", names: Sequence[str]) -> "Reports":
    """Joint reports; a person who is missing from one file is missing. Variables are called as the files are."""
    import numpy as np

    from maskwell.designs import product
    from maskwell.reports import Reports, joined_randomness

    lengths = [len(file) for file in files]
    if len(set(lengths)) > 1:
        counted = ", ".join(f"{name!r} has {length:,}" for name, length in zip(names, lengths, strict=True))
        raise ReportError(
            f"the files must hold reports of the same people, in the same order, but their numbers differ: {counted}."
        )
    design = product(*(file.design for file in files), names=names if len(set(names)) == len(names) else None)
    gone = [file.missing for file in files if file.missing is not None]
    return Reports(
        design,
        design.join([file.packed for file in files]),
        np.logical_or.reduce(gone) if gone else None,
        joined_randomness((file.randomness, len(file)) for file in files),
    )
