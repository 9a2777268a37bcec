"""The covariance of fitted parameters, by four conventions, or over a complex sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.inference.regression.frame.model_frame import Outcome
from maskwell.inference.regression.likelihood import Evaluation, Likelihood, gathered, linear_predictors
from maskwell.inference.regression.masks import MOST_KINDS, masking_variance
from maskwell.inference.sample.sample import Sample

CovarianceType = Literal["observed", "expected", "opg", "robust"]
INFORMATION: tuple[CovarianceType, ...] = ("observed", "expected")
"""The conventions that invert an information: what the likelihood's own theory asks for."""
_ROUND_OFF = 1e-9


def evaluated(likelihood: Likelihood, theta: Vector, at: Evaluation, cov_type: CovarianceType) -> Evaluation:
    """The evaluation at the maximum with what a convention needs: scores of records, or the expected information."""
    if cov_type == "expected":
        return replace(at, information=expected_information(likelihood, theta))
    return at if cov_type == "observed" else likelihood.evaluate(theta, scores=True)


def expected_information(likelihood: Likelihood, theta: Vector) -> Matrix:
    """The information of every report that the designs could have made, averaged by its chance: Fisher scoring's."""
    frame, outcome = likelihood.frame, likelihood.frame.outcome
    if likelihood.nuisance is not None or outcome.values is not None:
        raise EstimationError(
            "cov_type 'expected' averages over the reports of a masked outcome; with masked predictors or a numeric "
            "outcome take 'observed'."
        )
    x, family = frame.matrices[0], likelihood.family
    outlook = family.outlook(linear_predictors(x, likelihood.maps, theta), None)
    curvature = np.zeros((len(x), family.predictors, family.predictors))
    for here, table in _tables(outcome, len(x)):
        for row in table:
            chance = np.exp(outlook.log_chances) @ row
            posterior = np.exp(outlook.log_chances) * row / np.where(chance > 0, chance, 1.0)[:, None]
            gradient = outlook.moments(posterior).gradient
            curvature += (here * chance)[:, None, None] * gradient[:, :, None] * gradient[:, None, :]
    return gathered(x, likelihood.maps, curvature, likelihood.weights)


def _tables(outcome: Outcome, n: int) -> Iterator[tuple[NDArray[np.bool_], Matrix]]:
    """Which records each design was used for, and its chances of reports given the outcome's categories."""
    masked = outcome.masked
    if masked is None:
        yield np.ones(n, np.bool_), np.eye(len(outcome.categories))
        return
    for at, design in enumerate(masked.designs):
        if (count := design.report_count()) > MOST_KINDS:
            raise EstimationError(
                f"cov_type 'expected' goes through all reports, and {design.title} has {count:,} of them "
                f"(limit {MOST_KINDS:,}); take 'observed'."
            )
        order = [design.categories.index(label) for label in outcome.categories]
        here = np.ones(n, np.bool_) if masked.arm_codes is None else masked.arm_codes == at
        yield here, design.matrix()[:, order]


class Spread(NamedTuple):
    """The covariance of fitted parameters."""

    covariance: Matrix
    open_share: float = 1.0
    """What a population correction would leave of the variance of a simple random sample of open answers."""
    withheld: bool = False
    """Whether that correction was left out, as what masks add could not be told apart."""


def covariance_of(
    likelihood: Likelihood,
    theta: Vector,
    at: Evaluation,
    method: str,
    cov_type: CovarianceType,
    sample: Sample | None = None,
    *,
    correct: bool = True,
) -> Spread:
    """The covariance of the parameters of an evaluation that has scores, unless it is that of an information.

    Without ``correct`` a population correction is left out.
    """
    if sample is not None:
        return _in_sample(likelihood, theta, at, method, sample, correct)
    if cov_type in INFORMATION:
        return Spread(inverse(at.information))
    assert at.scores is not None
    weighted = at.scores * likelihood.weights[:, None]
    outer = weighted.T @ weighted
    return Spread(inverse(outer) if cov_type == "opg" else sandwich(at.information, outer))


def _in_sample(
    likelihood: Likelihood, theta: Vector, at: Evaluation, method: str, sample: Sample, correct: bool
) -> Spread:
    """The sandwich with the variance of the total score over samples like this one."""
    assert at.scores is not None
    kept, weights = likelihood.frame.kept, likelihood.weights
    scores = np.zeros((len(kept), at.scores.shape[1]))
    scores[kept] = at.scores
    scale = weights.sum() / float(sample.weights[kept].sum())
    if sample.replicates is not None:
        again = scale * (sample.replicates.weights.T @ scores)
        rows = np.sqrt(sample.replicates.factors)[:, None] * again
        return Spread(sandwich(at.information, _varying(rows.T @ rows, sample)))
    rows, lacking = sample.spread(scale * scores)
    outer, lacking = rows.T @ rows, lacking[kept]
    if not lacking.any():
        return Spread(sandwich(at.information, _varying(outer, sample)))
    # A population correction shrinks what sampling adds; what it took of the masks is given back.
    share = lacking * weights**2
    whole = _varying(outer + (at.scores * share[:, None]).T @ at.scores, sample)
    masks = masking_variance(likelihood, theta, at.scores, method, share) if correct else None
    if masks is None:
        return Spread(sandwich(at.information, whole), withheld=True)
    least, most = _parts_of(outer + masks, whole)
    if most < _ROUND_OFF:
        raise _without_variance(sample)
    if least < _ROUND_OFF:  # estimated, and so negative by chance; or of a combination of which nothing was masked
        return Spread(sandwich(at.information, whole), withheld=True)
    open_share = 1 - float(lacking @ weights / weights.sum())
    return Spread(sandwich(at.information, outer + masks), open_share)


def _varying(outer: Matrix, sample: Sample) -> Matrix:
    """The variance of the total score, if it has any."""
    if not outer.any():
        raise _without_variance(sample)
    return outer


def _without_variance(sample: Sample) -> EstimationError:
    return EstimationError(
        f"the sample ({sample.degrees_of_freedom:g} degrees of freedom) shows no variance, so nothing is known "
        "about the errors of the coefficients; a sample of one cluster tells of that cluster alone, and one of "
        "everybody has no errors of sampling."
    )


def _parts_of(matrix: Matrix, whole: Matrix) -> tuple[float, float]:
    """The least and the largest part of the variance that one covariance has of another, over all directions."""
    scale = np.sqrt(np.maximum(np.diagonal(whole), 1e-300))
    values, vectors = np.linalg.eigh(whole / np.outer(scale, scale))
    seen = values > _ROUND_OFF
    whiten = vectors[:, seen] / np.sqrt(values[seen])
    parts = np.linalg.eigvalsh(whiten.T @ (matrix / np.outer(scale, scale)) @ whiten)
    return float(parts[0]), float(parts[-1])


def sandwich(information: Matrix, outer: Matrix) -> Matrix:
    """The covariance of a root, from the derivative of its scores and the spread of their sum."""
    bread = inverse(information)
    meat_between: Matrix = bread @ outer @ bread.T
    return meat_between


def inverse(matrix: Matrix) -> Matrix:
    """The inverse of a covariance's inverse; its rows are scaled first, as coefficients may be of any size."""
    scale = np.sqrt(np.maximum(np.diagonal(matrix), 1e-300))
    scaled = matrix / np.outer(scale, scale)
    if not np.isfinite(scaled).all() or np.linalg.matrix_rank(scaled, hermitian=True) < len(scaled):
        raise EstimationError(
            "the covariance cannot be found: fewer records tell something than there are parameters. Leave terms out, "
            "or ask more people."
        )
    return np.asarray(np.linalg.inv(scaled) / np.outer(scale, scale), np.float64)
