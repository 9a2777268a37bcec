"""Demands: their bounds against closed forms, their verdicts at the last bit, their errors."""

import itertools
import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from maskwell.demands import (
    LDP,
    AverageSecurity,
    BetaFactor,
    Demand,
    InformationPrivacy,
    LocalDiversity,
    RhoPrivacy,
    breach_bound,
    demand_from_dict,
)
from maskwell.errors import DemandError

Curve = Callable[[float], float]


@dataclass
class FakeDesign:
    parity: Fraction | float = math.inf
    distance: Fraction = Fraction(2)
    equal_entries: int = 0

    def exact_parity(self) -> Fraction | float:
        return self.parity

    def column_distance(self) -> Fraction:
        return self.distance

    def diversity(self) -> int:
        return self.equal_entries


def digits_of_exp(epsilon: float | Fraction, digits: int) -> Fraction:
    """e^epsilon cut off after so many decimals, by mpmath and not by the code under test."""
    exact = Fraction(epsilon)
    with mp.workdps(digits + 20):
        return Fraction(int(mp.floor(mp.exp(mpf(exact.numerator) / exact.denominator) * mpf(10) ** digits)), 10**digits)


# Bounds that have a formula


def test_ldp_bound_is_the_float_below_e_to_epsilon():
    for epsilon in (1e-3, 0.5, 1, 2.0, math.log(3), 10, 700):
        power = digits_of_exp(epsilon, 60)
        bound = LDP(epsilon).parity_bound
        assert Fraction(bound) <= power < Fraction(math.nextafter(bound, math.inf))
        assert power * (1 - Fraction(1, 10**50)) < LDP(epsilon).exact_bound() <= power


def test_extreme_epsilons_stay_on_the_safe_side():
    assert LDP(1e-300).exact_bound() > 1
    assert LDP(1e-300).parity_bound == 1
    assert LDP(1000).parity_bound == np.finfo(float).max


def test_beta_and_rho_bounds_are_exact():
    assert BetaFactor(Fraction(7, 3)).exact_bound() == Fraction(7, 3)
    assert Fraction(BetaFactor(Fraction(7, 3)).parity_bound) < Fraction(7, 3)
    assert BetaFactor(1.1).exact_bound() == Fraction(1.1) != Fraction(11, 10)
    assert BetaFactor(Decimal("1.1")).exact_bound() == Fraction(11, 10)
    assert RhoPrivacy(Fraction(1, 10), Fraction(1, 2)).exact_bound() == 9
    assert RhoPrivacy(0.1, 0.5).exact_bound() == (1 - Fraction(0.1)) / Fraction(0.1)


def test_two_demands_leave_parity_unbounded():
    for demand in (AverageSecurity(1.5), LocalDiversity(3)):
        assert demand.parity_bound == math.inf
        assert demand.exact_bound() == math.inf


# Verdicts


@pytest.mark.parametrize("digits", [20, 54, 58, 200])
@pytest.mark.parametrize("epsilon", [0.5, 1, Fraction(1, 3), 12.25])
def test_ldp_decides_at_the_last_digit(epsilon, digits):
    below = digits_of_exp(epsilon, digits)
    assert LDP(epsilon).holds_for(FakeDesign(below))
    assert not LDP(epsilon).holds_for(FakeDesign(below + Fraction(1, 10**digits)))


def test_ldp_holds_at_its_own_bound_and_for_pure_noise():
    assert LDP(1).holds_for(FakeDesign(LDP(1).exact_bound()))
    assert LDP(1e-300).holds_for(FakeDesign(Fraction(1)))
    assert not LDP(1e-300).holds_for(FakeDesign(1 + 2 * Fraction(1e-300)))
    assert not LDP(700).holds_for(FakeDesign(math.inf))


@pytest.mark.parametrize(
    "demand",
    [
        BetaFactor(Fraction(7, 3)),
        BetaFactor(1.1),
        RhoPrivacy(0.1, 0.5),
        InformationPrivacy(lambda a: a / 2, lambda a: min(1, 2 * a)),
    ],
    ids=lambda demand: demand.kind,
)
def test_parity_demands_decide_at_the_last_digit(demand):
    bound = demand.exact_bound()
    assert demand.holds_for(FakeDesign(bound))
    assert not demand.holds_for(FakeDesign(bound + Fraction(1, 10**100)))
    assert not demand.holds_for(FakeDesign(math.inf))


def test_average_security_compares_column_distances():
    limit = 2 * (Fraction(1.4) - 1)
    assert AverageSecurity(1.4).holds_for(FakeDesign(distance=limit))
    assert not AverageSecurity(1.4).holds_for(FakeDesign(distance=limit + Fraction(1, 10**30)))


def test_local_diversity_counts_equal_entries():
    assert LocalDiversity(3).holds_for(FakeDesign(equal_entries=3))
    assert not LocalDiversity(3).holds_for(FakeDesign(equal_entries=2))
    assert not LocalDiversity(2).holds_for(FakeDesign(Fraction(3)))


# The bound of two curves


def nothing(a: float) -> float:
    return 0.0


def anything(a: float) -> float:
    return 1.0


def assert_bound(exact: float | Fraction, lower: Curve, upper: Curve, breakpoints=(), within: float = 1e-9):
    """At most the closed form, and within a part in 10^9 of it."""
    bound = Fraction(InformationPrivacy(lower, upper, breakpoints).parity_bound)
    assert Fraction(exact) * (1 - Fraction(within)) <= bound <= Fraction(exact)


@given(beta=st.floats(1.0001, 1000))
@settings(max_examples=15, deadline=None)
def test_beta_factor_curves_give_beta(beta):
    """The infimum is a limit, at p to 0."""
    assert_bound(beta, lambda a: a / beta, lambda a: min(1, beta * a))


@given(rho=st.tuples(st.floats(0.001, 0.999), st.floats(0.001, 0.999)).map(sorted))
@settings(max_examples=15, deadline=None)
def test_rho_curves_give_the_rho_bound(rho):
    """A belief below rho1 may rise to rho2 at most, one above rho2 fall to rho1 at most."""
    rho1, rho2 = rho
    if rho1 == rho2:
        return
    exact = RhoPrivacy(rho1, rho2).exact_bound()

    def lower(a):
        return rho1 if a > rho2 else 0.0

    def upper(a):
        return rho2 if a < rho1 else 1.0

    assert_bound(exact, lower, upper, (rho1, rho2))
    assert_bound(exact, lower, upper, (rho1, 1 - rho2))
    assert_bound(exact, lower, anything, (rho2,))
    assert_bound(exact, nothing, upper, (rho1,))


@given(gamma=st.floats(1.0001, 200))
@settings(max_examples=15, deadline=None)
def test_the_region_of_a_design_gives_its_parity(gamma):
    """The ratio is gamma everywhere: monotonicity alone could not say so."""
    assert_bound(gamma, lambda a: a / (1 + (gamma - 1) * (1 - a)), lambda a: gamma * a / (1 + (gamma - 1) * a))


@given(shift=st.floats(1e-4, 0.9))
@settings(max_examples=15, deadline=None)
def test_an_additive_limit_has_its_infimum_inside(shift):
    """(1-p)(p+c) / (p(1-c-p)) is symmetric about p = (1-c)/2, its only minimum: ((1+c)/(1-c))^2."""
    exact = ((1 + Fraction(shift)) / (1 - Fraction(shift))) ** 2
    assert_bound(exact, nothing, lambda a: min(1, a + shift))
    assert_bound(exact, lambda a: max(0, a - shift), anything)


@given(power=st.floats(1.01, 50))
@settings(max_examples=15, deadline=None)
def test_powers_have_their_infimum_at_an_end(power):
    """(1-p)/p * h/(1-h) falls to the power as p tends to 1 (h = p^(1/m), lower p^m) or to 0 (1-(1-p)^m)."""
    assert_bound(1 / Fraction(1 / power), nothing, lambda a: a ** (1 / power))
    assert_bound(power, lambda a: a**power, anything)
    assert_bound(power, nothing, lambda a: 1 - (1 - a) ** power)
    assert_bound(power, nothing, lambda a: -math.expm1(power * math.log1p(-a)))


@given(
    jumps=st.lists(st.integers(1, 199), min_size=1, max_size=6, unique=True).map(sorted),
    heights=st.lists(st.integers(1, 200), min_size=6, max_size=6).map(sorted),
    declared=st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_steps_have_their_infimum_just_before_a_jump(jumps, heights, declared):
    """Where h is flat the ratio falls, so each step is worst at its right end."""
    ends = [jump / 200 for jump in jumps]
    tops = [max(end, height / 200) for end, height in zip(ends, heights, strict=False)]

    def upper(a):
        return next((top for end, top in zip(ends, tops, strict=True) if a <= end), 1.0)

    ratios = [
        (1 - Fraction(end)) / Fraction(end) * Fraction(top) / (1 - Fraction(top))
        for end, top in zip(ends, tops, strict=True)
        if top < 1
    ]
    breakpoints = tuple(ends) if declared else ()
    if ratios:
        assert_bound(min(ratios), nothing, upper, breakpoints)
        # Mirrored, with 1 - upper rounded: the closed form is only met to round-off.
        mirrored = InformationPrivacy(lambda a: 1 - upper(1 - a), anything, breakpoints).parity_bound
        assert mirrored == pytest.approx(float(min(ratios)), rel=1e-9)
    else:
        assert InformationPrivacy(nothing, upper, breakpoints).parity_bound == math.inf


def test_a_kink_at_the_infimum_is_found():
    """Log-odds rise by ln 3 + |x - 0.37|/2: the infimum 3 sits on a kink of which nobody told."""

    def upper(a):
        x = math.log(a) - math.log1p(-a)
        return 1 / (1 + math.exp(-(x + math.log(3) + abs(x - 0.37) / 2)))

    assert_bound(3, nothing, lambda a: max(a, upper(a)))


def test_numpy_curves_and_tables_are_evaluated_point_by_point():
    assert_bound(2, np.square, np.sqrt)
    assert_bound(2, lambda a: np.where(a < 0.5, 0.0, a**2), lambda a: np.minimum(1, np.sqrt(a)), [0.5])
    # 1 - h = (5/9)(1 - p) on the last segment, so the ratio (9/5) h/p falls to 9/5 at 1.
    assert_bound(Fraction(9, 5), nothing, lambda a: np.interp(a, [0, 0.1, 1], [0, 0.5, 1]))


def test_a_change_at_a_millionth_is_seen():
    """Twice the belief is allowed below 1e-7, nearly three times above."""
    assert_bound(2, nothing, lambda a: 2 * a if a < 1e-7 else min(1, 3 * a - 1e-7))


def test_slow_approaches_err_on_the_safe_side():
    """No 1e-9 here, where a limit is approached like a root or a logarithm; but never above."""
    root = InformationPrivacy(nothing, lambda a: 1 - (1 - a) / 3 * (1 - math.sqrt(1 - a) / 2)).parity_bound
    assert 2.9 < root <= 3
    log = InformationPrivacy(lambda a: a / 3 * (1 - 0.4 / (1 - math.log(a))), anything).parity_bound
    assert 2.99 < log <= 3


def test_noisy_curves_err_on_the_safe_side():
    bound = InformationPrivacy(nothing, lambda a: max(a, float(np.float32(a + 0.1))) if a < 0.85 else 1)
    assert (11 / 9) ** 2 * (1 - 1e-6) < bound.parity_bound <= (11 / 9) ** 2


def test_bounds_at_the_extremes():
    assert InformationPrivacy(nothing, anything).parity_bound == math.inf
    assert InformationPrivacy(lambda a: a, lambda a: a).parity_bound == 1
    assert InformationPrivacy(nothing, lambda a: a).exact_bound() == 1


@given(
    weights=st.lists(st.floats(0.01, 1), min_size=3, max_size=3),
    gammas=st.lists(st.floats(1.1, 50), min_size=3, max_size=3),
)
@settings(max_examples=20, deadline=None)
def test_the_bound_is_below_the_ratio_everywhere(weights, gammas):
    """For mixtures of regions, which have no closed form: below every value on a grid of its own."""

    def upper(a):
        # From the nearer end, so that it is computed to within some units in the last place, as the demand assumes.
        pairs = zip(weights, gammas, strict=True)
        share = sum(w * (g * a if a < 0.5 else 1 - a) / (1 + (g - 1) * a) for w, g in pairs) / sum(weights)
        return share if a < 0.5 else 1 - share

    p = np.linspace(0, 1, 1003)[1:-1]
    h = np.array([upper(a) for a in p.tolist()])
    bound = InformationPrivacy(nothing, upper).parity_bound
    assert bound <= ((1 - p) / p * h / (1 - h)).min()
    assert bound >= min(gammas) * (1 - 1e-9)


# Errors


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: LDP(0), "epsilon"),
        (lambda: LDP(-1), "epsilon"),
        (lambda: LDP(math.nan), "epsilon"),
        (lambda: LDP(math.inf), "epsilon"),
        (lambda: LDP(1e9), "epsilon"),
        (lambda: LDP("one"), "epsilon"),
        (lambda: LDP(True), "epsilon"),
        (lambda: BetaFactor(1), "beta > 1"),
        (lambda: BetaFactor(math.inf), "beta"),
        (lambda: RhoPrivacy(0.5, 0.1), "rho1 < rho2"),
        (lambda: RhoPrivacy(0, 0.1), "rho1 = 0"),
        (lambda: RhoPrivacy(0.5, 1), "rho2 = 1"),
        (lambda: RhoPrivacy(0.5, 0.5), "rho1 < rho2"),
        (lambda: RhoPrivacy(0.5, None), "rho2"),
        (lambda: AverageSecurity(1), "phi"),
        (lambda: AverageSecurity(2), "phi"),
        (lambda: LocalDiversity(1), "l >= 2"),
        (lambda: LocalDiversity(2.5), "got 2.5"),
        (lambda: LocalDiversity(True), "got True"),
        (lambda: InformationPrivacy(0.5, anything), "lower must be a function"),
        (lambda: InformationPrivacy(nothing, 1), "upper must be a function"),
        (lambda: InformationPrivacy(nothing, lambda a: a / 2), "a <= upper"),
        (lambda: InformationPrivacy(nothing, lambda a: 2 * a), "<= 1"),
        (lambda: InformationPrivacy(lambda a: 0.5, anything), "lower"),
        (lambda: InformationPrivacy(lambda a: -a, anything), "0 <= lower"),
        (lambda: InformationPrivacy(nothing, lambda a: math.nan), "nan"),
        (lambda: InformationPrivacy(nothing, lambda a: "much"), "upper.* failed with ValueError"),
        (lambda: InformationPrivacy(nothing, lambda a: 1 / 0), "failed with ZeroDivisionError"),
        (lambda: InformationPrivacy(nothing, lambda a: 1 if a < 0.3 else max(a, 0.99)), "non-decreasing"),
        (lambda: InformationPrivacy(lambda a: a * (1 - a), anything), "lower falls"),
        (lambda: InformationPrivacy(nothing, anything, (0.5, 1.0)), "breakpoints"),
        (lambda: InformationPrivacy(nothing, anything, "half"), "breakpoints"),
        (lambda: demand_from_dict({"kind": "secrecy"}), "secrecy"),
        (lambda: demand_from_dict({}), "None"),
        (lambda: demand_from_dict([]), "not a stored demand"),
        (lambda: demand_from_dict({"kind": "ldp"}), "not a stored demand"),
        (lambda: demand_from_dict({"kind": "ldp", "epsilon": 1, "delta": 0}), "delta"),
        (lambda: demand_from_dict({"kind": "ldp", "epsilon": "one"}), "one"),
        (lambda: demand_from_dict({"kind": "ldp", "epsilon": "1/0"}), "1/0"),
        (lambda: demand_from_dict({"kind": "information", "parity_bound": 0.5}), "beta"),
    ],
)
def test_errors_are_one_line_with_the_reason(build, words):
    with pytest.raises(DemandError, match=words) as caught:
        build()
    assert "\n" not in str(caught.value)


# Values


@pytest.mark.parametrize(
    ("demand", "words"),
    [
        (LDP(1), "LDP with epsilon = 1"),
        (LDP(np.float64(0.5)), "LDP with epsilon = 0.5"),
        (LDP(Fraction(1, 3)), "LDP with epsilon = 1/3"),
        (BetaFactor(np.int64(2)), "beta-factor privacy with beta = 2"),
        (BetaFactor(Decimal("1.5")), "beta-factor privacy with beta = 3/2"),
        (RhoPrivacy(0.1, 0.5), "rho1-to-rho2 privacy with rho1 = 0.1, rho2 = 0.5"),
        (AverageSecurity(np.float32(1.5)), "average security with phi = 1.5"),
        (LocalDiversity(np.uint8(3)), "local diversity with l = 3"),
    ],
)
def test_demands_describe_and_store_themselves(demand: Demand, words: str):
    assert demand.describe() == words
    again = demand_from_dict(json.loads(json.dumps(demand.to_dict(), allow_nan=False)))
    assert again == demand
    assert hash(again) == hash(demand)
    assert again.exact_bound() == demand.exact_bound()


@given(st.floats(1e-12, 10_000), st.fractions(Fraction(1001, 1000), 1000))
def test_storage_keeps_every_bit(epsilon, beta):
    for demand in (LDP(epsilon), BetaFactor(beta)):
        assert demand_from_dict(json.loads(json.dumps(demand.to_dict()))) == demand


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        (lambda a: a / 2, lambda a: min(1, 2 * a)),
        (lambda a: a, lambda a: a),
        (nothing, anything),
    ],
)
def test_curves_come_back_as_the_equivalent_demand(lower, upper):
    demand = InformationPrivacy(lower, upper)
    again = demand_from_dict(json.loads(json.dumps(demand.to_dict(), allow_nan=False)))
    assert again.exact_bound() == demand.exact_bound()
    if 1 < demand.parity_bound < math.inf:
        assert again == BetaFactor(demand.parity_bound)


def test_curves_describe_their_bound():
    assert InformationPrivacy(lambda a: a / 2, lambda a: min(1, 2 * a)).describe() == (
        "information privacy with parity at most 2"
    )


def test_demands_cannot_be_changed():
    with pytest.raises(AttributeError):
        LDP(1).epsilon = 2  # type: ignore[misc]


def test_a_bound_of_one_is_a_number():
    with pytest.raises(DemandError, match="bool"):
        demand_from_dict({"kind": "information", "parity_bound": True})
    assert demand_from_dict({"kind": "information", "parity_bound": 1}).parity_bound == 1


def test_the_constants_of_the_bound_follow_from_the_arithmetic():
    """How deep a curve is followed, and from how near an end it is extrapolated, in mpmath beside the doubles."""
    with mp.workdps(50):
        deepest = mp.exp(breach_bound._DEEPEST)
        assert mpf(sys.float_info.min) * 2**26 <= deepest < mpf(sys.float_info.min) * 2**28
        assert math.exp(breach_bound._DEEPEST) / 2**26 == float(deepest / 2**26)  # with all its bits
        nearest = 1 - mpf(2) ** -breach_bound._NEAREST
        assert mpf(math.nextafter(1, 0)) == nearest
        # Four powers removed from q, 2q, ..., 16q leave 2^10 q^5 of the fifth coefficient.
        q = mpf(breach_bound._NEAR) / 2 ** (breach_bound._RUNGS - 1)
        table = [(2**i * q) ** 5 for i in range(breach_bound._RUNGS)]
        for power in range(1, 5):
            table = [(2**power * a - b) / (2**power - 1) for a, b in itertools.pairwise(table)]
        assert abs(table[0]) == pytest.approx(float(2**10 * q**5), rel=1e-12)
        assert 100 * abs(table[0]) <= breach_bound._TOLERANCE


@pytest.mark.parametrize("slope", [0.5, 1, 2, 3, 4])
def test_a_series_is_followed_to_its_limit(slope):
    """g = log 5 + (e^(slope q) - 1), whose fifth coefficient is slope^5/120, at the distances of the ladder."""
    q = breach_bound._NEAR / 2.0 ** np.arange(breach_bound._RUNGS - 1, -1, -1)
    found = breach_bound._limit(math.log(5) + np.expm1(slope * q), 1e-15)
    assert 0 <= math.log(5) - found <= 1e-9


@pytest.mark.parametrize("c", [Fraction(1, 4), 1, 5, 60])
@pytest.mark.parametrize("slope", [0, 1, 2, 3])
def test_a_limit_at_one_is_reached_through_a_series(c, slope):
    """With 1 - h = (1 - a) / (1 + c a e^(slope (1 - a))) the ratio is 1 + c e^(slope (1 - a)): its infimum is 1 + c."""

    def upper(a):
        return 1 - (1 - a) / (1 + float(c) * a * math.exp(slope * (1 - a)))

    with mp.workdps(40):
        exact = mpf(c.numerator) / c.denominator
        for a in (mpf("1e-9"), mpf("0.5"), 1 - mpf("1e-9")):
            factor = exact * mp.exp(slope * (1 - a))
            h = 1 - (1 - a) / (1 + factor * a)
            assert mp.almosteq((1 - a) / a * h / (1 - h), 1 + factor, mpf("1e-25"))
    assert_bound(1 + c, lambda a: 0.0, upper, within=1e-8)
