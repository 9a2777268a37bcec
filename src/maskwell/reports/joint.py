"""Reports of variables that were masked apart, as joint reports."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from maskwell.designs.kinds.product import product
from maskwell.errors import ReportError
from maskwell.reports.randomness import AND, joined_randomness
from maskwell.reports.reports import Reports


def side_by_side(columns: Mapping[str, Reports]) -> Reports:
    """Joint reports of variables that were masked apart, row by row about the same people.

    Who is missing from one variable is missing. Reports that share a key or a seed must be of different questions:
    otherwise they share their noise, and what they have in common says nothing about the people.
    """
    if len(columns) < 2 or len({len(reports) for reports in columns.values()}) > 1:
        counted = ", ".join(f"{name!r} has {len(reports):,}" for name, reports in columns.items())
        raise ReportError(
            f"joint reports need two variables or more, of the same people in the same order; got: {counted}."
        )
    refuse_shared_noise(columns)
    design = product(*(reports.design for reports in columns.values()), names=list(columns))
    gone = [reports.missing for reports in columns.values() if reports.missing is not None]
    absent = np.logical_or.reduce(gone) if gone else None
    packed = design.join([reports.packed for reports in columns.values()])
    if absent is not None:
        packed[absent] = 0
    drawn = joined_randomness((reports.randomness, len(reports)) for reports in columns.values())
    return Reports(design, packed, absent, drawn)


def refuse_shared_noise(columns: Mapping[str, Reports]) -> None:
    """An error if two variables may have been drawn from the same random words."""
    for kind, secret in (("keyed", "key"), ("seeded", "seed")):
        asked = [reports.question for reports in columns.values() if kind in reports.randomness.split(AND)]
        if len(asked) > 1 and (None in asked or len(set(asked)) < len(asked)):
            raise ReportError(
                f"{len(asked)} of the variables hold {kind} reports of one question or of none: drawn with one "
                f"{secret}, they share their noise and cannot be analysed together. Mask each with a question= of its "
                "own (on the command line each column is one)."
            )
