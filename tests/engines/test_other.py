"""Labels that no design knows: counted as the category that says so, by every engine."""

import pickle

import numpy as np
import pyarrow as pa
import pytest

import maskwell as mw

PAGES = ["home", "help", "(other)"]
DESIGN = mw.designs.direct(PAGES)
TABLE = pa.table({"device": [1, 2, 3, 4, 5], "page": ["home", "new", "help", "newer", "home"]})
KEYED = {"id": "device", "key": bytes(32), "survey": "s"}


def test_unknown_labels_count_as_the_named_category() -> None:
    masked = mw.engines.mask(TABLE, {"page": DESIGN}, other={"page": "(other)"}, **KEYED)
    assert masked.column("page").to_pylist() == [0, 2, 1, 2, 0]


def test_lazy_engines_and_pickles_take_it_along() -> None:
    import duckdb
    import polars as pl

    frame = pl.from_arrow(TABLE)
    assert isinstance(frame, pl.DataFrame)
    masked = mw.engines.mask(frame.lazy(), {"page": DESIGN}, other={"page": "(other)"}, **KEYED)
    assert masked.collect()["page"].to_list() == [0, 2, 1, 2, 0]
    masking = mw.engines.Masking({"page": DESIGN}, other={"page": "(other)"}, **KEYED)
    (batch,) = TABLE.to_batches()
    assert pickle.loads(pickle.dumps(masking))(batch).column("page").to_pylist() == [0, 2, 1, 2, 0]
    assert masking.request() != mw.engines.Masking({"page": DESIGN}, **KEYED).request()
    connection = duckdb.connect()
    connection.register("events", TABLE)
    options = {"key": bytes(32), "survey": "s", "column": "page", "other": "(other)"}
    mw.engines.duckdb_function(connection, "mask_page", DESIGN, **options)
    assert connection.sql("select mask_page(device, page) from events").fetchall() == [(0,), (2,), (1,), (2,), (0,)]


def test_numbers_and_gaps() -> None:
    design = mw.designs.direct(3)
    table = pa.table({"page": pa.array([0, 7, None, 1, 2**40], pa.int64())})
    masked = mw.engines.mask(table, {"page": design}, other={"page": 2}, missing="keep")
    assert masked.column("page").to_pylist() == [0, 2, None, 1, 2]
    whole = pa.table({"page": np.array([0, 9, 1])})
    assert mw.engines.mask(whole, {"page": design}, other={"page": 2}).column("page").to_pylist() == [0, 2, 1]


@pytest.mark.parametrize("other", [{"page": "elsewhere"}, {"country": "(other)"}])
def test_it_names_a_masked_column_and_one_of_its_categories(other: dict[str, str]) -> None:
    with pytest.raises(mw.DataError, match="other"):
        mw.engines.mask(TABLE, {"page": DESIGN}, other=other)
