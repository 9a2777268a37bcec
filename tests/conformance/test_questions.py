"""Questions are kept apart: under one key or seed, what two columns have in common says nothing about the people."""

from typing import Any

import numpy as np
import pytest

import maskwell as mw
from tests.conformance.masking_helpers import CODES, KEY, KINDS, every_kind, refused, values_for
from tests.statistics_helpers import independence_p_value

N = 20_000


def _columns(**options: Any) -> tuple[mw.Reports, mw.Reports]:
    """One design asks two questions, and everybody's answers to both are equal."""
    design = mw.designs.gamma_diagonal(5, epsilon=0.5)
    answers = np.arange(N) % 5
    first, second = (design.mask(answers, question=f"health/{name}", **options) for name in ("smokes", "drinks"))
    return first, second


@pytest.mark.parametrize("options", [{"key": KEY, "ids": np.arange(N)}, {"seed": 3}], ids=["keyed", "seeded"])
def test_equal_answers_to_two_questions_are_drawn_independently(options: dict[str, Any]) -> None:
    """Chi-square within each truth, false alarm 1e-6 in all; sharing the words would make every pair equal."""
    first, second = _columns(**options)
    for truth in range(5):
        pairs = [part.packed[truth::5].tolist() for part in (first, second)]
        assert independence_p_value(*pairs) > 1e-6 / 10


def test_a_joint_estimate_of_two_keyed_questions_is_right() -> None:
    """Each cell within five standard errors, false alarm below 1e-5; shared words gave cells of 2.4 and -2.1."""
    first, second = _columns(key=KEY, ids=np.arange(N))
    estimate = mw.estimate(mw.side_by_side({"smokes": first, "drinks": second}))
    expected = np.eye(5).ravel() / 5
    assert (np.abs(estimate.proportions - expected) < 5 * estimate.standard_errors).all()


@pytest.mark.parametrize("questions", [("q", "q"), (None, None), ("q", None)])
@pytest.mark.parametrize("randomness", ["keyed", "seeded"])
def test_reports_of_one_question_are_not_joined(randomness: str, questions: tuple[str | None, str | None]) -> None:
    design = mw.designs.gamma_diagonal(3, epsilon=1)
    one, two = (mw.Reports(design, np.zeros(9, np.uint8), None, randomness, q) for q in questions)
    message = refused(mw.ReportError, "share their noise", lambda: mw.side_by_side({"a": one, "b": two}))
    assert "question=" in message


@pytest.mark.parametrize("randomness", ["keyed", "seeded"])
def test_reports_of_two_questions_are_joined(randomness: str) -> None:
    design = mw.designs.gamma_diagonal(3, epsilon=1)
    one, two = (mw.Reports(design, np.zeros(9, np.uint8), None, randomness, q) for q in ("q", "r"))
    assert len(mw.side_by_side({"a": one, "b": two})) == 9


def test_secure_reports_need_no_question() -> None:
    design = mw.designs.gamma_diagonal(3, epsilon=1)
    one, two = (design.mask([0, 1, 2]) for _ in range(2))
    keyed = design.mask([0, 1, 2], key=KEY, ids=range(3), question="q")
    assert mw.side_by_side({"a": one, "b": two}).randomness == "secure"
    assert mw.side_by_side({"a": one, "b": keyed}).randomness == "keyed and secure"


@every_kind
def test_reports_carry_their_question(design: mw.Design, tmp_path: Any) -> None:
    question = "Umfrage 2026/Größe"
    reports = design.mask(values_for(design, 20), key=KEY, ids=range(20), question=question)
    assert reports.question == question
    for name in ("r.parquet", "r.arrow", "r.csv"):
        reports.write(tmp_path / name)
        assert mw.Reports.read(tmp_path / name).question == question
    assert mw.Reports.concatenate([reports, reports]).question == question


def test_reports_of_two_questions_are_not_put_together(tmp_path: Any) -> None:
    one, two = (CODES.mask([0, 1], question=q) for q in ("one", "two"))
    refused(mw.ReportError, "different questions", lambda: mw.Reports.concatenate([one, two]))


@pytest.mark.parametrize("question", ["", 7, b"health", "x" * 1001, "\ud800", ["a"]])
def test_questions_that_are_none(question: Any) -> None:
    refused(mw.DataError, "question", lambda: CODES.mask([0], key=KEY, ids=[1], question=question))
    refused(mw.DataError, "question", lambda: CODES.mask([0], seed=1, question=question))


@pytest.mark.parametrize("design", KINDS.values(), ids=KINDS)
def test_a_key_needs_a_question(design: mw.Design) -> None:
    values = values_for(design, 3)
    refused(mw.DataError, "key needs question", lambda: design.mask(values, key=KEY, ids=[1, 2, 3]))
    refused(mw.DataError, "key needs question", lambda: design.mask_batches([values], key=KEY, ids=[[1, 2, 3]]))


def test_the_variables_of_a_product_are_drawn_apart_and_apart_from_the_plain_question() -> None:
    """Under one question, a product of one design with itself and that design alone make three different columns."""
    design = mw.designs.gamma_diagonal(5, epsilon=0.5)
    both = mw.designs.product(design, design)
    keyed: Any = {"key": KEY, "ids": np.arange(N), "question": "q"}
    answers = np.arange(N) % 5
    joint = both.mask(np.column_stack([answers, answers]), **keyed)
    columns = [*both.split(joint.packed), design.mask(answers, **keyed).packed]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        for truth in range(5):
            pair = [columns[c][truth::5].tolist() for c in (i, j)]
            assert independence_p_value(*pair) > 1e-6 / 15
