"""A channel, computed from its exact rows: the definition of every figure, and the form that any channel can use.

Nothing here asks what kind a channel is. One that knows a closed form overrides the method; ``tests/test_channels.py``
holds each of them against this class.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np

from maskwell.designs.channels.deviations import DistanceDeviation, ParityDeviation, row_deviations, row_distances
from maskwell.designs.channels.leakage.leakage import Leakage, TableLeakage
from maskwell.designs.channels.numbers import Exact, Matrix, Vector
from maskwell.designs.channels.rows import Exposure, RowClass, Shift, SizeRow, odds_factor, row_parity
from maskwell.errors import DesignError
from maskwell.limits import MATRIX_CELLS, MOST_COLUMNS
from maskwell.null_spaces import rank

_CLEARLY_POSITIVE = 1e-9


@dataclass(frozen=True, eq=False)
class Channel(ABC):
    """Transition probabilities ``P[report, truth]`` of ``k`` truths; ``name`` is the design's, for messages."""

    k: int
    name: str

    # Rounding to integers may have moved an entry by so much.
    unit = Fraction(0)

    @abstractmethod
    def exact(self) -> Exact:
        """Every row of the matrix as fractions."""

    @cached_property
    def floats(self) -> Matrix:
        """The matrix as floats; do not write into it."""
        return self.table("matrix()").astype(np.float64)

    def table(self, what: str = "matrix()") -> Exact:
        """``exact()``, refused where it would have too many cells."""
        self.refuse_large(what)
        return self.exact()

    def exact_row(self, row: int) -> list[Fraction]:
        """One row of the matrix."""
        return list(self.exact()[row])

    def report_count(self) -> int:
        """How many different reports there are: the rows of the matrix."""
        return len(self.exact())

    def refuse_large(self, what: str) -> None:
        """An error if the matrix has too many cells to be written out."""
        cells = self.report_count() * self.k
        if cells > MATRIX_CELLS:
            # Too many digits to write out would be an error of their own.
            size = f"{cells}" if cells < 10**15 else f"about 10^{int(cells.bit_length() * math.log10(2))}"
            raise DesignError(
                f"{what} of {self.name} with k={self.k} would have {size} cells (limit {MATRIX_CELLS}); "
                "use parity, added_variance, mask and estimate, which need no table."
            )

    # Whether a class of rows is all reports that hold so many truths, ``at`` being their size; else it is one row.
    classes_are_sizes = False

    @property
    def sizes(self) -> tuple[SizeRow, ...]:
        """The rows by set size, where a report is a set and only its size and whether it holds the truth matter."""
        return ()

    @property
    def kinds_of_truth(self) -> int:
        """How many truths stand for all pairs of them: two, if all pairs of different ones are alike."""
        return self.k

    # How far a report can shift odds.

    @cached_property
    def parity(self) -> Fraction | float:
        """The largest ratio between two entries of a row; ``math.inf`` if one is zero."""
        return max(entry.parity for entry in self.row_classes())

    def row_classes(self) -> list[RowClass]:
        """Largest over smallest entry of each row; 1 if the report says nothing, infinite if it rules something out."""
        return [RowClass(at, row_parity(row), 1) for at, row in enumerate(self.table())]

    def class_chances(self) -> Vector | None:
        """The chance of each class of rows, where it does not depend on the truth."""
        return None

    # Whether every truth is told as much as every other.
    truths_alike = False

    def shifts(self, truth: int) -> list[Shift]:
        """What each class of reports does to the odds of a truth; reports that cannot occur are left out."""
        matrix = self.table()
        rows = enumerate(zip(matrix[:, truth], matrix.sum(axis=1), strict=True))
        return [Shift(at, None, odds_factor(p, total - p, self.k)) for at, (p, total) in rows if total]

    def exposure(self) -> Exposure:
        """How often a report proves the truth."""
        matrix = self.table()
        proving = np.flatnonzero((matrix > 0).sum(axis=1) == 1).tolist()
        return Exposure(max(matrix[proving].sum(axis=0) + Fraction(0)), tuple(proving))

    @cached_property
    def column_distance(self) -> Fraction:
        """The largest L1 distance between two columns."""
        columns = set(zip(*self.table().tolist(), strict=True))
        refuse_many_columns(len(columns))
        distances = (sum(abs(p - q) for p, q in zip(a, b, strict=True)) for a, b in combinations(columns, 2))
        return max((Fraction(d) for d in distances), default=Fraction(0))

    @cached_property
    def diversity(self) -> int:
        """The least number of non-zero entries of a row, or 0 if the non-zero entries of some row differ."""
        return least_support(self.table())

    # What reports say the same.

    def proportional_groups(self) -> list[tuple[int, ...]]:
        """The rows that shift every odds alike, by groups of two or more."""
        groups: dict[tuple[Fraction, ...], list[int]] = {}
        for at, row in enumerate(self.table()):
            total = sum(row)
            if total:
                groups.setdefault(tuple(p / total for p in row), []).append(at)
        return [tuple(group) for group in groups.values() if len(group) > 1]

    def proportional_rows(self) -> int:
        """How many rows could be merged into others without loss."""
        return sum(len(group) - 1 for group in self.proportional_groups())

    # The matrix as a linear map: what it lets an analyst recover.

    @cached_property
    def rank(self) -> int:
        """The number of independent facts about the proportions that the reports show, decided without round-off."""
        values = self._singular_values
        clear = int((values > _CLEARLY_POSITIVE * values[0]).sum())
        return clear if clear == self.k else rank(self.multiples().tolist())

    def multiples(self) -> Exact:
        """The matrix times a number, which changes neither its rank nor what it cannot tell."""
        return self.table()

    @cached_property
    def _singular_values(self) -> Vector:
        return np.asarray(np.linalg.svd(self.floats, compute_uv=False), np.float64)

    @cached_property
    def condition_number(self) -> float:
        """The largest over the smallest singular value: how much inverting P may amplify errors."""
        smallest = self._singular_values[-1] if self.rank == self.k else 0.0
        return float(self._singular_values[0] / smallest) if smallest > 0 else math.inf

    def trace(self, rows: list[int]) -> Fraction:
        """The sum over truths j of the chance of report ``rows[j]``."""
        matrix = self.table()
        return sum((matrix[row, j] for j, row in enumerate(rows)), Fraction(0))

    # What a reader learns.

    @cached_property
    def always_certain(self) -> bool:
        """Whether every report leaves one truth possible."""
        return bool(((self.floats > 0).sum(axis=1) <= 1).all())

    def best_guesses(self) -> Fraction:
        """The sum over reports of the largest entry of their row."""
        best: Fraction = self.table().max(axis=1).sum()
        return best

    # How much of what a demand allows is used.

    def parity_deviations(self, parity: Fraction | float) -> Iterator[ParityDeviation]:
        """How far the rows are from telling as much as this finite parity allows, which none exceeds."""
        return row_deviations(self.floats, float(parity), float(self.unit))

    def distance_deviations(self, reach: float) -> Iterator[DistanceDeviation]:
        """How far the rows are from telling as much as this distance of columns allows, which none exceeds."""
        return row_distances(self.floats, reach)

    def over_truths(self, weights: Vector) -> Vector | None:
        """For each report the sum over truths of its chance times a weight; None where that takes a table."""
        return None

    def leakage(self, prior: Vector | None) -> Leakage:
        """What reports tell a reader with these prior weights; None: to whom all categories are alike."""
        return TableLeakage(self.floats, self.best_guesses, prior)


def least_support(rows: Exact) -> int:
    """The least number of non-zero entries of a row that has any, or 0 if the non-zero entries of some row differ."""
    supports = [[p for p in row if p] for row in rows.tolist() if any(row)]
    return 0 if any(len(set(support)) > 1 for support in supports) else min(map(len, supports))


def refuse_many_columns(different: int) -> None:
    """Before all pairs of columns are compared: an error if there are too many."""
    if different > MOST_COLUMNS:
        raise DesignError(
            f"the L1 distance is found by comparing all pairs of {different:,} different columns (limit "
            f"{MOST_COLUMNS:,}); ask for a bound on the parity instead, which needs no pairs."
        )
