"""What designs on balanced blocks share: every category is in r of the b reports, every pair of them in λ.

A report that holds the truth has the chance ``inside / r``, another one ``outside / (b - r)``, both out of 2^64. The
chance that a report holds a category then depends only on whether it is the truth, and all else follows from it.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from functools import cached_property

from maskwell.designs.base import Design
from maskwell.errors import EstimationError
from maskwell.sampling.samplers import TOTAL


class BalancedDesign(Design):
    """Two weights out of 2^64, of reports that hold the truth and of reports that do not."""

    inside: int
    outside: int

    @property
    @abstractmethod
    def counts(self) -> tuple[int, int, int]:
        """(b, r, λ): the reports, those that hold a category, and those that hold two."""

    @cached_property
    def chances(self) -> tuple[Fraction, Fraction]:
        """Of one report, given a truth that it holds and one that it does not."""
        b, r, _ = self.counts
        return Fraction(self.inside, r * TOTAL), Fraction(self.outside, (b - r) * TOTAL)

    @cached_property
    def inclusion(self) -> tuple[Fraction, Fraction]:
        """A and B: the chance that a report holds the true category, and that it holds a given other one."""
        _, r, pair = self.counts
        member, other = self.chances
        return r * member, pair * member + (r - pair) * other

    def inclusion_probabilities(self) -> tuple[float, float]:
        """A and B as floats."""
        a, b = self.inclusion
        return float(a), float(b)

    @cached_property
    def estimable(self) -> bool:
        """Balanced reports determine all proportions unless they are as likely for every truth."""
        return self.chances[0] != self.chances[1]

    def require_estimable(self) -> None:
        if not self.estimable:
            raise EstimationError(
                f"{self.title} reports do not depend on the truth, so nothing can be estimated; use a larger epsilon."
            )

    def variance_from_inclusions(self) -> float:
        """What masking adds to n times the total variance of the estimator from inclusion counts."""
        a, b = self.inclusion
        true, other = a * (1 - b) ** 2 + (1 - a) * b**2, b * (1 - b)
        return float((true + (self.k - 1) * other) / (a - b) ** 2 - 1)
