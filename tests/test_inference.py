"""Estimates, intervals, contrasts and summaries: exact values, identities, and one clear line for what cannot be."""

import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

import maskwell as mw
from maskwell.designs import Design, SubsetDesign
from maskwell.designs.kinds.projective import ProjectiveDesign
from maskwell.inference.summary import summary_lines
from tests.evidence.cases import CASES, Case

METHODS = ("linear", "moments")
ONE_SIZE = [case for case in CASES if isinstance(case.design, SubsetDesign) and len(case.design.sizes) == 1]
BINOMIAL = [case for case in CASES if case.design.report_count() == 2 or case in ONE_SIZE]
Z = float(stats.norm.ppf(0.975))

# Of hyperplanes with points that stand for nothing, only the inclusions are counted: the sum is 1 on average.
CUT = [c for c in CASES if isinstance(c.design, ProjectiveDesign) and c.design.k < c.design.space.points]
by_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
summing_to_one = pytest.mark.parametrize("case", [c for c in CASES if c not in CUT], ids=lambda case: case.label)


def expected_tally(design: Design, population: Any, n: float = 1000) -> mw.Tally:
    """A tally that holds each report as often as it is expected, so that the estimate is the population."""
    return mw.Tally.from_counts(design, n * (design.matrix() @ np.asarray(population, float)))


def random_tally(design: Design, n: int, seed: int) -> mw.Tally:
    population = np.random.default_rng(seed).dirichlet(np.ones(design.k))
    return design.mask(draw_values(design, population, n, seed), seed=seed).tally()


def draw_values(design: Design, population: Any, n: int, seed: int) -> Any:
    codes = np.random.default_rng(seed).choice(design.k, size=n, p=population)
    return np.array(design.categories)[codes]


class TestKnownValues:
    def test_k_ary_response_has_its_closed_form(self) -> None:
        """With a share x of reports: ((γ + k - 1) x - 1) / (γ - 1), and x (1 - x) stretched by the same slope."""
        gamma, counts = 3, np.array([50, 30, 15, 5])
        design = mw.designs.gamma_diagonal(4, gamma=gamma)
        estimate = mw.estimate(mw.Tally.from_counts(design, counts))
        x, stretch = counts / 100, (gamma + 3) / (gamma - 1)
        assert estimate.proportions == pytest.approx(((gamma + 3) * x - 1) / (gamma - 1))
        assert estimate.standard_errors**2 * 100 == pytest.approx(x * (1 - x) * stretch**2)
        assert estimate.covariance[0, 1] * 100 == pytest.approx(-x[0] * x[1] * stretch**2)

    def test_warner_has_its_closed_form(self) -> None:
        """Warner (1965): (x - 1 + p) / (2p - 1) with variance x (1 - x) / (n (2p - 1)²)."""
        estimate = mw.estimate(mw.Tally.from_counts(mw.designs.warner(truth_prob=0.8), [320, 680]))
        assert estimate.proportions[0] == pytest.approx((0.32 - 0.2) / 0.6)
        assert estimate.standard_errors == pytest.approx([math.sqrt(0.32 * 0.68 / 1000) / 0.6] * 2)
        assert estimate.covariance[0, 1] == pytest.approx(-estimate.covariance[0, 0])

    def test_kuk_with_several_cards_beats_its_mean(self) -> None:
        """The share of red cards is unbiased too, with a larger variance: least squares uses the whole distribution."""
        design = mw.designs.kuk(red_if_yes=0.8, red_if_no=0.4, draws=4)
        estimate = mw.estimate(expected_tally(design, [0.3, 0.7]))
        reds = np.arange(5)
        chances = design.matrix() @ [0.3, 0.7]
        spread = reds**2 @ chances - (reds @ chances) ** 2
        assert estimate.proportions == pytest.approx([0.3, 0.7])
        assert estimate.standard_errors[0] ** 2 * 1000 < spread / (4 * 0.4) ** 2

    @pytest.mark.parametrize(
        ("name", "method", "added"),
        [
            ("rappor", "moments", 19.5885),
            ("rappor", "linear", 15.2205),
            ("trimmed_rappor", "linear", 14.1099),
            ("minimax", "linear", 11.4298),
            ("minimax", "moments", 11.4298),
        ],
    )
    @pytest.mark.parametrize("population", [[0.2] * 5, [0.7, 0.2, 0.1, 0, 0]])
    def test_added_variance_at_five_categories_and_epsilon_one(
        self, name: str, method: Any, added: float, population: list[float]
    ) -> None:
        """n times the total variance is this plus what a direct question has, whatever the population."""
        design = getattr(mw.designs, name)(5, epsilon=1)
        estimate = mw.estimate(expected_tally(design, population), method)
        assert estimate.proportions == pytest.approx(population)
        open_variance = 1 - np.square(population).sum()
        assert np.trace(estimate.covariance) * 1000 - open_variance == pytest.approx(added, abs=5e-5)

    @pytest.mark.parametrize(("k", "l"), [(5, 2), (6, 3), (7, 6)])
    def test_local_diversity_has_the_published_covariance(self, k: int, l: int) -> None:
        """nayak-zhai-2019, section 4.2: ζ_i and ζ_ij of the inclusion of one and of two categories."""
        population = np.arange(1, k + 1) / (k * (k + 1) / 2)
        estimate = mw.estimate(expected_tally(mw.designs.local_diversity(k, l=l), population))
        one = population + (1 - population) * (l - 1) / (k - 1)
        two = (l - 1) * (k - l) / ((k - 1) * (k - 2)) * (np.add.outer(population, population) + (l - 2) / (k - l))
        covariance = two - np.outer(one, one)
        np.fill_diagonal(covariance, one * (1 - one))
        assert estimate.covariance * 1000 == pytest.approx(covariance * ((k - 1) / (k - l)) ** 2)

    def test_a_direct_question_has_the_multinomial_covariance(self) -> None:
        x = np.array([0.5, 0.3, 0.2])
        estimate = mw.estimate(mw.Tally.from_counts(mw.designs.direct(3), [50, 30, 20]))
        assert estimate.covariance * 100 == pytest.approx(np.diag(x) - np.outer(x, x))
        assert estimate.sampling_variance == pytest.approx((1 - x @ x) * 100 / 99, rel=1e-3)


class TestIdentities:
    @by_case
    @pytest.mark.parametrize("method", METHODS)
    def test_expected_reports_give_the_population_back(self, case: Case, method: Any) -> None:
        for population in case.populations.values():
            estimate = mw.estimate(expected_tally(case.design, population), method)
            assert estimate.proportions == pytest.approx(population, abs=1e-9)

    @summing_to_one
    @given(seed=st.integers(0, 2**32))
    def test_linear_estimates_sum_to_one(self, case: Case, seed: int) -> None:
        estimate = mw.estimate(random_tally(case.design, 40, seed))
        assert estimate.proportions.sum() == pytest.approx(1)
        assert estimate.contrast([1] * case.design.k).value == pytest.approx(1)

    @by_case
    @pytest.mark.parametrize("method", METHODS)
    @given(data=st.data())
    def test_covariance_is_one_inside_the_simplex(self, case: Case, method: Any, data: st.DataObject) -> None:
        """Positive semi-definite, and its diagonal is what ``standard_errors`` gives without forming it."""
        k = case.design.k
        parts = data.draw(hnp.arrays(float, k, elements=st.floats(0.01, 1)))
        estimate = mw.estimate(expected_tally(case.design, parts / parts.sum()), method)
        scale = np.trace(estimate.covariance)
        assert np.linalg.eigvalsh(estimate.covariance).min() >= -1e-9 * scale
        assert estimate.covariance == pytest.approx(estimate.covariance.T)
        assert np.sqrt(np.diagonal(estimate.covariance)) == pytest.approx(estimate.standard_errors)

    @summing_to_one
    def test_the_total_of_linear_estimates_has_no_variance(self, case: Case) -> None:
        estimate = mw.estimate(expected_tally(case.design, case.populations["even"]))
        assert estimate.contrast([1] * case.design.k).standard_error == pytest.approx(0, abs=1e-6)

    @pytest.mark.parametrize("case", BINOMIAL, ids=lambda case: case.label)
    @given(seed=st.integers(0, 2**32), n=st.integers(1, 60))
    def test_estimators_agree_where_there_is_only_one(self, case: Case, seed: int, n: int) -> None:
        """Few reports, so that some category is never or always reported and its variance is nearly zero."""
        tally = random_tally(case.design, n, seed)
        first, second = (mw.estimate(tally, method) for method in METHODS)
        assert first.proportions == pytest.approx(second.proportions)
        assert first.standard_errors == pytest.approx(second.standard_errors, abs=1e-6)
        for kind in ("wald", "wilson", "clopper-pearson"):
            assert first.interval(0.9, kind) == pytest.approx(second.interval(0.9, kind), abs=1e-6)

    @by_case
    @pytest.mark.parametrize("method", METHODS)
    @given(row=st.integers(0, 10**6), n=st.integers(1, 30))
    def test_one_report_only_still_has_finite_limits(self, case: Case, method: Any, row: int, n: int) -> None:
        """The extreme samples: all respondents gave the same report."""
        counts = np.zeros(case.design.report_count(), int)
        counts[row % len(counts)] = n
        estimate = mw.estimate(mw.Tally.from_counts(case.design, counts), method)
        assert (estimate.standard_errors >= 0).all()
        for kind in ("wald", "wilson"):
            for simultaneous in (False, True):
                limits = estimate.interval(0.95, kind, simultaneous)
                assert np.isfinite(limits).all()
                assert (limits[:, 0] <= limits[:, 1]).all()
        assert np.isfinite(estimate.projected().proportions).all()
        assert "nan" not in estimate.summary()

    @given(seed=st.integers(0, 2**32))
    def test_names_of_categories_do_not_matter(self, seed: int) -> None:
        counts = np.random.default_rng(seed).integers(0, 50, 6)
        counts[0] += 1
        numbered = mw.estimate(mw.Tally.from_counts(mw.designs.gamma_diagonal(6, epsilon=2), counts))
        lettered = mw.designs.gamma_diagonal(list("abcdef"), epsilon=2)
        named = mw.estimate(mw.Tally.from_counts(lettered, counts[::-1]))
        assert named.proportions[::-1] == pytest.approx(numbered.proportions)
        assert named.interval()[::-1] == pytest.approx(numbered.interval())


class TestIntervals:
    @pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
    @pytest.mark.parametrize("counts", [[0, 50], [1, 49], [13, 37], [50, 0]])
    def test_wilson_is_the_textbook_interval_for_a_direct_question(self, counts: list[int], level: float) -> None:
        estimate = mw.estimate(mw.Tally.from_counts(mw.designs.direct(2), counts))
        for count, limits in zip(counts, estimate.interval(level, "wilson"), strict=True):
            textbook = stats.binomtest(count, 50).proportion_ci(level, method="wilson")
            assert limits == pytest.approx([textbook.low, textbook.high], abs=1e-12)

    @pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
    @pytest.mark.parametrize("counts", [[0, 50], [1, 49], [13, 37], [50, 0]])
    def test_clopper_pearson_is_the_exact_interval_for_a_direct_question(self, counts: list[int], level: float) -> None:
        estimate = mw.estimate(mw.Tally.from_counts(mw.designs.direct(2), counts))
        for count, limits in zip(counts, estimate.interval(level, "clopper-pearson"), strict=True):
            textbook = stats.binomtest(count, 50).proportion_ci(level, method="exact")
            assert limits == pytest.approx([textbook.low, textbook.high], abs=1e-12)

    @pytest.mark.parametrize(("kind", "textbook"), [("wilson", "wilson"), ("clopper-pearson", "exact")])
    @pytest.mark.parametrize("case", ONE_SIZE, ids=lambda case: case.label)
    def test_masked_limits_are_those_of_the_inclusion_count(self, case: Case, kind: Any, textbook: Any) -> None:
        """V is binomial with chance B + (A - B) p, so limits for that chance carry over."""
        tally = random_tally(case.design, 200, 7)
        assert isinstance(case.design, SubsetDesign)
        a, b = case.design.inclusion_probabilities()
        limits = mw.estimate(tally).interval(0.9, kind)
        for count, found in zip(tally.inclusions.tolist(), limits, strict=True):
            chance = stats.binomtest(count, 200).proportion_ci(0.9, method=textbook)
            assert found == pytest.approx([(chance.low - b) / (a - b), (chance.high - b) / (a - b)], abs=1e-9)

    def test_a_design_that_lies_more_often_than_not_has_ordered_limits(self) -> None:
        estimate = mw.estimate(mw.Tally.from_counts(mw.designs.warner(truth_prob=0.3), [60, 40]))
        for kind in ("wald", "wilson", "clopper-pearson"):
            low, high = estimate.interval(0.95, kind).T
            assert (low < estimate.proportions).all()
            assert (estimate.proportions < high).all()

    def test_wald_is_estimate_and_standard_error(self) -> None:
        estimate = mw.estimate(random_tally(mw.designs.rappor(4, epsilon=1), 300, 1))
        margin = Z * estimate.standard_errors
        wald = np.stack([estimate.proportions - margin, estimate.proportions + margin], axis=1)
        assert estimate.interval(0.95, "wald") == pytest.approx(wald)

    @by_case
    @pytest.mark.parametrize("method", METHODS)
    def test_wilson_comes_to_wald_in_large_samples(self, case: Case, method: Any) -> None:
        estimate = mw.estimate(expected_tally(case.design, case.populations["even"], 10**10), method)
        wald, wilson = (estimate.interval(0.95, kind) - estimate.proportions[:, None] for kind in ("wald", "wilson"))
        assert wilson == pytest.approx(wald, rel=1e-3)

    @by_case
    def test_simultaneous_limits_are_those_of_a_stricter_level(self, case: Case) -> None:
        estimate = mw.estimate(random_tally(case.design, 100, 3), "moments")
        kinds = ("wald", "wilson", "clopper-pearson") if estimate.scores.binomial() else ("wald", "wilson")
        for kind in kinds:
            stricter = estimate.interval(1 - 0.1 / case.design.k, kind)
            assert estimate.interval(0.9, kind, simultaneous=True) == pytest.approx(stricter)

    def test_limits_are_not_clipped(self) -> None:
        """Nobody reported the first category, which the design makes everybody do now and then."""
        estimate = mw.estimate(mw.Tally.from_counts(mw.designs.gamma_diagonal(3, epsilon=0.5), [0, 500, 500]))
        assert estimate.proportions[0] < 0
        for kind in ("wilson", "clopper-pearson"):
            assert estimate.interval(0.95, kind)[0, 1] < 0


class TestContrasts:
    def test_a_difference_has_the_variance_of_both_and_their_covariance(self) -> None:
        estimate = mw.estimate(random_tally(mw.designs.minimax(["a", "b", "c"], epsilon=1), 500, 2))
        difference = estimate.contrast({"a": 1, "c": -1})
        c = estimate.covariance
        assert difference.value == pytest.approx(estimate.proportions[0] - estimate.proportions[2])
        assert difference.standard_error == pytest.approx(math.sqrt(c[0, 0] + c[2, 2] - 2 * c[0, 2]))
        assert difference.interval() == pytest.approx(
            (
                difference.value - Z * difference.standard_error,
                difference.value + Z * difference.standard_error,
            )
        )
        assert estimate.contrast([1, 0, -1]) == difference

    def test_a_group_is_estimated_where_its_members_cannot_be(self) -> None:
        design = mw.designs.collapse(["a", "b", "c", "d"], groups={"first": ["a", "b"], "last": ["c", "d"]})
        tally = mw.Tally.from_counts(design, [30, 70])
        group = mw.estimate_contrast(tally, {"a": 1, "b": 1})
        assert (group.value, group.standard_error) == pytest.approx((0.3, math.sqrt(0.3 * 0.7 / 100)))
        with pytest.raises(mw.EstimationError, match="cannot estimate this sum"):
            mw.estimate_contrast(tally, {"a": 1})

    def test_a_sum_that_is_estimable_is_the_contrast(self) -> None:
        tally = random_tally(mw.designs.rappor(4, epsilon=1), 100, 5)
        assert mw.estimate_contrast(tally, [0, 1, 2, 3]) == mw.estimate(tally).contrast([0, 1, 2, 3])

    def test_reports_count_as_their_tally(self) -> None:
        reports = mw.designs.warner(truth_prob=0.8).mask(["yes", "no", "no"], seed=1)
        assert mw.estimate(reports) == mw.estimate(reports.tally())
        assert mw.estimate_contrast(reports, {"yes": 1}).value == mw.estimate(reports).proportions[0]


class TestProjection:
    def test_is_the_nearest_point_and_says_what_it_is(self) -> None:
        estimate = mw.estimate(mw.Tally.from_counts(mw.designs.gamma_diagonal(3, epsilon=1), [10, 300, 690]))
        projected = estimate.projected()
        assert estimate.proportions.min() < 0
        assert projected.proportions.min() == 0
        assert projected.proportions.sum() == pytest.approx(1)
        assert projected.categories == estimate.design.categories
        assert "biased" in projected.label
        assert "standard errors do not apply" in projected.label

    @given(point=hnp.arrays(float, st.integers(2, 8), elements=st.floats(-3, 3)), seed=st.integers(0, 2**32))
    def test_no_point_of_the_simplex_is_nearer(self, point: Any, seed: int) -> None:
        from maskwell.inference.simplex import project

        nearest = project(point)
        other = np.random.default_rng(seed).dirichlet(np.ones(len(point)))
        assert nearest.min() >= 0
        assert nearest.sum() == pytest.approx(1)
        assert ((point - nearest) ** 2).sum() <= ((point - other) ** 2).sum() + 1e-9

    def test_a_point_of_the_simplex_stays(self) -> None:
        estimate = mw.estimate(expected_tally(mw.designs.direct(3), [0.2, 0.3, 0.5]))
        assert estimate.projected().proportions == pytest.approx([0.2, 0.3, 0.5])


class TestWeights:
    def test_equal_weights_change_nothing(self) -> None:
        reports = mw.designs.rappor(4, epsilon=1).mask(np.arange(200) % 4, seed=1)
        plain, weighted = mw.estimate(reports), mw.estimate(reports.tally(weights=np.full(200, 2.5)))
        assert weighted.effective_n == pytest.approx(200)
        assert weighted.proportions == pytest.approx(plain.proportions)
        assert weighted.covariance == pytest.approx(plain.covariance)
        assert weighted.interval() == pytest.approx(plain.interval())

    @by_case
    def test_the_estimate_is_that_of_repeated_reports(self, case: Case) -> None:
        values = draw_values(case.design, case.populations["even"], 60, 4)
        reports = case.design.mask(values, seed=4)
        weights = np.random.default_rng(4).integers(1, 4, 60)
        repeated = mw.Reports(case.design, np.repeat(reports.packed, weights, axis=0))
        weighted = mw.estimate(reports.tally(weights=weights))
        assert weighted.proportions == pytest.approx(mw.estimate(repeated).proportions)
        assert weighted.effective_n == pytest.approx(weights.sum() ** 2 / (weights**2).sum())

    def test_a_direct_question_has_the_linearised_variance(self) -> None:
        """sum w² (y - p)(y - p)' / (sum w)², summed over respondents."""
        rng = np.random.default_rng(9)
        values, weights = rng.integers(0, 3, 100), rng.uniform(0.5, 4, 100)
        estimate = mw.estimate(mw.designs.direct(3).mask(values).tally(weights=weights))
        residuals = np.eye(3)[values] - estimate.proportions
        linearised = (weights[:, None] * residuals).T @ (weights[:, None] * residuals) / weights.sum() ** 2
        assert estimate.covariance == pytest.approx(linearised)

    def test_wilson_knows_that_weights_go_with_the_answer(self) -> None:
        """All holders of the first answer are heavy: its limits follow the linearised variance, not Kish's n."""
        n = 10**6
        values = np.repeat([0, 1, 1], [n // 20, n // 20, 9 * n // 10])
        weights = np.repeat([10.0, 10.0, 1.0], [n // 20, n // 20, 9 * n // 10])
        estimate = mw.estimate(mw.designs.direct(2).mask(values).tally(weights=weights))
        half_width = np.diff(estimate.interval(0.95, "wilson"), axis=1)[:, 0] / 2
        assert half_width == pytest.approx(Z * estimate.standard_errors, rel=0.01)

    def test_clopper_pearson_is_refused(self) -> None:
        estimate = mw.estimate(mw.designs.direct(2).mask([0, 1, 1]).tally(weights=[1, 2, 3]))
        with pytest.raises(mw.EstimationError, match="weights"):
            estimate.interval(0.95, "clopper-pearson")


class TestSummary:
    def test_says_what_was_asked_and_what_it_cost(self) -> None:
        demand = mw.LDP(1.5)
        design = mw.plan(["never", "once", "often"], demand)
        estimate = mw.estimate(expected_tally(design, [0.6, 0.3, 0.1], 5000))
        text = estimate.summary(level=0.9)
        assert text.startswith("linear estimate from 5,000 reports")
        for part in ("minimax", "3 categories", design.fingerprint[:12], demand.describe(), "epsilon 1.5", "90 %"):
            assert part in text
        assert f"parity {math.ceil(1000 * design.parity) / 1000}" in text  # a limit on privacy is rounded up
        assert f"{design.added_variance:.4g} added to" in text
        sampling = estimate.sampling_variance
        worth = 5000 * sampling / (sampling + design.added_variance)
        assert f"a direct question to {worth:,.0f} people" in text
        for label, share in zip(design.categories, (0.6, 0.3, 0.1), strict=True):
            assert any(line.startswith(str(label)) and f"{share:.4f}" in line for line in text.splitlines())

    def test_few_people_are_compared_in_words(self) -> None:
        design = mw.designs.gamma_diagonal(3, epsilon=0.5)
        for counts, told in (
            ([1, 1, 1], "a direct question to one person would be more precise: each masked report is worth 0.0316 of"),
            ([12, 12, 12], "a direct question to 1 person would be as precise"),
            ([9, 0, 0], "what a masked one is worth beside them is open"),
        ):
            text = mw.estimate(mw.Tally.from_counts(design, counts)).summary()
            assert told in text
            assert "to 0 people" not in text

    def test_names_diversity_where_there_is_no_epsilon(self) -> None:
        text = mw.estimate(random_tally(mw.designs.local_diversity(6, l=3), 100, 1)).summary()
        assert "no finite epsilon" in text
        assert "at least 3 categories" in text

    def test_counts_missing_and_weighted_reports(self) -> None:
        design = mw.designs.warner(truth_prob=0.75)
        reports = design.mask(["yes", None, "no", "no"], missing="keep", seed=1)
        assert "from 3 reports (1 missing)" in mw.estimate(reports).summary()
        assert "weighted: as precise as 3 unweighted ones" in mw.estimate(reports.tally(weights=[1, 1, 2, 3])).summary()

    def test_shows_the_largest_of_many(self) -> None:
        text = mw.estimate(random_tally(mw.designs.direct(50), 100, 1)).summary()
        assert "30 smaller ones" in text
        assert len(text.splitlines()) < 35

    @by_case
    @pytest.mark.parametrize("method", METHODS)
    def test_shares_of_noise_add_up(self, case: Case, method: Any) -> None:
        text = mw.estimate(random_tally(case.design, 400, 6), method).summary()
        noise = next(line for line in text.splitlines() if "privacy noise" in line)
        privacy, sampling = [int(word) for word in noise.split() if word.isdigit()][:2]
        assert privacy + sampling in (99, 100, 101)


class TestForms:
    @pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
    def test_frames_hold_the_same_numbers(self, backend: Any) -> None:
        estimate = mw.estimate(random_tally(mw.designs.gamma_diagonal(["a", "b"], epsilon=1), 50, 1))
        frame = estimate.to_frame(level=0.8, backend=backend)
        assert type(frame).__module__.split(".")[0] == backend
        assert list(frame["category"].to_pylist() if backend == "pyarrow" else frame["category"]) == ["a", "b"]
        columns = {name: np.asarray(frame[name]) for name in ("estimate", "standard_error", "lower", "upper")}
        assert columns["estimate"] == pytest.approx(estimate.proportions)
        assert columns["standard_error"] == pytest.approx(estimate.standard_errors)
        assert np.stack([columns["lower"], columns["upper"]], axis=1) == pytest.approx(estimate.interval(0.8))

    def test_compares_pickles_and_shows_itself(self) -> None:
        estimate = mw.estimate(random_tally(mw.designs.rappor(["<a>", "b"], epsilon=1), 50, 1))
        copy = pickle.loads(pickle.dumps(estimate))
        assert copy == estimate
        assert (copy.proportions == estimate.proportions).all()
        assert estimate != mw.estimate(estimate.tally, "moments")
        assert repr(estimate) == "<linear estimate of 2 proportions from 50 rappor reports>"
        assert "&lt;a&gt;" in estimate._repr_html_()

    def test_large_k_needs_no_square_table(self) -> None:
        """Standard errors and limits of 10,000 categories, without the 800 MB of their covariance."""
        design = mw.designs.minimax(10_000, epsilon=1)
        estimate = mw.estimate(design.mask(np.arange(200) * 50, seed=1))
        assert estimate.proportions.sum() == pytest.approx(1)
        assert np.isfinite(estimate.interval()).all()
        assert "covariance" not in vars(estimate)


def _estimate() -> mw.Estimate:
    return mw.estimate(mw.Tally.from_counts(mw.designs.rappor(3, epsilon=1), np.ones(8, int)))


SINGULAR = [["1/2", "0", "1/4"], ["0", "1/2", "1/4"], ["1/2", "1/2", "1/2"]]
REFUSED: dict[str, tuple[Any, str]] = {
    "method": (lambda: mw.estimate(_estimate().tally, "magic"), "linear, moments"),
    "not a tally": (lambda: mw.estimate([1, 2, 3]), "needs a Tally or Reports; got list"),
    "no reports": (lambda: mw.estimate(mw.designs.direct(2).mask([], seed=1)), "no reports"),
    "level": (lambda: _estimate().interval(95), "level must lie between 0 and 1; got 95"),
    "level of a contrast": (lambda: _estimate().contrast([1, 0, 0]).interval(0), "level must lie between 0 and 1"),
    "kind": (lambda: _estimate().interval(0.9, "bayes"), "wilson, wald, clopper-pearson; got 'bayes'"),
    "exact limits of sizes": (lambda: _estimate().interval(0.9, "clopper-pearson"), "method='moments'"),
    "unknown label": (lambda: _estimate().contrast({"x": 1}), "'x', which is not a category"),
    "scores": (lambda: _estimate().contrast([1, 2]), "scores must be 3 finite numbers"),
    "scores not finite": (lambda: _estimate().contrast([1, 2, math.nan]), "scores must be 3 finite numbers"),
    "singular": (lambda: mw.estimate(expected_tally(mw.designs.from_matrix(SINGULAR), [0, 0, 1])), "cannot estimate"),
    "collapsed": (
        lambda: mw.estimate(mw.Tally.from_counts(mw.designs.collapse(3, groups=[[0, 1], [2]]), [1, 1])),
        "collapse cannot estimate the categories 0, 1",
    ),
    "full set": (
        lambda: mw.estimate(expected_tally(SubsetDesign((0, 1), (2,), (2**64,), (0,), name="full"), [0.5, 0.5])),
        "nothing can be estimated",
    ),
}


@pytest.mark.parametrize(("call", "says"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_is_said_in_one_line(call: Any, says: str) -> None:
    with pytest.raises(mw.EstimationError) as refused:
        call()
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_exact_fractions_need_no_rounding_to_be_unbiased() -> None:
    """The scores that the package uses, times the exact matrix, are the identity up to float rounding."""
    design = mw.designs.from_matrix([["2/3", "1/6"], ["1/3", "5/6"]])
    by_report = [mw.estimate(mw.Tally.from_counts(design, row)).proportions for row in np.eye(2, dtype=int)]
    product = np.array(by_report).T @ design.matrix(exact=True).astype(float)
    assert product == pytest.approx(np.eye(2))
    assert design.exact_parity() == Fraction(4)


def test_intervals_of_two_people_name_both() -> None:
    found = mw.estimate(mw.designs.warner(truth_prob=0.8).mask(["yes", "no"] * 40, seed=1))
    assert "95 % interval (Clopper-Pearson)" in "\n".join(summary_lines(found, 0.95, "clopper-pearson"))
