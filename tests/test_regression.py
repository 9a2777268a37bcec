"""Regression with masked variables: against statsmodels where nothing is masked, against numerical derivatives where
something is, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from formulaic import model_matrix
from scipy.stats import t as student
from statsmodels.miscmodels.ordinal_model import OrderedModel

import maskwell as mw
from maskwell.inference.regression.families import FAMILIES
from maskwell.inference.regression.frame.model_frame import model_frame
from maskwell.inference.regression.likelihood import Likelihood

N = 1500
LEVELS = ["never", "once", "often"]


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    """People with an age, a sex, a habit that depends on age, something used that depends on all, and a number."""
    random = np.random.default_rng(11)
    age, sex = random.normal(size=N), random.choice(["f", "m"], N)
    odds = np.column_stack([np.zeros(N), -0.3 + 0.5 * age, -0.8 + 0.3 * age])
    habit = np.array([random.choice(3, p=row) for row in np.exp(odds) / np.exp(odds).sum(1, keepdims=True)])
    chance = 1 / (1 + np.exp(0.5 - 0.6 * age - np.array([0, 0.7, 1.2])[habit]))
    used = np.where(random.random(N) < chance, "yes", "no")
    number = 1 + 0.5 * age + np.array([0.0, 1, 2])[habit] + 1.5 * random.normal(size=N)
    data = pd.DataFrame({"age": age, "sex": sex, "y": (used == "yes") * 1, "number": number})
    habits = np.array(LEVELS)[habit]
    masked = {
        "habit": mw.designs.minimax(LEVELS, epsilon=2).mask(habits, seed=2, question="habit"),
        "used": mw.designs.warner(truth_prob=0.85).mask(used, seed=3, question="used"),
    }
    seen = {
        "habit": mw.designs.direct(LEVELS).mask(habits),
        "used": mw.designs.direct(["yes", "no"]).mask(used),
    }
    return {"data": data, "masked": masked, "seen": seen, "habit": habits, "used": used}


@pytest.mark.parametrize("family", ["logit", "probit", "cloglog"])
@pytest.mark.parametrize("kind", ["observed", "opg", "robust"])
def test_an_open_outcome_is_what_statsmodels_fits(made: dict[str, Any], family: str, kind: Any) -> None:
    fit = mw.regress(
        "used ~ age + sex", made["data"], masked={"used": made["seen"]["used"]}, family=family, cov_type=kind
    )
    x = sm.add_constant(np.column_stack([made["data"]["age"], made["data"]["sex"] == "m"]).astype(float))
    y = made["data"]["y"].to_numpy()
    link = {"logit": sm.families.links.Logit, "probit": sm.families.links.Probit, "cloglog": sm.families.links.CLogLog}
    model = sm.GLM(y, x, family=sm.families.Binomial(link[family]()))
    other = model.fit(method="newton", tol=1e-12, maxiter=100)
    assert np.allclose(fit.params, other.params, atol=1e-6)
    scores = model.score_obs(other.params)
    inverse = np.linalg.inv(-model.hessian(other.params, observed=True))
    expected = {
        "observed": inverse,
        "opg": np.linalg.inv(scores.T @ scores),
        "robust": inverse @ scores.T @ scores @ inverse,
    }
    assert np.allclose(fit.covariance, expected[kind], rtol=1e-4)


def test_open_multinomial_cumulative_and_normal_outcomes_are_what_statsmodels_fits(made: dict[str, Any]) -> None:
    data, seen = made["data"], {"habit": made["seen"]["habit"]}
    codes = pd.Categorical(made["habit"], categories=LEVELS).codes
    x = np.column_stack([np.ones(N), data["age"], data["sex"] == "m"]).astype(float)
    fit = mw.regress("habit ~ age + sex", data, masked=seen, family="multinomial")
    other = sm.MNLogit(codes, x).fit(disp=0, tol=1e-12)
    assert np.allclose(fit.params, np.asarray(other.params).T.ravel(), atol=1e-6)
    assert np.allclose(fit.standard_errors, np.asarray(other.bse).T.ravel(), atol=1e-5)
    fit = mw.regress("habit ~ age + sex", data, masked=seen, family="cumulative")
    ordered = OrderedModel(codes, x[:, 1:], distr="logit").fit(method="bfgs", disp=0, gtol=1e-8)
    thresholds = ordered.model.transform_threshold_params(ordered.params)[1:-1]
    assert np.allclose(fit.params, np.concatenate([thresholds, ordered.params[:2]]), atol=1e-4)
    fit = mw.regress("number ~ age + habit", data, masked=seen, family="normal")
    frame = data.assign(habit=pd.Categorical(made["habit"], categories=LEVELS))
    least = smf.ols("number ~ age + habit", frame).fit()
    assert fit.params["age"] == pytest.approx(least.params["age"], abs=1e-8)
    assert fit.params["habit[T.often]"] == pytest.approx(least.params["habit[T.often]"], abs=1e-8)
    assert fit.scale == pytest.approx(np.sqrt(least.ssr / N), rel=1e-8)


def test_corrected_scores_of_open_answers_are_those_of_the_likelihood(made: dict[str, Any]) -> None:
    for formula, family in (("used ~ age + habit", "logit"), ("habit ~ age + used", "multinomial")):
        fits = [mw.regress(formula, made["data"], masked=made["seen"], family=family, method="corrected")]
        frame = made["data"].assign(used=made["used"], habit=pd.Categorical(made["habit"], categories=LEVELS))
        if family == "logit":
            other = sm.GLM.from_formula("y ~ age + habit", frame, family=sm.families.Binomial()).fit(cov_type="HC0")
            assert np.allclose(fits[0].params.sort_index(), other.params.sort_index(), atol=1e-6)
            assert np.allclose(fits[0].bse.sort_index(), other.bse.sort_index(), rtol=1e-4)
        else:
            assert np.allclose(fits[0].precision_kept, 1, atol=0.2)


CASES = [
    ("used ~ age + sex", "logit"),
    ("used ~ age", "probit"),
    ("used ~ age", "cloglog"),
    ("habit ~ age + sex", "multinomial"),
    ("habit ~ age", "cumulative"),
    ("y ~ age * habit", "logit"),
    ("number ~ age + habit", "normal"),
    ("used ~ age + habit", "probit"),
    ("habit ~ age + used", "cumulative"),
    ("number ~ habit * used", "normal"),
]


@pytest.mark.parametrize(("formula", "family"), CASES)
def test_gradient_and_information_are_the_derivatives_of_the_likelihood(
    made: dict[str, Any], formula: str, family: str
) -> None:
    frame = model_frame(formula, made["data"], made["masked"], family, None, "refuse")
    weights = np.random.default_rng(1).uniform(0.5, 2, N)
    likelihood = Likelihood(frame, FAMILIES[family](len(frame.outcome.categories)), weights)
    theta = likelihood.start() + 0.1 * np.random.default_rng(2).normal(size=likelihood.size)
    at = likelihood.evaluate(theta)
    assert at.value == pytest.approx(likelihood.value(theta), rel=1e-12)
    with_scores = likelihood.evaluate(theta, scores=True)
    assert with_scores.scores is not None
    assert np.allclose(weights @ with_scores.scores, at.gradient, atol=1e-8)
    assert np.allclose(with_scores.information, at.information, atol=1e-7 * np.abs(at.information).max())
    step = 1e-5
    for direction in np.eye(likelihood.size):
        up, down = likelihood.evaluate(theta + step * direction), likelihood.evaluate(theta - step * direction)
        assert (up.value - down.value) / (2 * step) == pytest.approx(float(at.gradient @ direction), rel=1e-4, abs=1e-3)
        slope = -(up.gradient - down.gradient) / (2 * step)
        assert np.allclose(slope, at.information @ direction, atol=1e-5 * np.abs(at.information).max())


@pytest.mark.parametrize(("formula", "family"), CASES)
@pytest.mark.parametrize("method", ["likelihood", "corrected"])
def test_a_fit_of_masked_variables_is_near_the_fit_of_the_truth(
    made: dict[str, Any], formula: str, family: str, method: Any
) -> None:
    """Within five standard errors of each coefficient: a false alarm about once in 10,000 runs of this file."""
    fit = mw.regress(formula, made["data"], masked=made["masked"], family=family, method=method)
    truth = mw.regress(formula, made["data"], masked=made["seen"], family=family, method=method)
    assert (np.abs(fit.params - truth.params) < 5 * fit.standard_errors).all()
    assert (fit.standard_errors > 0.9 * truth.standard_errors).all()
    assert np.abs(fit.gradient / np.sqrt(np.diagonal(fit.information))).max() < 1e-4
    assert fit.precision_kept.max() < 1.2


def test_a_product_and_separate_reports_give_the_same_fit(made: dict[str, Any]) -> None:
    both = mw.side_by_side(made["masked"])
    apart = mw.regress("used ~ age + habit", made["data"], masked=made["masked"])
    joint = mw.regress("used ~ age + habit", made["data"], masked={"both": both})
    assert np.allclose(apart.params, joint.params)


def test_arms_share_one_likelihood(made: dict[str, Any]) -> None:
    """Half the people were asked directly; the interaction with the arm asks whether masking changes what they say."""
    asked = np.where(np.arange(N) % 2, "open", "masked")
    used = made["used"]
    reports = {
        "open": mw.designs.direct(["yes", "no"]).mask(used[asked == "open"]),
        "masked": mw.designs.warner(truth_prob=0.85).mask(used[asked == "masked"], seed=5),
    }
    data = made["data"].assign(arm=asked)
    fit = mw.regress("used ~ age + arm", data, masked={"used": mw.arms(reports, asked)})
    alone = mw.regress("used ~ age", data[asked == "open"], masked={"used": reports["open"]})
    assert abs(fit.params["age"] - alone.params["age"]) < 3 * alone.bse["age"]
    assert fit.wald_test("arm").p_value > 1e-4
    assert fit.bse["age"] < alone.bse["age"]


@pytest.mark.parametrize("method", ["likelihood", "corrected"])
@pytest.mark.parametrize(("outcome", "family"), [("used", "logit"), ("habit", "multinomial"), ("habit", "cumulative")])
def test_whether_arms_agree_is_the_test_of_a_term_of_the_arm(
    made: dict[str, Any], outcome: str, family: str, method: Any
) -> None:
    """In level and in every coefficient; people who answer otherwise when they are asked directly are found out."""
    asked = np.where(np.arange(N) % 2, "masked", "open")
    truths = {"used": made["used"], "habit": made["habit"]}[outcome]
    designs = {
        "open": mw.designs.direct(sorted(set(truths), reverse=True)),
        "masked": made["masked"][outcome].design,
    }
    data, options = made["data"].assign(arm=pd.Categorical(asked, ["open", "masked"])), {"family": family}
    for honest in (True, False):
        said = np.where(asked == "open", np.where(honest, truths, "no" if outcome == "used" else "never"), truths)
        share = np.arange(N) % 3 == 0  # a third of those asked directly deny
        said = np.where(share, said, truths)
        reports = {name: design.mask(said[asked == name], seed=6) for name, design in designs.items()}
        masked = {outcome: mw.arms(reports, asked)}
        fit = mw.regress(f"{outcome} ~ age", data, masked=masked, method=method, **options)
        for effects, formula in (("level", "age + arm"), ("all", "age * arm")):
            test = fit.arms_test(effects=effects)
            wide = mw.regress(f"{outcome} ~ {formula}", data, masked=masked, method=method, **options)
            assert test.df == len(wide.names) - len(fit.names)
            if method == "likelihood":
                assert test.statistic == pytest.approx(2 * (wide.llf - fit.llf), abs=1e-6)
            elif effects == "level":
                assert test.statistic == pytest.approx(wide.wald_test("arm").statistic, rel=1e-6)
            assert (test.p_value > 1e-3) == honest
    with pytest.raises(mw.EstimationError, match="go with the arms already"):
        wide.arms_test()


def test_arms_are_tested_where_there_are_some(made: dict[str, Any]) -> None:
    fit = mw.regress("used ~ age", made["data"], masked=made["masked"] | {})
    with pytest.raises(mw.DataError, match="no masked variable has arms"):
        fit.arms_test()


def test_effects_and_predictions(made: dict[str, Any]) -> None:
    fit = mw.regress("used ~ age + sex", made["data"], masked={"used": made["seen"]["used"]})
    frame = made["data"].assign(male=(made["data"]["sex"] == "m") * 1)
    other = sm.Logit.from_formula("y ~ age + male", frame).fit(disp=0)
    assert np.allclose(fit.predict(), other.predict(), atol=1e-6)
    assert np.allclose(fit.predict(made["data"].head(7)), other.predict()[:7], atol=1e-6)
    effects = fit.marginal_effects().to_frame()
    theirs = other.get_margeff()
    assert effects["effect"][0] == pytest.approx(theirs.margeff[0], abs=1e-6)
    assert effects["standard_error"][0] == pytest.approx(theirs.margeff_se[0], rel=1e-3)
    several = mw.regress("habit ~ age", made["data"], masked=made["masked"], family="multinomial")
    predicted = several.predict(pd.DataFrame({"age": [-1.0, 1.0]}))
    assert list(predicted.columns) == LEVELS
    assert np.allclose(predicted.sum(axis=1), 1)
    assert np.allclose(several.marginal_effects().to_frame().groupby("predictor")["effect"].sum(), 0, atol=1e-9)


def test_labels_that_are_numbers_change_from_one_to_the_next(made: dict[str, Any]) -> None:
    """A number within ``C()`` has no slope: its effect is that of each label beside the first."""
    visits = np.array([0, 1, 5])[np.arange(N) % 3]
    data = made["data"].assign(visits=visits)
    masked = {"used": made["masked"]["used"]}
    fit = mw.regress("used ~ age + C(visits)", data, masked=masked)
    texts = mw.regress("used ~ age + text", data.assign(text=visits.astype(str)), masked=masked)
    effects, same = fit.marginal_effects().to_frame(), texts.marginal_effects().to_frame()
    assert effects["change"].tolist() == ["slope", "1 - 0", "5 - 0"]
    columns = ["effect", "standard_error", "p_value"]
    np.testing.assert_allclose(effects[columns].iloc[1:], same.sort_values("predictor")[columns].iloc[1:], rtol=1e-6)
    message = r"'visits' must hold labels that the fit had; row 1 does not"
    with pytest.raises(mw.DataError, match=message):
        fit.predict({"age": [0.0, 0.0], "visits": [1, 2]})


def test_a_step_has_no_slope_rather_than_one_of_0(made: dict[str, Any]) -> None:
    fit = mw.regress("used ~ I(age > 0) + sex", made["data"], masked={"used": made["masked"]["used"]})
    effects = fit.marginal_effects().to_frame().set_index("predictor")
    assert effects.loc["age", ["effect", "standard_error", "p_value"]].isna().all()
    assert np.isfinite(effects.loc["sex", "standard_error"])


def test_effects_in_a_sample_have_its_degrees_of_freedom(made: dict[str, Any]) -> None:
    sample = mw.Sample(clusters=np.arange(N) % 6)
    fit = mw.regress("used ~ age", made["data"], masked={"used": made["masked"]["used"]}, sample=sample)
    effects = fit.marginal_effects()
    row = effects.to_frame().iloc[0]
    half = (row["upper"] - row["lower"]) / 2
    assert half == pytest.approx(student.ppf(0.975, 5) * row["standard_error"], rel=1e-9)
    assert row["p_value"] == pytest.approx(2 * student.sf(row["effect"] / row["standard_error"], 5), rel=1e-6)


@pytest.mark.parametrize("term", ["scale(age)", "poly(age, 2)", "bs(age, df=4)", "center(`at home`)", "{age / 2}"])
def test_functions_of_whole_columns_find_their_columns(made: dict[str, Any], term: str) -> None:
    """The fit is that of the columns which the function gives, and its effects those of the same curve."""
    data = made["data"].rename(columns={"age": "at home"}) if "home" in term else made["data"]
    masked = {"used": made["masked"]["used"]}
    fit = mw.regress(f"used ~ sex + {term}", data, masked=masked)
    columns = np.asarray(model_matrix(f"0 + {term}", data))
    names = [f"c{at}" for at in range(columns.shape[1])]
    given = pd.DataFrame(columns, columns=names).assign(sex=data["sex"])
    plain = mw.regress(f"used ~ sex + {' + '.join(names)}", given, masked=masked)
    assert fit.llf == pytest.approx(plain.llf, abs=1e-8)
    assert np.isfinite(fit.marginal_effects().standard_errors).all()
    np.testing.assert_allclose(fit.predict(data.iloc[:5]), plain.predict(given.iloc[:5]), atol=1e-8)


@pytest.mark.parametrize("call", ["scale(visits)", "lag(visits)", "np.exp(center(visits))"])
def test_nothing_is_taken_from_a_whole_column_of_masked_truths(made: dict[str, Any], call: str) -> None:
    reports = mw.designs.minimax([0, 1, 2], epsilon=3).mask([LEVELS.index(label) for label in made["habit"]], seed=4)
    with pytest.raises(mw.DataError, match=r"goes by the whole column, and the truths of 'visits' are masked"):
        mw.regress(f"number ~ age + {call}", made["data"], masked={"visits": reports}, family="normal")


def test_terms_are_tested_together(made: dict[str, Any]) -> None:
    fit = mw.regress("habit ~ age + sex", made["data"], masked=made["masked"], family="multinomial")
    wald, ratio = fit.wald_test("age"), fit.lr_test("age")
    assert wald.df == ratio.df == 2
    assert wald.statistic == pytest.approx(ratio.statistic, rel=0.25)
    assert list(fit.term_tests().index) == ["age", "sex"]


def test_a_fit_shows_itself(made: dict[str, Any]) -> None:
    fit = mw.regress("used ~ age + habit", made["data"], masked=made["masked"])
    text = fit.summary()
    for part in ("maximum likelihood", "the chance of yes", "epsilon", "multinomial logit of habit", "masking left"):
        assert part in text
    assert list(fit.to_frame().index) == list(fit.names)
    assert fit.to_dict()["coefficients"]["age"]["estimate"] == pytest.approx(fit.params["age"])
    assert "logit regression" in repr(fit)
    assert fit.conf_int().shape == (4, 2)


@pytest.mark.parametrize("family", ["logit", "probit", "cloglog", "identity"])
@pytest.mark.parametrize("event", ["often", ["often", "once"]])
def test_corrected_scores_take_an_event_against_the_rest(family: str, event: Any) -> None:
    rng, n = np.random.default_rng(12), 20_000
    age = rng.normal(size=n)
    truth = np.array(["never", "once", "often"])[(rng.random((2, n)) < 0.35 + 0.1 * np.tanh(age)).sum(axis=0)]
    inside = np.where(np.isin(truth, event), "yes", "no")
    options: dict[str, Any] = {"family": family, "method": "corrected"}
    openly = mw.regress("y ~ age", {"age": age}, masked={"y": mw.designs.direct(["yes", "no"]).mask(inside)}, **options)
    for design in (
        mw.designs.direct(["never", "once", "often"]),
        mw.designs.minimax(["never", "once", "often"], epsilon=2),
    ):
        masked = {"y": design.mask(truth, seed=5)}
        fit = mw.regress("y ~ age", {"age": age}, masked=masked, event=event, **options)
        if design.name == "direct":
            np.testing.assert_allclose(fit.params, openly.params, rtol=1e-7)
            np.testing.assert_allclose(fit.covariance, openly.covariance, rtol=1e-6)
        else:
            added = np.sqrt(fit.standard_errors**2 - openly.standard_errors**2)
            assert (np.abs(fit.params - openly.params) < 4 * added).all()
            assert (fit.precision_kept < 0.8).all()
    label = event if isinstance(event, str) else "once or often"
    assert f"the chance of {label}" in fit.summary()
    assert fit.marginal_effects().to_frame()["category"].tolist() == [label]
    assert fit.predict({"age": [0.0]}).shape == (1,)
    assert "event= and method='corrected'" in error("y ~ age", {"age": age}, masked=masked, event=event)
    assert "event must be one of" in error("y ~ age", {"age": age}, masked=masked, event=["daily"], **options)
    assert "event must be one of" in error(
        "y ~ age", {"age": age}, masked=masked, event=list(design.categories), **options
    )


def error(*arguments: Any, **more: Any) -> str:
    with pytest.raises(mw.MaskwellError) as caught:
        mw.regress(*arguments, **more)
    return str(caught.value)


def test_what_is_refused(made: dict[str, Any]) -> None:
    data, masked = made["data"], made["masked"]
    assert "family must be one of" in error("used ~ age", data, masked=masked, family="poisson")
    assert "method must be" in error("used ~ age", data, masked=masked, method="magic")
    assert "formula must read like" in error("used age ~~ ", data, masked=masked)
    assert "uses none of the masked variables" in error("y ~ age", data, masked=masked)
    assert "masked names too" in error("used ~ age", data.assign(used="yes"), masked=masked)
    assert "no column 'agee'" in error("used ~ agee", data, masked=masked)
    assert "two categories" in error("habit ~ age", data, masked=masked)
    assert "a row for each report" in error("used ~ age", data.head(10), masked=masked)
    assert "event must be one of" in error("used ~ age", data, masked=masked, event="perhaps")
    assert "needs an outcome that was not masked" in error("used ~ age", data, masked=masked, family="normal")
    assert "cov_type='robust'" in error("used ~ age", data, masked=masked, method="corrected", cov_type="opg")
    assert "records lack a value, first 'age' in row 3" in error(
        "used ~ age", data.assign(age=data["age"].where(data.index != 3)), masked=masked
    )
    with_gap = data.assign(age=data["age"].where(data.index != 3))
    assert mw.regress("used ~ age", with_gap, masked=masked, missing="drop").dropped == 1
    assert "must be Reports" in error("used ~ age", data, masked={"used": ["yes"] * N})


def test_what_the_data_do_not_tell_is_said(made: dict[str, Any]) -> None:
    data = made["data"].assign(double=2 * made["data"]["age"], told=np.where(made["used"] == "yes", 1.0, 0.0))
    assert "apart" in error("used ~ age + double", data, masked={"used": made["masked"]["used"]})
    assert "separation" in error("used ~ told", data, masked={"used": made["seen"]["used"]})
    few = mw.designs.gamma_diagonal(LEVELS, epsilon=0.1).mask(made["habit"], seed=1)
    assert "corrected scores have no root" in error("y ~ age * habit", data, masked={"habit": few}, method="corrected")
    groups = mw.designs.collapse(LEVELS, groups=[["never"], ["once", "often"]]).mask(made["habit"])
    assert "can estimate every category" in error(
        "habit ~ age", data, masked={"habit": groups}, family="multinomial", method="corrected"
    )
    for family in ("multinomial", "cumulative"):
        for formula in ("habit ~ age", "habit ~ sex", "habit ~ age * sex"):
            assert "cannot tell all its categories apart (collapse)" in error(
                formula, data, masked={"habit": groups}, family=family
            )
    # At ε = 0.02 a report of 1,500 is worth a hundred-thousandth of an answer.
    faint = mw.designs.warner(truth_prob=0.505).mask(made["used"], seed=1)
    assert "ask more people, or mask less" in error("used ~ age", data, masked={"used": faint})


def test_numbers_as_labels_are_numbers_in_a_formula(made: dict[str, Any]) -> None:
    counts = np.array([LEVELS.index(label) for label in made["habit"]])
    reports = mw.designs.minimax([0, 1, 2], epsilon=3).mask(counts, seed=4)
    fit = mw.regress("number ~ age + visits", made["data"], masked={"visits": reports}, family="normal")
    assert list(fit.names) == ["Intercept", "age", "visits"]
    assert abs(fit.params["visits"] - 1) < 0.25
    wide = mw.regress("number ~ age + C(visits)", made["data"], masked={"visits": reports}, family="normal")
    assert len(wide.names) == 4


def test_an_open_linear_probability_keeps_all_precision(made: dict[str, Any]) -> None:
    """Corrected scores of answers that were seen are least squares, and their sandwich has nothing to add."""
    seen = {"used": made["seen"]["used"]}
    fit = mw.regress("used ~ age", made["data"][["age"]], masked=seen, family="identity", method="corrected")
    plain = sm.OLS((made["used"] == "yes") * 1.0, sm.add_constant(made["data"]["age"])).fit(cov_type="HC0")
    np.testing.assert_allclose(fit.standard_errors, plain.bse, rtol=1e-6)
    np.testing.assert_allclose(fit.precision_kept, 1.0, rtol=1e-6)


def test_arms_have_the_same_categories() -> None:
    asked = np.array(["one", "other"] * 10)
    reports = {"one": mw.designs.direct(["a", "b"]).mask(["a", "b"] * 5)}
    for others in (["a", "c"], ["a", "b", "c"]):
        with pytest.raises(mw.DataError, match="the same categories"):
            mw.arms({**reports, "other": mw.designs.direct(others).mask(["a"] * 10)}, asked)
    swapped = mw.arms({**reports, "other": mw.designs.direct(["b", "a"]).mask(["a"] * 10)}, asked)
    assert swapped.categories == ("a", "b")
