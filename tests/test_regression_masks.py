"""What masks add to the variance of a total score: without bias, whatever the truth and the model are."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell.inference.regression.corrected import Corrected
from maskwell.inference.regression.families import FAMILIES
from maskwell.inference.regression.likelihood import Likelihood
from maskwell.inference.regression.masks import masking_variance
from maskwell.inference.regression.model_frame import model_frame

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


def test_each_arm_has_the_masks_of_its_own_design() -> None:
    n, rng = 30, np.random.default_rng(2)
    # Designs of three reports and of two, the second with its categories the other way round.
    sure = mw.designs.from_matrix([["1/2", "0"], ["1/4", "1/4"], ["1/4", "3/4"]], ["yes", "no"])
    designs = {"sure": sure, "spinner": mw.designs.warner(["no", "yes"], truth_prob=0.8)}
    groups, age = np.repeat(["sure", "spinner"], n), rng.normal(size=2 * n)
    reports = {arm: design.mask(rng.choice(["yes", "no"], n), seed=1) for arm, design in designs.items()}

    def variances(age: Any, used: Any) -> Any:
        frame = model_frame("used ~ age", {"age": age}, {"used": used}, "logit", "yes", "refuse")
        likelihood, theta = Likelihood(frame, FAMILIES["logit"](2), np.ones(frame.n)), np.array([-0.4, 0.7])
        scores = likelihood.evaluate(theta, scores=True).scores
        assert scores is not None
        return [masking_variance(likelihood, theta, scores, "likelihood", one) for one in np.eye(frame.n)]

    apart = [variances(age[groups == arm], reports[arm]) for arm in designs]
    np.testing.assert_allclose(variances(age, mw.arms(reports, groups)), np.concatenate(apart), atol=1e-12)


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
