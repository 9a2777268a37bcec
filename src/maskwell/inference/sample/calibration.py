"""Calibration: weights are moved as little as they can so that they add up to known totals of the population.

Post-stratification is calibration to one margin, raking to several. What the totals already tell about a variable no
longer varies from sample to sample, so variances are those of the residuals on the margins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import DataError, EstimationError
from maskwell.tables.codes import encode

_TURNS = 1000
_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class Margin:
    """A variable with known totals: each record's category, and the total of each category."""

    name: str
    codes: NDArray[np.int64]
    totals: Vector


def margins_of(margins: Mapping[str, Any], columns: Mapping[str, Any]) -> list[Margin]:
    """The margins with the category of each record; every category needs a total, and every total some record."""
    found = []
    for name, totals in margins.items():
        if not isinstance(totals, Mapping) or not totals:
            raise DataError(f"margins[{name!r}] must give the total of each category, by label.", parameter="margins")
        coded = encode(columns[name], str(name))
        labels, codes = coded.labels, coded.codes.astype(np.int64)
        if unknown := [label for label in labels if label not in totals]:
            raise DataError(
                f"margins[{name!r}] has no total for {len(unknown)} of the categories in the sample.", "margins"
            )
        if absent := [label for label in totals if label not in labels]:
            raise DataError(
                f"margins[{name!r}] has totals for {absent[0]!r}, which nobody in the sample has; join categories.",
                parameter="margins",
            )
        try:
            values = np.array([float(totals[label]) for label in labels])
        except (TypeError, ValueError):
            values = np.zeros(1)
        if not np.isfinite(values).all() or (values <= 0).any():
            raise DataError(f"margins[{name!r}] must hold totals, which are numbers above 0.", parameter="margins")
        found.append(Margin(str(name), codes, values))
    sizes = [margin.totals.sum() for margin in found]
    if max(sizes) - min(sizes) > 1e-6 * max(sizes):
        raise DataError(
            f"margins must add up to one population size; they add up to {min(sizes):g} and {max(sizes):g}."
        )
    return found


def raked(weights: Vector, margins: list[Margin]) -> Vector:
    """The weights, scaled in turn to each margin until they meet all of them."""
    weights = weights.copy()
    for _ in range(_TURNS):
        worst = 0.0
        for margin in margins:
            now = np.bincount(margin.codes, weights, minlength=len(margin.totals))
            if (now <= 0).any():
                raise EstimationError(f"a category of {margin.name!r} has no weight; join categories.")
            factors = margin.totals / now
            worst = max(worst, float(np.abs(factors - 1).max()))
            weights *= factors[margin.codes]
        if worst < _TOLERANCE or len(margins) == 1:
            return weights
    raise EstimationError("raking does not settle: the margins contradict each other in this sample; join categories.")


def residuals(values: Matrix, weights: Vector, margins: list[Margin]) -> Matrix:
    """What the margins do not explain of the values: residuals of a regression by the weights before."""
    if len(margins) == 1:
        (margin,) = margins
        total = np.bincount(margin.codes, weights)
        means = np.stack([np.bincount(margin.codes, weights * column) for column in values.T], axis=1) / total[:, None]
        left: Matrix = values - means[margin.codes]
        return left
    # The first margin has all its categories, the others all but one: together they hold a constant once.
    columns = [np.eye(len(m.totals))[m.codes][:, 0 if at == 0 else 1 :] for at, m in enumerate(margins)]
    x = np.concatenate(columns, axis=1) * np.sqrt(weights)[:, None]
    slopes, *_ = np.linalg.lstsq(x, values * np.sqrt(weights)[:, None], rcond=None)
    rest: Matrix = values - np.concatenate(columns, axis=1) @ slopes
    return rest
