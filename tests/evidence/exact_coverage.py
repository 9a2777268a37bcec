"""The exact coverage of intervals that rest on a binomial count, by enumeration instead of simulation.

For sets of one size, for ``moments`` and for two reports on a yes/no question, the number of reports that hold a
category is binomial. Its n + 1 values are each handed to the package, and the probabilities of those whose interval
covers are summed.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import maskwell as mw
from maskwell.designs import Design
from tests.evidence.cases import CASES, METHODS, Floats
from tests.evidence.limits import KINDS, LEVEL, ORIGIN, ROUNDING, SINGLE, covers, described, promised
from tests.evidence.record import Result, Size, Table

RESPONDENTS: dict[Size, tuple[int, ...]] = {"reduced": (10, 30, 100), "full": (5, 10, 30, 100, 1000)}
SHARES: dict[Size, int] = {"reduced": 201, "full": 1001}
LEVELS: dict[Size, tuple[float, ...]] = {"reduced": (LEVEL,), "full": (0.9, LEVEL, 0.99)}
_EXTRA = (mw.designs.direct(2), mw.designs.gamma_diagonal(2, epsilon=1), mw.designs.gamma_diagonal(2, epsilon=4))


@dataclass(frozen=True)
class Curve:
    """Exact coverage over a grid of true shares."""

    design: Design
    method: str
    kind: str
    level: float
    n: int
    shares: Floats
    expected: Floats
    coverage: Floats


@lru_cache(maxsize=1)
def estimates_by_count(design: Design, method: str, n: int, category: int = 0) -> list[mw.Estimate]:
    """The estimates when 0, 1, ..., n of n reports speak for a category."""
    holding, other = _rows(design, category)
    found = []
    for count in range(n + 1):
        rows = np.zeros(design.report_count(), int)
        rows[holding], rows[other] = count, n - count
        found.append(mw.estimate(mw.Tally.from_counts(design, rows), method))
    return found


def limits_by_count(design: Design, method: str, kind: str, level: float, n: int, category: int = 0) -> Floats:
    """The interval for a category at each of those counts."""
    estimates = estimates_by_count(design, method, n, category)
    return np.array([estimate.interval(level, kind)[category] for estimate in estimates])


def _rows(design: Design, category: int) -> tuple[int, int]:
    """A report that speaks for the category, and one that does not."""
    reports = design.report_labels()
    if design.k == 2 or design.truthful_rows() is not None:
        return category, (category + 1) % design.k
    if not isinstance(reports[0], frozenset):
        chances = design.matrix()[:, category]
        return int(chances.argmax()), int(chances.argmin())
    holds = [design.categories[category] in report for report in reports]
    return holds.index(True), holds.index(False)


def count_probabilities(
    design: Design, method: str, n: int, shares: Floats, category: int = 0
) -> tuple[Floats, Floats]:
    """For each true share of a category, the probability of each count, and of one report to speak for the category."""
    from scipy.stats import binom

    chances = _some_estimate(design, method).scores.binomial()
    assert chances is not None
    given, other = (chance[category] for chance in chances)
    speaks = other + (given - other) * shares
    return binom.pmf(np.arange(n + 1)[:, None], n, speaks), speaks


def coverage_at(limits: Floats, probabilities: Floats, shares: Floats) -> Floats:
    """The probability of the counts whose interval covers, at each share."""
    return np.asarray((probabilities * covers(limits[:, None, :], shares)).sum(axis=0))


def is_binomial(design: Design, method: str) -> bool:
    """Whether the estimator rests on a binomial count."""
    return _some_estimate(design, method).scores.binomial() is not None


def _some_estimate(design: Design, method: str) -> mw.Estimate:
    return mw.estimate(mw.Tally.from_counts(design, np.ones(design.report_count(), int)), method)


def curves(size: Size) -> list[Curve]:
    """All designs, estimators, kinds, levels and sample sizes."""
    designs = (*(case.design for case in CASES), *_EXTRA)
    pairs = [(design, method) for design in designs for method in METHODS if is_binomial(design, method)]
    return [
        curve for design, method in pairs for n in RESPONDENTS[size] for curve in _curves_of(design, method, n, size)
    ]


def _curves_of(design: Design, method: str, n: int, size: Size) -> list[Curve]:
    # With k > 2 a Wald interval may also depend on the other counts, so enumeration by one count is for k = 2 alone.
    kinds = KINDS if design.k == 2 else KINDS[1:]
    shares = np.unique([*np.linspace(0, 1, SHARES[size]), *np.geomspace(0.01 / n, 0.5, SHARES[size])])
    probabilities, speaks = count_probabilities(design, method, n, shares)
    expected = n * np.minimum(speaks, 1 - speaks)
    found = []
    for kind in kinds:
        for level in LEVELS[size]:
            coverage = coverage_at(limits_by_count(design, method, kind, level, n), probabilities, shares)
            found.append(Curve(design, method, kind, level, n, shares, expected, coverage))
    return found


def run(size: Size) -> Result:
    """Enumerate, and hold each coverage against its level or band."""
    found = curves(size)
    failures = []
    for curve in found:
        what = f"{curve.design.name} {curve.method} {curve.kind} {curve.level:g} n={curve.n}"
        if curve.kind == "clopper-pearson" and curve.coverage.min() < curve.level - ROUNDING:
            failures.append(f"{what}: coverage {curve.coverage.min():.4f} at a share of {_at_worst(curve):.4g}")
        elif curve.level == LEVEL:
            bands = [promised(SINGLE[curve.kind], count) for count in curve.expected]
            bad = [
                b is not None and not b[0] <= c <= b[1] + ROUNDING for b, c in zip(bands, curve.coverage, strict=True)
            ]
            if any(bad):
                failures.append(
                    f"{what}: {sum(bad)} shares outside the band, coverage from {curve.coverage[bad].min():.4f}"
                )
    computed = sum(len(curve.shares) for curve in found)
    return Result(
        name="exact_coverage",
        title="Exact interval coverage",
        question="How often does an interval cover the true share, summed over every possible count instead of "
        "simulated? Covers every design and estimator that rests on a binomial count.",
        criterion="Clopper-Pearson never below its level. At 95 %, by the expected number of reports that speak "
        f"for the category or against it, whichever is smaller: {described(SINGLE)}. {ORIGIN} There is no false "
        "alarm: nothing is drawn.",
        sizes={
            "coverages": computed,
            "n": ", ".join(map(str, RESPONDENTS[size])),
            "levels": ", ".join(map(str, LEVELS[size])),
        },
        findings=_findings(found),
        tables=[_by_count(found), _by_level(found)],
        failures=failures,
    )


def _at_worst(curve: Curve) -> float:
    return float(curve.shares[np.argmin(curve.coverage)])


def _findings(found: list[Curve]) -> list[str]:
    at = {kind: [c for c in found if c.kind == kind and c.level == LEVEL] for kind in KINDS}
    exact = min(c.coverage.min() for c in at["clopper-pearson"])
    worst = min(at["wilson"], key=lambda c: c.coverage.min())
    wald = min(at["wald"], key=lambda c: np.where(c.shares > 0, c.coverage, 1).min())
    lowest = np.where(wald.shares > 0, wald.coverage, 1)
    return [
        f"Clopper-Pearson at 95 % covers at least {exact:.4f} everywhere.",
        f"Wilson at 95 % covers at least {worst.coverage.min():.3f}; the worst is {worst.design.name} with n = "
        f"{worst.n} at a share of {_at_worst(worst):.2g}, where {worst.expected[np.argmin(worst.coverage)]:.2g} "
        "telling reports are expected.",
        f"Wald at 95 % goes down to {lowest.min():.3f}: {wald.design.name} with n = {wald.n} at a share of "
        f"{wald.shares[np.argmin(lowest)]:.2g}. It is promised nothing below 20 expected reports.",
    ]


def _by_count(found: list[Curve]) -> Table:
    edges = [0, 1, 5, 20, 40, np.inf]
    rows = []
    for low, high in itertools.pairwise(edges):
        row: list[str] = [f"{low:g} to {high:g}" if np.isfinite(high) else f"{low:g} or more"]
        for kind in KINDS:
            values = [
                c.coverage[(c.expected >= low) & (c.expected < high) & (c.shares > 0)]
                for c in found
                if c.kind == kind and c.level == LEVEL
            ]
            merged = np.concatenate(values)
            row.append(f"{merged.min():.3f} to {merged.max():.3f}" if len(merged) else "none")
        rows.append(row)
    return Table(
        "Exact coverage of 95 % intervals by expected count, over all designs, n and shares above 0:",
        ("expected", *KINDS),
        rows,
    )


def _by_level(found: list[Curve]) -> Table:
    rows = []
    for level in sorted({c.level for c in found}):
        for n in sorted({c.n for c in found}):
            row: list[str | int] = [f"{100 * level:g} %", n]
            for kind in KINDS:
                chosen = [c for c in found if (c.kind, c.level, c.n) == (kind, level, n)]
                means = [float(np.interp(np.linspace(0, 1, 201), c.shares, c.coverage).mean()) for c in chosen]
                row += [
                    f"{min(means):.3f} to {max(means):.3f}",
                    f"{min(c.coverage[c.shares > 0].min() for c in chosen):.3f}",
                ]
            rows.append(row)
    columns = ("level", "n", *(f"{kind} {what}" for kind in KINDS for what in ("mean", "least")))
    return Table(
        "Coverage averaged over shares from 0 to 1 (range over designs), and the least at any share above 0:",
        columns,
        rows,
    )
