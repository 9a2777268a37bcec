"""The variance of weighted estimates: stated, and found when the same population is sampled and masked many times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

import maskwell as mw
from maskwell.designs import Design
from tests.evidence.cases import Floats
from tests.evidence.record import Result, Size, Table

SEED = 6301
SURVEYS: dict[Size, int] = {"reduced": 500, "full": 4_000}
PEOPLE, RESPONDENTS = 20_000, 500
# Linearised variances leave out terms of the order 1/n.
TOLERANCE = 0.03
FALSE_ALARM = 1e-6
COMPARISONS = 250
HAJEK = ("linear", "moments", "likelihood", "one-step")
TOTALS = ("linear", "moments")
SAMPLINGS: dict[Size, tuple[str, ...]] = {
    "reduced": ("with replacement",),
    "full": ("with replacement", "without replacement"),
}
DESIGNS: dict[str, Design] = {
    "direct": mw.designs.direct(3),
    "gamma_diagonal epsilon=2": mw.designs.gamma_diagonal(3, epsilon=2),
    "rappor epsilon=3": mw.designs.rappor(3, epsilon=3),
    "uniform_subsets": mw.designs.uniform_subsets(4),
}


@dataclass(frozen=True)
class Population:
    """People with a category each, and their chances of being drawn, which go with the category."""

    codes: NDArray[np.int64]
    chances: Floats

    @staticmethod
    def made_up(k: int) -> Population:
        """Shares from .2 up; the last category is drawn three times as often as the first, people vary by as much."""
        rng = np.random.default_rng([SEED, k])
        codes = rng.choice(k, PEOPLE, p=np.linspace(1, 2, k) / np.linspace(1, 2, k).sum())
        chances = np.linspace(1, 3, k)[codes] * rng.uniform(0.5, 1.5, PEOPLE)
        return Population(codes, chances / chances.sum())

    def samples(self, sampling: str, surveys: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Who is asked, a row per survey."""
        if sampling == "with replacement":
            return rng.choice(PEOPLE, (surveys, RESPONDENTS), p=self.chances)
        return np.array([self._systematic(rng) for _ in range(surveys)])

    def _systematic(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Every so manieth along the chances of people in random order: nobody twice, as no chance reaches 1/n."""
        order = rng.permutation(PEOPLE)
        ends = np.cumsum(self.chances[order]) * RESPONDENTS
        return order[np.minimum(np.searchsorted(ends, rng.random() + np.arange(RESPONDENTS)), PEOPLE - 1)]


@dataclass(frozen=True)
class Replicated:
    """One estimator in many surveys of one population: by category, all estimates and all stated variances."""

    label: str
    design: str
    sampling: str
    truth: Floats
    estimates: Floats
    stated: Floats

    @property
    def ratios(self) -> Floats:
        """Mean stated variance over the one that was found."""
        return np.asarray(self.stated.mean(axis=0) / self.estimates.var(axis=0, ddof=1))

    @property
    def biases(self) -> Floats:
        """In standard errors of the mean over surveys."""
        error = self.estimates.std(axis=0, ddof=1) / np.sqrt(len(self.estimates))
        return np.asarray((self.estimates.mean(axis=0) - self.truth) / error)


def run(size: Size) -> Result:
    """Sample, mask, weigh, estimate, again and again."""
    surveys = SURVEYS[size]
    found = [
        result
        for i, (label, design) in enumerate(DESIGNS.items())
        for j, sampling in enumerate(SAMPLINGS[size])
        for result in measure(label, design, sampling, surveys, [SEED, i, j])
    ]
    low, high = limits(surveys)
    failures = []
    for r in found:
        ceiling = high if r.sampling == "with replacement" else np.inf
        if (r.ratios < low).any() or (r.ratios > ceiling).any():
            failures.append(f"{r.label}, {r.design}, {r.sampling}: stated over found variance {r.ratios.round(3)}")
    with_replacement = [r.ratios for r in found if r.sampling == "with replacement"]
    ends = [min(x.min() for x in with_replacement), max(x.max() for x in with_replacement)]
    return Result(
        name="replicated_survey",
        title="The variance of weighted estimates in a replicated survey",
        question=f"Is the variance that goes with a weighted estimate the one that repeated surveys show? "
        f"{RESPONDENTS} of {PEOPLE:,} made-up people are drawn with unequal chances that go with their answer, masked "
        "and estimated, by all methods as Hájek proportions and by the linear ones as Horvitz–Thompson totals.",
        criterion=f"Mean stated variance over found variance within {low:.3f} to {high:.3f} for each category where "
        f"people are drawn with replacement, which is what the formulas assume: chi-square limits, false alarm "
        f"{FALSE_ALARM:g} over at most {COMPARISONS} comparisons, widened by {TOLERANCE:.0%} for what linearisation "
        f"leaves out. Without replacement (systematic, people in random order) it may only be larger: the lower limit.",
        sizes={"surveys": surveys, "respondents": RESPONDENTS, "people": PEOPLE, "seed": SEED},
        findings=[
            f"{len(found)} estimators and samplings over {surveys:,} surveys each: stated over found variance "
            f"{ends[0]:.3f} to {ends[1]:.3f} with replacement; {len(failures)} outside the limits.",
        ],
        tables=[
            Table(
                "Least and greatest, over the categories, of the stated variance over the one found, and the largest "
                "bias in standard errors of the mean over all surveys (ratio estimates have one of order 1/n):",
                ("estimate", "design", "sampling", "least", "greatest", "bias"),
                [
                    (r.label, r.design, r.sampling, f"{r.ratios.min():.3f}", f"{r.ratios.max():.3f}", f"{_most(r):.1f}")
                    for r in found
                ],
            )
        ],
        failures=failures,
    )


def _most(result: Replicated) -> float:
    return float(np.abs(result.biases).max())


def limits(surveys: int) -> tuple[float, float]:
    """For the mean stated over the found variance, where the estimates are normal."""
    tail = FALSE_ALARM / COMPARISONS / 2
    low, high = chi2.ppf([tail, 1 - tail], surveys - 1) / (surveys - 1)
    return (1 - TOLERANCE) / float(high), (1 + TOLERANCE) / float(low)


def measure(label: str, design: Design, sampling: str, surveys: int, seed: list[int]) -> list[Replicated]:
    """All estimators on the same reports."""
    people = Population.made_up(design.k)
    drawn = people.samples(sampling, surveys, np.random.default_rng(seed))
    reports = design.mask(people.codes[drawn].ravel(), seed=sum(seed))
    weights = 1 / (RESPONDENTS * people.chances[drawn])
    estimates: dict[str, list[Floats]] = {f"Hájek {m}": [] for m in HAJEK} | {f"total, {m}": [] for m in TOTALS}
    stated: dict[str, list[Floats]] = {name: [] for name in estimates}
    for survey, weight in enumerate(weights):
        packed = reports.packed[survey * RESPONDENTS : (survey + 1) * RESPONDENTS]
        tally = mw.Reports(design, packed).tally(weights=weight, patterns=True)
        for method in HAJEK:
            found = mw.estimate(tally, method)
            estimates[f"Hájek {method}"].append(found.proportions)
            stated[f"Hájek {method}"].append(found.variances)
        for method in TOTALS:
            totals = mw.estimate_totals(tally, method)
            estimates[f"total, {method}"].append(totals.values)
            stated[f"total, {method}"].append(totals.standard_errors**2)
    counts = np.bincount(people.codes, minlength=design.k)
    return [
        Replicated(
            name,
            label,
            sampling,
            counts / PEOPLE if name.startswith("Hájek") else counts.astype(float),
            np.array(estimates[name]),
            np.array(stated[name]),
        )
        for name in estimates
    ]
