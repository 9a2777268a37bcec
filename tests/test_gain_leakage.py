"""The leakage for a gain against its definition, by hand, and by the theorems that it must obey."""

import json
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import maskwell as mw
from maskwell.designs.channels.leakage.gains import by_listing, by_prediction, by_sums
from maskwell.limits import MOST_WEIGHTS
from tests.unusual_designs import ALL

D = mw.designs


def defined(P: Any, prior: Any, gain: Any) -> tuple[Fraction, Fraction]:
    """Both vulnerabilities, letter by letter: without a report and with one."""
    truths = range(len(prior))
    before = max(sum(prior[x] * g[x] for x in truths) for g in gain)
    after = sum(max(sum(prior[x] * row[x] * g[x] for x in truths) for g in gain) for row in P)
    return Fraction(before), Fraction(after)


@pytest.mark.parametrize("name", ALL)
def test_every_kind_of_design_leaks_what_the_definition_says(name: str) -> None:
    design = ALL[name]
    rng = np.random.default_rng(7)
    gain = rng.integers(0, 5, (3, design.k)) + np.eye(3, design.k, dtype=int)
    P = design.matrix(exact=True)
    for weights in (np.ones(design.k, int), rng.integers(1, 9, design.k)):
        exact = [Fraction(int(w), int(weights.sum())) for w in weights]
        uniform = len(set(exact)) == 1
        found = mw.audit(design, None if uniform else [float(w) for w in exact]).gain_leakage(gain)
        before, after = defined(P, exact, gain.tolist())
        if uniform:
            assert (found.exact_prior_vulnerability, found.exact_posterior_vulnerability) == (before, after)
        assert found.multiplicative == pytest.approx(float(after / before), rel=1e-13)
        assert found.additive == pytest.approx(float(after - before), abs=1e-12)
        assert 1 <= found.multiplicative <= found.bound * (1 + 1e-15)
        assert found.exact_bound == sum(max(row) for row in P)


@pytest.mark.parametrize("name", ALL)
def test_a_gain_of_one_for_the_truth_is_the_guess_probability(name: str) -> None:
    design = ALL[name]
    identity = np.eye(design.k, dtype=int)
    found = mw.audit(design).gain_leakage(identity)
    audit = mw.audit(design)
    assert found.exact_posterior_vulnerability == audit.exact_guess_probability
    # Bayes leakage is at its capacity where all categories are alike.
    assert found.exact_posterior_vulnerability / found.exact_prior_vulnerability == found.exact_bound
    prior = np.arange(1, design.k + 1) / (design.k * (design.k + 1) / 2)
    uneven = mw.audit(design, prior)
    assert uneven.gain_leakage(identity).posterior_vulnerability == pytest.approx(uneven.guess_probability, rel=1e-11)


@pytest.mark.parametrize("name", ALL)
def test_the_closed_form_for_one_category_a_guess_agrees_with_the_list(name: str) -> None:
    design = ALL[name]
    k = design.k
    # Two guesses for the first category, of which the better counts, one that gains nothing, none for the last.
    gains = [{0: Fraction(1)}, {0: Fraction(5, 2)}, {}, *({x: Fraction(x)} for x in range(1, k - 1))]
    for prior in ([Fraction(1, k)] * k, [Fraction(2 * (x + 1), k * (k + 1)) for x in range(k)]):
        listed = by_listing(design.channel, prior, gains)
        assert float(by_prediction(design.channel, prior, gains)) == pytest.approx(float(listed), rel=1e-11)


def test_an_example_by_hand() -> None:
    """Warner at 3/4, yes and no equally common; accusing gains 1 if yes, passing by gains 2 if no.

    Without a report: max(1/2, 1) = 1. Report yes: max(3/8, 2/8) = 3/8; report no: max(1/8, 6/8) = 3/4.
    """
    found = mw.audit(D.warner(truth_prob=0.75)).gain_leakage({"accuse": {"yes": 1}, "pass by": {"no": 2}})
    assert (found.exact_prior_vulnerability, found.exact_posterior_vulnerability) == (1, Fraction(9, 8))
    assert (found.guesses, found.best_guess, found.exact_bound) == (2, "pass by", Fraction(3, 2))
    assert (found.multiplicative, found.additive, found.bits) == (1.125, 0.125, math.log2(1.125))
    assert json.loads(json.dumps(found.to_dict()))["exact_posterior_vulnerability"] == "9/8"


def test_all_spellings_of_a_gain_are_the_same() -> None:
    audit = mw.audit(D.warner(truth_prob=0.75), prior={"yes": 0.25, "no": 0.75})
    written = [[["1/2", 0], [0, 2]], np.array([[0.5, 0], [0, 2]]), ((Decimal("0.5"), 0), (0, Fraction(2)))]
    found = {audit.gain_leakage(gain).exact_posterior_vulnerability for gain in written}
    assert found == {audit.gain_leakage({0: {"yes": 0.5}, 1: {"no": 2}}).exact_posterior_vulnerability}


def test_questions_joined_by_a_gain() -> None:
    """A gain that asks for one variable leaks as that variable alone; independent identities multiply."""
    first, second = D.minimax(["a", "b", "c"], epsilon=1), D.warner(truth_prob=0.8)
    joint = D.product(first, second, names=["one", "two"])
    only = {label: {pair: 1 for pair in joint.categories if pair[0] == label} for label in first.categories}
    alone = mw.audit(first)
    found = mw.audit(joint).gain_leakage(only)
    assert found.exact_posterior_vulnerability == alone.exact_guess_probability
    assert found.exact_bound == 6 * alone.exact_guess_probability * mw.audit(second).exact_guess_probability
    both = mw.audit(joint).gain_leakage({pair: {pair: 1} for pair in joint.categories})
    parts = alone.exact_guess_probability * mw.audit(second).exact_guess_probability
    assert both.exact_posterior_vulnerability == parts


def columns(reports: int, truths: int) -> st.SearchStrategy[list[list[int]]]:
    return st.lists(
        st.lists(st.integers(0, 6), min_size=reports, max_size=reports).filter(any), min_size=truths, max_size=truths
    )


def chances(weights: list[list[int]]) -> Any:
    return np.array([[Fraction(w, sum(column)) for w in column] for column in weights], dtype=object).T


@settings(max_examples=60, deadline=None, derandomize=True)
@given(columns(3, 3), columns(2, 3), st.lists(st.integers(1, 9), min_size=3, max_size=3), st.data())
def test_what_is_done_to_a_report_leaks_no_more_and_no_gain_beats_the_capacity(
    first: Any, second: Any, weights: list[int], data: st.DataObject
) -> None:
    rows = st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=4)
    gain = data.draw(rows.filter(lambda g: any(map(any, g))))
    P = chances(first)
    prior = [w / sum(weights) for w in weights]
    designs = [D.from_matrix(matrix.tolist()) for matrix in (P, chances(second) @ P)]
    before, after = (mw.audit(design, prior).gain_leakage(gain) for design in designs)
    # Matrices are rounded to 64 bits.
    room = 1 + 1e-15
    assert after.exact_posterior_vulnerability <= before.exact_posterior_vulnerability * room
    for found in (before, after):
        assert found.exact_prior_vulnerability <= found.exact_posterior_vulnerability
        assert found.exact_posterior_vulnerability <= found.exact_prior_vulnerability * found.exact_bound


def test_many_reports_need_a_closed_form() -> None:
    design = D.minimax(40, epsilon=1)
    found = mw.audit(design).gain_leakage({c: {c: 1} for c in design.categories})
    assert found.exact_posterior_vulnerability == mw.audit(design).exact_guess_probability
    with pytest.raises(mw.DesignError, match="more than 2,000,000 together; merge guesses or categories") as error:
        mw.audit(design).gain_leakage([[1] * 40])
    assert error.value.parameter == "gain"


def test_many_categories_of_a_projective_design_need_no_table() -> None:
    """Sums over the truths of each report are one convolution a guess; the definition agrees where it can be asked."""
    near = [{x: Fraction(1), (x + 1) % 60: Fraction(1, 2)} for x in range(0, 60, 7)]
    small = D.projective(60, epsilon=2).channel
    for prior in ([Fraction(1, 60)] * 60, [Fraction(x + 1, 1830) for x in range(60)]):
        assert by_sums(small, prior, near) == pytest.approx(float(by_listing(small, prior, near)), rel=1e-12)
    large = D.projective(5_000, epsilon=2)
    gains = {f"about {c}": {c: 1, c + 1: 0.5, c + 2: 0.25} for c in range(0, 4_990, 100)}
    found = mw.audit(large).gain_leakage(gains)
    assert found.prior_vulnerability == pytest.approx(1.75 / 5_000)
    # A report that holds all three of a guess is seen by those with the truth in it, and no other.
    assert found.prior_vulnerability < found.posterior_vulnerability <= found.prior_vulnerability * found.bound
    most = float(large.channel.member) * 1.75 / 5_000 * large.channel.report_count()
    assert found.posterior_vulnerability <= most * (1 + 1e-12)
    with pytest.raises(mw.DesignError, match="merge guesses"):
        mw.audit(D.projective(100_000, epsilon=2)).gain_leakage({c: {c: 1, c + 1: 1} for c in range(1_000)})


def drawn(leakage: Any) -> list[Any]:
    """The rows of each layer of the picture."""
    chart = leakage.plot().to_dict()
    return [layer["data"].get("values") or chart["datasets"][layer["data"]["name"]] for layer in chart["layer"]]


def test_a_picture_shows_guesses_without_a_report_and_the_best_one_with_one() -> None:
    found = mw.audit(D.warner(truth_prob=0.75)).gain_leakage({"accuse": {"yes": 1}, "pass by": {"no": 2}})
    bars, line = drawn(found)
    assert [(bar["guess"], bar["gain"]) for bar in bars] == [("pass by", 1.0), ("accuse", 0.5)]
    assert line[0]["gain"] == 1.125
    assert "pass by" in found.summary()
    assert found.to_frame()["gain without a report"].tolist() == [0.5, 1.0]
    many = mw.audit(D.direct(60)).gain_leakage(np.eye(60, dtype=int))
    assert len(drawn(many)[0]) == 40


@pytest.mark.parametrize(
    ("gain", "message"),
    [
        ([], "has no guess"),
        ({}, "has no guess"),
        (3, "neither a mapping nor a matrix"),
        ([1, 2], "neither a mapping nor a matrix"),
        ([[1, 0, 0]], "3 entries in row 0 where the design has 2"),
        ([[1, 0], [1]], "1 entries in row 1"),
        ([[1, math.nan]], "of guess 0 must be a finite number; got nan"),
        ([[1, math.inf]], "finite number"),
        ([[1, None]], "finite number"),
        ([[1, "much"]], "got 'much'"),
        ({"w": {"yes": -1}}, "of guess 'w' is negative"),
        ({"w": {"maybe": 1}}, "names 'maybe', which is no category"),
        ({"w": [1, 0]}, "of guess 'w' is no mapping"),
        ({"w": {"yes": 0}, "v": {}}, "is 0 wherever the prior is positive"),
        (np.zeros((MOST_WEIGHTS // 2 + 1, 2)), "give a mapping that leaves out what is 0"),
    ],
)
def test_a_gain_that_is_none_is_refused_in_one_line(gain: Any, message: str) -> None:
    with pytest.raises(mw.DesignError, match=message) as error:
        mw.audit(D.warner(truth_prob=0.75)).gain_leakage(gain)
    assert error.value.parameter == "gain"
    assert "\n" not in str(error.value)


def test_a_gain_for_what_the_prior_rules_out_is_refused() -> None:
    with pytest.raises(mw.DesignError, match="is 0 wherever the prior is positive"):
        mw.audit(D.warner(truth_prob=0.75), prior=[0, 1]).gain_leakage([[1, 0]])
