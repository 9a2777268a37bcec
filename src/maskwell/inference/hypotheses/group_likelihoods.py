"""Scores of groups from the likelihood of their reports, and how they are drawn when groups do not differ."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Design, Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.inference.draws import derived_seed, draw_counts
from maskwell.inference.hypotheses.fit import counts_by_row
from maskwell.inference.hypotheses.group_scores import Comparison, GroupScores, scaled
from maskwell.inference.likelihood.maximum import most_likely
from maskwell.inference.simplex import interior
from maskwell.reports.tally import Tally
from maskwell.sampling.regrouping import Regrouping

_MOST_CELLS = 1 << 20
_BATCH_CELLS = 1 << 22
_EM_TURNS = 30


def exchangeable(groups: list[Tally], seed: int) -> Comparison:
    """Groups asked with one design: without differences any report could have come from any group."""
    table, rows = _by_report(groups)
    counts = table.sum(axis=0)
    n, sizes = counts.sum(), table.sum(axis=1)
    _refuse_noise(rows)
    shares = most_likely(rows, counts)
    scores = rows / (rows @ shares)[:, None] * scaled(shares, n)
    scores -= counts @ scores / n
    scores = scores[:, np.abs(scores).max(axis=0) > 0]
    spread = (scores * counts[:, None]).T @ scores / max(n - 1, 1)
    found = GroupScores(table @ scores, sizes[:, None, None] * spread, one_design=True)
    leverage = max(found.leverage(g, scores) for g in range(len(sizes)))
    whole = table.astype(np.int64)
    if (whole != table).any():
        return Comparison(found, leverage, None, "", 0)
    regrouping = Regrouping(whole, seed)

    def draw(repeats: int) -> Vector:
        values = np.empty(repeats)
        step = max(1, _BATCH_CELLS // (whole.size + int(n)))
        for start in range(0, repeats, step):
            tables = regrouping.draw(min(step, repeats - start))
            values[start : start + step] = found.statistic(tables @ scores)
        return values

    return Comparison(found, leverage, draw, "permutations", int(n - sizes.max()) + whole.size)


def _by_report(groups: list[Tally]) -> tuple[Matrix, Matrix]:
    """How often each distinct report came in each group, and the likelihood rows of the reports."""
    kept = [group.patterns for group in groups]
    packed = np.concatenate([patterns.packed for patterns in kept if patterns is not None])
    distinct, where = np.unique(packed, axis=0, return_inverse=True)
    table = np.zeros((len(groups), len(distinct)))
    ends = np.cumsum([len(patterns.packed) for patterns in kept if patterns is not None])[:-1]
    for row, codes, patterns in zip(table, np.split(where.ravel(), ends), kept, strict=True):
        assert patterns is not None
        np.add.at(row, codes, patterns.counts)
    return table, groups[0].design.relative_rows(distinct)


def _refuse_noise(rows: Matrix) -> None:
    if (rows.max(axis=1) - rows.min(axis=1)).max() <= 0:
        raise EstimationError("these reports do not depend on the truth, so groups cannot be compared.")


def enumerable(design: Design) -> bool:
    """Whether all possible reports can be listed."""
    return design.report_count() * design.k <= _MOST_CELLS


@dataclass(frozen=True, eq=False)
class _Group:
    """One group: the chances of all reports that can come, by truth, and how often each came."""

    matrix: Matrix
    counts: Vector

    @staticmethod
    def of(tally: Tally) -> _Group:
        matrix = tally.design.matrix()
        can_come = matrix.any(axis=1)
        return _Group(matrix[can_come], counts_by_row(tally)[can_come])

    @cached_property
    def n(self) -> float:
        return float(self.counts.sum())

    def sums(self, counts: NDArray[np.float64], shares: NDArray[np.float64], roots: Vector) -> NDArray[np.float64]:
        """Scores of samples, a row of counts each, at as many populations."""
        chances = shares @ self.matrix.T
        return np.asarray(((counts / chances) @ self.matrix - self.n) * roots)

    def expected(self, shares: Vector, roots: Vector) -> tuple[Matrix, Matrix]:
        """The score of each report, and the covariance of all the group's reports together."""
        chances = self.matrix @ shares
        scores = (self.matrix / chances[:, None] - 1) * roots
        return scores, self.n * (scores * chances[:, None]).T @ scores


def different_designs(tallies: list[Tally], seed: int) -> Comparison:
    """Groups asked with different designs: samples are drawn at the population that fits all of them best."""
    groups = [_Group.of(tally) for tally in tallies]
    n = sum(group.n for group in groups)
    came = np.concatenate([group.counts for group in groups])
    rows = np.concatenate([group.matrix for group in groups])[came > 0]
    rows = rows / rows.mean(axis=1, keepdims=True)
    _refuse_noise(rows)
    shares = interior(most_likely(rows, came[came > 0]), n)
    roots = np.sqrt(shares)
    expected = [group.expected(shares, roots) for group in groups]
    sums = np.array([group.sums(group.counts[None], shares[None], roots)[0] for group in groups])
    found = GroupScores(sums, np.array([information for _, information in expected]))
    leverage = max(found.leverage(g, scores) for g, (scores, _) in enumerate(expected))
    whole = all((group.counts == np.round(group.counts)).all() for group in groups)
    batches = iter(range(1 << 62))

    def draw(repeats: int) -> Vector:
        step = max(1, _BATCH_CELLS // len(came))
        parts = [min(step, repeats - start) for start in range(0, repeats, step)]
        return np.concatenate(
            [_drawn(groups, found, shares, part, derived_seed(seed, next(batches))) for part in parts]
        )

    return Comparison(found, leverage, draw if whole else None, "draws", int(n) + len(came) * _EM_TURNS)


def _drawn(groups: list[_Group], found: GroupScores, shares: Vector, repeats: int, seed: int | None) -> Vector:
    """T of samples drawn at a common population, which is estimated anew from each of them."""
    counts = [
        draw_counts(group.matrix @ shares, int(group.n), repeats, derived_seed(seed, g)).astype(float)
        for g, group in enumerate(groups)
    ]
    n = sum(group.n for group in groups)
    fitted = np.tile(shares, (repeats, 1))
    for _ in range(_EM_TURNS):
        pull = np.zeros_like(fitted)
        for group, drawn in zip(groups, counts, strict=True):
            chances = fitted @ group.matrix.T
            # A report that came stays possible; of one that did not, nothing is asked.
            pull += (drawn / np.where(drawn > 0, chances, 1.0)) @ group.matrix
        fitted *= pull / n
    fitted = interior(fitted, n)
    roots = np.sqrt(fitted)
    sums = [group.sums(drawn, fitted, roots) for group, drawn in zip(groups, counts, strict=True)]
    values: Vector = found.statistic(np.stack(sums, axis=1))
    return values
