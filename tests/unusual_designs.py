"""Symmetric designs that no name has, beside all that have one."""

from maskwell.designs import SubsetDesign
from maskwell.sampling.samplers import TOTAL
from tests.conformance.members import MEMBERS


def unusual(k: int, sizes: tuple[int, ...], weights: list[tuple[int, int]]) -> SubsetDesign:
    """A symmetric design with these relative weights of sets with and without the truth."""
    unit = TOTAL // sum(i + o for i, o in weights)
    inside, outside = ([w * unit for w in side] for side in zip(*weights, strict=True))
    inside[0] += TOTAL - sum(inside) - sum(outside)
    return SubsetDesign(tuple(range(k)), sizes, tuple(inside), tuple(outside), name="unusual")


# What no named design has: sets that are likelier without the truth, or never hold it; complements that agree.
UNUSUAL = {
    "truth avoided": unusual(5, (2, 3), [(1, 8), (1, 4)]),
    "truth never held": unusual(4, (1, 3), [(3, 9), (0, 4)]),
    "all but the truth": unusual(4, (3,), [(0, 1)]),
    "complements say the same": unusual(5, (2, 3), [(3, 1), (1, 3)]),
    "pure noise": unusual(4, (0, 2, 4), [(0, 2), (1, 1), (4, 0)]),
}
ALL = {**MEMBERS, **UNUSUAL}
