"""Four statistics of a table of report pairs, each with its reference distribution.

A statistic is a function of a table with the margins held fixed, so that shuffled tables go through it unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskwell.advice import Advice, Setting
from maskwell.designs.base import Design, Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.inference.hypotheses.hypothesis_test import chi_square_tail, pool
from maskwell.inference.likelihood.information import invert
from maskwell.inference.likelihood.maximum import most_likely
from maskwell.inference.simplex import project
from maskwell.reports import Reports
from maskwell.reports.tally import Tally

ENOUGH = 10.0  # open answers that the rarest pair of categories must be worth for lrt to keep its level on both sides
_MOST_CELLS = 1_000_000
_MOST_PAIRS = 50_000_000
_FLOOR = 1e-12
_SCORE, SHUFFLED = Setting("method", "score"), Setting("permutations", 999)
_LARGE_COUNT = 50.0


def two_variables(tally: Tally | Reports) -> Tally:
    """The tally of two variables, one whole count for each distinct pair of reports."""
    counted: object = tally.tally() if isinstance(tally, Reports) else tally
    if not isinstance(counted, Tally) or len(counted.design.variables) != 2 or counted.kept_patterns is None:
        raise EstimationError("independence_test needs the reports or the tally of a product of two designs.")
    if counted.squares is not None or counted.n < 2:
        raise EstimationError("independence_test needs at least 2 unweighted reports.")
    counts = counted.kept_patterns.counts
    if (counts != np.round(counts)).any():
        raise EstimationError("independence_test needs whole counts of reports; this tally has parts of reports.")
    return counted


@dataclass(frozen=True)
class Pairs:
    """The table of distinct report pairs, and for each variable its design and distinct packed reports."""

    table: NDArray[np.int64]
    designs: tuple[Design, Design]
    reports: tuple[NDArray[Any], NDArray[Any]]

    @staticmethod
    def of(tally: Tally) -> Pairs:
        """The pairs of a tally that ``two_variables`` gave."""
        design, kept = tally.design, tally.kept_patterns
        assert kept is not None
        split = [np.unique(packed, axis=0, return_inverse=True) for packed in design.codec.split(kept.packed)]
        (left, rows), (right, columns) = split
        if len(left) * len(right) > _MOST_PAIRS:
            many = f"there are {len(left):,} x {len(right):,} pairs of different reports"
            raise EstimationError(Advice(f"{many}, too many for this statistic; use ", _SCORE, "."))
        table = np.zeros((len(left), len(right)), np.int64)
        np.add.at(table, (rows.ravel(), columns.ravel()), kept.counts.astype(np.int64))
        first, second = design.variables.values()
        return Pairs(table, (first, second), (left, right))

    @cached_property
    def n(self) -> int:
        """The number of pairs."""
        return int(self.table.sum())

    @cached_property
    def variables(self) -> tuple[Variable, Variable]:
        """The two variables, each by itself."""
        parts = zip(self.designs, self.reports, (1, 0), strict=True)
        first, second = (Variable(d, r, d.relative_rows(r), self.table.sum(axis=other)) for d, r, other in parts)
        return first, second


@dataclass(frozen=True)
class Variable:
    """One of the two: its distinct reports, their likelihood rows, and how often each came."""

    design: Design
    packed: NDArray[Any]
    rows: Matrix
    counts: NDArray[np.int64]

    @cached_property
    def margin(self) -> Vector:
        """The maximum-likelihood proportions."""
        return most_likely(self.rows, self.counts)

    @cached_property
    def memberships(self) -> Matrix:
        """1 where a report holds a category: by its set or label, else where it speaks for the category."""
        return (self.rows > 1).astype(float)

    @cached_property
    def holders(self) -> NDArray[np.int64]:
        """How many reports hold each category."""
        return np.rint(self.counts @ self.memberships).astype(np.int64)

    @cached_property
    def worth(self) -> Vector:
        """By category, how many open answers of it a report is worth: w^2 / E[L^2], which is w for a direct question.

        L is the efficient score of one report, whose variance the information gives. Scores of pairs are products, so
        under independence worths multiply, and the root of n times a pair's worth is its distance from 0 in standard
        errors.
        """
        w, n = self.margin, self.counts.sum()
        inverse = invert((self.rows * (self.counts / (self.rows @ w) ** 2)[:, None]).T @ self.rows)
        second = np.where(inverse.undetermined, np.inf, n * np.diag(inverse.matrix)) + w**2
        worth: Vector = w**2 / np.maximum(second, _FLOOR)
        return worth


class Statistic(NamedTuple):
    """A function of the table, the tail beyond its observed value, and what to tell the reader."""

    of: Callable[[NDArray[np.int64]], float]
    tail: Callable[[NDArray[np.int64], float], float]
    df: int | None
    advice: str = ""
    mean: float = 1.0
    """The mean per degree of freedom, by which a statistic is divided before it is looked up."""


def _chi_square(of: Callable[[NDArray[np.int64]], float], df: int, advice: str, mean: float = 1.0) -> Statistic:
    return Statistic(of, lambda _, observed: chi_square_tail(observed / mean, df), df, advice, mean)


def _log_ratio(table: NDArray[np.int64], joint: Matrix, margins: Matrix) -> float:
    seen = table > 0
    return float(2 * (table[seen] * np.log(joint[seen] / margins[seen])).sum())


def _likelihood_ratio(pairs: Pairs) -> Statistic:
    first, second = pairs.variables
    margins = np.outer(first.rows @ first.margin, second.rows @ second.margin)
    df = (first.design.k - 1) * (second.design.k - 1)

    def statistic(table: NDArray[np.int64]) -> float:
        a, b = np.nonzero(table)
        rows = (first.rows[a][:, :, None] * second.rows[b][:, None, :]).reshape(len(a), -1)
        fitted = np.zeros(table.shape)
        fitted[a, b] = rows @ most_likely(rows, table[a, b])
        return _log_ratio(table, fitted, margins)

    worth = pairs.n * first.worth.min() * second.worth.min()
    return _chi_square(statistic, df, "" if worth >= ENOUGH else _RARE, _mean_term(pairs, df))


def _mean_term(pairs: Pairs, df: int) -> float:
    """The mean of the ratio per degree of freedom, where reports that hold both categories of a pair are few.

    For reports of one category this is the correction of Williams (1976) with the exact means of its terms in place of
    their expansion in 1/n. Pairs so rare that their term has a mean below 1 are left out, which is the safe side.
    """
    first, second = pairs.variables
    excess = poisson_deviance(np.outer(first.holders, second.holders) / pairs.n) - 1
    return 1 + float(np.maximum(excess, 0).sum()) / df


def poisson_deviance(expected: Matrix) -> Matrix:
    """The mean of 2 X ln(X / e) for a Poisson count X with mean e: 1 + 1/(6e) for large e, at most 1.17."""
    grid, means = _deviance_table()
    large = 1 + 1 / (6 * np.maximum(expected, _LARGE_COUNT))
    found: Matrix = np.where(expected < _LARGE_COUNT, np.interp(expected, grid, means), large)
    return found


@cache
def _deviance_table() -> tuple[Vector, Vector]:
    from maskwell.numerics.saddle import log_gamma

    grid = np.append(0.0, np.geomspace(1e-3, _LARGE_COUNT, 600))
    count = np.arange(200.0)
    log_mean = np.log(grid[1:, None])
    chance = np.exp(count * log_mean - grid[1:, None] - log_gamma(count + 1))
    # E[X g(X)] = e E[g(X + 1)].
    means = 2 * grid[1:] * (chance * (np.log(count + 1) - log_mean)).sum(axis=1)
    return grid, np.append(0.0, means)


_RARE = Advice(
    "some pairs of categories are rare for this design and sample: the test is conservative; use ",
    _SCORE,
    " or pass ",
    SHUFFLED,
)
_POOLED = Advice("sparse cells were pooled: the test is conservative; use ", _SCORE, " or pass ", SHUFFLED)


def _moment_ratio(pairs: Pairs) -> Statistic:
    first, second = pairs.variables
    left, right = (v.design.scores("moments").rows(v.packed) for v in (first, second))
    margins = (_inside(first.counts @ left / pairs.n), _inside(second.counts @ right / pairs.n))
    product = np.outer(first.rows @ margins[0], second.rows @ margins[1])

    def statistic(table: NDArray[np.int64]) -> float:
        moments = left.T @ table @ right / pairs.n
        joint = _inside(moments.reshape(-1)).reshape(moments.shape)
        return _log_ratio(table, first.rows @ joint @ second.rows.T, product)

    return Statistic(statistic, _no_tail, None)


def _no_tail(*_: Any) -> float:
    raise EstimationError(Advice("lrt-moments has no known distribution; pass ", SHUFFLED, ", or use lrt or pearson."))


def _inside(estimate: Vector) -> Vector:
    """Moved into the simplex, so that the ratio is defined; permutation makes any statistic honest."""
    moved = np.maximum(project(estimate), _FLOOR)
    inside: Vector = moved / moved.sum()
    return inside


def _pearson(pairs: Pairs) -> Statistic:
    sizes = [design.report_count() for design in pairs.designs]
    if sizes[0] * sizes[1] > _MOST_CELLS:
        raise EstimationError(
            f"pearson would need {sizes[0]} x {sizes[1]} cells; use lrt, bonferroni, or permutations."
        )
    # Chances of the observed reports; the rest of each margin is all reports that did not come.
    chances, fitted = [], 0
    for variable in pairs.variables:
        fitted += int(np.count_nonzero(variable.margin)) - 1
        matrix, where = _rows_of(variable.design)
        every = matrix @ variable.margin
        rows = [where[report] for report in variable.design.decode(variable.packed)]
        chances.append(np.append(every[rows], np.delete(every, rows)))
    expected = (pairs.n * np.outer(*chances)).reshape(-1)
    pools = pool(expected)
    n_pools = int(pools.max()) + 1
    pooled = np.bincount(pools, expected)
    pooling = n_pools < len(expected)
    df = n_pools - 1 - (0 if pooling else fitted)
    if df < 1:
        raise EstimationError(
            f"pearson has no degrees of freedom left ({n_pools} pooled cells); use lrt with permutations."
        )
    s, r = pairs.table.shape

    def statistic(table: NDArray[np.int64]) -> float:
        full = np.zeros((sizes[0], sizes[1]))
        full[:s, :r] = table
        observed = np.bincount(pools, full.reshape(-1), minlength=n_pools)
        return float(((observed - pooled) ** 2 / pooled).sum())

    return _chi_square(statistic, df, _POOLED if pooling else "")


@lru_cache(maxsize=8)
def _rows_of(design: Design) -> tuple[Matrix, dict[Any, int]]:
    """The matrix, and which of its rows a report is; kept, for tests come in series."""
    return design.matrix(), {report: row for row, report in enumerate(design.report_labels())}


def _two_by_two(pairs: Pairs) -> Statistic:
    """The largest chi-square of the p q tables; expected counts follow from how many reports hold each category."""
    first, second = pairs.variables
    n, left, right = pairs.n, first.memberships.T, second.memberships
    expected = np.outer(first.holders, second.holders) / n
    spread = expected * np.outer(n - first.holders, n - second.holders) / n
    usable = np.where(spread > 0, spread, np.inf)

    def statistic(table: NDArray[np.int64]) -> float:
        return float((n * (left @ table @ right - expected) ** 2 / usable).max())

    def tail(table: NDArray[np.int64], _: float) -> float:
        from maskwell.numerics.beta import hypergeometric_tail

        # Few pairs of i and j are as many pairs of i without j: one tail serves both sides.
        both, rows, columns = np.rint(left @ table @ right), first.holders[:, None], second.holders
        few = both < expected
        sides = hypergeometric_tail(np.where(few, rows - both, both) - 1, n, rows, np.where(few, n - columns, columns))
        return min(1.0, 2 * expected.size * float(np.min(sides)))

    return Statistic(statistic, tail, None)


STATISTICS: dict[str, Callable[[Pairs], Statistic]] = {
    "lrt": _likelihood_ratio,
    "lrt-moments": _moment_ratio,
    "pearson": _pearson,
    "bonferroni": _two_by_two,
}
