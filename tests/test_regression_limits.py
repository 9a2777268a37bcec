"""Data on which a regression has no answer: each ends, soon, in one line that says why.

Every case counts how often the likelihood was worked out, so that none can go on for ever on more records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell.inference.regression.corrected import Corrected
from maskwell.inference.regression.likelihood import Likelihood

N = 400
LEVELS = ["never", "once", "often"]
# A fit that has an answer takes about ten; none of these takes as many as a thousand.
MOST_EVALUATIONS = 250
METHODS = ["likelihood", "corrected"]
RANDOM = np.random.default_rng(5)
AGE = RANDOM.normal(size=N)
HABIT = RANDOM.integers(3, size=N)
USED = np.where(RANDOM.random(N) < 0.4, "yes", "no")
YES_NO = ["yes", "no"]


def habit(codes: Any = HABIT, epsilon: float = 3.0) -> mw.Reports:
    return mw.designs.minimax(LEVELS, epsilon=epsilon).mask(np.array(LEVELS)[codes], seed=1, question="habit")


def used(truth: Any = USED, design: Any = None) -> mw.Reports:
    return (design or mw.designs.warner(truth_prob=0.85)).mask(truth, seed=2, question="used")


@pytest.fixture
def evaluations(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often sums over all records were made."""
    count: Counter[str] = Counter()

    def counted(of: Any, name: str) -> Callable[..., Any]:
        original = getattr(of, name)

        def call(self: Any, *args: Any, **options: Any) -> Any:
            count[name] += 1
            return original(self, *args, **options)

        return call

    for of, name in (
        (Likelihood, "evaluate"),
        (Likelihood, "value"),
        (Likelihood, "complete"),
        (Corrected, "evaluate"),
    ):
        monkeypatch.setattr(of, name, counted(of, name))
    yield count
    assert sum(count.values()) <= MOST_EVALUATIONS, count


def refused(evaluations: Counter[str], formula: str, data: Any, **options: Any) -> str:
    with pytest.raises(mw.MaskwellError) as caught:
        mw.regress(formula, data, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def tried(formula: str, data: Any, **options: Any) -> tuple[Any, str]:
    """The fit, or the line that refuses it."""
    try:
        return mw.regress(formula, data, **options), ""
    except mw.EstimationError as refusal:
        return None, str(refusal)


NOT_FOUND = ("no finite estimate", "next to nothing", "no root", "no clear")
EXACT = {
    "a column": 1 + 2 * AGE,
    "the masked predictor": 1 + 2.0 * (HABIT == 1) - (HABIT == 2),
    "both": 1 + AGE + 2.0 * (HABIT == 1),
    "whole numbers": 3.0 * (AGE > 0),
}


@pytest.mark.parametrize("what", EXACT)
def test_an_outcome_without_residuals_is_told_so(evaluations: Counter[str], what: str) -> None:
    data = {"age": AGE, "old": (AGE > 0) * 1.0, "number": EXACT[what]}
    masked = {"habit": habit()}
    told = refused(evaluations, "number ~ age + old + habit", data, masked=masked, family="normal")
    assert "give the outcome exactly" in told


@pytest.mark.parametrize("what", ["a column", "whole numbers"])
def test_corrected_scores_tell_it_too(evaluations: Counter[str], what: str) -> None:
    data = {"age": AGE, "old": (AGE > 0) * 1.0, "number": EXACT[what]}
    masked = {"habit": habit()}
    told = refused(evaluations, "number ~ age + old + habit", data, masked=masked, family="normal", method="corrected")
    assert "give the outcome exactly" in told


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("noise", [1.0, 0.1, 0.001])
def test_an_outcome_with_small_residuals_is_fitted(evaluations: Counter[str], method: Any, noise: float) -> None:
    """Predictors that explain more than half of the variance make the Hessian at the start indefinite."""
    residual = noise * np.random.default_rng(8).normal(size=N)
    data = {"age": AGE, "number": 1 + 2 * AGE + residual}
    fit = mw.regress("number ~ age + habit", data, masked={"habit": habit()}, family="normal", method=method)
    assert np.abs(fit.params.to_numpy() - [1, 2, 0, 0]).max() < 5 * fit.standard_errors.max() < noise
    assert fit.scale == pytest.approx(noise, rel=0.2)


def test_corrected_residuals_below_zero_are_told(evaluations: Counter[str]) -> None:
    """Where a masked predictor gives the outcome, corrected squares scatter around 0: below it there is no scale."""
    found = []
    for seed in range(6):
        codes = np.random.default_rng(seed).integers(3, size=N)
        reports = mw.designs.minimax(LEVELS, epsilon=3).mask(np.array(LEVELS)[codes], seed=seed, question="habit")
        data = {"number": 2.0 * codes}
        fit, told = tried("number ~ habit", data, masked={"habit": reports}, family="normal", method="corrected")
        if fit is None:
            found.append(told)
        else:
            assert np.abs(fit.params.to_numpy() - [0, 2, 4]).max() < 6 * fit.standard_errors.max()
        evaluations.clear()
    assert found
    assert all("not above 0" in told and "method='likelihood'" in told for told in found)


@pytest.mark.parametrize("method", METHODS)
def test_collinear_predictors_are_named(evaluations: Counter[str], method: Any) -> None:
    data = {"age": AGE, "months": 12 * AGE, "always": np.ones(N)}
    masked = {"used": used()}
    assert "cannot tell 'age', 'months' apart" in refused(
        evaluations, "used ~ age + months", data, masked=masked, method=method
    )
    assert "cannot tell 'Intercept', 'always' apart" in refused(
        evaluations, "used ~ always", data, masked=masked, method=method
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("truth", YES_NO)
def test_a_constant_masked_outcome_is_an_estimate_or_is_refused(
    evaluations: Counter[str], method: Any, truth: str
) -> None:
    """By chance the reports show a few more, or fewer, than the masks alone would: then there is a share, or none."""
    reports = used(np.repeat(truth, N))
    fit, told = tried("used ~ 1", None, masked={"used": reports}, method=method)
    if fit is None:
        assert any(words in told for words in NOT_FOUND), told
    else:
        chance = 1 / (1 + np.exp(-fit.params.to_numpy()[0]))
        assert abs(chance - (truth == "yes")) < 0.2
        assert fit.standard_errors.to_numpy()[0] > 0.3


def test_an_open_constant_outcome_is_refused(evaluations: Counter[str]) -> None:
    masked = {"habit": habit()}
    constant = {"flag": np.repeat("on", N), "number": np.full(N, 0.1)}
    assert "two categories; 'flag' has 1" in refused(evaluations, "flag ~ habit", constant, masked=masked)
    assert "not always the same" in refused(evaluations, "number ~ habit", constant, masked=masked, family="normal")
    direct = used(np.repeat("no", N), mw.designs.direct(YES_NO))
    assert "no finite estimate" in refused(evaluations, "used ~ 1", None, masked={"used": direct})


@pytest.mark.parametrize("family", ["logit", "probit", "cloglog"])
@pytest.mark.parametrize("method", METHODS)
def test_separation_of_a_masked_outcome_is_said(evaluations: Counter[str], family: Any, method: Any) -> None:
    """Older people all use it, younger ones never do."""
    reports = used(np.where(AGE > 0, "yes", "no"))
    data = {"old": (AGE > 0) * 1.0, "age": AGE}
    fit, told = tried("used ~ old", data, masked={"used": reports}, family=family, method=method)
    if fit is None:
        assert any(words in told for words in NOT_FOUND), told
    else:
        # The masks leave open whether one or two of them are otherwise: a large effect, and uncertain.
        assert fit.params["old"] > 2
        assert fit.standard_errors["old"] > 0.3


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", ["logit", "identity"])
def test_as_few_records_as_parameters_are_refused(evaluations: Counter[str], method: Any, family: Any) -> None:
    one = {"used": used(np.array(["yes"]))}
    assert "1 records" in refused(evaluations, "used ~ 1", None, masked=one, method=method, family=family)
    two = {"used": used(np.array(["yes", "no"]))}
    assert "2 records" in refused(
        evaluations, "used ~ age", {"age": [1.0, 2.0]}, masked=two, method=method, family=family
    )
    weightless = mw.Sample(weights=[1.0, *np.zeros(N - 1)])
    assert "1 records (with a weight)" in refused(
        evaluations, "used ~ 1", None, masked={"used": used()}, method=method, family=family, sample=weightless
    )


@pytest.mark.parametrize("method", METHODS)
def test_nothing_to_fit_is_refused(evaluations: Counter[str], method: Any) -> None:
    nothing = replace(used(), missing=np.ones(N, np.bool_))
    for missing, words in (("refuse", "lack a value"), ("drop", "every record lacks some value")):
        told = refused(
            evaluations, "used ~ age", {"age": AGE}, masked={"used": nothing}, missing=missing, method=method
        )
        assert words in told
    half = mw.designs.warner(truth_prob=0.85).mask([None] * 200 + ["yes", "no"] * 100, missing="keep", seed=1)
    told = refused(
        evaluations,
        "used ~ age",
        {"age": AGE},
        masked={"used": half},
        missing="drop",
        method=method,
        sample=mw.Sample(weights=np.repeat([1.0, 0.0], 200)),
    )
    assert "have no weight" in told


@pytest.mark.parametrize("method", METHODS)
def test_a_category_that_was_never_reported_is_said(evaluations: Counter[str], method: Any) -> None:
    direct = mw.designs.direct(LEVELS)
    reports = direct.mask(np.array(LEVELS)[HABIT % 2], question="habit")  # nobody reports "often"
    data = {"age": AGE, "number": AGE + RANDOM.normal(size=N)}
    for family in ("multinomial", "cumulative"):
        told = refused(evaluations, "habit ~ age", data, masked={"habit": reports}, family=family, method=method)
        assert any(words in told for words in ("no finite estimate", "nobody is in 'often'", "no root")), told
        evaluations.clear()
    told = refused(evaluations, "number ~ habit", data, masked={"habit": reports}, family="normal", method=method)
    assert any(words in told for words in ("never occurs", "tell nothing about", "no root", "apart")), told


def test_a_table_that_is_none_is_called_data() -> None:
    with pytest.raises(mw.DataError, match="data must be a data frame or a mapping") as caught:
        mw.regress("used ~ age", 3, masked={"used": used()})
    assert caught.value.parameter == "data"
    with pytest.raises(mw.DataError, match="data has no column 'age'"):
        mw.regress("used ~ age", {"aged": AGE}, masked={"used": used()})


def test_a_sample_of_one_cluster_tells_no_errors(evaluations: Counter[str]) -> None:
    alone = mw.Sample(weights=np.ones(N), clusters=np.zeros(N, int), lonely="certainty")
    openly = used(design=mw.designs.direct(YES_NO))
    for method in METHODS:
        said = refused(evaluations, "used ~ age", {"age": AGE}, masked={"used": openly}, sample=alone, method=method)
        assert "the sample (0 degrees of freedom) shows no variance" in said
    # All of a population that is one cluster: the masks vary, and p-values agree with limits.
    everybody = mw.Sample(weights=np.ones(N), clusters=np.zeros(N, int), fpc=np.ones(N))
    fit = mw.regress("used ~ age", {"age": AGE}, masked={"used": used()}, sample=everybody)
    assert fit.degrees_of_freedom == 0
    robust = mw.regress("used ~ age", {"age": AGE}, masked={"used": used()}, cov_type="robust")
    assert (0.4 * robust.standard_errors < fit.standard_errors).all()
    assert (fit.standard_errors < 0.95 * robust.standard_errors).all()
    at = float(fit.pvalues["age"])
    assert min(np.abs(fit.interval(1 - at)[1])) == pytest.approx(0, abs=1e-6)
