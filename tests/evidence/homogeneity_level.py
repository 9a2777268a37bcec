"""The level of the test that groups do not differ: how often it rejects when they do not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

import maskwell as mw
from maskwell.designs import Design
from tests.evidence.cases import Floats
from tests.evidence.independence_size import FALSE_ALARM, limits
from tests.evidence.record import Result, Size, Table

SEED = 5531
SURVEYS: dict[Size, int] = {"reduced": 150, "full": 600}
FEWER: dict[Size, int] = {"reduced": 20, "full": 120}
LEVELS = (0.05, 0.01)


@dataclass(frozen=True)
class Point:
    """Groups with a design and a size each, and the population they share."""

    label: str
    designs: tuple[Design, ...]
    population: Floats
    sizes: tuple[int, ...]
    patterns: bool = True
    reduced: bool = False

    @property
    def wide(self) -> bool:
        """Hundreds of categories: fewer surveys."""
        return len(self.population) > 100

    def groups(self, rng: np.random.Generator) -> list[mw.Tally]:
        """One survey."""
        return [draw(d, self.population, n, rng, self.patterns) for d, n in zip(self.designs, self.sizes, strict=True)]


def draw(design: Design, population: Floats, n: int, rng: np.random.Generator, patterns: bool = True) -> mw.Tally:
    """The tally of n respondents."""
    chances = design.matrix() @ population
    tally = mw.Tally.from_counts(design, rng.multinomial(n, chances / chances.sum()))
    return tally if patterns else mw.Tally(design, tally.counts, n)


def falling(k: int, ratio: float = 0.6) -> Floats:
    """Shares that fall by a ratio from category to category."""
    shares = ratio ** np.arange(k)
    return np.asarray(shares / shares.sum())


def shares(*given: float) -> Floats:
    """Shares as they are."""
    return np.array(given)


def points() -> list[Point]:
    """The grid: singular, sparse, at a boundary, wide, unequal, two to eight groups, direct to heavily masked."""
    d = mw.designs
    two, warner = d.direct(["yes", "no"]), d.warner(truth_prob=0.75)
    k5 = {e: d.gamma_diagonal(5, epsilon=e) for e in (1, 4, 5)}
    return [
        Point("direct, k=2, share 0", (two,) * 2, shares(0, 1), (50, 50)),
        Point("direct, k=2, share .01", (two,) * 2, shares(0.01, 0.99), (200, 300)),
        Point("direct, k=2, even", (two,) * 2, shares(0.5, 0.5), (1_000, 400)),
        Point("direct, k=5", (d.direct(5),) * 2, falling(5), (30, 30)),
        Point("direct, k=5, eight groups", (d.direct(5),) * 8, falling(5), (10, 15, 20, 25, 30, 40, 60, 400)),
        Point("direct, k=200", (d.direct(200),) * 2, falling(200, 0.97), (500, 500)),
        Point("gamma_diagonal epsilon=5, k=5", (k5[5],) * 2, falling(5), (30, 30), reduced=True),
        Point("gamma_diagonal epsilon=4, k=5", (k5[4],) * 2, falling(5), (30, 30), reduced=True),
        Point("gamma_diagonal epsilon=4, k=5, unequal", (k5[4],) * 2, falling(5), (20, 3_000)),
        Point("gamma_diagonal epsilon=1, k=5", (k5[1],) * 3, falling(5), (300, 100, 500)),
        Point("gamma_diagonal epsilon=1, k=5, one category", (k5[1],) * 2, np.eye(5)[0], (100, 100)),
        Point(
            "gamma_diagonal epsilon=2, k=200", (d.gamma_diagonal(200, epsilon=2),) * 2, falling(200, 0.9), (500, 500)
        ),
        Point(
            "gamma_diagonal epsilon=2, k=200, n=1,000",
            (d.gamma_diagonal(200, epsilon=2),) * 2,
            falling(200, 0.99),
            (1_000, 1_000),
            reduced=True,
        ),
        Point("minimax epsilon=.5, k=6, eight groups", (d.minimax(6, epsilon=0.5),) * 8, falling(6), (60,) * 8),
        Point(
            "uniform_subsets, k=6, two categories", (d.uniform_subsets(6),) * 2, shares(0.7, 0.3, 0, 0, 0, 0), (60, 60)
        ),
        Point("rappor epsilon=1, k=5", (d.rappor(5, epsilon=1),) * 4, falling(5), (100, 200, 100, 50)),
        Point("local_diversity l=2, k=4", (d.local_diversity(4, l=2),) * 2, falling(4), (25, 150)),
        Point("collapse, singular", (d.collapse(4, groups=[[0, 1], [2, 3]]),) * 3, falling(4), (30, 40, 50)),
        Point("direct and warner, share 0", (two, warner), shares(0, 1), (100, 100), reduced=True),
        Point("direct and warner, share .02", (two, warner), shares(0.02, 0.98), (100, 100)),
        Point("direct and warner, share .3", (two, warner), shares(0.3, 0.7), (500, 1_000)),
        Point("warner .6 and .9", (d.warner(truth_prob=0.6), d.warner(truth_prob=0.9)), shares(0.1, 0.9), (200, 50)),
        Point("direct and gamma_diagonal epsilon=1, k=5", (d.direct(5), k5[1]), falling(5), (50, 200)),
        Point(
            "direct, gamma_diagonal epsilon=3, uniform_subsets, k=6",
            (d.direct(6), d.gamma_diagonal(6, epsilon=3), d.uniform_subsets(6)),
            falling(6),
            (100, 150, 150),
        ),
        Point(
            "the same, large",
            (d.direct(6), d.gamma_diagonal(6, epsilon=3), d.uniform_subsets(6)),
            falling(6, 0.8),
            (2_000, 2_000, 2_000),
        ),
        Point(
            "direct and gamma_diagonal epsilon=3, k=200",
            (d.direct(200), d.gamma_diagonal(200, epsilon=3)),
            falling(200, 0.95),
            (500, 500),
        ),
        Point(
            "minimax epsilon=1, k=8, no patterns", (d.minimax(8, epsilon=1),) * 2, falling(8), (40, 100), False, True
        ),
        Point(
            "rappor and uniform_subsets, k=6, no patterns",
            (d.rappor(6, epsilon=2), d.uniform_subsets(6)),
            falling(6),
            (80, 80),
            False,
        ),
    ]


@dataclass(frozen=True)
class Found:
    """What came out at a point."""

    point: Point
    surveys: int
    rejections: dict[float, int]
    references: Counter[str]
    negative: int

    @property
    def large(self) -> bool:
        """Compared with the law for large groups in most surveys."""
        return self.references["law"] > self.surveys / 2


def measure(point: Point, surveys: int, position: int) -> Found:
    """Null surveys at a point."""
    rng = np.random.default_rng([SEED, position])
    results = [mw.homogeneity_test(point.groups(rng)) for _ in range(surveys)]
    kinds = Counter(_reference(result) for result in results)
    rejections = {level: sum(r.p_value <= level + 1e-12 for r in results) for level in LEVELS}
    return Found(point, surveys, rejections, kinds, sum(r.statistic < 0 for r in results))


def _reference(result: mw.HypothesisTest) -> str:
    if not result.df:
        return "alike"
    return "permutations" if result.permutations else "draws" if result.draws else "law"


def violations(found: Found) -> list[str]:
    """Above the level anywhere, or below it where groups are large; never a negative statistic."""
    failures = [f"{found.point.label}: {found.negative} negative statistics"] if found.negative else []
    for level, count in found.rejections.items():
        low, high = limits(found.surveys, level)
        if count > high or (found.large and count < low):
            failures.append(f"{found.point.label}: rejects {count / found.surveys:.4f} at level {level}")
    return failures


def run(size: Size) -> Result:
    """Every point of the grid, or the hardest ones."""
    chosen = [(i, p) for i, p in enumerate(points()) if size == "full" or p.reduced]
    found = [measure(p, FEWER[size] if p.wide else SURVEYS[size], i) for i, p in chosen]
    failures = [failure for f in found for failure in violations(f)]
    surveys = SURVEYS[size]
    low, high = limits(surveys, 0.05)
    rates = [f.rejections[0.05] / f.surveys for f in found]
    return Result(
        name="homogeneity_level",
        title="The level of the test that groups do not differ",
        question="How often does homogeneity_test reject when all groups have the same proportions? Two to eight "
        "groups, equal and unequal, from 10 people to 3,000, one design or several, direct to heavily masked, up to "
        "200 categories, with shares of 0, singular designs, and tallies without patterns.",
        criterion=f"At levels {LEVELS[0]} and {LEVELS[1]}, never above the upper binomial limit of the level; within "
        "both limits wherever most surveys are compared with the law for large groups (elsewhere statistics take few "
        "values, and an exact test stays below its level). No negative statistic. False alarm "
        f"{FALSE_ALARM:g} over all comparisons together, which at level .05 and {surveys:,} surveys allows "
        f"{low / surveys:.3f} to {high / surveys:.3f}. Set before these draws.",
        sizes={"points": len(found), "surveys per point": surveys, "with 200 categories": FEWER[size], "seed": SEED},
        findings=[
            f"{len(found)} points: {len(failures)} outside their limits; rates at level .05 from {min(rates):.3f} to "
            f"{max(rates):.3f}, mean {np.mean(rates):.3f}.",
            "The Wald test that stood here before rejected .217 of 120 null surveys at 200 categories and n = 1,000, "
            "and gave p = 1 to 1,000 times yes against 1,000 times no.",
        ],
        tables=[
            Table(
                "Share of null surveys rejected, and what the p-value was read from (law for large groups / "
                "permutations / samples drawn):",
                ("groups", "sizes", "at .05", "at .01", "law / permutations / draws"),
                [
                    (
                        f.point.label,
                        " ".join(map(str, f.point.sizes)),
                        *(f"{f.rejections[level] / f.surveys:.3f}" for level in LEVELS),
                        " / ".join(str(f.references[kind]) for kind in ("law", "permutations", "draws")),
                    )
                    for f in found
                ],
            )
        ],
        failures=failures,
    )
