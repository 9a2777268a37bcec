"""A design file cannot lie: forged files of every kind are refused, or are as private as they say.

The generator itself is tested by taking single checks out of the gate: each loss must show.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import maskwell as mw
from maskwell import demands
from maskwell.designs import claims, registry, storage, stored
from tests.adversarial.drawn import false_claims
from tests.adversarial.honest import DESIGNS, KINDS, Document, documents, signed
from tests.adversarial.trial import Trial, try_designs, try_plans, try_report_files

FILES = 1500


@pytest.mark.parametrize("kind", KINDS)
def test_honest_designs_pass_and_are_true(kind: str) -> None:
    for make in DESIGNS[kind]:
        design = make()
        again = mw.Design.from_json(design.to_json())
        assert again == design
        assert json.loads(again.to_json()) == json.loads(design.to_json())
        assert false_claims(again) == []


def test_every_kind_of_design_is_forged() -> None:
    """Of the package's own; another test adds one."""
    own = {name for name, kind in registry.KINDS.items() if kind.__module__.startswith("maskwell.")}
    assert set(KINDS) == own


def test_the_forger_computes_the_fingerprint() -> None:
    """Otherwise every forgery would be refused for its fingerprint alone."""
    for kind in KINDS:
        for document in documents(kind):
            assert signed(json.loads(json.dumps(document))) == document


def conditional(subsets: list[list[Any]], total: str, weights: list[str] | None = None, **about: Any) -> str:
    document: Document = {
        "maskwell": "design",
        "version": 1,
        "kind": "conditional",
        "name": "mine",
        "categories": ["a", "b", "c"],
        "parameters": {},
        "demand": None,
        "weights": {"total": total, "subsets": subsets, "weights": weights or ["1"] * len(subsets)},
    }
    return json.dumps(signed(document | about))


@pytest.mark.parametrize(
    ("subsets", "total"),
    [
        ([[0, 0, 0], [1, 1, 1], [2, 2, 2]], "3"),
        ([[0, 0], [1, 1], [2, 2]], "2"),
        ([[0, 0, 1], [0, 2, 2], [1, 1, 2]], "3"),
        ([[0, 0, 1], [1, 1, 2], [0, 2, 2]], "3"),
        ([[1, 0], [2, 1], [2, 0]], "2"),
        ([[-3, 1], [0, 2], [1, 2]], "2"),
        ([[0, 1], [0, 2], [1, 2], []], "2"),
        ([[0, True], [0, 2], [1, 2]], "2"),
        ([[0, 1.0], [0, 2], [1, 2]], "2"),
        ([[0, "1"], [0, 2], [1, 2]], "2"),
    ],
)
@pytest.mark.parametrize("demand", [None, {"kind": "ldp", "epsilon": 0.1}, {"kind": "local-diversity", "l": 2}])
def test_sets_that_are_no_sets(subsets: list[list[Any]], total: str, demand: Any) -> None:
    with pytest.raises(mw.DesignError):
        mw.Design.from_json(conditional(subsets, total, demand=demand))


def test_the_same_in_python() -> None:
    for subsets in (((0, 0, 0), (1, 1, 1), (2, 2, 2)), ((0, 3), (1, 2)), ((1, 0), (2, 1))):
        with pytest.raises(mw.DesignError, match="different positions"):
            mw.designs.ConditionalDesign((0, 1, 2), subsets, (1,) * len(subsets), 3, name="mine")
    with pytest.raises(mw.DesignError, match="whole numbers"):
        mw.designs.SubsetDesign((0, 1, 2), (1.0,), (2**64,), (0,), name="mine")  # type: ignore[arg-type]
    with pytest.raises(mw.DesignError, match="whole numbers"):
        mw.designs.MatrixDesign((0, 1), ((True, 0), (0, 1)), 1, (0, 1), name="mine")
    with pytest.raises(mw.DesignError, match="listed more than once"):
        mw.designs.SubsetDesign(("a", "a"), (1,), (2**64,), (0,), name="mine")
    parts = (mw.designs.direct(2), mw.designs.direct(2))
    with pytest.raises(mw.DesignError, match="combinations"):
        mw.designs.ProductDesign((0, 1), parts, ("a", "b"), name="mine")


@pytest.mark.parametrize(
    "changes",
    [
        {"parameters": {"epsilon": 0.1}},
        {"parameters": {"gamma": {"fraction": "3/2"}}},
        {"name": "mine", "parameters": {"epsilon": 0.1}},
        {"name": "mine", "parameters": {"l": 2}},
        {"name": "mine", "parameters": {"phi": 1.01}},
        {"name": "rappor"},
        {"name": "local_diversity", "parameters": {"l": 2}},
        {"name": "warner", "parameters": {"truth_prob": 0.5}},
        {"parameters": {}},
        {"parameters": {"epsilon": 5.0, "certified": "epsilon 0.1"}},
        {"name": 7},
        {"demand": {"kind": "ldp", "epsilon": 4.9}},
        {"demand": {}},
        {"demand": {"kind": "ldp", "epsilon": True}},
        {"demand": {"kind": "ldp", "epsilon": "1e1000000000"}},
        {"demand": {"kind": "ldp", "epsilon": "10/2"}},
        {"version": True},
        {"version": 1.0},
        {"categories": 6},
    ],
)
def test_names_parameters_and_demands_are_held_to_the_integers(changes: Document) -> None:
    document = json.loads(mw.designs.minimax(6, epsilon=5.0).to_json())
    mw.Design.from_json(json.dumps(document))
    with pytest.raises(mw.MaskwellError):
        mw.Design.from_json(json.dumps(signed(document | changes)))


def test_another_name_is_allowed_and_shows_no_unchecked_parameter() -> None:
    document = json.loads(mw.designs.minimax(6, epsilon=5.0).to_json())
    document |= {"name": "my design", "parameters": {"epsilon": 5.0, "certified": "epsilon 0.1"}}
    design = mw.Design.from_json(json.dumps(document))
    assert design == mw.designs.minimax(6, epsilon=5.0)
    assert mw.codebook(design).content["design"]["parameters"] == {"epsilon": 5.0}


@pytest.mark.parametrize(
    "text",
    [
        '{"maskwell": "design", "maskwell": "design"}',
        '{"maskwell": NaN}',
        '{"maskwell": Infinity}',
        '{"maskwell": 1e999}',
        '{"maskwell": -0}',
        '{"maskwell": ' + "9" * 5000 + "}",
        '{"maskwell": "\\ud800"}',
        '{"\\udfff": 1}',
        "[" * 200_000,
        '{"a":' * 5000,
        b"\xff\xfe",
        b"\x00",
        None,
        7,
    ],
)
def test_text_that_is_not_strict_json(text: Any) -> None:
    with pytest.raises(mw.DesignError):
        mw.Design.from_json(text)


def test_forged_files_are_refused_or_true() -> None:
    """A few thousand; the evidence topic of the same generator reads more than a hundred thousand."""
    trial = try_designs(FILES, seed=1)
    assert trial.false_certificates == []
    assert trial.other_errors == []
    for kind in KINDS:
        assert trial.passed[kind] >= 5, "a generator whose files all fail would test nothing"
        assert trial.passed[kind] < trial.read[kind] / 2


def test_forged_plans_and_files_of_reports(tmp_path: Path) -> None:
    for trial in (try_plans(200, seed=4), try_report_files(200, 5, tmp_path)):
        assert trial.false_certificates == []
        assert trial.other_errors == []
        assert sum(trial.passed.values()) >= 1


# Single checks taken out of the gate.


def _loose_integers(values: Any, what: str, least: int = 0) -> None:
    return None


def _numbers_of_any_spelling(item: Any) -> int:
    return int(item)


def _unchecked_sums(self: Any) -> None:
    mw.Design.__post_init__(self)


MUTANTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "order and distinctness": lambda patch: patch.setattr(stored, "rising", lambda values: True),
    "column sums of matrices": lambda patch: patch.setattr(mw.designs.MatrixDesign, "__post_init__", _unchecked_sums),
    "sums and sets of subset designs": lambda patch: patch.setattr(
        mw.designs.ConditionalDesign, "__post_init__", _unchecked_sums
    ),
    "sums of symmetric designs": lambda patch: patch.setattr(mw.designs.SubsetDesign, "__post_init__", _unchecked_sums),
    "balance of blocks": lambda patch: patch.setattr(mw.designs.BlockDesign, "__post_init__", _unchecked_sums),
    "demands": lambda patch: patch.setattr(demands.LocalDiversity, "holds_for", lambda self, design: True),
    "stated parameters": lambda patch: patch.setattr(claims, "_stated", lambda parameters: iter(())),
    "all claims": lambda patch: patch.setattr(storage, "refuse_false_claims", lambda design: None),
}


@pytest.mark.parametrize("lost", MUTANTS)
def test_a_lost_check_is_noticed(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    MUTANTS[lost](monkeypatch)
    trial: Trial = try_designs(FILES, seed=2)
    assert trial.false_certificates or trial.other_errors


def test_integers_of_another_type_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the check of types a size of 1.5, or a set of booleans, ends in an error of another kind or in a lie."""
    monkeypatch.setattr(stored, "integers", _loose_integers)
    monkeypatch.setattr(stored, "weight", _numbers_of_any_spelling)
    trial = try_designs(FILES, seed=3)
    assert trial.false_certificates or trial.other_errors


def test_one_number_has_one_spelling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another spelling of a weight is refused by the reader of weights, and by the fingerprint if that were lost."""
    document = json.loads(mw.designs.gamma_diagonal(3, epsilon=1.0).to_json())
    weight = document["weights"]["inside"][0]
    for spelled in (f"0{weight}", f"+{weight}", f" {weight}", f"{weight}\n", int(weight), f"{weight[0]}_{weight[1:]}"):
        document["weights"]["inside"] = [spelled]
        text = json.dumps(signed(document))
        with pytest.raises(mw.DesignError, match="decimal digits"):
            mw.Design.from_json(text)
        monkeypatch.setattr(stored, "weight", _numbers_of_any_spelling)
        with pytest.raises(mw.DesignError, match="fingerprint"):
            mw.Design.from_json(text)
        monkeypatch.undo()
