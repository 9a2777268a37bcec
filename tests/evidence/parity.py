"""The claimed privacy against the integers that are sampled, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from mpmath import mp

import maskwell as mw
from maskwell.designs import DESIGNS, Design
from maskwell.designs.channels.rows import row_parity
from tests.conformance.claims import exceeds
from tests.evidence.record import Result, Size, Table

NAMES = tuple(name for name, entry in DESIGNS.items() if "epsilon" in entry.examples[0])
CATEGORIES: dict[Size, tuple[int, ...]] = {
    "reduced": (2, 3, 6, 20, 50),
    "full": (*range(2, 13), 15, 20, 30, 50, 75, 100, 150, 200),
}
EPSILONS: dict[Size, int] = {"reduced": 25, "full": 110}
LARGE: dict[Size, tuple[int, ...]] = {"reduced": (), "full": (1000, 10_000)}
# The exact matrix is enumerated as a second road to the parity where it is this small.
ENUMERATED = 6


@dataclass(frozen=True)
class Checked:
    """One design: what it claimed, whether it kept to it, and the share of the claim that it leaves unused.

    Some designs do not exist at every k and claim; a clear refusal is no violation, but it is counted.
    """

    name: str
    k: int
    claim: str
    violated: bool = False
    unused: float = 0.0
    refused: bool = False


def run(size: Size) -> Result:
    """Build every design of the grid and compare its exact parity with its claim."""
    asked = list(_grid(size))
    checked = [c for c in asked if not c.refused]
    failures = [f"{c.name}, k={c.k}, {c.claim}: parity above the claim" for c in checked if c.violated]
    rows = []
    for name in dict.fromkeys(c.name for c in checked):
        of_name = [c for c in checked if c.name == name]
        refused = sum(c.refused for c in asked if c.name == name)
        gap = f"{max(c.unused for c in of_name):.1e}"
        rows.append((name, len(of_name), sum(c.violated for c in of_name), gap, refused))
    return Result(
        name="parity",
        title="Claimed and realised parity",
        question="Does any design reveal more than it claims? The parity is computed from the integers that the "
        "sampler uses, as a fraction, and compared with an interval of 60 digits that holds e^epsilon, or with the "
        f"rational bound that was claimed. Up to k = {ENUMERATED} it is also computed from the rows of the exact "
        "matrix.",
        criterion="No violation. Nothing is drawn and nothing is rounded, so there is no false alarm.",
        sizes={
            "designs": len(checked),
            "epsilon from": 0.01,
            "epsilon to": 12.0,
            "k up to": max(c.k for c in checked),
        },
        findings=[
            f"{len(checked):,} designs, {len(failures)} violations.",
            f"No design stays more than {max(c.unused for c in checked):.1e} of the claimed parity below it: "
            "rounding towards privacy costs no accuracy.",
        ],
        tables=[
            Table(
                "By design (gap is the largest relative distance below the claim):",
                ("design", "designs", "violations", "gap", "refused"),
                rows,
            )
        ],
        failures=failures,
    )


def _grid(size: Size) -> Iterator[Checked]:
    epsilons = [0.01, *np.geomspace(0.01, 12, EPSILONS[size])[1:-1].tolist(), 12.0]
    for name in NAMES:
        for k in CATEGORIES[size]:
            yield from (_epsilon_claim(name, k, epsilon) for epsilon in epsilons)
        for k in LARGE[size]:
            # Designs of all sizes take seconds at k = 10,000.
            few = epsilons[:: len(epsilons) // 4] if k < 5000 else [1.0]
            yield from (_epsilon_claim(name, k, epsilon) for epsilon in few)
        for gamma in (Fraction(1001, 1000), Fraction(4, 3), Fraction(9), Fraction(99, 7), Fraction(1000)):
            for k in CATEGORIES[size]:
                yield _gamma_claim(name, k, gamma)
    yield from _planned(size)


def _epsilon_claim(name: str, k: int, epsilon: float) -> Checked:
    claim = f"epsilon={epsilon!r}"
    try:
        design = DESIGNS[name].function(k, epsilon=epsilon)
    except mw.DesignError:
        return Checked(name, k, claim, refused=True)
    parity = design.exact_parity()
    said_too_much = design.epsilon > epsilon or not design.demand or not design.demand.holds_for(design)
    violated = exceeds(parity, epsilon) or exceeds(_enumerated_parity(design), epsilon) or said_too_much
    return Checked(name, k, claim, violated, _below(parity, epsilon))


def _gamma_claim(name: str, k: int, gamma: Fraction) -> Checked:
    try:
        return _checked(DESIGNS[name].function(k, gamma=gamma), f"gamma={gamma}", gamma)
    except mw.DesignError:
        return Checked(name, k, f"gamma={gamma}", refused=True)


def _below(parity: Fraction | float, epsilon: float) -> float:
    """1 - parity / e^epsilon, which is far below the rounding of floats."""
    exact = Fraction(parity)
    with mp.workdps(50):
        return float(1 - mp.mpf(exact.numerator) / exact.denominator * mp.exp(-mp.mpf(epsilon)))


def _planned(size: Size) -> Iterator[Checked]:
    """Designs from ``plan`` for bounds that come from priors and posteriors."""
    for k in CATEGORIES[size]:
        for rho1 in (Fraction(1, 100), Fraction(1, 10), Fraction(1, 3)):
            for rho2 in (Fraction(1, 2), Fraction(9, 10)):
                bound = rho2 * (1 - rho1) / (rho1 * (1 - rho2))
                yield _checked(
                    mw.plan(k, mw.RhoPrivacy(rho1, rho2)), f"rho {rho1} to {rho2}", bound, "plan(RhoPrivacy)"
                )


def _checked(design: Design, claim: str, bound: Fraction, name: str | None = None) -> Checked:
    parity: Any = max(design.exact_parity(), _enumerated_parity(design))
    return Checked(name or design.name, design.k, claim, parity > bound, float(1 - parity / bound))


def _enumerated_parity(design: Design) -> Fraction:
    if design.k > ENUMERATED:
        return Fraction(1)
    return max(Fraction(row_parity(row)) for row in design.matrix(exact=True))
