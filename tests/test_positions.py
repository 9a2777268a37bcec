"""Reports as devices send them: every design there and back, and what no design can have produced."""

import json

import numpy as np
import pytest

import maskwell as mw

DESIGNS = [
    mw.designs.minimax(9, epsilon=1),
    mw.designs.rappor(5, epsilon=1),
    mw.designs.projective(300, epsilon=1),
    mw.designs.gamma_diagonal(["a", "b", "c"], epsilon=1),
    mw.designs.block(7, epsilon=1),
    mw.designs.product(mw.designs.minimax(5, epsilon=1), mw.designs.warner(truth_prob=0.7)),
]


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_positions_there_and_back_through_json(design: mw.Design) -> None:
    names = design.variables
    values = {n: [part.categories[0]] * 50 for n, part in names.items()} if names else [design.categories[1]] * 50
    reports = design.mask(values, seed=1)
    sent = json.loads(json.dumps(reports.positions()))
    again = mw.Reports.from_positions(design, sent, question="telemetry/page")
    assert again == reports
    assert (again.randomness, again.question) == ("unknown", "telemetry/page")
    assert again.tally() == reports.tally()
    lost = mw.Reports.from_positions(design, [*sent, None])
    assert lost.missing is not None
    assert lost.missing.sum() == 1
    assert lost.positions() == [*sent, None]


def test_numbers_of_numpy_are_positions_too() -> None:
    design = mw.designs.projective(300, epsilon=1)
    reports = design.mask(np.arange(300), seed=1)
    assert mw.Reports.from_positions(design, np.array(reports.positions())) == reports


@pytest.mark.parametrize(
    ("design", "wrong"),
    [
        (mw.designs.minimax(9, epsilon=1), [2, 1]),
        (mw.designs.minimax(9, epsilon=1), [0, 9]),
        (mw.designs.minimax(9, epsilon=1), [0, 1, 2]),
        (mw.designs.minimax(9, epsilon=1), "search"),
        (mw.designs.projective(300, epsilon=1), -1),
        (mw.designs.projective(300, epsilon=1), 341),
        (mw.designs.projective(300, epsilon=1), 2**80),
        (mw.designs.projective(300, epsilon=1), True),
        (mw.designs.projective(300, epsilon=1), 7.0),
    ],
)
def test_what_a_design_cannot_have_produced_is_refused_by_its_row(design: mw.Design, wrong: object) -> None:
    good = design.mask([0], seed=1).positions()
    with pytest.raises(mw.ReportError, match="row 1: a report must be") as refused:
        mw.Reports.from_positions(design, [*good, wrong, *good])
    assert "search" not in str(refused.value)


@pytest.mark.parametrize("wrong", ["02", 7, {"report": 7}])
def test_reports_are_a_list(wrong: object) -> None:
    with pytest.raises(mw.DataError, match="must be a list"):
        mw.Reports.from_positions(mw.designs.projective(300, epsilon=1), wrong)
