"""``regress``: from a formula, data and reports to a fitted model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from maskwell.designs.channels.numbers import Vector
from maskwell.errors import DataError, EstimationError
from maskwell.inference.regression.covariance import CovarianceType, covariance_of, evaluated, inverse, sandwich
from maskwell.inference.regression.families import FAMILIES
from maskwell.inference.regression.families.family import Family
from maskwell.inference.regression.frame.model_frame import ModelFrame, model_frame
from maskwell.inference.regression.identified import (
    refuse_collinear,
    refuse_few,
    refuse_weak,
    without_finite_estimate,
)
from maskwell.inference.regression.likelihood import Likelihood
from maskwell.inference.regression.newton import maximise, solve
from maskwell.inference.regression.regression import Regression
from maskwell.inference.sample.sample import Sample
from maskwell.inference.sample.scores import require_masks_in

Method = Literal["likelihood", "corrected"]


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
    sample: Sample | None = None,
) -> Regression:
    """Fit a regression in which the outcome, some predictors, or both were masked.

    ``formula`` reads as in R; a name in it is a column of ``data`` or a masked variable, whose reports ``masked`` has
    in the order of the rows. ``family`` is logit, probit, cloglog or identity for an outcome of two categories
    (``event`` says which one is modelled; by default the first, or 1 of 0 and 1), multinomial, cumulative for ordered
    categories, or normal for a number that was seen. Corrected scores also take an ``event``, or a list of some
    categories, against the rest of a masked outcome with more of them.

    ``method="likelihood"`` maximises the likelihood of the reports; masked predictors then have a multinomial logit on
    the other predictors. ``"corrected"`` solves estimating equations that need no such model, and loses some precision.
    Covariances: ``"observed"`` information, ``"opg"`` (outer product of scores) or ``"robust"`` (the sandwich of both),
    which corrected scores always have; ``"expected"`` information where only the outcome was masked. With ``sample``,
    records count by their weights and the sandwich takes its strata, clusters or replicates; records without all values
    are then outside the domain, not out of the sample.

    >>> import maskwell as mw
    >>> import numpy as np
    >>> random = np.random.default_rng(3)
    >>> age = random.normal(size=4000)
    >>> truth = np.where(random.random(4000) < 1 / (1 + np.exp(1 - age)), "yes", "no")
    >>> reports = mw.designs.warner(truth_prob=0.8).mask(truth, seed=1)
    >>> fit = mw.regress("used ~ age", {"age": age}, masked={"used": reports})
    >>> fit.params.round(1).to_dict()
    {'Intercept': -1.0, 'age': 1.1}
    """
    if family not in FAMILIES:
        raise DataError(f"family must be one of {', '.join(FAMILIES)}; got {family!r}.", parameter="family")
    if method not in ("likelihood", "corrected"):
        raise DataError(f"method must be likelihood or corrected; got {method!r}.", parameter="method")
    kind = _covariance_type(cov_type, method, sample)
    frame = model_frame(formula, data, masked, family, event, missing, method)
    chosen = FAMILIES[family](len(frame.outcome.categories))
    if sample is None:
        return fitted(formula, frame, chosen, method, kind, np.ones(frame.n))
    if not isinstance(sample, Sample):
        raise DataError(f"sample must be a mw.Sample; got {type(sample).__name__}.", parameter="sample")
    sample.require_length(len(frame.kept), "record")
    require_masks_in(sample, (design for variable in frame.masked.values() for design in variable.designs))
    weights = sample.weights[frame.kept]
    if not weights.any():
        raise DataError("the records that have all values have no weight; there is nothing to fit.", "sample")
    # Of average 1, so that the precision of open answers is that of as many people.
    scaled = weights * (frame.n / weights.sum())
    return fitted(formula, frame, chosen, method, kind, scaled, sample)


def fitted(
    formula: str,
    frame: ModelFrame,
    family: Family,
    method: Method,
    cov_type: CovarianceType,
    weights: Vector,
    sample: Sample | None = None,
    start: Vector | None = None,
) -> Regression:
    """The fitted model of a frame; ``start`` are parameters near the solution, such as those of a survey like this."""
    names = family.parameter_names(frame.terms, frame.outcome.categories)
    likelihood = Likelihood(frame, family, weights)
    refuse_few(likelihood)
    refuse_collinear(likelihood, names)
    if method == "likelihood":
        solution = maximise(likelihood, names, start)
        at = evaluated(likelihood, solution.theta, solution.at, cov_type)
        unmasked = inverse(solution.complete)
    else:
        _require_scores(frame)
        solution = solve(likelihood, names, start)
        at = solution.at
        if (endless := without_finite_estimate(likelihood, at.information, names)) is not None:
            raise EstimationError(endless)
        unmasked = sandwich(at.information, solution.complete)
    covariance, open_share, withheld = covariance_of(likelihood, solution.theta, at, method, cov_type, sample)
    refuse_weak(covariance[: likelihood.outcome_size, : likelihood.outcome_size], likelihood, names)
    shown = family.reported(frame.matrices.shape[2])
    return Regression(
        formula=formula,
        method=method,
        cov_type=cov_type,
        names=tuple(names[:shown]),
        estimates=solution.theta[:shown],
        covariance=covariance[:shown, :shown],
        open_covariance=open_share * unmasked[:shown, :shown],
        family=family,
        frame=frame,
        weights=weights,
        sample=sample,
        correction_withheld=withheld,
        degrees_of_freedom=np.inf if sample is None else float(sample.degrees_of_freedom),
        solution=solution if cov_type == "expected" else replace(solution, at=at),
    )


def _covariance_type(asked: CovarianceType | None, method: Method, sample: Sample | None) -> CovarianceType:
    if asked is None:
        return "observed" if method == "likelihood" and sample is None else "robust"
    if sample is not None and asked != "robust":
        raise DataError(f"cov_type {asked!r} knows no sample; with one it is 'robust'.", parameter="cov_type")
    if asked not in get_args(CovarianceType):
        raise DataError(f"cov_type must be observed, expected, opg or robust; got {asked!r}.", parameter="cov_type")
    if method == "corrected" and asked != "robust":
        raise DataError(
            f"cov_type {asked!r} needs a likelihood; corrected scores have cov_type='robust'.", parameter="cov_type"
        )
    return asked


def _require_scores(frame: ModelFrame) -> None:
    """Corrected scores need designs whose reports determine all proportions."""
    for variable in frame.masked.values():
        for design in variable.designs:
            if not design.estimable:
                raise EstimationError(
                    f"corrected scores need a design that can estimate every category of {variable.name!r}; "
                    f"{design.title} cannot. Use method='likelihood'."
                )
