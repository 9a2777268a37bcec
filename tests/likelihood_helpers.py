"""Masked surveys of all kinds of populations, and what every maximum of a likelihood has to satisfy."""

from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell.designs.registry import DESIGNS
from maskwell.inference.likelihood.estimate import LikelihoodEstimate

RACE_COUNTS = np.array([311, 1039, 3124, 271, 27816])
RACE = RACE_COUNTS / RACE_COUNTS.sum()
RACES = ("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White")

EXAMPLES = [
    pytest.param(entry.function, example, id=f"{name} {example}")
    for name, entry in DESIGNS.items()
    for example in entry.examples
]


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def design_of(function: Any, example: dict[str, Any]) -> mw.Design:
    parameters = dict(example)
    k = parameters.pop("k", None)
    return function(**parameters) if k is None else function(k, **parameters)


def populations(k: int, seed: int) -> list[np.ndarray]:
    """All kinds of emptiness: none, a skewed one, a third of the categories, one category."""
    uniforms = generator(seed).random(k)
    third = np.arange(k) < max(1, k // 3)
    return [uniforms / uniforms.sum(), uniforms**8 / (uniforms**8).sum(), third / third.sum(), np.eye(k)[k - 1]]


def masked(design: mw.Design, population: np.ndarray, n: int, seed: int) -> mw.Reports:
    labels = np.empty(design.k, object)
    labels[:] = design.categories
    return design.mask(labels[generator(seed).choice(design.k, n, p=population)], seed=seed)


def fitted(design: mw.Design, population: np.ndarray, n: int, seed: int = 0) -> LikelihoodEstimate:
    estimate = mw.estimate(masked(design, population, n, seed), method="likelihood")
    assert isinstance(estimate, LikelihoodEstimate)
    return estimate


def check(estimate: mw.Estimate, n: int) -> None:
    assert estimate.gap is not None
    assert 0 <= estimate.gap <= max(1e-6, 1e-12 * n)
    assert (estimate.proportions >= 0).all()
    assert estimate.proportions.sum() == pytest.approx(1, abs=1e-12)


def limit_at(design: mw.Design, population: np.ndarray, method: Any = "likelihood") -> float:
    """n times the total variance when the reports come exactly as often as expected."""
    n = 1e6
    tally = mw.Tally.from_counts(design, n * (design.matrix() @ population))
    return float(n * mw.estimate(tally, method).variances.sum())
