"""What masks add to the variance of a total score: without bias, whatever the truth and the model are."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell.inference.regression.corrected import Corrected
from maskwell.inference.regression.families import FAMILIES
from maskwell.inference.regression.frame.model_frame import model_frame
from maskwell.inference.regression.likelihood import Likelihood
from maskwell.inference.regression.masks import masking_variance

LEVELS = ["never", "once", "often"]
HABIT = mw.designs.minimax(LEVELS, epsilon=1)
USED = mw.designs.warner(truth_prob=0.8)
MODELS: dict[str, tuple[str, str, dict[str, mw.designs.Design]]] = {
    "outcome": ("used ~ age", "probit", {"used": USED}),
    "categories": ("habit ~ age", "multinomial", {"habit": mw.designs.gamma_diagonal(LEVELS, epsilon=2)}),
    "ordered": ("habit ~ age", "cumulative", {"habit": HABIT}),
    "both": ("used ~ age + habit", "logit", {"used": USED, "habit": HABIT}),
    "number": ("weight ~ age + habit * used", "normal", {"habit": HABIT, "used": USED}),
}


@pytest.mark.parametrize("method", ["likelihood", "corrected"])
@pytest.mark.parametrize("model", MODELS)
def test_the_average_over_all_reports_is_the_variance_given_the_truth(model: str, method: str) -> None:
    """One person asked once for every combination of reports: all of their chances are known."""
    formula, family, designs = MODELS[model]
    kinds = np.indices([design.report_count() for design in designs.values()]).reshape(len(designs), -1)
    n = kinds.shape[1]
    rng = np.random.default_rng(4)
    data = {"age": np.append(rng.normal(size=1).repeat(n), rng.normal(size=40))}
    data["weight"] = np.append(np.full(n, 0.7), rng.normal(size=40))
    masked: dict[str, Any] = {}
    for at, (name, design) in enumerate(designs.items()):
        others = design.mask(rng.choice(design.categories, 40), seed=at)
        labels = [design.report_labels()[kind] for kind in kinds[at]] + list(others.decode())
        masked[name] = mw.Reports.of(design, labels)
    frame = model_frame(formula, data, masked, family, None, "refuse")
    likelihood = Likelihood(frame, FAMILIES[family](len(frame.outcome.categories)), np.ones(frame.n))
    asked = Corrected(frame, likelihood.family, likelihood.weights) if method == "corrected" else likelihood
    theta = likelihood.start()[: likelihood.outcome_size if method == "corrected" else None]
    theta = theta + 0.3 * rng.normal(size=len(theta))
    scores = asked.evaluate(theta, scores=True).scores
    assert scores is not None
    found = [masking_variance(likelihood, theta, scores, method, one) for one in np.eye(frame.n)[:n]]
    chances = np.array(
        [
            [
                np.prod([d.matrix()[kinds[at, row], truth[at]] for at, d in enumerate(designs.values())])
                for row in range(n)
            ]
            for truth in np.indices([d.k for d in designs.values()]).reshape(len(designs), -1).T
        ]
    )
    for chance in chances:
        centred = scores[:n] - chance @ scores[:n]
        expected = (centred * chance[:, None]).T @ centred
        np.testing.assert_allclose(np.tensordot(chance, np.array(found), 1), expected, atol=1e-10)


@pytest.mark.parametrize("method", ["likelihood", "corrected"])
def test_a_covariance_in_a_sample_is_the_formula(method: Any) -> None:
    """A third of one stratum and three quarters of the other, with weights that say so, and records without an age."""
    rng, design, p = np.random.default_rng(6), mw.designs.warner(truth_prob=0.8), 0.8
    sizes, population = np.array([400, 300]), np.array([1200, 400])
    stratum = np.repeat([0, 1], sizes)
    weights = (population / sizes)[stratum]
    age = rng.normal(size=700) + stratum
    age[rng.random(700) < 0.1] = np.nan
    reports = design.mask(np.where(rng.random(700) < 1 / (1 + np.exp(0.5 - np.nan_to_num(age))), "yes", "no"), seed=2)
    sample = mw.Sample(weights=weights, strata=stratum, fpc=population[stratum])
    options: dict[str, Any] = {"masked": {"used": reports}, "method": method, "missing": "drop", "sample": sample}
    fit = mw.regress("used ~ age", {"age": age}, **options)
    # By hand: scores of a yes and of a no, and of the truths that they stand for.
    there = ~np.isnan(age)
    x = np.column_stack([np.ones(700), np.nan_to_num(age)]) * there[:, None]
    mu = 1 / (1 + np.exp(-x @ np.asarray(fit.params)))
    told = (np.array([r == "yes" for r in reports.decode()]) - (1 - p)) / (2 * p - 1)  # without bias, 1 for a true yes
    if method == "corrected":
        score, truths = told - mu, (1 - mu, -mu)
    else:
        yes = (1 - p) + (2 * p - 1) * mu
        slope = mu * (1 - mu) * (2 * p - 1)
        of_yes, of_no = slope / yes, -slope / (1 - yes)
        score = np.where(told > 0, of_yes, of_no)
        truths = (p * of_yes + (1 - p) * of_no, (1 - p) * of_yes + p * of_no)
    masks = score**2 - told * truths[0] ** 2 - (1 - told) * truths[1] ** 2
    outer = np.zeros((2, 2))
    for h in range(2):
        here, f = stratum == h, sizes[h] / population[h]
        z = (weights * score)[here, None] * x[here]
        outer += (1 - f) * sizes[h] * np.cov(z, rowvar=False) + f * (x[here] * (weights**2 * masks)[here, None]).T @ x[
            here
        ]
    scale = there.sum() / weights[there].sum()
    bread = np.linalg.inv(fit.information)
    np.testing.assert_allclose(fit.covariance, scale**2 * bread @ outer @ bread, rtol=1e-8)
    open_share = 1 - (weights * sizes[stratum] / population[stratum])[there].sum() / weights[there].sum()
    truly = scale * weights * mu * (1 - mu)
    if method == "likelihood":
        np.testing.assert_allclose(
            fit.open_covariance, open_share * np.linalg.inv((x * truly[:, None]).T @ x), rtol=1e-8
        )
    assert "masking and the sample left" in fit.summary()
    assert "would be as telling" not in fit.summary()
    assert fit.people_needed.isna().all()
    free = mw.regress("used ~ age", {"age": age}, **options | {"sample": mw.Sample(weights=weights, strata=stratum)})
    assert (free.standard_errors > fit.standard_errors).all()
    assert "would be as telling as 700 open answers of a simple".replace("700", str(there.sum())) in free.summary()


def test_unequal_weights_cost_precision_by_either_method() -> None:
    rng, n = np.random.default_rng(5), 4000
    age, weights = rng.normal(size=n), rng.choice([1.0, 9.0], n)
    truth = np.where(rng.random(n) < 1 / (1 + np.exp(-age)), "yes", "no")
    sample, masked = mw.Sample(weights=weights), {"used": mw.designs.direct(["yes", "no"]).mask(truth)}
    for method in ("likelihood", "corrected"):
        fit = mw.regress("used ~ age", {"age": age}, masked=masked, method=method, sample=sample)
        np.testing.assert_allclose(fit.precision_kept, sample.effective_n() / n, rtol=0.1)


def test_arms_that_were_drawn_keep_their_variance() -> None:
    """Everybody is asked, and a coin says by which design; a likelihood's coefficients vary with coins and masks."""
    n, rng = 800, np.random.default_rng(3)
    age = rng.normal(size=n)
    truth = np.where(rng.random(n) < 1 / (1 + np.exp(-age)), "yes", "no")
    designs = {"open": mw.designs.direct(["yes", "no"]), "spinner": mw.designs.warner(truth_prob=0.8)}
    everybody = mw.Sample(fpc=np.full(n, n))

    def fitted(seed: int, method: str) -> Any:
        groups = np.random.default_rng(seed).permutation(np.repeat(list(designs), n // 2))
        reports = {arm: design.mask(truth[groups == arm], seed=seed) for arm, design in designs.items()}
        masked = {"used": mw.arms(reports, groups)}
        return mw.regress("used ~ age", {"age": age}, masked=masked, method=method, sample=everybody)

    for method in ("likelihood", "corrected"):
        fits = [fitted(seed, method) for seed in range(120)]
        found = np.std([fit.estimates for fit in fits], axis=0, ddof=1)
        stated = np.sqrt(np.mean([fit.standard_errors**2 for fit in fits], axis=0))
        # The deviation of 120 values has a standard error of 6.5 %; with the correction a likelihood would be at .6.
        assert (stated > 0.75 * found).all(), (method, stated / found)
        assert all(fit.correction_withheld == (method == "likelihood") for fit in fits)
        rejected = sum(fit.arms_test().p_value < 0.05 for fit in fits)
        assert rejected <= 17, method  # of 120 with a chance of .05: false alarm 1e-4


def test_what_was_not_masked_has_no_error_in_a_census() -> None:
    n, rng = 600, np.random.default_rng(1)
    age = rng.normal(size=n)
    truth = np.where(rng.random(n) < 1 / (1 + np.exp(-age)), "yes", "no")
    everybody = mw.Sample(fpc=np.full(n, n))
    masked = {"used": mw.designs.direct(["yes", "no"]).mask(truth)}
    for method in ("likelihood", "corrected"):
        with pytest.raises(mw.EstimationError, match="everybody has no errors of sampling"):
            mw.regress("used ~ age", {"age": age}, masked=masked, method=method, sample=everybody)
    # Women are asked openly, so that a share of what is fitted is known without any error.
    sex = np.where(rng.random(n) < 0.5, "f", "m")
    designs = {"f": mw.designs.direct(["yes", "no"]), "m": mw.designs.warner(truth_prob=0.8)}
    arms = mw.arms({each: design.mask(truth[sex == each], seed=4) for each, design in designs.items()}, sex)
    fit = mw.regress("used ~ sex", {"sex": sex}, masked={"used": arms}, method="corrected", sample=everybody)
    assert fit.correction_withheld
    assert (fit.standard_errors > 0.05).all()


def test_reports_of_too_many_kinds_keep_the_whole_variance_and_say_so() -> None:
    """``people`` are all of the population, so that without masks nothing would vary."""
    people, rng = 600, np.random.default_rng(8)
    age, few = rng.normal(size=people), [f"c{i}" for i in range(3)]
    everybody = mw.Sample(fpc=np.full(people, people))
    truth = rng.choice(few, people)
    for design, withheld in ((mw.designs.minimax(few, epsilon=1), False), (_wide(few), True)):
        reports = design.mask(truth, seed=3)
        options: dict[str, Any] = {"masked": {"habit": reports}, "family": "multinomial"}
        fit = mw.regress("habit ~ age", {"age": age}, sample=everybody, **options)
        whole = mw.regress("habit ~ age", {"age": age}, cov_type="robust", **options)
        assert fit.correction_withheld == withheld == ("correction_withheld" in fit.to_dict())
        assert ("its population correction is left out" in fit.summary()) == withheld
        if withheld:
            np.testing.assert_allclose(fit.covariance, whole.covariance, rtol=1e-6)
        else:
            assert (fit.standard_errors < whole.standard_errors).all()


def _wide(categories: list[str]) -> mw.designs.Design:
    """A design of 1,002 reports, each of which points a little to one of three categories."""
    return mw.designs.from_matrix(np.repeat(np.eye(3, dtype=int) + 1, 334, axis=0) * Fraction(1, 1336), categories)
