"""Limits of the most frequent categories: whether they hold for those that were picked for coming out largest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import maskwell as mw
from maskwell.designs import Design
from tests.evidence.cases import Floats
from tests.evidence.limits import FALSE_ALARM, JOINT, LEVEL, covers, within
from tests.evidence.record import Result, Size, Table

SEED = 2017
SURVEYS: dict[Size, int] = {"reduced": 120, "full": 2_000}
PICKED = 10


@dataclass(frozen=True)
class Case:
    """A design, and a number of people with Zipf's shares or with equal ones."""

    label: str
    design: Design
    n: int
    zipf: bool

    @property
    def truth(self) -> Floats:
        shares = 1 / np.arange(1, self.design.k + 1) if self.zipf else np.ones(self.design.k)
        return np.asarray(shares / shares.sum())


def _cases() -> list[Case]:
    d = mw.designs
    designs: list[tuple[str, Design, int]] = [
        ("projective k=300 epsilon=1", d.projective(300, epsilon=1), 2000),
        ("projective k=5000 epsilon=2", d.projective(5000, epsilon=2), 3000),
        ("minimax k=200 epsilon=1", d.minimax(200, epsilon=1), 2000),
        ("gamma_diagonal k=50 epsilon=3", d.gamma_diagonal(50, epsilon=3), 500),
        ("trimmed_rappor k=60 epsilon=1", d.trimmed_rappor(60, epsilon=1), 2000),
    ]
    return [Case(label, design, n, zipf) for label, design, n in designs for zipf in (True, False)]


def run(size: Size) -> Result:
    """Pick the largest in many surveys."""
    surveys = SURVEYS[size]
    rows, failures = [], []
    for position, case in enumerate(_cases()):
        kind, shares, places, naive = measure(case, surveys, position)
        people = "Zipf" if case.zipf else "equal"
        rows.append((case.label, people, case.n, kind, shares / surveys, places / surveys, naive / surveys))
        lowest = LEVEL if kind == "clopper-pearson" else JOINT[kind][-1][1]
        for what, hits in (("shares", shares), ("places", places)):
            if not within(hits, surveys, lowest, 1):
                failures.append(f"{case.label}, {people}: {what} covered in {hits / surveys:.4f}, promised {lowest}")
    worst, least_naive = min(min(row[5], row[4]) for row in rows), min(row[6] for row in rows)
    return Result(
        name="top_limits",
        title="The most frequent categories: limits for those that were picked",
        question=f"`estimate.top({PICKED})` picks the categories with the largest estimates. In how many surveys do "
        f"its {100 * LEVEL:g} % limits hold the true shares of all that were picked, and its places their true places?",
        criterion=f"At least {LEVEL} where limits are Clopper-Pearson's, and {JOINT['wilson'][-1][1]} for Wilson's, "
        f"up to simulation error (false alarm {FALSE_ALARM:g} over all comparisons).",
        sizes={"surveys a case": surveys, "cases": len(rows), "picked": PICKED, "seed": SEED},
        findings=[
            f"Shares and places of all that were picked were covered in at least {worst:.3f} of the surveys; "
            f"intervals for a category named beforehand held for all that were picked in as few as {least_naive:.3f}."
        ],
        tables=[
            Table(
                "Coverage of all picked categories together; the last column is that of 95 % intervals which do not "
                "know of the picking.",
                ("design", "shares", "n", "limits", "shares covered", "places covered", "without correction"),
                rows,
            )
        ],
        failures=failures,
    )


def measure(case: Case, surveys: int, position: int) -> tuple[str, int, int, int]:
    """The kind of limits, and in how many surveys shares, places and uncorrected intervals covered all picked."""
    rng = np.random.default_rng([SEED, position])
    truth = case.truth
    kind, hits = "", np.zeros(3, int)
    for survey in range(surveys):
        values = rng.choice(case.design.k, size=case.n, p=truth)
        estimate = mw.estimate(case.design.mask(values, seed=1000 * position + survey))
        top = estimate.top(PICKED, LEVEL)
        kind, own = top.kind, truth[top.positions]
        ahead, level = (truth[None] > own[:, None]).sum(axis=1), (truth[None] >= own[:, None]).sum(axis=1)
        in_place = (top.rank_limits[:, 0] <= ahead + 1) & (top.rank_limits[:, 1] >= level)
        naive = estimate.interval(LEVEL)[top.positions]
        hits += [covers(top.limits, own).all(), in_place.all(), covers(naive, own).all()]
    return kind, *(int(hit) for hit in hits)
