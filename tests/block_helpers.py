"""Designs on a given entry of the catalogue, and the symmetric ones of the same size."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

from maskwell.designs import BlockDesign, BlockEntry, SubsetDesign, catalogue
from maskwell.designs.rounding import split_at_parity
from maskwell.sampling.samplers import TOTAL

GAMMA = Fraction(3)
SMALL = catalogue(21)
FANO = next(entry for entry in catalogue(7, 7) if entry.name == "projective plane of order 2")


def on_entry(entry: BlockEntry, *, k: int | None = None, gamma: Fraction | None = GAMMA) -> BlockDesign:
    """The design on the first k points of an entry; always inside without a γ."""
    k = k or entry.v
    inside = TOTAL if gamma is None else split_at_parity(entry.b, {entry.r: Decimal(1)}, gamma)[1][0]
    return BlockDesign.of(tuple(range(k)), entry.members()[:, :k], inside, name="block")


def symmetric(k: int, q: int, gamma: Fraction | None = GAMMA) -> SubsetDesign:
    """All sets of one size."""
    weights: Any = ((q,), (TOTAL,), (0,)) if gamma is None else split_at_parity(k, {q: Decimal(1)}, gamma)
    return SubsetDesign(tuple(range(k)), *weights, name="minimax")
