"""Interval coverage over simulated surveys, for every design, estimator and kind of interval."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import dataclass
from functools import partial

import numpy as np

import maskwell as mw
from tests.evidence.cases import CASES, METHODS, Case, expected_counts
from tests.evidence.exact_coverage import count_probabilities, coverage_at, is_binomial, limits_by_count
from tests.evidence.limits import FALSE_ALARM, JOINT, KINDS, LEVEL, ORIGIN, SINGLE, covers, described, promised, within
from tests.evidence.record import Result, Size, Table
from tests.evidence.surveys import tallies
from tests.evidence.workers import measured

SEED = 20_190_801
# For each name of a design, estimator and kind of interval, over all cells; never below 2,000.
SURVEYS: dict[Size, int] = {"reduced": 2_000, "full": 20_000}
RESPONDENTS = (30, 100, 1000)
# Larger samples are enumerated in the topic `exact_coverage`.
COMPARED_UP_TO = 100


@dataclass(frozen=True)
class Coverage:
    """In how many surveys intervals covered: each category by itself, and all of them together."""

    name: str
    case: str
    method: str
    kind: str
    population: str
    n: int
    surveys: int
    truth: list[float]
    expected: list[float]
    single: list[int]
    joint: int


def measure(case: Case, size: Size) -> list[Coverage]:
    """All cells of one design."""
    design = case.design
    surveys = math.ceil(SURVEYS[size] / (alike(case) * len(case.populations) * len(RESPONDENTS)))
    found = []
    for p, (label, truth) in enumerate(case.populations.items()):
        for n in RESPONDENTS:
            rng = np.random.default_rng([SEED, case.seed, p, n])
            single: dict[tuple[str, str], np.ndarray] = defaultdict(lambda: np.zeros(design.k, int))
            joint: dict[tuple[str, str], int] = defaultdict(int)
            for tally in tallies(design, truth, n, surveys, rng):
                for method in METHODS:
                    estimate = mw.estimate(tally, method)
                    for kind in kinds_of(estimate):
                        single[method, kind] += covers(estimate.interval(LEVEL, kind), truth)
                        joint[method, kind] += covers(estimate.interval(LEVEL, kind, simultaneous=True), truth).all()
            for (method, kind), hits in single.items():
                found.append(
                    Coverage(
                        name=case.name,
                        case=case.label,
                        method=method,
                        kind=kind,
                        population=label,
                        n=n,
                        surveys=surveys,
                        truth=truth.tolist(),
                        expected=expected_counts(design, truth, n).tolist(),
                        single=hits.tolist(),
                        joint=int(joint[method, kind]),
                    )
                )
    return found


def alike(case: Case) -> int:
    """How many cases share a case's name and kinds of interval, and so its number of surveys."""
    kinds = [is_binomial(case.design, method) for method in METHODS]
    named = [other.design for other in CASES if other.name == case.name]
    return sum([is_binomial(design, method) for method in METHODS] == kinds for design in named)


def kinds_of(estimate: mw.Estimate) -> tuple[str, ...]:
    """The kinds of interval that an estimate has."""
    return KINDS if estimate.scores.binomial() else ("wald", "wilson")


def every_cell(size: Size) -> list[Coverage]:
    """Every cell of every design."""
    return [cell for part in measured(partial(measure, size=size), CASES, size) for cell in part]


def run(size: Size) -> Result:
    """Simulate every cell and hold it against its band."""
    return conclude(every_cell(size))


def conclude(cells: list[Coverage]) -> Result:
    """Judge simulated coverages: each category, all together, and against enumeration where the count is binomial."""
    failures = [text for cell in cells for text in (*_outside(cell), *_unlike_exact(cell))]
    pairs: dict[tuple[str, str, str], int] = defaultdict(int)
    for cell in cells:
        pairs[cell.name, cell.method, cell.kind] += cell.surveys
    return Result(
        name="coverage",
        title="Interval coverage in simulated surveys",
        question="How often do 95 % intervals cover the truth? Every named design that can tell single categories, "
        "both estimators and every kind of interval, with 30, 100 and 1,000 respondents, in a population with "
        "shares of 0, .005 and .02 and in an even one. Each survey draws its report counts from the design's "
        "matrix.",
        criterion="Binomial limits around the bands for one category, by the expected number of telling reports: "
        f"{described(SINGLE)}. For all categories together: {described(JOINT)}. Where the count is binomial, the "
        f"simulated coverage also agrees with the enumerated one. False alarm {FALSE_ALARM:g} over all comparisons. "
        f"{ORIGIN}",
        sizes={"combinations": len(pairs), "surveys of each at least": min(pairs.values()), "seed": SEED},
        findings=[
            f"{len(pairs)} combinations of design, estimator and interval, each over at least "
            f"{min(pairs.values()):,} surveys: {len(failures)} outside their limits.",
            f"The lowest single coverage is {_lowest(_of(cells, 'clopper-pearson'))} for Clopper-Pearson, "
            f"{_lowest(_of(cells, 'wilson'))} for Wilson and {_lowest(_of(cells, 'wald'))} for Wald. The standard "
            f"error of one such number is about {_simulation_error(cells):.4f} near 95 %, so the least of many "
            "falls below its exact value.",
            "Wald fails where few telling reports are expected: rare categories asked directly or at large "
            "epsilon, and small n.",
        ],
        tables=[_by_count(cells), _wald_failures(cells), _by_design(cells)],
        failures=failures,
    )


def _outside(cell: Coverage) -> list[str]:
    found = []
    for truth, expected, covered in zip(cell.truth, cell.expected, cell.single, strict=True):
        band = promised(SINGLE[cell.kind], expected)
        if band and not within(covered, cell.surveys, *band):
            found.append(f"{_named(cell)}: share {truth:.3g} covered in {covered / cell.surveys:.4f}, promised {band}")
    band = promised(JOINT[cell.kind], min(cell.expected))
    if band and not within(cell.joint, cell.surveys, *band):
        found.append(f"{_named(cell)}: all covered in {cell.joint / cell.surveys:.4f}, promised {band}")
    return found


def _unlike_exact(cell: Coverage) -> list[str]:
    design = next(case.design for case in CASES if case.label == cell.case)
    if cell.kind == "wald" or cell.n > COMPARED_UP_TO or not is_binomial(design, cell.method):
        return []
    found = []
    for j, (truth, covered) in enumerate(zip(cell.truth, cell.single, strict=True)):
        category = j if design.k == 2 else 0
        share = np.array([truth])
        probabilities, _ = count_probabilities(design, cell.method, cell.n, share, category)
        limits = limits_by_count(design, cell.method, cell.kind, LEVEL, cell.n, category)
        exact = float(coverage_at(limits, probabilities, share)[0])
        if not within(covered, cell.surveys, exact, exact):
            found.append(
                f"{_named(cell)}: share {truth:.3g} covered in {covered / cell.surveys:.4f}, exactly {exact:.4f}"
            )
    return found


def _named(cell: Coverage) -> str:
    return f"{cell.case}, {cell.method}, {cell.kind}, {cell.population}, n={cell.n}"


def _of(cells: list[Coverage], kind: str) -> list[Coverage]:
    return [cell for cell in cells if cell.kind == kind]


def _lowest(cells: list[Coverage]) -> str:
    return f"{min(min(cell.single) / cell.surveys for cell in cells):.3f}" if cells else "none"


def _simulation_error(cells: list[Coverage]) -> float:
    return math.sqrt(LEVEL * (1 - LEVEL) / min(cell.surveys for cell in cells))


def _by_count(cells: list[Coverage]) -> Table:
    edges = [0, 1, 5, 20, 40, np.inf]
    rows = []
    for low, high in itertools.pairwise(edges):
        row = [f"{low:g} to {high:g}" if np.isfinite(high) else f"{low:g} or more"]
        for kind in KINDS:
            of_kind = _of(cells, kind)
            single = [
                s / c.surveys for c in of_kind for s, e in zip(c.single, c.expected, strict=True) if low <= e < high
            ]
            joint = [c.joint / c.surveys for c in of_kind if low <= min(c.expected) < high]
            row += [f"{min(values):.3f} to {max(values):.3f}" if values else "none" for values in (single, joint)]
        rows.append(row)
    columns = ("expected", *(f"{kind} {what}" for kind in KINDS for what in ("one", "all")))
    return Table(
        "Coverage of one category, and of all together, by the expected number of telling reports:", columns, rows
    )


def _wald_failures(cells: list[Coverage]) -> Table:
    poor = [
        (covered / cell.surveys, cell, truth, expected)
        for cell in _of(cells, "wald")
        for covered, truth, expected in zip(cell.single, cell.truth, cell.expected, strict=True)
        if covered / cell.surveys < 0.92
    ]
    worst: dict[tuple[str, str], tuple[float, Coverage, float, float]] = {}
    for entry in sorted(poor, key=lambda found: found[0]):
        worst.setdefault((entry[1].case, entry[1].method), entry)
    rows = [
        (cell.case, cell.method, cell.n, f"{truth:.3g}", f"{expected:.2g}", f"{coverage:.3f}")
        for coverage, cell, truth, expected in worst.values()
    ]
    caption = (
        f"Where Wald fails: {len(poor)} categories are covered in less than 92 %; the worst by design and estimator:"
    )
    return Table(caption, ("design", "estimator", "n", "share", "expected", "coverage"), rows)


def _by_design(cells: list[Coverage]) -> Table:
    rows = []
    for case, method in dict.fromkeys((cell.case, cell.method) for cell in cells):
        row = [case, method]
        for kind in KINDS:
            chosen = [c for c in cells if (c.case, c.method, c.kind) == (case, method, kind)]
            row.append(f"{np.mean([np.mean(c.single) / c.surveys for c in chosen]):.3f}" if chosen else "–")
            row.append(_lowest(chosen) if chosen else "–")
            row.append(f"{min(c.joint / c.surveys for c in chosen):.3f}" if chosen else "–")
        rows.append(row)
    columns = ("design", "estimator", *(f"{kind} {what}" for kind in KINDS for what in ("mean", "least", "least all")))
    return Table(
        "Mean and least coverage over categories, populations and n, and the least coverage of all together:",
        columns,
        rows,
    )
