"""Whether the data tell what a model asks: an error that names what they do not, rather than a number of any size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from maskwell.advice import Advice, Setting
from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.inference.regression.frame.masked import MaskedVariable
from maskwell.inference.regression.likelihood import Likelihood, gathered

LEAST_EIGENVALUE = 1e-9  # of an information that is scaled to ones on its diagonal
# Of complete information to what an even chance would give, in any direction: where a fit with a finite solution has as
# many records as it needs to see an event, this is at least one over their number.
_LEAST_SHARE = 1e-7
_LEAST_KEPT = 1e-8  # of the precision of open answers; rounding leaves about 1e-15
_SMALL_SHARE = 1e-4  # where no maximum was found, the reason rather than the solution
_FEWEST = 1e-5  # of the records in one category, by the model
_LEAST_SCALE = 1e-6  # of a normal outcome's standard deviation, given the predictors
_WIDEST = 10.0  # a standard error of a linear predictor, when a column changes by its standard deviation


def require_identified(likelihood: Likelihood, information: Matrix, complete: Matrix, names: Sequence[str]) -> None:
    """An error unless a solution that was found is one: no chance at 0 or 1 by the model, nothing left open."""
    if (endless := without_finite_estimate(likelihood, complete, names)) is not None:
        raise EstimationError(endless)
    refuse_unidentified(information, names)
    refuse_untold(likelihood, information, complete, names)


def refuse_few(likelihood: Likelihood) -> None:
    """An error where there are no more records than coefficients: any outcome would then be fitted without rest."""
    n, m = int(np.count_nonzero(likelihood.weights)), likelihood.outcome_size
    if n <= m:
        raise EstimationError(
            f"{n:,} records (with a weight) cannot tell {m:,} parameters and how uncertain they are; leave terms out, "
            "or ask more people."
        )


def refuse_exact(likelihood: Likelihood, theta: Vector, gradient: Vector) -> None:
    """An error where a normal model leaves next to no residual: its likelihood then grows without limit."""
    values = likelihood.frame.outcome.values
    if values is not None:
        variance = residual_variance(likelihood, theta, gradient)
        if abs(variance) < _LEAST_SCALE**2 * float(values.var()):
            raise EstimationError(_EXACT)


def residual_variance(likelihood: Likelihood, theta: Vector, gradient: Vector) -> float:
    """The variance of the residuals of a normal model at some coefficients, whatever scale it has there.

    The score of the logarithm of the scale is the sum of squared standardised residuals less their number. A corrected
    sum of squares may be below 0.
    """
    at = likelihood.outcome_size - 1
    squares = 1 + float(gradient[at]) / float(likelihood.weights.sum())
    return float(np.exp(2 * theta[at])) * squares


def refuse_endless(likelihood: Likelihood, theta: Vector, names: Sequence[str]) -> None:
    """An error where a fit that has not come to rest is on its way to infinity."""
    if (endless := without_finite_estimate(likelihood, likelihood.complete(theta), names)) is not None:
        raise EstimationError(endless)


def why_no_maximum(likelihood: Likelihood, theta: Vector, information: Matrix, names: Sequence[str]) -> str | Advice:
    """What stands in the way of a maximum."""
    if (untold := _not_told_apart([likelihood.frame.outcome.masked])) is not None:
        return untold
    if (empty := _empty_category(likelihood, theta)) is not None:
        return empty
    complete = likelihood.complete(theta)
    if (endless := without_finite_estimate(likelihood, complete, names, least=_SMALL_SHARE)) is not None:
        return endless
    if likelihood.family.name == "identity":
        return Advice(
            "the likelihood grows up to the limit where a chance leaves [0, 1], so the linear model does not fit these "
            "chances; use family='logit', or ",
            Setting("method", "corrected"),
            ", which is least squares.",
        )
    if np.isfinite(information).all() and np.linalg.eigvalsh(information)[0] > 0:
        refuse_unidentified(information, names)
    if (untold := _not_told_apart(likelihood.frame.masked.values())) is not None:
        return untold
    return (
        "the likelihood has no clear maximum: these reports tell too little for this model. Leave terms out, ask more "
        "people, or mask less."
    )


def _not_told_apart(variables: Iterable[MaskedVariable | None]) -> str | None:
    """That a design cannot tell all categories of a variable, where one cannot."""
    for variable in filter(None, variables):
        for design in variable.designs:
            if not design.estimable:
                return (
                    f"the reports of {variable.name!r} cannot tell all its categories apart ({design.title}), and the "
                    "model needs what they do not tell. Join the categories, or leave terms out."
                )
    return None


def refuse_unidentified(information: Matrix, names: Sequence[str]) -> None:
    """An error unless the information, scaled to ones on its diagonal, is clearly positive definite."""
    diagonal = np.diagonal(information)
    if (diagonal <= 0).any():
        at = int(np.argmin(diagonal))
        raise EstimationError(f"the data tell nothing about {_named(names, at)}; leave it out, or ask more people.")
    scale = np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    if values[0] < LEAST_EIGENVALUE:
        strongest = np.argsort(-np.abs(vectors[:, 0]))[:3]
        parts = [_named(names, int(at)) for at in sorted(strongest) if abs(vectors[at, 0]) > 0.05]
        together = ", ".join(dict.fromkeys(parts))
        raise EstimationError(
            f"the data cannot tell {together} apart: the information, scaled to ones on its diagonal, has an "
            f"eigenvalue below {LEAST_EIGENVALUE:g}. Leave one of them out."
        )


def refuse_untold(likelihood: Likelihood, information: Matrix, complete: Matrix, names: Sequence[str]) -> None:
    """An error where reports tell next to nothing in a direction in which open answers would tell something."""
    refuse_unidentified(complete, names)
    scale = np.sqrt(np.diagonal(complete))
    root = np.linalg.cholesky(complete / np.outer(scale, scale))
    half = np.linalg.solve(root, information / np.outer(scale, scale))
    kept, directions = np.linalg.eigh(np.linalg.solve(root, half.T))
    if kept[0] < _LEAST_KEPT:
        at = int(np.argmax(np.abs(np.linalg.solve(root.T, directions[:, 0]))))
        raise EstimationError(
            _not_told_apart(likelihood.frame.masked.values())
            or f"these reports tell next to nothing about {_named(names, at)}: less than {_LEAST_KEPT:g} of what open "
            "answers would. Leave it out, or mask less."
        )


def refuse_collinear(likelihood: Likelihood, names: Sequence[str]) -> None:
    """An error where columns are linear combinations of others, whatever the outcome is."""
    gram = _gram(likelihood, likelihood.frame.matrices, likelihood.maps, _even(likelihood))
    refuse_unidentified(gram, names)


def without_finite_estimate(
    likelihood: Likelihood, complete: Matrix, names: Sequence[str], least: float = _LEAST_SHARE
) -> str | Advice | None:
    """What is predicted without exception, so that a coefficient runs off to infinity; None if nothing is.

    ``complete`` may end after the outcome's parameters, as corrected scores have no others.
    """
    if not np.isfinite(complete).all():
        return None
    m, frame = likelihood.outcome_size, likelihood.frame
    if not likelihood.family.numeric and likelihood.family.name != "identity":
        gram = _gram(likelihood, frame.matrices, likelihood.maps, _even(likelihood))
        if (at := _flattest(complete[:m, :m], gram, least)) is not None:
            if (untold := _not_told_apart([frame.outcome.masked])) is not None:
                return untold
            noisy = frame.outcome.masked is not None and any(d.added_variance for d in frame.outcome.masked.designs)
            more = ", join categories, ask more people, or mask less." if noisy else ", or join categories."
            return (
                f"{_named(names, at)} has no finite estimate: along it the outcome is predicted without exception "
                f"(separation). Leave it out{more}"
            )
    if likelihood.background_maps and len(complete) > m:
        background = frame.background[None]
        gram = _gram(likelihood, background, likelihood.background_maps, np.ones((1, frame.n)))
        if _flattest(complete[m:, m:], gram, least) is not None:
            return Advice(
                f"by these reports some combination of {' and '.join(map(repr, frame.predictors.names))} never occurs "
                "among some people, so the model of the masked predictors has no finite estimate. Join categories, "
                "ask more people, or use ",
                Setting("method", "corrected"),
                ", which has no such model.",
            )
    return None


def refuse_weak(covariance: Matrix, likelihood: Likelihood, names: Sequence[str]) -> None:
    """An error where a coefficient is so uncertain that its estimate says nothing."""
    if likelihood.family.numeric:
        return
    x = likelihood.frame.matrices
    spread = np.append(np.sqrt(x.var(axis=1).mean(axis=0) + x.mean(axis=1).var(axis=0)), 0.0)
    reach = sum(np.abs(m).T @ spread for m in likelihood.maps)
    errors = np.sqrt(np.maximum(np.diagonal(covariance), 0.0)) * reach
    at = int(np.argmax(errors))
    if not errors[at] < _WIDEST:
        raise EstimationError(
            f"these reports tell next to nothing about {_named(names, at)}: along one standard deviation of it the "
            f"linear predictor has a standard error of {errors[at]:.3g}. Leave it out, ask more people, or mask less."
        )


_EXACT = (
    "the predictors give the outcome exactly, so its residuals have no scale; leave the predictor out that it was "
    "computed from."
)
NO_RESIDUAL = Advice(
    "the corrected residuals have a variance that is not above 0: the predictors give the outcome exactly or nearly "
    "so, or their masks leave too much noise. Leave predictors out, ask more people, or use ",
    Setting("method", "likelihood"),
    ".",
)


def _empty_category(likelihood: Likelihood, theta: Vector) -> str | None:
    """That two thresholds of ordered categories met, as nobody is between them."""
    if likelihood.family.name != "cumulative":
        return None
    thresholds = theta[: likelihood.family.k - 1]
    below = np.concatenate([[0.0], 1 / (1 + np.exp(-thresholds)), [1.0]])
    at = int(np.argmin(np.diff(below)))
    if np.diff(below)[at] > _FEWEST:
        return None
    return (
        f"by these reports nobody is in {likelihood.frame.outcome.categories[at]!r}, so its two thresholds meet. Join "
        "it with a category beside it, or use family='multinomial'."
    )


def _even(likelihood: Likelihood) -> Matrix:
    """The same weight for each combination of masked predictors: which columns there are does not depend on them."""
    combinations = len(likelihood.frame.predictors)
    return np.full((combinations, likelihood.frame.n), 1 / combinations)


def _gram(likelihood: Likelihood, matrices: NDArray[np.float64], maps: list[Matrix], share: Matrix) -> Matrix:
    """The information if each linear predictor of each record had one unit of it."""
    each = np.ones((likelihood.frame.n, 1, 1))
    total = np.zeros((maps[0].shape[1], maps[0].shape[1]))
    for x, weight in zip(matrices, share, strict=True):
        for m in maps:
            total += gathered(x, [m], each, likelihood.weights * weight)
    return total


def _flattest(information: Matrix, gram: Matrix, least: float) -> int | None:
    """The parameter along which there is next to no information, given how far its column spreads."""
    scale = np.sqrt(np.maximum(np.diagonal(gram), 1e-300))
    values, vectors = np.linalg.eigh(gram / np.outer(scale, scale))
    seen = values > LEAST_EIGENVALUE  # what is collinear is said elsewhere
    whiten = vectors[:, seen] / np.sqrt(values[seen])
    inside = whiten.T @ (information / np.outer(scale, scale)) @ whiten
    shares, directions = np.linalg.eigh((inside + inside.T) / 2)
    if shares[0] >= least:
        return None
    return int(np.argmax(np.abs(whiten @ directions[:, 0])))


def _named(names: Sequence[str], at: int) -> str:
    return repr(names[at]) if at < len(names) else "the distribution of the masked predictors"
