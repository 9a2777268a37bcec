"""The block design for given categories and privacy: the most precise one of the catalogue.

Where none has as many points as there are categories and blocks of the best size, some points of a larger design are
used, or blocks of another size, whichever adds least variance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.demands import LocalDiversity
from maskwell.designs.base import Design, Matrix, Vector
from maskwell.designs.blocks.catalogue import BlockEntry, catalogue, fewest_blocks
from maskwell.designs.kinds.blocks import BlockDesign, Members
from maskwell.designs.named.symmetric import Categories, Number, _claim, minimax_size
from maskwell.designs.registry import named
from maskwell.designs.rounding import split_at_parity
from maskwell.errors import DesignError
from maskwell.exact import fraction
from maskwell.limits import MATRIX_CELLS
from maskwell.sampling.samplers import TOTAL
from maskwell.tables.labels import Label, as_labels

# Where the best size does not fit, a report that is one bit shorter is worth so much of the added variance.
_WORTH_OF_A_BIT = 1e-3
# So many designs, the best by an approximation, are built and compared exactly, as far as this many products go.
_TRIED = 4
_PRODUCTS = 10**7
# Points that leave every block large enough are looked for until so many designs have none, in tables up to a size.
_FAILURES = 30
_SEARCHED_CELLS = 2 * 10**6
_SLACK_BASE = 4.0


@named(
    "park-nam-lee-2023",
    "nayak-zhai-2019",
    "ye-barg-2018",
    examples=(
        {"k": 2, "epsilon": 1.0},
        {"k": 7, "epsilon": 0.3},
        {"k": 11, "gamma": Fraction(6, 5)},
        {"k": 7, "l": 3},
        {"k": 6, "gamma": Fraction(4), "construction": "projective plane of order 2"},
    ),
    recognise=lambda design, parameters: _bears_the_name(design, parameters),
)
def block(
    categories: Categories,
    *,
    epsilon: Number | None = None,
    gamma: Number | None = None,
    l: int | None = None,
    construction: str | None = None,
) -> BlockDesign:
    """Report a block of a balanced block design: as precise as sets drawn at random, with far fewer reports.

    With ``epsilon`` or ``gamma`` a block is γ times likelier if it holds the truth; with ``l`` it always does and has
    at least l categories. Where no design of the catalogue has as many points as there are categories and blocks of
    the best size, some points of a larger one are used, or blocks of another size, and ``.embedding`` says what that
    costs; a report that is one bit shorter is then taken to be worth a thousandth of the added variance.
    ``construction`` names one entry of ``catalogue`` instead.

    >>> [sorted(members) for members in block(7, gamma=1.5).report_labels()[:3]]
    [[0, 2, 3], [1, 3, 4], [0, 1, 5]]
    """
    labels = as_labels(categories)
    if (l is not None) + (epsilon is not None) + (gamma is not None) != 1:
        raise DesignError(f"give one of epsilon=, gamma= and l=; got epsilon={epsilon}, gamma={gamma}, l={l}.")
    _refuse_many(len(labels))
    known = _known(len(labels)) if construction is None else _one(len(labels), construction)
    return _with_diversity(labels, known, l) if l is not None else _at_parity(labels, known, epsilon, gamma)


def _bears_the_name(design: Design, parameters: dict[str, Any]) -> bool:
    """Whether blocks of these numbers are listed under the construction that is named; any balanced ones are blocks."""
    if not isinstance(design, BlockDesign) or not parameters.keys() <= {"epsilon", "gamma", "l", "construction"}:
        return False
    if "construction" not in parameters:
        return True
    b, _, _ = design.counts
    listed = catalogue(2 * design.k + 16, design.k, MATRIX_CELLS // design.k)
    numbers = [(entry.v, entry.q, entry.b % b) for entry in listed if entry.name == parameters["construction"]]
    return (design.points, design.block_size, 0) in numbers


def _refuse_many(k: int) -> None:
    if k * k > MATRIX_CELLS:
        raise DesignError(
            f"block designs are listed block by block, up to {MATRIX_CELLS} cells; got k={k} categories, which need "
            f"{k * k} at least. Use projective, whose blocks need no list, or group the categories."
        )


def _at_parity(labels: tuple[Label, ...], known: _Known, epsilon: Number | None, gamma: Number | None) -> BlockDesign:
    bound, demand, parameters = _claim(epsilon, gamma)
    k = len(labels)

    def design(entry: BlockEntry) -> BlockDesign:
        # Of b blocks r hold the truth, just as of k categories s are in a set of size s.
        _, (inside,), _ = split_at_parity(entry.b, {entry.r: Decimal(1)}, bound)
        about = {"parameters": {**parameters, "construction": entry.name}, "demand": demand}
        return BlockDesign.of(labels, entry.members()[:, :k], inside, name="block", **about)

    exact = known.with_size(minimax_size(k, bound))
    return design(exact) if exact else _cheapest([design(e) for e in _to_try(known.best_first(float(1 / bound)), k)])


def _with_diversity(labels: tuple[Label, ...], known: _Known, l: int) -> BlockDesign:
    k, size = len(labels), fraction(l, "l", DesignError)
    if size.denominator != 1 or not 2 <= size <= k - 1:
        raise DesignError(
            f"block needs 2 <= l <= k - 1; got l={l} with k={k} categories. With l = 1 the report is the truth, with "
            "l = k every report is the full set; it needs at least 3 categories."
        )
    least = int(size)

    def design(entry: BlockEntry, kept: NDArray[np.int64]) -> BlockDesign:
        about = {"parameters": {"l": least, "construction": entry.name}, "demand": LocalDiversity(least)}
        return BlockDesign.of(labels, entry.members()[:, kept], TOTAL, name="block", **about)

    exact = known.with_size(least)
    if exact:
        return design(exact, np.arange(k))

    def possible() -> Iterator[BlockEntry]:
        failures = 0
        for entry in (entry for entry in known.best_first(0.0) if entry.q >= least):
            too_small = _blocks_too_small(entry, k, least)
            hopeful = too_small <= math.sqrt(entry.b) and entry.b * entry.v <= _SEARCHED_CELLS
            if too_small <= 1 or (hopeful and failures < _FAILURES):
                found = points_to_keep(entry.members(), k, least)
                failures += found is None
                if found is not None:
                    kept[entry] = found
                    yield entry

    kept: dict[BlockEntry, NDArray[np.int64]] = {}
    designs = [design(entry, kept[entry]) for entry in _to_try(possible(), k)]
    if not designs:
        raise DesignError(
            f"{known.entries[0].name} leaves some block with fewer than l={l} of {k} categories; "
            "leave construction= out."
        )
    return _cheapest(designs)


@dataclass(frozen=True)
class _Known:
    """Designs with at least ``k`` points, of the same points and size that with the fewest blocks."""

    k: int
    entries: list[BlockEntry]

    def with_size(self, q: int) -> BlockEntry | None:
        """The design whose points are the categories, with blocks of this size."""
        return next((entry for entry in self.entries if (entry.v, entry.q) == (self.k, q)), None)

    def best_first(self, against: float) -> Iterator[BlockEntry]:
        """By added variance, as far as it is known before a design is built, and by the length of reports."""
        order = np.argsort(np.log(self._loss(against)) + _WORTH_OF_A_BIT * np.log2(self._numbers[1]), kind="stable")
        return (self.entries[i] for i in order)

    @cached_property
    def _numbers(self) -> Matrix:
        return np.array([entry.parameters for entry in self.entries], np.float64).T

    def _loss(self, against: float) -> Vector:
        """A rising linear function of the added variance at uniform proportions; ``against`` is 1/γ.

        Exact where every point stands for a category. Elsewhere the sizes of what is left of the blocks vary, and what
        that costs is taken to first order from their mean and variance, which balance determines.
        """
        k, (_, b, r, _, pair) = self.k, self._numbers
        mean_chance = r + (b - r) * against
        size = r * k / b
        size_variance = (r + pair * (k - 1)) * k / b - size**2
        slope = b * (1 - against) / mean_chance
        uneven = slope * size_variance * (1 - 2 * size / k) / (size * (k - size) - size_variance)
        loss: Vector = mean_chance**2 / (b * (r - pair)) * np.exp(uneven)
        return loss


@lru_cache(maxsize=16)
def _known(k: int) -> _Known:
    # Twice as many points always include a design that is not much larger than needed, by its squares.
    listed = fewest_blocks(catalogue(2 * k + 16, k, MATRIX_CELLS // k))
    # Points that stand for nothing only dilute single points and pairs, and what leaves them out.
    return _Known(k, [entry for entry in listed if entry.v == k or 2 < entry.q < entry.v - 2])


def _one(k: int, construction: str) -> _Known:
    """The one entry of this name, with the fewest points if there are several."""
    named = [entry for entry in catalogue(2 * k + 16, k, MATRIX_CELLS // k) if entry.name == construction]
    if not named:
        raise DesignError(
            f"construction={construction!r} is not in the catalogue with {k} to {2 * k + 16} points; "
            f"catalogue({2 * k + 16}, {k}) lists them.",
            parameter="construction",
        )
    return _Known(k, named[:1])


def _blocks_too_small(entry: BlockEntry, k: int, least: int) -> float:
    """How many blocks would be left with fewer than ``least`` points if the k points were drawn at random."""
    dropped, losing = entry.v - k, entry.q - least + 1
    if losing > dropped:
        return 0.0
    if losing <= 2:
        return math.inf  # some block holds the one or two points
    logarithm = math.log(entry.b * math.comb(dropped, losing)) + losing * math.log(entry.q / entry.v)
    return math.exp(min(logarithm, 700.0))


def _to_try(entries: Iterable[BlockEntry], k: int) -> Iterator[BlockEntry]:
    """The first few entries; the very first however large it is."""
    for i, entry in enumerate(islice(entries, _TRIED)):
        if i == 0 or entry.b * k * k <= _PRODUCTS:
            yield entry


def _cheapest(designs: list[BlockDesign]) -> BlockDesign:
    """The design with the best of added variance and length of reports."""
    if len(designs) == 1:
        return designs[0]
    return min(
        designs, key=lambda design: math.log(design.added_variance) + _WORTH_OF_A_BIT * design.communication_bits
    )


def points_to_keep(members: Members, k: int, least: int) -> NDArray[np.int64] | None:
    """``k`` points such that every block keeps ``least`` of them or more, found by dropping points one by one.

    Each time a point goes whose blocks have most to spare; None if that comes to nothing.
    """
    kept = np.ones(members.shape[1], np.bool_)
    incidence = members.astype(np.float64)
    spare = members.sum(axis=1) - least
    for _ in range(len(kept) - k):
        pressure = incidence.T @ _SLACK_BASE ** -spare.astype(np.float64)
        pressure[~kept | members[spare <= 0].any(axis=0)] = np.inf
        point = int(np.argmin(pressure))
        if np.isinf(pressure[point]):
            return None
        kept[point] = False
        spare -= members[:, point]
    return np.flatnonzero(kept)
