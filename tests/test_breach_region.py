"""The region of beliefs that a design allows: its symmetry, its ends, and the demands that fit into it."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import maskwell as mw
from maskwell.auditing import BreachRegion, demand_curves
from tests.conformance.checks import row_parity
from tests.unusual_designs import ALL

Floats = NDArray[np.float64]
# Sums of at most some thousand products of probabilities.
CLOSE = 1e-11


@pytest.fixture(params=ALL.values(), ids=ALL)
def design(request: pytest.FixtureRequest) -> mw.Design:
    chosen: mw.Design = request.param
    return chosen


@pytest.mark.parametrize("gamma", [1, Fraction(3, 2), 9, 1e6, math.inf])
def test_the_region_mirrors_itself(gamma: Any) -> None:
    region = BreachRegion(gamma)
    p = np.linspace(0, 1, 101)
    np.testing.assert_allclose(region.lower(p), 1 - region.upper(1 - p), atol=1e-12)
    assert (region.lower(p) <= p).all()
    assert (p <= region.upper(p)).all()
    assert (region.upper(0.0), region.lower(0.0), region.upper(1.0), region.lower(1.0)) == (0, 0, 1, 1)


def test_no_report_leaves_the_region_and_some_report_reaches_its_ends(design: mw.Design) -> None:
    audit = mw.audit(design)
    P, region = design.matrix(), audit.breach_region
    rng = np.random.default_rng(7)
    for w in rng.dirichlet(np.full(design.k, 0.5), 20):
        after = P * w / np.maximum(P @ w, 1e-300)[:, None]
        assert (after <= region.upper(w) + CLOSE).all()
        assert (after[P @ w > 0] >= region.lower(w) - CLOSE).all()
    worst = max(range(len(P)), key=lambda z: row_parity(design.matrix(exact=True)[z]))
    top, bottom = int(np.argmax(P[worst])), int(np.argmin(P[worst]))
    for p in (0.01, 0.5, 0.9):
        prior = np.zeros(design.k)
        prior[top] += p
        prior[bottom] += 1 - p
        if top != bottom:
            after = audit.posterior(design.report_labels()[worst], prior=prior)
            assert after[top] == pytest.approx(region.upper(p), rel=1e-9)
            assert after[bottom] == pytest.approx(region.lower(1 - p), rel=1e-9)


DEMANDS = [
    mw.LDP(1),
    mw.LDP(0.2),
    mw.BetaFactor(3),
    mw.RhoPrivacy(0.1, 0.5),
    mw.RhoPrivacy(0.4, 0.5),
    mw.InformationPrivacy(lambda a: a / 4, lambda a: min(1, 4 * a)),
]


@pytest.mark.parametrize("demand", DEMANDS, ids=lambda demand: demand.describe())
def test_a_demand_holds_exactly_if_its_region_is_inside(design: mw.Design, demand: mw.Demand) -> None:
    contained = mw.audit(design).breach_region.contains(demand)
    assert bool(contained) is contained.holds is demand.holds_for(design)
    assert (contained.room >= 1) is contained.holds
    lower, upper, _ = demand_curves(demand)
    region = mw.audit(design).breach_region
    inside = all(
        region.upper(p) <= upper(p) + 1e-9 and region.lower(p) >= lower(p) - 1e-9
        for p in np.linspace(0.001, 0.999, 999)
    )
    assert inside or not contained.holds


def test_where_a_demand_binds() -> None:
    region = BreachRegion(2)
    assert region.contains(mw.LDP(1)).tight_at is None
    assert region.contains(mw.BetaFactor(3)).tight_at == 0
    rho = region.contains(mw.RhoPrivacy(0.1, 0.5))
    assert (rho.tight_at, rho.side) == (0.1, "up")
    assert rho.room == pytest.approx(4.5)

    def upper(p: float) -> float:
        # Log-odds t may rise by 1 + log cosh(t - 1), which is least at t = 1.
        if p == 1:
            return 1.0
        odds = ((p / (1 - p)) ** 2 + math.e**2) / 2
        return odds / (1 + odds) if odds < math.inf else 1.0

    interior = region.contains(lambda p: 0.0, upper)
    assert interior.tight_at == pytest.approx(1 / (1 + math.exp(-1)), abs=2e-3)
    assert interior.side == "up"
    downward = region.contains(lambda p: p / 5, lambda p: 1.0 if p > 0 else 0.0)
    assert (downward.side, downward.holds) == ("down", True)


def test_demands_without_a_region_are_refused() -> None:
    for demand in (mw.AverageSecurity(1.5), mw.LocalDiversity(2)):
        with pytest.raises(mw.DemandError, match="no breach region"):
            BreachRegion(2).contains(demand)
    with pytest.raises(mw.DemandError, match="both of its curves"):
        BreachRegion(2).contains(lambda p: 0.0)
    with pytest.raises(mw.DemandError, match="at least 1"):
        BreachRegion(0.5)
    with pytest.raises(mw.DemandError, match="between 0 and 1"):
        BreachRegion(2).upper(1.5)
