"""Masked yes-no outcomes against statsmodels, which takes the design as a link of its own: estimates and the three
conventions of standard errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import maskwell as mw

N = 3000
DESIGNS = {
    "warner": mw.designs.warner(truth_prob=0.8),
    "forced response": mw.designs.forced_response(yes_prob=1 / 6, no_prob=1 / 12),
    "unrelated question": mw.designs.unrelated_question(sensitive_prob=0.7, innocuous_yes=0.3),
    "crosswise": mw.designs.crosswise(innocuous_prob=0.25),
}


class Masked(sm.families.links.Logit):
    """The logit of a truth that is reported with chance ``low + width * truth``."""

    def __init__(self, low: float, width: float) -> None:
        self.low, self.width = low, width

    def _truth(self, p: Any) -> Any:
        return np.clip((np.asarray(p) - self.low) / self.width, 1e-12, 1 - 1e-12)

    def __call__(self, p: Any) -> Any:
        return super().__call__(self._truth(p))

    def inverse(self, z: Any) -> Any:
        return self.low + self.width * super().inverse(z)

    def deriv(self, p: Any) -> Any:
        return super().deriv(self._truth(p)) / self.width

    def deriv2(self, p: Any) -> Any:
        return super().deriv2(self._truth(p)) / self.width**2

    def inverse_deriv(self, z: Any) -> Any:
        return self.width * super().inverse_deriv(z)

    def inverse_deriv2(self, z: Any) -> Any:
        return self.width * super().inverse_deriv2(z)


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """Two predictors and a sensitive truth, with the moderate prevalence of a survey."""
    random = np.random.default_rng(2027)
    age, female = random.normal(size=N), random.integers(0, 2, N)
    truth = random.random(N) < 1 / (1 + np.exp(0.9 - 0.7 * age + 0.4 * female))
    return pd.DataFrame({"age": age, "female": female, "truth": np.where(truth, "yes", "no")})


@pytest.mark.parametrize("name", DESIGNS)
def test_a_masked_logit_is_what_statsmodels_fits_with_the_design_as_its_link(people: pd.DataFrame, name: str) -> None:
    design, data = DESIGNS[name], people[["age", "female"]]
    reports = design.mask(people["truth"], seed=40)
    (of_yes, of_no), first = design.matrix()[0], design.report_labels()[0]
    family = sm.families.Binomial(Masked(of_no, of_yes - of_no))
    said = np.array([report == first for report in reports.decode()], float)
    begin = {"maxiter": 500, "tol": 1e-10, "tol_criterion": "params"}
    model = sm.GLM(said, sm.add_constant(data.to_numpy(float)), family=family)
    other = model.fit(start_params=[-0.5, 0.5, 0], **begin)
    scores, inverse = model.score_obs(other.params), np.linalg.inv(-model.hessian(other.params, observed=True))
    covariances: dict[Any, Any] = {
        "observed": inverse,
        "opg": np.linalg.inv(scores.T @ scores),
        "robust": inverse @ scores.T @ scores @ inverse,
    }
    for kind, expected in covariances.items():
        fit = mw.regress("used ~ age + female", data, masked={"used": reports}, cov_type=kind)
        assert np.allclose(fit.params, other.params, rtol=1e-7)
        assert np.allclose(fit.bse, np.sqrt(np.diagonal(expected)), rtol=1e-6)
    without = sm.GLM(said, sm.add_constant(data[["female"]].to_numpy(float)), family=family)
    ratio = 2 * (other.llf - without.fit(start_params=[-0.5, 0], **begin).llf)
    assert fit.lr_test("age").statistic == pytest.approx(ratio, rel=1e-6)
