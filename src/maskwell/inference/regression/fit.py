"""``regress``: from a formula, data and reports to a fitted model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import DataError, EstimationError
from maskwell.inference.regression.corrected import Corrected
from maskwell.inference.regression.families import FAMILIES, Family, family_of
from maskwell.inference.regression.likelihood import Evaluation, Likelihood
from maskwell.inference.regression.model_frame import ModelFrame, model_frame
from maskwell.inference.regression.newton import Solution, maximise, solve
from maskwell.inference.regression.regression import Regression

Method = Literal["likelihood", "corrected"]
CovarianceType = Literal["observed", "opg", "robust"]


def regress(
    formula: str,
    data: Any = None,
    *,
    masked: Mapping[str, Any],
    family: str = "logit",
    method: Method = "likelihood",
    cov_type: CovarianceType | None = None,
    event: Any = None,
    missing: Literal["refuse", "drop"] = "refuse",
) -> Regression:
    """Fit a regression in which the outcome, some predictors, or both were masked.

    ``formula`` reads as in R; a name in it is a column of ``data`` or a masked variable, whose reports ``masked`` has
    in the order of the rows. ``family`` is logit, probit, cloglog or identity for an outcome of two categories
    (``event`` says which one is modelled; by default the first, or 1 of 0 and 1), multinomial, cumulative for ordered
    categories, or normal for a number that was seen.

    ``method="likelihood"`` maximises the likelihood of the reports; masked predictors then have a multinomial logit on
    the other predictors. ``"corrected"`` solves estimating equations that need no such model, and loses some precision.
    Covariances: ``"observed"`` information, ``"opg"`` (outer product of scores) or ``"robust"`` (the sandwich of both),
    which corrected scores always have.

    >>> import maskwell as mw
    >>> import numpy as np
    >>> random = np.random.default_rng(3)
    >>> age = random.normal(size=4000)
    >>> truth = np.where(random.random(4000) < 1 / (1 + np.exp(1 - age)), "yes", "no")
    >>> reports = mw.designs.warner(truth_prob=0.8).mask(truth, seed=1)
    >>> fit = mw.regress("used ~ age", {"age": age}, masked={"used": reports})
    >>> fit.params.round(1).to_dict()
    {'Intercept': -1.0, 'age': 1.0}
    """
    if family not in FAMILIES:
        raise DataError(f"family must be one of {', '.join(FAMILIES)}; got {family!r}.", parameter="family")
    if method not in ("likelihood", "corrected"):
        raise DataError(f"method must be likelihood or corrected; got {method!r}.", parameter="method")
    kind = _covariance_type(cov_type, method)
    frame = model_frame(formula, data, masked, family, event, missing)
    chosen = family_of(family, len(frame.outcome.categories))
    weights = np.ones(frame.n)
    return fitted(formula, frame, chosen, method, kind, weights)


def fitted(
    formula: str, frame: ModelFrame, family: Family, method: Method, cov_type: CovarianceType, weights: Vector
) -> Regression:
    """The fitted model of a frame."""
    names = family.parameter_names(frame.terms, frame.outcome.categories)
    likelihood = Likelihood(frame, family, weights)
    if method == "likelihood":
        solution = maximise(likelihood, names)
        at = solution.at if cov_type == "observed" else likelihood.evaluate(solution.theta, scores=True)
    else:
        _require_scores(frame)
        corrected = Corrected(frame, family, weights)
        solution = solve(corrected, likelihood.start()[: likelihood.outcome_size], names)
        at = corrected.evaluate(solution.theta, scores=True)
    covariance = _covariance(at, weights, cov_type)
    shown = family.reported(frame.matrices.shape[2])
    return Regression(
        formula=formula,
        method=method,
        cov_type=cov_type,
        names=tuple(names[:shown]),
        estimates=solution.theta[:shown],
        covariance=covariance[:shown, :shown],
        open_covariance=_open_covariance(at, method)[:shown, :shown],
        family=family,
        frame=frame,
        weights=weights,
        solution=Solution(solution.theta, at, solution.decrement, solution.iterations),
    )


def _covariance_type(asked: CovarianceType | None, method: Method) -> CovarianceType:
    if asked is None:
        return "observed" if method == "likelihood" else "robust"
    if asked not in ("observed", "opg", "robust"):
        raise DataError(f"cov_type must be observed, opg or robust; got {asked!r}.", parameter="cov_type")
    if method == "corrected" and asked != "robust":
        raise DataError(
            f"cov_type {asked!r} needs a likelihood; corrected scores have cov_type='robust'.", parameter="cov_type"
        )
    return asked


def _covariance(at: Evaluation, weights: Vector, cov_type: CovarianceType) -> Matrix:
    inverse = _inverse(at.information)
    if cov_type == "observed":
        return inverse
    assert at.scores is not None
    weighted = at.scores * weights[:, None]
    outer = weighted.T @ weighted
    if cov_type == "opg":
        return _inverse(outer)
    sandwich: Matrix = inverse @ outer @ inverse.T
    return sandwich


def _inverse(matrix: Matrix) -> Matrix:
    return np.asarray(np.linalg.inv(matrix), np.float64)


def _open_covariance(at: Evaluation, method: Method) -> Matrix:
    """What the covariance would be if the truth had been seen, as far as these reports tell."""
    if method == "likelihood":
        return _inverse(at.complete)
    inverse = _inverse(at.information)
    corrected: Matrix = inverse @ at.complete @ inverse.T
    return corrected


def _require_scores(frame: ModelFrame) -> None:
    """Corrected scores need designs whose reports determine all proportions."""
    for variable in frame.masked.values():
        for design in variable.designs:
            if not design.estimable:
                raise EstimationError(
                    f"corrected scores need a design that can estimate every category of {variable.name!r}; "
                    f"{design.title} cannot. Use method='likelihood'."
                )
