"""What masks add to the variance of a total score, which no population correction takes away.

Given the truth, the score of a record varies by its mask alone. With ``g_t`` the mean score of truth t that variance is
``E[s s' | t] - g_t g_t'``, and ``s s' - sum_t L_t(z) g_t g_t'`` estimates it without bias, whatever the truth and the
model are. A corrected score has the score of the truth as its mean. A likelihood's is averaged over all reports; where
people were put into arms at random it also depends on the arm, which no population correction takes away either.
"""

from __future__ import annotations

from functools import reduce
from math import prod

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.inference.regression.corrected import Corrected
from maskwell.inference.regression.frame.masked import joined
from maskwell.inference.regression.frame.model_frame import ModelFrame
from maskwell.inference.regression.likelihood import Likelihood

MOST_KINDS = 1000
"""Of reports that are all gone through."""
_MOST_PRODUCTS = 1 << 35  # some ten seconds
_CELLS_AT_ONCE = 1 << 22


def masking_variance(
    likelihood: Likelihood, theta: Vector, scores: Matrix, method: str, share: Vector
) -> Matrix | None:
    """The sum over records of a share times the covariance that masking gives to the record's score.

    None where the reports do not tell it: they do not determine the shares of all truths, are of too many kinds, or
    were drawn by designs that went with arms.
    """
    if method == "corrected":
        truths = Corrected(likelihood.frame, likelihood.family, share).complete(theta)
    elif (table := _chances(likelihood.frame)) is not None:
        truths = _means_squared(likelihood, theta, table, share)
    else:
        return None
    both: Matrix = (scores * share[:, None]).T @ scores
    found: Matrix = both - truths
    return found if np.isfinite(found).all() else None


def _chances(frame: ModelFrame) -> Matrix | None:
    """The chance of each combination of reports by what the truth may be; None if masking cannot be told from these."""
    hidden = [(frame.masked[name], frame.masked[name].categories) for name in frame.predictors.names]
    if frame.outcome.masked is not None:
        hidden.append((frame.outcome.masked, frame.outcome.categories))
    if any(len(variable.designs) > 1 or not variable.designs[0].estimable for variable, _ in hidden):
        return None
    kinds = prod(variable.designs[0].report_count() for variable, _ in hidden)
    truths = prod(len(categories) for _, categories in hidden)
    if kinds > MOST_KINDS or frame.n * kinds * truths**2 > _MOST_PRODUCTS:
        return None
    table = np.ones((1, 1))
    for variable, categories in hidden:
        design = variable.designs[0]
        order = [design.categories.index(category) for category in categories]
        table = np.kron(table, design.matrix()[:, order])
    return table


def _means_squared(likelihood: Likelihood, theta: Vector, table: Matrix, share: Vector) -> Matrix:
    """``sum_i a_i sum_t L_t(z_i) g_t g_t'``, some records at a time."""
    frame, truths = likelihood.frame, table.shape[1]
    told = [frame.predictors.scores]
    if frame.outcome.masked is not None:
        assert frame.outcome.scores is not None
        told.append(frame.outcome.scores)
    each = max(1, _CELLS_AT_ONCE // (truths * (truths + 2 * likelihood.size)))
    total = np.zeros((likelihood.size, likelihood.size))
    for first in range(0, frame.n, each):
        part = slice(first, min(first + each, frame.n))
        counts = reduce(joined, (scores[part] for scores in told))
        for count, mean in zip(counts.T, _means(likelihood, theta, table, part), strict=True):
            total += (mean * (share[part] * count)[:, None]).T @ mean
    return total


def _means(likelihood: Likelihood, theta: Vector, table: Matrix, part: slice) -> NDArray[np.float64]:
    """The mean score of each record by what its truth may be.

    A score is that of each truth, averaged by its posterior chance, ``P(z|s) p_s / sum_u P(z|u) p_u``. Averaged over
    the reports of truth t, that is ``p_s sum_z P(z|t) P(z|s) / sum_u P(z|u) p_u``.
    """
    with np.errstate(all="ignore"):
        scores, logs = _of_truths(likelihood, theta, part)
        prior = np.exp(logs - logs.max(axis=1, keepdims=True))
        chance = prior @ table.T
        inverse = np.where(chance > 0, 1 / chance, 0.0)
        pairs = (table[:, :, None] * table[:, None, :]).reshape(len(table), -1)
        shares = (inverse @ pairs).reshape(len(prior), table.shape[1], -1) * prior[:, None, :]
        return np.asarray(np.einsum("nts,snq->tnq", shares, scores, optimize=True))


def _of_truths(likelihood: Likelihood, theta: Vector, part: slice) -> tuple[NDArray[np.float64], Matrix]:
    """The score of each record if a truth were seen, and the log of its chance before the reports, by truth."""
    outcome = likelihood.frame.outcome
    outlooks, chances = likelihood.priors(theta, part)
    scores, logs = [], []
    for c, outlook in enumerate(outlooks):
        n, k = outlook.log_chances.shape
        if outcome.masked is not None:
            seen = [np.tile(one, (n, 1)) for one in np.eye(k)]
        else:
            seen = [np.ones((n, 1)) if outcome.rows is None else outcome.rows[part]]
        for one in seen:
            scores.append(likelihood.score(part, c, outlook.moments(one).gradient, chances))
            log = np.where(one > 0, outlook.log_chances, 0.0).sum(axis=1)
            logs.append(log if chances is None else log + chances[:, c])
    return np.array(scores), np.column_stack(logs)
