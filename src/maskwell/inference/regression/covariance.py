"""The covariance of fitted parameters, by three conventions, or over a complex sample."""

from __future__ import annotations

from typing import Literal

import numpy as np

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.inference.regression.likelihood import Evaluation
from maskwell.inference.regression.model_frame import ModelFrame
from maskwell.inference.sample.sample import Sample

CovarianceType = Literal["observed", "opg", "robust"]


def covariance_of(
    at: Evaluation, frame: ModelFrame, weights: Vector, cov_type: CovarianceType, sample: Sample | None = None
) -> Matrix:
    """The covariance of the parameters of an evaluation that has scores, unless it is that of observed information."""
    if sample is not None:
        return _in_sample(at, frame, weights, sample)
    if cov_type == "observed":
        return inverse(at.information)
    assert at.scores is not None
    weighted = at.scores * weights[:, None]
    outer = weighted.T @ weighted
    if cov_type == "opg":
        return inverse(outer)
    return sandwich(at.information, outer)


def _in_sample(at: Evaluation, frame: ModelFrame, weights: Vector, sample: Sample) -> Matrix:
    """The sandwich with the variance of the total score over samples like this one."""
    assert at.scores is not None
    scores = np.zeros((len(frame.kept), at.scores.shape[1]))
    scores[frame.kept] = at.scores
    scale = weights.sum() / float(sample.weights[frame.kept].sum())
    if sample.replicates is not None:
        again = scale * (sample.replicates.weights.T @ scores)
        rows = np.sqrt(sample.replicates.factors)[:, None] * again
        outer = rows.T @ rows
    else:
        rows, lacking = sample.spread(scale * scores)
        outer = rows.T @ rows
        # What a population correction took away is given back: masks, and the model itself, vary all the same.
        weighted = scores * (scale * sample.weights)[:, None]
        outer += (weighted * lacking[:, None]).T @ weighted
    return sandwich(at.information, outer)


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
