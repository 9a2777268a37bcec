r"""What a report tells a reader who knows how common each category is, for any design by its matrix.

With prior weights w, three figures say how much leaks on average (wang-ding-2021, Definitions 5 to 7):

- size: the weight of the categories that the report rules out, :math:`1 - E\,w(\{j : P_{zj} > 0\})`. For designs
  whose reported set always holds the truth this is the paper's one minus the weight of the set; a report that rules
  nothing out leaks nothing by this measure.
- mutual information between truth and report, in bits.
- prediction: the chance that the best guess from the report is right, :math:`\sum_z \max_j P_{zj} w_j`. Without a
  prior, all categories alike, this is the guess probability of nayak-zhai-2019 (1/l for local l-diversity).

``by_size`` has the same methods in closed form for symmetric channels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from maskwell.designs.channels.leakage.capacity import capacity
from maskwell.designs.channels.numbers import Matrix, Vector


class Enclosure(NamedTuple):
    """Two numbers between which a figure lies, up to round-off in the last digits."""

    lower: float
    upper: float

    @property
    def middle(self) -> float:
        """Halfway: off by at most half the width."""
        return (self.lower + self.upper) / 2


class Leakage(Protocol):
    """The leakage of one channel under one prior."""

    def size(self) -> float:
        """The average weight of the categories that a report rules out."""
        ...

    def prediction(self) -> Fraction | float:
        """The chance that the best guess is right; exact without a prior."""
        ...

    def mutual_information(self) -> Enclosure:
        """Between truth and report, in bits."""
        ...

    def capacity(self) -> Enclosure:
        """The largest mutual information over all priors, in bits."""
        ...

    def largest_posterior(self) -> float:
        """The most that any report can make of any category."""
        ...


@dataclass(frozen=True)
class TableLeakage:
    """Leakage by enumeration of all reports; ``weights`` None means all categories alike.

    ``best_guesses`` is the exact sum of the largest entry of each row.
    """

    matrix: Matrix
    best_guesses: Callable[[], Fraction]
    weights: Vector | None

    @cached_property
    def _prior(self) -> Vector:
        k = self.matrix.shape[1]
        return np.full(k, 1 / k) if self.weights is None else self.weights

    @cached_property
    def _joint(self) -> Matrix:
        """The chance of each report together with each truth."""
        return self.matrix * self._prior

    def size(self) -> float:
        ruled_out = (self.matrix == 0) @ self._prior
        return float(self._joint.sum(axis=1) @ ruled_out)

    def prediction(self) -> Fraction | float:
        if self.weights is None:
            return self.best_guesses() / len(self._prior)
        return math.fsum(self._joint.max(axis=1))

    def mutual_information(self) -> Enclosure:
        reports = self._joint.sum(axis=1, keepdims=True)
        ratio = np.where(self._joint > 0, self.matrix, 1) / np.where((self._joint > 0) & (reports > 0), reports, 1)
        value = max(0.0, math.fsum((self._joint * np.log2(ratio)).ravel()))
        return Enclosure(value, value)

    def capacity(self) -> Enclosure:
        return Enclosure(*capacity(self.matrix))

    def largest_posterior(self) -> float:
        reports = self._joint.sum(axis=1)
        can_occur = reports > 0
        return float((self._joint[can_occur] / reports[can_occur, None]).max())
