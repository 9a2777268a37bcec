"""The power of the test that groups do not differ, beside other tests and beside an oracle that sees true answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2_contingency

import maskwell as mw
from maskwell.designs import Design
from maskwell.inference.likelihood.maximum import most_likely
from tests.evidence.cases import Floats
from tests.evidence.homogeneity_level import falling, shares
from tests.evidence.record import Result, Size, Table

SEED = 88_123
SURVEYS: dict[Size, int] = {"reduced": 40, "full": 150}
PERMUTATIONS = 99
LEVEL = 0.05
OTHERS = ("Rao", "likelihood ratio", "Pearson of reports")
# Below the best of the others at a point, and on average: set before the draws, and allowing for their chance.
MOST_BELOW, MEAN_BELOW = 0.2, 0.05


@dataclass(frozen=True)
class Point:
    """Two groups asked with one design that differ."""

    label: str
    design: Design
    first: Floats
    second: Floats
    sizes: tuple[int, int]


def points() -> list[Point]:
    """Differences in common and rare categories, with and without empty ones, few to 200 categories."""
    d = mw.designs
    w, common, rare = shares(0.5, 0.3, 0.15, 0.05), shares(0.35, 0.45, 0.15, 0.05), shares(0.5, 0.25, 0.05, 0.2)
    two = shares(0.7, 0.3, 0, 0, 0, 0, 0, 0)
    even, new = shares(0.5, 0.5, 0, 0, 0, 0, 0, 0), shares(0.5, 0.3, 0, 0, 0, 0.2, 0, 0)
    wide = falling(200, 0.8)
    moved = wide.copy()
    moved[0], moved[3] = wide[0] - 0.12, wide[3] + 0.12
    return [
        Point("direct, k=4, common", d.direct(4), w, common, (150, 100)),
        Point("direct, k=4, rare", d.direct(4), w, rare, (60, 60)),
        Point("gamma_diagonal epsilon=1, k=4, common", d.gamma_diagonal(4, epsilon=1), w, common, (900, 600)),
        Point("gamma_diagonal epsilon=1, k=4, rare", d.gamma_diagonal(4, epsilon=1), w, rare, (900, 600)),
        Point("uniform_subsets, k=4, common", d.uniform_subsets(4), w, common, (250, 200)),
        Point("uniform_subsets, k=4, rare", d.uniform_subsets(4), w, rare, (250, 200)),
        Point("gamma_diagonal epsilon=2, k=8, two categories", d.gamma_diagonal(8, epsilon=2), two, even, (250, 250)),
        Point("gamma_diagonal epsilon=2, k=8, a new category", d.gamma_diagonal(8, epsilon=2), two, new, (200, 200)),
        Point("uniform_subsets, k=8, two categories", d.uniform_subsets(8), two, even, (150, 150)),
        Point("uniform_subsets, k=8, a new category", d.uniform_subsets(8), two, new, (100, 100)),
        Point("gamma_diagonal epsilon=5, k=200", d.gamma_diagonal(200, epsilon=5), wide, moved, (500, 500)),
    ]


def run(size: Size) -> Result:
    """The same surveys for all tests."""
    surveys = SURVEYS[size]
    chosen = list(enumerate(points()))[:: 1 if size == "full" else 3]
    found = [(p, measure(p, surveys, i)) for i, p in chosen]
    below = [max(powers[name] for name in OTHERS if name in powers) - powers["ours"] for _, powers in found]
    failures = [
        f"{p.label}: {gap:.3f} below the best of the others"
        for (p, _), gap in zip(found, below, strict=True)
        if gap > MOST_BELOW
    ]
    if np.mean(below) > MEAN_BELOW:
        failures.append(f"on average {np.mean(below):.3f} below the best of the others")
    columns = ("ours", *OTHERS, "oracle")
    return Result(
        name="homogeneity_power",
        title="The power of the test that groups do not differ",
        question="How often does homogeneity_test see a difference between two groups, beside three other tests that "
        "are calibrated by permutation, and beside Pearson's test on the true answers?",
        criterion=f"At level {LEVEL}, at no point more than {MOST_BELOW} below the best of the others, and on average "
        f"at most {MEAN_BELOW} below it. Set before these draws; a share of {surveys} surveys has a standard error of "
        f"at most {0.5 / surveys**0.5:.3f}.",
        sizes={"points": len(found), "surveys per point": surveys, "permutations": PERMUTATIONS, "seed": SEED},
        findings=[
            f"{len(found)} points: {len(failures)} failures; on average {np.mean(below):+.3f} below the best of the "
            f"three others at each point, at most {max(below):+.3f}.",
            "A first run, with other draws and a ridge twice as large in the statistic, was .227 below the best at one "
            "point (rare categories of uniform_subsets, k=4); the ridge was halved and these draws made.",
            "Rao's score test, with all directions counted alike, is the better one where rare categories differ and "
            "no category is empty; it loses most where many are. The likelihood ratio is not run at 200 categories.",
        ],
        tables=[
            Table(
                f"Share of surveys rejected at level {LEVEL}:",
                ("groups", "sizes", *columns),
                [
                    (p.label, f"{p.sizes[0]} {p.sizes[1]}", *(f"{w[c]:.2f}" if c in w else "" for c in columns))
                    for p, w in found
                ],
            )
        ],
        failures=failures,
    )


def measure(point: Point, surveys: int, position: int) -> dict[str, float]:
    """By test, the share of surveys rejected."""
    rng = np.random.default_rng([SEED, position])
    tests = [name for name in OTHERS if name != "likelihood ratio" or point.design.k <= 20]
    rejected = dict.fromkeys(["ours", *tests, "oracle"], 0)
    matrix = point.design.matrix()
    for _ in range(surveys):
        truths = [rng.multinomial(n, w) for n, w in zip(point.sizes, (point.first, point.second), strict=True)]
        table = np.array([sum(rng.multinomial(c, matrix[:, j]) for j, c in enumerate(t) if c) for t in truths])
        tallies = [mw.Tally.from_counts(point.design, row) for row in table]
        rejected["ours"] += mw.homogeneity_test(tallies).p_value <= LEVEL
        asked = np.array(truths)[:, np.sum(truths, axis=0) > 0]
        rejected["oracle"] += chi2_contingency(asked, correction=False).pvalue <= LEVEL
        for name, statistics in permuted(matrix, table, tests, rng).items():
            rejected[name] += np.mean(statistics >= statistics[0] - 1e-9) <= LEVEL
    return {name: count / surveys for name, count in rejected.items()}


def permuted(matrix: Floats, table: Floats, tests: list[str], rng: np.random.Generator) -> dict[str, Floats]:
    """Statistics of the survey, first, and of divisions of the same reports."""
    came = table.sum(axis=0) > 0
    total = table.sum(axis=0)[came]
    rows = matrix[came] / matrix[came].mean(axis=1, keepdims=True)
    size, n = int(table[0].sum()), int(total.sum())
    divisions = np.vstack([table[:1, came], rng.multivariate_hypergeometric(total, size, size=PERMUTATIONS)])
    off = divisions - size * total / n
    found = {"Pearson of reports": (off**2 / total).sum(axis=1)}
    common = most_likely(rows, total)
    scores = rows / (rows @ common)[:, None]
    scores = scores - total @ scores / n
    inverse = np.linalg.pinv((scores * total[:, None]).T @ scores, rcond=1e-10, hermitian=True)
    sums = divisions @ scores
    found["Rao"] = np.einsum("bi,ij,bj->b", sums, inverse, sums)
    if "likelihood ratio" in tests:
        found["likelihood ratio"] = np.array([_maximum(rows, d) + _maximum(rows, total - d) for d in divisions])
    return found


def _maximum(rows: Floats, counts: Floats) -> float:
    came = counts > 0
    chances = rows[came] @ most_likely(rows[came], counts[came])
    return float(counts[came] @ np.log(chances))
