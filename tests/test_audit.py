"""The audit against enumeration: every figure of every design, and closed forms where nothing can be listed."""

import dataclasses
import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import maskwell as mw
from maskwell.designs import MatrixDesign, SubsetDesign
from maskwell.designs.channels import SymmetricChannel
from maskwell.designs.channels.leakage import subset_sums
from maskwell.designs.channels.leakage.capacity import capacity
from maskwell.designs.codecs import SetCodec
from maskwell.results.numbers import figure, limit
from maskwell.sampling.samplers import TOTAL
from tests.conformance.checks import row_parity, scores
from tests.unusual_designs import ALL

Floats = NDArray[np.float64]
RACE = np.array([311, 1039, 3124, 271, 27816]) / 32561
# Sums of at most some thousand products of probabilities.
CLOSE = 1e-11


@pytest.fixture(params=ALL.values(), ids=ALL)
def design(request: pytest.FixtureRequest) -> mw.Design:
    chosen: mw.Design = request.param
    return chosen


def priors(k: int) -> list[Floats | None]:
    """None, falling by powers of two, one category absent, two alone, everyone in one."""
    falling = 0.5 ** np.arange(1, k + 1)
    falling[-1] *= 2
    absent = np.append(0.0, np.arange(1, k) / (k * (k - 1) / 2))
    pair = np.zeros(k)
    pair[[0, -1]] = 0.3, 0.7
    return [None, falling, absent, pair, np.eye(k)[1]]


def enumerated_information(P: Floats, w: Floats) -> float:
    joint = P * w
    q = joint.sum(axis=1)
    return math.fsum(
        joint[z, j] * math.log2(P[z, j] / q[z]) for z in range(len(P)) for j in range(len(w)) if joint[z, j] > 0
    )


def test_leakage_is_what_enumeration_gives(design: mw.Design) -> None:
    P = design.matrix()
    for prior in priors(design.k):
        audit = mw.audit(design, prior=prior)
        w = np.full(design.k, 1 / design.k) if prior is None else prior
        joint = P * w
        q = joint.sum(axis=1)
        assert audit.prediction == audit.guess_probability == pytest.approx(joint.max(axis=1).sum(), abs=CLOSE)
        assert audit.size_leakage == pytest.approx(1 - q @ ((P > 0) @ w), abs=CLOSE)
        assert audit.mutual_information == pytest.approx(enumerated_information(P, w), abs=CLOSE)
        assert audit.mutual_information_bounds.lower == audit.mutual_information_bounds.upper
        assert audit.largest_posterior == pytest.approx((joint[q > 0] / q[q > 0, None]).max(), abs=CLOSE)


def test_the_posterior_is_bayes_rule_for_every_report(design: mw.Design) -> None:
    P = design.matrix()
    for prior in priors(design.k):
        w = np.full(design.k, 1 / design.k) if prior is None else prior
        for label, row in zip(design.report_labels(), P, strict=True):
            if row @ w > 0:
                expected = row * w / (row @ w)
                np.testing.assert_allclose(mw.audit(design).posterior(label, prior=prior), expected, atol=CLOSE)
                np.testing.assert_allclose(mw.audit(design, prior=prior).posterior(label), expected, atol=CLOSE)
            else:
                with pytest.raises(mw.ReportError, match="cannot occur"):
                    mw.audit(design, prior=prior).posterior(label)


def test_exact_figures_are_those_of_the_exact_matrix(design: mw.Design) -> None:
    P = design.matrix(exact=True)
    audit = mw.audit(design, prior=np.eye(design.k)[0])
    assert audit.exact_guess_probability == sum(max(row) for row in P) / design.k
    assert audit.exact_l1 == max(sum(abs(P[:, i] - P[:, j])) for i in range(design.k) for j in range(design.k))
    assert audit.average_security == float(1 + audit.exact_l1 / 2)
    assert audit.bayes_factor_bound == audit.parity == float(max(map(row_parity, P)))
    assert audit.rank == np.linalg.matrix_rank(P.astype(float), tol=1e-9)
    proving = [z for z, row in enumerate(P) if sum(p > 0 for p in row) == 1]
    assert audit.exposure == max(sum(P[z, j] for z in proving) for j in range(design.k))
    assert bool(audit.exposing_reports) == bool(proving)


def test_row_parities_cover_every_row(design: mw.Design) -> None:
    listed = [entry.parity for entry in mw.audit(design).row_parities() for _ in range(entry.rows)]
    assert listed == [row_parity(row) for row in design.matrix(exact=True)]
    assert max(listed) == mw.audit(design).exact_parity


def test_proportional_rows_are_found(design: mw.Design) -> None:
    P = design.matrix(exact=True)
    groups: dict[tuple[Fraction, ...], list[Any]] = {}
    for label, row in zip(design.report_labels(), P, strict=True):
        if any(row):
            groups.setdefault(tuple(row / next(filter(None, row))), []).append(label)
    audit = mw.audit(design)
    assert audit.proportional_rows == sum(len(group) - 1 for group in groups.values())
    assert audit.proportional_groups() == [tuple(group) for group in groups.values() if len(group) > 1]


def test_condition_number_and_trace(design: mw.Design) -> None:
    P, audit = design.matrix(), mw.audit(design)
    if audit.rank == design.k:
        assert audit.condition_number == pytest.approx(np.linalg.cond(P), rel=1e-9)
    else:
        assert audit.condition_number == math.inf
        assert audit.report_influence == math.inf
    labels = design.report_labels()
    if set(labels) == set(design.categories):
        assert audit.trace == pytest.approx(sum(P[labels.index(c), j] for j, c in enumerate(design.categories)))
    else:
        assert audit.trace is None


@pytest.mark.parametrize("method", ["linear", "moments"])
def test_influence_is_the_largest_score(design: mw.Design, method: Any) -> None:
    try:
        design.scores(method)
    except mw.EstimationError:
        with pytest.raises(mw.EstimationError):
            mw.audit(design).influence(method)
        return
    L = scores(design, method)[design.matrix().any(axis=1)]
    adds, removes = mw.audit(design).influence(method)
    assert (adds, removes) == pytest.approx((L.max(), 1 - L.min()), rel=1e-9)
    if isinstance(design, SubsetDesign) and (method == "moments" or len(design.sizes) == 1):
        a, b = design.inclusion_probabilities()
        if a > b and design.sizes[0] > 0:
            assert adds == pytest.approx((1 - b) / (a - b), rel=1e-9)
        if a > b and design.sizes[-1] < design.k:
            assert removes == pytest.approx(a / (a - b), rel=1e-9)


def test_capacity_is_enclosed_and_no_prior_exceeds_it(design: mw.Design) -> None:
    audit = mw.audit(design)
    low, high = audit.capacity_bounds
    assert 0 <= low <= high == audit.capacity <= low + 1e-9
    # The general search knows nothing of symmetry.
    general = capacity(design.matrix())
    assert general[0] - 1e-9 <= low <= high + 1e-9
    assert general[1] == pytest.approx(high, abs=1e-9)
    for prior in priors(design.k):
        assert mw.audit(design, prior=prior).mutual_information <= high + CLOSE


@pytest.mark.parametrize(
    ("matrix", "bits"),
    [
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], math.log2(3)),
        ([[0.5, 0], [0.5, 1]], math.log2(1 + 0.25)),  # Z-channel with crossover 1/2
        ([[0.89, 0.11], [0.11, 0.89]], 1 + 0.89 * math.log2(0.89) + 0.11 * math.log2(0.11)),
        ([[0.7, 0], [0, 0.7], [0.3, 0.3]], 0.7),  # erasure
        ([[0.25, 0.25], [0.75, 0.75]], 0.0),
        ([[0.9, 0.5, 0.1], [0.1, 0.5, 0.9]], 1 + 0.9 * math.log2(0.9) + 0.1 * math.log2(0.1)),  # unused truth
    ],
)
def test_known_capacities(matrix: Any, bits: float) -> None:
    low, high = capacity(np.array(matrix, float))
    assert low - 1e-14 <= bits <= high + 1e-14
    assert high - low < 1e-10


# Numbers that papers print, and closed forms.


def test_race_example_of_wang_and_ding() -> None:
    masked = mw.audit(mw.designs.uniform_subsets(5), prior=RACE)
    plain = mw.audit(mw.designs.direct(5), prior=RACE)
    assert masked.size_leakage == pytest.approx(0.15590, abs=5e-6)
    assert plain.size_leakage == pytest.approx(0.25983, abs=5e-6)
    assert masked.mutual_information == pytest.approx(0.40900, abs=5e-6)
    assert plain.mutual_information == pytest.approx(0.79874, abs=5e-6)
    assert (masked.prediction, plain.prediction) == pytest.approx((0.92237, 1.0), abs=5e-6)


def test_urn_example_of_wang_and_ding() -> None:
    colours = {"black": 0.01, "red": 0.1, "green": 0.2, "blue": 0.69}
    audit = mw.audit(mw.designs.uniform_subsets(list(colours)), prior=colours)
    assert 1 - audit.size_leakage == pytest.approx(0.6841, abs=5e-5)
    pair = audit.posterior({"black", "red"})
    np.testing.assert_allclose(pair, [1 / 11, 10 / 11, 0, 0], atol=CLOSE)


def test_equal_average_security_and_only_one_of_two_designs_exposes() -> None:
    exposing = mw.audit(mw.designs.from_matrix([["1/2", 0], [0, "1/2"], ["1/2", "1/2"]]))
    sound = mw.audit(mw.designs.from_matrix([["7/10", "2/10"], ["3/10", "8/10"]]))
    assert exposing.average_security == sound.average_security == 1.5
    assert exposing.exposure == Fraction(1, 2)
    assert exposing.exposing_reports == (0, 1)
    assert "exposed: with chance 0.5" in exposing.warnings[0]
    assert "φ = 1.5 misleads" in exposing.average_security_warning
    assert exposing.average_security_warning in exposing.warnings
    assert (sound.exposure, sound.average_security_warning, sound.warnings) == (0, "", [])


def test_guess_probabilities_without_a_prior() -> None:
    assert mw.audit(mw.designs.local_diversity(50, l=10)).exact_guess_probability == Fraction(1, 10)
    design = mw.designs.minimax(50, gamma=Fraction("18.0232"))
    (q,), p = design.sizes, Fraction(design.inside[0], TOTAL)
    assert (q, mw.audit(design).exact_guess_probability) == (3, p / q)
    assert mw.audit(design).guess_probability == pytest.approx(0.1783, abs=5e-5)


def test_gamma_diagonal_in_closed_form() -> None:
    audit = mw.audit(mw.designs.gamma_diagonal(8, gamma=5))
    assert audit.trace == pytest.approx(5 * 8 / (5 + 8 - 1))
    assert audit.condition_number == pytest.approx((5 + 8 - 1) / (5 - 1))
    assert audit.capacity == pytest.approx(3 + 5 / 12 * math.log2(5 / 12) + 7 / 12 * math.log2(1 / 12))


# Thousands of categories.


@pytest.fixture
def no_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a closed form needs no list of sets")

    monkeypatch.setattr(SymmetricChannel, "exact", refuse)
    monkeypatch.setattr(SetCodec, "masks", refuse)


@pytest.mark.usefixtures("no_matrix")
@pytest.mark.parametrize("name", ["minimax", "rappor", "gamma_diagonal", "optimized_unary", "trimmed_rappor"])
def test_five_thousand_categories_without_a_matrix(name: str) -> None:
    k = 5000
    design: SubsetDesign = getattr(mw.designs, name)(k, epsilon=1)
    falling = 1 / np.arange(1, k + 1)
    gamma = design.parity
    for prior in (None, falling / falling.sum()):
        audit = mw.audit(design, prior=prior)
        top = 1 / k if prior is None else float(prior[0])
        assert top <= audit.prediction <= audit.largest_posterior + CLOSE
        assert audit.largest_posterior <= gamma * top / (1 + (gamma - 1) * top) + CLOSE
        low, high = audit.mutual_information_bounds
        assert 0 <= low <= high <= audit.capacity <= math.log2(math.e)
        assert high - low < 1e-3
        assert audit.size_leakage == 0
        assert audit.rank == k
        assert math.isfinite(audit.condition_number)
        assert sum(entry.rows for entry in audit.row_parities()) == design.report_count()
        assert audit.report_influence > 1
        assert audit.proportional_rows == len({0, k} & set(design.sizes)) // 2
        assert audit.warnings == [] or (prior is not None and "bits" in audit.warnings[0])


@pytest.mark.usefixtures("no_matrix")
@pytest.mark.parametrize("l", [2, 40, 2500, 4999])
def test_prediction_counts_sets_exactly_at_five_thousand(l: int) -> None:
    k = 5000
    w = [Fraction(2 * (k - i), k * (k + 1)) for i in range(k)]
    # The first member has rank i + 1 in C(k - i - 1, l - 1) of the sets.
    count, total = math.comb(k - 1, l - 1), Fraction(0)
    for i in range(k - l + 1):
        total += count * w[i]
        count = count * (k - i - l) // (k - i - 1) if i < k - 1 else 0
    expected = float(total / math.comb(k - 1, l - 1))
    audit = mw.audit(mw.designs.local_diversity(k, l=l), prior=[float(x) for x in w])
    assert audit.prediction == pytest.approx(expected, rel=1e-11)


def test_listing_sets_and_the_moments_of_their_weights_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    names: list[Callable[..., SubsetDesign]] = [mw.designs.uniform_subsets, mw.designs.rappor, mw.designs.minimax]
    for k, concentration in ((9, 0.2), (14, 1.0), (14, 10.0)):
        prior = rng.dirichlet(np.full(k, concentration))
        for function in names:
            design = function(k) if function is mw.designs.uniform_subsets else function(k, epsilon=1)
            listed = mw.audit(design, prior=prior).mutual_information
            with monkeypatch.context() as patch:
                patch.setattr(subset_sums, "_MOST_SETS", 1)
                for heavy, width in ((0, 1.0), (4, 0.2), (10, 0.02)):
                    patch.setattr(subset_sums, "_MOST_HEAVY", heavy)
                    low, high = mw.audit(design, prior=prior).mutual_information_bounds
                    assert low - CLOSE <= listed <= high + CLOSE
                    assert high - low < width


def test_an_uncertain_mutual_information_is_said_to_be() -> None:
    prior = 0.9 ** np.arange(200)
    audit = mw.audit(mw.designs.local_diversity(200, l=6), prior=prior / prior.sum())
    low, high = audit.mutual_information_bounds
    assert high - low > 1e-5
    assert any(f"between {figure(low)} and {figure(high)} bits" in sentence for sentence in audit.warnings)


# What holds for every design.


@st.composite
def matrices(draw: st.DrawFn) -> MatrixDesign:
    k, m = draw(st.integers(2, 5)), draw(st.integers(1, 6))
    columns = draw(st.lists(st.lists(st.integers(0, 20), min_size=m, max_size=m).filter(any), min_size=k, max_size=k))
    return mw.designs.from_matrix([[Fraction(c[z], sum(c)) for c in columns] for z in range(m)])


def weights(k: int) -> st.SearchStrategy[Floats]:
    counts = st.lists(st.integers(0, 50), min_size=k, max_size=k).filter(any)
    return counts.map(lambda c: np.array(c) / sum(c))


@given(st.data())
def test_inequalities_between_figures(data: st.DataObject) -> None:
    design = data.draw(matrices())
    prior = data.draw(weights(design.k))
    audit = mw.audit(design, prior=prior)
    held = prior[prior > 0]
    entropy = -math.fsum(held * np.log2(held))
    assert 0 <= audit.mutual_information <= min(audit.capacity, entropy) + CLOSE
    assert audit.capacity <= math.log2(min(design.k, design.report_count())) + 1e-9
    assert prior.max() <= audit.prediction + CLOSE
    assert audit.prediction <= audit.largest_posterior + CLOSE <= 1 + 2 * CLOSE
    assert 0 <= audit.size_leakage <= 1 - prior @ prior + CLOSE
    assert 1 <= audit.average_security <= 2
    assert (audit.size_leakage > 0) <= math.isinf(audit.parity)
    if math.isfinite(audit.parity):
        assert audit.exposure == 0
        assert Fraction(audit.epsilon) >= 0
        assert math.exp(audit.epsilon) >= audit.parity * (1 - 1e-15)
        assert audit.capacity <= audit.epsilon * math.log2(math.e) + 1e-9
        assert audit.exact_guess_probability <= audit.exact_parity / (audit.exact_parity + design.k - 1)
        assert audit.l1 <= 2 * (audit.parity - 1) / (audit.parity + 1) + CLOSE
    assert (audit.rank == design.k) == math.isfinite(audit.condition_number)


@given(st.data())
def test_merging_reports_never_tells_more(data: st.DataObject) -> None:
    design = data.draw(matrices().filter(lambda design: design.report_count() > 1))
    prior = data.draw(weights(design.k))
    P = design.matrix(exact=True)
    merged = mw.designs.from_matrix([P[0] + P[1], *P[2:]])
    before, after = mw.audit(design, prior=prior), mw.audit(merged, prior=prior)
    assert after.exact_parity <= before.exact_parity
    assert after.exact_l1 <= before.exact_l1
    assert after.exact_guess_probability <= before.exact_guess_probability
    for name in ("mutual_information", "prediction", "size_leakage", "capacity", "largest_posterior"):
        assert getattr(after, name) <= getattr(before, name) + 1e-9


# Words, storage and errors.


def test_warnings_say_what_applies() -> None:
    designs = mw.designs
    assert mw.audit(designs.minimax(10, epsilon=1)).warnings == []
    (parity,) = mw.audit(designs.minimax(10, gamma=30)).warnings
    assert "30" in parity
    assert "usual ceiling" in parity
    diverse = mw.audit(designs.local_diversity(10, l=4)).warnings
    assert any("Parity is infinite" in sentence for sentence in diverse)
    assert any("at least 4 answers" in sentence for sentence in diverse)
    assert not any("exposed" in sentence for sentence in diverse)
    assert "every report" in mw.audit(designs.direct(3)).warnings[0]
    grouped = mw.audit(designs.collapse(4, groups=[[0, 1], [2, 3]])).warnings
    assert any("cannot estimate" in sentence for sentence in grouped)
    broken = dataclasses.replace(designs.minimax(10, gamma=30), demand=mw.LDP(1))
    assert mw.audit(broken).demand_holds is False
    assert "does not meet the demand" in mw.audit(broken).warnings[0]


def test_every_sentence_is_one_line(design: mw.Design) -> None:
    for sentence in mw.audit(design).warnings:
        assert sentence.strip() == sentence
        assert "\n" not in sentence
        assert sentence.endswith(".")


def test_an_audit_becomes_json(design: mw.Design) -> None:
    for prior in priors(design.k)[:2]:
        audit = mw.audit(design, prior=prior)
        stored = json.loads(json.dumps(audit.to_dict(), allow_nan=False))
        if math.isfinite(audit.parity):
            assert Fraction(stored["exact_parity"]) == audit.exact_parity
        else:
            assert stored["parity"] is stored["epsilon"] is stored["exact_parity"] is None
        assert stored["prediction"] == audit.prediction
        assert stored["admissible"] is audit.admissible
        assert (audit.why_not == "") is audit.admissible


def test_audits_compare_and_show_themselves() -> None:
    design = mw.designs.warner(truth_prob=Fraction(3, 4))
    assert mw.audit(design, prior=[0.25, 0.75]) == mw.audit(design, prior={"no": 0.75, "yes": 0.25})
    assert mw.audit(design) != mw.audit(design, prior=[0.25, 0.75])
    assert repr(mw.audit(design)) == "<audit of a warner design: parity 3, 0 warnings>"


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.5, 0.5], "3 entries"),
        ([0.5, 0.6, -0.1], "non-negative"),
        ([2, 3, 5], "Divide counts by their sum"),
        ([0.5, math.nan, 0.5], "sum to 1"),
        ({"a": 1}, "each of the 3 categories"),
        (["x", "y", "z"], "must be numbers"),
        (3, "must be numbers"),
    ],
)
def test_a_prior_that_is_none_is_refused(prior: Any, message: str) -> None:
    with pytest.raises(mw.DesignError, match=message):
        mw.audit(mw.designs.minimax(["a", "b", "c"], epsilon=1), prior=prior)


def test_a_report_that_is_none_is_refused() -> None:
    sets = mw.audit(mw.designs.local_diversity(["a", "b", "c", "d"], l=2))
    for report, message in (("a", "a set of categories"), ({"a"}, "sets of 2 to 2"), ({"a", "x"}, "not a category")):
        with pytest.raises(mw.ReportError, match=message):
            sets.posterior(report)
    single = mw.audit(mw.designs.gamma_diagonal(3, epsilon=1))
    np.testing.assert_array_equal(single.posterior(1), single.posterior({1}))
    with pytest.raises(mw.ReportError, match="not one of the design's"):
        mw.audit(mw.designs.warner(truth_prob=0.7)).posterior("maybe")


def test_the_summary_tells_the_audit_in_text() -> None:
    found = mw.audit(mw.plan(4, mw.LDP(1)))
    text = found.summary()
    assert "which holds" in text
    assert limit(found.exact_parity) in text
    exposing = mw.audit(mw.designs.direct(3)).summary()
    assert "prove the answer" in exposing
    assert "warning: " in exposing
