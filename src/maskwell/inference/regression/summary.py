"""A fitted regression as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from maskwell.results.numbers import limit

if TYPE_CHECKING:
    from maskwell.inference.regression.regression import Regression

_COVARIANCES = {
    "observed": "observed information",
    "expected": "expected information",
    "opg": "outer product of scores",
    "robust": "sandwich",
}


def summary_lines(fit: Regression, level: float) -> list[str]:
    """The lines of ``Regression.summary``."""
    return [
        f"{fit.family.name} regression with masked variables, by {_method(fit)}",
        "",
        f"formula   {fit.formula}",
        f"outcome   {_outcome(fit)}",
        *_masked(fit),
        f"records   {fit.n:,}" + (f" ({fit.dropped:,} more lack a value)" if fit.dropped else ""),
        f"errors    from the {_COVARIANCES[fit.cov_type]}{_sample(fit)}",
        *_background(fit),
        "",
        *_table(fit, level),
        "",
        *_fit(fit),
        *_cost(fit),
    ]


def _sample(fit: Regression) -> str:
    df = fit.degrees_of_freedom
    withheld = "; its population correction is left out, as these reports do not tell masks from sampling"
    return f" over the sample, {df:g} degrees of freedom{withheld * fit.correction_withheld}" if np.isfinite(df) else ""


def _method(fit: Regression) -> str:
    return "maximum likelihood" if fit.method == "likelihood" else "corrected scores"


def _outcome(fit: Regression) -> str:
    outcome = fit.frame.outcome
    masked = ", masked" if outcome.masked else ""
    if outcome.values is not None:
        return f"{outcome.name}, a number"
    if fit.family.name == "multinomial":
        return f"{outcome.name}{masked}: log odds of each category against {outcome.event!s}"
    if fit.family.name == "cumulative":
        return (
            f"{outcome.name}{masked}: {' < '.join(str(c) for c in outcome.categories)}; a positive effect means higher"
        )
    return f"{outcome.name}{masked}: the chance of {outcome.event!s}"


def _masked(fit: Regression) -> list[str]:
    lines = []
    for variable in fit.frame.masked.values():
        for design in variable.designs:
            bound = f"epsilon {limit(design.epsilon)}" if math.isfinite(design.epsilon) else "no finite epsilon"
            drawn = "; drawn from a seed, for simulation only" if variable.simulated else ""
            lines.append(f"privacy   {variable.name}: {design.title}, {bound}{drawn}")
    return lines


def _background(fit: Regression) -> list[str]:
    if len(fit.frame.predictors) == 1 or fit.method != "likelihood":
        return []
    names = " and ".join(fit.frame.predictors.names)
    return [f"assumed   a multinomial logit of {names} on the other predictors (method='corrected' assumes none)"]


def _table(fit: Regression, level: float) -> list[str]:
    width = max(8, *(len(name) for name in fit.names))
    lower, upper = fit.interval(level).T
    z = "z" if fit.sample is None else "t"
    lines = [f"{'':{width}}  estimate  std.error       {z}        p  {100 * level:g} % interval        precision kept"]
    kept = np.asarray(fit.precision_kept)
    for at, name in enumerate(fit.names):
        share = f"{kept[at]:6.2f}" if np.isfinite(kept[at]) else "     ?"
        lines.append(
            f"{name:{width}}  {fit.estimates[at]:8.4f}  {fit.standard_errors.iloc[at]:9.4f}  "
            f"{fit.tvalues.iloc[at]:6.2f}  {fit.pvalues.iloc[at]:7.4f}  [{lower[at]:8.4f}, {upper[at]:8.4f}]  {share}"
        )
    return lines


def _fit(fit: Regression) -> list[str]:
    if fit.method != "likelihood":
        return []
    scale = f", residual standard deviation {fit.scale:.4g}" if fit.family.numeric else ""
    return [
        f"log-likelihood {fit.llf:.2f} (up to a constant of the reports), AIC {fit.aic:.2f}{scale}; at most "
        f"{max(fit.solution.decrement, 0.0):.1g} below the maximum nearby"
    ]


def _cost(fit: Regression) -> list[str]:
    """What masking cost, of the coefficients other than the intercept."""
    kept = fit.precision_kept.drop(labels=[name for name in fit.names if name.endswith("Intercept")], errors="ignore")
    kept = kept[np.isfinite(kept)]
    if not len(kept):
        return []
    worst, people = str(kept.idxmin()), fit.people_needed
    cause, of = ("masking", "") if fit.sample is None else ("masking and the sample", " of a simple random sample")
    line = f"{cause} left {100 * kept.min():.0f} to {100 * kept.max():.0f} % of the precision of open answers{of}"
    if np.isfinite(people[worst]):
        line += f"; for {worst} {people[worst]:,.0f} masked people would be as telling as {fit.n:,} open answers{of}"
    return [line]
