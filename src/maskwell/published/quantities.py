"""What several papers print and a design does not carry as a property of its own."""

from collections.abc import Sequence

import numpy as np

from maskwell.designs import Design
from maskwell.designs.base import Method


def total_variance(design: Design, proportions: Sequence[float], method: Method = "linear") -> float:
    """n times the summed variances of the estimated proportions, in a population with these proportions.

    >>> from maskwell.designs import direct
    >>> round(total_variance(direct(2), (0.5, 0.5)), 12)
    0.5
    """
    population = np.array(proportions)
    return float(design.scores(method).second_moment_diagonal(population).sum() - population @ population)


def best_guess(design: Design) -> float:
    """The chance of naming the truth from a report, for someone who thought all categories equally likely.

    >>> from maskwell.designs import local_diversity
    >>> best_guess(local_diversity(20, l=5))
    0.2
    """
    return float(design.channel.leakage(None).prediction())
