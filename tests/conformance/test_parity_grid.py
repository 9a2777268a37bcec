"""No design exceeds the parity that it claims: more than 2,000 of them, decided without rounding."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell.designs import DESIGNS
from tests.conformance.claims import check_claim, exceeds
from tests.conformance.masking_helpers import attempt

NAMES = [name for name, entry in DESIGNS.items() if "epsilon" in entry.examples[0]]
EPSILONS = [0.01, *np.geomspace(0.01, 12, 30)[1:-1].tolist(), 12.0]
# Designs with one size are built at once, those with all sizes in a time that grows with k.
SMALL = (2, 3, 4, 5, 6, 7, 9, 10, 13, 17, 25, 33, 50, 64, 100)
LARGE = (128, 255, 500, 1000)
HUGE = (3000,)
GRID = [(name, k, epsilon) for name in NAMES for k in SMALL for epsilon in EPSILONS]
GRID += [(name, k, epsilon) for name in NAMES for k in LARGE for epsilon in EPSILONS[::5]]
GRID += [(name, k, epsilon) for name in NAMES for k in HUGE for epsilon in EPSILONS[4::12]]
GRID += [(name, k, float(e)) for name in NAMES for k in (2, 3, 10) for e in (0.1, 0.5, 1, 2, 3, 5, 8, 10)]


def test_the_grid_is_large_enough() -> None:
    assert len(set(GRID)) >= 2000
    assert min(e for _, _, e in GRID) <= 0.01
    assert max(e for _, _, e in GRID) >= 12


@pytest.mark.parametrize("name", NAMES)
def test_no_design_exceeds_its_claim(name: str) -> None:
    """0 violations; and the claim is used up to one part in a million million, so that no accuracy is given away."""
    for _, k, epsilon in (point for point in GRID if point[0] == name):
        design = DESIGNS[name].function(k, epsilon=epsilon)
        check_claim(design, epsilon)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("gamma", [Fraction(1001, 1000), Fraction(4, 3), 2, 3.7, 9, Fraction(99, 7), 20, 1000])
def test_no_design_exceeds_a_rational_claim(name: str, gamma: Any) -> None:
    for k in (2, 3, 5, 12, 40, 300):
        design = DESIGNS[name].function(k, gamma=gamma)
        assert Fraction(gamma) * (1 - Fraction(1, 10**12)) < design.exact_parity() <= Fraction(gamma)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("epsilon", [1e-30, 1e-19, 1e-12, 1e-6, 20, 40, 100])
def test_extreme_claims_hold_or_are_refused(name: str, epsilon: float) -> None:
    """Where integers out of 2^64 cannot give a parity, a clear error says so."""
    for k in (2, 3, 10):
        result = attempt(lambda k=k: DESIGNS[name].function(k, epsilon=epsilon))
        if isinstance(result, mw.Design):
            assert not exceeds(result.exact_parity(), epsilon)
        else:
            assert "epsilon" in str(result)
            assert "\n" not in str(result)
