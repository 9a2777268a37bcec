"""Are two masked variables independent? Four tests, each against the distribution that it really has.

Under independence the two reports of a person are independent too, so every test is one of the table of report pairs.

* ``lrt``: likelihood ratio of the joint against the product of the margins, chi-square with (p-1)(q-1) degrees of
  freedom. Where reports of one pair are few its terms have a mean above 1, so that it is divided by their mean before
  the tail is taken. Where a pair is estimated within a few standard errors of 0 it is conservative: then the result
  recommends permutations.
* ``pearson``: observed against expected report pairs. The margins are estimated, so with m possible pairs it has
  m - 1 - (p-1) - (q-1) degrees of freedom (not m, as wang-ding-2021 has it); a share that is estimated as 0 is not
  fitted and counts in neither. Where some pairs are expected fewer than 5 times the smallest are pooled. The margins
  were fitted to unpooled reports, so the limit then lies between that and m - 1 (Chernoff and Lehmann 1954); the larger
  number is used, which keeps the level.
* ``lrt-moments``: the same ratio with moment estimates plugged in. It is not chi-square and may not even be positive,
  so it is calibrated by permutation only.
* ``bonferroni``: the p q two-by-two tables of "category i is in the report" against "category j is", each by its exact
  tails (hypergeometric, both sides), for the chi-square tail is far too small where a table is sparse.

``permutations=B`` calibrates any of them by shuffling one column B times: exact whatever the sample size.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from maskwell.errors import EstimationError
from maskwell.inference.hypothesis import HypothesisTest
from maskwell.inference.independence_statistics import STATISTICS, Pairs
from maskwell.reports import Reports
from maskwell.sampling.permutation import shuffled_tables
from maskwell.tally import Tally

Kind = Literal["lrt", "lrt-moments", "pearson", "bonferroni"]


def independence_test(
    tally: Tally | Reports, method: Kind = "lrt", permutations: Any = 0, seed: int | None = None
) -> HypothesisTest:
    """Test whether the two variables of a product are independent."""
    if method not in get_args(Kind):
        raise EstimationError(f"method must be one of {', '.join(get_args(Kind))}; got {method!r}.")
    if not isinstance(permutations, int) or permutations < 0:
        raise EstimationError(f"permutations must be a whole number >= 0; got {permutations!r}. 999 is usual.")
    pairs = Pairs.of(tally)
    statistic = STATISTICS[method](pairs)
    observed = statistic.of(pairs.table)
    if not permutations:
        p_value = statistic.tail(pairs.table, observed)
        return HypothesisTest(method, observed, statistic.df, p_value, advice=statistic.advice, mean=statistic.mean)
    shuffled = [statistic.of(table) for table in shuffled_tables(pairs.table, permutations, seed)]
    # Equal up to round-off counts as equal.
    beyond = sum(value >= observed - 1e-9 * max(1.0, abs(observed)) for value in shuffled)
    return HypothesisTest(method, observed, statistic.df, (1 + beyond) / (1 + permutations), permutations)
