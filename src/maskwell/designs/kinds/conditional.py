"""Conditional subset designs: the report is one of a list of sets that hold the truth, with chances of your choice.

``P(a | j)`` is the chance of set a if j is in a, and 0 if not, so the chances of the sets that hold any one category
must sum to 1. Every set that can be reported leaves all its members as plausible as they were against each other
(wang-ding-2021).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from maskwell.designs import stored
from maskwell.designs.base import Design, Matrix, Method
from maskwell.designs.channels import TableChannel
from maskwell.designs.channels.base import refuse_many_columns
from maskwell.designs.channels.table import refuse_many_weights
from maskwell.designs.codecs import Codec
from maskwell.errors import DesignError
from maskwell.sampling.samplers import TOTAL, RowSampler
from maskwell.tables.labels import as_labels

# Weights are added in pieces of so many bits, as floats: a million of them stay exact.
_LIMB_BITS = 32
_LIMB = (1 << _LIMB_BITS) - 1


@dataclass(frozen=True, eq=False, repr=False)
class ConditionalDesign(Design):
    """Sets of category positions, by size and then bit mask, with integer weights out of ``total``."""

    subsets: tuple[tuple[int, ...], ...]
    weights: tuple[int, ...]
    total: int

    kind = "conditional"

    def __post_init__(self) -> None:
        super().__post_init__()
        stored.integers(self.weights, "the weights of subsets", 1)
        if len(self.subsets) != len(self.weights) or not self.subsets:
            raise DesignError("each subset must have a weight above 0.")
        refuse_many_weights(len(self.subsets), self.k)
        for subset in self.subsets:
            stored.integers(subset, "a subset")
            if not subset or not stored.rising(subset) or subset[-1] >= self.k:
                raise DesignError(f"a subset must list different positions within 0..{self.k - 1}, in rising order.")
        if not stored.rising(map(by_size_and_mask, self.subsets)):
            raise DesignError("subsets must be listed once each, by size and then by bit mask.")
        if type(self.total) is not int or not 1 <= self.total <= TOTAL:
            raise DesignError("total must be a whole number between 1 and 2^64.")
        sums = [0] * self.k
        for subset, weight in zip(self.subsets, self.weights, strict=True):
            for j in subset:
                sums[j] += weight
        for label, weight in zip(self.categories, sums, strict=True):
            if weight != self.total:
                raise DesignError(
                    f"the chances of the subsets that hold {label!r} must sum to 1; "
                    f"they sum to {weight / self.total:.12g}."
                )

    @cached_property
    def members(self) -> NDArray[np.bool_]:
        """Row by row, which categories a set holds."""
        inside = np.zeros((len(self.subsets), self.k), np.bool_)
        for row, subset in enumerate(self.subsets):
            inside[row, list(subset)] = True
        return inside

    @cached_property
    def channel(self) -> ListedSets:
        weights = np.array(self.weights, object)[:, None] * self.members.astype(object)
        return ListedSets(self.k, self.title, weights, self.total, self.members)

    @cached_property
    def sampler(self) -> RowSampler:
        return RowSampler.of_design(self.channel.weights, self.total)

    def report_labels(self) -> list[Any]:
        return [frozenset(self.categories[j] for j in subset) for subset in self.subsets]

    @cached_property
    def codec(self) -> Codec:
        return Codec(self.categories, self.report_labels, self.channel, self.members)

    def estimator(self, method: Method) -> Matrix:
        """For ``moments`` the inclusion frequencies g are inverted by Q, the chances of joint inclusion: w = Q^-1 g."""
        if method == "linear":
            return super().estimator(method)
        joint = self.members.T @ self.channel.floats
        inverse: Matrix = np.linalg.solve(joint, self.members.T.astype(float))
        return inverse

    # Storage.

    def stored_weights(self) -> dict[str, Any]:
        return {
            "total": str(self.total),
            "subsets": [list(subset) for subset in self.subsets],
            "weights": [str(weight) for weight in self.weights],
        }

    @classmethod
    def from_weights(cls, labels: list[Any], weights: dict[str, Any], **about: Any) -> Self:
        total, subsets, chances = stored.fields(weights, "total", "subsets", "weights")
        refuse_many_weights(len(stored.listed(subsets, "subsets")), len(labels))
        return cls(
            as_labels(labels),
            tuple(tuple(stored.listed(subset, "a subset")) for subset in subsets),
            stored.weights(chances, "weights"),
            stored.weight(total),
            **about,
        )


def by_size_and_mask(subset: Sequence[int]) -> tuple[int, Sequence[int]]:
    """By size, and then as a number whose bits are the members: the highest member decides."""
    return len(subset), subset[::-1]


@dataclass(frozen=True, eq=False)
class ListedSets(TableChannel):
    """A table whose rows have one weight each, for the members of a set."""

    members: NDArray[np.bool_]

    @cached_property
    def parity(self) -> Fraction | float:
        return Fraction(1) if self.members.all() else math.inf

    @cached_property
    def diversity(self) -> int:
        return int(self.members.sum(axis=1).min())

    @cached_property
    def column_distance(self) -> Fraction:
        # Two columns differ by the sets that hold one of the two: all of either, without those that hold both.
        members = np.unique(self.members, axis=1)
        refuse_many_columns(members.shape[1])
        weights = self.weights.max(axis=1).tolist()
        together = sum(
            (_joint(members, [weight >> shift & _LIMB for weight in weights]).astype(object) << shift)
            for shift in range(0, 65, _LIMB_BITS)
        )
        return Fraction(2 * (self.total - int(np.min(together))), self.total)


def _joint(members: NDArray[np.bool_], weights: list[int]) -> NDArray[np.int64]:
    """For each pair of categories, the weight of the sets that hold both; exact, as sums stay below 2^53."""
    incidence = members.astype(np.float64)
    joint: NDArray[np.int64] = ((incidence.T * np.array(weights, np.float64)) @ incidence).astype(np.int64)
    return joint
