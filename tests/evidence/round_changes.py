"""Changes between two rounds of the same people: coverage of their intervals, and the variance that they state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maskwell import rounds
from maskwell.designs import LayeredDesign
from tests.evidence.cases import Floats
from tests.evidence.limits import FALSE_ALARM, LEVEL, covers, within
from tests.evidence.record import Result, Size, Table

SEED = 2014
SURVEYS: dict[Size, int] = {"reduced": 200, "full": 5_000}
PEOPLE = 1000
BAND = (0.935, 0.965)
_START = np.array([0.4, 0.3, 0.2, 0.1])


@dataclass(frozen=True)
class Case:
    """A pair of layers, and the share of people who change to the next answer."""

    label: str
    design: LayeredDesign
    moved: float

    @property
    def joint(self) -> Floats:
        return np.asarray((1 - self.moved) * np.diag(_START) + self.moved * np.diag(_START) @ np.roll(np.eye(4), 1, 1))


def _cases() -> list[Case]:
    designs = {
        "k-ary, epsilon 3 and 2": rounds.kary(4, longitudinal=3, per_round=2),
        "bits, epsilon 3 and 1": rounds.unary(4, longitudinal=3, per_round=1),
        "RAPPOR, f = .5, p = .5, q = .75": rounds.rappor(4, f=0.5, p=0.5, q=0.75),
    }
    return [Case(label, design, moved) for label, design in designs.items() for moved in (0.0, 0.1, 0.5)]


def run(size: Size) -> Result:
    """Estimate the change in many surveys, by row, by joint shares, and as if rounds were of different people."""
    surveys = SURVEYS[size]
    rows, failures = [], []
    for position, case in enumerate(_cases()):
        covered, apart, any_people, ratio = measure(case, surveys, position)
        shares = [hits / (4 * surveys) for hits in (*covered, apart, any_people)]
        rows.append((case.label, f"{100 * case.moved:g} %", *shares, ratio))
        for what, hits in zip(("by row", "by joint shares"), covered, strict=True):
            if not within(hits // 4, surveys, *BAND):
                failures.append(f"{case.label}, {case.moved}: {what} covered in {hits / 4 / surveys:.4f}")
        if not within(any_people // 4, surveys, BAND[0], 1):
            failures.append(f"{case.label}, {case.moved}: whoever changed, covered in {shares[3]:.4f}")
    least, most = (f(row[i] for row in rows for i in (2, 3)) for f in (min, max))
    return Result(
        name="round_changes",
        title="Changes between two rounds of the same people",
        question="Both rounds show the same permanent reports of those who did not change. Do intervals of the change "
        "that include this covariance cover as they should?",
        criterion=f"Coverage of {100 * LEVEL:g} % intervals between {BAND[0]} and {BAND[1]} by row and by joint "
        f"shares, and at least {BAND[0]} whoever changed, up to simulation error (false alarm {FALSE_ALARM:g}).",
        sizes={"surveys a case": surveys, "people": PEOPLE, "cases": len(rows), "seed": SEED},
        findings=[
            f"Coverage {least:.3f} to {most:.3f} by row and by joint shares; rounds taken for different people would "
            f"cover {min(row[4] for row in rows):.3f} to {max(row[4] for row in rows):.3f}."
        ],
        tables=[
            Table(
                "Coverage on average over four categories; the last column is the variance of the change found over "
                "the one that joint shares state.",
                ("layers", "changed", "by row", "joint shares", "as if different", "whoever changed", "variance ratio"),
                rows,
            )
        ],
        failures=failures,
    )


def measure(case: Case, surveys: int, position: int) -> tuple[list[int], int, int, float]:
    """How many intervals covered, of four a survey: by row and joint shares, as if different, whoever changed."""
    rng = np.random.default_rng([SEED, position])
    joint = case.joint
    truth = joint.sum(axis=0) - joint.sum(axis=1)
    hits = np.zeros(4, int)
    found, stated = [], np.zeros(4)
    for survey in range(surveys):
        cells = rng.choice(16, size=PEOPLE, p=joint.ravel())
        key, ids = rng.bytes(32), np.arange(PEOPLE)
        first, second = (
            rounds.report(
                case.design, values, key=key, ids=ids, question="q", seed=2 * (position * surveys + survey) + at
            )
            for at, values in enumerate((cells // 4, cells % 4))
        )
        tallies = first.tally(), second.tally()
        changes = [
            rounds.change(first, second),
            rounds.change(*tallies, joint=joint),
            rounds.change(*tallies, same_people=False),
            rounds.change(*tallies),
        ]
        hits += [int(covers(change.interval(LEVEL), truth).sum()) for change in changes]
        found.append(changes[0].differences)
        stated += changes[1].variances
    ratio = float((np.var(found, axis=0, ddof=1) / (stated / surveys)).mean())
    return [int(hits[0]), int(hits[1])], int(hits[2]), int(hits[3]), ratio
