"""Groups of people asked by one design or several, as one mixture: truths and behaviours are its classes.

In group g a class c gives report z with the chance A_g[z, c]: a column of the design for a truth, one of its own for a
behaviour. The shares of the classes are the same in all groups. What the reports can tell is the sum of columns that
those shares make, so two sets of shares with the same sum cannot be told apart: the vectors that the stacked columns
send to zero are found exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from maskwell.designs.base import Design, Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.inference.compliance.behaviours import Behaviour, read_behaviours
from maskwell.inference.hypotheses.fit import counts_by_row
from maskwell.inference.likelihood.report_rows import Rows, dense_rows
from maskwell.null_spaces import null_space
from maskwell.reports import Reports
from maskwell.reports.tally import Tally
from maskwell.tables.labels import text_of

_MOST_CELLS = 1 << 18


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of the mixture: truths, of people who follow the design, then the behaviours of those who do not."""

    designs: tuple[Design, ...]
    behaviours: dict[str, Behaviour]

    @property
    def categories(self) -> tuple[Any, ...]:
        """The truths."""
        return self.designs[0].categories

    @property
    def k(self) -> int:
        """How many truths there are."""
        return len(self.categories)

    @property
    def names(self) -> tuple[str, ...]:
        """All classes as text."""
        return (*map(text_of, self.categories), *self.behaviours)

    @property
    def honest(self) -> Vector:
        """1 for the classes of people who follow the design."""
        return (np.arange(len(self.names)) < self.k).astype(float)

    def truth(self, at: int) -> Vector:
        """1 for the classes whose truth is this category: its own, and behaviours of people of whom that is assumed."""
        of = [self.categories.index(b.of) if b.of is not None else -1 for b in self.behaviours.values()]
        return np.array([*(j == at for j in range(self.k)), *(j == at for j in of)], float)

    @property
    def truths_are_known(self) -> bool:
        """Whether for all behaviours it is assumed whose they are."""
        return all(behaviour.of is not None for behaviour in self.behaviours.values())

    @cached_property
    def exact(self) -> list[list[list[Fraction]]]:
        """For each design its table of chances, by report and class."""
        tables = []
        for design in self.designs:
            columns = [behaviour.column(name, design) for name, behaviour in self.behaviours.items()]
            rows = zip(design.matrix(exact=True).tolist(), *columns, strict=True)
            tables.append([[*row, *beside] for row, *beside in rows])
        return tables

    @cached_property
    def matrices(self) -> list[Matrix]:
        """The same as floats."""
        return [np.array(table, float) for table in self.exact]

    @cached_property
    def unidentified(self) -> list[Vector]:
        """Changes of the shares that no report would show, one a row."""
        stacked = [row for table in self.exact for row in table if any(row)]
        return [np.array(vector, float) for vector in null_space(stacked)]

    @property
    def rank(self) -> int:
        """How many independent columns the classes have."""
        return len(self.names) - len(self.unidentified)

    def information(self, shares: Vector, sizes: Sequence[float]) -> Matrix:
        """The expected information on all shares, from groups of these sizes."""
        total = np.zeros((len(self.names), len(self.names)))
        for matrix, n in zip(self.matrices, sizes, strict=True):
            chance = matrix @ shares
            can = chance > 0
            total += n * (matrix[can] / chance[can, None]).T @ matrix[can]
        return total

    def tells(self, vector: Vector) -> bool:
        """Whether the reports determine this weighted sum of shares."""
        return all(abs(float(vector @ change)) <= 1e-9 * np.abs(change).max() for change in self.unidentified)

    def confusions(self) -> list[str]:
        """What cannot be told apart, in words."""
        return [self._confusion(change) for change in self.unidentified]

    def _confusion(self, change: Vector) -> str:
        # Columns sum to 1, so what is added and what is taken away weigh the same.
        scaled = change / change[change > 0].sum()

        def mix(side: Vector) -> str:
            parts = [(name, x) for name, x in zip(self.names, side, strict=True) if x > 0]
            if len(parts) == 1:
                return f"{parts[0][0]!r}"
            return " with ".join(f"{100 * x:.4g} % {name!r}" for name, x in parts)

        return f"{mix(-scaled)} reports as {mix(scaled)} does"


@dataclass(frozen=True, eq=False)
class Groups:
    """Classes, and how often each report came in each group."""

    classes: Classes
    counts: tuple[Vector, ...]
    sizes: tuple[int, ...]
    squares: tuple[Vector, ...] | None
    randomness: tuple[str, ...]

    @property
    def n(self) -> int:
        """All reports."""
        return sum(self.sizes)

    @cached_property
    def came(self) -> list[np.ndarray[Any, np.dtype[np.bool_]]]:
        """Which reports came, group by group."""
        return [counts > 0 for counts in self.counts]

    @cached_property
    def table(self) -> Matrix:
        """The chances of the reports that came, by class, one group after the other."""
        return np.concatenate([matrix[came] for matrix, came in zip(self.classes.matrices, self.came, strict=True)])

    @property
    def rows(self) -> Rows:
        """The same as a likelihood takes them."""
        return dense_rows(self.table)

    @cached_property
    def weights(self) -> Vector:
        """How often each of these reports came."""
        parts = [counts[came] for counts, came in zip(self.counts, self.came, strict=True)]
        return np.ascontiguousarray(np.concatenate(parts))

    @cached_property
    def squared_weights(self) -> Vector | None:
        """Sums of squares, where reports are weighted."""
        if self.squares is None:
            return None
        return np.concatenate([squares[came] for squares, came in zip(self.squares, self.came, strict=True)])

    def with_counts(self, counts: Sequence[Vector]) -> Groups:
        """The same groups with other reports."""
        return Groups(self.classes, tuple(counts), self.sizes, None, self.randomness)


def classes_of(designs: Sequence[Design], behaviours: Any) -> Classes:
    """The classes of designs for the same categories."""
    for design in designs:
        if design.categories != designs[0].categories:
            raise EstimationError("compliance needs the same categories, in the same order, in every group.")
        if design.report_count() * (design.k + 20) > _MOST_CELLS:
            raise EstimationError(
                f"{design.title} with k={design.k} has {design.report_count():,} different reports, too many to be "
                "looked at one by one; compliance is for designs whose reports can be listed."
            )
    return Classes(tuple(designs), read_behaviours(behaviours, list(designs)))


def read_groups(groups: Any, behaviours: Any) -> Groups:
    """The groups of a list of tallies or reports, checked."""
    given = [groups] if isinstance(groups, (Tally, Reports)) else groups
    given = list(given.values()) if isinstance(given, Mapping) else given
    if not isinstance(given, (list, tuple)) or not given:
        raise EstimationError(
            "compliance needs the tallies or reports of each group, in a list or by name.", parameter="groups"
        )
    for group in given:
        if not isinstance(group, (Tally, Reports)):
            raise EstimationError(f"compliance needs tallies or reports; got {type(group).__name__}.")
    classes = classes_of([group.design for group in given], behaviours)
    tallies = [group.tally(patterns=True) if isinstance(group, Reports) else group for group in given]
    for at, tally in enumerate(tallies):
        tally.refuse_sample("give compliance the reports of each group, with sample=")
        if tally.n == 0:
            raise EstimationError(f"group {at} has no reports; leave it out.")
        if tally.patterns is None:
            raise EstimationError(
                f"group {at} does not keep its distinct reports; use reports.tally(patterns=True), or pass the reports."
            )
    weighted = [tally.squares is not None for tally in tallies]
    if any(weighted) and not all(weighted):
        raise EstimationError("some groups are weighted and others are not; tally all with weights, or none.")
    counts = [counts_by_row(tally) for tally in tallies]
    scales = [tally.n / by_row.sum() for tally, by_row in zip(tallies, counts, strict=True)]
    pairs = list(zip(tallies, scales, strict=True))
    return Groups(
        classes,
        tuple(by_row * scale for by_row, scale in zip(counts, scales, strict=True)),
        tuple(tally.n for tally in tallies),
        tuple(_squares(tally) * scale**2 for tally, scale in pairs) if all(weighted) else None,
        tuple(tally.randomness for tally in tallies),
    )


def _squares(tally: Tally) -> Vector:
    """Sums of squared weights by row of the matrix."""
    assert tally.squares is not None
    if tally.counts.ndim == 1 and not tally.design.keeps_patterns:
        return np.asarray(tally.squares, float)
    assert tally.patterns is not None
    squares = tally.patterns.squares
    if squares is None:
        raise EstimationError("weighted groups of this design need reports.tally(weights, patterns=True).")
    where = {report: row for row, report in enumerate(tally.design.report_labels())}
    found = np.zeros(tally.design.report_count())
    found[[where[report] for report in tally.design.decode(tally.patterns.packed)]] = squares
    return found
