"""What a release does to a table of counts: expected counts and exact variances, with warnings where they matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maskwell.errors import DataError
from maskwell.release.partition import Factor, factor, read_spec
from maskwell.results.result import Result
from maskwell.tables.codes import Floats, Ints
from maskwell.tables.encoded import encoded

MOST_CELLS = 5_000_000
"""The largest table of counts."""
_ROUNDING = 1e-12
NOT_SMALL = 0.1
"""An added variance above this share of the sampling variance is worth a warning."""


@dataclass(frozen=True, eq=False, repr=False)
class AddedVariance(Result):
    """A table of counts with what the release does to each of them, on average over the draws."""

    columns: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    """The levels of each cell, one for each column."""
    counts: Ints
    """The true counts."""
    expected: Floats
    """The expected released counts: the true ones where all columns move as one, else closer to independence."""
    variance: Floats
    """The exact variance of the released counts around what is expected."""
    n: int

    @property
    def bias(self) -> Floats:
        """Expected minus true counts; zero for tables of keys alone."""
        return self.expected - self.counts

    @property
    def of_proportions(self) -> Floats:
        """The added variance of the proportions."""
        return self.variance / self.n**2

    @property
    def sampling_variance(self) -> Floats:
        """The variance of the counts of a simple random sample of this size."""
        return self.counts * (1 - self.counts / self.n)

    @property
    def ratio(self) -> Floats:
        """Added over sampling variance; 0 where nothing is added."""
        sampling = self.sampling_variance
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.variance > 0, self.variance / sampling, 0.0)

    @property
    def largest_ratio(self) -> float:
        """The largest ratio among the cells that somebody is in; others have no sampling variance to compare with."""
        return float(self.ratio[self.sampling_variance > 0].max(initial=0.0))

    @property
    def warnings(self) -> list[str]:
        """Where analyses that ignore the release would be wrong."""
        found = []
        large, size = (self.ratio > NOT_SMALL) & (self.sampling_variance > 0), len(self.counts)
        if large.any():
            found.append(
                f"the added variance exceeds {NOT_SMALL:.0%} of the sampling variance in {int(large.sum())} of {size} "
                f"cells (at most {self.largest_ratio:.2g} times it): add it to the standard errors."
            )
        new = (self.counts == 0) & (self.expected > 0)
        if new.any():
            found.append(
                f"{int(new.sum())} of {size} cells, in which nobody is, may show records: "
                f"{float(self.expected[new].sum()):.3g} in all are to be expected."
            )
        spread = np.sqrt(self.variance + np.maximum(self.sampling_variance, 0))
        biased = np.abs(self.bias) > np.maximum(NOT_SMALL * spread, 1e-6)
        if biased.any():
            found.append(
                f"{int(biased.sum())} of {size} cells are biased by more than {NOT_SMALL:.0%} of a standard error: "
                "some columns stay with the record while others move, which weakens their associations."
            )
        return found

    def _title(self) -> str:
        return f"variance that the release adds to {len(self.counts):,} counts by {', '.join(self.columns)}"

    def _figures(self) -> dict[str, Any]:
        return {"records": self.n, "largest ratio to sampling variance": self.largest_ratio}

    def _columns(self) -> dict[str, Any]:
        levels = {name: [cell[i] for cell in self.labels] for i, name in enumerate(self.columns)}
        figures = {"count": self.counts, "expected": self.expected, "added_variance": self.variance}
        return levels | figures | {"sampling_variance": self.sampling_variance, "ratio": self.ratio}

    def _remarks(self) -> list[str]:
        return self.warnings

    def __repr__(self) -> str:
        by = ", ".join(self.columns)
        return f"<added variance of {len(self.counts)} counts by {by}: ratio at most {self.largest_ratio:.3g}>"


@dataclass(frozen=True, eq=False)
class Moments:
    """The cells of a table, by the level of each of its columns, with their counts, expectations and variances."""

    levels: Ints
    counts: Ints
    expected: Floats
    variance: Floats

    def added(self, factors: Sequence[Factor], n: int) -> AddedVariance:
        """The cells that can be occupied, with their labels."""
        shown = (self.counts > 0) | (self.expected > 0)
        names = [f.levels for f in factors]
        labels = [tuple(own[c] for own, c in zip(names, row, strict=True)) for row in self.levels[shown].tolist()]
        figures = self.counts[shown], self.expected[shown], self.variance[shown]
        return AddedVariance(tuple(f.name for f in factors), tuple(labels), *figures, n)


def read_factors(table: Any, of: Any) -> list[Factor]:
    """The columns of a table of counts, cut as ``of`` says."""
    spec = read_spec(of, "of")
    if not spec:
        raise DataError("of must name one column or more; got none.", parameter="of")
    source = encoded(table)
    source.arrays(list(spec))  # an error if one is not there
    return [factor(source.coded(name), how, "of") for name, how in spec.items()]


def without_rounding(variance: Floats, counts: Ints) -> Floats:
    """The variances of counts, with zeros where chances of 0 and 1 differ from these by rounding alone."""
    return np.where(variance > _ROUNDING * (1 + counts), variance, 0.0)


def refuse_large(cells: int) -> None:
    """An error for tables of too many cells."""
    if cells > MOST_CELLS:
        raise DataError(f"of asks for a table of {cells} cells (limit {MOST_CELLS}); name fewer columns.")
