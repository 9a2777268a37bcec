"""The likelihood of masked data: a mixture over what the truth may have been.

For record i and combination c of masked predictors the chance is ``R_ic pi_c(v_i; alpha) sum_j Q_ij mu_j(eta_ic)``:
what the report says about the predictors, a multinomial logit of the predictors on everything that was seen (only if
some are masked), and what the report says about the outcome. With tau the posterior chances, the score is the
complete-data score averaged by tau, and the observed information is that of Louis (1982): the average complete-data
information less the posterior covariance of the complete-data score.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.inference.regression.families import Family, Multinomial, Outlook
from maskwell.inference.regression.model_frame import ModelFrame

_CELLS_AT_ONCE = 1 << 18


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The log-likelihood and its derivatives at some parameters."""

    value: float
    gradient: Vector
    information: Matrix
    complete: Matrix
    scores: Matrix | None = None
    """The score of each record, unweighted, where it was asked for."""


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The log-likelihood of a model as a function of all parameters: the family's first, then the predictors' model."""

    frame: ModelFrame
    family: Family
    weights: Vector

    @cached_property
    def maps(self) -> list[Matrix]:
        """How parameters become the family's linear predictors."""
        return self.family.maps(self.frame.matrices.shape[2])

    @cached_property
    def nuisance(self) -> Multinomial | None:
        """The model of the masked predictors; None if all predictors were seen."""
        return Multinomial(len(self.frame.predictors)) if len(self.frame.predictors) > 1 else None

    @cached_property
    def background_maps(self) -> list[Matrix]:
        """How parameters become the log odds of the masked predictors."""
        return [] if self.nuisance is None else self.nuisance.maps(self.frame.background.shape[1])

    @property
    def outcome_size(self) -> int:
        """How many parameters the family has."""
        return int(self.maps[0].shape[1])

    @property
    def size(self) -> int:
        """How many parameters there are in all."""
        return self.outcome_size + (self.background_maps[0].shape[1] if self.background_maps else 0)

    def start(self) -> Vector:
        """Parameters without any effect, at the overall shares."""
        outcome, total = self.frame.outcome, self.weights.sum()
        if outcome.values is not None:
            mean = float(self.weights @ outcome.values / total)
            spread = float(np.sqrt(self.weights @ (outcome.values - mean) ** 2 / total))
            shares = np.array([mean, spread])
        else:
            assert outcome.scores is not None
            found = self.weights @ outcome.scores / total
            usable = abs(found.sum() - 1) < 1e-6  # not so for a design that cannot estimate all shares
            shares = np.maximum(found, 0.02) if usable else np.full(self.family.k, 1 / self.family.k)
            shares = shares / shares.sum()
        theta = self.family.start(self.frame.matrices.shape[2], shares)
        if self.nuisance is None:
            return theta
        among = np.maximum(self.weights @ self.frame.predictors.scores / total, 0.02)
        return np.concatenate([theta, self.nuisance.start(self.frame.background.shape[1], among / among.sum())])

    def value(self, theta: Vector) -> float:
        """The log-likelihood; minus infinity where the parameters are not possible."""
        total = 0.0
        for part in self._parts():
            logs = self._joint(theta, part)[0]
            total += float(self.weights[part] @ _log_sum(logs))
        return total if np.isfinite(total) else -np.inf

    def evaluate(self, theta: Vector, *, scores: bool = False) -> Evaluation:
        """The log-likelihood with its gradient, observed information and average complete-data information."""
        q = self.size
        value, gradient = 0.0, np.zeros(q)
        information, complete = np.zeros((q, q)), np.zeros((q, q))
        kept = np.empty((self.frame.n, q)) if scores else None
        for part in self._parts():
            w = self.weights[part]
            logs, outlooks, within, chances = self._joint(theta, part)
            whole = _log_sum(logs)
            value += float(w @ whole)
            tau = np.exp(logs - whole[:, None])
            if len(outlooks) == 1 and kept is None:
                moments = outlooks[0].moments(within[0])
                x, g = self.frame.matrices[0, part], moments.gradient
                for m, u in zip(self.maps, g.T, strict=True):
                    gradient += m[:-1].T @ ((w * u) @ x) + m[-1] * (w @ u)
                complete += gathered(x, self.maps, moments.curvature, w)
                information -= gathered(x, self.maps, moments.outer - g[:, :, None] * g[:, None, :], w)
                continue
            pieces = [self._scored(part, c, outlooks[c], within[c], chances) for c in range(len(outlooks))]
            mean = np.einsum("nc,cnq->nq", tau, np.stack([piece[0] for piece in pieces]))
            gradient += w @ mean
            if kept is not None:
                kept[part] = mean
            spread = (mean * w[:, None]).T @ mean
            for c, (score, first, curvature) in enumerate(pieces):
                weight = w * tau[:, c]
                complete += self._complete(part, c, curvature, weight, chances)
                information -= self._within_outcome(part, c, first, weight)
                information -= (score * weight[:, None]).T @ score
            information += spread
        information += complete
        return Evaluation(value, gradient, _symmetric(information), _symmetric(complete), kept)

    # The pieces of a chunk of records.

    def _parts(self) -> Iterator[slice]:
        each = max(256, _CELLS_AT_ONCE // (len(self.frame.predictors) * max(4, self.size)))
        for first in range(0, self.frame.n, each):
            yield slice(first, min(first + each, self.frame.n))

    def _joint(self, theta: Vector, part: slice) -> tuple[Matrix, list[Outlook], list[Matrix], Matrix | None]:
        """Log joint chances by combination; for each its outlook and posterior over outcomes; log chances of each."""
        frame, outcome = self.frame, self.frame.outcome
        values = None if outcome.values is None else outcome.values[part]
        with np.errstate(divide="ignore"):
            known = np.zeros((1, 1)) if outcome.rows is None else np.log(outcome.rows[part])
            logs = np.log(frame.predictors.rows[part])
        chances = None
        if self.nuisance is not None:
            odds = linear_predictors(frame.background[part], self.background_maps, theta[self.outcome_size :])
            chances = self.nuisance.outlook(odds, None).log_chances
            logs = logs + chances
        outlooks, within = [], []
        columns = []
        for c in range(len(frame.predictors)):
            eta = linear_predictors(frame.matrices[c, part], self.maps, theta[: self.outcome_size])
            outlook = self.family.outlook(eta, values)
            both = known + outlook.log_chances
            whole = _log_sum(both)
            with np.errstate(invalid="ignore"):
                within.append(np.nan_to_num(np.exp(both - whole[:, None])))
            outlooks.append(outlook)
            columns.append(whole)
        return logs + np.column_stack(columns), outlooks, within, chances

    def _scored(
        self, part: slice, c: int, outlook: Outlook, within: Matrix, chances: Matrix | None
    ) -> tuple[Matrix, NDArray[np.float64], NDArray[np.float64]]:
        """Scores of the records if c were the truth; the outcome's spread of scores; its complete curvature."""
        moments = outlook.moments(within)
        score = pulled(self.frame.matrices[c, part], self.maps, moments.gradient)
        spread = moments.outer - moments.gradient[:, :, None] * moments.gradient[:, None, :]
        if chances is None:
            return score, spread, moments.curvature
        apart = -np.exp(chances)[:, 1:]
        if c:
            apart[:, c - 1] += 1
        return (
            np.concatenate([score, pulled(self.frame.background[part], self.background_maps, apart)], axis=1),
            spread,
            moments.curvature,
        )

    def _within_outcome(self, part: slice, c: int, spread: NDArray[np.float64], weight: Vector) -> Matrix:
        """What not seeing the outcome takes from the information."""
        wide = np.zeros((self.size, self.size))
        m = self.outcome_size
        wide[:m, :m] = gathered(self.frame.matrices[c, part], self.maps, spread, weight)
        return wide

    def _complete(
        self, part: slice, c: int, curvature: NDArray[np.float64], weight: Vector, chances: Matrix | None
    ) -> Matrix:
        """The information if the truth were c and had been seen."""
        wide = np.zeros((self.size, self.size))
        m = self.outcome_size
        wide[:m, :m] = gathered(self.frame.matrices[c, part], self.maps, curvature, weight)
        if chances is not None:
            p = np.exp(chances)[:, 1:]
            spread = -p[:, :, None] * p[:, None, :]
            spread[:, np.arange(p.shape[1]), np.arange(p.shape[1])] += p
            wide[m:, m:] = gathered(self.frame.background[part], self.background_maps, spread, weight)
        return wide


def linear_predictors(x: Matrix, maps: list[Matrix], theta: Vector) -> Matrix:
    """The linear predictors of records: ``(x, 1) M_r theta`` for each r."""
    along = np.column_stack([m @ theta for m in maps])
    eta: Matrix = x @ along[:-1] + along[-1]
    return eta


def pulled(x: Matrix, maps: list[Matrix], gradient: Matrix) -> Matrix:
    """Scores by parameter from gradients by linear predictor."""
    n = len(x)
    score = np.zeros((n, maps[0].shape[1]))
    for r, m in enumerate(maps):
        score += gradient[:, r, None] * (x @ m[:-1] + m[-1])
    return score


def gathered(x: Matrix, maps: list[Matrix], curvature: NDArray[np.float64], weight: Vector) -> Matrix:
    """``sum_i w_i Z_i' C_i Z_i`` by parameter, where the rows of ``Z_i`` are ``(x_i, 1) M_r``."""
    p = x.shape[1]
    total = np.zeros((maps[0].shape[1], maps[0].shape[1]))
    for r, left in enumerate(maps):
        for s, right in enumerate(maps[: r + 1]):
            w = weight * curvature[:, r, s]
            inner = np.empty((p + 1, p + 1))
            inner[:p, :p] = (x * w[:, None]).T @ x
            inner[p, :p] = inner[:p, p] = w @ x
            inner[p, p] = w.sum()
            block = left.T @ inner @ right
            total += block if r == s else block + block.T
    return total


def _log_sum(logs: Matrix) -> Vector:
    top = logs.max(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        summed: Vector = top + np.log(np.exp(logs - top[:, None]).sum(axis=1))
    return np.where(np.isneginf(top), -np.inf, summed)


def _symmetric(matrix: Matrix) -> Matrix:
    halves: Matrix = (matrix + matrix.T) / 2
    return halves
