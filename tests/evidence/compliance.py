"""People who do not follow the design: coverage of their share, size and power of the test, and what cannot be told."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom

import maskwell as mw
from maskwell.designs import Design
from maskwell.inference.compliance.fit import fit_groups
from maskwell.inference.compliance.groups import read_groups
from tests.evidence.cases import Floats
from tests.evidence.record import Result, Size, Table

SEED = 6121
SURVEYS: dict[Size, int] = {"reduced": 120, "full": 1_000}
COVERAGE = (0.93, 0.99)
LEVEL = 0.05
POWER_SLACK = 0.04
FALSE_ALARM = 1e-6
COMPARISONS = 200


@dataclass(frozen=True)
class Point:
    """Groups with a design and a size each, what some people do, and how common everything is."""

    label: str
    designs: tuple[Design, ...]
    behaviours: dict[str, Any]
    proportions: tuple[float, ...]
    shares: tuple[float, ...]
    sizes: tuple[int, ...]
    reduced: bool = False

    @property
    def truth(self) -> Floats:
        """The shares of all classes."""
        return np.array([*(p * (1 - sum(self.shares)) for p in self.proportions), *self.shares])

    @property
    def complies(self) -> bool:
        """Whether everybody follows the design."""
        return not any(self.shares)


def points() -> list[Point]:
    """Published models with and without people who do not comply, small shares, several behaviours and categories."""
    d = mw.designs
    dice = tuple(d.forced_response(yes_prob=p, no_prob=0) for p in ("1/6", "5/6"))
    milder = tuple(d.forced_response(yes_prob=p, no_prob="1/10") for p in ("1/6", "2/3"))
    crossed = tuple(d.crosswise(innocuous_prob=p) for p in ("1/4", "3/4"))
    three = tuple(
        d.forced_response(3, forced=f) for f in (["1/6"] * 3, ["1/2", "1/12", "1/12"], ["1/12", "1/12", "1/2"])
    )
    no, same = {"always no": "no"}, {"always same": "same"}
    both = {"always 0": 0, "always 1": 1}
    return [
        Point("cheating detection, everybody complies", dice, no, (0.2, 0.8), (0,), (500, 500), True),
        Point("cheating detection, everybody complies, n=4,000", dice, no, (0.1, 0.9), (0,), (2_000, 2_000)),
        Point("cheating detection, 10 %", dice, no, (0.2, 0.8), (0.1,), (500, 500), True),
        Point("cheating detection, 3 %", dice, no, (0.3, 0.7), (0.03,), (1_500, 1_500)),
        Point("cheating detection, unequal groups", dice, no, (0.3, 0.7), (0.2,), (300, 900)),
        Point("lie detector, 15 %", dice, {"lies": mw.Behaviour("no", of="yes")}, (0.2, 0.8), (0.15,), (700, 700)),
        Point("two-sided dice, everybody complies", milder, no, (0.4, 0.6), (0,), (1_000, 1_000), True),
        Point("two-sided dice, 8 %", milder, no, (0.4, 0.6), (0.08,), (1_000, 1_000)),
        Point("extended crosswise, everybody complies", crossed, same, (0.3, 0.7), (0,), (600, 600)),
        Point("extended crosswise, 12 % always same", crossed, same, (0.3, 0.7), (0.12,), (600, 600)),
        Point("three groups, everybody complies", three, both, (0.3, 0.3, 0.4), (0, 0), (900, 900, 900), True),
        Point("three groups, two behaviours", three, both, (0.3, 0.3, 0.4), (0.1, 0.15), (900, 900, 900)),
        Point("three groups, guessing", three[:2], {"guess": "random"}, (0.3, 0.3, 0.4), (0.2,), (2_000, 2_000)),
    ]


@dataclass(frozen=True)
class Found:
    """What came out at a point: how often limits covered, the test rejected, and errors against what was found."""

    point: Point
    surveys: int
    covered: dict[str, int]
    rejected: int
    ratio: float
    references: Counter[str]
    planned: float | None


def measure(point: Point, surveys: int, position: int) -> Found:
    """Simulated surveys at a point."""
    rng = np.random.default_rng([SEED, position])
    start = read_groups([mw.Tally.from_counts(d, np.ones(d.report_count())) for d in point.designs], point.behaviours)
    chances = [matrix @ point.truth for matrix in start.classes.matrices]
    covered: dict[str, int] = {"profile": 0, "wald": 0}
    rejected, estimates, errors, references = 0, [], [], Counter[str]()
    for _ in range(surveys):
        counts = [rng.multinomial(n, p / p.sum()).astype(float) for n, p in zip(point.sizes, chances, strict=True)]
        tallies = [mw.Tally.from_counts(d, c) for d, c in zip(point.designs, counts, strict=True)]
        found = fit_groups(read_groups(tallies, point.behaviours))
        test = found.test()
        rejected += test.p_value <= LEVEL
        references["draws" if test.draws else "law"] += 1
        estimates.append(found.shares)
        errors.append(found.standard_errors)
        for kind in covered:
            low, high = found.interval(method=kind)[0]  # type: ignore[arg-type]
            covered[kind] += bool(low - 1e-7 <= point.shares[0] <= high + 1e-7)
    spread = np.std(estimates, axis=0, ddof=1)
    ratio = float((np.sqrt(np.mean(np.square(errors), axis=0)) / np.maximum(spread, 1e-12))[0])
    return Found(point, surveys, covered, rejected, ratio, references, _planned(point))


def _planned(point: Point) -> float | None:
    if point.complies or len(point.shares) > 1:
        return None
    plan = mw.planning.compliance_groups(
        point.designs,
        point.behaviours,
        proportions=point.proportions,
        shares=dict(zip(point.behaviours, point.shares, strict=True)),
        n=sum(point.sizes),
        split=point.sizes,
    )
    return plan.power


def _limits(surveys: int, low: float, high: float) -> tuple[int, int]:
    tail = FALSE_ALARM / COMPARISONS
    return int(binom.ppf(tail, surveys, max(low, 0.0))), int(binom.isf(tail, surveys, min(high, 1.0)))


def violations(found: Found) -> list[str]:
    """Coverage of profile limits, size under full compliance, and planned power elsewhere."""
    label, surveys = found.point.label, found.surveys
    low, high = _limits(surveys, COVERAGE[0], 1.0 if found.point.complies else COVERAGE[1])
    failures = []
    if not low <= found.covered["profile"] <= high:
        failures.append(f"{label}: profile limits cover {found.covered['profile'] / surveys:.3f}")
    if found.point.complies:
        most = _limits(surveys, LEVEL, LEVEL)[1]
        if found.rejected > most:
            failures.append(f"{label}: full compliance is rejected in {found.rejected / surveys:.3f}")
    elif found.planned is not None:
        least, most = _limits(surveys, found.planned - POWER_SLACK, found.planned + POWER_SLACK)
        if not least <= found.rejected <= most:
            failures.append(f"{label}: power {found.rejected / surveys:.3f}, planned {found.planned:.3f}")
    return failures


def run(size: Size) -> Result:
    """Every point, or a few."""
    chosen = [(i, p) for i, p in enumerate(points()) if size == "full" or p.reduced]
    found = [measure(p, SURVEYS[size], i) for i, p in chosen]
    failures = [failure for f in found for failure in violations(f)]
    sizes = [f.rejected / f.surveys for f in found if f.point.complies]
    cover = [f.covered["profile"] / f.surveys for f in found]
    return Result(
        name="compliance",
        title="People who do not follow the design",
        question="Do the limits of their share hold, is full compliance rejected as rarely as the level says, and as "
        "often as was planned where some do not comply? Groups by published models (cheating detection, lie detector, "
        "extended crosswise), two-sided dice, three groups with two behaviours.",
        criterion=f"95 % profile limits cover {COVERAGE[0]} to {COVERAGE[1]} (up to 1 where the share is 0); the test "
        f"rejects full compliance at most at its level of {LEVEL} where everybody complies, and within {POWER_SLACK} "
        f"of the planned power elsewhere. Each with binomial limits of false alarm {FALSE_ALARM:g} over "
        f"{COMPARISONS} comparisons. Set before these draws.",
        sizes={"points": len(found), "surveys per point": SURVEYS[size], "seed": SEED},
        findings=[
            f"{len(found)} points: profile limits cover {min(cover):.3f} to {max(cover):.3f}; full compliance is "
            f"rejected in {min(sizes):.3f} to {max(sizes):.3f} of the surveys where it holds."
        ],
        tables=[
            Table(
                "Coverage of the (first) behaviour's share, stated over found standard error, share of surveys that "
                "reject full compliance, its planned value, and what the p-value was read from:",
                ("groups", "n", "profile", "wald", "error ratio", "rejects", "planned", "law / draws"),
                [
                    (
                        f.point.label,
                        sum(f.point.sizes),
                        *(f"{f.covered[kind] / f.surveys:.3f}" for kind in ("profile", "wald")),
                        f"{f.ratio:.3f}",
                        f"{f.rejected / f.surveys:.3f}",
                        "–" if f.planned is None else f"{f.planned:.3f}",
                        f"{f.references['law']} / {f.references['draws']}",
                    )
                    for f in found
                ],
            )
        ],
        failures=failures,
    )
