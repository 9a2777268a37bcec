"""Risk with unequal weights beside R's SDCNway: its two sampling fractions reproduced, and ours between them.

Both fit the same log-linear model to the weighted records. They differ in the sampling fraction of a cell: SDCNway
takes one for all cells ("pi") or the cell's own records over its weights ("pi_k"), this package fits the records too.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import maskwell as mw
from maskwell.risk.modelled import Modelled
from maskwell.risk.poisson import match_chance, uniqueness
from maskwell.tables.codes import Floats
from tests.oracles.weighted_records import SIZES, weighted_records

FROZEN = json.loads((Path(__file__).parent / "oracles" / "sdcnway.json").read_text())
# SDCNway fits margins by repeated scaling and stops within some 1e-7 of ours; without interactions it is exact.
DEGREES = [("independence", 1, 1e-12), ("two-way", 2, 1e-6)]


def modelled(model: str) -> Modelled:
    found = mw.risk.assess(weighted_records(), list(SIZES), weights="weight", model=model).modelled
    assert found is not None
    return found


def rates(found: Modelled, fraction: Floats | float) -> dict[str, float]:
    """Both risks by record, with these sampling fractions of the cells."""
    single = found.cells.counts == 1
    people = found.weighted.means(found.cells.codes) / found.fraction
    others = (people * (1 - fraction))[single]
    n = found.cells.counts.sum()
    chances = match_chance(found.cells.counts[single], others)
    return {"tau1": float(uniqueness(others).sum() / n), "tau2": float(chances.sum() / n)}


@pytest.mark.parametrize(("model", "degree", "tolerance"), DEGREES)
def test_the_fitted_people_of_a_cell_are_those_of_sdcnway(model: str, degree: int, tolerance: float) -> None:
    found = modelled(model)
    assert found.cells.population is not None
    own = found.cells.counts / found.cells.population
    assert rates(found, found.fraction) == pytest.approx(FROZEN[f"degree {degree}, pi"], rel=tolerance)
    assert rates(found, own) == pytest.approx(FROZEN[f"degree {degree}, pi_k"], rel=tolerance)


@pytest.mark.parametrize(("model", "degree"), [case[:2] for case in DEGREES])
def test_the_risk_lies_between_the_two_of_sdcnway(model: str, degree: int) -> None:
    found = modelled(model)
    n = found.cells.counts.sum()
    low, high = (FROZEN[f"degree {degree}, {kind}"] for kind in ("pi", "pi_k"))
    assert low["tau1"] < found.tau1 / n < high["tau1"]
    assert low["tau2"] < found.tau2 / n < high["tau2"]
