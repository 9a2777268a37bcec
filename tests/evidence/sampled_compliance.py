"""Compliance in complex samples: coverage of shares, stated over found variance, and the size of the test."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, chi2

import maskwell as mw
from tests.evidence.cases import Floats
from tests.evidence.record import Result, Size, Table
from tests.evidence.workers import measured

SEED = 6143
SURVEYS: dict[Size, int] = {"reduced": 60, "full": 8_000}
# At full size coverage itself is held to BAND, and variances pooled over the sample designs to TOLERANCE: both leave
# four standard errors to what is right.
BAND = (0.94, 0.96)
TOLERANCE = 0.03
LEVEL = 0.05
FALSE_ALARM = 1e-6
COMPARISONS = 100
# Clusters of each stratum in the population, people of each cluster, and clusters that are drawn of each stratum.
CLUSTERS, PEOPLE, DRAWN = (60, 80, 100, 120), 10, 30
DICE = tuple(mw.designs.forced_response(yes_prob=p, no_prob=0) for p in ("1/6", "5/6"))
FORCED = np.array([1 / 6, 5 / 6])
BEHAVIOURS = {"always no": "no"}
YES, NO, CHEATS = range(3)
SAMPLES: dict[Size, tuple[str, ...]] = {
    "reduced": ("strata and clusters",),
    "full": ("strata and clusters", "population correction", "post-stratified", "jackknife (jkn)"),
}
MEASURED = ("always no, of all", "yes, of those who follow")


@dataclass(frozen=True)
class Population:
    """People in clusters in strata: some carry the trait, some say no whatever the die shows."""

    kind: NDArray[np.int64]
    stratum: NDArray[np.int64]
    cluster: NDArray[np.int64]
    region: NDArray[np.str_]

    @staticmethod
    def made_up(cheats: float) -> Population:
        """Clusters differ in both shares; the region goes with the trait."""
        rng = np.random.default_rng([SEED, round(1000 * cheats)])
        of_cluster = np.repeat(np.arange(len(CLUSTERS)), CLUSTERS)
        cluster = np.repeat(np.arange(len(of_cluster)), PEOPLE)
        shift = 0.1 * rng.standard_normal(len(of_cluster)) + 0.05 * (of_cluster - 1.5)
        carries = rng.random(len(cluster)) < 0.3 + shift[cluster]
        kind = np.where(carries, YES, NO)
        kind[rng.random(len(cluster)) < cheats * (1 + 3 * shift[cluster])] = CHEATS
        region = np.where(rng.random(len(cluster)) < np.where(carries, 0.7, 0.4), "north", "south")
        return Population(kind, of_cluster[cluster], cluster, region)

    @property
    def truth(self) -> Floats:
        """What is measured."""
        shares = np.bincount(self.kind, minlength=3) / len(self.kind)
        return np.array([shares[CHEATS], shares[YES] / (shares[YES] + shares[NO])])

    def draw(self, name: str, rng: np.random.Generator) -> tuple[NDArray[np.int64], mw.Sample]:
        """People of the clusters that are drawn, and the sample."""
        corrected = name == "population correction"
        ends = np.cumsum([0, *CLUSTERS])
        chosen = [rng.choice(np.arange(a, b), DRAWN, replace=not corrected) for a, b in pairwise(ends)]
        clusters = np.concatenate(chosen)
        people = (clusters[:, None] * PEOPLE + np.arange(PEOPLE)).ravel()
        size = np.repeat(np.array(CLUSTERS, float), DRAWN * PEOPLE)
        drawn = {"weights": size / DRAWN, "strata": self.stratum[people]}
        number = np.repeat(np.arange(len(clusters)), PEOPLE)
        sample = mw.Sample(**drawn, clusters=number, **({"fpc": size} if corrected else {}))
        if name == "post-stratified":
            totals = {str(r): float((self.region == r).sum()) for r in np.unique(self.region)}
            return people, sample.calibrate({"region": totals}, region=self.region[people])
        return people, sample.with_replicates("jkn") if name.startswith("jackknife") else sample


@dataclass(frozen=True)
class Cell:
    """One population with one sample design, over many surveys."""

    sample: str
    cheats: float
    surveys: int
    covered: NDArray[np.int64]
    ratios: Floats
    rejected: int

    @property
    def label(self) -> str:
        return f"{self.sample}, {self.cheats:.0%} do not follow"


def measure(point: tuple[str, float], surveys: int) -> Cell:
    """Draw people, assign each to a die, mask and estimate, again and again."""
    name, cheats = point
    population = Population.made_up(cheats)
    rng = np.random.default_rng([SEED, *name.encode(), round(1000 * cheats)])
    truth = population.truth
    estimates, variances, covered, rejected = [], [], np.zeros(2, np.int64), 0
    for _ in range(surveys):
        people, sample = population.draw(name, rng)
        found = _estimate(population.kind[people], sample, rng)
        estimates.append([found.shares[0], found.proportions[0]])
        variances.append([found.covariance[0, 0], found.proportion_errors[0] ** 2])
        limits = np.array([found.interval()[0], found.proportion_interval()[0]])
        covered += (limits[:, 0] <= truth + 1e-12) & (truth <= limits[:, 1] + 1e-12)
        rejected += found.has_test and found.test().p_value <= LEVEL
    ratios = np.mean(variances, axis=0) / np.var(estimates, axis=0, ddof=1)
    return Cell(name, cheats, surveys, covered, ratios, rejected)


def _estimate(kind: NDArray[np.int64], sample: mw.Sample, rng: np.random.Generator) -> Any:
    arm = rng.integers(2, size=len(kind))
    forced = rng.random(len(kind)) < FORCED[arm]
    answer = np.where((kind == YES) | ((kind == NO) & forced), "yes", "no")
    reports = {at: mw.Reports.of(design, answer[arm == at], question="trait") for at, design in enumerate(DICE)}
    return mw.compliance(mw.arms(reports, arm), BEHAVIOURS, sample=sample)


def violations(cell: Cell) -> list[str]:
    """Where some do not follow coverage and variances, where all do the size of the test."""
    tail = FALSE_ALARM / COMPARISONS / 2
    if not cell.cheats:
        most = binom.isf(tail, cell.surveys, LEVEL)
        return [f"{cell.label}: rejected {cell.rejected / cell.surveys:.3f}"] if cell.rejected > most else []
    low, high = binom.ppf(tail, cell.surveys, BAND[0]), binom.isf(tail, cell.surveys, BAND[1])
    df = cell.surveys - 1
    least, largest = (1 - TOLERANCE) * df / chi2.isf(tail, df), (1 + TOLERANCE) * df / chi2.ppf(tail, df)
    failures = []
    for name, covered, ratio in zip(MEASURED, cell.covered, cell.ratios, strict=True):
        if not low <= covered <= high:
            failures.append(f"{cell.label}, {name}: coverage {covered / cell.surveys:.3f}")
        if not least <= ratio <= largest:
            failures.append(f"{cell.label}, {name}: stated over found variance {ratio:.3f}")
    return failures


def strict(some: list[Cell]) -> list[str]:
    """What full size is held to without room for chance."""
    failures = []
    for at, name in enumerate(MEASURED):
        failures += [
            f"{cell.label}, {name}: coverage {cell.covered[at] / cell.surveys:.4f}"
            for cell in some
            if not BAND[0] <= cell.covered[at] / cell.surveys <= BAND[1]
        ]
        ratio = np.mean([cell.ratios[at] for cell in some])
        if abs(ratio - 1) > TOLERANCE:
            failures.append(f"{name}, over sample designs: stated over found variance {ratio:.3f}")
    return failures


def run(size: Size) -> Result:
    """Every sample design, where some do not follow and where all do."""
    surveys = SURVEYS[size]
    cells = measured(partial(measure, surveys=surveys), list(product(SAMPLES[size], (0.12, 0.0))), size)
    some, none = ([cell for cell in cells if bool(cell.cheats) == which] for which in (True, False))
    rates = np.concatenate([cell.covered / surveys for cell in some])
    ratios = np.concatenate([cell.ratios for cell in some])
    sizes = [cell.rejected / surveys for cell in none]
    return Result(
        name="sampled_compliance",
        title="People who do not follow the design, in complex samples",
        question="Do Wald limits from strata, clusters, calibrated or replicate weights hold the share of those who do "
        "not follow the design, and the share of the trait among those who do? Does the test reject full compliance as "
        f"rarely as its level says? {DRAWN} clusters of {PEOPLE} people are drawn from each of {len(CLUSTERS)} strata; "
        "everybody meets one of two dice, and one in eight says no whatever it shows, or nobody does.",
        criterion=f"Coverage of 95 % limits compatible with {BAND[0]} to {BAND[1]}, stated over found variance with 1 "
        f"± {TOLERANCE}, rejections of full compliance with at most {LEVEL}: false alarm {FALSE_ALARM:g} over at most "
        f"{COMPARISONS} comparisons. At full size coverage itself within {BAND[0]} to {BAND[1]}, and stated over found "
        f"variance, pooled over the sample designs, within {TOLERANCE:.0%}.",
        sizes={"surveys": surveys, "respondents": DRAWN * PEOPLE * len(CLUSTERS), "seed": SEED},
        findings=[
            f"Limits cover {rates.min():.3f} to {rates.max():.3f}; stated over found variance is {ratios.min():.3f} to "
            f"{ratios.max():.3f}; full compliance is rejected in {min(sizes):.3f} to {max(sizes):.3f} of the surveys "
            "where it holds."
        ],
        tables=[
            Table(
                "Coverage and stated over found variance, of both shares, and rejections of full compliance:",
                (
                    "sample",
                    "do not follow",
                    *(f"coverage: {m}" for m in MEASURED),
                    *(f"variance: {m}" for m in MEASURED),
                    "rejects",
                ),
                [
                    (
                        cell.sample,
                        f"{cell.cheats:.0%}",
                        *(f"{covered / surveys:.3f}" for covered in cell.covered),
                        *(f"{ratio:.3f}" for ratio in cell.ratios),
                        f"{cell.rejected / surveys:.3f}",
                    )
                    for cell in cells
                ],
            )
        ],
        failures=[
            *(failure for cell in cells for failure in violations(cell)),
            *(strict(some) if size == "full" else []),
        ],
    )
