"""A batch of reports: all that files hold and tallies count."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import ReportError
from maskwell.sampling.samplers import Packed

if TYPE_CHECKING:
    from maskwell.designs.base import Design


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """Packed reports: category or row codes, or bit masks (bit j of a row, lowest first, is category j).

    ``missing`` marks rows without a report. ``randomness`` says how they were drawn: "secure", "keyed", "external"
    (elsewhere, by a die or another program) or, for simulations only, "seeded"; of reports from several sources it
    names all, such as "secure and seeded".
    ``question`` is what was asked, where ``mask`` was told; ``run`` names the run that masked whole files, in which
    nobody comes twice.
    """

    design: Design
    packed: Packed
    missing: NDArray[np.bool_] | None = None
    randomness: str = "secure"
    question: str | None = None
    run: str | None = None

    def __len__(self) -> int:
        return len(self.packed)

    def check(self, first_row: int = 0) -> Self:
        """These reports, if the design can have produced each of them; ``first_row`` is the number of the first."""
        empty = self.design.sampler.empty(0)
        if self.packed.dtype != empty.dtype or self.packed.shape[1:] != empty.shape[1:]:
            raise ReportError(
                f"reports have type {self.packed.dtype}{list(self.packed.shape[1:])}, but {self.design.title} with "
                f"k={self.design.k} makes {empty.dtype}{list(empty.shape[1:])}; they belong to another design."
            )
        present = self.packed if self.missing is None else self.packed[~self.missing]
        wrong = self.design.codec.first_impossible(present)
        if wrong >= 0:
            row = wrong if self.missing is None else int(np.flatnonzero(~self.missing)[wrong])
            raise ReportError(
                f"the report in row {first_row + row} is one that {self.design.title} cannot produce; "
                "the file was changed or belongs to another design."
            )
        return self

    def part(self, rows: slice | NDArray[Any]) -> Self:
        """The reports of some rows."""
        missing = None if self.missing is None else self.missing[rows]
        return replace(self, packed=self.packed[rows], missing=missing)
