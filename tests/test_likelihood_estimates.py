"""What an estimate by likelihood offers: intervals, weights, covariances, and one respondent's posterior.

Data come from fixed seeds; statistical tests state their false-alarm rates.
"""

import math
import pickle
from typing import Any

import numpy as np
import pytest
from scipy import stats

import maskwell as mw
from maskwell.errors import EstimationError, ReportError
from maskwell.inference import individual_leakage, posterior
from maskwell.inference.draws import draw_codes
from maskwell.inference.likelihood.estimate import Distinct, LikelihoodEstimate, safe_start
from maskwell.inference.likelihood.kernels import chances
from maskwell.inference.likelihood.maximum import maximise
from maskwell.inference.likelihood.report_rows import (
    mixed,
)
from maskwell.inference.simplex import project
from tests.likelihood_helpers import EXAMPLES, RACE, RACES, check, design_of, fitted, generator, masked, populations


class TestIntervals:
    def test_profile_limits_are_where_the_drop_reaches_the_quantile(self) -> None:
        estimate = fitted(mw.designs.uniform_subsets(5), RACE, 800, 2)
        limits = estimate.interval(method="profile")
        assert ((limits[:, 0] <= estimate.proportions) & (estimate.proportions <= limits[:, 1])).all()
        sample, half = estimate.distinct, stats.chi2.ppf(0.95, 1) / 2
        for j, ends in enumerate(limits):
            for end in ends[(ends > 0) & (ends < 1)]:
                rows = mixed(sample.rows, j, float(end))
                rest = np.delete(np.arange(5), j)
                start = np.bincount(rest, minlength=5) / 4
                fit = maximise(rows, sample.counts, start, without=j)
                assert fit.proportions[j] == 0
                drop = estimate.log_likelihood - sample.counts @ np.log(chances(rows, fit.proportions))
                assert drop == pytest.approx(half, abs=1e-3)

    def test_profile_limits_of_a_binomial_are_the_textbook_ones(self) -> None:
        estimate = mw.estimate(mw.Tally.from_counts(mw.designs.direct(2), [9, 1]), "likelihood")
        low, high = estimate.interval(method="profile")[0]
        for p in (low, high):
            drop = 9 * math.log(0.9 / p) + math.log(0.1 / (1 - p))
            assert 2 * drop == pytest.approx(stats.chi2.ppf(0.95, 1), abs=1e-4)
        none = mw.estimate(mw.Tally.from_counts(mw.designs.direct(2), [10, 0]), "likelihood")
        ends = none.interval(method="profile")
        assert ends[0].tolist() == pytest.approx([math.exp(-stats.chi2.ppf(0.95, 1) / 20), 1.0])
        assert ends[1, 0] == 0.0

    def test_coverage(self) -> None:
        """Profile limits cover at least nearly as often as they say, also where most estimates are 0.

        200 samples of the race example: a proportion covered 92.5 % of the time or more has less than 200 x the
        binomial quantile at 1e-4 with that probability, so a false alarm is below 1e-4 for each of 5 categories.
        """
        design, n, runs = mw.designs.uniform_subsets(5), 500, 200
        covered = np.zeros(5)
        for seed in range(runs):
            limits = fitted(design, RACE, n, seed).interval(method="profile")
            covered += (limits[:, 0] <= RACE) & (limits[:, 1] >= RACE)
        assert (covered >= stats.binom.ppf(1e-4, runs, 0.925)).all()

    def test_bootstrap_limits_repeat_and_follow_the_boundary(self) -> None:
        estimate = fitted(mw.designs.uniform_subsets(5), RACE, 500, 3)
        limits = estimate.interval(method="bootstrap")
        assert (limits == estimate.interval(method="bootstrap", seed=5)).all()  # all reports are listed, none drawn
        assert ((limits >= 0) & (limits <= 1) & (limits[:, :1] <= limits[:, 1:])).all()
        assert limits[0, 0] == 0
        inside = fitted(mw.designs.uniform_subsets(4), np.array([0.4, 0.3, 0.2, 0.1]), 3_000)
        assert inside.interval(method="bootstrap") == pytest.approx(inside.interval(method="profile"), abs=2e-3)

    def test_bootstrap_limits_of_sets_too_many_to_list_come_from_a_sample(self) -> None:
        estimate = fitted(mw.designs.uniform_subsets(16), np.arange(16) / 120, 2_000)
        limits = estimate.interval(method="bootstrap", seed=1)
        assert (limits == estimate.interval(method="bootstrap", seed=1)).all()
        other = estimate.interval(method="bootstrap")
        assert (other == estimate.interval(method="bootstrap")).all()
        assert 0 < np.abs(other - limits).max() < 0.1 * np.diff(limits).max()
        assert limits == pytest.approx(estimate.interval(method="profile"), abs=0.2 * np.diff(limits).max())

    @pytest.mark.parametrize("method", ["likelihood", "one-step"])
    def test_bootstrap_limits_of_direct_answers_are_exact(self, method: Any) -> None:
        """For one category of a direct question the count is binomial, and the limits those of Clopper and Pearson."""
        tally = mw.Tally.from_counts(mw.designs.direct(3), [3, 20, 37])
        exact = mw.estimate(tally).interval(method="clopper-pearson")
        assert mw.estimate(tally, method).interval(method="bootstrap") == pytest.approx(exact, abs=2e-3)

    def test_shares_that_sum_to_1_up_to_rounding_can_be_drawn(self) -> None:
        """Floats with a sum of 1 + 2^-53 made weights out of 2^64 + 2048, in one of ten estimates with a zero."""
        for seed in range(200):
            shares = np.append(generator(seed).dirichlet(np.ones(6)), 0.0)
            shares = project(shares * (1 + 2**-52))
            codes = draw_codes(shares, 50, seed)
            assert len(codes) == 50
            assert (codes < 6).all()

    @pytest.mark.parametrize("population", [[0, 0, 0.3, 0.7], [0, 1, 0, 0], [0.01, 0.01, 0.01, 0.97]])
    def test_bootstrap_limits_exist_wherever_shares_are_0(self, population: list[float]) -> None:
        for seed in range(25):
            reports = masked(mw.designs.rappor(4, epsilon=3), np.array(population), 60, seed)
            for method in ("likelihood", "one-step"):
                limits = mw.estimate(reports, method).interval(method="bootstrap")  # type: ignore[arg-type]
                assert ((limits >= 0) & (limits <= 1)).all()

    def test_bootstrap_of_labels_and_of_several_variables(self) -> None:
        design = mw.designs.product(mw.designs.warner(truth_prob=0.8), mw.designs.gamma_diagonal(3, gamma=5))
        values = {"x1": ["yes", "no"] * 50, "x2": [0, 1, 2, 0] * 25}
        estimate = mw.estimate(design.mask(values, seed=1), method="likelihood")
        limits = estimate.interval(method="bootstrap")
        assert limits.shape == (6, 2)

    def test_simultaneous_limits_are_wider(self) -> None:
        estimate = fitted(mw.designs.uniform_subsets(4), np.array([0.4, 0.3, 0.2, 0.1]), 2_000)
        for method in ("wald", "profile"):
            assert (np.diff(estimate.interval(0.95, method, True)) > np.diff(estimate.interval(0.95, method))).all()

    def test_an_unknown_kind_is_refused(self) -> None:
        estimate = fitted(mw.designs.uniform_subsets(4), np.full(4, 0.25), 100)
        with pytest.raises(EstimationError, match="wald, profile, bootstrap"):
            estimate.interval(method="wilson")  # type: ignore[arg-type]
        with pytest.raises(EstimationError, match="level"):
            estimate.interval(level=1.5)


class TestWeights:
    def test_equal_weights_change_nothing(self) -> None:
        design = mw.designs.uniform_subsets(4)
        reports = masked(design, np.array([0.4, 0.3, 0.2, 0.1]), 3_000, 1)
        plain = mw.estimate(reports, method="likelihood")
        weighted = mw.estimate(reports.tally(np.full(3_000, 2.5), patterns=True), method="likelihood")
        assert weighted.proportions == pytest.approx(plain.proportions, abs=1e-6)
        assert weighted.covariance == pytest.approx(plain.covariance, rel=1e-4)
        assert (plain.cov_type, weighted.cov_type) == ("observed information", "sandwich")

    def test_whole_weights_repeat_reports(self) -> None:
        for design in (mw.designs.uniform_subsets(4), mw.designs.gamma_diagonal(4, epsilon=2.0)):
            reports = masked(design, np.full(4, 0.25), 400, 1)
            times = generator(3).integers(1, 4, 400)
            repeated = mw.Reports(design, np.repeat(reports.packed, times, axis=0))
            weighted = mw.estimate(reports.tally(times, patterns=True), method="likelihood")
            assert weighted.proportions == pytest.approx(
                mw.estimate(repeated, method="likelihood").proportions, abs=1e-5
            )

    def test_with_a_direct_question_it_is_the_textbook_estimate(self) -> None:
        design, random = mw.designs.direct(3), generator(1)
        values, weights = random.integers(0, 3, 500), random.random(500) + 0.5
        estimate = mw.estimate(design.mask(values).tally(weights), method="likelihood")
        shares = np.array([weights[values == j].sum() for j in range(3)]) / weights.sum()
        residuals = (values[:, None] == np.arange(3)) - shares
        linearised = (weights[:, None] ** 2 * residuals**2).sum(axis=0) / weights.sum() ** 2
        assert estimate.proportions == pytest.approx(shares, abs=1e-9)
        assert estimate.variances == pytest.approx(linearised, rel=1e-9)

    def test_sandwich_holds_in_samples(self) -> None:
        """Weights that go with the answer, 300 samples; false alarm 1e-6 a category."""
        design, n, runs, random = mw.designs.uniform_subsets(4), 1_500, 300, generator(9)
        population, weight_of = np.array([0.1, 0.4, 0.2, 0.3]), np.array([4.0, 1.0, 2.0, 1.0])
        found, claimed = [], []
        for seed in range(runs):
            values = random.choice(4, n, p=population)
            tally = design.mask(values, seed=seed).tally(weight_of[values], patterns=True)
            estimate = mw.estimate(tally, method="likelihood")
            found.append(estimate.proportions)
            claimed.append(estimate.variances)
        low, high = stats.chi2.ppf([5e-7, 1 - 5e-7], runs - 1) / (runs - 1)
        ratio = np.var(found, axis=0, ddof=1) / np.mean(claimed, axis=0)
        assert ((ratio > low) & (ratio < high)).all()
        target = population * weight_of / (population @ weight_of)
        assert (np.abs(np.mean(found, axis=0) - target) < 5 * np.sqrt(np.mean(claimed, axis=0) / runs)).all()

    def test_other_intervals_need_equal_weights(self) -> None:
        tally = masked(mw.designs.uniform_subsets(4), np.full(4, 0.25), 200, 1).tally(np.ones(200), patterns=True)
        for kind in ("profile", "bootstrap"):
            with pytest.raises(EstimationError, match="use wald"):
                mw.estimate(tally, method="likelihood").interval(method=kind)


class TestEstimates:
    def test_a_tally_without_patterns_says_what_to_do(self) -> None:
        reports = masked(mw.designs.uniform_subsets(4), np.full(4, 0.25), 100, 0)
        with pytest.raises(EstimationError, match=r"reports\.tally\(patterns=True\)"):
            mw.estimate(reports.tally(), method="likelihood")
        from_reports, from_tally = (
            mw.estimate(reports, "likelihood"),
            mw.estimate(reports.tally(patterns=True), "likelihood"),
        )
        assert (from_reports.proportions == from_tally.proportions).all()

    def test_counts_are_enough_where_a_report_is_one_category_or_row(self) -> None:
        for design in (mw.designs.gamma_diagonal(4, epsilon=1.0), mw.designs.from_matrix([[0.5, 0.1], [0.5, 0.9]])):
            reports = masked(design, np.full(design.k, 1 / design.k), 100, 0)
            check(mw.estimate(reports.tally(), method="likelihood"), 100)

    def test_an_unknown_method_is_refused(self) -> None:
        tally = mw.Tally.from_counts(mw.designs.direct(2), [1, 1])
        with pytest.raises(EstimationError, match="likelihood, one-step"):
            mw.estimate(tally, method="best")  # type: ignore[arg-type]

    def test_linear_estimates_have_no_gap(self) -> None:
        estimate = mw.estimate(mw.Tally.from_counts(mw.designs.direct(2), [1, 1]))
        assert estimate.gap is None
        assert estimate.cov_type == "exact"

    def test_the_summary_is_honest_about_the_boundary(self) -> None:
        tally = mw.Tally.from_counts(mw.designs.warner(truth_prob=0.75), [90, 10])
        estimate = mw.estimate(tally, method="likelihood")
        assert isinstance(estimate, LikelihoodEstimate)
        assert estimate.at_zero == ("no",)
        text = estimate.summary()
        assert "interval (Wald)" in text
        assert "estimated at 0: 'no'" in text
        assert "within" in text
        inside = mw.estimate(mw.Tally.from_counts(mw.designs.warner(truth_prob=0.75), [60, 40]), "likelihood")
        assert "estimated at 0" not in inside.summary()

    def test_what_the_reports_do_not_determine(self) -> None:
        """Groups are told apart, their members are not: totals have standard errors, single categories none."""
        tally = mw.Tally.from_counts(mw.designs.collapse(4, groups=[[0, 1], [2, 3]]), [30, 70])
        estimate = mw.estimate(tally, method="likelihood")
        assert isinstance(estimate, LikelihoodEstimate)
        check(estimate, 100)
        assert estimate.undetermined == (0, 1, 2, 3)
        assert np.isinf(estimate.standard_errors).all()
        assert estimate.interval().tolist() == [[0.0, 1.0]] * 4
        first = estimate.contrast([1, 1, 0, 0])
        assert first.value == pytest.approx(0.3, abs=1e-6)
        assert first.standard_error == pytest.approx(math.sqrt(0.3 * 0.7 / 100), rel=1e-6)
        assert estimate.contrast({0: 1}).standard_error == math.inf
        assert "not determined" in estimate.summary()
        with pytest.raises(EstimationError, match="do not determine"):
            _ = estimate.covariance
        profile = estimate.interval(method="profile")
        assert profile[:, 0].tolist() == [0.0] * 4
        assert profile[2, 1] == pytest.approx(profile[3, 1])

    def test_contrast_frame_and_pickle(self) -> None:
        estimate = fitted(mw.designs.uniform_subsets(4), np.array([0.4, 0.3, 0.2, 0.1]), 2_000)
        contrast = estimate.contrast({0: 1.0, 1: -1.0})
        vector = np.array([1.0, -1.0, 0.0, 0.0])
        assert contrast.value == pytest.approx(vector @ estimate.proportions)
        assert contrast.standard_error == pytest.approx(math.sqrt(vector @ estimate.covariance @ vector))
        assert list(estimate.to_frame()["estimate"]) == estimate.proportions.tolist()
        again = pickle.loads(pickle.dumps(estimate))
        assert again == estimate
        assert (again.proportions == estimate.proportions).all()
        assert (again.interval() == estimate.interval()).all()

    def test_several_variables(self) -> None:
        """With direct questions the joint likelihood is the table of counts; masked, marginals agree with sums."""
        random = generator(2)
        table = np.stack([random.integers(0, 2, 4_000), random.integers(0, 3, 4_000)], axis=1)
        direct = mw.designs.product(mw.designs.direct(2), mw.designs.direct(3), names=["a", "b"])
        counts = np.histogram2d(*table.T, bins=[2, 3])[0]
        estimate: Any = mw.estimate(direct.mask(table), method="likelihood")
        assert estimate.table == pytest.approx(counts / 4_000, abs=1e-9)
        hidden = mw.designs.product(mw.designs.gamma_diagonal(2, gamma=9), mw.designs.local_diversity(3, l=2))
        joint: Any = mw.estimate(hidden.mask(table, seed=1), method="likelihood")
        check(joint, 4_000)
        for axis, name in enumerate(("x1", "x2")):
            alone = joint.marginal(name)
            assert np.abs(joint.table.sum(axis=1 - axis) - alone.proportions).max() < alone.standard_errors.max()
        assert joint.conditional(of={"x2": 1}, given={"x1": 0}).value == pytest.approx(1 / 3, abs=0.1)

    def test_the_start_makes_every_report_possible(self) -> None:
        for design in (mw.designs.local_diversity(30, l=2), mw.designs.direct(30)):
            for seed, population in enumerate(populations(30, 2)):
                tally = masked(design, population, 60, seed).tally(patterns=True)
                rows = Distinct.of(tally).rows
                start = safe_start(tally, rows)
                assert chances(rows, start).min() > 0
                assert start.sum() == pytest.approx(1)


class TestPosterior:
    @pytest.mark.parametrize(("function", "example"), EXAMPLES)
    def test_it_is_bayes_rule(self, function: Any, example: dict[str, Any]) -> None:
        design = design_of(function, example)
        population = populations(design.k, 1)[0]
        matrix = design.matrix()
        for row, label in zip(matrix, design.report_labels(), strict=True):
            if row.any():
                expected = row * population / (row @ population)
                assert posterior(design, label, population) == pytest.approx(expected, rel=1e-12)

    def test_leakage_of_the_race_example(self) -> None:
        """wang-ding-2021, Figure 3: means of the individual measures over reports (values in nats and bits checked)."""
        design = mw.designs.uniform_subsets(RACES)
        chance = design.matrix() @ RACE
        each = [individual_leakage(design, label, RACE) for label in design.report_labels()]
        assert chance @ [leak.ruled_out for leak in each] == pytest.approx(0.15590, abs=5e-6)
        assert chance @ [leak.information for leak in each] == pytest.approx(0.40900, abs=5e-6)
        assert chance @ [leak.guess_chance for leak in each] == pytest.approx(0.92237, abs=5e-6)

    def test_the_urn_example(self) -> None:
        """wang-ding-2021, Example 2."""
        colours = ["black", "red", "green", "blue"]
        urn, shares = mw.designs.uniform_subsets(colours), np.array([0.01, 0.1, 0.2, 0.69])
        assert individual_leakage(urn, {"black", "red"}, shares).ruled_out == pytest.approx(0.89)
        coverage = [1 - individual_leakage(urn, label, shares).ruled_out for label in urn.report_labels()]
        assert (urn.matrix() @ shares) @ coverage == pytest.approx(0.6841, abs=5e-5)

    def test_an_estimate_serves_as_population(self) -> None:
        design = mw.designs.warner(truth_prob=0.75)
        tally = mw.Tally.from_counts(design, [90, 10])
        assert posterior(design, "no", mw.estimate(tally)).tolist() == [1.0, 0.0]
        reports = design.mask(["yes", "no", "no"], seed=1)
        each = posterior(design, reports, [0.3, 0.7])
        assert each.shape == (3, 2)
        for row, label in zip(each, reports.decode(), strict=True):
            assert row == pytest.approx(posterior(design, label, [0.3, 0.7]))

    def test_products(self) -> None:
        design = mw.designs.product(mw.designs.warner(truth_prob=0.8), mw.designs.local_diversity(3, l=2))
        shares = generator(1).dirichlet(np.ones(6))
        found = posterior(design, ("yes", {0, 2}), shares)
        by_hand = np.outer([0.8, 0.2], [0.5, 0, 0.5]).ravel() * shares
        assert found == pytest.approx(by_hand / by_hand.sum(), rel=1e-9)

    def test_bad_input(self) -> None:
        design = mw.designs.local_diversity(4, l=2)
        shares = [0.25] * 4
        for report in ({0}, {0, 1, 2}, {0, 9}, 7):
            with pytest.raises(ReportError, match="cannot produce"):
                posterior(design, report, shares)
        with pytest.raises(ReportError, match="cannot produce"):
            posterior(mw.designs.direct(2), "x", [0.5, 0.5])
        for wrong in ([0.5, 0.5], [0.5, 0.5, 0.5, -0.5], [0.1] * 4):
            with pytest.raises(EstimationError, match="proportions must be 4 numbers"):
                posterior(design, {0, 1}, wrong)
        with pytest.raises(EstimationError, match="cannot come from this population"):
            posterior(design, {0, 1}, [0, 0, 0.5, 0.5])
        with pytest.raises(ReportError, match="another design"):
            posterior(design, mw.designs.direct(4).mask([1]), shares)
        other = mw.estimate(mw.Tally.from_counts(mw.designs.direct(2), [1, 1]))
        with pytest.raises(EstimationError, match="other categories"):
            posterior(design, {0, 1}, other)
