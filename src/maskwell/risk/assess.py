"""Assess a file: who in it could be recognised by what others may know of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from maskwell.errors import DataError
from maskwell.risk.diversity import diversity
from maskwell.risk.frequencies import cross_classify
from maskwell.risk.modelled import MODELS, model_risk
from maskwell.risk.report import RiskReport
from maskwell.risk.structural_zeros import read_zeros
from maskwell.tables.codes import Coded, Floats, Ints, numbers
from maskwell.tables.encoded import encoded
from maskwell.tables.frames import names_of, read_columns

_WEIGHTS = "weights="

Missing = Literal["category", "wildcard"]
"""What a missing value of a key matches: missing values of the same key only, or any value."""


def assess(
    table: Any,
    keys: Sequence[str] | str,
    weights: Any = None,
    population_size: float | None = None,
    *,
    sensitive: Sequence[str] | str = (),
    model: str | Sequence[Sequence[str]] = MODELS[0],
    structural_zeros: Sequence[Any] | None = None,
    missing: Missing = "category",
    repeats: str | None = None,
    squares: str | None = None,
) -> RiskReport:
    """The identification risk of a table's records by the columns ``keys``, which an intruder may know.

    ``weights``, a column's name or a number per row, says how many people each record stands for; ``population_size``
    says how many there are, and is the sum of the weights unless given. With neither the file is counted, but nothing
    is said of the population: tau1 and tau2 are None.

    ``model`` is the log-linear model behind tau1 and tau2: "stepwise" adds interactions of two keys while the fit
    statistics ask for them, "independence" has none, "two-way" has all, and a list names them, as in
    ``[("sex", "age"), ("age", "area", "race")]``. Without weights one sampling fraction holds for all cells. With them
    the model of the population is fitted to the weighted records, and each cell has a fraction of its own
    (``modelled.py`` says how). If ``population_size`` is given too, the model scales the weights to it.

    ``missing`` says what a missing value of a key matches. As a "category" of its own it matches records that miss the
    same key, and no others. As a "wildcard" it matches any value, as in sdcMicro: two records match if they agree on
    the keys that neither misses, so that counts, k and individual risks are of all records that match. Where any key
    is missing there are then no tau1 and tau2, since a model needs to know each record's cell. A missing value of a
    sensitive column is a category.

    ``structural_zeros`` lists impossible combinations, as in ``[{"age": ["0-4", "5-9"], "marital": "married"}]``.
    ``repeats`` names a column that says how many records a row stands for, where equal records were counted before; the
    weight of such a row is the sum of theirs, and ``squares`` names the column of sums of their squared weights (else
    they are taken as equal). ``sensitive`` names columns whose diversity within cells is counted.

    >>> table = {"sex": ["f", "f", "m", "m", "m"], "age": [30, 30, 30, 40, 40]}
    >>> report = assess(table, keys=["sex", "age"], population_size=50)
    >>> report.sample_uniques, round(report.tau1, 3), round(report.tau2, 3)
    (1, 0.0, 0.062)
    """
    key_names, sensitive_names = names_of(keys, "keys"), names_of(sensitive, "sensitive")
    if not key_names:
        raise DataError("keys must name one column or more; got none.", parameter="keys")
    both = [name for name in sensitive_names if name in key_names]
    if both:
        raise DataError(f"{both[0]!r} is both a key and sensitive; a column that an intruder knows is a key only.")
    if missing not in get_args(Missing):
        raise DataError(f'missing must be "category" or "wildcard"; got {missing!r}.', parameter="missing")
    wild = missing == "wildcard"
    if wild and sensitive_names:
        raise DataError(
            "sensitive columns are counted within cells of equal keys, which records with wildcards do not form; leave "
            'out sensitive, or take missing="category".',
            parameter="missing",
        )
    weight_names = (weights,) if isinstance(weights, str) else ()
    source = encoded(table)
    counted = [name for name in (repeats, squares) if name is not None]
    columns = source.arrays(list(dict.fromkeys((*key_names, *sensitive_names, *weight_names, *counted))))
    times = None if repeats is None else numbers(columns[repeats], repeats).astype(np.int64)
    rows = len(columns[key_names[0]])
    n = rows if times is None else int(times.sum())
    weight = weights_of(weights, columns, rows)
    size = population_of(population_size, weight, n)

    coded = [source.coded(name) for name in key_names]
    squared = None if squares is None else numbers(columns[squares], squares)
    if squared is None and weight is not None and times is not None:
        squared = weight**2 / times
    cells, cell_of_record = cross_classify(coded, weight, times, squared, wild=wild)
    zeros = read_zeros(structural_zeros, cells)
    return RiskReport(
        cells,
        cell_of_record if times is None else None,
        size,
        None if size is None or cells.wild else model_risk(cells, model, n / size, zeros),
        {column.name: _missing(column, times) for column in coded},
        {name: diversity(cells.counts, cell_of_record, source.coded(name), times) for name in sensitive_names},
    )


def _missing(column: Coded, times: Ints | None) -> int:
    """How many records miss a key; a missing value is the last category."""
    if times is None or not column.missing:
        return column.missing
    return int(times[column.codes == column.size - 1].sum())


def weights_of(weights: Any, columns: Mapping[str, Any], n: int) -> Floats | None:
    """The weight of every row, from a column's name or as they are; None if there are none."""
    if weights is None:
        return None
    if isinstance(weights, str):
        return numbers(columns[weights], weights)
    given = numbers(read_columns({_WEIGHTS: weights}, [_WEIGHTS])[_WEIGHTS], _WEIGHTS)
    if len(given) != n:
        raise DataError(f"weights must hold one number per row; got {len(given)} for {n} rows.", parameter="weights")
    return given


def population_of(given: Any, weights: Floats | None, n: int) -> float | None:
    """The size of the population: as given, or the sum of the weights; None if neither is there."""
    if given is None:
        if weights is None:
            return None
        total = float(weights.sum())
        if total < n:
            raise DataError(
                f"weights sum to {total:.6g}, less than the {n} records; a weight is the number of people that a "
                "record stands for, so scale them to the population or give population_size.",
                parameter="weights",
            )
        return total
    number = isinstance(given, (int, float, np.number)) and not isinstance(given, bool)
    if not number or not math.isfinite(given) or given < n:
        raise DataError(
            f"population_size must be a number of at least the {n} records; got {given!r}.", parameter="population_size"
        )
    return float(given)
