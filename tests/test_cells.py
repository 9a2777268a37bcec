"""Which label a cell means: one rule, whatever the container."""

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maskwell as mw
from maskwell.tables.matching import read_column
from tests.conformance.masking_helpers import refused

COLOURS = mw.designs.direct(["red", "green", "blue"])
NUMBERS = mw.designs.direct([7, 0, -5, 12])
TRUTHS = mw.designs.direct([True, False])


def meant(design: mw.Design, values: Any) -> list[Any]:
    """What the one design without noise reports is what was read."""
    return design.mask(values, missing="keep").decode()


@pytest.mark.parametrize(
    ("design", "cells", "labels"),
    [
        (NUMBERS, ["7", "+7", "07.0", " 7 ", "7.", "-5", "-0", "000"], [7, 7, 7, 7, 7, -5, 0, 0]),
        (NUMBERS, [7.0, -5.0, -0.0, float("nan")], [7, -5, 0, None]),
        (NUMBERS, ["7", "", None], [7, None, None]),
        (TRUTHS, ["true", "FALSE", " True ", "1", "0"], [True, False, True, True, False]),
        (mw.designs.direct(["7", "07", "0.5"]), ["07", "7", "0.5"], ["07", "7", "0.5"]),
        (mw.designs.direct(["7", "07", "0.5"]), [7, 7], ["7", "7"]),
        (mw.designs.direct(["7", "07", "0.5"]), [7.0, 0.5, float("nan")], ["7", "0.5", None]),
        (mw.designs.direct(["a", ""]), ["", "a", None], ["", "a", None]),
        (mw.designs.direct(["a", "b"]), ["", "a", None], [None, "a", None]),
    ],
)
def test_a_cell_means_the_label_that_it_spells(design: mw.Design, cells: list[Any], labels: list[Any]) -> None:
    assert meant(design, cells) == labels
    assert meant(design, pd.Series(cells)) == labels
    assert meant(design, pl.Series(cells)) == labels
    assert meant(design, pa.array(cells).dictionary_encode()) == labels


@pytest.mark.parametrize(
    ("design", "cells"),
    [
        (NUMBERS, ["7.5"]),
        (NUMBERS, ["7e0"]),
        (NUMBERS, ["- 7"]),
        (NUMBERS, ["NA"]),
        (NUMBERS, [7.5]),
        (NUMBERS, [True]),
        (NUMBERS, ["7,0"]),
        (NUMBERS, ["12345678901234567890123"]),
        (TRUTHS, [1, 0]),
        (TRUTHS, ["yes"]),
        (mw.designs.direct(["7", "8"]), ["07"]),
        (mw.designs.direct(["7", "8"]), [" 7"]),
        (mw.designs.direct(["7", "8"]), ["7.0"]),
        (COLOURS, ["Red"]),
    ],
)
def test_what_means_no_label_is_refused(design: mw.Design, cells: list[Any]) -> None:
    refused(mw.DataError, "values", lambda: design.mask(cells, missing="keep"))


def one_column(values: list[Any]) -> dict[str, Any]:
    """Everything that holds one column and nothing else."""
    return {
        "mapping": {"x": values},
        "pandas": pd.DataFrame({"x": values}),
        "pandas without a name": pd.DataFrame(values),
        "polars": pl.DataFrame({"x": values}),
        "polars lazy": pl.LazyFrame({"x": values}),
        "arrow table": pa.table({"x": values}),
        "arrow batch": pa.record_batch({"x": values}),
        "duckdb": duckdb.from_arrow(pa.table({"x": values})),
    }


@pytest.mark.parametrize("held", one_column(["red"]))
def test_what_holds_one_column_is_a_column(held: str) -> None:
    texts = ["red", "blue", "blue", "green"]
    assert meant(COLOURS, one_column(texts)[held]) == texts
    assert meant(NUMBERS, one_column([7, 0, 12])[held]) == [7, 0, 12]
    ids = one_column([3, 1, 2, 9])[held]
    drawn = [COLOURS.mask(texts, key=bytes(32), ids=i, question="q") for i in (ids, [3, 1, 2, 9])]
    assert drawn[0] == drawn[1]


@given(st.lists(st.one_of(st.integers(-20, 20), st.none()), min_size=1))
def test_numbers_and_their_texts_mean_the_same(values: list[int | None]) -> None:
    labels = tuple(range(-20, 21))
    texts = [None if value is None else str(value) for value in values]
    floats = np.array([np.nan if value is None else value for value in values])
    found = [read_column(cells, labels, "keep") for cells in (values, texts, floats, pa.array(texts))]
    for column in found[1:]:
        assert (column.codes(0, column.n) == found[0].codes(0, column.n)).all()
        assert (column.missing is None) == (found[0].missing is None)
