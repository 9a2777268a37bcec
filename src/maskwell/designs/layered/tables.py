"""Two layers that are tables: every permanent report can become every other, by exact integers out of 2^64."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np

from maskwell.designs import stored
from maskwell.designs.base import Matrix, Vector
from maskwell.designs.channels import Channel, TableChannel
from maskwell.designs.channels.numbers import Exact
from maskwell.designs.channels.table import refuse_many_weights
from maskwell.designs.kinds.matrix import MatrixDesign
from maskwell.designs.layered.base import LayeredDesign, RoundsParity
from maskwell.errors import DesignError
from maskwell.exact import power_above
from maskwell.limits import MOST_STEPS
from maskwell.sampling.entropy import Stream
from maskwell.sampling.layer_samplers import TwoTablesSampler, row_again
from maskwell.sampling.samplers import TOTAL, Packed, RowSampler
from maskwell.tables.labels import Label, as_labels, check_reports

Rows = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False, repr=False)
class LayeredTables(LayeredDesign):
    """``first[permanent report, truth]`` and ``second[report, permanent report]``, all columns summing to 2^64."""

    first: Rows
    second: Rows
    reports: tuple[Label, ...]

    kind = "layered tables"

    def __post_init__(self) -> None:
        super().__post_init__()
        for rows, columns, what in ((self.first, self.k, "first"), (self.second, len(self.first), "second")):
            refuse_many_weights(len(rows), columns)
            for row in rows:
                stored.integers(row, f"weights of the {what} layer", 1)
            if not rows or any(len(row) != columns for row in rows):
                raise DesignError(f"the {what} layer must have {columns} columns.")
            if any(sum(column) != TOTAL for column in zip(*rows, strict=True)):
                raise DesignError(f"columns of the {what} layer must sum to 2^64.")
        check_reports(self.reports)
        if len(self.reports) != len(self.second):
            raise DesignError("reports must be one label for each row of the second layer.")

    @cached_property
    def _tables(self) -> tuple[Exact, Exact]:
        return np.array(self.first, dtype=object), np.array(self.second, dtype=object)

    @cached_property
    def channel(self) -> ComposedChannel:
        return ComposedChannel(self.k, self.title, self._composed(), TOTAL**2)

    def _composed(self) -> Exact:
        first, second = self._tables
        pair = _diagonal_and_rest(self.first), _diagonal_and_rest(self.second)
        if pair[0] is None or pair[1] is None:
            return np.asarray(second @ first)
        (own, rest), (stays, moves) = pair[0], pair[1]
        other = rest * stays + own * moves + (self.k - 2) * rest * moves
        composed = np.full((self.k, self.k), other, dtype=object)
        np.fill_diagonal(composed, TOTAL**2 - (self.k - 1) * other)
        return composed

    @cached_property
    def sampler(self) -> TwoTablesSampler:
        return TwoTablesSampler(*(RowSampler.of_design(table, TOTAL) for table in self._tables))

    def report_labels(self) -> list[Any]:
        return list(self.reports)

    # Two layers.

    @cached_property
    def permanent(self) -> MatrixDesign:
        kept = self.categories if len(self.first) == self.k else tuple(range(len(self.first)))
        return MatrixDesign(self.categories, self.first, TOTAL, kept, name="permanent layer")

    def again(self, permanent: Packed, stream: Stream) -> Packed:
        return row_again(permanent, self.sampler.second, stream)

    def _parity_of(self, rounds: int) -> RoundsParity:
        pair = [_diagonal_and_rest(table) for table in (self.first, self.second)]
        if pair[0] is not None and pair[1] is not None:
            return RoundsParity(_kary_parity(self.k, pair[0], pair[1], rounds), True)
        m = len(self.second)
        types = math.comb(rounds + m - 1, m - 1)
        if types * len(self.first) * (self.k + rounds) > MOST_STEPS:
            return RoundsParity(self._at_most(rounds), False)
        return RoundsParity(max(_parities(*self._tables, rounds)), True)

    def _parity_above(self, rounds: int) -> Fraction | float:
        pair = [_diagonal_and_rest(table) for table in (self.first, self.second)]
        if pair[0] is None or pair[1] is None:
            return self._at_most(rounds)
        (own, rest), (stays, moves) = pair[0], pair[1]
        ratio = power_above(Fraction(stays, moves), rounds)
        if not isinstance(ratio, Fraction):
            return self.longitudinal_parity()
        return (own * ratio + (self.k - 1) * rest) / (rest * ratio + own + (self.k - 2) * rest)

    def _at_most(self, rounds: int) -> Fraction:
        """A bound of the parity of rounds, from how much likelier they can be after one permanent report than another.

        Rounds that share a permanent report can tell more than as many that share nothing: a first report says which
        others to look for. With ``p <= γ q`` and ``q <= γ p`` over permanent reports and chances f between 1 and R,
        ``sum p f / sum q f`` is largest where f has two values and a set of chance ``γ/(1+γ)`` has the larger.
        """
        most = self.longitudinal_parity()
        ratio = power_above(max(Fraction(max(row), min(row)) for row in self.second), rounds)
        return (most * ratio + 1) / (ratio + most) if isinstance(ratio, Fraction) else most

    def _kept_moments(self, shares: Vector) -> Matrix:
        first, second = ((table / TOTAL).astype(np.float64) for table in self._tables)
        means = self.estimator("linear") @ second  # of the score, for each permanent report
        kept: Matrix = (means * (first @ shares)) @ means.T
        return kept

    # Storage.

    def stored_weights(self) -> dict[str, Any]:
        layers = {"first": self.first, "second": self.second}
        written = {name: [[str(w) for w in row] for row in rows] for name, rows in layers.items()}
        return {**written, "reports": list(self.reports)}

    @classmethod
    def from_weights(cls, labels: list[Any], weights: dict[str, Any], **about: Any) -> Self:
        first, second, reports = stored.fields(weights, "first", "second", "reports")
        refuse_many_weights(len(stored.listed(first, "first")), len(labels))
        refuse_many_weights(len(stored.listed(second, "second")), len(first))
        above, below = (tuple(stored.weights(row, "a row") for row in rows) for rows in (first, second))
        return cls(as_labels(labels), above, below, tuple(stored.listed(reports, "reports")), **about)


@dataclass(frozen=True, eq=False)
class ComposedChannel(TableChannel):
    """A product of tables: its whole numbers have more bits than one table's."""

    column_distance = Channel.column_distance


def _diagonal_and_rest(rows: Rows) -> tuple[int, int] | None:
    """The two weights of k-ary response; None if the table is another one."""
    if len(rows) < 2 or len(rows) != len(rows[0]):
        return None
    diagonal, rest = rows[0][0], rows[0][1]
    alike = all(w == (diagonal if i == j else rest) for i, row in enumerate(rows) for j, w in enumerate(row))
    return (diagonal, rest) if alike and diagonal >= rest else None


def _kary_parity(k: int, first: tuple[int, int], second: tuple[int, int], rounds: int) -> Fraction:
    """Of T reports that all name one category.

    With ρ the ratio of the second layer's weights and n_y the number of reports of y, the chance given x is as the sum
    over y of P1(y | x) ρ^n_y. Its ratio for x and another truth grows if a report of y moves to x: ρ^n is convex.
    """
    (own, rest), (stays, moves) = first, second
    same, other = stays**rounds, moves**rounds
    return Fraction(own * same + (k - 1) * rest * other, rest * same + (own + (k - 2) * rest) * other)


def _parities(first: Exact, second: Exact, rounds: int) -> list[Fraction]:
    """The parity of every number of times that each report can come, all orders of which are alike."""
    m = len(second)
    powers = np.array([[[int(w) ** n for n in range(rounds + 1)] for w in row] for row in second], dtype=object)
    found = []
    for cuts in itertools.combinations(range(rounds + m - 1), m - 1):
        edges = (-1, *cuts, rounds + m - 1)
        counts = [edges[i + 1] - edges[i] - 1 for i in range(m)]
        seen = np.prod([powers[z, :, n] for z, n in enumerate(counts)], axis=0)  # by permanent report
        chances = seen @ first
        found.append(Fraction(int(max(chances)), int(min(chances))))
    return found
