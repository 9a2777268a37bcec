"""Mistakes that other programs made with the same methods, as tests; those of samplers are in ``test_mutants``."""

import inspect

import numpy as np
import pytest

import maskwell as mw
from tests.conformance.masking_helpers import CODES, KEY, KEYED, SETS, refused


def test_a_matrix_whose_rows_sum_to_one_is_not_taken_for_one_whose_columns_do() -> None:
    by_row = [[0.9, 0.1], [0.4, 0.6]]
    message = refused(mw.DesignError, "columns", lambda: mw.designs.from_matrix(by_row))
    assert "transpose" in message
    assert mw.designs.from_matrix(np.transpose(by_row)).matrix()[:, 0] == pytest.approx([0.9, 0.1])


def test_the_diagonal_is_the_one_that_was_asked_for() -> None:
    """Not one that a later step moved: of 400,000 truths .8 stay, within five standard errors."""
    design = mw.designs.from_matrix([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], ["a", "b", "c"])
    assert np.diag(design.matrix()) == pytest.approx([0.8, 0.8, 0.8], abs=1e-15)
    for label in design.categories:
        stayed = design.mask(np.full(400_000, label), seed=1).decode().count(label)
        assert abs(stayed / 400_000 - 0.8) < 5 * (0.8 * 0.2 / 400_000) ** 0.5


def test_counts_belong_to_their_labels() -> None:
    """Estimates come in the order of the categories, whatever the alphabet or the order of the data says."""
    design = mw.designs.direct(["zebra", "ant", "mole"])
    estimate = mw.estimate(design.mask(["ant", "mole", "mole", "zebra", "mole"]))
    assert dict(zip(design.categories, estimate.proportions.tolist(), strict=True)) == {
        "zebra": 0.2,
        "ant": 0.2,
        "mole": 0.6,
    }
    assert estimate.to_frame(backend="pyarrow").column("category").to_pylist() == ["zebra", "ant", "mole"]


def test_a_second_evaluation_is_no_second_draw() -> None:
    """Where an engine may evaluate twice, a key makes the second time the first."""
    values, ids = np.arange(1000) % 40, np.arange(1000)
    assert SETS.mask(values, **KEYED, ids=ids) == SETS.mask(values, **KEYED, ids=ids)


def test_neither_seed_nor_key_nor_truth_is_kept() -> None:
    for reports in (CODES.mask([1, 2], seed=987654321, question="q"), CODES.mask([1, 2], **KEYED, ids=[1, 2])):
        metadata = reports.to_arrow().schema.metadata
        assert set(metadata) == {
            *(b"maskwell", b"maskwell.design", b"maskwell.randomness", b"maskwell.question"),
            *(b"maskwell.reports", b"maskwell.digest"),
        }
        stored = b" ".join(metadata.values())
        assert b"987654321" not in stored
        assert KEY not in stored


def test_simulated_reports_say_so() -> None:
    assert CODES.mask([1], seed=1).randomness == "seeded"
    assert "seeded" in repr(CODES.mask([1], seed=1))
    assert "seeded" not in repr(CODES.mask([1]))


def test_parameters_have_names_that_say_what_they_are() -> None:
    """Everything but the categories is given by name, so that no probability can slip into another's place."""
    for entry in mw.designs.DESIGNS.values():
        parameters = list(inspect.signature(entry.function).parameters.values())
        positional = [p.name for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY]
        assert set(positional) <= {"categories", "P"}
