"""What goes into masking: values from any column, missing ones by an explicit policy, refusals that tell nothing."""

import traceback
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import maskwell as mw
from tests.conformance.masking_helpers import KEYED, every_column, refused, values_for

LABELS = ["red", "green", "blue", "Ångström", ""]
TEXT = mw.designs.minimax(LABELS, epsilon=1)
NUMBERS = mw.designs.minimax([30, 10, 20, -5, 0], epsilon=1)
COUNT = mw.designs.minimax(5, epsilon=1)
BOOLEANS = mw.designs.gamma_diagonal([True, False], epsilon=1)

ORDER = np.random.default_rng(0).integers(0, 5, 400)
TEXTS = [LABELS[j] for j in ORDER]
WHOLE = [[30, 10, 20, -5, 0][j] for j in ORDER]
REVERSED = sorted(LABELS, reverse=True)

TEXT_COLUMNS: dict[str, Any] = {
    "list": TEXTS,
    "tuple": tuple(TEXTS),
    "generator": lambda: (text for text in TEXTS),
    "numpy text": np.array(TEXTS),
    "numpy object": np.array(TEXTS, object),
    "numpy every other row": np.repeat(np.array(TEXTS), 2)[::2],
    "pandas text": pd.Series(TEXTS),
    "pandas object": pd.Series(TEXTS, dtype=object),
    "pandas with another index": pd.Series(TEXTS, index=range(400, 0, -1)),
    "pandas Index": pd.Index(TEXTS),
    "pandas categories in another order": pd.Series(pd.Categorical(TEXTS, categories=REVERSED)),
    "pandas with an unused category": pd.Series(pd.Categorical(TEXTS, categories=["unused", *REVERSED])),
    "pandas ordered categories": pd.Series(pd.Categorical(TEXTS, categories=REVERSED, ordered=True)),
    "pandas Arrow": pd.Series(TEXTS, dtype=pd.ArrowDtype(pa.string())),
    "polars text": pl.Series(TEXTS),
    "polars Categorical": pl.Series(TEXTS, dtype=pl.Categorical),
    "polars Enum in another order": pl.Series(TEXTS, dtype=pl.Enum(REVERSED)),
    "polars in chunks": pl.concat([pl.Series(TEXTS[:100]), pl.Series(TEXTS[100:])], rechunk=False),
    "arrow string": pa.array(TEXTS),
    "arrow large_string": pa.array(TEXTS, pa.large_string()),
    "arrow string_view": pa.array(TEXTS, pa.string_view()),
    "arrow dictionary": pa.array(TEXTS).dictionary_encode(),
    "arrow chunked": pa.chunked_array([TEXTS[:7], [], TEXTS[7:]]),
    "arrow chunks with dictionaries of their own": pa.chunked_array(
        [pa.array(TEXTS[:3]).dictionary_encode(), pa.array(TEXTS[3:]).dictionary_encode()]
    ),
    "arrow slice": pa.array(["red", *TEXTS, "blue"])[1:401],
}
NUMBER_COLUMNS: dict[str, Any] = {
    "list": WHOLE,
    "numpy int64": np.array(WHOLE),
    "numpy int8": np.array(WHOLE, np.int8),
    "numpy big-endian": np.array(WHOLE, ">i4"),
    "numpy object": np.array(WHOLE, object),
    "numpy float": np.array(WHOLE, float),
    "pandas int": pd.Series(WHOLE),
    "pandas Int64": pd.Series(WHOLE, dtype="Int64"),
    "pandas float": pd.Series(WHOLE, dtype=float),
    "pandas categories": pd.Series(pd.Categorical(WHOLE, categories=[0, 10, 20, 30, -5])),
    "polars": pl.Series(WHOLE),
    "polars Int16": pl.Series(WHOLE, dtype=pl.Int16),
    "arrow int32": pa.array(WHOLE, pa.int32()),
    "arrow dictionary": pa.array(WHOLE).dictionary_encode(),
    "arrow chunked": pa.chunked_array([WHOLE[:7], WHOLE[7:]]),
}


@pytest.mark.parametrize("column", TEXT_COLUMNS)
def test_text_is_matched_by_label_in_any_column(column: str) -> None:
    values = TEXT_COLUMNS[column]
    assert TEXT.mask(values() if callable(values) else values, seed=1) == TEXT.mask(TEXTS, seed=1)


@pytest.mark.parametrize("column", NUMBER_COLUMNS)
def test_numbers_are_matched_by_label_in_any_column(column: str) -> None:
    """Labels that are numbers in no order: a library's own codes would be other ones."""
    assert NUMBERS.mask(NUMBER_COLUMNS[column], seed=1) == NUMBERS.mask(WHOLE, seed=1)


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.uint32, np.int64, np.uint64, ">i4", float, object])
def test_a_count_means_labels_from_zero(kind: Any) -> None:
    expected = COUNT.mask(ORDER.tolist(), seed=1)
    assert COUNT.mask(ORDER.astype(kind), seed=1) == expected
    assert COUNT.mask(pd.Series(ORDER), seed=1) == expected
    assert COUNT.mask(pl.Series(ORDER), seed=1) == expected
    assert COUNT.mask(range(5), seed=1) == COUNT.mask([0, 1, 2, 3, 4], seed=1)


def test_the_direct_design_shows_what_was_read() -> None:
    """The one design whose reports can be compared with the values themselves."""
    direct = mw.designs.direct(LABELS)
    for values in TEXT_COLUMNS.values():
        assert direct.mask(values() if callable(values) else values).decode() == TEXTS
    assert mw.designs.direct([30, 10, 20, -5, 0]).mask(WHOLE).decode() == WHOLE


def test_booleans() -> None:
    values = [True, False, True, True]
    expected = BOOLEANS.mask(values, seed=1)
    for column in (np.array(values), pd.Series(values), pl.Series(values), pa.array(values)):
        assert BOOLEANS.mask(column, seed=1) == expected
    refused(mw.DataError, "true/false", lambda: BOOLEANS.mask([1, 0]))
    refused(mw.DataError, "whole numbers", lambda: COUNT.mask([True, False]))


# Missing values.

GAPS = [text if at % 3 else None for at, text in enumerate(TEXTS)]
NUMBER_GAPS = [number if at % 3 else None for at, number in enumerate(WHOLE)]


@pytest.mark.parametrize(
    "column",
    [
        GAPS,
        np.array(GAPS, object),
        np.array([np.nan if text is None else text for text in GAPS], object),
        pd.Series(GAPS),
        pd.Series(GAPS, dtype=object),
        pd.Series(GAPS, dtype="category"),
        pd.Series([pd.NA if text is None else text for text in GAPS], dtype="string"),
        pl.Series(GAPS),
        pl.Series(GAPS, dtype=pl.Categorical),
        pa.array(GAPS),
        pa.array(GAPS).dictionary_encode(),
        pa.array(GAPS).dictionary_encode(null_encoding="encode"),
    ],
    ids=lambda column: type(column).__module__.split(".")[0],
)
def test_missing_text_is_refused_or_kept(column: Any) -> None:
    _missing_is_refused_or_kept(TEXT, column, TEXTS)


@pytest.mark.parametrize(
    "column",
    [
        NUMBER_GAPS,
        np.array([np.nan if number is None else number for number in NUMBER_GAPS]),
        pd.Series(NUMBER_GAPS, dtype="Int64"),
        pd.Series(NUMBER_GAPS, dtype=float),
        pl.Series(NUMBER_GAPS),
        pa.array(NUMBER_GAPS),
    ],
    ids=lambda column: type(column).__module__.split(".")[0],
)
def test_missing_numbers_are_refused_or_kept(column: Any) -> None:
    _missing_is_refused_or_kept(NUMBERS, column, WHOLE)


def _missing_is_refused_or_kept(design: mw.Design, column: Any, complete: list[Any]) -> None:
    absent = np.arange(400) % 3 == 0
    message = refused(mw.DataError, "missing in 134 of 400 rows, first in row 0", lambda: design.mask(column))
    assert 'missing="keep"' in message
    reports = design.mask(column, missing="keep", seed=2)
    assert (reports.missing == absent).all()
    assert [report is None for report in reports.decode()] == absent.tolist()
    # The others get what they would have got had nobody been missing.
    assert (reports.packed[~absent] == design.mask(complete, seed=2).packed[~absent]).all()
    # Nothing is left of a draw where there is no report.
    assert not reports.packed[absent].any()
    tally = reports.tally()
    assert (tally.n, tally.missing) == (266, 134)


def test_missing_values_with_a_key() -> None:
    reports = TEXT.mask(GAPS, **KEYED, ids=range(400), missing="keep")
    whole = TEXT.mask(TEXTS, **KEYED, ids=range(400))
    present = ~reports.missing
    assert (reports.packed[present] == whole.packed[present]).all()


def test_missing_policies() -> None:
    refused(mw.DataError, "all 3 rows", lambda: TEXT.mask([None] * 3, missing="keep"))
    refused(mw.DataError, "missing must be", lambda: TEXT.mask(TEXTS, missing="drop"))
    assert TEXT.mask(TEXTS, missing="keep").missing is None
    declared = mw.designs.minimax([*LABELS, "no answer"], epsilon=1)
    assert len(declared.mask(["no answer", "red"])) == 2


@every_column
def test_no_values_no_reports(design: mw.Design) -> None:
    for values in ([], np.array([], int), pd.Series([], dtype=object), pl.Series([]), pa.array([], pa.string())):
        reports = design.mask(values)
        assert len(reports) == 0
        assert reports.decode() == []
        assert reports.tally().n == 0
    assert list(design.mask_batches([])) == []


# Refusals never show a value.

secrets = st.one_of(
    st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=6, max_size=20),
    st.integers(10**7, 2**70),
    st.floats(1e7, 1e30),
    st.binary(min_size=6, max_size=12),
    st.decimals(10**7, 10**9, places=3),
    st.dates(),
)


def spelled(secret: Any) -> set[str]:
    """How a message might show a value."""
    return {str(secret), repr(secret)} | ({secret.hex()} if isinstance(secret, bytes) else set())


def hides(secret: Any, action: Any) -> None:
    with pytest.raises(mw.DataError) as caught:
        action()
    shown = "".join(traceback.format_exception(caught.value))
    assert "\n" not in str(caught.value)
    assert not any(text in shown for text in spelled(secret))


@settings(max_examples=25)
@given(secrets, st.integers(0, 3), st.sampled_from([TEXT, NUMBERS, COUNT, BOOLEANS]))
def test_a_refused_value_is_not_shown(secret: Any, row: int, design: mw.Design) -> None:
    values = [design.categories[0]] * 4
    values[row] = secret
    hides(secret, lambda: design.mask(values))
    hides(secret, lambda: design.mask(np.array(values, object)))
    hides(secret, lambda: design.mask(pd.Series(values, dtype=object)))
    hides(secret, lambda: design.mask(values, **KEYED, ids=range(4)))
    hides(secret, lambda: list(design.mask_batches([values])))
    hides(secret, lambda: design.mask([secret] * 4))
    hides(secret, lambda: design.mask([secret, None], missing="keep"))


@settings(max_examples=10)
@given(st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=6, max_size=20))
def test_a_refused_text_is_not_shown_in_any_column(secret: str) -> None:
    values = ["red", secret, "green"]
    for column in (
        np.array(values),
        pd.Series(values),
        pd.Series(values, dtype="category"),
        pl.Series(values),
        pl.Series(values, dtype=pl.Categorical),
        pl.Series(values, dtype=pl.Enum(sorted(values))),
        pa.array(values),
        pa.array(values).dictionary_encode(),
    ):
        hides(secret, lambda column=column: TEXT.mask(column))
        hides(secret, lambda column=column: NUMBERS.mask(column))
    for nested in ([[secret]], [(secret,)], [{secret: 1}], [{"a": secret}], [["red"], secret], {secret: 1}, secret):
        hides(secret, lambda nested=nested: TEXT.mask(nested))


@pytest.mark.parametrize("n", [3, 200_000])
def test_an_unknown_label_is_counted_and_located(n: int) -> None:
    """The row, the number of rows and the allowed labels, also when threads find it."""
    values = np.zeros(n, int)
    values[[1, n - 1]] = 77
    message = refused(mw.DataError, f"in 2 of {n} rows, first in row 1;", lambda: COUNT.mask(values))
    assert "0, 1, 2, 3, 4" in message
    assert "77" not in message
    texts = np.full(n, "red")
    texts[[1, n - 1]] = "mauve"
    message = refused(mw.DataError, f"in 2 of {n} rows, first in row 1;", lambda: TEXT.mask(texts))
    assert "'red', 'green', 'blue'" in message
    values[[1, n - 1]] = -1
    refused(mw.DataError, "in 2 of", lambda: COUNT.mask(values))


def test_many_labels_are_not_all_listed() -> None:
    message = refused(mw.DataError, "10000 in all", lambda: mw.designs.direct(10_000).mask([-1]))
    assert len(message) < 300


@pytest.mark.parametrize(
    "values",
    [
        "red",
        b"red",
        {"a": 1},
        3,
        None,
        object(),
        np.zeros((2, 2), int),
        np.array(["red"]).reshape(1, 1),
        {"a": ["red"], "b": ["red"]},
        pd.DataFrame({"a": ["red"], "b": ["red"]}),
        pl.DataFrame({"a": ["red"], "b": ["red"]}),
        pl.LazyFrame({"a": ["red"], "b": ["red"]}),
        pa.table({"a": ["red"], "b": ["red"]}),
        [["red"]],
        [1, "red"],
        [1.5],
        [Decimal("1")],
        np.array(["2020-01-01"], "datetime64[D]"),
        [complex(1, 2)],
    ],
    ids=lambda values: type(values).__name__,
)
def test_what_is_no_column_of_labels(values: Any) -> None:
    refused(mw.DataError, "values", lambda: TEXT.mask(values))
    refused(mw.DataError, "values", lambda: COUNT.mask(values))


@given(st.lists(st.integers(0, 4), max_size=30))
def test_masking_leaves_the_values_alone(codes: list[int]) -> None:
    values = np.array(codes, np.int64)
    before = values.copy()
    COUNT.mask(values)
    assert (values == before).all()
    values.flags.writeable = False
    assert len(COUNT.mask(values)) == len(codes)


def test_reports_do_not_hold_the_values() -> None:
    """Nothing that reports carry refers to the column that they came from."""
    values = values_for(TEXT, 50)
    reports = TEXT.mask(values)
    assert set(vars(reports)) == {"design", "packed", "missing", "randomness", "question", "run"}
    assert not np.shares_memory(mw.designs.direct(5).mask(ORDER.astype(np.uint8)).packed, ORDER)


def test_truth_values_are_told_what_to_declare() -> None:
    design = mw.designs.direct(["yes", "no"])
    with pytest.raises(mw.DataError, match=r"of truth values: declare true,false"):
        design.mask([True, False])
    assert len(mw.designs.direct(["true", "false"]).mask([True, False])) == 2
