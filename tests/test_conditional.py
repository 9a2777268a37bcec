"""Subset privacy: designs by chances of one's own, yes/no questions, dummies, and what reports cannot tell apart."""

import itertools
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell.planning.dummies import (
    dummy_design,
    dummy_respondents,
    dummy_values,
    estimate_beside_dummies,
    guaranteed_coverage,
)
from maskwell.planning.subset_questions import (
    balanced_design,
    combine,
    identifiability,
    question,
    subset_weights,
)

URN = {"black": 0.01, "red": 0.1, "green": 0.2, "blue": 0.69}
RACE = np.array([311, 1039, 3124, 271, 27816]) / 32561


def uniform_by_list(k: int) -> mw.Design:
    """The uniform design with its sets written out."""
    sets = [c for size in range(2, k - 1) for c in itertools.combinations(range(k), size)]
    return mw.designs.conditional(k, subset_probs={c: Fraction(1, 2 ** (k - 1) - k - 1) for c in sets})


def risk(design: mw.Design, method: Any, population: np.ndarray) -> float:
    """n times the total squared error, by enumeration of the reports."""
    scores = design.scores(method).rows(np.arange(design.report_count()))
    chances = design.matrix() @ population
    return float(((scores - population) ** 2).sum(axis=1) @ chances)


# The published examples.


@pytest.mark.parametrize("listed", [False, True])
def test_urn_coverage(listed: bool) -> None:
    """The average share of the population in a report is .6841 (wang-ding-2021, Example 2)."""
    design = uniform_by_list(4) if listed else mw.designs.uniform_subsets(list(URN))
    coverage = 1 - mw.audit(design, prior=list(URN.values())).size_leakage
    assert round(coverage, 4) == 0.6841
    w = np.array(list(URN.values()))
    members = np.array([[c in label for c in design.categories] for label in design.report_labels()], float)
    assert coverage == pytest.approx(float((members @ w) @ (design.matrix() @ w)), rel=1e-12)


def test_race_example() -> None:
    """Five categories, uniform design: 2.8003 by inverting Q, 2.6598 by weighted least squares."""
    design = uniform_by_list(5)
    assert round(risk(design, "moments", RACE), 4) == 2.8003
    assert round(risk(design, "linear", RACE), 4) == 2.6598
    sizes = mw.designs.uniform_subsets(5)
    assert design.added_variance == pytest.approx(sizes.added_variance, rel=1e-12)
    assert (design.matrix(exact=True) == mw.designs.from_matrix(design.matrix(exact=True)).matrix(exact=True)).all()


def test_an_independent_design_is_a_conditional_one() -> None:
    """Asking a set or its complement is the same question."""
    one = mw.designs.independent(4, question_probs={(0, 1): 1, (0, 2): 1, (0, 3): 2})
    other = mw.designs.independent(4, question_probs={(2, 3): 0.25, (1, 3): 0.25, (1, 2): 0.5})
    third = mw.designs.conditional(
        4, subset_probs={(0, 1): 0.25, (2, 3): 0.25, (0, 2): 0.25, (1, 3): 0.25, (0, 3): 0.5, (1, 2): 0.5}
    )
    assert one == other
    assert (one.matrix(exact=True) == third.matrix(exact=True)).all()


def test_floats_that_do_not_balance_exactly_are_balanced_in_integers() -> None:
    a, b = 0.1234567890123, 0.2345678901234
    pairs = {(0, 1): a, (2, 3): a, (0, 2): b, (1, 3): b, (0, 3): 1 - a - b, (1, 2): 1 - a - b}
    asked = mw.designs.independent(4, question_probs={(0, 1): a, (0, 2): b, (0, 3): 1 - a - b})
    for design in (mw.designs.conditional(4, subset_probs=pairs), asked):
        assert [sum(column) for column in design.matrix(exact=True).T] == [1] * 4
        assert design.matrix()[0, 0] == pytest.approx(a, abs=1e-12)


@pytest.mark.parametrize(
    "design",
    [
        uniform_by_list(5),
        mw.designs.independent(5, question_probs={(0, 1): 0.3, (1, 2): 0.2, (2, 3): 0.1, (3, 4): 0.1, (0, 4): 0.3}),
        dummy_design(["no", "yes"]),
    ],
    ids=["conditional", "independent", "dummies"],
)
def test_json_gives_the_same_design(design: mw.Design) -> None:
    again = mw.Design.from_json(design.to_json())
    assert again == design
    assert again.report_labels() == design.report_labels()
    assert json.loads(again.to_json()) == json.loads(design.to_json())


# Chances that balance.


def test_weights_for_allowed_subsets() -> None:
    """As even as they can be; a mapping's proportions are kept where they can be."""
    cycle = subset_weights(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
    assert cycle == {frozenset(pair): Fraction(1, 2) for pair in ((0, 1), (1, 2), (2, 3), (3, 0))}
    wanted = {(0, 1): 1, (2, 3): 1, (0, 2): 2, (1, 3): 2, (0, 3): 3, (1, 2): 3}
    weights = subset_weights(4, wanted)
    assert weights == {frozenset(pair): Fraction(number, 6) for pair, number in wanted.items()}
    assert mw.designs.conditional(4, subset_probs=weights).added_variance < math.inf


def test_weights_of_random_subsets_balance() -> None:
    generator = np.random.default_rng(5)
    for _ in range(30):
        k = int(generator.integers(4, 9))
        sets = {frozenset(np.flatnonzero(row).tolist()) for row in generator.random((12, k)) < 0.5}
        sets |= {frozenset({j, (j + 1) % k}) for j in range(k)}
        allowed = [s for s in sets if len(s) >= 2]
        weights = subset_weights(k, allowed)
        design = mw.designs.conditional(k, subset_probs=weights)
        assert {frozenset(label) for label in design.report_labels()} == set(weights) <= set(allowed)
        assert [sum(column) for column in design.matrix(exact=True).T] == [1] * k


@pytest.mark.parametrize(
    ("subsets", "match"),
    [
        ([("a", "b"), ("a", "c")], "'a' too often beside 'b', 'c'"),
        ([("a", "b")], "none holds 'c'"),
        ([], "at least one set"),
        ([("a",), ("b", "c")], "2 or more"),
        ([("a", "z")], "2 or more of the categories"),
        ({("a", "b"): -1}, "positive"),
    ],
)
def test_impossible_subsets_say_why(subsets: Any, match: str) -> None:
    with pytest.raises(mw.DesignError, match=match) as caught:
        subset_weights(["a", "b", "c"], subsets)
    assert "\n" not in str(caught.value)


def test_balanced_design() -> None:
    design = balanced_design(["a", "b", "c"], itertools.combinations("abc", 2))
    assert design.added_variance == pytest.approx(mw.designs.local_diversity(3, l=2).added_variance)


# Yes/no questions and several variables.


@pytest.mark.parametrize(
    "design",
    [
        mw.designs.uniform_subsets(list(URN)),
        mw.designs.independent(
            list(URN), question_probs={("red", "blue"): 1, ("red", "green"): 2, ("red", "black"): 1}
        ),
    ],
    ids=["uniform", "independent"],
)
def test_questions(design: mw.Design) -> None:
    """Every report belongs to a question, and its two answers are the report and what it leaves out."""
    for report in design.report_labels():
        asked = question(design, report)
        assert asked.if_yes == report
        assert asked.if_no == frozenset(URN) - report
    assert str(question(design, {"blue", "red"})) == "Is your answer one of these: red, blue?"


def test_a_design_that_cannot_be_asked() -> None:
    triples = mw.designs.local_diversity(5, l=3)
    with pytest.raises(mw.DesignError, match="equally often"):
        question(triples, {0, 1, 2})
    with pytest.raises(mw.ReportError, match="not a category"):
        question(triples, {9, 1, 2})


def test_combined_variables() -> None:
    """Two binary variables become one with four categories; each margin is estimated with its standard error."""
    both = combine({"gender": ["f", "m"], "income": ["low", "high"]})
    design = mw.designs.uniform_subsets(both.categories)
    table = {"gender": np.repeat(["f", "f", "m", "m"], 500), "income": np.tile(np.repeat(["low", "high"], 500), 2)}
    values = both.values(table)
    assert sorted(set(values)) == sorted(both.categories)
    assert (values[:500] == "f, low").all()
    estimate = mw.estimate(design.mask(values, seed=6))
    margin = both.marginal(estimate, "gender")
    assert margin["f"].value == pytest.approx(estimate.proportions[:2].sum())
    assert margin["f"].value + margin["m"].value == pytest.approx(1)
    assert margin["f"].standard_error == pytest.approx(margin["m"].standard_error)
    assert abs(margin["f"].value - 0.5) < 5 * margin["f"].standard_error  # false alarm 6e-7
    income = both.marginal(estimate, "income")
    assert income["low"].value == pytest.approx(estimate.proportions[[0, 2]].sum())


def test_combining_is_checked() -> None:
    with pytest.raises(mw.DesignError, match="two variables"):
        combine({"gender": 2})
    both = combine({"x": 2, "y": 2})
    with pytest.raises(mw.DataError, match="column 'y'"):
        both.values({"x": [0, 1]})
    with pytest.raises(mw.DataError) as caught:
        both.values({"x": [0, 1], "y": [0, 71]})
    assert "71" not in str(caught.value)
    with pytest.raises(mw.DataError, match="equally many"):
        both.values({"x": [0, 1], "y": [0]})
    with pytest.raises(mw.EstimationError, match="combination"):
        both.marginal(mw.estimate(mw.designs.direct(2).mask([0, 1])), "x")
    with pytest.raises(mw.DesignError, match="differ"):
        combine({"x": ["a", "a, b"], "y": ["b, c", "c"]})


# Identifiability.


def test_what_cannot_be_told_apart_is_named() -> None:
    blind = mw.designs.conditional(["a", "b", "c", "d"], subset_probs={("a", "b"): 1, ("c", "d"): 1})
    found = identifiability(blind)
    assert not found
    assert "'a'" in found.reason
    assert "'d'" in found.reason
    assert identifiability(uniform_by_list(4))
    assert identifiability(mw.designs.uniform_subsets(40))
    assert identifiability(mw.designs.product(uniform_by_list(4), uniform_by_list(5)))
    assert not identifiability(mw.designs.product(uniform_by_list(4), blind))


# Dummies.


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6])
def test_dummy_design(k: int) -> None:
    """Every report holds one dummy; a real respondent's dummy is a coin toss, a dummy's set does not look."""
    design = dummy_design(k)
    dummies = frozenset({k, k + 1})
    assert design.categories == tuple(range(k + 2))
    assert all(len(label & dummies) == 1 and len(label) >= 2 for label in design.report_labels())
    exact = design.matrix(exact=True)
    for dummy in dummies:
        rows = [row for row, label in enumerate(design.report_labels()) if dummy in label]
        assert all(sum(exact[rows, j]) == Fraction(1, 2) for j in range(k))
        assert sum(exact[rows, dummy]) == 1
    # Rank-deficient exactly where all sets have one size.
    assert design.estimable is (k not in (2, 4))
    assert bool(identifiability(design)) is design.estimable


@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.25, 1 / 3, 0.4, 0.49, Fraction(1, 7)])
@pytest.mark.parametrize("n", [1, 7, 100, 1000])
def test_dummies_guarantee_their_coverage(n: int, alpha: Any) -> None:
    """By enumeration over reports and extreme populations; one pair of dummies fewer would not do."""
    dummies = dummy_respondents(n, alpha)
    stated = Fraction(repr(alpha)) if isinstance(alpha, float) else alpha
    assert guaranteed_coverage(n, dummies) >= stated > guaranteed_coverage(n, dummies - 2)
    design = dummy_design(3)
    for population in (*np.eye(3, dtype=int).tolist(), [1, 1, 1]):
        real = [Fraction(n * w, sum(population)) for w in population]
        counts = dict(zip(design.categories, [*real, dummies // 2, dummies // 2], strict=True))
        shares = [sum(counts[c] for c in label) / (n + dummies) for label in design.report_labels()]
        assert min(shares) >= stated


def test_number_of_dummies() -> None:
    """2αn/(1 - 2α); with 2αn of them the coverage would be α/(1 + 2α) only."""
    assert dummy_respondents(1000, 0.1) == 250
    assert dummy_respondents(1000, Fraction(1, 4)) == 1000
    assert guaranteed_coverage(1000, 200) == Fraction(1, 12) == Fraction(1, 10) / (1 + 2 * Fraction(1, 10))
    for wrong in (0, 0.5, 0.7, -0.1):
        with pytest.raises(mw.DesignError, match="between 0 and 1/2"):
            dummy_respondents(10, wrong)
    with pytest.raises(mw.DesignError, match="even"):
        guaranteed_coverage(10, 3)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_estimating_beside_dummies_is_unbiased(k: int) -> None:
    """Also where the reports alone could not tell the share of dummies."""
    design, n, dummies = dummy_design(k), 600, 200
    w = np.arange(1, k + 1) / (k * (k + 1) / 2)
    expected = design.matrix() @ np.append(n * w, [dummies / 2] * 2)
    found = estimate_beside_dummies(mw.Tally.from_counts(design, expected), dummies)
    assert found.proportions == pytest.approx(w, abs=1e-12)
    assert found.categories == tuple(range(k))
    assert np.abs(found.covariance.sum(axis=0)).max() < 1e-15
    assert found.n == pytest.approx(n)


def test_covariance_beside_dummies_is_that_of_enumeration() -> None:
    """Two real respondents and two dummies: all outcomes with their chances."""
    design, w = dummy_design(["no", "yes"]), np.array([0.3, 0.7])
    P = design.matrix()
    by_respondent = [P[:, :2] @ w, P[:, :2] @ w, P[:, 2], P[:, 3]]
    mean, square = np.zeros(2), np.zeros((2, 2))
    for reports in itertools.product(range(4), repeat=4):
        chance = math.prod(chances[report] for chances, report in zip(by_respondent, reports, strict=True))
        tally = mw.Tally.from_counts(design, np.bincount(reports, minlength=4))
        estimate = estimate_beside_dummies(tally, 2).proportions
        mean += chance * estimate
        square += chance * np.outer(estimate, estimate)
    assert mean == pytest.approx(w)
    expected = mw.Tally.from_counts(design, sum(by_respondent))
    assert estimate_beside_dummies(expected, 2).covariance == pytest.approx(square - np.outer(mean, mean))


def test_dummies_in_practice() -> None:
    """A survey of 4,000 with a tenth of all respondents in each dummy category; false alarm 6e-7 per category."""
    design = dummy_design(["no", "yes"])
    dummies = dummy_respondents(4000, 0.1)
    everyone = ["yes"] * 1200 + ["no"] * 2800 + dummy_values(design, dummies)
    reports = design.mask(everyone, seed=7)
    with pytest.raises(mw.EstimationError, match="dummy 1"):
        mw.estimate(reports)
    found = estimate_beside_dummies(reports.tally(), dummies)
    assert (np.abs(found.proportions - [0.7, 0.3]) < 5 * found.standard_errors).all()
    assert found.standard_errors.max() < 0.05


def test_dummies_are_checked() -> None:
    with pytest.raises(mw.DesignError, match="true/false"):
        dummy_design([True, False])
    with pytest.raises(mw.DesignError, match="too many"):
        dummy_design(30)
    with pytest.raises(mw.DesignError, match="question_probs"):
        dummy_design(3, question_probs={(0, 1, 2): 1})
    with pytest.raises(mw.DesignError, match="made by dummy_design"):
        dummy_values(uniform_by_list(4), 2)
    design = dummy_design(3, question_probs={(0,): 1, (1,): 1, (2,): 2}, dummies=(8, 9))
    assert design.categories == (0, 1, 2, 8, 9)
    with pytest.raises(mw.EstimationError, match="fewer"):
        estimate_beside_dummies(mw.Tally.from_counts(design, [1] + [0] * 11), 2)
