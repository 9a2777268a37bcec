"""Scores of groups from their linear estimates: for tallies with weights, or without their distinct reports.

A linear estimate is a mean of scores with a known covariance S at the common population. Its score about that
population is ``S^+ (estimate - population)`` and its information ``S^+``.
"""

from __future__ import annotations

import numpy as np

from maskwell.designs.base import Matrix, Vector
from maskwell.inference.draws import derived_seed, draw_codes
from maskwell.inference.hypotheses.group_scores import Comparison, GroupScores
from maskwell.inference.joint import linear_estimate
from maskwell.inference.linear import LinearEstimate
from maskwell.inference.simplex import interior, project
from maskwell.reports.tally import Tally
from maskwell.sampling.entropy import Source
from maskwell.sampling.samplers import draw as draw_reports

_RANK_TOLERANCE = 1e-10
# Beyond so many reports a draw of a group's mean is a draw from the normal distribution.
_LARGE_GROUP = 20_000
_BATCH_CELLS = 1 << 22
_LEVERAGE_REPORTS = 1_000


def linear(tallies: list[Tally], seed: int) -> Comparison:
    """Compare linear estimates."""
    groups = [linear_estimate(tally) for tally in tallies]
    n = sum(group.effective_n for group in groups)
    shares = _common(groups, n)
    roots = np.sqrt(shares)
    inverses = [_inverse(group, shares) * roots for group in groups]
    sums = [inverse.T @ (group.proportions - shares) for inverse, group in zip(inverses, groups, strict=True)]
    scores = GroupScores(np.array(sums), np.array([inverse * roots[:, None] for inverse in inverses]))
    weighted = any(tally.squares is not None or tally.n != int(tally.n) for tally in tallies)
    joint = any(tally.design.variables for tally in tallies)
    batches = iter(range(1 << 62))

    def drawn(repeats: int) -> Vector:
        batch = derived_seed(seed, next(batches))
        means = [_means(group, shares, repeats, derived_seed(batch, g)) for g, group in enumerate(groups)]
        sums = [(mean - shares) @ inverse for mean, inverse in zip(means, inverses, strict=True)]
        values: Vector = scores.statistic(np.stack(sums, axis=1))
        return values

    cost = sum(int(min(group.n, _LARGE_GROUP)) for group in groups) * len(shares)
    step = max(1, _BATCH_CELLS // cost)

    def draw(repeats: int) -> Vector:
        return np.concatenate([drawn(min(step, repeats - start)) for start in range(0, repeats, step)])

    if joint:
        return Comparison(scores, len(shares) / min(group.effective_n for group in groups), None, "", cost)
    single = [_reports(group, shares, _LEVERAGE_REPORTS, derived_seed(seed, "leverage")) - shares for group in groups]
    leverage = max(
        scores.leverage(g, rows @ inverse / group.effective_n)
        for g, (group, rows, inverse) in enumerate(zip(groups, single, inverses, strict=True))
    )
    return Comparison(scores, leverage, None if weighted else draw, "draws", cost)


def _common(groups: list[LinearEstimate], n: float) -> Vector:
    """The common population: the mean with the least variance, in the simplex.

    Such a mean goes with no difference between the groups, so that scaling by its shares favours none of them.
    """
    worth = np.array([group.effective_n / (1 + group.design.added_variance) for group in groups])
    mean: Vector = worth @ np.array([group.proportions for group in groups]) / worth.sum()
    inverses = [_inverse(group, interior(project(mean), n)) for group in groups]
    pulls = [inverse @ (group.proportions - mean) for inverse, group in zip(inverses, groups, strict=True)]
    least = np.linalg.pinv(np.sum(inverses, axis=0), rcond=_RANK_TOLERANCE, hermitian=True)
    return interior(project(mean + least @ np.sum(pulls, axis=0)), n)


def _inverse(group: LinearEstimate, shares: Vector) -> Matrix:
    return np.asarray(np.linalg.pinv(group.covariance_at(shares), rcond=_RANK_TOLERANCE, hermitian=True), float)


def _means(group: LinearEstimate, shares: Vector, repeats: int, seed: int | None) -> Matrix:
    """Estimates from samples drawn at these shares, a row each."""
    if group.n > _LARGE_GROUP:
        values, vectors = np.linalg.eigh(group.covariance_at(shares))
        deviations = _normals(repeats * len(shares), seed).reshape(repeats, -1) * np.sqrt(np.maximum(values, 0.0))
        return np.asarray(shares + deviations @ vectors.T)
    n = int(group.n)
    means: Matrix = _reports(group, shares, n * repeats, seed).reshape(repeats, n, -1).mean(axis=1)
    return means


def _reports(group: LinearEstimate, shares: Vector, n: int, seed: int | None) -> Matrix:
    """The scores of reports drawn at these shares, a row each."""
    codes = draw_codes(shares, n, derived_seed(seed, "truths"))
    stream = Source(seed=derived_seed(seed, "reports")).stream(group.design.fingerprint, n)
    packed = draw_reports(group.design.sampler, n, lambda start, stop: codes[start:stop].astype(np.uint32), stream)
    return group.scores.rows(packed)


def _normals(n: int, seed: int | None) -> Vector:
    from maskwell.numerics.normal import normal_quantile

    words, _ = Source(seed=seed).stream("", n).slots(0, np.zeros(n, np.uint32), 1)
    normals: Vector = normal_quantile((words[:n] + 0.5) / 2**32)
    return normals
