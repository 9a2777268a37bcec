"""Finding parameters: the maximum of a likelihood, or the root of corrected scores, with a certificate or a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from maskwell.advice import Advice, Setting
from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.inference.regression.corrected import Corrected
from maskwell.inference.regression.likelihood import Evaluation, Likelihood

_ITERATIONS = 200
# Very many records are fitted from where one of these parts leads; fewer parts than that are not worth it.
_PART, _LEAST_PARTS = 25_000, 4
_HALVINGS = 40
# Half the squared length of the remaining step, in standard errors: what is left to gain in log-likelihood.
_DECREMENT = 1e-10
_LEAST_EIGENVALUE = 1e-9  # of an information that is scaled to ones on its diagonal
_FAR = 15.0  # of a coefficient times the spread of its column: chances within 3e-7 of 0 or 1


@dataclass(frozen=True, eq=False)
class Solution:
    """Parameters with the derivatives there, and how far the solution can be from exact."""

    theta: Vector
    at: Evaluation
    decrement: float
    iterations: int


def maximise(likelihood: Likelihood, names: Sequence[str]) -> Solution:
    """The maximum of the likelihood by Newton's method; by the complete-data information where that would not climb."""
    theta = _start(likelihood, names)
    now = likelihood.evaluate(theta)
    for iteration in range(1, _ITERATIONS + 1):
        step, newton = _ascent(likelihood, theta, now)
        decrement = float(step @ now.gradient) / 2
        if newton and decrement < _DECREMENT:
            _require_identified(now.information, theta, likelihood, names)
            # One step more than is needed: near the maximum each step doubles the digits.
            return Solution(theta + step, likelihood.evaluate(theta + step), decrement, iteration)
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
    raise EstimationError(_why_not(likelihood, theta, now, names))


def _start(likelihood: Likelihood, names: Sequence[str]) -> Vector:
    """Parameters to start from: without any effect, or those that fit a part of very many records."""
    if likelihood.frame.n < _PART * _LEAST_PARTS:
        return likelihood.start()
    try:
        return maximise(likelihood.part(likelihood.frame.n // _PART), names).theta
    except EstimationError:  # a part may tell too little; all records decide
        return likelihood.start()


def _ascent(likelihood: Likelihood, theta: Vector, now: Evaluation) -> tuple[Vector, bool]:
    """A direction that climbs: Newton's where the observed information is positive definite."""
    step = _solved(now.information, now.gradient, least=_LEAST_EIGENVALUE / 100)
    if step is not None:
        return step, True
    step = _solved(likelihood.complete(theta), now.gradient, ridge=1e-8)
    if step is None:
        raise EstimationError("the model has no information about its parameters; check for columns that never vary.")
    return step, False


def _solved(matrix: Matrix, gradient: Vector, *, least: float = -np.inf, ridge: float = 0.0) -> Vector | None:
    """The step that an information gives; None where it has none, or a scaled eigenvalue below ``least``."""
    scale = np.sqrt(np.maximum(np.diagonal(matrix), 1e-300))
    scaled = matrix / np.outer(scale, scale)
    try:
        if np.linalg.eigvalsh(scaled)[0] < least:
            return None
        step = np.linalg.solve(scaled + ridge * np.eye(len(scaled)), gradient / scale) / scale
    except np.linalg.LinAlgError:
        return None
    return np.asarray(step) if np.isfinite(step).all() else None


def _require_identified(information: Matrix, theta: Vector, likelihood: Likelihood, names: Sequence[str]) -> None:
    """An error that names what the data do not tell, rather than a standard error of any size."""
    if (separated := _separated(likelihood, theta, names)) is not None:
        raise EstimationError(separated)
    refuse_unidentified(information, names)


def refuse_unidentified(information: Matrix, names: Sequence[str]) -> None:
    """An error unless the information, scaled to ones on its diagonal, is clearly positive definite."""
    diagonal = np.diagonal(information)
    if (diagonal <= 0).any():
        at = int(np.argmin(diagonal))
        raise EstimationError(f"the data tell nothing about {_named(names, at)}; leave it out, or ask more people.")
    scale = np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    if values[0] < _LEAST_EIGENVALUE:
        strongest = np.argsort(-np.abs(vectors[:, 0]))[:3]
        together = ", ".join(_named(names, int(at)) for at in sorted(strongest) if abs(vectors[at, 0]) > 0.05)
        raise EstimationError(
            f"the data cannot tell {together} apart: the information is singular (scaled eigenvalue {values[0]:.2g}). "
            "Leave one of them out."
        )


def _separated(likelihood: Likelihood, theta: Vector, names: Sequence[str]) -> str | None:
    """Which term predicts the outcome without exception, so that its coefficient has no finite estimate."""
    if likelihood.family.numeric or likelihood.family.name == "identity":
        return None
    x = likelihood.frame.matrices[0]
    spread = np.append(np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0), 1.0)
    for m in likelihood.maps:
        reach = np.abs(m @ np.diag(theta[: likelihood.outcome_size])) * spread[:, None]
        at = int(np.argmax(reach.max(axis=0)))
        if reach.max() > _FAR:
            return (
                f"{_named(names, at)} has no finite estimate: along it the outcome is predicted without exception "
                "(separation). Leave it out, or join categories."
            )
    return None


def _why_not(likelihood: Likelihood, theta: Vector, now: Evaluation, names: Sequence[str]) -> str:
    """What stands in the way of a maximum."""
    if (separated := _separated(likelihood, theta, names)) is not None:
        return separated
    if likelihood.family.name == "identity":
        return Advice(
            "the likelihood grows up to the limit where a chance leaves [0, 1], so the linear model does not fit these "
            "chances; use family='logit', or ",
            Setting("method", "corrected"),
            ", which is least squares.",
        )
    refuse_unidentified(now.information, names)
    return "the likelihood has no clear maximum; the model asks too much of these reports. Leave terms out."


def solve(corrected: Corrected, start: Vector, names: Sequence[str]) -> Solution:
    """The root of the corrected scores by Newton's method, as long as they can be trusted."""
    theta = start
    now = corrected.evaluate(theta)
    for iteration in range(1, _ITERATIONS + 1):
        try:
            step = np.linalg.solve(now.information, now.gradient)
        except np.linalg.LinAlgError:
            break
        decrement = abs(float(step @ now.gradient)) / 2
        if decrement < _DECREMENT:
            _require_definite(now.information, names)
            return Solution(theta + step, corrected.evaluate(theta + step), decrement, iteration)
        length, scale = _length(now), 1.0
        for _ in range(_HALVINGS):
            after = corrected.evaluate(theta + scale * step)
            if np.isfinite(after.gradient).all() and _length(after) < length:
                break
            scale /= 2
        else:
            break
        theta, now = theta + scale * step, after
    raise EstimationError(_INDEFINITE)


_INDEFINITE = Advice(
    "the corrected scores have no root that can be trusted: their Hessian is not positive definite, as happens with "
    "few reports or strong masking of predictors. Ask more people, or use ",
    Setting("method", "likelihood"),
    ".",
)


def _length(now: Evaluation) -> float:
    scale = np.sqrt(np.maximum(np.abs(np.diagonal(now.information)), 1e-300))
    return float(np.linalg.norm(now.gradient / scale))


def _require_definite(hessian: Matrix, names: Sequence[str]) -> None:
    symmetric = (hessian + hessian.T) / 2
    if (np.linalg.eigvalsh(symmetric) <= 0).any():
        raise EstimationError(_INDEFINITE)
    refuse_unidentified(symmetric, names)


def _named(names: Sequence[str], at: int) -> str:
    return repr(names[at]) if at < len(names) else "the distribution of the masked predictors"
