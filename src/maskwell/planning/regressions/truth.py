"""What a plan of a regression supposes: people, effects and designs, and the reports that they lead to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Design, Vector
from maskwell.designs.channels.numbers import Matrix
from maskwell.errors import DataError
from maskwell.exact import fraction
from maskwell.inference.draws import derived_seed, draw_uniforms
from maskwell.inference.regression.families import FAMILIES
from maskwell.inference.regression.families.family import Family
from maskwell.inference.regression.frame.model_frame import ModelFrame, filled, model_frame
from maskwell.inference.regression.likelihood import linear_predictors
from maskwell.numerics.normal import normal_quantile
from maskwell.reports import Reports
from maskwell.tables.frames import column_names, native_columns

_RECORDS = 400_000  # people times the reports that each may give
_FEWEST_PEOPLE = 50
_MOST_REPORTS = 4096  # of one design that are listed
_DRAWN = 20_000  # reports, where they are drawn instead
_NODES = 15  # of the quadrature over a normal outcome


@dataclass(frozen=True, eq=False)
class Expected:
    """Records for every report that can occur, each with its chance as its weight."""

    frame: ModelFrame
    weights: Vector


@dataclass(frozen=True, eq=False)
class Truth:
    """What is supposed of the people: chances of outcomes by record, and the true categories of masked predictors."""

    designs: Mapping[str, Design]
    outcome: str
    means: Matrix
    scale: float
    hidden: Mapping[str, NDArray[np.int64]]
    theta: Vector

    def asked(self, frame: ModelFrame, rows: NDArray[np.int64], seed: int | None) -> ModelFrame:
        """A survey of these people: outcomes drawn, answers masked."""
        u, means = draw_uniforms(len(rows), derived_seed(seed, "outcomes")), self.means[rows]
        values = None
        truths = {name: codes[rows] for name, codes in self.hidden.items()}
        if self.scale:
            values = means[:, 0] + self.scale * normal_quantile(np.clip(u, 1e-300, 1 - 1e-16))
        else:
            codes = (u[:, None] > means.cumsum(axis=1)[:, :-1]).sum(axis=1)
            order = [self.designs[self.outcome].categories.index(c) for c in frame.outcome.categories]
            truths[self.outcome] = np.array(order)[codes]
        reports = {
            name: design.mask(_labels(design)[truths[name]], seed=derived_seed(seed, "masks"), question=name)
            for name, design in self.designs.items()
        }
        return frame.with_reports(reports, values)

    def expected(self, frame: ModelFrame) -> Expected:
        """Every report that can occur for each of the people, or for some of them where there are many."""
        reports = [design.report_count() for design in self.designs.values()]
        each = [*reports, _NODES if self.scale else 1]
        if max(reports) > _MOST_REPORTS or math.prod(each) * min(frame.n, _FEWEST_PEOPLE) > _RECORDS:
            return self._drawn(frame)
        people = _some_people(frame.n, _RECORDS // math.prod(each))
        index = np.indices((len(people), *each)).reshape(1 + len(each), -1)
        who, weights, values = people[index[0]], np.ones(index.shape[1]), None
        for place, (name, design) in enumerate(self.designs.items(), start=1):
            weights *= self._chances(name, design, frame)[who, index[place]]
        if self.scale:
            nodes, mass = np.polynomial.hermite_e.hermegauss(_NODES)
            values = self.means[who, 0] + self.scale * nodes[index[-1]]
            weights *= mass[index[-1]] / mass.sum()
        possible = weights > 0
        packed = {
            name: Reports(design, design.pack_rows(index[place][possible]))
            for place, (name, design) in enumerate(self.designs.items(), start=1)
        }
        numbers = None if values is None else values[possible]
        return Expected(frame.at(who[possible]).with_reports(packed, numbers), weights[possible])

    def _drawn(self, frame: ModelFrame) -> Expected:
        """Some reports of each of the people, where those that can occur are too many to list."""
        rows = np.repeat(np.arange(frame.n), -(-_DRAWN // frame.n))
        return Expected(self.asked(frame.at(rows), rows, seed=0), np.ones(len(rows)))

    def _chances(self, name: str, design: Design, frame: ModelFrame) -> Matrix:
        """The chance of each report of a design, for each of the people."""
        matrix = np.asarray(design.matrix(), float)
        if name != self.outcome:
            return np.asarray(matrix.T[self.hidden[name]])
        order = [design.categories.index(category) for category in frame.outcome.categories]
        return np.asarray(self.means @ matrix[:, order].T)


def _some_people(n: int, most: int) -> NDArray[np.int64]:
    """Everybody, or as many as may be taken at random: people who are listed in a pattern are all kinds of them."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.argsort(draw_uniforms(n, derived_seed(0, "some people")))[:most])


def designs_of(masked: Any) -> Mapping[str, Design]:
    """The designs by name, if that is what they are."""
    if not isinstance(masked, Mapping) or not masked:
        raise DataError(
            'masked must name the variables that will be masked, with their designs: masked={"habit": design}.',
            parameter="masked",
        )
    return masked


def planned(
    formula: Any, population: Any, masked: Mapping[str, Design], coefficients: Any, family: str, event: Any, scale: Any
) -> tuple[Truth, ModelFrame, Family]:
    """What is supposed, the model's frame of the population, and its family."""

    numeric = family == "normal"
    if numeric != (scale is not None):
        raise DataError("scale, the residual standard deviation, goes with family='normal'.", parameter="scale")
    spread = 0.0 if scale is None else float(fraction(scale, "scale", DataError))
    if numeric and spread <= 0:
        raise DataError(f"scale is a standard deviation and must be above 0; got {scale}.", parameter="scale")
    outcome = formula.split("~")[0].strip() if isinstance(formula, str) else ""
    hidden = [name for name in masked if name != outcome]
    table = native_columns(population, column_names(population))
    n = len(next(iter(table.values()))) if table else 0
    if n < 2:
        raise DataError("population must have a row for each of some people.", parameter="population")
    codes = {name: _codes(table, name, masked[name]) for name in hidden}
    data = {name: column for name, column in table.items() if name not in masked}
    if numeric:
        data[outcome] = np.arange(n, dtype=float)
    blank = {name: Reports(design, design.pack_rows(np.zeros(n, np.int64))) for name, design in masked.items()}
    frame = model_frame(formula, data, blank, family, event, "refuse")
    model = FAMILIES[family](len(frame.outcome.categories))
    names = model.parameter_names(frame.terms, frame.outcome.categories)
    theta = _theta(coefficients, names)
    if numeric:
        theta = np.append(theta, math.log(spread))
    variables = [frame.masked[name] for name in frame.predictors.names]
    labels = [_labels(masked[v.name])[codes[v.name]].tolist() for v in variables]
    known = filled(frame.table, variables, labels)
    x = np.asarray(frame.spec.get_model_matrix(known, na_action="raise", output="numpy"), float)
    maps = model.maps(frame.matrices.shape[2])
    with np.errstate(all="ignore"):
        means = model.mean(linear_predictors(x, maps, theta[: maps[0].shape[1]]))
    if not numeric and not ((means >= 0) & (means <= 1)).all():
        raise DataError("these coefficients give chances outside [0, 1] in the population.", parameter="coefficients")
    truth = Truth(dict(masked), outcome, means, spread, codes, theta)
    return truth, frame, model


def _codes(table: Mapping[str, Any], name: str, design: Design) -> NDArray[np.int64]:
    if name not in table:
        raise DataError(
            f"population must have a column {name!r} with the truths that are supposed of this masked predictor.",
            parameter="population",
        )
    place = {str(category): at for at, category in enumerate(design.categories)}
    column = [str(value) for value in np.asarray(table[name]).tolist()]
    if unknown := [row for row, value in enumerate(column) if value not in place]:
        raise DataError(
            f"population has a label of {name!r} that its design lacks, first in row {unknown[0]}.",
            parameter="population",
        )
    return np.array([place[value] for value in column], np.int64)


def _theta(coefficients: Any, names: Sequence[str]) -> Vector:
    if not isinstance(coefficients, Mapping) or set(coefficients) != set(names):
        raise DataError(
            f"coefficients must have a value for each of {', '.join(map(repr, names))}.", parameter="coefficients"
        )
    return np.array([float(fraction(coefficients[name], f"the coefficient of {name!r}", DataError)) for name in names])


def _labels(design: Design) -> NDArray[Any]:
    labels = np.empty(design.k, object)
    labels[:] = design.categories
    return labels
