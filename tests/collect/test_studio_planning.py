"""What the studio says about a planned question: the library's own figures, for every kind of demand."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import maskwell as mw
from maskwell.collect.studio.planning.demands import Limits, read_demand
from maskwell.collect.studio.planning.figures import figures
from maskwell.collect.studio.planning.frontier import curves
from maskwell.errors import MaskwellError
from maskwell.planning import half_width, sample_size

LABELS = ["never", "once", "a few times", "often"]
DEMANDS: dict[str, tuple[dict[str, Any], Any]] = {
    "ldp": ({"epsilon": "1.25"}, mw.LDP(1.25)),
    "beta-factor": ({"beta": "4"}, mw.BetaFactor(4)),
    "rho": ({"rho1": "0.1", "rho2": "1/2"}, mw.RhoPrivacy(0.1, Fraction(1, 2))),
    "information": ({"rises": [["10e-2", "40e-2"]], "falls": [["0.9", "0.5"]]}, mw.BetaFactor(6)),
    "local-diversity": ({"l": "2"}, mw.LocalDiversity(2)),
    "average-security": ({"phi": "1.5"}, mw.AverageSecurity(1.5)),
}


def asking(kind: str, **more: Any) -> dict[str, Any]:
    stated, _ = DEMANDS[kind]
    return {"categories": LABELS, "demand": {"kind": kind, **stated}, "n": 1000, "width": 0.05, **more}


@pytest.mark.parametrize("kind", DEMANDS)
def test_the_figures_are_those_of_the_library(kind: str) -> None:
    _, demand = DEMANDS[kind]
    shown = figures(asking(kind))
    design = mw.Design.from_json(json.dumps(shown["design"]))
    assert design == mw.plan(LABELS, demand, n=1000)
    assert demand.holds_for(design)
    assert shown["half_width"] == half_width(design, 1000)
    assert shown["needed"] == sample_size(design, 0.05)
    assert shown["parity"] == (design.parity if math.isfinite(design.parity) else None)
    assert shown["warnings"] == list(mw.audit(design).warnings)
    (chosen,) = [row for row in shown["compared"] if row["chosen"]]
    assert chosen["guess"] == mw.audit(design).guess_probability
    least = min(row["half_width"] for row in shown["compared"] if row["meets"])
    assert chosen["half_width"] <= least * (1 + 1e-9)
    json.dumps(shown, allow_nan=False)


def test_another_design_can_be_chosen_if_it_meets_the_demand() -> None:
    shown = figures(asking("ldp", use="rappor"))
    assert mw.Design.from_json(json.dumps(shown["design"])) == mw.designs.rappor(LABELS, epsilon=1.25)
    assert "minimax" in shown["reason"]
    with pytest.raises(MaskwellError, match="no design"):
        figures(asking("local-diversity", use="rappor"))


@pytest.mark.parametrize(
    "limits",
    [
        Limits(((Fraction("0.1"), Fraction("0.5")), (Fraction("0.3"), Fraction("0.9"))), ()),
        Limits((), ((Fraction("0.8"), Fraction("0.4")),)),
    ],
)
def test_limits_of_beliefs_have_the_bound_of_their_curves(limits: Limits) -> None:
    jumps = tuple(float(before) for before, _ in (*limits.rises, *limits.falls))
    curve = mw.InformationPrivacy(limits.lower, limits.upper, breakpoints=jumps)
    assert curve.parity_bound <= float(limits.bound()) <= curve.parity_bound * (1 + 1e-8)


def test_curves_of_a_demand_lie_where_the_demand_says() -> None:
    rows = read_demand({"kind": "rho", "rho1": "0.1", "rho2": "0.5"}).curves()
    assert rows is not None
    assert all(high == 0.5 for p, _, high in rows if p <= 0.1)
    assert all(high == 1 for p, _, high in rows if p > 0.1)
    assert all(low == 0.1 for p, low, _ in rows if p >= 0.5)
    assert read_demand({"kind": "local-diversity", "l": 2}).curves() is None


@pytest.mark.parametrize(
    "changes",
    [
        {"categories": ["only one"]},
        {"categories": ["same", "same"]},
        {"categories": "abc"},
        {"categories": [1, 2]},
        {"categories": [str(i) for i in range(1001)]},
        {"n": 0},
        {"n": 1.5},
        {"n": True},
        {"width": 0},
        {"width": "wide"},
        {"use": 3},
        {"more": 1},
        {"demand": None},
        {"demand": {"kind": "nothing"}},
        {"demand": {"kind": "ldp", "epsilon": "abc"}},
        {"demand": {"kind": "ldp", "epsilon": "-1"}},
        {"demand": {"kind": "ldp", "epsilon": None}},
        {"demand": {"kind": "ldp", "epsilon": "1e999999999"}},
        {"demand": {"kind": "rho", "rho1": "0.5", "rho2": "0.1"}},
        {"demand": {"kind": "information", "rises": [], "falls": []}},
        {"demand": {"kind": "information", "rises": [["0.5", "0.1"]]}},
        {"demand": {"kind": "information", "falls": [["0.1", "0.5"]]}},
        {"demand": {"kind": "information", "rises": [["0.1"]]}},
        {"demand": {"kind": "information", "rises": "0.1"}},
    ],
)
def test_what_cannot_be_planned_is_refused_in_one_line(changes: dict[str, Any]) -> None:
    with pytest.raises(MaskwellError) as refused:
        figures({**asking("ldp"), **changes})
    assert "\n" not in str(refused.value)


def test_the_frontier_has_the_minimax_design_below_all_others() -> None:
    lines = {curve["name"]: curve["points"] for curve in curves(5)}
    for name in ("gamma_diagonal", "rappor", "trimmed_rappor", "optimized_unary"):
        for best, other in zip(lines["minimax"], lines[name], strict=True):
            assert best[2] <= other[2] * (1 + 1e-9)
    assert all(point[0] is None for point in lines["local_diversity"])


QUOTES, COMMAS = ["yes", "no", 'it\'s "$(id)" `x`'], ["a, b", "-c", "d\u2028\u202e"]


@pytest.mark.parametrize(
    ("kind", "use", "labels"), [("ldp", None, QUOTES), ("rho", "rappor", QUOTES), ("local-diversity", None, COMMAS)]
)
def test_the_lines_that_are_shown_make_the_same_design(
    kind: str, use: str | None, labels: list[str], tmp_path: Path
) -> None:
    shown = figures({**asking(kind), "categories": labels, **({"use": use} if use else {})})
    design = mw.Design.from_json(json.dumps(shown["design"]))
    made: dict[str, Any] = {}
    exec(shown["python"], made)
    assert made["design"] == design
    command = shown["command"].splitlines()[0].replace("python3 -c", f"{sys.executable} -c")
    command = command.replace("maskwell plan", f"{sys.executable} -m maskwell plan")
    subprocess.run(["sh", "-euc", command], cwd=tmp_path, check=True, capture_output=True)
    assert mw.Design.from_json((tmp_path / "design.json").read_text()) == design
