"""From a formula and data to numbers: a model matrix for each combination of masked predictors, and the outcome."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import DataError, EstimationError
from maskwell.inference.regression.frame.formulas import parsed, refuse_state_of
from maskwell.inference.regression.frame.formulas import variables as names_in
from maskwell.inference.regression.frame.masked import (
    Combinations,
    MaskedVariable,
    Records,
    combinations,
    masked_variables,
)
from maskwell.tables.frames import column_names, native_columns
from maskwell.tables.labels import text_of

if TYPE_CHECKING:
    import pandas as pd

_MOST_CELLS = 1 << 30  # of all model matrices together: 8 GiB
_OF_ALL = ("multinomial", "cumulative")
"""Families that model all categories; the others have an event."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome: what is known of its categories by record, or the number that was seen."""

    name: str
    categories: tuple[Any, ...]
    rows: Matrix | None
    """None for a number; not numbers for an event against the rest, which has no likelihood."""
    scores: Matrix | None
    values: Vector | None
    masked: MaskedVariable | None

    def at(self, records: Records) -> Outcome:
        """The same for some of the records."""
        rows, scores, values = (None if x is None else x[records] for x in (self.rows, self.scores, self.values))
        masked = None if self.masked is None else self.masked.at(records)
        return replace(self, rows=rows, scores=scores, values=values, masked=masked)

    @property
    def event(self) -> Any:
        """The first category: the event of a model with two."""
        return self.categories[0]


@dataclass(frozen=True, eq=False)
class ModelFrame:
    """Everything that a fit needs of the data. ``matrices[c]`` is the model matrix if combination c were the truth."""

    outcome: Outcome
    terms: tuple[str, ...]
    names: tuple[str, ...]
    """The predictors that the formula reads, masked ones among them."""
    slices: Mapping[str, slice]
    matrices: NDArray[np.float64]
    predictors: Combinations
    background: Matrix
    kept: NDArray[np.bool_]
    spec: Any
    masked: Mapping[str, MaskedVariable]
    table: pd.DataFrame

    @property
    def n(self) -> int:
        """The number of records in the fit."""
        return int(self.matrices.shape[1])

    def at(self, records: Records) -> ModelFrame:
        """The same for some of the records."""
        matrices = self.matrices[:, records]
        return replace(
            self,
            outcome=self.outcome.at(records),
            matrices=matrices,
            predictors=self.predictors.at(records),
            background=self.background[records],
            kept=np.ones(matrices.shape[1], np.bool_),
            masked={name: variable.at(records) for name, variable in self.masked.items()},
            table=self.table.iloc[records].reset_index(drop=True),
        )

    def with_reports(self, masked: Mapping[str, Any], values: Vector | None = None) -> ModelFrame:
        """The same records and formula with other reports; ``values`` is the outcome of a normal model."""
        variables = masked_variables(masked, set(self.masked))
        outcome = replace(self.outcome, values=values)
        if self.outcome.masked is not None:
            variable = variables[self.outcome.name]
            order = [variable.categories.index(category) for category in self.outcome.categories]
            outcome = replace(outcome, rows=variable.rows[:, order], scores=variable.scores[:, order], masked=variable)
        hidden = [variables[name] for name in self.predictors.names]
        return replace(self, outcome=outcome, predictors=combinations(hidden, self.n), masked=variables)


def model_frame(
    formula: str,
    data: Any,
    masked: Mapping[str, Any],
    family: str,
    event: Any,
    missing: str,
    method: str = "likelihood",
) -> ModelFrame:
    """Read formula, data and reports; an error names the variable and the reason."""
    left, right = parsed(formula)
    names, outcome_names = names_in(right), names_in(left)
    if both := sorted({*names} & {*outcome_names}):
        raise DataError(f"{both[0]!r} stands on both sides of the formula.", parameter="formula")
    variables = masked_variables(masked, {*names, *outcome_names})
    refuse_state_of(right, variables)
    unused = [name for name in variables if name not in {*names, *outcome_names}]
    if unused or not variables:
        raise DataError("the formula uses none of the masked variables; name one in it.", parameter="formula")
    n = len(next(iter(variables.values())))
    table = _table(data, [name for name in {*names, *outcome_names} if name not in variables], variables, n)
    kept = _complete(table, variables, missing)
    table = table.loc[kept].reset_index(drop=True)
    variables = {name: variable.at(kept) for name, variable in variables.items()}
    hidden = [variables[name] for name in names if name in variables]
    among = combinations(hidden, len(table))
    spec, matrices = _matrices(right, table, hidden, among, cumulative=family == "cumulative")
    outcome = _outcome(left, outcome_names, table, variables, family, event, method)
    return ModelFrame(
        outcome,
        tuple(spec.column_names),
        tuple(names),
        {str(term): part for term, part in spec.term_slices.items()},
        matrices,
        among,
        _background(spec, matrices, hidden),
        kept,
        spec,
        variables,
        table,
    )


def _table(data: Any, names: Sequence[str], variables: Mapping[str, MaskedVariable], n: int) -> pd.DataFrame:
    """The unmasked variables of the model, one row per report."""
    import pandas as pd

    if data is not None and (open_ones := [name for name in column_names(data, "data") if name in variables]):
        raise DataError(
            f"data has a column {open_ones[0]!r}, which masked names too. If it holds the reports, leave it out of "
            "data: masked has them. If it holds true answers, keep it away from here; otherwise rename one of the two.",
            parameter="data",
        )
    columns = native_columns({} if data is None else data, names, "data")
    table = pd.DataFrame({name: _pandas(column) for name, column in columns.items()}, index=range(_length(columns, n)))
    if len(table) != n:
        raise DataError(
            f"data must have a row for each report, in the same order: {n:,} reports, {len(table):,} rows.",
            parameter="data",
        )
    return table


def _length(columns: Mapping[str, Any], n: int) -> int:
    return len(next(iter(columns.values()))) if columns else n


def _pandas(column: Any) -> Any:
    """A column as pandas holds it, whatever its index was."""
    import pandas as pd

    if isinstance(column, pd.Series):
        return column.array
    if hasattr(column, "to_pandas"):
        return column.to_pandas().array
    return column


def _complete(table: pd.DataFrame, variables: Mapping[str, MaskedVariable], missing: str) -> NDArray[np.bool_]:
    """Which records have everything; an error about the others unless they are to be dropped."""
    if missing not in ("refuse", "drop"):
        raise DataError(f'missing must be "refuse" or "drop"; got {missing!r}.', parameter="missing")
    gone = {name: np.asarray(table[name].isna(), np.bool_) for name in table}
    gone |= {name: variable.missing for name, variable in variables.items()}
    lacking = np.logical_or.reduce(list(gone.values()))
    if lacking.any() and missing == "refuse":
        name = next(name for name, absent in gone.items() if absent.any())
        raise DataError(
            f"{int(lacking.sum()):,} of {len(lacking):,} records lack a value, first {name!r} in row "
            f'{int(np.argmax(gone[name]))}; pass missing="drop" to leave them out.',
            parameter="missing",
        )
    if lacking.all():
        raise DataError("every record lacks some value; there is nothing to fit.", parameter="data")
    return np.asarray(~lacking)


def filled(table: pd.DataFrame, hidden: Sequence[MaskedVariable], labels: Sequence[Any]) -> pd.DataFrame:
    """The data as they were if every record had these labels of the masked predictors; also a list of labels each."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for variable, label in zip(hidden, labels, strict=True):
        listed = label if isinstance(label, list) else [label] * len(table)
        if all(isinstance(c, (int, float)) and not isinstance(c, bool) for c in variable.categories):
            columns[variable.name] = np.array(listed, float)
        else:
            texts = [str(c) for c in variable.categories]
            columns[variable.name] = pd.Categorical([str(c) for c in listed], categories=texts)
    return table.assign(**columns)


def _matrices(
    right: Any, table: pd.DataFrame, hidden: Sequence[MaskedVariable], among: Combinations, *, cumulative: bool
) -> tuple[Any, NDArray[np.float64]]:
    from formulaic.errors import FormulaicError

    try:
        # All labels occur in the frame that fixes how columns are coded.
        turns = [[labels[i] for labels in islice(cycle(among.labels), len(table))] for i in range(len(hidden))]
        spec = right.get_model_matrix(filled(table, hidden, turns), na_action="raise", output="numpy").model_spec
        if not 0 < len(spec.column_names) <= len(table):
            raise EstimationError(
                f"the formula gives {len(spec.column_names):,} columns for {len(table):,} records; there must be some, "
                "and fewer than records. A text with many different values is rarely meant as a predictor."
            )
        cells = len(among) * len(table) * len(spec.column_names)
        if cells > _MOST_CELLS:
            raise EstimationError(
                f"{len(among)} combinations of masked predictors over {len(table):,} records and "
                f"{len(spec.column_names)} terms need {8 * cells >> 30} GiB; use fewer terms."
            )
        matrices = np.empty((len(among), len(table), len(spec.column_names)))
        for at, labels in enumerate(among.labels):
            frame = filled(table, hidden, labels)
            matrices[at] = spec.get_model_matrix(frame, na_action="raise", output="numpy")
    except (FormulaicError, ValueError, TypeError, KeyError) as error:
        if isinstance(error, EstimationError):
            raise
        raise DataError(
            f"the formula cannot be worked out on these data ({type(error).__name__}); check that its functions and "
            "columns fit together.",
            parameter="formula",
        ) from None
    if not np.isfinite(matrices).all():
        raise DataError("the formula gives values that are infinite or no numbers; check its functions.", "formula")
    return _without_intercept(spec, matrices) if cumulative else (spec, matrices)


def _without_intercept(spec: Any, matrices: NDArray[np.float64]) -> tuple[Any, NDArray[np.float64]]:
    """Thresholds take the place of the intercept."""
    names = list(spec.column_names)
    if "Intercept" not in names:
        raise DataError("a cumulative model has thresholds in the place of its intercept; do not remove it.", "formula")
    subset = [term for term in spec.terms if str(term) != "1"]
    if not subset:
        raise DataError("the formula has no predictors.", parameter="formula")
    return spec.subset(subset), np.delete(matrices, names.index("Intercept"), axis=2)


def _background(spec: Any, matrices: NDArray[np.float64], hidden: Sequence[MaskedVariable]) -> Matrix:
    """The columns without masked variables, on which the distribution of the masked predictors may depend."""
    names = {variable.name for variable in hidden}
    columns = [np.ones(matrices.shape[1])]
    for term, part in spec.term_slices.items():
        if str(term) != "1" and not names & {str(v) for v in spec.term_variables.get(term, ())}:
            columns.extend(matrices[0][:, part].T)
    return np.column_stack(columns)


def _outcome(
    left: Any,
    names: Sequence[str],
    table: pd.DataFrame,
    variables: Mapping[str, MaskedVariable],
    family: str,
    event: Any,
    method: str,
) -> Outcome:
    if family == "normal":
        return _number(left, names, table, variables)
    if len(names) != 1 or str(left).strip() not in (names[0], f"`{names[0]}`"):
        raise DataError(f"the outcome must be one variable by its name; got {str(left)!r}.", parameter="formula")
    name = names[0]
    variable = variables.get(name)
    chosen = _listed(event)
    event = None if chosen is None else chosen[0] if len(chosen) == 1 else tuple(chosen)
    if variable is not None:
        if len(variable.categories) > 2 and chosen is not None and method == "corrected" and family not in _OF_ALL:
            return _against_the_rest(name, variable, chosen)
        order = _order(variable.categories, event, family, name)
        categories = tuple(variable.categories[j] for j in order)
        return Outcome(name, categories, variable.rows[:, order], variable.scores[:, order], None, variable)
    values, labels = _observed(table[name])
    order = _order(labels, event, family, name, observed=True)
    indicator = (values[:, None] == np.array(order)).astype(float)
    return Outcome(name, tuple(labels[j] for j in order), indicator, indicator, None, None)


def _listed(event: Any) -> list[Any] | None:
    """The categories that an event is made of; None where none was said."""
    if event is None:
        return None
    return list(event) if isinstance(event, Iterable) and not isinstance(event, str) else [event]


def _against_the_rest(name: str, variable: MaskedVariable, chosen: list[Any]) -> Outcome:
    """Some categories against all others: their scores add up; what a report says of the rest is no likelihood."""
    known = list(variable.categories)
    if not chosen or any(category not in known for category in chosen) or set(known) <= set(chosen):
        raise DataError(
            f"event must be one of the outcomes, {', '.join(map(repr, known))}, or a list of some of them.", "event"
        )
    inside = np.isin(np.arange(len(known)), [known.index(category) for category in chosen])
    scores = np.column_stack([variable.scores[:, inside].sum(axis=1), variable.scores[:, ~inside].sum(axis=1)])
    label = " or ".join(text_of(category) for category, is_in in zip(known, inside, strict=True) if is_in)
    return Outcome(name, (label, f"not {label}"), np.full_like(scores, np.nan), scores, None, variable)


def _observed(column: Any) -> tuple[NDArray[np.int64], tuple[Any, ...]]:
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.remove_unused_categories()
        return np.asarray(column.cat.codes, np.int64), tuple(column.cat.categories.tolist())
    codes, labels = pd.factorize(column, sort=True)
    return np.asarray(codes, np.int64), tuple(labels.tolist())


def _order(categories: tuple[Any, ...], event: Any, family: str, name: str, *, observed: bool = False) -> list[int]:
    """The order of the categories: the event first for two of them, as they are for more."""
    k = len(categories)
    if family in _OF_ALL:
        if event is not None:
            raise DataError(f"event= goes with families of two outcomes; {family} has all categories.", "event")
        if k < 2 or (family == "cumulative" and k < 3):
            raise DataError(f"{family} needs an outcome with more categories; {name!r} has {k}; use logit.", "family")
        return list(range(k))
    if k != 2:
        raise DataError(
            f"{family} needs an outcome with two categories; {name!r} has {k}. Use family='multinomial' or, for "
            "ordered ones, 'cumulative': their marginal_effects() and predict() are about the chance of each category. "
            "A masked event against the rest has no likelihood and no plan; regress fits it with event= and "
            "method='corrected'.",
            parameter="family",
        )
    if event is None:
        truth_values = all(isinstance(c, (bool, int, float, np.bool_, np.integer)) for c in categories)
        if not truth_values and observed:
            shown = " or ".join(repr(c) for c in categories)
            raise DataError(f"event= must say which of the outcomes is modelled: {shown}.", parameter="event")
        # 1 of 0 and 1, true of false and true; otherwise the first, as "yes" of the yes/no designs.
        event = max(categories) if truth_values else categories[0]
    if event not in categories:
        raise DataError(f"event must be one of the outcomes, {', '.join(map(repr, categories))}.", parameter="event")
    first = categories.index(event)
    return [first, 1 - first]


def _number(left: Any, names: Sequence[str], table: pd.DataFrame, variables: Mapping[str, MaskedVariable]) -> Outcome:
    if any(name in variables for name in names):
        raise DataError(
            "normal needs an outcome that was not masked; for a masked outcome use logit, multinomial or cumulative.",
            parameter="family",
        )
    built = left.get_model_matrix(table, na_action="raise", output="numpy")
    columns = [at for at, name in enumerate(built.model_spec.column_names) if name != "Intercept"]
    if len(columns) != 1:
        raise DataError("normal needs one outcome that is a number.", parameter="formula")
    values = np.asarray(built, float)[:, columns[0]]
    if not np.isfinite(values).all() or np.ptp(values) == 0:
        raise DataError(f"the outcome {str(left)!r} must be finite and not always the same.", parameter="formula")
    return Outcome(str(left).strip(), (), None, None, values, None)
