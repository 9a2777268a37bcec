"""Symmetric subset designs: the report is a set of categories, and only its size and whether it holds the truth matter.

Such a design is two rows of integers out of 2^64: for each size s that can occur, the weight ``inside[s]`` of a set of
size s that holds the truth and ``outside[s]`` of one that does not; the set itself is uniform. With
``w = inside + outside``, parity of a set is ``inside (k-s) / (outside s)`` or its inverse, and the minimax linear
estimator gives a report of size s the score ``1/k + (r - 1)/alpha`` with ``r = k inside / (s w)`` for members and ``k
outside / ((k-s) w)`` for the rest, ``alpha = sum k (inside (k-s) - outside s)^2 / ((k-1) s (k-s) w)``. The variance
that masking adds is ``(k-1)/alpha + 1/k - 1`` whatever the population is (nayak-zhai-2019, Theorem 4.1 and eq. 3.3,
carried over to several sizes).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from maskwell.designs import stored
from maskwell.designs.base import Design, Matrix, Method, Scores, Vector
from maskwell.designs.channels import SizeRow, SymmetricChannel
from maskwell.designs.codecs import SetCodec
from maskwell.designs.scores import SUM_TOLERANCE
from maskwell.designs.set_facts import SetFacts
from maskwell.errors import DesignError, EstimationError
from maskwell.sampling.samplers import (
    MOST_CATEGORIES,
    TOTAL,
    CopySampler,
    Packed,
    Sampler,
    SingleSampler,
    SubsetSampler,
)
from maskwell.tables.labels import as_labels, shown


def refuse_many_for_sets(k: int) -> None:
    """An error if there are more categories than the sampler of sets can pick from."""
    if k > MOST_CATEGORIES:
        raise DesignError(
            f"sets are drawn from at most {MOST_CATEGORIES} categories; got {k}. Use projective, whose error is within "
            "a few per cent of the best sets' and whose report is one number, or group the categories."
        )


@dataclass(frozen=True, eq=False, repr=False)
class SubsetDesign(Design):
    """Sizes in rising order with the integer weights of sets that hold the truth and sets that do not."""

    sizes: tuple[int, ...]
    inside: tuple[int, ...]
    outside: tuple[int, ...]

    kind = "subsets"
    scores_need_table = False

    def __post_init__(self) -> None:
        super().__post_init__()
        stored.integers(self.sizes, "sizes")
        stored.integers(self.inside, "weights inside")
        stored.integers(self.outside, "weights outside")
        if not len(self.sizes) == len(self.inside) == len(self.outside) or not self.sizes:
            raise DesignError("weights must give an inside and an outside weight for each size.")
        if not stored.rising(self.sizes) or self.sizes[-1] > self.k:
            raise DesignError(f"sizes must rise within 0..{self.k}; got {shown(self.sizes)}.")
        if sum(self.inside + self.outside) != TOTAL:
            raise DesignError("weights must be non-negative integers that sum to 2^64.")
        if self.sizes != (1,):
            refuse_many_for_sets(self.k)
        for row in self.channel.rows:
            if row.weight == 0 or (row.size == 0 and row.inside) or (row.size == self.k and row.outside):
                raise DesignError(
                    f"weights of size {row.size} are impossible: the empty set never holds the truth, the full set "
                    "always."
                )

    @cached_property
    def channel(self) -> SymmetricChannel:
        rows = zip(self.sizes, self.inside, self.outside, strict=True)
        return SymmetricChannel(self.k, self.title, tuple(SizeRow(*row) for row in rows))

    @cached_property
    def codec(self) -> SetCodec:
        return SetCodec(self.categories, self.report_labels, self.channel)

    @cached_property
    def sampler(self) -> Sampler:
        if self.sizes == (1,):
            return SingleSampler(self.k, self.inside[0]) if self.outside[0] else CopySampler(self.k)
        return SubsetSampler(self.k, self.sizes, self.inside, self.outside)

    def report_labels(self) -> list[Any]:
        self.channel.refuse_large("report_labels()")
        if self.sizes == (1,):
            return list(self.categories)
        return [frozenset(c for j, c in enumerate(self.categories) if mask >> j & 1) for mask in self.codec.masks()]

    def exact_row(self, report: Any) -> list[Fraction]:
        members = report if isinstance(report, frozenset) else frozenset([report])
        row = next((row for row in self.channel.rows if row.size == len(members)), None)
        member, other = (Fraction(0), Fraction(0)) if row is None else self.channel.chances(row)
        return [member if category in members else other for category in self.categories]

    @property
    def set_range(self) -> tuple[int, int]:
        return self.sizes[0], self.sizes[-1]

    def truthful_rows(self) -> list[int] | None:
        return list(range(self.k)) if self.sizes == (1,) else None

    def set_facts(self) -> SetFacts:
        rows = self.channel.rows
        truth, others = sum(row.inside for row in rows), sum(row.size * row.weight - row.inside for row in rows)
        least, most = rows[0].size, rows[-1].size
        return SetFacts(least, most, Fraction(truth, TOTAL), Fraction(others, TOTAL * (self.k - 1)))

    # Estimating.

    @cached_property
    def _shares(self) -> tuple[Vector, Vector, Vector]:
        """Sizes, and the probabilities of inside and outside, as floats."""
        probabilities = [np.array([w / TOTAL for w in weights]) for weights in (self.inside, self.outside)]
        return np.array(self.sizes, float), probabilities[0], probabilities[1]

    @cached_property
    def _information(self) -> float:
        """alpha, the information about a category in one report."""
        k = self.k
        terms = [
            Fraction(k * row.contrast(k) ** 2, (k - 1) * row.size * (k - row.size) * row.weight * TOTAL)
            for row in self.channel.rows
            if 0 < row.size < k
        ]
        return math.fsum(float(term) for term in terms)

    @cached_property
    def estimable(self) -> bool:
        return self._information > 0

    @cached_property
    def added_variance(self) -> float:
        if self._information == 0:
            return math.inf
        return (self.k - 1) / self._information + 1 / self.k - 1

    def inclusion_probabilities(self) -> tuple[float, float]:
        """A and B: the chance that a report holds the true category, and that it holds a given other one."""
        sizes, inside, outside = self._shares
        return math.fsum(inside), math.fsum((inside * (sizes - 1) + outside * sizes) / (self.k - 1))

    @cached_property
    def _relative(self) -> tuple[Vector, Vector]:
        """By size: P(z | j) over its mean, for members and for the others."""
        member, other = np.array([row.relative(self.k) for row in self.channel.rows]).T
        return member, other

    def relative_rows(self, packed: Packed) -> Matrix:
        member, other = self._relative
        bits = self.codec.bits(packed)
        size = self.codec.size_index(bits)
        return np.where(bits == 1, member[size, None], other[size, None])

    def require_estimable(self) -> None:
        if not self.estimable:
            raise EstimationError(
                f"{self.title} reports do not depend on the truth, so nothing can be estimated; use a design "
                "with smaller sets or a larger epsilon."
            )

    def scores(self, method: Method) -> Scores:
        self.require_estimable()
        if method == "moments":
            a, b = self.inclusion_probabilities()
            if a == b:
                raise EstimationError(f"{self.title} includes every category equally often; use method='linear'.")
            ones = np.ones(len(self.sizes))
            return SubsetScores(self, -b / (a - b) * ones, ones / (a - b), from_inclusions=True)
        member, other = self._relative
        base = 1 / self.k + (other - 1) / self._information
        return SubsetScores(self, base, (member - other) / self._information, from_inclusions=len(self.sizes) == 1)

    # Storage.

    def stored_weights(self) -> dict[str, Any]:
        # As text: a browser's numbers end at 2^53.
        return {
            "sizes": list(self.sizes),
            "inside": [str(weight) for weight in self.inside],
            "outside": [str(weight) for weight in self.outside],
        }

    @classmethod
    def from_weights(cls, labels: list[Any], weights: dict[str, Any], **about: Any) -> Self:
        sizes, inside, outside = stored.fields(weights, "sizes", "inside", "outside")
        return cls(
            as_labels(labels),
            tuple(stored.listed(sizes, "sizes")),
            stored.weights(inside, "inside"),
            stored.weights(outside, "outside"),
            **about,
        )


@dataclass(frozen=True)
class SubsetScores(Scores):
    """Scores ``base[s] + slope[s] * member``; their second moments are linear in the proportions."""

    design: SubsetDesign
    base: Vector
    slope: Vector
    from_inclusions: bool

    def mean(self, counts: NDArray[Any]) -> Vector:
        n = counts[:, -1].sum()
        estimate: Vector = (self.base @ counts[:, -1] + self.slope @ counts[:, :-1]) / n
        return estimate

    def rows(self, packed: Packed) -> Matrix:
        members = self.design.codec.bits(packed)
        size = self.design.codec.size_index(members)
        rows: Matrix = self.base[size, None] + self.slope[size, None] * members
        return rows

    def extremes(self) -> tuple[float, float]:
        sizes = np.array(self.design.sizes)
        values = np.concatenate([(self.base + self.slope)[sizes > 0], self.base[sizes < self.design.k]])
        return float(values.min()), float(values.max())

    @cached_property
    def _moments(self) -> tuple[float, float, float, float]:
        """E[L_i^2] = d0 + d1 p_i and E[L_i L_j] = e0 + e1 (p_i + p_j)."""
        k = self.design.k
        s, inside, outside = self.design._shares
        other = (inside * (s - 1) + outside * s) / (k - 1)  # a given category that is not the truth
        pair = inside * (s - 1) / (k - 1)  # the truth and a given other one
        pair_other = (inside * (s - 1) * (s - 2) + outside * s * (s - 1)) / ((k - 1) * max(k - 2, 1))
        constant = self.base**2 @ (inside + outside)
        cross, square = self.base * self.slope, self.slope**2
        return (
            float(constant + (2 * cross + square) @ other),
            float((2 * cross + square) @ (inside - other)),
            float(constant + 2 * cross @ other + square @ pair_other),
            float(cross @ (inside - other) + square @ (pair - pair_other)),
        )

    def second_moment(self, proportions: Vector) -> Matrix:
        d0, d1, e0, e1 = self._moments
        moment = e0 + e1 * np.add.outer(proportions, proportions)
        np.fill_diagonal(moment, d0 + d1 * proportions)
        return moment

    def contrast_moment(self, weights: Vector, proportions: Vector) -> float:
        d0, d1, e0, e1 = self._moments
        weighted, squares = weights * proportions, weights**2
        pairs = e0 * weights.sum() ** 2 + 2 * e1 * weights.sum() * weighted.sum()
        return float(pairs + (d0 - e0) * squares.sum() + (d1 - 2 * e1) * (squares @ proportions))

    def second_moment_diagonal(self, proportions: Vector) -> Vector:
        d0, d1, _, _ = self._moments
        return d0 + d1 * proportions

    def mean_squares(self) -> Matrix:
        intercept, slope = self.common_line()
        return intercept + slope * np.eye(self.design.k)

    def common_line(self) -> tuple[float, float]:
        return self._moments[:2]

    def holds_at(self, proportions: Vector) -> bool:
        if abs(proportions.sum() - 1) > SUM_TOLERANCE:
            return False
        d0, d1, e0, e1 = self._moments
        variance = d0 - e0 + (d1 - 2 * e1) * proportions
        sums = self.design.k * self.base + self.slope * np.array(self.design.sizes)
        if variance.min() <= 0 or np.abs(sums - 1).max() > SUM_TOLERANCE:
            return bool((proportions >= 0).all())
        # Where scores sum to 1 their sum has no variance, and for u that sums to 0 the rest is
        # u' (second moment - p p') u = sum(own u^2) - (p . u)^2.
        centred = proportions - (proportions / variance).sum() / (1 / variance).sum()
        return bool((centred**2 / variance).sum() <= 1)

    def by_truth(self) -> NDArray[np.float64]:
        k = self.design.k
        d0, d1, e0, e1 = self._moments
        moments = np.full((k, k, k), e0)
        every = np.arange(k)
        moments[every, :, every] += e1
        moments[:, every, every] += e1
        moments[every, every, :] = d0
        moments[every, every, every] += d1
        return moments

    def variance_lines(self, proportions: Vector) -> tuple[Vector, Vector]:
        d0, d1, _, _ = self._moments
        ones = np.ones(self.design.k)
        return d0 * ones, d1 * ones

    def by_size(self) -> tuple[Vector, Vector]:
        return self.base + self.slope, self.base

    def binomial(self) -> tuple[Vector, Vector] | None:
        if not self.from_inclusions:
            return None
        ones = np.ones(self.design.k)
        a, b = self.design.inclusion_probabilities()
        return a * ones, b * ones
