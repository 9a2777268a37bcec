"""The survey of the demonstration: two populations whose answers are masked, counted and estimated.

Masking draws fresh cryptographic randomness, so every run differs; nothing that is said here depends on what is drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.auditing import Audit, audit
from maskwell.designs.base import Design, Matrix, Vector
from maskwell.designs.storage import about
from maskwell.inference import Estimate, estimate
from maskwell.numerics.compiled import FAST
from maskwell.reports import Reports

LEVEL = 0.95
# A census extract; the race example of wang-ding-2021 has the same counts.
RACE = {"Amer-Indian-Eskimo": 311, "Asian-Pac-Islander": 1039, "Black": 3124, "Other": 271, "White": 27816}
CODES = 200
PATIENTS = 1_000_000
FEWER_PATIENTS = 50_000
"""As many as a bare install masks in some fifteen seconds: nothing is compiled there."""


@dataclass(frozen=True)
class Population:
    """How many persons truly are in each category."""

    categories: tuple[str, ...]
    counts: NDArray[np.int64]

    @property
    def n(self) -> int:
        """The number of persons."""
        return int(self.counts.sum())

    @property
    def shares(self) -> Vector:
        """The true proportions."""
        shares: Vector = self.counts / self.n
        return shares

    @property
    def sampling_variance(self) -> float:
        """n times the total variance of a direct question: 1 minus the sum of squared shares."""
        return 1 - float(self.shares @ self.shares)

    def values(self) -> Any:
        """One label per person, as an Arrow column, scattered: sorted rows would tell the truth by their position."""
        import pyarrow as pa

        step = next(s for s in range(int(0.618 * self.n), self.n) if math.gcd(s, self.n) == 1)
        scattered = np.arange(self.n) * step % self.n
        codes = np.repeat(np.arange(len(self.counts), dtype=np.int32), self.counts)[scattered]
        return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(self.categories))


def diagnoses(patients: int = PATIENTS if FAST else FEWER_PATIENTS) -> Population:
    """An invented population with 200 diagnosis codes: a few common ones, many rare ones, in no order."""
    shares = 1 / (np.arange(CODES) + 6)
    ends = np.round(patients * np.cumsum(shares) / shares.sum()).astype(np.int64)
    by_rank = np.diff(ends, prepend=0)
    rank_of_code = np.arange(CODES) * 73 % CODES
    return Population(tuple(f"D{code:03d}" for code in range(1, CODES + 1)), by_rank[rank_of_code])


@dataclass(frozen=True)
class Trial:
    """One design on one population: what it promises, what arrived, and what was estimated."""

    population: Population
    audit: Audit
    reports: Reports
    estimate: Estimate
    masking_seconds: float
    counting_seconds: float

    @property
    def design(self) -> Design:
        """The design that was tried."""
        return self.audit.design

    @cached_property
    def limits(self) -> Matrix:
        """The intervals at the level of the demonstration."""
        return self.estimate.interval(LEVEL)

    @property
    def covered(self) -> int:
        """How many truths lie in their intervals."""
        truth = self.population.shares
        return int(((self.limits[:, 0] <= truth) & (truth <= self.limits[:, 1])).sum())

    @property
    def margin(self) -> float:
        """Half the mean width of the intervals."""
        return float((self.limits[:, 1] - self.limits[:, 0]).mean()) / 2

    @property
    def worth(self) -> float:
        """What one report tells, in open answers: the variance without masking over the variance with it."""
        sampling = self.population.sampling_variance
        return sampling / (self.audit.added_variance + sampling)

    def to_dict(self) -> dict[str, Any]:
        """The numbers, ready for JSON."""
        return {
            "design": about(self.design),
            "epsilon": self.audit.epsilon,
            "parity": self.audit.parity,
            "demand_holds": self.audit.demand_holds,
            "added_variance": self.audit.added_variance,
            "n": len(self.reports),
            "truths_covered": self.covered,
            "masking_seconds": self.masking_seconds,
            "counting_seconds": self.counting_seconds,
            "categories": list(self.population.categories),
            "truth": self.population.shares.tolist(),
            "estimate": self.estimate.proportions.tolist(),
            "lower": self.limits[:, 0].tolist(),
            "upper": self.limits[:, 1].tolist(),
        }


def try_design(design: Design, population: Population) -> Trial:
    """Audit, mask, count and estimate."""
    values, start = population.values(), perf_counter()
    reports = design.mask(values)
    masked = perf_counter()
    tally = reports.tally()
    counted = perf_counter()
    return Trial(population, audit(design), reports, estimate(tally), masked - start, counted - masked)
