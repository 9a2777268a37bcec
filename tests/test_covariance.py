"""A covariance of shares is one: nothing in their sum, no negative eigenvalue, for every design at every boundary."""

import math
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell.designs.kinds.projective import ProjectiveDesign
from tests.likelihood_helpers import EXAMPLES, design_of, generator, populations
from tests.unusual_designs import UNUSUAL

METHODS = ("linear", "moments", "likelihood", "one-step")


def check(estimate: mw.Estimate) -> None:
    """Estimates that sum to 1 on average alone vary in their sum: moments of several sizes, part of a space."""
    covariance = estimate.covariance
    scale = float(np.abs(covariance).max())
    rounding = 1e-7 * scale + 1e-14
    assert np.abs(covariance - covariance.T).max() <= rounding
    assert np.linalg.eigvalsh(covariance).min() >= -rounding
    assert np.diag(covariance) == pytest.approx(estimate.variances, rel=1e-9, abs=1e-14)
    design = estimate.design
    part_of_space = isinstance(design, ProjectiveDesign) and design.k < design.space.points
    on_average = estimate.method == "linear" and part_of_space
    if estimate.method != "moments" and not on_average:
        assert np.abs(covariance.sum(axis=0)).max() <= rounding
        k = len(covariance)
        assert estimate.contrast(np.ones(k)).standard_error <= math.sqrt(k * rounding)


def estimates(tally: mw.Tally) -> Any:
    for method in METHODS:
        try:
            estimate = mw.estimate(tally, method)  # type: ignore[arg-type]
        except mw.EstimationError:
            continue  # the design tells sums only, or one step is not determined
        if getattr(estimate, "undetermined", ()):
            continue
        yield estimate


@pytest.mark.parametrize(("function", "example"), EXAMPLES)
def test_named_designs(function: Any, example: dict[str, Any]) -> None:
    design = design_of(function, example)
    for seed, population in enumerate(populations(design.k, 1)):
        for n in (1, 5, 40, 1000):
            labels = np.empty(design.k, object)
            labels[:] = design.categories
            values = labels[generator(seed).choice(design.k, n, p=population)]
            reports = design.mask(values.tolist(), seed=seed)
            weights = generator(n).uniform(0.1, 9, n)
            for tally in (reports.tally(patterns=True), reports.tally(weights=weights, patterns=True)):
                for estimate in estimates(tally):
                    check(estimate)


@pytest.mark.parametrize("design", UNUSUAL.values(), ids=UNUSUAL.keys())
def test_unusual_designs(design: mw.Design) -> None:
    for n in (3, 30):
        for estimate in estimates(design.mask(np.zeros(n, int), seed=n).tally(patterns=True)):
            check(estimate)


def test_joint_tables_and_groups() -> None:
    design = mw.designs.product(mw.designs.minimax(4, epsilon=1), mw.designs.warner(truth_prob=0.7), names=["a", "b"])
    rows = [(0, "no")] * 37 + [(3, "yes")] * 3
    reports = design.mask(rows, seed=3)
    groups = np.arange(40) % 3
    for estimate in [*estimates(reports.tally()), *mw.estimate_by(reports, groups).values()]:
        check(estimate)


def test_totals_have_a_covariance() -> None:
    """Totals may vary in their sum, but no combination of them has a negative variance."""
    for k, epsilon, n in ((5, 1, 30), (3, 0.5, 5), (8, 2, 4)):
        for name in ("minimax", "rappor", "gamma_diagonal"):
            design = getattr(mw.designs, name)(k, epsilon=epsilon)
            for seed in range(20):
                weights = generator(seed).uniform(0.1, 9, n)
                totals = mw.estimate_totals(design.mask(np.zeros(n, int), seed=seed).tally(weights=weights))
                assert np.linalg.eigvalsh(totals.covariance).min() >= -1e-7 * np.abs(totals.covariance).max()
