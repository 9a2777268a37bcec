"""Matching at equal precision: the variance is met, no smaller parity meets it, and ties are exact."""

import math
from decimal import Inexact, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwell import designs
from maskwell.errors import DesignError
from maskwell.planning.matching import match_added_variance, match_local_diversity

GRID = [
    (k, l)
    for k in (3, 4, 5, 7, 10, 15, 20, 50, 100, 500, 1000)
    for l in sorted({2, 3, k // 4, k // 2, k - 2, k - 1})
    if 2 <= l < k
]


def added_variance(k: int, q: int, gamma: Fraction) -> Fraction:
    """Equation 3.3 of nayak-zhai-2019 at any set size, in exact arithmetic."""
    f = k**2 * (q * gamma**2 + k - q) / (q * gamma + k - q) ** 2
    return (k - 1) ** 2 / (f - k) + Fraction(1, k) - 1


@pytest.mark.parametrize(("k", "l"), GRID)
def test_the_minimax_design_at_the_matched_parity_adds_the_same_variance(k: int, l: int) -> None:
    match = match_local_diversity(k, l)
    target = designs.local_diversity(k, l=l).added_variance
    assert match.added_variance == pytest.approx(target, rel=1e-12)
    design = designs.minimax(k, gamma=match.gamma)
    assert design.added_variance == pytest.approx(target, rel=1e-10)
    assert design.sizes[0] in match.sizes


@pytest.mark.parametrize(("k", "l"), [(k, l) for k, l in GRID if k <= 50])
def test_no_size_meets_the_variance_at_a_smaller_parity(k: int, l: int) -> None:
    match = match_local_diversity(k, l)
    target = Fraction((k - 1) * (l - 1), k - l)
    # The variance falls as parity rises, so one parity just below rules out all smaller ones; the first check says so.
    ladder = [1 + (Fraction(match.gamma) - 1) * Fraction(step, 20) for step in range(1, 20)]
    ladder.append(1 + (Fraction(match.gamma) - 1) * (1 - Fraction(1, 10**9)))
    for q in range(1, k):
        variances = [added_variance(k, q, gamma) for gamma in ladder]
        assert variances == sorted(variances, reverse=True)
        assert min(variances) > target
    assert added_variance(k, match.size, Fraction(match.gamma) * (1 + Fraction(1, 10**9))) < target


@pytest.mark.parametrize(("k", "l"), GRID)
def test_chances_and_epsilon_follow_from_the_parity(k: int, l: int) -> None:
    match = match_local_diversity(k, l)
    q, gamma = match.size, match.gamma
    assert match.epsilon == pytest.approx(math.log(gamma), rel=1e-14)
    assert match.truth_prob == pytest.approx(q * gamma / (q * gamma + k - q), rel=1e-14)
    assert match.guess_probability == pytest.approx(match.truth_prob / q, rel=1e-14)


def test_a_tie_is_found_exactly() -> None:
    match = match_local_diversity(10, 5)
    assert match.gamma == 6
    assert match.sizes == (1, 2)
    assert added_variance(10, 1, Fraction(6)) == added_variance(10, 2, Fraction(6)) == Fraction(36, 5)
    assert match.truth_prob == 0.4


def test_a_near_tie_is_none() -> None:
    above, below = (
        match_added_variance(10, Fraction(36, 5) + nudge) for nudge in (Fraction(1, 10**20), -Fraction(1, 10**20))
    )
    assert above.gamma == below.gamma == 6  # a double cannot tell them apart
    assert {above.sizes, below.sizes} == {(1,), (2,)}


@given(k=st.integers(2, 300), exponent=st.floats(-6, 6))
def test_any_positive_variance_is_met(k: int, exponent: float) -> None:
    variance = 10**exponent
    match = match_added_variance(k, variance)
    assert match.gamma > 1
    design = designs.minimax(k, gamma=match.gamma)
    # With a float γ, γ - 1 and the variance are known to about 2^-52 γ/(γ-1); small variances are lost in 1 + 1/k - 1.
    slack = 8 * 2**-52 * match.gamma / (match.gamma - 1)
    assert design.added_variance == pytest.approx(variance, rel=1e-10 + slack, abs=1e-11)


def test_the_result_does_not_depend_on_the_callers_decimal_context() -> None:
    expected = match_local_diversity(50, 10)
    with localcontext(prec=3) as context:
        context.traps[Inexact] = True
        assert match_local_diversity(50, 10) == expected


@pytest.mark.parametrize("variance", [0, -1.0, 1e-301, math.nan, math.inf, "7.2", None])
def test_an_impossible_variance_is_refused(variance: object) -> None:
    with pytest.raises(DesignError, match=r"added_variance must be .*got"):
        match_added_variance(10, variance)  # type: ignore[arg-type]


@pytest.mark.parametrize("k", [1, 0, -3, 2.5, "ten"])
def test_an_impossible_k_is_refused(k: object) -> None:
    with pytest.raises(DesignError, match=r"k must be .*got"):
        match_added_variance(k, 1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("l", [1, 12, 13, 2.5])
def test_an_impossible_l_is_refused(l: float) -> None:
    with pytest.raises(DesignError, match="local_diversity needs 2 <= l <= k - 1"):
        match_local_diversity(12, l)  # type: ignore[arg-type]
