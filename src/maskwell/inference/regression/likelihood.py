"""The likelihood of masked data: a mixture over what the truth may have been.

For record i and combination c of masked predictors the chance is ``R_ic pi_c(v_i; alpha) sum_j Q_ij mu_j(eta_ic)``:
what the report says about the predictors, a multinomial logit of the predictors on everything that was seen (only if
some are masked), and what the report says about the outcome. With tau the posterior chances, the score is the
complete-data score averaged by tau, and the observed information is that of Louis (1982): the average complete-data
information less the posterior covariance of the complete-data score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.inference.regression.families.family import Family, Outlook
from maskwell.inference.regression.families.multinomial import Multinomial
from maskwell.inference.regression.frame.model_frame import ModelFrame
from maskwell.sampling.threads import worker_count

_CELLS_AT_ONCE = 1 << 18
_T = TypeVar("_T")
_Sums = tuple[float, Vector, Matrix]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The log-likelihood and its derivatives at some parameters."""

    value: float
    gradient: Vector
    information: Matrix
    scores: Matrix | None = None
    """The score of each record, unweighted, where it was asked for."""


class _Joint(NamedTuple):
    """What some records say at some parameters.

    The logarithm of each report's chance, the posterior chances of the combinations of masked predictors, for each
    combination the outcomes with their posterior chances, and the log chances of the combinations before the reports.
    """

    whole: Vector
    among: Matrix
    outlooks: list[Outlook]
    within: list[Matrix]
    chances: Matrix | None


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

    def part(self, every: int) -> Likelihood:
        """The likelihood of every so manieth record."""
        chosen = slice(None, None, every)
        return Likelihood(self.frame.at(chosen), self.family, self.weights[chosen])

    def value(self, theta: Vector) -> float:
        """The log-likelihood; minus infinity where the parameters are not possible."""
        total = sum(self._over_parts(lambda part: float(self.weights[part] @ self._joint(theta, part).whole)))
        return total if np.isfinite(total) else -np.inf

    def evaluate(self, theta: Vector, *, scores: bool = False) -> Evaluation:
        """The log-likelihood with its gradient and observed information; the score of each record where asked for."""
        kept = np.empty((self.frame.n, self.size)) if scores else None
        add = self._seen if self.nuisance is None else self._mixed
        value, gradient, information = 0.0, np.zeros(self.size), np.zeros((self.size, self.size))
        for part_value, part_gradient, part_information in self._over_parts(lambda part: add(theta, part, kept)):
            value += part_value
            gradient += part_gradient
            information += part_information
        return Evaluation(value if np.isfinite(value) else -np.inf, gradient, _symmetric(information), kept)

    def complete(self, theta: Vector) -> Matrix:
        """The information if the truth had been seen, averaged over what it may have been."""
        return _symmetric(np.asarray(sum(self._over_parts(lambda part: self._complete(theta, part)))))

    # Some records at a time.

    def _over_parts(self, function: Callable[[slice], _T]) -> Iterator[_T]:
        """The results for all records in their order, part by part and in threads: few parts are in memory at once."""
        each = max(256, _CELLS_AT_ONCE // (len(self.frame.predictors) * max(4, self.size)))
        parts = [slice(first, min(first + each, self.frame.n)) for first in range(0, self.frame.n, each)]
        with np.errstate(all="ignore"):  # what is not possible shows in the value
            if len(parts) == 1:
                yield function(parts[0])
                return
            with ThreadPoolExecutor(worker_count(self.frame.n, each)) as pool:
                yield from pool.map(function, parts)

    def _seen(self, theta: Vector, part: slice, kept: Matrix | None) -> _Sums:
        """Records whose predictors were all seen: derivatives by linear predictor, gathered once."""
        w, x = self.weights[part], self.frame.matrices[0, part]
        joint = self._joint(theta, part)
        slope, curvature = joint.outlooks[0].observed(joint.within[0])
        gradient = np.zeros(self.size)
        for m, u in zip(self.maps, slope.T, strict=True):
            gradient += m[:-1].T @ ((w * u) @ x) + m[-1] * (w @ u)
        if kept is not None:
            kept[part] = pulled(x, self.maps, slope)
        return float(w @ joint.whole), gradient, gathered(x, self.maps, curvature, w)

    def _mixed(self, theta: Vector, part: slice, kept: Matrix | None) -> _Sums:
        """Records with masked predictors: complete-data scores by combination, averaged by posterior chance."""
        w, m = self.weights[part], self.outcome_size
        joint = self._joint(theta, part)
        mean, information = np.zeros((len(w), self.size)), np.zeros((self.size, self.size))
        for c, outlook in enumerate(joint.outlooks):
            x, weight = self.frame.matrices[c, part], w * joint.among[:, c]
            slope, curvature = outlook.observed(joint.within[c])
            score = self.score(part, c, slope, joint.chances)
            information[:m, :m] += gathered(x, self.maps, curvature, weight)
            information -= (score * weight[:, None]).T @ score
            mean += score * joint.among[:, c, None]
        information += (mean * w[:, None]).T @ mean
        self._add_background(information, part, joint.chances)
        if kept is not None:
            kept[part] = mean
        return float(w @ joint.whole), w @ mean, information

    def _complete(self, theta: Vector, part: slice) -> Matrix:
        complete, m = np.zeros((self.size, self.size)), self.outcome_size
        joint = self._joint(theta, part)
        for c, outlook in enumerate(joint.outlooks):
            curvature = outlook.expected(joint.within[c])
            weight = self.weights[part] * joint.among[:, c]
            complete[:m, :m] += gathered(self.frame.matrices[c, part], self.maps, curvature, weight)
        self._add_background(complete, part, joint.chances)
        return complete

    def priors(self, theta: Vector, part: slice) -> tuple[list[Outlook], Matrix | None]:
        """Before the reports: the outcomes for each combination of masked predictors, and its log chances."""
        values = None if self.frame.outcome.values is None else self.frame.outcome.values[part]
        outlooks = [
            self.family.outlook(linear_predictors(x, self.maps, theta[: self.outcome_size]), values)
            for x in self.frame.matrices[:, part]
        ]
        if self.nuisance is None:
            return outlooks, None
        odds = linear_predictors(self.frame.background[part], self.background_maps, theta[self.outcome_size :])
        return outlooks, self.nuisance.outlook(odds, None).log_chances

    def score(self, part: slice, c: int, slope: Matrix, chances: Matrix | None) -> Matrix:
        """Scores if combination c were the truth, from their gradients by linear predictor of the outcome."""
        own = pulled(self.frame.matrices[c, part], self.maps, slope)
        return own if chances is None else np.hstack([own, self._background_scores(part, c, chances)])

    def _joint(self, theta: Vector, part: slice) -> _Joint:
        from maskwell.inference.regression.kernels import posteriors

        frame, outcome = self.frame, self.frame.outcome
        known = np.ones((1, 1)) if outcome.rows is None else outcome.rows[part]
        with np.errstate(all="ignore"):
            outlooks, chances = self.priors(theta, part)
            columns, within = zip(*(posteriors(known, each.log_chances) for each in outlooks), strict=True)
            if chances is None:
                return _Joint(columns[0], np.ones((len(columns[0]), 1)), outlooks, list(within), None)
            whole, among = posteriors(frame.predictors.rows[part], chances + np.column_stack(columns))
        return _Joint(whole, among, outlooks, list(within), chances)

    def _background_scores(self, part: slice, c: int, chances: Matrix) -> Matrix:
        """The scores of the predictors' model if c were the truth."""
        apart = -np.exp(chances)[:, 1:]
        if c:
            apart[:, c - 1] += 1
        return pulled(self.frame.background[part], self.background_maps, apart)

    def _add_background(self, information: Matrix, part: slice, chances: Matrix | None) -> None:
        """What the predictors' model adds to the complete information, whatever the truth is."""
        if chances is None:
            return
        m, p = self.outcome_size, np.exp(chances)[:, 1:]
        spread = -p[:, :, None] * p[:, None, :]
        spread[:, np.arange(p.shape[1]), np.arange(p.shape[1])] += p
        information[m:, m:] += gathered(self.frame.background[part], self.background_maps, spread, self.weights[part])


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
    from maskwell.inference.regression.kernels import products

    inner = products(x, curvature, weight)
    total = np.zeros((maps[0].shape[1], maps[0].shape[1]))
    for r, left in enumerate(maps):
        for s, right in enumerate(maps[: r + 1]):
            block = left.T @ inner[r, s] @ right
            total += block if r == s else block + block.T
    return total


def _symmetric(matrix: Matrix) -> Matrix:
    halves: Matrix = (matrix + matrix.T) / 2
    return halves
