"""Coverage of profile and bootstrap limits beside a boundary, and of bootstrap limits for conditional shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import maskwell as mw
from maskwell.designs import Design
from maskwell.inference.intervals.bootstrap import Trials, with_share
from tests.evidence.cases import Floats
from tests.evidence.homogeneity_level import draw, shares
from tests.evidence.limits import FALSE_ALARM, LEVEL, covers, within
from tests.evidence.record import Result, Size, Table

SEED = 64_220
SURVEYS: dict[Size, int] = {"reduced": 30, "full": 300}
COMPARED: dict[Size, int] = {"reduced": 2, "full": 10}
# What is equal counts in both tails, which covers too often; the rest is estimated, which covers too seldom.
BANDS = {"bootstrap": (0.93, 1.0), "profile": (0.90, 1.0)}


@dataclass(frozen=True)
class Point:
    """A design, a population beside a boundary, and how many are asked."""

    label: str
    design: Design
    population: Floats
    n: int


def points() -> list[Point]:
    """Shares of 0, .01 and .02 among others."""
    d = mw.designs
    rare, zero = shares(0.02, 0.08, 0.3, 0.6), shares(0, 0.01, 0.04, 0.25, 0.7)
    return [
        Point("uniform_subsets, k=4", d.uniform_subsets(4), rare, 100),
        Point("uniform_subsets, k=5", d.uniform_subsets(5), zero, 150),
        Point("gamma_diagonal epsilon=1, k=4", d.gamma_diagonal(4, epsilon=1), rare, 200),
        Point("rappor epsilon=3, k=5", d.rappor(5, epsilon=3), zero, 100),
        Point("warner .75", d.warner(truth_prob=0.75), shares(0.03, 0.97), 100),
        Point("direct, k=4", d.direct(4), rare, 50),
    ]


def joint_points() -> list[Point]:
    """Two variables; the share asked for is that of the second's first category among those with the first's."""
    d = mw.designs
    table = np.array([[0.0, 0.1, 0.1], [0.1, 0.3, 0.4]]).ravel()
    sets = d.product(d.warner(["a", "b"], truth_prob=0.85), d.uniform_subsets(4), names=["x1", "x2"])
    four = np.array([[0.0, 0.05, 0.1, 0.1], [0.1, 0.2, 0.15, 0.3]]).ravel()
    labels = d.product(d.gamma_diagonal(2, epsilon=2), d.gamma_diagonal(3, epsilon=2), names=["x1", "x2"])
    return [Point("gamma_diagonal x gamma_diagonal", labels, table, 400), Point("warner x sets", sets, four, 400)]


def run(size: Size) -> Result:
    """Every point."""
    surveys = SURVEYS[size]
    rows, failures = [], []
    for i, point in enumerate(points()):
        for method in ("likelihood", "one-step") if i < 2 else ("likelihood",):
            covered, used, unequal = measure(point, method, surveys, COMPARED[size], i)
            failures += [f"{point.label}, {method}: limits and tails disagree {unequal} times"] * bool(unequal)
            for kind, counts in covered.items():
                rates = " ".join(f"{count / used:.3f}" for count in counts)
                rows.append((point.label, point.n, method, kind, rates))
                failures += judged(f"{point.label}, {method}", kind, counts, used)
    for i, point in enumerate(joint_points()):
        for method in ("linear", "likelihood"):
            count = conditional(point, method, surveys, i)
            rows.append((f"{point.label}, share of a group", point.n, method, "bootstrap", f"{count / surveys:.3f}"))
            failures += judged(f"{point.label}, {method}, share of a group", "bootstrap", [count], surveys)
    bands = "; ".join(f"{kind} {low:g} to {high:g}" for kind, (low, high) in BANDS.items())
    least = {kind: min(min(map(float, r[4].split())) for r in rows if r[3] == kind) for kind in BANDS}
    return Result(
        name="bootstrap_coverage",
        title="Profile and bootstrap limits beside a boundary",
        question="How often do 95 % profile and bootstrap limits cover where shares are 0, .01 or .02, by estimator, "
        "and bootstrap limits for the share of a group in a joint table, one of them 0?",
        criterion=f"Binomial limits around {bands}, for each category; false alarm {FALSE_ALARM:g} over all "
        "comparisons. A value is covered if neither tail at it is below .025, which is how limits are found; in some "
        "surveys the limits themselves are computed and must agree. Set before these draws.",
        sizes={"points": len(rows), "surveys per point": surveys, "limits computed in": COMPARED[size], "seed": SEED},
        findings=[
            f"{len(rows)} rows over up to {surveys:,} surveys each: least coverage bootstrap {least['bootstrap']:.3f}, "
            f"profile {least['profile']:.3f}; {len(failures)} failures.",
            "The percentile limits that stood here before covered a share of .25 in .871 of 171 surveys of "
            "uniform_subsets, k=5 (199 replicates each), and could end in an overflow where a share was estimated "
            "as 0.",
        ],
        tables=[Table("Coverage by category:", ("survey", "n", "estimate", "limits", "coverage"), rows)],
        failures=failures,
    )


def judged(label: str, kind: str, counts: Any, surveys: int) -> list[str]:
    """What lies outside its band."""
    return [
        f"{label}, {kind}, category {j}: covered in {count / surveys:.4f}, promised {BANDS[kind]}"
        for j, count in enumerate(counts)
        if not within(int(count), surveys, *BANDS[kind])
    ]


def measure(point: Point, method: Any, surveys: int, compared: int, position: int) -> tuple[dict[str, Any], int, int]:
    """Covered surveys by kind and category, in how many there was an estimate, and how often limits disagreed."""
    rng = np.random.default_rng([SEED, position])
    covered: dict[str, Any] = {"bootstrap": np.zeros(point.design.k, int)}
    if method == "likelihood":
        covered["profile"] = np.zeros(point.design.k, int)
    used, unequal = 0, 0
    for _ in range(surveys):
        tally = draw(point.design, point.population, point.n, rng)
        try:
            estimate: Any = mw.estimate(tally, method)
        except mw.EstimationError:
            continue  # one step is not determined
        kept = _kept(estimate, point.population)
        covered["bootstrap"] += kept
        if method == "likelihood":
            covered["profile"] += covers(estimate.interval(LEVEL, "profile"), point.population)
        if used < compared:
            limits = estimate.interval(LEVEL, "bootstrap")
            clear = np.abs(limits - point.population[:, None]).min(axis=1) > 1e-4
            unequal += int((covers(limits, point.population) != kept)[clear].sum())
        used += 1
    return covered, used, unequal


def _kept(estimate: Any, population: Floats) -> Any:
    """Which true shares neither tail contradicts."""
    trials = Trials(estimate, None)
    kept = []
    for own, share in zip(np.eye(len(population)), population, strict=True):
        tails = trials.tails(with_share(trials.population, own, np.ones(len(own)), share), own - share)
        kept.append(min(tails) > (1 - LEVEL) / 2)
    return np.array(kept)


def conditional(point: Point, method: Any, surveys: int, position: int) -> int:
    """In how many surveys the share of the first cell in the first row was kept."""
    rng = np.random.default_rng([SEED + 1, position])
    design: Any = point.design
    table = point.population.reshape([part.k for part in design.parts])
    both, base = np.zeros_like(table), np.zeros_like(table)
    both[0, 0], base[0] = 1, 1
    share = table[0, 0] / table[0].sum()
    covered = 0
    for _ in range(surveys):
        trials = Trials(mw.estimate(draw(design, point.population, point.n, rng), method), None)
        trial = with_share(trials.population, both.ravel(), base.ravel(), float(share))
        covered += min(trials.tails(trial, both.ravel() - share * base.ravel())) > (1 - LEVEL) / 2
    return covered
