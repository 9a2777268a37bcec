"""Does everybody follow the design, and do the assumed behaviours explain all groups together?

Under full compliance the shares of all behaviours are 0, at the boundary of what shares can be. In large groups twice
the logarithm of the likelihood ratio is then a mixture of chi-square variables with 0 to B degrees of freedom for B
behaviours (Chernoff 1954; Self and Liang 1987): each share is estimated above 0 or not, with chances that follow from
the covariance V of the estimates at the null hypothesis. For one behaviour they are 1/2 and 1/2, for two with
correlation r they are 1/2 - q, 1/2 and q = 1/4 + arcsin(r) / 2 pi. For more, or where the best fit without behaviours
has a category near 0, samples are drawn at that fit.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from maskwell.designs.base import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.inference.compliance.groups import Groups
from maskwell.inference.compliance.profile import best_log_likelihood
from maskwell.inference.draws import derived_seed, draw_counts, seed_of
from maskwell.inference.hypotheses.hypothesis_test import HypothesisTest, chi_square_tail, pool
from maskwell.inference.hypotheses.monte_carlo import upper_tail
from maskwell.inference.likelihood.information import invert
from maskwell.null_spaces import rank

_METHOD = "likelihood ratio of full compliance"
_NEAR_ZERO = 2.0  # standard errors from 0, within which the law for large groups is not trusted
_MOST_DRAWS = 999
_RECORDS = 1 << 23


def full_compliance(groups: Groups, highest: float, draws: int, seed: int | None) -> HypothesisTest:
    """The test that nobody behaves otherwise, against the shares whose log-likelihood is ``highest``."""
    classes = groups.classes
    behaviours = len(classes.behaviours)
    if not behaviours:
        raise EstimationError("there are no behaviours to test; name some, or use goodness_of_fit().")
    if groups.squares is not None:
        raise EstimationError("the likelihood ratio takes reports as equally weighted; use interval(method='wald').")
    if type(draws) is not int or draws < 0:
        raise EstimationError(f"draws must be a whole number, 0 or more; got {draws!r}.", parameter="draws")
    lowest, followed = best_log_likelihood(groups.table[:, : classes.k], groups.weights)
    statistic = max(2 * (highest - lowest), 0.0)
    result = HypothesisTest(_METHOD, statistic, None, 1.0)
    reason = _why_drawn(groups, followed)
    if not draws and not reason:
        chances = mixture_of_chi_squares(groups, followed)
        law = " + ".join(f"{_fraction(chance)} chi-square {df}" for df, chance in enumerate(chances))
        return replace(result, p_value=mixture_tail(statistic, chances), law=law)
    seed = seed_of(groups.counts) if seed is None else seed
    found = upper_tail(statistic, _Draws(groups, followed, seed), most=draws or _MOST_DRAWS)
    return replace(
        result,
        p_value=found.p_value,
        p_error=found.standard_error,
        draws=found.draws,
        choice=reason and f"{reason}, so samples were drawn at the best fit without behaviours",
    )


def _why_drawn(groups: Groups, followed: Vector) -> str:
    if len(groups.classes.behaviours) > 2:
        return "there are more than two behaviours"
    k = groups.classes.k
    inverse = invert(groups.classes.information(_with_none(groups, followed), groups.sizes)[:k, :k])
    near = followed <= _NEAR_ZERO * np.sqrt(np.maximum(np.diag(inverse.matrix), 0.0))
    return "without behaviours a category is estimated at or near 0" if near.any() else ""


def mixture_of_chi_squares(groups: Groups, followed: Vector) -> list[float]:
    """The chances of 0, 1, … degrees of freedom, of one or two behaviours."""
    covariance = _covariance(groups, followed)
    if len(covariance) == 1:
        return [0.5, 0.5]
    r = covariance[0, 1] / math.sqrt(covariance[0, 0] * covariance[1, 1])
    both = 0.25 + math.asin(min(max(r, -1.0), 1.0)) / (2 * math.pi)
    return [0.5 - both, 0.5, both]


def _with_none(groups: Groups, followed: Vector) -> Vector:
    """All shares, where nobody behaves otherwise."""
    return np.concatenate([followed, np.zeros(len(groups.classes.behaviours))])


def _covariance(groups: Groups, followed: Vector) -> Matrix:
    """Of the shares of behaviours, as if they could be below 0."""
    k = groups.classes.k
    return invert(groups.classes.information(_with_none(groups, followed), groups.sizes)).matrix[k:, k:]


def mixture_tail(statistic: float, chances: list[float]) -> float:
    """The chance that a mixture of chi-square variables with 0, 1, … degrees of freedom is at least so large."""
    if statistic <= 0:
        return 1.0
    return sum(chance * chi_square_tail(statistic, df) for df, chance in enumerate(chances) if df)


def _fraction(chance: float) -> str:
    return "1/2" if chance == 0.5 else f"{chance:.3f}"


class _Draws:
    """Statistics of samples that are drawn at shares of people who all follow the design."""

    def __init__(self, groups: Groups, followed: Vector, seed: int) -> None:
        self._groups, self._seed, self._batch = groups, seed, 0
        self._chances = [matrix[:, : len(followed)] @ followed for matrix in groups.classes.matrices]

    def __call__(self, repeats: int) -> Vector:
        step = max(1, _RECORDS // self._groups.n)
        parts = [self._drawn(min(step, repeats - start)) for start in range(0, repeats, step)]
        return np.concatenate(parts)

    def _drawn(self, repeats: int) -> Vector:
        self._batch += 1
        drawn = [
            draw_counts(chances, n, repeats, derived_seed(self._seed, self._batch, g)).astype(float)
            for g, (chances, n) in enumerate(zip(self._chances, self._groups.sizes, strict=True))
        ]
        return np.array([likelihood_ratio(self._groups.with_counts(counts)) for counts in zip(*drawn, strict=True)])


def likelihood_ratio(groups: Groups) -> float:
    """Twice the logarithm of the ratio of the likelihoods with and without behaviours."""
    table, weights = groups.table, groups.weights
    with_all, _ = best_log_likelihood(table, weights)
    followed, _ = best_log_likelihood(table[:, : groups.classes.k], weights)
    return max(2 * (with_all - followed), 0.0)


def model_fit(groups: Groups, shares: Vector) -> HypothesisTest:
    """Pearson's chi-square of the reports of all groups against those that the shares give."""
    if groups.squares is not None:
        raise EstimationError("goodness_of_fit needs unweighted reports.")
    used = shares > 0
    stacked = [[x for x, keep in zip(row, used, strict=True) if keep] for t in groups.classes.exact for row in t]
    free = rank([row for row in stacked if any(row)]) - 1
    statistic, df, pooled = 0.0, 0, False
    for matrix, counts, n in zip(groups.classes.matrices, groups.counts, groups.sizes, strict=True):
        can = matrix.any(axis=1)
        expected = n * (matrix[can] @ shares)
        pools = pool(expected)
        seen, due = np.bincount(pools, counts[can]), np.bincount(pools, expected)
        statistic += float(((seen - due) ** 2 / due).sum())
        df += len(due) - 1
        pooled |= len(due) < len(expected)
    left = df if pooled else df - free
    if df <= free or left < 1:
        raise EstimationError(
            f"{df} free shares of reports and {free} fitted ones leave nothing to test; one more group, or fewer "
            "behaviours, would."
        )
    return HypothesisTest("goodness of fit of all groups", statistic, left, chi_square_tail(statistic, left))
