"""Dummy categories and dummy respondents: subset privacy for two or three categories, and a floor under its coverage.

Two dummy categories join the real ones, and every report holds exactly one of them: a real respondent's set gets one by
the toss of a coin, a dummy respondent's set is drawn without looking and gets the respondent's own. Nobody can tell a
real report from a dummy one, so with a share α of all respondents in each dummy category no report is shared by less
than that part of the population (wang-ding-2021, Appendix II, with its number of dummies corrected).

How many respondents are dummies is known, and it is used: where all sets have one size (2 or 4 real categories) the
reports themselves could not tell that share.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from maskwell.designs.base import Matrix, Vector, require_design
from maskwell.designs.kinds.conditional import ConditionalDesign
from maskwell.designs.named.conditional import conditional
from maskwell.designs.scores import least_squares
from maskwell.errors import DesignError, EstimationError
from maskwell.exact import fraction
from maskwell.planning.variance_lines import respondents
from maskwell.reports.tally import Tally
from maskwell.results.result import Result
from maskwell.tables.labels import Label, as_labels, shown

MOST_REAL = 12


def dummy_design(
    categories: Iterable[Any] | int,
    *,
    question_probs: Mapping[Any, Any] | None = None,
    dummies: tuple[Label, Label] | None = None,
) -> ConditionalDesign:
    """Subset privacy on the categories and two dummies, which come last.

    ``question_probs`` gives the chance of each set of real categories to be asked, in any unit; if it is left out, all
    sets of 2 to k - 2 real categories are alike, or of 1 to k - 1 where there are 2 or 3. Without dummy respondents
    (``dummy_respondents``) the dummy in a report is empty and hides nobody.

    >>> design = dummy_design(["no", "yes"])
    >>> [sorted(members) for members in design.report_labels()]
    [['dummy 1', 'no'], ['dummy 1', 'yes'], ['dummy 2', 'no'], ['dummy 2', 'yes']]
    """
    real = as_labels(categories)
    added = dummies if dummies is not None else _fresh_labels(real)
    labels = as_labels([*real, *added])
    asked = _asked(real, question_probs)
    chances: dict[tuple[Label, ...], Fraction] = {}
    for members, chance in asked.items():
        rest = frozenset(real) - members
        # The set or what it leaves out is reported, each with either dummy.
        for side in (members, rest):
            for dummy in added:
                key = (*sorted(side, key=real.index), dummy)
                chances[key] = chances.get(key, Fraction(0)) + chance / 2
    design = conditional(labels, subset_probs=chances)
    return replace(design, parameters={**design.parameters, "dummies": list(added)})


def _asked(real: tuple[Label, ...], question_probs: Mapping[Any, Any] | None) -> dict[frozenset[Label], Fraction]:
    """The chance of each set to be asked."""
    k = len(real)
    if question_probs is None:
        if k > MOST_REAL:
            raise DesignError(
                f"all sets of {k} categories are too many to list (limit {MOST_REAL}); name some by question_probs=."
            )
        sizes = range(2, k - 1) if k >= 4 else range(1, k)
        sets = [frozenset(members) for size in sizes for members in combinations(real, size)]
        return {members: Fraction(1, len(sets)) for members in sets}
    given: dict[frozenset[Label], Fraction] = {}
    for named, value in question_probs.items():
        members = frozenset([named] if isinstance(named, str | int) else named)
        chance = fraction(value, "question_probs", DesignError)
        if not members <= frozenset(real) or not 0 < len(members) < k or chance <= 0:
            raise DesignError(
                f"question_probs must give positive chances to sets of some, not all, of the categories {shown(real)}.",
                parameter="question_probs",
            )
        given[members] = given.get(members, Fraction(0)) + chance
    if not given:
        raise DesignError("question_probs must give at least one set a positive chance.", parameter="question_probs")
    total = sum(given.values(), Fraction(0))
    return {members: chance / total for members, chance in given.items()}


def _fresh_labels(real: tuple[Label, ...]) -> tuple[Label, Label]:
    if isinstance(real[0], bool):
        raise DesignError("true/false categories leave no label for a dummy; use text labels, such as 'yes' and 'no'.")
    if isinstance(real[0], int):
        largest = max(int(label) for label in real)
        return largest + 1, largest + 2
    return "dummy 1", "dummy 2"


def dummy_respondents(n: int, coverage: float) -> int:
    """How many dummy respondents, half in each dummy category, guarantee a size coverage beside ``n`` real ones.

    Each dummy category then holds at least this part of all respondents, and every report holds one of them:
    2αn / (1 - 2α) of them, rounded up to an even number.

    >>> dummy_respondents(1000, 0.1)
    250
    """
    real = respondents(n)
    alpha = _stated(coverage)
    if not 0 < alpha < Fraction(1, 2):
        raise DesignError(
            f"coverage must lie between 0 and 1/2; got {coverage}. At 1/2 all respondents would be dummies.",
            parameter="coverage",
        )
    return 2 * math.ceil(alpha * real / (1 - 2 * alpha))


def _stated(value: Any) -> Fraction:
    """A float as the decimal that it prints as: 0.1 means a tenth here, and not a little more."""
    exact = fraction(value, "coverage", DesignError)
    return Fraction(repr(value)) if isinstance(value, float) else exact


def guaranteed_coverage(n: int, dummies: int) -> Fraction:
    """The least part of all respondents that share a report, whatever the population is: the inverse of the above."""
    real = respondents(n)
    if dummies < 0 or dummies % 2:
        raise DesignError(
            f"dummies must be an even number >= 0, half in each category; got {dummies}.", parameter="dummies"
        )
    return Fraction(dummies // 2, real + dummies)


def dummy_values(design: ConditionalDesign, dummies: int) -> list[Label]:
    """The answers of dummy respondents, to be mixed with the real ones before anything is masked or sent."""
    guaranteed_coverage(1, dummies)
    first, second = _dummies_of(design)
    return [first] * (dummies // 2) + [second] * (dummies // 2)


def _dummies_of(design: Any) -> tuple[Label, Label]:
    require_design(design)
    marked = design.parameters.get("dummies")
    if not isinstance(marked, list) or tuple(marked) != design.categories[-2:]:
        raise DesignError("this needs a design with dummies, made by dummy_design.")
    return design.categories[-2], design.categories[-1]


@dataclass(frozen=True, eq=False)
class DummyEstimate(Result):
    """Proportions of the real categories among the real respondents; unbiased, so not clipped to [0, 1]."""

    categories: tuple[Label, ...]
    proportions: Vector
    covariance: Matrix
    n: int

    @property
    def standard_errors(self) -> Vector:
        """Square roots of the variances."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0))

    def _title(self) -> str:
        return f"proportions among the real respondents, from {self.n:,} reports"

    def _figures(self) -> dict[str, Any]:
        return {}

    def _columns(self) -> dict[str, Any]:
        figures = {"estimate": self.proportions.tolist(), "standard error": self.standard_errors.tolist()}
        return {"category": self.categories, **figures}


def estimate_beside_dummies(tally: Tally, dummies: int) -> DummyEstimate:
    """Estimate the real categories from reports of which ``dummies`` are known to come from dummy respondents.

    With f the frequencies of reports, s the share of dummies and d the mean of their two columns, (f - s d) / (1 - s)
    is what real respondents alone would give on average, and least squares on the real columns turn it into
    proportions. Its covariance counts the real respondents as drawn at random and the dummies as fixed.
    """
    design = tally.design
    _dummies_of(design)
    if tally.squares is not None:
        raise EstimationError("estimate_beside_dummies takes an unweighted tally: dummies have no sampling weight.")
    guaranteed_coverage(1, dummies)
    n = tally.n - dummies
    if n < 1:
        raise EstimationError(
            f"dummies must be fewer than the reports; got {dummies} of {tally.n}.", parameter="dummies"
        )
    real, added = np.split(design.channel.floats, [-2], axis=1)
    if np.linalg.matrix_rank(real) < real.shape[1]:
        raise EstimationError("these sets do not determine the real categories; ask more sets (question_probs).")
    # Each report weighs by its chance at uniform proportions, so that estimates sum to 1.
    estimator = least_squares(real, "linear")
    share = dummies / tally.n
    frequencies = tally.counts / tally.n
    proportions: Vector = estimator @ (frequencies - share * added.mean(axis=1)) / (1 - share)
    spread = n * _one_report(real @ proportions) + dummies / 2 * sum(_one_report(column) for column in added.T)
    covariance: Matrix = estimator @ spread @ estimator.T / (tally.n * (1 - share)) ** 2
    return DummyEstimate(design.categories[:-2], proportions, covariance, n)


def _one_report(chances: Vector) -> Matrix:
    """The covariance of the indicators of one report."""
    covariance: Matrix = np.diag(chances) - np.outer(chances, chances)
    return covariance
