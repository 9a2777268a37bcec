"""Are two masked variables independent? Five tests, each against the distribution that it really has.

Under independence the two reports of a person are independent too, so every test is one of the table of report pairs.

* ``score``, the default: Pearson's chi-square carried over to masked reports (see ``independence_score``). It chooses
  by itself how it is calibrated: by its limiting law, a weighted sum of chi-squares, where the exact variance of the
  statistic over all shuffles of these reports is that of the limit to within 1 %, else by shuffles. It holds its level
  on both sides and needs no fit of the joint table.
* ``lrt``: likelihood ratio of the joint against the product of the margins, chi-square with (p-1)(q-1) degrees of
  freedom. Where reports of one pair are few its terms have a mean above 1, so that it is divided by their mean before
  the tail is taken. Where a pair is estimated within a few standard errors of 0 it is conservative, under heavy masking
  so much that it hardly ever rejects: then the result recommends the default, or permutations.
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

from collections.abc import Iterable
from typing import Any, Literal, get_args

import numpy as np

from maskwell.advice import Advice
from maskwell.errors import EstimationError
from maskwell.inference.hypotheses.hypothesis_test import HypothesisTest
from maskwell.inference.hypotheses.independence_score import ScoreTest
from maskwell.inference.hypotheses.independence_statistics import SHUFFLED, STATISTICS, Pairs, two_variables
from maskwell.inference.hypotheses.weighted_chi_squares import weighted_chi_square_tail
from maskwell.inference.sample.hypotheses import sampled_independence
from maskwell.inference.sample.sample import Sample
from maskwell.reports import Reports
from maskwell.reports.tally import Tally
from maskwell.sampling.permutation import shuffled_tables

Kind = Literal["score", "lrt", "lrt-moments", "pearson", "bonferroni"]

CLOSE = 0.01
"""How near the exact variance of the score statistic must be to that of its limit for the limit to be used."""
_USUAL_SHUFFLES, _FEWEST_SHUFFLES, _MOST_SWAPS = 999, 199, 200_000_000
# Shuffles that nobody asked for give the same answer each time.
_OWN_SEED = 1


def independence_test(
    tally: Tally | Reports,
    method: Any = None,
    permutations: Any = None,
    seed: int | None = None,
    *,
    sample: Sample | None = None,
) -> HypothesisTest:
    """Test whether the two variables of a product are independent.

    Without further arguments the test chooses its calibration and says in ``choice`` which and why. ``permutations=0``
    asks for the statistic's own law, any other number for so many shuffles. With ``sample`` the methods are
    ``"rao-scott"`` (the default) and ``"wald"``.

    >>> import maskwell as mw
    >>> design = mw.designs.product(mw.designs.direct(2), mw.designs.direct(2))
    >>> found = mw.independence_test(mw.Tally.from_counts(design, [300, 200, 200, 300]))
    >>> round(found.statistic, 6), found.df, found.p_value < 1e-9
    (40.0, 1, True)
    """
    if sample is not None:
        return sampled_independence(tally, sample, method or "rao-scott")
    method = method or "score"
    if method not in get_args(Kind):
        raise EstimationError(f"method must be one of {', '.join(get_args(Kind))}; got {method!r}.", parameter="method")
    if permutations is not None and (not isinstance(permutations, int) or permutations < 0):
        raise EstimationError(
            f"permutations must be a whole number >= 0; got {permutations!r}. 999 is usual.", parameter="permutations"
        )
    counted = two_variables(tally)
    if method == "score":
        return _score_test(ScoreTest(counted), permutations, seed)
    pairs = Pairs.of(counted)
    statistic = STATISTICS[method](pairs)
    observed = statistic.of(pairs.table)
    if not permutations:
        p_value = statistic.tail(pairs.table, observed)
        return HypothesisTest(method, observed, statistic.df, p_value, advice=statistic.advice, mean=statistic.mean)
    shuffled = (statistic.of(table) for table in shuffled_tables(pairs.table, permutations, seed))
    return HypothesisTest(method, observed, statistic.df, _share_beyond(observed, shuffled), permutations)


def _score_test(test: ScoreTest, permutations: int | None, seed: int | None) -> HypothesisTest:
    if test.n < 3 or not test.weights.max(initial=0.0) > 0:
        # Shuffling equal reports, or two, changes nothing; and there is no law without weights.
        advice = "the reports of a variable are all alike, or too few: there is nothing to test"
        return HypothesisTest("score", 0.0, 0, 1.0, advice=advice)
    ratio = test.variance_ratio
    close = test.n >= 4 and abs(ratio - 1) <= CLOSE
    chosen, advice = "", ""
    if permutations is None:
        permutations = 0 if close else _shuffles_for(test.n)
        chosen = _explained(test.n, ratio, permutations)
        seed = _OWN_SEED if seed is None else seed
    elif not permutations and not close:
        advice = Advice("the law is a rough one for so few or so uneven reports; pass ", SHUFFLED)
    df = int(np.count_nonzero(test.weights > 1e-9 * test.weights.max(initial=0.0)))
    if permutations:
        p_value = _share_beyond(test.statistic, test.shuffled(permutations, seed))
        return HypothesisTest("score", test.statistic, df, p_value, permutations, choice=chosen)
    p_value = weighted_chi_square_tail(test.statistic, test.weights)
    law = f"weighted sum of {df} chi-squares"
    return HypothesisTest("score", test.statistic, df, p_value, advice=advice, law=law, choice=chosen)


def _shuffles_for(n: int) -> int:
    """999, and fewer for so many reports that they would take more than seconds."""
    return int(np.clip(_MOST_SWAPS // n, _FEWEST_SHUFFLES, _USUAL_SHUFFLES))


def _explained(n: int, ratio: float, permutations: int) -> str:
    if n < 4:
        return f"chosen: {permutations} shuffles of one variable, for {n} reports have no limiting law"
    apart = f"the exact variance of the statistic over all shuffles of these reports is {abs(ratio - 1):.2%} from that"
    if not permutations:
        return f"chosen: the limiting law of the statistic, without shuffles, because {apart} of the law"
    return (
        f"chosen: {permutations} shuffles of one variable, because {apart} of its limiting law: too few reports for "
        "that, or too uneven ones"
    )


def _share_beyond(observed: float, shuffled: Iterable[float]) -> float:
    """The share of values, the observed one among them, that are at least as large; equal up to round-off is equal."""
    beyond = [value >= observed - 1e-9 * max(1.0, abs(observed)) for value in shuffled]
    return (1 + sum(beyond)) / (1 + len(beyond))
