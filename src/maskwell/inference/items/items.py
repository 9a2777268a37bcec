"""Items: masked variables of the same people whose categories have a number each.

What a report says of the true number, its square and higher powers without bias is a weighted sum of its scores.
Variables are masked independently given the truth, so the product of what two reports say is unbiased for the product
of the true numbers: means, variances and covariances need no table of all combinations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Design
from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import DataError, EstimationError
from maskwell.inference.contrasts import contrast_vector
from maskwell.inference.sample.averages import Averages
from maskwell.inference.sample.sample import Sample
from maskwell.reports import Reports
from maskwell.reports.joint import refuse_shared_noise

Powers = tuple[int, ...]
"""How often each item stands in a product."""


@dataclass(frozen=True, eq=False)
class Item:
    """One masked variable: the number of each category, and the scores of each report."""

    name: str
    design: Design
    numbers: Vector
    scores: Matrix

    def power(self, exponent: int) -> Vector:
        """For each record a number that is unbiased for the true number to this power."""
        found: Vector = self.scores @ self.numbers**exponent
        return found


@dataclass(frozen=True, eq=False)
class Items:
    """Several items of the same people."""

    items: tuple[Item, ...]
    present: NDArray[np.bool_]
    """Records that have a report of every item."""
    sample: Sample

    @staticmethod
    def of(reports: Any, scores: Any, sample: Sample | None) -> Items:
        """The items of joint reports, or of reports by name."""
        columns = columns_of(reports)
        if len(columns) < 2:
            raise EstimationError("several items are needed: reports of a product, or reports by name.", "reports")
        given = {} if scores is None else scores
        if not isinstance(given, Mapping) or (unknown := [name for name in given if name not in columns]):
            what = f"they name {unknown[0]!r}" if isinstance(given, Mapping) else f"got {type(given).__name__}"
            raise EstimationError(
                f'scores must give the number of each category by item, {{"item": {{"yes": 1, "no": 0}}}}; {what}.',
                parameter="scores",
            )
        n = len(next(iter(columns.values())))
        present = np.ones(n, np.bool_)
        for column in columns.values():
            if column.missing is not None:
                present &= ~column.missing
        items = tuple(_item(name, column, present, given.get(name)) for name, column in columns.items())
        drawn = Sample(weights=np.ones(n)) if sample is None else sample
        if not isinstance(drawn, Sample):
            raise EstimationError(f"sample must be a mw.Sample; got {type(sample).__name__}.", parameter="sample")
        drawn.require_length(n, "report")
        return Items(items, present, drawn)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(item.name for item in self.items)

    @cached_property
    def _powers(self) -> dict[tuple[int, int], Vector]:
        return {}

    def product(self, powers: Powers) -> Vector:
        """For each record a number that is unbiased for the product of the items' true numbers to these powers."""
        found = np.ones(len(self.present))
        for at, exponent in enumerate(powers):
            if exponent:
                if (at, exponent) not in self._powers:
                    self._powers[at, exponent] = self.items[at].power(exponent)
                found = found * self._powers[at, exponent]
        return found

    def averages(self, columns: list[Powers]) -> Averages:
        """The averages of several products of the true numbers."""
        values = np.column_stack([self.product(powers) for powers in columns])

        def products(weights: Vector) -> Matrix:
            found = np.empty((len(columns), len(columns)))
            for i, one in enumerate(columns):
                for j, other in enumerate(columns[: i + 1]):
                    both = tuple(a + b for a, b in zip(one, other, strict=True))
                    found[i, j] = found[j, i] = weights @ self.product(both)
            return found

        return Averages(self.sample, values, self.present, products)


def columns_of(reports: Any) -> dict[str, Reports]:
    """The reports of each variable."""
    if isinstance(reports, Mapping):
        columns = {str(name): column for name, column in reports.items()}
        if any(not isinstance(column, Reports) or column.design.variables for column in columns.values()):
            raise EstimationError("each item needs its Reports, of one variable.", parameter="reports")
        if len({len(column) for column in columns.values()}) > 1:
            raise DataError("items must be of the same people: the reports differ in number.", parameter="reports")
        refuse_shared_noise(columns)
        return columns
    if not isinstance(reports, Reports) or not reports.design.variables:
        raise EstimationError(
            "several items are needed: reports of a product of designs, or a mapping from names to reports; a tally "
            "will not do, since it no longer knows who gave which report.",
            parameter="reports",
        )
    parts = zip(reports.design.variables.items(), reports.design.codec.split(reports.packed), strict=True)
    return {name: Reports(part, packed, reports.missing, reports.randomness) for (name, part), packed in parts}


def _item(name: str, reports: Reports, present: NDArray[np.bool_], numbers: Any) -> Item:
    found = np.zeros((len(reports), reports.design.k))
    found[present] = reports.design.scores("linear").rows(reports.packed[present])
    vector = _default_numbers(name, reports.design) if numbers is None else contrast_vector(reports.design, numbers)
    if np.ptp(vector) == 0:
        raise EstimationError(
            f"the categories of {name!r} all have the number {vector[0]:g}; nothing varies.", "scores"
        )
    return Item(name, reports.design, vector, found)


def _default_numbers(name: str, design: Design) -> Vector:
    """1 and 0 for the first and the second of two categories; labels that are numbers; nothing else."""
    if all(isinstance(label, (int, float)) and not isinstance(label, bool) for label in design.categories):
        return np.array(design.categories, float)
    if design.k == 2:
        return np.array([1.0, 0.0])
    raise EstimationError(
        f"{name!r} has {design.k} categories whose labels are not numbers; give the number of each: "
        f"scores={{{name!r}: {{{design.categories[0]!r}: 0, …}}}}.",
        parameter="scores",
    )


def single(names: Iterable[str], at: int) -> Powers:
    """The power 1 of one item."""
    return tuple(int(i == at) for i, _ in enumerate(names))
