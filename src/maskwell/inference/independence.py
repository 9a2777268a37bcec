"""Are two masked variables independent? Four tests, each against the distribution that it really has.

Under independence the two reports of a person are independent too, so every test is one of the table of report pairs.

* ``lrt``: likelihood ratio of the joint against the product of the margins, chi-square with (p-1)(q-1) degrees of
  freedom; conservative where a margin is rare.
* ``pearson``: observed against expected report pairs. The margins are estimated, so with m possible pairs it has
  m - 1 - (p-1) - (q-1) degrees of freedom (not m, as wang-ding-2021 has it). Where some are expected fewer than 5 times
  the smallest are pooled. The margins were fitted to unpooled reports, so the limit then lies between that and m - 1
  (Chernoff and Lehmann 1954); the larger number is used, which keeps the level.
* ``lrt-moments``: the same ratio with moment estimates plugged in. It is not chi-square and may not even be positive,
  so it is calibrated by permutation only.
* ``bonferroni``: the p q two-by-two tables of "category i is in the report" against "category j is".

``permutations=B`` calibrates any of them by shuffling one column B times: exact whatever the sample size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Design, Matrix, Vector
from maskwell.designs.product import ProductDesign
from maskwell.errors import EstimationError
from maskwell.inference.hypothesis import HypothesisTest, chi_square_tail, most_likely, pool
from maskwell.inference.simplex import project
from maskwell.reports import Reports
from maskwell.sampling.permutation import shuffled_tables
from maskwell.tally import Tally

Kind = Literal["lrt", "lrt-moments", "pearson", "bonferroni"]
RARE_BELOW = 50.0  # expected people in the rarest pair of categories; from there on lrt keeps its level on both sides
_MOST_CELLS = 1_000_000
_FLOOR = 1e-12


def independence_test(
    tally: Tally | Reports, method: Kind = "lrt", permutations: Any = 0, seed: int | None = None
) -> HypothesisTest:
    """Test whether the two variables of a product are independent."""
    if method not in get_args(Kind):
        raise EstimationError(f"method must be one of {', '.join(get_args(Kind))}; got {method!r}.")
    if not isinstance(permutations, int) or permutations < 0:
        raise EstimationError(f"permutations must be a whole number >= 0; got {permutations!r}. 999 is usual.")
    if method == "lrt-moments" and not permutations:
        raise EstimationError("lrt-moments has no known distribution; pass permutations=999, or use lrt or pearson.")
    pairs = _Pairs.of(tally)
    statistic, df, advice = _STATISTICS[method](pairs)
    observed = statistic(pairs.table)
    if permutations:
        shuffled = [statistic(table) for table in shuffled_tables(pairs.table, permutations, seed)]
        # Equal up to round-off counts as equal.
        beyond = sum(value >= observed - 1e-9 * max(1.0, abs(observed)) for value in shuffled)
        return HypothesisTest(method, observed, df, (1 + beyond) / (1 + permutations), permutations)
    if method == "bonferroni":
        return HypothesisTest(
            method, observed, 1, min(1.0, pairs.p * pairs.q * chi_square_tail(observed, 1)), advice=advice
        )
    assert df is not None
    return HypothesisTest(method, observed, df, chi_square_tail(observed, df), advice=advice)


@dataclass(frozen=True)
class _Pairs:
    """The table of distinct report pairs, and for each variable its design and distinct packed reports."""

    table: NDArray[np.int64]
    designs: tuple[Design, Design]
    reports: tuple[NDArray[Any], NDArray[Any]]

    @staticmethod
    def of(tally: Tally | Reports) -> _Pairs:
        counted = tally.tally() if isinstance(tally, Reports) else tally
        design = getattr(counted, "design", None)
        if not isinstance(design, ProductDesign) or len(design.parts) != 2 or counted.kept_patterns is None:
            raise EstimationError("independence_test needs the reports or the tally of a product of two designs.")
        if counted.squares is not None or counted.n < 2:
            raise EstimationError("independence_test needs at least 2 unweighted reports.")
        codes, distinct = [], []
        for packed in design.split(counted.kept_patterns.packed):
            keys, inverse = np.unique(packed, axis=0, return_inverse=True)
            codes.append(inverse.ravel())
            distinct.append(keys)
        table = np.zeros((len(distinct[0]), len(distinct[1])), np.int64)
        np.add.at(table, tuple(codes), counted.kept_patterns.counts)
        return _Pairs(table, (design.parts[0], design.parts[1]), (distinct[0], distinct[1]))

    @property
    def p(self) -> int:
        return self.designs[0].k

    @property
    def q(self) -> int:
        return self.designs[1].k

    def rows(self, axis: int) -> Matrix:
        """Likelihood rows of the distinct reports of one variable."""
        return self.designs[axis].relative_rows(self.reports[axis])

    def margin(self, axis: int) -> Vector:
        """The maximum-likelihood margin of one variable."""
        return most_likely(self.rows(axis), self.table.sum(axis=1 - axis))


Statistic = tuple[Callable[[NDArray[np.int64]], float], int | None, str]


def _log_ratio(table: NDArray[np.int64], joint: Matrix, margins: Matrix) -> float:
    seen = table > 0
    return float(2 * (table[seen] * np.log(joint[seen] / margins[seen])).sum())


def _likelihood_ratio(pairs: _Pairs) -> Statistic:
    x, y = pairs.rows(0), pairs.rows(1)
    first, second = pairs.margin(0), pairs.margin(1)
    margins = np.outer(x @ first, y @ second)

    def statistic(table: NDArray[np.int64]) -> float:
        a, b = np.nonzero(table)
        rows = (x[a][:, :, None] * y[b][:, None, :]).reshape(len(a), -1)
        fitted = np.zeros(table.shape)
        fitted[a, b] = rows @ most_likely(rows, table[a, b])
        return _log_ratio(table, fitted, margins)

    df = (pairs.p - 1) * (pairs.q - 1)
    expected = float(pairs.table.sum() * first.min() * second.min())
    return statistic, df, "" if expected >= RARE_BELOW else _RARE


_RARE = "some pairs of categories are rare for this sample: the test is conservative; pass permutations=999"
_POOLED = "sparse cells were pooled: the test is conservative; pass permutations=999"


def _moment_ratio(pairs: _Pairs) -> Statistic:
    x, y = pairs.rows(0), pairs.rows(1)
    scores = [design.scores("moments").rows(r) for design, r in zip(pairs.designs, pairs.reports, strict=True)]
    n = pairs.table.sum()
    margins = [_inside(pairs.table.sum(axis=1 - i) @ scores[i] / n) for i in (0, 1)]
    product = np.outer(x @ margins[0], y @ margins[1])

    def statistic(table: NDArray[np.int64]) -> float:
        joint = _inside((scores[0].T @ table @ scores[1] / n).reshape(-1)).reshape(pairs.p, pairs.q)
        return _log_ratio(table, x @ joint @ y.T, product)

    return statistic, None, ""


def _inside(estimate: Vector) -> Vector:
    """Moved into the simplex, so that the ratio is defined; permutation makes any statistic honest."""
    moved = np.maximum(project(estimate), _FLOOR)
    inside: Vector = moved / moved.sum()
    return inside


def _pearson(pairs: _Pairs) -> Statistic:
    sizes = [design.report_count() for design in pairs.designs]
    if sizes[0] * sizes[1] > _MOST_CELLS:
        raise EstimationError(
            f"pearson would need {sizes[0]} x {sizes[1]} cells; use lrt, bonferroni, or permutations."
        )
    n = pairs.table.sum()
    # Chances of the observed reports; the rest of each margin is all reports that did not come.
    chances = []
    for axis in (0, 1):
        design, packed = pairs.designs[axis], pairs.reports[axis]
        every = design.matrix() @ pairs.margin(axis)
        rows = _row_numbers(design, packed)
        chances.append(np.append(every[rows], np.delete(every, rows)))
    expected = (n * np.outer(*chances)).reshape(-1)
    pools = pool(expected)
    n_pools = int(pools.max()) + 1
    pooled = np.bincount(pools, expected)
    pooling = n_pools < len(expected)
    df = n_pools - 1 - (0 if pooling else pairs.p - 1 + pairs.q - 1)
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

    return statistic, df, _POOLED if pooling else ""


def _row_numbers(design: Design, packed: NDArray[Any]) -> NDArray[np.int64]:
    """Which rows of the matrix these packed reports are."""
    where = {report: row for row, report in enumerate(design.report_labels())}
    return np.array([where[report] for report in design.decode(packed)], np.int64)


def _two_by_two(pairs: _Pairs) -> Statistic:
    """The largest chi-square of the p q tables; expected counts follow from the inclusion frequencies."""
    member = [_memberships(design, r) for design, r in zip(pairs.designs, pairs.reports, strict=True)]
    n = float(pairs.table.sum())
    first, second = (pairs.table.sum(axis=1 - i) @ member[i] / n for i in (0, 1))
    spread = np.outer(first * (1 - first), second * (1 - second))

    def statistic(table: NDArray[np.int64]) -> float:
        both = member[0].T @ table @ member[1] / n
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = n * (both - np.outer(first, second)) ** 2 / spread
        return float(np.nanmax(np.where(spread > 0, squares, 0.0)))

    return statistic, 1, ""


def _memberships(design: Design, packed: NDArray[Any]) -> Matrix:
    """1 where a report holds a category: by its set, or by its label, else by whether it speaks for the category."""
    rows = design.relative_rows(packed)
    return (rows > 1).astype(float)


_STATISTICS: dict[str, Callable[[_Pairs], Statistic]] = {
    "lrt": _likelihood_ratio,
    "lrt-moments": _moment_ratio,
    "pearson": _pearson,
    "bonferroni": _two_by_two,
}
