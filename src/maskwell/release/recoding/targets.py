"""What a recoding has to reach: figures of a file that a search compares with what was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from maskwell.errors import DataError
from maskwell.release.identification.request import Request
from maskwell.release.identification.setup import can_be_met
from maskwell.release.recoding.effects import taus
from maskwell.release.recoding.lattice import Lattice, Node
from maskwell.release.recoding.suppression import Suppression, gone_of_cells
from maskwell.risk.frequencies import Cells
from maskwell.tables.codes import Coded


@dataclass(frozen=True)
class Target:
    """What is asked for. What coarser keys cannot undo is tested first, and rules out whole parts of a lattice."""

    k: int | None = None
    """At least so many records of each combination, but for those that are suppressed."""
    suppression: Suppression | None = None
    uniques: int | None = None
    """At most so many records alone with their keys."""
    matches: int | None = None
    """At most so many right matches to expect in the file."""
    tau1: float | None = None
    tau2: float | None = None
    population_size: float | None = None
    limit: Request | None = None
    """A limit on identification that blocks can hold."""

    def __post_init__(self) -> None:
        asked = (self.k, self.uniques, self.matches, self.tau1, self.tau2, self.limit)
        if all(each is None for each in asked):
            raise DataError("say what the recoding is to reach: k, xi, uniques, matches, tau1 or tau2.")
        if self.k is not None and (type(self.k) is not int or self.k < 2):
            raise DataError(f"k must be a whole number of at least 2; got {self.k!r}.", parameter="k")
        if (self.tau1 is not None or self.tau2 is not None) and self.population_size is None:
            raise DataError("tau1 and tau2 need population_size, the number of people that the file was drawn from.")

    def within_reach(self, cells: Cells) -> bool:
        """The targets that hold for every coarser recoding once they hold for one."""
        allowed = 0 if self.suppression is None else self.suppression.most * cells.n
        return (
            (self.k is None or cells.records_below(self.k) <= allowed)
            and (self.uniques is None or cells.records_of_size(1) <= self.uniques)
            and (self.matches is None or len(cells) <= self.matches)
        )

    def met(self, lattice: Lattice, node: Node, cells: Cells, others: Mapping[str, Coded]) -> bool:
        """The other targets, each by itself; ``others`` are columns that no record may leave."""
        if self.suppression is not None and (cells.counts < self.suppression.k).any():
            gone = gone_of_cells(cells, self.suppression).any(axis=1)
            if int(cells.counts[gone].sum()) > self.suppression.most * cells.n:
                return False
        tau1, tau2 = taus(cells, self.population_size)
        for found, most in ((tau1, self.tau1), (tau2, self.tau2)):
            if most is not None and (found is None or found > most):
                return False
        if self.limit is None:
            return True
        columns = {column.name: column for column in lattice.columns(node)}
        return can_be_met({**others, **columns}, self.limit)

    def words(self) -> str:
        """What is asked for, in words."""
        said: list[tuple[Any, str]] = [
            (self.k, f"{self.k} records of every combination"),
            (self.uniques, f"at most {self.uniques} uniques"),
            (self.matches, f"at most {self.matches} matches to expect"),
            (self.tau1, f"tau1 at most {self.tau1}"),
            (self.tau2, f"tau2 at most {self.tau2}"),
            (self.limit, f"blocks that hold the limit {float(self.limit.xi) if self.limit else 0:g}"),
        ]
        words = ", ".join(text for value, text in said if value is not None)
        if self.suppression is not None:
            words += f", with values of at most {self.suppression.most:.2%} of the records set missing"
        return words
