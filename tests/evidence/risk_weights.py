"""How far tau1 and tau2 are from the truth when people are sampled with unequal chances.

Populations are drawn whose every cell is known. A part of the people of each cell is sampled at one rate and the rest
at another, by a key, by something that is not a key, or by something that goes with a key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from maskwell.risk import RiskReport, assess
from tests.evidence.record import Result, Size, Table

SEED = 5
SURVEYS: dict[Size, int] = {"reduced": 15, "full": 150}
FALSE_ALARM = 1e-6
# The mean of a convex function of an estimated mean is a little above the function of the mean.
BIAS = 0.03
SHAPE = (2, 12, 8, 6, 5)
KEYS = [f"k{i}" for i in range(len(SHAPE))]
PEOPLE = 60_000
OFTEN, SELDOM = 0.3, 0.03
"""The two chances to be sampled."""

Floats = NDArray[np.float64]


def _cells() -> tuple[Floats, list[NDArray[np.int64]]]:
    chances = np.ones(1)
    for size in SHAPE:
        margin = np.exp(-0.5 * np.arange(size))
        chances = np.multiply.outer(chances, margin / margin.sum()).reshape(-1)
    return chances, list(np.unravel_index(np.arange(chances.size), SHAPE))


CHANCES, CODES = _cells()

SAMPLINGS: dict[str, Callable[[], Floats]] = {
    "by a key": lambda: (CODES[1] % 2 == 0).astype(float),
    "by something else": lambda: np.full(CHANCES.size, 0.3),
    "by something that goes with a key": lambda: np.where(CODES[3] % 2 == 0, 0.8, 0.1),
}
"""In each cell, the part of its people who are sampled often."""


@dataclass(frozen=True)
class Survey:
    """A sample, and the true numbers that tau1 and tau2 estimate."""

    table: dict[str, Any]
    weights: Floats
    truth: tuple[float, float]


def survey(rng: np.random.Generator, often: Floats) -> Survey:
    """Draw people and a sample of them."""
    people = rng.poisson(PEOPLE * CHANCES)
    easy = rng.binomial(people, often)
    drawn = [rng.binomial(easy, OFTEN), rng.binomial(people - easy, SELDOM)]
    cell = np.concatenate([np.repeat(np.arange(CHANCES.size), counts) for counts in drawn])
    alone = people[drawn[0] + drawn[1] == 1]
    return Survey(
        {key: codes[cell] for key, codes in zip(KEYS, CODES, strict=True)},
        np.repeat([1 / OFTEN, 1 / SELDOM], [counts.sum() for counts in drawn]),
        (float((alone == 1).sum()), float((1 / alone).sum())),
    )


def _taus(report: RiskReport) -> tuple[float, float]:
    assert report.tau1 is not None
    assert report.tau2 is not None
    return report.tau1, report.tau2


def _estimates(drawn: Survey) -> dict[str, tuple[float, float]]:
    """Ours; one sampling fraction for all; and the same means with the fraction from each cell's own weights."""
    ours = assess(drawn.table, KEYS, drawn.weights, PEOPLE, model="independence")
    assert ours.modelled is not None
    alone = ours.cells.counts == 1
    codes, population = ours.cells.codes[alone], ours.cells.population
    assert population is not None
    people = ours.modelled.weighted.means(codes) / ours.modelled.fraction
    others = people * (1 - 1 / population[alone])
    return {
        "weights": _taus(ours),
        "one fraction for all cells": _taus(assess(drawn.table, KEYS, None, PEOPLE, model="independence")),
        "each cell's average weight": (float(np.exp(-others).sum()), float((-np.expm1(-others) / others).sum())),
    }


def run(size: Size) -> Result:
    """Relative bias of three estimators under three samplings."""
    rows, failures = [], []
    z = float(stats.norm.isf(FALSE_ALARM / 2 / (2 * len(SAMPLINGS))))
    for number, (label, often) in enumerate(SAMPLINGS.items()):
        rng = np.random.Generator(np.random.PCG64(SEED + number))
        surveys = [survey(rng, often()) for _ in range(SURVEYS[size])]
        truths = np.array([drawn.truth for drawn in surveys])
        found = [_estimates(drawn) for drawn in surveys]
        for name in found[0]:
            errors = np.array([one[name] for one in found]) - truths
            bias = errors.mean(axis=0) / truths.mean(axis=0)
            noise = errors.std(axis=0, ddof=1) / np.sqrt(len(errors)) / truths.mean(axis=0)
            rows.append([label, name, *(f"{b:+.1%} ± {s:.1%}" for b, s in zip(bias, noise, strict=True))])
            if name == "weights":
                failures += [
                    f"{label}: tau{i} is off by {b:+.2%}, with a standard error of {s:.2%}"
                    for i, (b, s) in enumerate(zip(bias, noise, strict=True), start=1)
                    if abs(b) > BIAS + z * s
                ]
    return Result(
        name="risk_weights",
        title="Disclosure risk with unequal weights",
        question="How far are tau1 and tau2 from the true numbers of unique and of correctly matched people when some "
        f"are sampled with the chance {OFTEN} and others with {SELDOM}? {PEOPLE:,} people in "
        f"{CHANCES.size:,} cells of {len(SHAPE)} keys; the log-linear model holds.",
        criterion=f"The bias of what `assess(weights=)` gives is at most {BIAS:.0%} of the truth, as far as simulation "
        f"tells; false alarm {FALSE_ALARM:g} over all comparisons.",
        sizes={"surveys per row": SURVEYS[size], "seed": SEED},
        findings=[
            "With weights both are nearly unbiased, whatever the chances go with; one fraction for all cells is off by "
            "up to an eighth, and fractions from the average weight of each cell by up to a fifth."
        ],
        tables=[Table("Relative bias, with its standard error:", ("sampled often", "fraction", "tau1", "tau2"), rows)],
        failures=failures,
    )
