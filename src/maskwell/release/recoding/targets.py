"""What a recoding has to reach: figures of a file that a search compares with what was asked.

Local suppression of the last few, where some is allowed, is the last step of a recoding, and everything is measured
after it. It asks for as few records of every combination as are needed: the k of k-anonymity, and for a limit on
identification the least number, from 2 to that at which no combination is rare any more, that leaves blocks which hold
the limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from maskwell.advice import Advice, Setting
from maskwell.errors import DataError
from maskwell.exact import fraction
from maskwell.release.identification.request import Request
from maskwell.release.identification.setup import can_be_met
from maskwell.release.recoding.cuts import cuts_after
from maskwell.release.recoding.effects import taus
from maskwell.release.recoding.lattice import Lattice, Node
from maskwell.release.recoding.recipe import without_values
from maskwell.release.recoding.suppression import Suppression, gone_of_cells
from maskwell.risk.frequencies import Cells, cross_classify
from maskwell.tables.codes import Coded


@dataclass(frozen=True)
class Target:
    """What is asked for. What coarser keys cannot undo is tested first, and rules out whole parts of a lattice."""

    k: int | None = None
    """At least so many records of each combination."""
    suppress: float = 0.0
    """The largest share of records of which keys may be set missing."""
    keep: tuple[str, ...] = ()
    """Keys that lose values last."""
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
        for name, count in (("uniques", self.uniques), ("matches", self.matches)):
            if count is not None and (type(count) is not int or count < 0):
                raise DataError(f"{name} must be a whole number of at least 0; got {count!r}.", parameter=name)
        for name, most in (("tau1", self.tau1), ("tau2", self.tau2)):
            # What is no number would be reached by anything.
            if most is not None and fraction(most, name, DataError) < 0:
                raise DataError(f"{name} must be at least 0; got {most}.", parameter=name)
        if (self.tau1 is not None or self.tau2 is not None) and self.population_size is None:
            raise DataError(
                Advice(
                    "tau1 and tau2 need ",
                    Setting("population_size"),
                    ", the number of people that the file was drawn from, or the ",
                    Setting("weights"),
                    " of its records.",
                )
            )

    @property
    def fewest(self) -> int | None:
        """The number of records that every combination is to have, or as many as leave none rare for the limit."""
        return self.k or (None if self.limit is None else self.limit.rule.sensitive_below)

    def within_reach(self, cells: Cells) -> bool:
        """The targets that hold for every coarser recoding once they hold for one."""
        if self.k is not None and cells.records_below(self.k) > self.suppress * cells.n:
            return False
        if self.suppress:
            return True
        return (self.uniques is None or cells.records_of_size(1) <= self.uniques) and (
            self.matches is None or len(cells) <= self.matches
        )

    def ways(self) -> Iterator[Suppression | None]:
        """The last steps that may be tried, from the mildest: none, then suppression below more and more records."""
        yield None
        if self.suppress:
            least = self.k or 2
            most = least if self.limit is None else max(least, self.limit.rule.sensitive_below)
            yield from (Suppression(k, self.suppress, self.keep) for k in range(least, most + 1))

    def met(
        self, lattice: Lattice, node: Node, cells: Cells, others: Mapping[str, Coded], way: Suppression | None
    ) -> bool:
        """Whether all is reached by a recoding with this last step; ``others`` are columns that no record may leave."""
        columns = lattice.columns(node)
        if way is not None:
            if way.k > cells.n or cells.records_below(way.k) > way.most * cells.n:
                return False
            columns, lost = _suppressed(columns, way)
            if lost > way.most * cells.n:
                return False
            cells, _ = cross_classify(columns, lattice.record_weights)
        elif self.k is not None and cells.records_below(self.k):
            return False
        if self.uniques is not None and cells.records_of_size(1) > self.uniques:
            return False
        if self.matches is not None and len(cells) > self.matches:
            return False
        tau1, tau2 = taus(cells, self.population_size)
        for found, most in ((tau1, self.tau1), (tau2, self.tau2)):
            if most is not None and (found is None or found > most):
                return False
        if self.limit is None:
            return True
        after = {**others, **{each.name: each for each in columns}}
        before = {rungs.key: rungs.before for rungs in lattice.rungs}
        try:
            within = cuts_after(self.limit.within, lattice.recodes(node), before.__getitem__, after.__getitem__)
        except DataError:  # a limit lies inside of what is one value now
            return False
        return can_be_met(after, replace(self.limit, within=within))

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
        if self.suppress:
            words += f", with values of at most {self.suppress:.2%} of the records set missing"
        return words


def _suppressed(columns: Sequence[Coded], way: Suppression) -> tuple[list[Coded], int]:
    """The columns after suppression, and how many records lose a value."""
    cells, cell_of_row = cross_classify(columns)
    gone = gone_of_cells(cells, way)[cell_of_row]
    lose = zip(columns, gone.T, strict=True)
    return [without_values(each, own) if own.any() else each for each, own in lose], int(gone.any(axis=1).sum())
