"""Masked variables as regression sees them: what each report says about the categories, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Design, require_design
from maskwell.designs.channels.numbers import Matrix
from maskwell.errors import DataError, EstimationError
from maskwell.inference.regression.frame.arms import Arms
from maskwell.reports import Reports

_MOST_COMBINATIONS = 200
# Which records: by position, by a mark for each, or every so manieth.
Records = NDArray[np.integer[Any]] | NDArray[np.bool_] | slice


@dataclass(frozen=True, eq=False)
class MaskedVariable:
    """A variable of a model that was masked.

    ``rows[i, j]`` is the chance of report i if the truth is category j, up to a factor of the report; ``scores[i, j]``
    is the report's unbiased estimate of whether the truth is j.
    """

    name: str
    categories: tuple[Any, ...]
    rows: Matrix
    scores: Matrix
    missing: NDArray[np.bool_]
    designs: tuple[Design, ...]
    simulated: bool
    arms: tuple[Any, ...] = ()
    arm_codes: NDArray[np.int64] | None = None
    """Which of ``arms`` each record belongs to, where groups were asked by different designs."""

    def __len__(self) -> int:
        return len(self.rows)

    def at(self, records: Records) -> MaskedVariable:
        """The same for some of the records."""
        codes = None if self.arm_codes is None else self.arm_codes[records]
        rows, scores, missing = self.rows[records], self.scores[records], self.missing[records]
        return replace(self, rows=rows, scores=scores, missing=missing, arm_codes=codes)


def masked_variables(masked: Any, wanted: set[str]) -> dict[str, MaskedVariable]:
    """The masked variables that a model asks for, by name; reports of several variables give one each."""
    if not isinstance(masked, Mapping) or not masked:
        raise DataError(
            'masked must name the variables that were masked, with their reports: masked={"habit": reports}.',
            parameter="masked",
        )
    found: dict[str, MaskedVariable] = {}
    for name, reports in masked.items():
        for part, variable in _variables(str(name), reports, wanted).items():
            if part in found:
                raise DataError(f"masked names the variable {part!r} more than once.", parameter="masked")
            found[part] = variable
    if len({len(variable) for variable in found.values()}) > 1:
        counted = ", ".join(f"{name!r} has {len(variable):,}" for name, variable in found.items())
        raise DataError(f"masked variables must have a report for each record: {counted}.", parameter="masked")
    return found


def _variables(name: str, reports: Any, wanted: set[str]) -> dict[str, MaskedVariable]:
    if isinstance(reports, Arms):
        return {name: _from_arms(name, reports)} if name in wanted else {}
    if not isinstance(reports, Reports):
        raise DataError(
            f"masked[{name!r}] must be Reports, as design.mask, Reports.read or Reports.of give them, or arms of them; "
            f"got {type(reports).__name__}.",
            parameter="masked",
        )
    require_design(reports.design)
    if not reports.design.variables:
        return {name: _variable(name, reports.design, reports.packed, reports)} if name in wanted else {}
    pieces = zip(reports.design.variables.items(), reports.design.codec.split(reports.packed), strict=True)
    return {part: _variable(part, design, piece, reports) for (part, design), piece in pieces if part in wanted}


def _variable(name: str, design: Design, packed: Any, reports: Reports) -> MaskedVariable:
    gone = np.zeros(len(reports), np.bool_) if reports.missing is None else reports.missing
    return MaskedVariable(
        name,
        design.categories,
        design.relative_rows(packed),
        _scores(design, packed),
        gone,
        (design,),
        "seeded" in reports.randomness,
    )


def _scores(design: Design, packed: Any) -> Matrix:
    """Unbiased scores; zeros for a design that cannot estimate all proportions, which corrected scores then refuse."""
    return design.scores("linear").rows(packed) if design.estimable else np.zeros((len(packed), design.k))


def _from_arms(name: str, arms: Arms) -> MaskedVariable:
    """One variable from groups of people who were asked by different designs."""
    n, k = len(arms.codes), len(arms.categories)
    rows, scores, gone = np.empty((n, k)), np.empty((n, k)), np.zeros(n, np.bool_)
    for at, reports in enumerate(arms.reports):
        here, part = arms.codes == at, _variable(name, reports.design, reports.packed, reports)
        order = [reports.design.categories.index(label) for label in arms.categories]
        rows[here], scores[here], gone[here] = part.rows[:, order], part.scores[:, order], part.missing
    simulated = any("seeded" in reports.randomness for reports in arms.reports)
    return MaskedVariable(
        name, arms.categories, rows, scores, gone, tuple(reports.design for reports in arms.reports), simulated,
        arms.names, arms.codes,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Combinations:
    """All combinations of the categories of the masked predictors; one empty combination if there are none."""

    names: tuple[str, ...]
    labels: tuple[tuple[Any, ...], ...]
    rows: Matrix
    scores: Matrix

    def __len__(self) -> int:
        return len(self.labels)

    def at(self, records: Records) -> Combinations:
        """The same for some of the records."""
        return replace(self, rows=self.rows[records], scores=self.scores[records])


def combinations(variables: Sequence[MaskedVariable], n: int) -> Combinations:
    """The combinations of masked predictors with what the joint reports say about each."""
    labels = tuple(product(*(variable.categories for variable in variables)))
    if len(labels) > _MOST_COMBINATIONS:
        raise EstimationError(
            f"the masked predictors have {len(labels):,} combinations of categories; up to {_MOST_COMBINATIONS} can be "
            "fitted. Use fewer of them, or designs with fewer categories."
        )
    rows = reduce(joined, (variable.rows for variable in variables), np.ones((n, 1)))
    scores = reduce(joined, (variable.scores for variable in variables), np.ones((n, 1)))
    return Combinations(tuple(variable.name for variable in variables), labels, rows, scores)


def joined(first: Matrix, second: Matrix) -> Matrix:
    """What two things say of each record together: a column for each pair of their columns."""
    both: Matrix = (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)
    return both
