"""Tests that compare a fit with a smaller or a wider model: whether a term is needed, whether arms agree."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import DataError, EstimationError
from maskwell.inference.hypotheses.hypothesis_test import HypothesisTest, chi_square_tail
from maskwell.inference.regression.covariance import INFORMATION, covariance_of
from maskwell.inference.regression.frame.masked import MaskedVariable
from maskwell.inference.regression.frame.model_frame import ModelFrame
from maskwell.inference.regression.identified import refuse_collinear
from maskwell.inference.regression.likelihood import Likelihood
from maskwell.inference.regression.newton import maximise, solve
from maskwell.numerics.beta import f_tail
from maskwell.plain_text import among

if TYPE_CHECKING:
    from maskwell.inference.regression.regression import Regression


def wald(name: str, estimates: Vector, covariance: Matrix, degrees_of_freedom: float) -> HypothesisTest:
    """Whether some coefficients are all 0; in a sample by F with its degrees of freedom."""
    d = len(estimates)
    statistic = float(estimates @ np.linalg.solve(covariance, estimates))
    if np.isinf(degrees_of_freedom):
        return HypothesisTest(name, statistic, d, chi_square_tail(statistic, d))
    below = degrees_of_freedom - d + 1
    if below < 1:
        raise EstimationError(
            f"{name}: {d} coefficients are too many for {degrees_of_freedom:g} degrees of freedom of the sample."
        )
    p_value = f_tail(d, below, statistic * below / (degrees_of_freedom * d))
    return HypothesisTest(name, statistic, d, p_value, law=f"F with {d} and {below:g} df")


def term_ratio(fit: Regression, term: str) -> HypothesisTest:
    """Whether a term can be left out, by the likelihood ratio."""
    fit._require_likelihood("a likelihood ratio")
    if np.isfinite(fit.degrees_of_freedom):
        raise EstimationError("a weighted likelihood has no ratio test; use wald_test, which knows the sample.")
    without = np.delete(np.arange(len(fit.frame.terms)), fit.frame.slices[term])
    if not len(without):
        raise EstimationError("a model without any term cannot be fitted.")
    terms = tuple(fit.frame.terms[at] for at in without)
    smaller = replace(fit.frame, matrices=fit.frame.matrices[:, :, without], terms=terms)
    names = fit.family.parameter_names(smaller.terms, smaller.outcome.categories)
    other = maximise(Likelihood(smaller, fit.family, fit.weights), names)
    return _ratio(
        f"likelihood ratio test of {term}", fit.llf, other.at.value, len(fit.solution.theta) - len(other.theta)
    )


def arms_test(fit: Regression, variable: str | None, effects: str) -> HypothesisTest:
    """Whether the arms of a masked variable agree."""
    if effects not in ("level", "all"):
        raise DataError(f'effects must be "level" or "all"; got {effects!r}.', parameter="effects")
    chosen = _with_arms(fit, variable)
    wider, added = _wider(fit, chosen, effects == "all")
    names = fit.family.parameter_names(wider.terms, wider.outcome.categories)
    likelihood = Likelihood(wider, fit.family, fit.weights)
    try:
        refuse_collinear(likelihood, names)
    except EstimationError:
        raise EstimationError(
            "the formula has effects that go with the arms already, or an arm has too few kinds of people; test the "
            "formula's own term with wald_test."
        ) from None
    called = f"whether the arms of {chosen.name} agree, in {'every coefficient' if effects == 'all' else 'level'}"
    if fit.method == "likelihood":
        solution = maximise(likelihood, names)
        if fit.cov_type in INFORMATION:
            df = len(solution.theta) - len(fit.solution.theta)
            return _ratio(f"likelihood ratio test {called}", solution.at.value, fit.llf, df)
        at = likelihood.evaluate(solution.theta, scores=True)
    else:
        solution = solve(likelihood, names)
        at = solution.at
    # Who was put into which arm is drawn too, whatever share of the population was asked.
    spread = covariance_of(likelihood, solution.theta, at, fit.method, fit.cov_type, fit.sample, correct=False)
    places = [at for at, name in enumerate(names) if name in added or name.split(": ", 1)[-1] in added]
    block = spread.covariance[np.ix_(places, places)]
    return wald(f"Wald test {called}", solution.theta[places], block, fit.degrees_of_freedom)


def _ratio(name: str, wide: float, narrow: float, df: int) -> HypothesisTest:
    statistic = max(2 * (wide - narrow), 0.0)
    return HypothesisTest(name, statistic, df, chi_square_tail(statistic, df))


def _with_arms(fit: Regression, name: str | None) -> MaskedVariable:
    found = {variable.name: variable for variable in fit.frame.masked.values() if len(variable.arms) > 1}
    if not found:
        raise DataError("no masked variable has arms; join the reports of groups with mw.arms.", parameter="variable")
    if name is None and len(found) == 1:
        return next(iter(found.values()))
    if name not in found:
        raise DataError(
            f"variable must name one that has arms; got {name!r}: {among(str(name), list(found))}.",
            parameter="variable",
        )
    return found[name]


def _wider(fit: Regression, variable: MaskedVariable, every: bool) -> tuple[ModelFrame, set[str]]:
    """The frame with an indicator for each arm but the first, and its product with every column where asked for."""
    frame = fit.frame
    codes: NDArray[np.int64] = np.zeros(frame.n, np.int64) if variable.arm_codes is None else variable.arm_codes
    columns, names = [frame.matrices], []
    for at, arm in enumerate(variable.arms[1:], start=1):
        here = np.broadcast_to((codes == at)[None, :, None], (len(frame.matrices), frame.n, 1))
        columns.append(np.asarray(here, float))
        names.append(f"[{arm}]")
        if every:
            others = [place for place, term in enumerate(frame.terms) if term != "Intercept"]
            columns.append(frame.matrices[:, :, others] * here)
            names += [f"[{arm}]:{frame.terms[place]}" for place in others]
    wider = replace(frame, matrices=np.concatenate(columns, axis=2), terms=(*frame.terms, *names))
    return wider, set(names)
