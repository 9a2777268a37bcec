"""A channel that is given as a table of floats, such as one from a paper or another program."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from maskwell.designs.channels.base import Channel
from maskwell.designs.channels.deviations import column_distances
from maskwell.designs.channels.numbers import Exact, Matrix


@dataclass(frozen=True, eq=False)
class GivenChannel(Channel):
    """Probabilities as they were given; figures are as exact as they are."""

    given: Matrix

    def exact(self) -> Exact:
        return np.asarray(np.vectorize(Fraction, otypes=[object])(self.given))

    @cached_property
    def floats(self) -> Matrix:
        return self.given

    @cached_property
    def column_distance(self) -> Fraction:
        return Fraction(float(column_distances(self.given).max()))
