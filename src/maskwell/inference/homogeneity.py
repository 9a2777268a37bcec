"""Do groups have the same proportions? A score test that holds its level in small, sparse and extreme samples too.

``group_scores`` says what the statistic is. What it is compared with is chosen by how much a single report can move it
(for a direct question, by the smallest expected count):

* many reports of every kind: the chi-square distribution with its mean and variance;
* otherwise, groups asked with one design: the same reports divided among the groups at random, which is exact;
* otherwise, groups asked with different designs: samples drawn at the common population that fits them best.

Scores come from the likelihood at that population. Where a tally does not keep its distinct reports, carries weights,
or has too many possible ones, they come from the linear estimates.
"""

from __future__ import annotations

from collections.abc import Sequence

from maskwell.errors import EstimationError
from maskwell.inference import group_likelihoods, group_means
from maskwell.inference.group_scores import Comparison
from maskwell.inference.hypothesis import HypothesisTest, chi_square_tail
from maskwell.inference.monte_carlo import MOST, seed_of, upper_tail
from maskwell.reports import Reports
from maskwell.tally import Tally

# One report may move the statistic by this much; the classical rule of 5 expected would be .2.
MOST_LEVERAGE = 0.1
_PATTERN_CELLS = 1 << 26
_WORK = 2_000_000_000


def homogeneity_test(tallies: Sequence[Tally | Reports], *, seed: int | None = None) -> HypothesisTest:
    """Test whether groups, each asked with a design for the same categories, have the same proportions.

    The result says what the p-value was read from: chi-square, permutations of the reports among the groups, or samples
    drawn at a common population, with the standard error that drawing leaves. Draws depend on the tallies alone, or on
    ``seed``, so that a test repeated gives the same p-value.

    >>> import maskwell as mw
    >>> design = mw.designs.direct(["yes", "no"])
    >>> print(mw.homogeneity_test([mw.Tally.from_counts(design, [700, 300]), mw.Tally.from_counts(design, [650, 350])]))
    homogeneity (score): statistic 5.6980, p = 0.01698 (chi-square, 1 df)
    """
    groups = _checked(tallies)
    compared = _compare(groups, seed_of(tally.counts for tally in groups) if seed is None else seed)
    scores = compared.scores
    df, factor = scores.chi_square
    if df == 0:
        return HypothesisTest(
            "homogeneity (score)", 0.0, 0, 1.0, advice="all reports are alike: there is nothing to compare"
        )
    if compared.leverage <= MOST_LEVERAGE or compared.draw is None:
        small = compared.leverage > MOST_LEVERAGE
        advice = "a group is small: the chi-square distribution is approximate" if small else ""
        tail = chi_square_tail(scores.observed / factor, df)
        return HypothesisTest("homogeneity (score)", scores.observed, df, tail, advice=advice, mean=factor)
    found = upper_tail(scores.observed, compared.draw, most=min(MOST, max(999, _WORK // max(compared.cost, 1))))
    drawn = {compared.by: found.draws}
    return HypothesisTest(
        "homogeneity (score)",
        scores.observed,
        df,
        found.p_value,
        mean=factor,
        p_error=found.standard_error,
        permutations=drawn.get("permutations", 0),
        draws=drawn.get("draws", 0),
    )


def _checked(tallies: Sequence[Tally | Reports]) -> list[Tally]:
    """The groups' tallies, with distinct reports where they can be had."""
    if isinstance(tallies, (Tally, Reports)) or len(tallies) < 2:
        raise EstimationError("homogeneity_test needs at least two groups: a list of their tallies or reports.")
    cells = sum(len(group) * group.design.k for group in tallies if isinstance(group, Reports))
    keep = True if cells <= _PATTERN_CELLS else None
    groups = [group.tally(patterns=keep) if isinstance(group, Reports) else group for group in tallies]
    for group in groups:
        if not isinstance(group, Tally):
            raise EstimationError(f"homogeneity_test needs tallies or reports; got {type(group).__name__}.")
        if group.design.categories != groups[0].design.categories:
            raise EstimationError("homogeneity_test needs the same categories, in the same order, in every group.")
    empty = [i for i, group in enumerate(groups) if group.n == 0]
    if empty:
        raise EstimationError(f"group {empty[0]} has no reports; leave it out.")
    return groups


def _compare(groups: list[Tally], seed: int) -> Comparison:
    listed = all(group.patterns is not None and group.squares is None for group in groups)
    if listed and all(group.design == groups[0].design for group in groups):
        return group_likelihoods.exchangeable(groups, seed)
    if listed and all(group_likelihoods.enumerable(group.design) for group in groups):
        return group_likelihoods.different_designs(groups, seed)
    return group_means.linear(groups, seed)
