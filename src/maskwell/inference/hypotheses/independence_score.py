r"""Pearson's chi-square of two variables, carried over to masked reports.

With margins :math:`w, v` a report a speaks for category i by its score :math:`x_{ai} / x_a \cdot w`, the derivative of
its log-likelihood, which has mean 1. Under independence the mean product of the scores of both variables is 1 for every
pair of categories, and

.. math:: T = n \sum_{ij} w_i v_j \Big(\tfrac1n \sum_r s_{ri} t_{rj} - 1\Big)^2

measures how far it is from that. For open answers T is Pearson's chi-square, except that a category which fewer than
:math:`\sqrt n` people are in counts for less. It is the score test that is best on average over weak associations in
which every pair of categories adds as much to :math:`\varphi^2`, it needs no fit of the joint table, and unlike a
likelihood ratio it does not suffer from joint proportions that are estimated at 0.

Shuffling one variable against the other leaves every report as likely as before, so the law of T over all shuffles is
its law under independence. Its mean and variance are known exactly, and for many reports it is a weighted sum of
chi-squares whose weights are the products of both variables' eigenvalues.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Design, Matrix, Vector
from maskwell.inference.joint import linear_estimate
from maskwell.inference.likelihood.maximum import maximise
from maskwell.inference.likelihood.report_rows import rows_of
from maskwell.reports.tally import Tally
from maskwell.sampling.samplers import Packed

_SCORES_AT_ONCE = 1 << 21


class Scored:
    """One variable by itself: its distinct reports, and the scores that they give to its categories."""

    def __init__(self, tally: Tally) -> None:
        patterns = tally.patterns
        assert patterns is not None
        self.design: Design = tally.design
        self.packed: Packed = patterns.packed
        self.counts: NDArray[np.int64] = np.asarray(patterns.counts, np.int64)
        k, counts = self.design.k, self.counts.astype(float)
        rows = rows_of(self.design, self.packed)
        self.margin: Vector = maximise(rows, counts, np.full(k, 1 / k)).proportions
        reliable = _reliability(tally)
        self.weights: Vector = reliable * self.margin + (1 - reliable) / k
        self.mean: Vector = np.zeros(k)
        largest = np.max([(self.centred(self.packed[c]) ** 2).max(axis=0) for c in self._chunks()], axis=0)
        # A report of a category that fewer than the root of n people are in would outweigh all others: Pearson's
        # chi-square of rare categories is decided by who happens to be in both.
        self.weights = self.weights * np.minimum(1, math.sqrt(tally.n) / np.maximum(largest, 1))
        self.mean = sum((counts[c] @ self.centred(self.packed[c]) for c in self._chunks()), np.zeros(k)) / tally.n
        self.covariance: Matrix = np.zeros((k, k))
        self.fourth = 0.0
        """The mean fourth power of the length of a report's centred scores."""
        for c in self._chunks():
            centred = self.centred(self.packed[c])
            self.covariance += (centred * counts[c, None]).T @ centred / tally.n
            self.fourth += float(counts[c] @ (centred**2).sum(axis=1) ** 2) / tally.n

    def _chunks(self) -> Iterator[slice]:
        return chunks(len(self.counts), self.design.k)

    def centred(self, packed: Packed) -> Matrix:
        """The scores of reports times the roots of their weights, less their mean."""
        rows = self.design.relative_rows(packed)
        scores: Matrix = rows / (rows @ self.margin)[:, None] * np.sqrt(self.weights) - self.mean
        return scores

    @cached_property
    def eigenvalues(self) -> Vector:
        """Of the covariance of the scores."""
        values: Vector = np.maximum(np.linalg.eigvalsh(self.covariance), 0)
        return values


def _reliability(tally: Tally) -> float:
    """How much of the estimated unevenness of a margin is not the noise of masking; 1 for open answers.

    Margins weight the scores, and one that is mostly noise would leave out categories that were estimated at 0.
    """
    if math.isinf(tally.design.added_variance):
        return 1.0
    found = linear_estimate(tally)
    p = found.proportions
    noise = max(float(found.variances.sum() - (p * (1 - p)).sum() / tally.n), 0.0)
    unevenness = float(((p - 1 / len(p)) ** 2).sum())
    return unevenness / (unevenness + noise) if unevenness > 0 else float(noise == 0)


def chunks(length: int, width: int) -> Iterator[slice]:
    """Parts of a long table of scores that fit into memory."""
    step = max(1, _SCORES_AT_ONCE // width)
    return (slice(start, start + step) for start in range(0, length, step))


class ScoreTest:
    """The statistic of a tally of two variables, and its law over all shuffles."""

    def __init__(self, tally: Tally) -> None:
        design, kept = tally.design, tally.kept_patterns
        assert kept is not None
        self.n = int(tally.n)
        self.variables = [Scored(tally.marginal(name)) for name in design.variables]
        first, second = self.variables
        left, right = design.codec.split(kept.packed)
        together = np.zeros((first.design.k, second.design.k))
        for c in chunks(len(kept.counts), first.design.k + second.design.k):
            together += (first.centred(left[c]) * kept.counts[c, None]).T @ second.centred(right[c])
        self.statistic = self._of(together)

    def _of(self, together: Matrix) -> float:
        """The statistic from the sums of products of centred scores."""
        return float((together**2).sum()) / self.n

    @cached_property
    def weights(self) -> Vector:
        """The weights of the chi-squares that make up the limit; their sum is the exact mean over all shuffles."""
        first, second = (variable.eigenvalues for variable in self.variables)
        return np.outer(first, second).ravel() * (self.n / (self.n - 1))

    @cached_property
    def variance_ratio(self) -> float:
        """The exact variance over all shuffles, over that of the limit; 1 if nothing varies."""
        limit = 2 * float((self.weights**2).sum())
        return self.exact_variance / limit if limit > 0 else 1.0

    @cached_property
    def exact_variance(self) -> float:
        r"""The variance of T over all shuffles (Kazi-Aoual, Hitier, Sabatier and Lebreton 1995).

        For centred matrices K and L of products of scores, with :math:`T_1` the trace, :math:`T_2` the trace of the
        square and :math:`S_2` the sum of squared diagonal elements of each.
        """
        n = self.n
        if n < 4:
            return math.nan
        first, second = 1.0, 1.0
        for variable in self.variables:
            t1 = n * float(variable.eigenvalues.sum())
            t2 = n**2 * float((variable.eigenvalues**2).sum())
            s2 = n * variable.fourth
            first *= (n - 1) * t2 - t1**2
            second *= n * (n + 1) * s2 - (n - 1) * (t1**2 + 2 * t2)
        return (
            2 * first / ((n - 1) ** 2 * (n + 1) * (n - 2)) + second / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
        ) / n**2

    def shuffled(self, repeats: int, seed: int | None) -> Iterator[float]:
        """The statistic of the same reports with the second variable shuffled, ``repeats`` times."""
        from maskwell.sampling.permutation import shuffled_sums

        first, second = self.variables
        rows, columns = (np.repeat(np.arange(len(variable.counts)), variable.counts) for variable in self.variables)
        left, right = first.centred(first.packed), second.centred(second.packed)
        for sums in shuffled_sums(rows, columns, right, repeats, seed):
            yield self._of(left.T @ sums)
