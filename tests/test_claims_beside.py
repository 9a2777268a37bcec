"""What stands in a design file beside its integers: notes must be notes, and there is nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import maskwell as mw
from maskwell.planning.dummies import dummy_design


def read(design: mw.Design, parameters: dict[str, Any] | None = None, **members: Any) -> mw.Design:
    document = json.loads(design.to_json())
    document["parameters"] |= parameters or {}
    return mw.Design.from_json(json.dumps(document | members))


@pytest.mark.parametrize("n", [10**30, -5, 0, True, 2.0, "[red]9", "12", None, [9], {"fraction": "9"}])
def test_planned_n_is_a_number_of_people(n: object) -> None:
    with pytest.raises(mw.MaskwellError, match=r"planned_n|stored as it is written"):
        read(mw.plan(3, mw.LDP(1)), {"planned_n": n})


@pytest.mark.parametrize("labels", [10**30, "ab", ["no"], ["no", "no"], ["no", "yes", "dummy 1"], ["x", "y"], [[], {}]])
def test_dummies_are_two_categories(labels: object) -> None:
    with pytest.raises(mw.MaskwellError, match="dummies"):
        read(dummy_design(["no", "yes"]), {"dummies": labels})


def test_notes_of_planning_are_read_back() -> None:
    assert read(mw.plan(3, mw.LDP(1), n=10**18)).parameters["planned_n"] == 10**18
    assert read(dummy_design(["no", "yes"])).parameters["dummies"] == ["dummy 1", "dummy 2"]
    with pytest.raises(mw.MaskwellError, match="n must be"):
        mw.plan(3, mw.LDP(1), n=10**19)


@pytest.mark.parametrize("member", ["k", "epsilon", "parity", "exact_parity"])
@pytest.mark.parametrize("claimed", [0, "epsilon 0", None, 0.5, [], True])
def test_figures_beside_a_design_are_held_against_its_integers(member: str, claimed: object) -> None:
    """`maskwell plan --json` writes them; a file must not state others."""
    with pytest.raises(mw.MaskwellError, match="that its integers do not give"):
        read(mw.plan(3, mw.LDP(1)), **{member: claimed})


@pytest.mark.parametrize("member", ["privacy", "note", "Name", "randomness", "digest", ""])
def test_a_member_that_no_design_has_is_refused(member: str) -> None:
    with pytest.raises(mw.MaskwellError, match="a member that no design has"):
        read(mw.plan(3, mw.LDP(1)), **{member: "epsilon 0"})


def test_a_member_is_refused_beside_reports_and_in_products_too(tmp_path: Path) -> None:
    design = mw.designs.product(mw.plan(3, mw.LDP(1)), mw.plan(2, mw.LDP(1)))
    document = json.loads(design.to_json())
    document["weights"]["parts"][0]["privacy"] = "epsilon 0"
    with pytest.raises(mw.MaskwellError):
        mw.Design.from_json(json.dumps(document))
    mw.plan(3, mw.LDP(1)).mask([0, 1, 2], seed=1).write(tmp_path / "r.csv")
    beside = tmp_path / "r.design.json"
    assert len(mw.Reports.read(tmp_path / "r.csv")) == 3
    mw.Design.from_json(beside.read_text())
    beside.write_text(json.dumps(json.loads(beside.read_text()) | {"privacy": "epsilon 0"}))
    with pytest.raises(mw.MaskwellError, match="a member that no design has"):
        mw.Reports.read(tmp_path / "r.csv")


@pytest.mark.parametrize("counts", [[50, 0, 0, 0], [20, 30, 0, 0], [1, 0, 0, 1], [20, 0, 30, 0]])
@pytest.mark.parametrize("permutations", [None, 0, 99])
def test_independence_of_equal_or_of_two_reports_is_nothing_to_test(
    counts: list[int], permutations: int | None
) -> None:
    design = mw.designs.product(mw.designs.direct(2), mw.designs.direct(2))
    found = mw.independence_test(mw.Tally.from_counts(design, counts), permutations=permutations)
    assert (found.statistic, found.df, found.p_value) == (0, 0, 1)
    assert "nothing to test" in str(found)
    assert "0 chi-squares" not in str(found)
    assert "shuffles" not in str(found)


def test_three_reports_are_shuffled() -> None:
    design = mw.designs.product(mw.designs.direct(2), mw.designs.direct(2))
    found = mw.independence_test(mw.Tally.from_counts(design, [1, 1, 0, 1]))
    assert found.permutations > 0
    assert f"chosen: {found.permutations} shuffles" in str(found)
