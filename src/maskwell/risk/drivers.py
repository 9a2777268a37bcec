"""Which keys drive the risk: what would remain if an intruder did not know one of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from maskwell.risk.frequencies import Cells
from maskwell.risk.modelled import Modelled


@dataclass(frozen=True)
class Driver:
    """One key: the risk without it, and the share of the risk that goes with it.

    The share is that of tau2 or, where the population's size is unknown, of the sample uniques. Shares of several keys
    do not add up to 1: a record may be unique through any of them.
    """

    key: str
    categories: int
    uniques_without: int
    tau1_without: float | None
    tau2_without: float | None
    contribution: float

    def to_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return asdict(self)


def drivers(cells: Cells, modelled: Modelled | None) -> tuple[Driver, ...]:
    """Leave out each key in turn, the model keeping its other interactions; largest contribution first."""
    found = [_driver(cells, modelled, i) for i in range(len(cells.keys))]
    return tuple(sorted(found, key=lambda driver: -driver.contribution))


def _driver(cells: Cells, modelled: Modelled | None, position: int) -> Driver:
    key, categories = cells.keys[position], cells.shape[position]
    if modelled is None:
        whole, rest = cells.records_of_size(1), cells.without(key).records_of_size(1)
        return Driver(key, categories, rest, None, None, _share(whole, rest))
    left = modelled.without(key)
    uniques = left.cells.records_of_size(1)
    return Driver(key, categories, uniques, left.tau1, left.tau2, _share(modelled.tau2, left.tau2))


def _share(whole: float, rest: float) -> float:
    return (whole - rest) / whole if whole else 0.0
