"""Simulated surveys at the level of counts: report counts are drawn from the design's own matrix."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import maskwell as mw
from maskwell.designs import Design
from tests.evidence.cases import Floats


def tallies(design: Design, population: Floats, n: int, surveys: int, rng: np.random.Generator) -> Iterator[mw.Tally]:
    """The tally of each of many surveys of n respondents.

    A tally is a sum over reports, so each one is the drawn row counts times the tally of a single report of each row;
    this is several times faster than ``Tally.from_counts``, with which ``test_evidence`` compares it.
    """
    probabilities = design.matrix() @ population
    rows = rng.multinomial(n, probabilities / probabilities.sum(), size=surveys)
    packed = design.pack_rows(np.arange(design.report_count()))
    singles = np.array([design.codec.count(packed[row : row + 1]) for row in range(len(packed))])
    for counts in np.tensordot(rows, singles, axes=1):
        yield mw.Tally(design, counts, n)
