"""Coverage of intervals for sums and differences of proportions, also where single categories cannot be told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import maskwell as mw
from maskwell.designs import Design
from tests.evidence.cases import Floats
from tests.evidence.limits import CHECKS, FALSE_ALARM, LEVEL, covers, within
from tests.evidence.record import Result, Size, Table
from tests.evidence.surveys import tallies

SEED = 1871
SURVEYS: dict[Size, int] = {"reduced": 2_000, "full": 20_000}
BAND = (0.93, 0.965)
_SHARES = np.array([0.05, 0.15, 0.3, 0.5])
_GROUPS = np.array([1.0, 1.0, 0.0, 0.0])
_DIFFERENCE = np.array([-1.0, 0.0, 1.0, 0.0])
_MEAN = np.array([0.0, 1.0, 2.0, 3.0])


@dataclass(frozen=True)
class Sum:
    """A weighted sum of proportions, estimated from one design."""

    label: str
    design: Design
    scores: Floats
    n: int


def _sums() -> list[Sum]:
    designs = mw.designs
    singular = [["1/2", "0", "1/4", "1/4"], ["0", "1/2", "1/4", "1/4"], ["1/2", "1/2", "1/2", "1/2"]]
    cases = [
        ("collapse, group total", designs.collapse(4, groups=[[0, 1], [2, 3]]), _GROUPS),
        ("singular from_matrix, difference of 0 and 1", designs.from_matrix(singular), np.array([1.0, -1.0, 0.0, 0.0])),
        ("direct, difference", designs.direct(4), _DIFFERENCE),
        ("gamma_diagonal epsilon=1, group total", designs.gamma_diagonal(4, epsilon=1), _GROUPS),
        ("gamma_diagonal epsilon=1, difference", designs.gamma_diagonal(4, epsilon=1), _DIFFERENCE),
        ("minimax epsilon=0.5, mean of scores 0 to 3", designs.minimax(4, epsilon=0.5), _MEAN),
        ("rappor epsilon=2, difference", designs.rappor(4, epsilon=2), _DIFFERENCE),
        ("local_diversity l=2, mean of scores 0 to 3", designs.local_diversity(4, l=2), _MEAN),
        ("average_secure phi=1.5, group total", designs.average_secure(4, phi=1.5), _GROUPS),
    ]
    return [Sum(label, design, scores, n) for label, design, scores in cases for n in (300, 2000)]


def run(size: Size) -> Result:
    """Estimate each sum in many surveys."""
    surveys = SURVEYS[size]
    rows, failures = [], []
    for position, case in enumerate(_sums()):
        covered, ratio = measure(case, surveys, position)
        rows.append((case.label, case.n, f"{covered / surveys:.3f}", f"{ratio:.3f}"))
        if not within(covered, surveys, *BAND):
            failures.append(f"{case.label}, n={case.n}: covered in {covered / surveys:.4f}, promised {BAND}")
    return Result(
        name="sums",
        title="Sums and differences of proportions",
        question="How often do 95 % intervals for weighted sums cover: group totals, differences, mean scores, and "
        "what a design tells although it cannot tell single categories?",
        criterion=f"Binomial limits around {BAND[0]} to {BAND[1]}; false alarm {FALSE_ALARM:g} over at most "
        f"{CHECKS:,} comparisons. These are Wald intervals: the grid keeps to sums that many reports speak for.",
        sizes={"surveys per row": surveys, "seed": SEED},
        findings=[
            f"{len(rows)} sums over {surveys:,} surveys each: coverage {min(row[2] for row in rows)} to "
            f"{max(row[2] for row in rows)}.",
        ],
        tables=[
            Table(
                "Coverage, and the reported variance relative to the one over surveys:",
                ("sum", "n", "coverage", "variance"),
                rows,
            )
        ],
        failures=failures,
    )


def measure(case: Sum, surveys: int, position: int) -> tuple[int, float]:
    """In how many surveys the interval covered, and reported over observed variance."""
    rng = np.random.default_rng([SEED, position])
    found = [mw.estimate_contrast(t, case.scores) for t in tallies(case.design, _SHARES, case.n, surveys, rng)]
    limits = np.array([contrast.interval(LEVEL) for contrast in found])
    covered = int(covers(limits, float(case.scores @ _SHARES)).sum())
    observed = np.var([contrast.value for contrast in found])
    return covered, float(np.mean([contrast.standard_error**2 for contrast in found]) / observed)
