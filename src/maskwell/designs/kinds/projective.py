"""Projective designs: the report is a hyperplane of a finite space, and only whether it holds the truth matters.

Truths are the first k of the v points of a projective space, reports its v hyperplanes. Each truth is in r of them and
each pair in λ, as in a balanced block design, but there is no list: whether a hyperplane holds a point is arithmetic in
a finite field, and so is drawing one. That makes millions of categories possible, at the variance of the minimax design
with the same share of categories in a report and a report of log2 v bits (feldman-et-al-2022).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from maskwell.designs import stored
from maskwell.designs.base import Matrix, Method, Scores, Vector
from maskwell.designs.channels.hyperplanes import HyperplaneChannel
from maskwell.designs.codecs import Codec
from maskwell.designs.geometry.space import Space, is_order
from maskwell.designs.kinds.balanced import BalancedDesign
from maskwell.designs.scores import SUM_TOLERANCE, FromInclusions
from maskwell.designs.set_facts import SetFacts
from maskwell.errors import DesignError, ReportError
from maskwell.sampling.block_samplers import HyperplaneSampler
from maskwell.sampling.samplers import TOTAL, Packed
from maskwell.tables.labels import Label, as_labels

_LABEL = re.compile("h(0|[1-9][0-9]{0,9})")
MOST_POINTS = 1 << 26  # 64 million: sums over hyperplanes are exact up to there


@dataclass(frozen=True, eq=False, repr=False)
class ProjectiveDesign(BalancedDesign):
    """A hyperplane through the truth with the weight ``inside`` out of 2^64, else one past it."""

    q: int
    t: int
    inside: int
    outside: int

    kind = "projective"
    scores_need_table = False

    def __post_init__(self) -> None:
        super().__post_init__()
        stored.integers((self.q, self.t), "q and t", 2)
        stored.integers((self.inside, self.outside), "weights inside and outside", 1)
        if not is_order(self.q):
            raise DesignError(f"q must be a prime up to 65521 or a power of 2 up to 4096; got {self.q}.")
        if self.t > 64 or self.space.points > MOST_POINTS:
            raise DesignError(f"a space of order {self.q} and dimension {self.t} has more than {MOST_POINTS} points.")
        if self.k > self.space.points:
            raise DesignError(f"{self.k} categories need as many points; the space has {self.space.points}.")
        if self.inside + self.outside != TOTAL:
            raise DesignError("weights inside and outside must sum to 2^64.")

    @property
    def space(self) -> Space:
        """The finite space whose points are categories and whose hyperplanes are reports."""
        return Space(self.q, self.t)

    @property
    def counts(self) -> tuple[int, int, int]:
        return self.space.points, self.space.through, self.space.through_two

    @cached_property
    def channel(self) -> HyperplaneChannel:
        return HyperplaneChannel(self.k, self.name, self.space, *self.chances)

    @cached_property
    def sampler(self) -> HyperplaneSampler:
        r, v = self.space.through, self.space.points
        return HyperplaneSampler(self.inside, (self.q, self.t, r, v - r), self.space.tables)

    @cached_property
    def codec(self) -> HyperplaneCodec:
        return HyperplaneCodec(self.categories, self.report_labels, self.channel)

    def report_labels(self) -> list[Any]:
        return self.codec.decode(np.arange(self.space.points))

    def members(self, report: str) -> list[Label]:
        """The categories that a report holds.

        >>> from maskwell.designs import projective
        >>> projective(7, gamma=1.5).members("h0")
        [1, 3, 5]
        """
        inside_row = self.space.holds(self.codec.pack(report), self.k)[0]
        return [self.categories[at] for at in np.flatnonzero(inside_row)]

    def membership_rule(self) -> str:
        q, t = self.q, self.t
        field = f"its elements are 0 to {q - 1}, added and multiplied modulo {q}"
        if q & (q - 1) == 0 and q > 2:
            polynomial = q | int(self.space.tables[0][q.bit_length() - 1])
            field = (
                f"its elements are 0 to {q - 1}, added by XOR and multiplied as polynomials whose coefficients are "
                f"their bits, modulo the one with the bits {polynomial:b}"
            )
        return (
            f"reports h0 to h{self.space.points - 1} and categories, by their place from 0, stand for vectors of {t} "
            f"elements of the field with {q} elements whose first element that is not 0 is 1, numbered by the zeros "
            "they begin with, the most first, and then as numbers; a report holds a category if the sum of the "
            f"products of their elements is 0; {field}"
        )

    def truthful_rows(self) -> list[int] | None:
        return None

    def set_facts(self) -> SetFacts:
        sizes = self.channel.set_sizes
        a, b = self.inclusion
        return SetFacts(int(sizes.min()), int(sizes.max()), a, b)

    # Estimating.

    @cached_property
    def added_variance(self) -> float:
        if not self.estimable:
            return math.inf
        return self.variance_from_inclusions()

    def scores(self, method: Method) -> Scores:
        """Of inclusion counts, whatever the method: with every point a category they are the minimax estimator."""
        self.require_estimable()
        return HyperplaneScores(self.channel, self.inclusion_probabilities())

    def estimator(self, method: Method) -> Matrix:
        self.channel.refuse_large("the table of scores")
        return self.scores(method).rows(np.arange(self.space.points)).T

    def relative_rows(self, packed: Packed) -> Matrix:
        inside = self.space.holds(packed, self.k)
        rows = np.where(inside, float(self.channel.member), float(self.channel.other))
        relative: Matrix = rows / rows.mean(axis=1, keepdims=True)
        return relative

    # Storage.

    def stored_weights(self) -> dict[str, Any]:
        return {"q": self.q, "t": self.t, "inside": str(self.inside), "outside": str(self.outside)}

    @classmethod
    def from_weights(cls, labels: list[Any], weights: dict[str, Any], **about: Any) -> Self:
        q, t, inside, outside = stored.fields(weights, "q", "t", "inside", "outside")
        return cls(as_labels(labels), q, t, stored.weight(inside), stored.weight(outside), **about)


@dataclass(frozen=True, eq=False)
class HyperplaneCodec(Codec):
    """A report is the number of its hyperplane, shown as h and the number: its members may be hundreds of thousands."""

    channel: HyperplaneChannel

    def decode(self, packed: Packed) -> list[Any]:
        return [f"h{number}" for number in packed.tolist()]

    def pack(self, report: Any) -> Packed:
        number = report[1:] if isinstance(report, str) and _LABEL.fullmatch(report) else ""
        if not number or int(number) >= self.channel.report_count():
            raise ReportError(
                f"report {report!r} must be h0 to h{self.channel.report_count() - 1}, a hyperplane's number."
            )
        return self.pack_rows(np.array([int(number)]))

    def first_impossible(self, packed: Packed) -> int:
        wrong = packed >= self.channel.report_count()
        return int(np.argmax(wrong)) if wrong.any() else -1

    def inclusions(self, counts: NDArray[Any]) -> NDArray[Any]:
        return self.channel.inclusions(counts)


@dataclass(frozen=True)
class HyperplaneScores(FromInclusions):
    """A category's score is ``(1 - B) / (A - B)`` in reports that hold it and ``-B / (A - B)`` in the others."""

    channel: HyperplaneChannel
    inclusion: tuple[float, float]

    @property
    def _pair(self) -> tuple[float, float]:
        a, b = self.inclusion
        return (1 - b) / (a - b), -b / (a - b)

    def mean(self, counts: NDArray[Any]) -> Vector:
        a, b = self.inclusion
        estimate: Vector = (self.channel.inclusions(counts) / counts.sum() - b) / (a - b)
        return estimate

    def rows(self, packed: Packed) -> Matrix:
        return np.where(self.channel.space.holds(packed, self.channel.k), *self._pair)

    def extremes(self) -> tuple[float, float]:
        low, high = sorted(self._pair)
        return low, high

    def second_moment(self, proportions: Vector) -> Matrix:
        self.channel.refuse_large("the covariance")
        scores = self.rows(np.arange(self.channel.report_count()))
        moment: Matrix = (scores.T * self.channel.chances(proportions)) @ scores
        return moment

    def contrast_moment(self, weights: Vector, proportions: Vector) -> float:
        member, other = self._pair
        sums = other * weights.sum() + (member - other) * self.channel.over_points(weights)
        return float(sums**2 @ self.channel.chances(proportions))

    def second_moment_diagonal(self, proportions: Vector) -> Vector:
        intercept, slope = self.common_line()
        return np.asarray(intercept * proportions.sum() + slope * proportions)

    def mean_squares(self) -> Matrix:
        intercept, slope = self.common_line()
        return intercept + slope * np.eye(self.channel.k)

    @property
    def k(self) -> int:
        return self.channel.k

    def holds_at(self, proportions: Vector) -> bool:
        return bool(abs(proportions.sum() - 1) <= SUM_TOLERANCE and (self.channel.chances(proportions) >= 0).all())
