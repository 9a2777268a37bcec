"""Plans of regressions: expected information against surveys, against open answers, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import maskwell as mw

HABITS = ["never", "once", "often"]
EFFECTS = {"Intercept": -0.4, "age": 0.5, "habit[T.once]": 0.6, "habit[T.often]": -0.5}
USED = mw.designs.warner(truth_prob=0.85)
HABIT = mw.designs.minimax(HABITS, epsilon=2.5)


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    random = np.random.default_rng(2)
    return pd.DataFrame({"age": random.uniform(-1.7, 1.7, 150), "habit": random.choice(HABITS, 150)})


def planned(people: Any, masked: Any = None, **options: Any) -> Any:
    settings: dict[str, Any] = {"masked": masked or {"used": USED, "habit": HABIT}, "coefficients": EFFECTS} | options
    return mw.planning.plan_regression("used ~ age + habit", people, **settings)


def test_open_answers_have_the_information_of_statsmodels(people: pd.DataFrame) -> None:
    plan = planned(people, {"used": mw.designs.direct(["yes", "no"])})
    x = np.column_stack([np.ones(150), people["age"], people["habit"] == "once", people["habit"] == "often"])
    information = -sm.Logit(np.ones(150), x.astype(float)).hessian(np.array(list(EFFECTS.values())))
    order = [list(EFFECTS).index(name) for name in plan.names]
    assert np.allclose(plan.covariance, 150 * np.linalg.inv(information)[np.ix_(order, order)], rtol=1e-6)
    assert np.allclose(plan.precision_kept, 1)


@pytest.mark.parametrize("method", ["likelihood", "corrected"])
def test_a_plan_foresees_what_surveys_find(people: pd.DataFrame, method: Any) -> None:
    """Standard deviations of 80 surveys have a standard error of 8 %; the power is found within five errors."""
    plan = planned(people, method=method)
    found = plan.simulate("habit[T.often]", 1500, surveys=80, seed=4)
    spread = found.estimates.std(axis=0, ddof=1)
    assert np.allclose(plan.standard_errors(1500) / spread, 1, atol=0.4)
    assert np.allclose(plan.standard_errors(1500) / np.median(found.errors, axis=0), 1, atol=0.1)
    foreseen = plan.power("habit[T.often]", 1500)
    assert abs(found.power - foreseen) < 5 * np.sqrt(foreseen * (1 - foreseen) / 80)
    assert (found.coverage > 0.8).all()
    assert "power for habit[T.often], n = 1,500" in found.summary()


def test_sample_sizes_reach_the_power(people: pd.DataFrame) -> None:
    plan = planned(people)
    for term in ("age", "habit", "habit[T.once]"):
        n = plan.sample_size(term, power=0.9)
        assert plan.power(term, n) >= 0.9 > plan.power(term, n - 1)
    curve = plan.curve("age")
    assert (curve["power"].diff().dropna() >= 0).all()
    assert (curve["power_open"] >= curve["power"]).all()
    assert plan.power("age", 1000, level=0.99) < plan.power("age", 1000)
    assert plan.plot(term="age").to_dict()["layer"]
    assert "n for power .8" in plan.summary()


def test_a_normal_outcome_is_integrated_over(people: pd.DataFrame) -> None:
    x = np.column_stack([np.ones(150), people["age"], people["habit"] == "once", people["habit"] == "often"])
    open_habit = mw.designs.direct(HABITS)
    plan = mw.planning.plan_regression(
        "amount ~ age + habit", people, masked={"habit": open_habit}, coefficients=EFFECTS, family="normal", scale=2.0
    )
    assert np.allclose(plan.covariance, 150 * 4 * np.linalg.inv(x.T.astype(float) @ x), rtol=1e-6)


def test_reports_are_drawn_where_they_are_too_many_to_list(people: pd.DataFrame, monkeypatch: Any) -> None:
    listed = planned(people)
    monkeypatch.setattr("maskwell.planning.regressions.truth._MOST_REPORTS", 1)
    drawn = planned(people)
    assert np.allclose(np.diagonal(drawn.covariance), np.diagonal(listed.covariance), rtol=0.1)
    assert not np.allclose(drawn.covariance, listed.covariance, rtol=1e-6)


def test_what_a_plan_refuses(people: pd.DataFrame) -> None:
    def error(*arguments: Any, **options: Any) -> str:
        with pytest.raises(mw.MaskwellError) as caught:
            planned(*arguments, **options)
        return str(caught.value)

    assert "a value for each of 'Intercept', 'age', 'habit[T.once]'" in error(people, coefficients={"age": 1})
    assert "column 'habit'" in error(people[["age"]])
    assert "label of 'habit'" in error(people.assign(habit="always"))
    assert "family must be one of" in error(people, family="poisson")
    assert "scale" in error(people, scale=1.0)
    assert "masked must name" in error(people, masked=["used"])
    assert "chances outside" in error(people, family="identity")
    plan = planned(people, coefficients=EFFECTS | {"age": 0.0})
    with pytest.raises(mw.DesignError, match="no effect in the plan"):
        plan.sample_size("age")
    with pytest.raises(mw.DataError, match="no term 'sex'"):
        plan.power("sex", 100)
    with pytest.raises(mw.DesignError, match="power must exceed"):
        plan.sample_size("habit", power=0.01)


def test_a_plan_with_next_to_no_effect_shows_itself(people: pd.DataFrame) -> None:
    plan = planned(people, coefficients=EFFECTS | {"age": 1e-12})
    rows = dict(zip(plan.names, plan._columns()["n for power .8"], strict=True))
    assert rows["age"] is None
    assert rows["habit[T.once]"] == plan.sample_size("habit[T.once]")
    assert "age" in plan.summary()


def test_numbers_of_a_plan_are_numbers(people: pd.DataFrame) -> None:
    for wrong in ("much", float("nan"), float("inf"), None):
        with pytest.raises(mw.DataError, match="the coefficient of 'age' must be a finite number"):
            planned(people, coefficients=EFFECTS | {"age": wrong})
    for scale in (0, -1.0, float("nan")):
        with pytest.raises(mw.DataError, match="scale"):
            mw.planning.plan_regression(
                "amount ~ age + habit", people, masked={"habit": HABIT}, coefficients=EFFECTS, family="normal",
                scale=scale,
            )  # fmt: skip
    with pytest.raises(mw.DesignError, match="surveys must be a whole number, 2 or more"):
        planned(people).simulate("age", 100, surveys=0)


def test_of_many_people_all_kinds_count_however_they_are_listed(monkeypatch: Any) -> None:
    """Some of the people stand for all; every second one of a list by turns would be of one kind."""
    effects = {"Intercept": -1.0, "age": 0.5}

    def covariance(ages: Any) -> Any:
        found = mw.planning.plan_regression("used ~ age", {"age": ages}, masked={"used": USED}, coefficients=effects)
        return found.covariance

    by_turns = np.tile([0.0, 1.0, 2.0, 3.0], 1000)
    whole = covariance(by_turns)
    monkeypatch.setattr("maskwell.planning.regressions.truth._RECORDS", 2 * 2000)
    # A half drawn at random: shares and variances of ages have standard errors below 3 % of themselves.
    for ages in (by_turns, np.sort(by_turns)):
        assert np.allclose(covariance(ages), whole, rtol=0.1)
        assert not np.allclose(covariance(ages), whole, rtol=1e-6)


def test_a_simulation_says_how_many_people_were_asked_and_how_well_it_tells_the_power(people: pd.DataFrame) -> None:
    found = planned(people, coefficients=EFFECTS | {"age": 3.0}).simulate("age", 1200, surveys=10, design_effect=2)
    assert (found.n, found.power) == (1200, 1.0)
    assert found.standard_error == pytest.approx(0.1)  # no more than 1 - 1/10 is known to be reached
    half = planned(people, coefficients=EFFECTS | {"age": 3.0}).simulate("age", 600, surveys=10)
    assert np.array_equal(found.estimates, half.estimates)
