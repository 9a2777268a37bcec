"""Average marginal effects: what a change of one predictor does to the predicted chances, averaged over the records.

The average runs over the truth of masked predictors by the scores of their reports, which needs no model of them.
Standard errors follow from those of the coefficients (delta method), given the records.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.inference.alternatives import p_value, quantile
from maskwell.inference.regression.frame.formulas import labels_in, within_functions
from maskwell.inference.regression.frame.model_frame import filled
from maskwell.inference.regression.likelihood import linear_predictors, pulled
from maskwell.results.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from maskwell.inference.regression.regression import Regression

_STEP = 1e-4  # of a standard deviation, for slopes
_JUMP = 1e-2  # of a column's largest entry


@dataclass(frozen=True, eq=False, repr=False)
class Effects(Result):
    """Effects of predictors on the chance of each category; for two categories on that of the event."""

    predictors: tuple[str, ...]
    changes: tuple[str, ...]
    categories: tuple[str, ...]
    estimates: Vector
    covariance: Matrix
    degrees_of_freedom: float = np.inf

    @property
    def standard_errors(self) -> Vector:
        """Square roots of the variances."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0))

    def interval(self, level: float = 0.95) -> Matrix:
        """Lower and upper Wald limits, with the degrees of freedom of the sample where there is one."""
        margin = quantile(level, self.degrees_of_freedom) * self.standard_errors
        return np.column_stack([self.estimates - margin, self.estimates + margin])

    def _title(self) -> str:
        return "average marginal effects"

    def _figures(self) -> dict[str, Any]:
        return {}

    def _columns(self) -> dict[str, Any]:
        frame = self.to_frame()
        return {str(name): frame[name].tolist() for name in frame}

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:  # type: ignore[override]
        """A data frame: predictor, change, category, effect, standard error, limits and p-value."""
        import pandas as pd

        lower, upper = self.interval(level).T
        df = self.degrees_of_freedom
        with np.errstate(divide="ignore", invalid="ignore"):
            z = (self.estimates / self.standard_errors).tolist()
        return pd.DataFrame(
            {
                "predictor": self.predictors,
                "change": self.changes,
                "category": self.categories,
                "effect": self.estimates,
                "standard_error": self.standard_errors,
                "lower": lower,
                "upper": upper,
                "p_value": [value if math.isnan(value) else p_value(value, df) for value in z],
            }
        )

    def __repr__(self) -> str:
        return self.to_frame().to_string(index=False, float_format=lambda value: f"{value:.4f}")


def marginal_effects(fit: Regression) -> Effects:
    """The average marginal effects of a fit; no number where a predictor's term is a step that has no slope."""
    predictors: list[str] = []
    changes: list[str] = []
    categories: list[str] = []
    values: list[float] = []
    gradients: list[Vector] = []
    for name in fit.frame.names:
        for change, low, high, per in _changes(fit, name):
            before, slope_before = _average(fit, {name: low})
            after, slope_after = _average(fit, {name: high})
            for j, category in _shown(fit):
                gradient = (slope_after[j] - slope_before[j]) / per
                predictors.append(name)
                changes.append(change)
                categories.append(category)
                values.append((after[j] - before[j]) / per)
                gradients.append(gradient)
    jacobian = np.array(gradients)
    covariance = _family_covariance(fit)
    return Effects(
        tuple(predictors),
        tuple(changes),
        tuple(categories),
        np.array(values),
        jacobian @ covariance @ jacobian.T,
        fit.degrees_of_freedom,
    )


def _shown(fit: Regression) -> list[tuple[int, str]]:
    outcome = fit.frame.outcome
    if outcome.values is not None:
        return [(0, outcome.name)]
    shown = outcome.categories[:1] if len(outcome.categories) == 2 else outcome.categories
    return [(j, str(category)) for j, category in enumerate(shown)]


def _changes(fit: Regression, name: str) -> list[tuple[str, Any, Any, float]]:
    """What is compared: a label with the first one, or a number a little below and above what it is.

    Numbers that ``C()`` takes as labels are labels.
    """
    variable = fit.frame.masked.get(name)
    if variable is not None:
        first, *others = variable.categories
        return [(f"{label} - {first}", first, label, 1.0) for label in others]
    column = fit.frame.table[name]
    formula = fit.frame.spec.formula
    if column.dtype.kind in "iuf" and name not in labels_in(formula):
        step = _STEP * (float(column.std()) or 1.0)
        jumps = name in within_functions(formula) and _jumps(fit, name, step)
        return [("slope", *_beside(column, step), math.nan if jumps else 2 * step)]
    first, *others = sorted(column.unique().tolist()) if column.dtype.name != "category" else column.cat.categories
    return [(f"{label} - {first}", first, label, 1.0) for label in others]


def _beside(column: Any, step: float) -> tuple[Any, Any]:
    """Numbers a little below and above, in the range that was seen: beyond it splines are not defined."""
    low = column.clip(column.min() + step, max(column.max() - step, column.min() + step)) - step
    return low, (low + 2 * step).clip(upper=column.max())


def _jumps(fit: Regression, name: str, step: float) -> bool:
    """Whether a function of this column is a step or nearly one, so that it has no slope.

    Where a function is smooth half the step changes it half as much; where it jumps, by all or by nothing.
    """
    frame = fit.frame
    hidden = [frame.masked[variable] for variable in frame.predictors.names]
    table = filled(frame.table, hidden, [variable.categories[0] for variable in hidden])

    def change(step: float) -> Matrix:
        low, high = (_matrix(fit, table.assign(**{name: side})) for side in _beside(table[name], step))
        return high - low

    whole, half = change(step), change(step / 2)
    return not whole.any() or bool((np.abs(whole - 2 * half) > _JUMP * np.abs(_matrix(fit, table)).max(axis=0)).any())


def _matrix(fit: Regression, table: Any) -> Matrix:
    return np.asarray(fit.frame.spec.get_model_matrix(table, na_action="raise", output="numpy"), float)


def _average(fit: Regression, fixed: dict[str, Any]) -> tuple[Vector, Matrix]:
    """Average predictions by category with some predictors fixed, and their derivatives by parameter."""
    frame, family = fit.frame, fit.family
    hidden = [frame.masked[name] for name in frame.predictors.names]
    total: Any = 0.0
    slopes: Any = 0.0
    share = fit.weights / fit.weights.sum()
    for c, labels in enumerate(frame.predictors.labels):
        weight = share * frame.predictors.scores[:, c]
        chosen = [fixed.get(variable.name, label) for variable, label in zip(hidden, labels, strict=True)]
        table = filled(frame.table, hidden, chosen)
        table = table.assign(**{name: _like(table[name], v) for name, v in fixed.items() if name not in frame.masked})
        x = _matrix(fit, table)
        maps = family.maps(x.shape[1])
        eta = linear_predictors(x, maps, fit.solution.theta[: maps[0].shape[1]])
        mean = family.mean(eta)
        total = total + weight @ mean
        slopes = slopes + np.stack([weight @ pulled(x, maps, slope) for slope in _mean_slopes(fit, eta, mean)])
    return np.asarray(total), np.asarray(slopes)


def _like(column: Any, value: Any) -> Any:
    """A value for all records, with the categories that the column has."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        return pd.Categorical([value] * len(column), categories=column.cat.categories)
    return value


def _mean_slopes(fit: Regression, eta: Matrix, mean: Matrix) -> list[Matrix]:
    """The derivatives of each predicted mean by the linear predictors."""
    if fit.family.numeric:
        return [np.column_stack([np.ones(len(eta)), np.zeros(len(eta))])]
    outlook = fit.family.outlook(eta, None)
    slopes = []
    for j in range(mean.shape[1]):
        only = np.zeros_like(mean)
        only[:, j] = mean[:, j]
        slopes.append(outlook.moments(only).gradient)
    return slopes


def _family_covariance(fit: Regression) -> Matrix:
    """The covariance of the family's parameters; those that are fitted along do not move a mean."""
    size = fit.family.maps(fit.frame.matrices.shape[2])[0].shape[1]
    wide = np.zeros((size, size))
    shown = len(fit.names)
    wide[:shown, :shown] = fit.covariance
    return wide
