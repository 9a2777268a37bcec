"""What masks add to the variance of a total score, which no population correction takes away.

Given the truth, the score of a record varies by its mask alone. With ``g_t`` the mean score of truth t that variance is
``E[s s' | t] - g_t g_t'``, and ``s s' - sum_t L_t(z) g_t g_t'`` estimates it without bias, whatever the truth and the
model are. A corrected score has the score of the truth as its mean; a likelihood's is averaged over all reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.inference.regression.corrected import Corrected
from maskwell.inference.regression.likelihood import Likelihood
from maskwell.inference.regression.masked import MaskedVariable, joined
from maskwell.inference.regression.model_frame import ModelFrame

_MOST_REPORTS = 1000
_CELLS_AT_ONCE = 1 << 22


def masking_variance(
    likelihood: Likelihood, theta: Vector, scores: Matrix, method: str, weights: Vector
) -> Matrix | None:
    """The sum over records of a weight times the covariance that masking gives to the record's score.

    None where the reports do not tell it: they do not determine the shares of all truths, or there are too many kinds.
    """
    frame = likelihood.frame
    if method == "corrected":
        truths = Corrected(frame, likelihood.family, np.sqrt(weights)).complete(theta)
    else:
        designs = [variable.designs for variable in frame.masked.values()]
        kinds = prod(max(design.report_count() for design in each) for each in designs)
        if kinds > _MOST_REPORTS or not all(design.estimable for each in designs for design in each):
            return None
        truths = _means_squared(likelihood, theta, weights)
    both: Matrix = (scores * weights[:, None]).T @ scores
    return both - truths


def _means_squared(likelihood: Likelihood, theta: Vector, weights: Vector) -> Matrix:
    """``sum_i w_i sum_t L_t(z_i) g_t g_t'``, some records at a time."""
    frame = likelihood.frame
    outcomes = 1 if frame.outcome.masked is None else len(frame.outcome.categories)
    each = max(1, _CELLS_AT_ONCE // (outcomes * len(frame.predictors) * likelihood.size))
    total = np.zeros((likelihood.size, likelihood.size))
    for first in range(0, frame.n, each):
        part = slice(first, min(first + each, frame.n))
        records = frame.at(part)
        counts = records.predictors.scores
        if records.outcome.masked is not None:
            assert records.outcome.scores is not None
            counts = joined(counts, records.outcome.scores)
        for count, mean in zip(counts.T, _means(likelihood, records, theta, counts.shape), strict=True):
            total += (mean * (weights[part] * count)[:, None]).T @ mean
    return total


def _means(likelihood: Likelihood, frame: ModelFrame, theta: Vector, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The mean score of each record by what its truth may be."""
    n, truths = shape
    means = np.zeros((truths, n, likelihood.size))
    for chances, reported in _reports(frame):
        scores = Likelihood(reported, likelihood.family, np.ones(n)).evaluate(theta, scores=True).scores
        assert scores is not None
        means += chances.T[:, :, None] * scores
    return means


def _reports(frame: ModelFrame) -> Iterator[tuple[Matrix, ModelFrame]]:
    """Every combination of reports that all records could have made: its chance by truth, and the records with it."""
    outcome, names = frame.outcome, frame.predictors.names
    hidden = [list(_chances(frame.masked[name], frame.masked[name].categories, frame.n)) for name in names]
    answers = None if outcome.masked is None else list(_chances(outcome.masked, outcome.categories, frame.n))
    for one in product(*hidden):
        chances = reduce(joined, one, np.ones((frame.n, 1)))
        asked = replace(frame, predictors=replace(frame.predictors, rows=_possible(chances)))
        if answers is None:
            yield chances, asked
            continue
        for answer in answers:
            yield joined(chances, answer), replace(asked, outcome=replace(outcome, rows=_possible(answer)))


def _chances(variable: MaskedVariable, categories: tuple[object, ...], n: int) -> Iterator[Matrix]:
    """For each report its chance by record and category; zeros for records of an arm whose design has fewer reports."""
    tables = [design.matrix()[:, [design.categories.index(c) for c in categories]] for design in variable.designs]
    arm = np.zeros(n, np.int64) if variable.arm_codes is None else variable.arm_codes
    for report in range(max(len(table) for table in tables)):
        by_arm = [table[report] if report < len(table) else np.zeros(len(categories)) for table in tables]
        yield np.array(by_arm)[arm]


def _possible(chances: Matrix) -> Matrix:
    """Chances that a likelihood can be taken of: a report that a record cannot have made tells it nothing."""
    made: NDArray[np.bool_] = np.any(chances, axis=1, keepdims=True)
    return np.where(made, chances, 1.0)
