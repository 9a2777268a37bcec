"""Conditional subset designs: the report is one of a list of sets that hold the truth, with chances of your choice.

``P(a | j)`` is the chance of set a if j is in a, and 0 if not, so the chances of the sets that hold any one category
must sum to 1. Every set that can be reported leaves all its members as plausible as they were against each other
(wang-ding-2021).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from maskwell.demands import LocalDiversity
from maskwell.designs import stored
from maskwell.designs.base import Design, Matrix, Method
from maskwell.designs.channels import TableChannel
from maskwell.designs.channels.base import refuse_many_columns
from maskwell.designs.channels.table import refuse_many_weights
from maskwell.designs.codecs import Codec
from maskwell.designs.registry import named
from maskwell.designs.rounding import balanced_set_weights, largest_remainder, refuse_long_denominator, sums_by_category
from maskwell.errors import DesignError
from maskwell.exact import fraction, written_fraction
from maskwell.sampling.plans import TOTAL, RowPlan
from maskwell.tables.labels import Label, as_labels, shown

Subset = frozenset[int]

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
        if not stored.rising(map(_order, self.subsets)):
            raise DesignError("subsets must be listed once each, by size and then by bit mask.")
        if type(self.total) is not int or not 1 <= self.total <= TOTAL:
            raise DesignError("total must be a whole number between 1 and 2^64.")
        held = [0] * self.k
        for subset, weight in zip(self.subsets, self.weights, strict=True):
            for j in subset:
                held[j] += weight
        for label, weight in zip(self.categories, held, strict=True):
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
        return ListedSets(self.k, self.name, weights, self.total, self.members)

    @cached_property
    def plan(self) -> RowPlan:
        return RowPlan.of_design(self.channel.weights, self.total)

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


def _order(subset: Sequence[int]) -> tuple[int, Sequence[int]]:
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
    held = members.astype(np.float64)
    joint: NDArray[np.int64] = ((held.T * np.array(weights, np.float64)) @ held).astype(np.int64)
    return joint


def _positions(place: Mapping[Label, int], members: Any) -> Subset:
    listed = [members] if isinstance(members, (str, int)) else list(members)
    try:
        return frozenset(place[c] for c in listed)
    except (KeyError, TypeError):
        unknown = next(c for c in listed if not isinstance(c, (str, int)) or c not in place)
        raise DesignError(
            f"a subset names {unknown!r}, which is no category; categories: {shown(tuple(place))}."
        ) from None


def _pairs(given: object, name: str, k: int) -> list[tuple[Any, Any]]:
    """Subsets with their chances, from a mapping or from a list of pairs, as JSON has them."""
    pairs = list(given.items()) if isinstance(given, Mapping) else given
    if not isinstance(pairs, list) or not pairs or not all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
        raise DesignError(f"{name} must map subsets to probabilities, as in {{('a', 'b'): 0.5, ...}}.")
    refuse_many_weights(len(pairs), k)
    return [(members, value) for members, value in pairs]


def _number(value: Any, name: str) -> Fraction:
    return (written_fraction if isinstance(value, str) else fraction)(value, name, DesignError)


def _chances(labels: tuple[Label, ...], given: object, name: str, least: int, most: int) -> dict[Subset, Fraction]:
    """Chances by set of positions, zeros left out; sizes checked."""
    chances: dict[Subset, Fraction] = {}
    place = {label: position for position, label in enumerate(labels)}
    pairs = [(members, _number(value, name)) for members, value in _pairs(given, name, len(labels))]
    refuse_long_denominator((chance for _, chance in pairs), name)
    for members, chance in pairs:
        subset = _positions(place, members)
        if chance < 0:
            raise DesignError(f"{name} must be probabilities; one is {float(chance):.6g}.")
        if chance == 0:
            continue
        if not least <= len(subset) <= most:
            raise DesignError(
                f"{name}: a subset of {len(subset)} of {len(labels)} categories is not allowed, only {least} to "
                f"{most}; a single category would be the truth in the open."
            )
        chances[subset] = chances.get(subset, Fraction(0)) + chance
    return chances


def _build(
    labels: tuple[Label, ...], weights: Mapping[Subset, int], total: int, name: str, parameters: dict[str, Any]
) -> ConditionalDesign:
    ordered = sorted((tuple(sorted(subset)) for subset, weight in weights.items() if weight), key=_order)
    return ConditionalDesign(
        labels,
        tuple(ordered),
        tuple(weights[frozenset(subset)] for subset in ordered),
        total,
        name=name,
        parameters=parameters,
        demand=LocalDiversity(2),
    )


def _kept(given: object, name: str, labels: tuple[Label, ...]) -> dict[str, Any]:
    """Parameters for storage: pairs of labels and chance."""
    place = {label: position for position, label in enumerate(labels)}
    pairs = _pairs(given, name, len(labels))
    return {name: [[[labels[j] for j in sorted(_positions(place, m))], p] for m, p in pairs]}


@named(
    "wang-ding-2021",
    examples=(
        {"k": 3, "subset_probs": {(0, 1): "1/2", (1, 2): "1/2", (0, 2): "1/2"}},
        {"k": 4, "subset_probs": {(0, 1): 0.25, (2, 3): 0.25, (0, 2): 0.35, (1, 3): 0.35, (0, 3): 0.4, (1, 2): 0.4}},
    ),
)
def conditional(categories: Iterable[Any] | int, *, subset_probs: Mapping[Any, Any]) -> ConditionalDesign:
    """Report a set that holds the truth, by the chance given to each set (subset privacy).

    For every category, the chances of the sets that hold it must sum to 1. A list of pairs does instead of a mapping.

    >>> conditional(3, subset_probs={(0, 1): "1/2", (1, 2): "1/2", (0, 2): "1/2"}).added_variance
    2.0
    """
    labels = as_labels(categories)
    chances = _chances(labels, subset_probs, "subset_probs", 2, len(labels))
    held, one = sums_by_category(chances, len(labels))
    for label, total in zip(labels, held, strict=True):
        if abs(total - one) * 10**9 > one:
            raise DesignError(
                f"subset_probs of the subsets that hold {label!r} must sum to 1; they sum to "
                f"{float(Fraction(total, one)):.12g}. independent(question_probs=) has no such condition."
            )
    weights, out_of = balanced_set_weights(chances, len(labels))
    return _build(labels, weights, out_of, "conditional", _kept(subset_probs, "subset_probs", labels))


@named(
    "wang-ding-2021",
    examples=(
        {"k": 4, "question_probs": {(0, 1): 0.3, (0, 2): 0.3, (0, 3): 0.4}},
        {"k": 5, "question_probs": {(0, 1): 1, (1, 2): 2, (2, 3): 3, (3, 4): 2, (0, 4): 1, (0, 2): 1}},
    ),
)
def independent(categories: Iterable[Any] | int, *, question_probs: Mapping[Any, Any]) -> ConditionalDesign:
    """Ask a random question "is your answer one of …?" and report the named set or its complement, by the answer.

    ``question_probs`` gives each set's chance of being asked (any positive weights; they are made to sum to 1).
    """
    labels = as_labels(categories)
    k = len(labels)
    if k < 4:
        raise DesignError(
            f"independent needs k >= 4 categories, so that neither answer names a single one; got k={k}. "
            "Combine two variables into one, or use local_diversity."
        )
    chances = _chances(labels, question_probs, "question_probs", 2, k - 2)
    if not chances:
        raise DesignError(
            "question_probs must give at least one set a positive probability.", parameter="question_probs"
        )
    total = sum(chances.values(), Fraction(0))
    asked = dict(zip(chances, largest_remainder([p / total for p in chances.values()]), strict=True))
    if not all(asked.values()):
        raise DesignError("question_probs: a set is too rare to be given in integers out of 2^64; leave it out.")
    everything = frozenset(range(k))
    weights: dict[Subset, int] = {}
    for subset, weight in asked.items():
        for side in (subset, everything - subset):
            weights[side] = weights.get(side, 0) + weight
    return _build(labels, weights, TOTAL, "independent", _kept(question_probs, "question_probs", labels))
