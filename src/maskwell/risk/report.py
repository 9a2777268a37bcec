"""What an assessment found: per file, per key, per cell and per record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from maskwell.errors import EstimationError
from maskwell.frames import Backend, data_frame
from maskwell.results.result import Result
from maskwell.risk.diversity import Diversity
from maskwell.risk.drivers import Driver, drivers
from maskwell.risk.frequencies import SIZES, Cells
from maskwell.risk.individual import individual_risk
from maskwell.risk.modelled import Modelled
from maskwell.tables.codes import Floats, Ints


@dataclass(frozen=True, eq=False, repr=False)
class RiskReport(Result):
    """The identification risk of a file. Figures that need the population's size are None where it is unknown."""

    cells: Cells
    """The occupied cells of the keys' cross-classification."""
    cell_of_record: Ints | None
    """The position in ``cells`` of every row of the table; None where records were counted and not kept."""
    population_size: float | None
    modelled: Modelled | None
    """The log-linear model with the risks it gives; None where the size of the population is unknown, and where missing
    values match anything."""
    missing: Mapping[str, int]
    """How many values of each key are missing."""
    diversity: Mapping[str, Diversity]
    """The l-diversity of each sensitive column."""

    # Counts in the file.

    @property
    def n(self) -> int:
        """The number of records."""
        return self.cells.n

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that an intruder may know."""
        return self.cells.keys

    @cached_property
    def sample_uniques(self) -> int:
        """Records that no other record matches."""
        return self.cells.records_of_size(1)

    @cached_property
    def sample_doubles(self) -> int:
        """Records that exactly one other matches."""
        return self.cells.records_of_size(2)

    @cached_property
    def k(self) -> int:
        """The fewest records that match one, itself included: the file is k-anonymous for this k."""
        return int(self.cells.matches.min())

    def records_below(self, k: int) -> int:
        """Records that fewer than ``k`` match, themselves included: those that k-anonymity would have to change."""
        return self.cells.records_below(k)

    # Risks that reach beyond the file.

    @property
    def sampling_fraction(self) -> float | None:
        """The records' share of the population."""
        return None if self.population_size is None else self.n / self.population_size

    @property
    def tau1(self) -> float | None:
        """The expected number of sample uniques that are unique in the population."""
        return None if self.modelled is None else self.modelled.tau1

    @property
    def tau2(self) -> float | None:
        """The expected number of correct matches among the sample uniques."""
        return None if self.modelled is None else self.modelled.tau2

    @property
    def expected_matches(self) -> float | None:
        """The expected number of correct matches when every record is matched, by the model."""
        return None if self.modelled is None else self.modelled.expected_matches

    @property
    def b1(self) -> float | None:
        """The fit statistic of tau1: positive if the model is too simple, negative if it follows single records."""
        return None if self.modelled is None else self.modelled.misfit.b1

    @property
    def b2(self) -> float | None:
        """The fit statistic of tau2."""
        return None if self.modelled is None else self.modelled.misfit.b2

    @cached_property
    def cell_risks(self) -> Floats:
        """For every cell, the chance that a match with one of its records is right, from the weights of all that match.

        Without weights every record stands for ``population_size / n`` people. Without either the chance is one over
        the number of records that match: the file is then taken as the whole population.
        """
        counts, population = self.cells.matches, self.cells.matching_population
        if population is not None:
            return individual_risk(counts, population)
        fraction = self.sampling_fraction or 1.0
        return individual_risk(counts, counts / fraction)

    @cached_property
    def records(self) -> Floats:
        """For every row of the table, the chance that a match with it is right: that of its cell in ``cell_risks``."""
        return self.cell_risks[self.require_records()]

    def require_records(self) -> Ints:
        """The cell of every record; an error where records were counted and not kept."""
        if self.cell_of_record is None:
            raise EstimationError('records were counted and not kept; use to_frame(of="cells"), or assess a table.')
        return self.cell_of_record

    @property
    def largest_risk(self) -> float:
        """The largest individual risk."""
        return float(self.cell_risks.max())

    @property
    def individual_matches(self) -> float:
        """The expected number of correct matches when every record is matched, by the individual risks.

        ``expected_matches`` estimates the same number by the model, which knows a cell by all others as well.
        """
        return float(self.cell_risks @ self.cells.counts)

    # Where the risk comes from.

    @cached_property
    def by_key(self) -> tuple[Driver, ...]:
        """What would remain without each key, the key that drives the risk most first."""
        return drivers(self.cells, self.modelled)

    # Forms.

    def summary(self) -> str:
        """The assessment in plain text."""
        from maskwell.risk.summary import summarize

        return summarize(self)

    def to_frame(
        self,
        of: Literal["records", "cells", "keys"] = "records",
        backend: Backend = "pandas",
    ) -> Any:
        """A data frame with a line per record, in the order of the table, per occupied cell, or per key."""
        if of not in ("records", "cells", "keys"):
            raise EstimationError(f'to_frame takes of="records", "cells" or "keys"; got {of!r}.')
        columns = self._key_columns() if of == "keys" else self._risk_columns(of)
        return data_frame(columns, backend)

    def _key_columns(self) -> dict[str, Any]:
        rows = [driver.to_dict() for driver in self.by_key]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def _risk_columns(self, of: str) -> dict[str, Any]:
        cells: dict[str, Any] = {"cell_size": self.cells.matches, "individual_risk": self.cell_risks}
        if self.modelled is not None:
            cells["modelled_risk"] = self.modelled.match_chances
            # Nobody in a cell of two or more is unique in the population.
            cells["uniqueness"] = self.modelled.uniqueness
        for name, column in self.diversity.items():
            cells[f"distinct {name}"] = column.distinct
        if of == "records":
            rows = self.require_records()
            return {name: values[rows] for name, values in cells.items()}
        labels = {
            key: [own[code] for code in self.cells.codes[:, i].tolist()]
            for i, (key, own) in enumerate(zip(self.keys, self.cells.labels, strict=True))
        }
        return labels | cells

    def to_dict(self) -> dict[str, Any]:
        """The file's figures as plain numbers and text, ready for JSON; no record or cell is singled out."""
        return {
            "records": self.n,
            "keys": dict(zip(self.keys, self.cells.shape, strict=True)),
            "missing": {key: count for key, count in self.missing.items() if count},
            "missing_matches": "anything" if self.cells.wild else "itself",
            "cells_possible": self.cells.possible,
            "cells_occupied": len(self.cells),
            "sample_uniques": self.sample_uniques,
            "sample_doubles": self.sample_doubles,
            "k": self.k,
            "records_below": {k: self.records_below(k) for k in SIZES},
            "individual_matches": self.individual_matches,
            "largest_individual_risk": self.largest_risk,
            "population_size": self.population_size,
            "sampling_fraction": self.sampling_fraction,
            "model": None if self.modelled is None else self.modelled.to_dict(),
            "diversity": {
                name: {"l_distinct": d.l_distinct, "l_entropy": d.l_entropy, "revealed": d.revealed}
                for name, d in self.diversity.items()
            },
            "by_key": [driver.to_dict() for driver in self.by_key],
        }

    def __repr__(self) -> str:
        tau = "" if self.tau1 is None or self.tau2 is None else f", tau1 {self.tau1:.4g}, tau2 {self.tau2:.4g}"
        return f"<risk of {self.n} records over {len(self.keys)} keys: {self.sample_uniques} uniques{tau}>"

    def _title(self) -> str:
        return f"disclosure risk of {self.n:,} records by {', '.join(self.keys)}"

    def _figures(self) -> dict[str, Any]:
        figures: dict[str, Any] = {
            "cells of the keys": f"{len(self.cells):,} of {self.cells.possible:,} possible ones occur",
            "records alone in their cell": self.sample_uniques,
            "smallest cell": self.k,
            "correct matches expected": self.individual_matches,
            "largest risk of a record": self.largest_risk,
        }
        if self.tau1 is not None and self.tau2 is not None:
            figures |= {"unique in the population (tau1)": self.tau1, "correct matches with them (tau2)": self.tau2}
        return figures

    def _columns(self) -> dict[str, Any]:
        rows = [driver.to_dict() for driver in self.by_key]
        return {name.replace("_", " "): [row[name] for row in rows] for name in rows[0]}
