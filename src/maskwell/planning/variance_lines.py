"""How far one report's score for a category spreads, as a function of that category's share of the population.

If a category has the share p and everybody else gives one other true answer, the mean square of its score is a straight
line in p, and n times the variance of its estimate is that line less p². For symmetric designs there is one line; for
others there is one per pair of a category and a rival, and a population in between lies between their lines, so the
widest of them bounds what any population can do.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from maskwell.designs.base import Design, Matrix, Vector
from maskwell.errors import DesignError
from maskwell.exact import fraction, given_fraction
from maskwell.limits import MOST_RESPONDENTS

_MOST_CATEGORIES = 2000


@dataclass(frozen=True)
class Lines:
    """Mean squares ``intercept + slope * p`` of a score of the linear estimator."""

    intercept: Vector
    slope: Vector

    @staticmethod
    def of(design: Design, category: Any = None) -> "Lines":
        """The lines of one category, or of all of them; an EstimationError names what the design cannot tell."""
        rows = range(design.k) if category is None else [position(design, category)]
        common = design.scores("linear").common_line()
        if common is not None:
            return Lines(np.array([common[0]]), np.array([common[1]]))
        by_truth = mean_squares(design)
        rivals = [np.delete(by_truth[j], j) for j in rows]
        slopes = [by_truth[j, j] - rival for j, rival in zip(rows, rivals, strict=True)]
        return Lines(np.concatenate(rivals), np.concatenate(slopes))

    def variance(self, proportion: float | Vector) -> Vector:
        """n times the variance of the estimate, by line."""
        # Round-off can leave a direct question's zero variance just below zero.
        spread: Vector = np.maximum(self.intercept + self.slope * proportion - np.square(proportion), 0.0)
        return spread


def mean_squares(design: Design) -> Matrix:
    """Entry (i, j): the mean square of the score for category i in reports of people whose truth is j."""
    if design.k > _MOST_CATEGORIES:
        raise DesignError(
            f"planning compares all pairs of categories of {design.title}, of which {design.k} are too many (limit "
            f"{_MOST_CATEGORIES}); plan its variables or groups one by one."
        )
    return design.scores("linear").mean_squares()


def position(design: Design, category: Any) -> int:
    """The place of a category among the design's."""
    if category not in design.categories:
        raise DesignError(f"category {category!r} is not a category of the design; name one of its {design.k} labels.")
    return design.categories.index(category)


def respondents(n: Any) -> int:
    """A number of respondents: a whole number from 1 on."""
    count = fraction(n, "n", DesignError)
    if count.denominator != 1 or not 1 <= count <= MOST_RESPONDENTS:
        raise DesignError(f"n must be a whole number of respondents >= 1 and <= 10^18; got {n}.")
    return int(count)


def share(value: Any, name: str) -> float:
    """A share of a population, from 0 to 1."""
    exact = given_fraction(value, name, DesignError)
    if not 0 <= exact <= 1:
        raise DesignError(f"{name} must be a share from 0 to 1; got {value}.")
    return float(exact)


def margin(value: Any, name: str) -> float:
    """A distance between shares, above 0 and below 1."""
    exact = given_fraction(value, name, DesignError)
    if not 0 < exact < 1:
        raise DesignError(f"{name} must lie between 0 and 1; got {value}. Write 0.05 for five percentage points.")
    return float(exact)
