"""What a complex sample does to variances: to those of sampling one thing, to those of masking another.

Clusters and strata change what sampling adds, by the design effect that a direct question would have; what masking adds
is independent from person to person and grows by unequal weights alone.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from maskwell.designs.base import Design, Vector
from maskwell.errors import DesignError
from maskwell.exact import given_fraction
from maskwell.planning.variance_lines import Lines


@dataclass(frozen=True)
class Inflation:
    """The two factors."""

    sampling: float
    masking: float

    @staticmethod
    def of(design_effect: Any = 1.0, weight_effect: Any = 1.0) -> "Inflation":
        effects = [
            float(given_fraction(value, name, DesignError))
            for name, value in (("design_effect", design_effect), ("weight_effect", weight_effect))
        ]
        if effects[0] <= 0:
            raise DesignError(f"design_effect must be above 0; got {design_effect}.", parameter="design_effect")
        if effects[1] < 1:
            raise DesignError(
                f"weight_effect is 1 + cv² of the weights and so at least 1; got {weight_effect}.",
                parameter="weight_effect",
            )
        return Inflation(*effects)

    def variance(self, lines: Lines, proportion: float | Vector) -> Vector:
        """n times the variance of the estimate, by line."""
        open_answers = np.multiply(proportion, 1 - np.asarray(proportion))
        masking = np.maximum(lines.variance(proportion) - open_answers, 0.0)
        found: Vector = self.sampling * open_answers + self.masking * masking
        return found

    def curves(self, lines: Lines) -> tuple[Vector, Vector, float]:
        """The same as ``a + b p - c p^2``: a and b by line, and c."""
        return self.masking * lines.intercept, self.sampling + self.masking * (lines.slope - 1), self.sampling

    def peaks(self, lines: Lines) -> Vector:
        """The proportion at which the variance is largest, by line; outside 0 to 1 where it only rises or falls."""
        _, slope, curvature = self.curves(lines)
        found: Vector = slope / (2 * curvature)
        return found

    def of_population(self, design: Design, proportions: Vector) -> float:
        """What the sample does to the variance of all proportions together, in a population that has these."""
        if self.sampling == self.masking:
            return self.sampling
        total = float(design.scores("linear").second_moment_diagonal(proportions).sum() - proportions @ proportions)
        sampling = 1 - float(proportions @ proportions)
        masking = max(total - sampling, 0.0)
        if sampling + masking <= 0:
            return self.sampling
        return (self.sampling * sampling + self.masking * masking) / (sampling + masking)


def effect_of_sample(design_effect: Any) -> float:
    """A design effect that all of the variance has."""
    return Inflation.of(design_effect).sampling
