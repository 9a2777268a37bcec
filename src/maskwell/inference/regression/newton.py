"""Finding parameters: the maximum of a likelihood, or the root of corrected scores, with a certificate or a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from maskwell.advice import Advice, Setting
from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.inference.regression.corrected import Corrected
from maskwell.inference.regression.identified import (
    LEAST_EIGENVALUE,
    NO_RESIDUAL,
    refuse_endless,
    refuse_exact,
    refuse_unidentified,
    require_identified,
    residual_variance,
    why_no_maximum,
)
from maskwell.inference.regression.likelihood import Evaluation, Likelihood

_ITERATIONS = 200
# A fit that has a maximum needs about ten steps. One that has not reached it by then may be on its way to infinity,
# which is asked at this step and at its multiples.
_PATIENCE = 20
# Very many records are fitted from where one of these parts leads; fewer parts than that are not worth it.
_PART, _LEAST_PARTS = 25_000, 4
_HALVINGS = 40
# A root of corrected scores needs as few steps; each that is no use costs some halvings.
_MOST_EVALUATIONS = 150
# Half the squared length of the remaining step, in standard errors: what is left to gain in log-likelihood.
_DECREMENT = 1e-10


@dataclass(frozen=True, eq=False)
class Solution:
    """Parameters with the derivatives there, and how far the solution can be from exact."""

    theta: Vector
    at: Evaluation
    complete: Matrix
    """The information if the truth had been seen; for corrected scores what their outer product would be."""
    decrement: float


def maximise(likelihood: Likelihood, names: Sequence[str], start: Vector | None = None) -> Solution:
    """The maximum of the likelihood by Newton's method; by the complete-data information where that would not climb."""
    theta = _start(likelihood, names) if start is None else start
    now = likelihood.evaluate(theta)
    for iteration in range(1, _ITERATIONS + 1):
        refuse_exact(likelihood, theta, now.gradient)
        if iteration % _PATIENCE == 0:
            refuse_endless(likelihood, theta, names)
        step, newton = _ascent(likelihood, theta, now)
        if step is None:
            break
        decrement = float(step @ now.gradient) / 2
        if newton and decrement < _DECREMENT:
            # One step more than is needed: near the maximum each step doubles the digits.
            theta, now = theta + step, likelihood.evaluate(theta + step)
            complete = likelihood.complete(theta)
            require_identified(likelihood, now.information, complete, names)
            return Solution(theta, now, complete, decrement)
        after = likelihood.evaluate(theta + step)
        # So near the maximum a value no longer tells a step up from a step down.
        if after.value > now.value or (newton and decrement < 1e-6 and after.value > now.value - 1e-9):
            theta, now = theta + step, after
            continue
        scale = 0.5
        for _ in range(_HALVINGS):
            if likelihood.value(theta + scale * step) > now.value:
                break
            scale /= 2
        else:
            break
        theta = theta + scale * step
        now = likelihood.evaluate(theta)
    raise EstimationError(why_no_maximum(likelihood, theta, now.information, names))


def _start(likelihood: Likelihood, names: Sequence[str]) -> Vector:
    """Parameters to start from: without any effect, or those that fit a part of very many records."""
    if likelihood.frame.n < _PART * _LEAST_PARTS:
        return likelihood.start()
    try:
        return maximise(likelihood.part(likelihood.frame.n // _PART), names).theta
    except EstimationError:  # a part may tell too little; all records decide
        return likelihood.start()


def _ascent(likelihood: Likelihood, theta: Vector, now: Evaluation) -> tuple[Vector | None, bool]:
    """A direction that climbs, if there is one: Newton's where the observed information is positive definite."""
    step = _solved(now.information, now.gradient, least=LEAST_EIGENVALUE / 100)
    if step is not None:
        return step, True
    return _solved(likelihood.complete(theta), now.gradient, ridge=1e-8), False


def _solved(matrix: Matrix, gradient: Vector, *, least: float = -np.inf, ridge: float = 0.0) -> Vector | None:
    """The step that an information gives; None where it has none, or a scaled eigenvalue below ``least``."""
    if not np.isfinite(matrix).all():
        return None
    scale = np.sqrt(np.maximum(np.diagonal(matrix), 1e-300))
    scaled = matrix / np.outer(scale, scale)
    try:
        if np.linalg.eigvalsh(scaled)[0] < least:
            return None
        step = np.linalg.solve(scaled + ridge * np.eye(len(scaled)), gradient / scale) / scale
    except np.linalg.LinAlgError:
        return None
    return np.asarray(step) if np.isfinite(step).all() else None


def solve(likelihood: Likelihood, names: Sequence[str], start: Vector | None = None) -> Solution:
    """The root of the corrected scores of a model by Newton's method, as long as they can be trusted."""
    corrected = Corrected(likelihood.frame, likelihood.family, likelihood.weights)
    theta = likelihood.start()[: likelihood.outcome_size] if start is None else start
    if likelihood.family.numeric:
        theta = _least_squares(likelihood, corrected, theta)
    now = corrected.evaluate(theta)
    evaluations = 1
    for _ in range(_ITERATIONS):
        step = _solved(now.information, now.gradient)
        if step is None:
            break
        decrement = abs(float(step @ now.gradient)) / 2
        if decrement < _DECREMENT:
            theta = theta + step
            now = corrected.evaluate(theta, scores=True)
            _require_definite(now.information, names)
            return Solution(theta, now, corrected.complete(theta), decrement)
        length, scale = _length(now), 1.0
        for _ in range(min(_HALVINGS, _MOST_EVALUATIONS - evaluations)):
            evaluations += 1
            after = corrected.evaluate(theta + scale * step)
            if np.isfinite(after.gradient).all() and _length(after) < length:
                break
            scale /= 2
        else:
            break
        theta, now = theta + scale * step, after
    raise EstimationError(_INDEFINITE)


def _least_squares(likelihood: Likelihood, corrected: Corrected, theta: Vector) -> Vector:
    """The root for a normal outcome: coefficients do not depend on the scale, which is that of their residuals."""
    now = corrected.evaluate(theta)
    step = _solved(now.information[:-1, :-1], now.gradient[:-1])
    if step is None:
        raise EstimationError(_INDEFINITE)
    theta = theta + np.append(step, 0.0)
    gradient = corrected.evaluate(theta).gradient
    refuse_exact(likelihood, theta, gradient)
    variance = residual_variance(likelihood, theta, gradient)
    if not variance > 0:
        raise EstimationError(NO_RESIDUAL)
    return np.append(theta[:-1], 0.5 * np.log(variance))


_INDEFINITE = Advice(
    "the corrected scores have no root that can be trusted: their Hessian is not positive definite, as happens with "
    "few reports or strong masking of predictors. Ask more people, or use ",
    Setting("method", "likelihood"),
    ".",
)


def _length(now: Evaluation) -> float:
    scale = np.sqrt(np.maximum(np.abs(np.diagonal(now.information)), 1e-300))
    with np.errstate(over="ignore"):
        return float(np.linalg.norm(now.gradient / scale))


def _require_definite(hessian: Matrix, names: Sequence[str]) -> None:
    symmetric = (hessian + hessian.T) / 2
    if (np.linalg.eigvalsh(symmetric) <= 0).any():
        raise EstimationError(_INDEFINITE)
    refuse_unidentified(symmetric, names)
