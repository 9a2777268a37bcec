"""Parametric bootstrap limits: the values that the reports do not contradict, each tried on its own ground.

Percentiles of estimates that are drawn at the estimate fail beside a boundary: an estimate of 0 draws only zeros. Here
a value is tried as if it were true: reports are taken to come from a population that has it, and the limits are where
the observed score is as extreme as a tail of the scores of such reports. What is tested is the mean of the efficient
scores of the reports (for linear estimates, of the linear ones); its distribution is that of n independent reports,
computed by ``sum_distribution`` from all possible reports or, where they are too many to list, from a sample of them.

The other proportions keep the shares that they have among each other in the estimate. To first order that does not
matter, for efficient scores do not change with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from maskwell.designs.base import Design, Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.inference.draws import derived_seed, draw_truths, seed_of
from maskwell.inference.estimates import Estimate
from maskwell.inference.intervals.closed_form import normal_quantile
from maskwell.inference.intervals.sum_distribution import sum_tails
from maskwell.inference.likelihood.information import invert
from maskwell.inference.likelihood.maximum import most_likely
from maskwell.inference.linear import LinearEstimate
from maskwell.inference.simplex import interior, project
from maskwell.numerics.roots import root_between
from maskwell.reports.tally import Tally

_MOST_CELLS = 1 << 16
_SAMPLE = 8_192
_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Reports that may come, by their relative rows; the chance of one is its weight times its row times the shares."""

    design: Design
    rows: Matrix
    weights: Vector
    scores: Matrix | None

    @staticmethod
    def of(design: Design, near: Vector, linear: LinearEstimate | None, seed: int) -> Outcomes:
        """All possible reports, or a sample of them drawn about halfway between these proportions and equal ones."""
        if design.report_count() * design.k <= _MOST_CELLS:
            packed = design.pack_rows(np.arange(design.report_count()))
            matrix = design.matrix()
            weights = matrix.mean(axis=1)
            packed, weights = packed[weights > 0], weights[weights > 0]
            rows = design.relative_rows(packed)
        else:
            wide = (near + 1 / design.k) / 2
            truths = draw_truths(design, wide, _SAMPLE, derived_seed(seed, "truths"))
            packed = design.mask(truths, seed=derived_seed(seed, "reports")).packed
            rows = design.relative_rows(packed)
            weights = 1 / (rows @ wide)
        return Outcomes(design, rows, weights, None if linear is None else linear.scores.rows(packed))

    def chances(self, population: Vector) -> Vector:
        """Of the reports, in a population."""
        chances = self.weights * (self.rows @ population)
        shares: Vector = chances / chances.sum()
        return shares


@dataclass(frozen=True, eq=False)
class Trials:
    """Trial values for weighted sums of the proportions that an estimate is about."""

    estimate: Estimate
    seed: int | None

    @cached_property
    def _n(self) -> int:
        tally = self.estimate.tally
        if tally.n != int(tally.n):
            raise EstimationError(
                f"bootstrap needs whole reports; this tally has {tally.n} of them, use profile limits."
            )
        if tally.squares is not None:
            raise EstimationError("bootstrap takes reports as equally weighted; use wald limits for a weighted tally.")
        return int(tally.n)

    @cached_property
    def population(self) -> Vector:
        """The estimate, none below 0; for one step, which may have gone astray, the maximum that it was a step to."""
        if self.estimate.method != "one-step":
            return project(self.estimate.proportions)
        return most_likely(*self._observed)

    @cached_property
    def _linear(self) -> LinearEstimate | None:
        return self.estimate if isinstance(self.estimate, LinearEstimate) else None

    @cached_property
    def _outcomes(self) -> Outcomes:
        seed = seed_of([self.estimate.tally.counts]) if self.seed is None else self.seed
        return Outcomes.of(self.estimate.design, self.population, self._linear, seed)

    @cached_property
    def _observed(self) -> tuple[Matrix, Vector]:
        """Likelihood rows of the distinct reports that came, and how often each did."""
        patterns = _patterns(self.estimate.tally)
        return self.estimate.design.relative_rows(patterns[0]), patterns[1]

    def tails(self, population: Vector, contrast: Vector) -> tuple[float, float]:
        """How far down and up the observed score is among those of reports from a population whose contrast is 0."""
        inside = interior(population, self._n)
        chances = self._outcomes.chances(inside)
        if self._linear is not None:
            assert self._outcomes.scores is not None
            values, mean = self._outcomes.scores @ contrast, float(contrast @ inside)
            observed = self._n * float(contrast @ self.estimate.proportions)
        else:
            rows, counts = self._observed
            scores = self._outcomes.rows / (self._outcomes.rows @ inside)[:, None]
            inverse = invert((scores * chances[:, None]).T @ scores)
            if not np.isfinite(inverse.variance(contrast)):
                return 1.0, 1.0
            direction = inverse.matrix @ contrast
            values, mean = scores @ direction, 0.0
            observed = float(counts @ ((rows / (rows @ inside)[:, None]) @ direction))
        # The mean is known; that of a sample of reports misses it.
        return sum_tails(values - float(chances @ values) + mean, chances, self._n, observed)

    def limits(self, trial: Callable[[float], tuple[Vector, Vector]], estimate: float, level: float) -> Vector:
        """The ends of the values that neither tail contradicts; ``trial`` gives a population and its contrast."""
        normal_quantile(level)  # refuses a level outside (0, 1)
        tail = (1 - level) / 2

        def excess(value: float, side: int) -> float:
            return self.tails(*trial(value))[side] - tail

        ends = np.array([0.0, 1.0])
        for side, end in ((1, 0), (0, 1)):
            if excess(ends[end], side) > 0:
                continue
            # At an estimate of 0 or 1 the reports may contradict every value on this side.
            possible = excess(estimate, side) > 0
            one_side = partial(excess, side=side)
            ends[end] = root_between(one_side, estimate, ends[end], _TOLERANCE) if possible else estimate
        return ends


def _patterns(tally: Tally) -> tuple[Any, Vector]:
    patterns = tally.patterns
    assert patterns is not None  # a likelihood was fitted to them
    return patterns.packed, np.asarray(patterns.counts, float)


def bootstrap_limits(estimate: Estimate, level: float, seed: int | None) -> Matrix:
    """Lower and upper limits by category."""
    trials = Trials(estimate, seed)
    limits = np.empty((estimate.design.k, 2))
    for j, own in enumerate(np.eye(estimate.design.k)):

        def trial(share: float, own: Vector = own) -> tuple[Vector, Vector]:
            return with_share(trials.population, own, np.ones(len(own)), share), own - share

        limits[j] = trials.limits(trial, float(trials.population[j]), level)
    return limits


def ratio_limits(estimate: Estimate, both: Vector, base: Vector, level: float, seed: int | None) -> tuple[float, float]:
    """Limits of the share that the cells ``both`` have of the cells ``base``."""
    trials = Trials(estimate, seed)

    def trial(share: float) -> tuple[Vector, Vector]:
        return with_share(trials.population, both, base, share), both - share * base

    within = float(base @ trials.population)
    start = float(both @ trials.population) / within if within > 0 else 0.5
    low, high = trials.limits(trial, start, level)
    return float(low), float(high)


def with_share(population: Vector, both: Vector, base: Vector, share: float) -> Vector:
    """The population with the cells ``both`` having this share of ``base``; all else keeps its relative size.

    >>> with_share(np.array([0.0, 0.3, 0.7]), np.array([1.0, 0, 0]), np.ones(3), 0.5)
    array([0.5 , 0.15, 0.35])
    """
    whole = float(base @ population)
    result = population * (1 - base)
    for cells, part in ((both, share), (base - both, 1 - share)):
        held = population * cells
        # Cells that nobody is in divide what they get equally.
        spread = held / held.sum() if held.sum() > 0 else cells / max(cells.sum(), 1.0)
        result = result + whole * part * spread
    return np.asarray(result)
