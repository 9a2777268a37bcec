"""Do groups have the same proportions? A score test that holds its level in small, sparse and extreme samples too.

``group_scores`` says what the statistic is. What it is compared with is chosen by how much a single report can move it
(for a direct question, by the smallest expected count):

* many reports of every kind: the weighted sum of chi-squares that it is in large groups;
* otherwise, groups asked with one design: the same reports divided among the groups at random, which is exact;
* otherwise, groups asked with different designs: samples drawn at the common population that fits them best.

Scores come from the likelihood at that population. Where a tally does not keep its distinct reports, carries weights,
or has too many possible ones, they come from the linear estimates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Vector
from maskwell.errors import EstimationError
from maskwell.inference.draws import seed_of
from maskwell.inference.hypotheses import group_likelihoods, group_means
from maskwell.inference.hypotheses.group_scores import Comparison
from maskwell.inference.hypotheses.hypothesis_test import HypothesisTest
from maskwell.inference.hypotheses.monte_carlo import MOST, upper_tail
from maskwell.inference.hypotheses.weighted_chi_squares import weighted_chi_square_tail
from maskwell.inference.sample.groups import Missing, grouped, some_of
from maskwell.inference.sample.hypotheses import sampled_homogeneity
from maskwell.inference.sample.sample import Sample
from maskwell.limits import MATRIX_CELLS
from maskwell.reports import Reports
from maskwell.reports.tally import Tally

# One report may move the statistic by this much; the classical rule of 5 expected would be .2.
MOST_LEVERAGE = 0.1
_METHOD = "homogeneity (score)"
_CHOICES = {
    "permutations": "some reports are rare, so the same reports were divided among the groups at random",
    "draws": "some reports are rare, so samples were drawn at the population that fits all groups best",
}
_NO_WEIGHT = 1e-9
_UNEQUAL = 1e-6
_PATTERN_CELLS = 1 << 26
_WORK = 1_000_000_000  # numbers to look at


def homogeneity_test(
    tallies: Sequence[Tally | Reports] | Reports,
    groups: Any = None,
    *,
    seed: int | None = None,
    sample: Sample | None = None,
    method: str = "rao-scott",
    between: Sequence[Any] | None = None,
    missing: Missing = "refuse",
) -> HypothesisTest:
    """Test whether groups, each asked with a design for the same categories, have the same proportions.

    The result says what the p-value was read from: chi-square, permutations of the reports among the groups, or samples
    drawn at a common population, with the standard error that drawing leaves. Draws depend on the tallies alone, or on
    ``seed``, so that a test repeated gives the same p-value.

    The groups are a list of their tallies or reports, or all reports in one and ``groups`` with the group of each.
    ``between`` then names two or more groups where not all are compared; ``missing`` is that of ``estimate_by``. In a
    complex sample there is a ``sample`` as well; ``method`` is then ``"rao-scott"`` or ``"wald"``. A tally of an
    estimate from a sample is refused: it does not know the strata and clusters.

    >>> import maskwell as mw
    >>> design = mw.designs.direct(["yes", "no"])
    >>> print(mw.homogeneity_test([mw.Tally.from_counts(design, [700, 300]), mw.Tally.from_counts(design, [650, 350])]))
    homogeneity (score): statistic 5.6952, p = 0.01701 (chi-square, 1 df)
    >>> reports = design.mask(["yes"] * 1350 + ["no"] * 650)
    >>> print(mw.homogeneity_test(reports, (["f"] * 700 + ["m"] * 650) + (["f"] * 300 + ["m"] * 350)))
    homogeneity (score): statistic 5.6952, p = 0.01701 (chi-square, 1 df)
    """
    if groups is not None and isinstance(tallies, Reports):
        labels, codes = _groups(tallies, groups, between, missing)
        if sample is not None:
            return sampled_homogeneity(tallies, labels, codes, sample, method)
        tallies = [tallies.part(codes == at) for at in range(len(labels))]
    elif sample is not None or groups is not None or between is not None:
        raise EstimationError(
            "homogeneity_test with groups=, sample= or between= needs the reports of all groups in one, and groups= "
            "with the group of each."
        )
    counted = _checked(tallies)
    compared = _compare(counted, seed_of(tally.counts for tally in counted) if seed is None else seed)
    scores = compared.scores
    weights = scores.weights[scores.weights > _NO_WEIGHT]
    if not len(weights):
        return HypothesisTest(_METHOD, 0.0, 0, 1.0, advice="all reports are alike: there is nothing to compare")
    df, factor = float(weights.sum() ** 2 / (weights**2).sum()), float((weights**2).sum() / weights.sum())
    result = HypothesisTest(_METHOD, scores.observed, df, 1.0, mean=factor)
    if compared.leverage <= MOST_LEVERAGE or compared.draw is None:
        return _by_law(result, weights, compared.leverage <= MOST_LEVERAGE)
    found = upper_tail(scores.observed, compared.draw, most=min(MOST, max(999, _WORK // max(compared.cost, 1))))
    return replace(
        result,
        p_value=found.p_value,
        p_error=found.standard_error,
        permutations=found.draws if compared.by == "permutations" else 0,
        draws=found.draws if compared.by == "draws" else 0,
        choice=_CHOICES[compared.by],
    )


def _groups(reports: Reports, groups: Any, between: Any, missing: Missing) -> tuple[list[Any], NDArray[np.int64]]:
    labels, codes = grouped(groups, len(reports), missing)
    if between is not None:
        labels, codes = some_of(labels, codes, between)
    if len(labels) < 2:
        raise EstimationError("homogeneity_test needs at least two groups.", parameter="groups")
    return labels, codes


def _by_law(result: HypothesisTest, weights: Vector, large: bool) -> HypothesisTest:
    """The result with the tail of its law in large groups."""
    unequal = weights.max() - weights.min() > _UNEQUAL * weights.max()
    return replace(
        result,
        p_value=weighted_chi_square_tail(result.statistic, weights),
        law=f"{len(weights)} weighted chi-squares, as wide as {result.df:.4g} equal ones" if unequal else "",
        advice="" if large else "a group is small: the distribution for large ones is approximate",
    )


def _checked(tallies: Sequence[Tally | Reports] | Reports) -> list[Tally]:
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
        group.refuse_sample("use homogeneity_test(reports, groups, sample=sample)")
    empty = [i for i, group in enumerate(groups) if group.n == 0]
    if empty:
        raise EstimationError(f"group {empty[0]} has no reports; leave it out.")
    return groups


def _compare(groups: list[Tally], seed: int) -> Comparison:
    k = groups[0].design.k
    if k * k > MATRIX_CELLS:
        raise EstimationError(
            f"homogeneity_test compares all {k:,} categories at once, with a covariance of {k * k:,} cells (limit "
            f"{MATRIX_CELLS:,}); compare sums of categories by estimate.contrast, or group the categories."
        )
    listed = all(group.patterns is not None and group.squares is None for group in groups)
    if listed and all(group.design == groups[0].design for group in groups):
        return group_likelihoods.exchangeable(groups, seed)
    if listed and all(group_likelihoods.enumerable(group.design) for group in groups):
        return group_likelihoods.different_designs(groups, seed)
    return group_means.linear(groups, seed)
