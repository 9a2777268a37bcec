"""The contract on record batches, and Arrow in memory: what comes out, what is refused, what is never shown."""

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import maskwell as mw
from maskwell.engines import Counting, Masking
from tests.engines.sources import DESIGNS, KEY, KEYED, PEOPLE, REPORTS, TALLIES, assert_same_reports, shows_key

BATCH = PEOPLE.combine_chunks().to_batches()[0]


def test_a_table_a_batch_and_a_reader_are_masked_alike() -> None:
    masked = mw.engines.mask(PEOPLE, DESIGNS, **KEYED)
    assert_same_reports(masked)
    assert isinstance(mw.engines.mask(BATCH, DESIGNS, **KEYED), pa.RecordBatch)
    reader = mw.engines.mask(PEOPLE.to_reader(max_chunksize=1000), DESIGNS, **KEYED)
    assert isinstance(reader, pa.RecordBatchReader)
    assert reader.read_all().equals(masked)
    for source in (masked, masked.to_reader(max_chunksize=777), masked.combine_chunks().to_batches()[0]):
        assert mw.engines.tally(source, DESIGNS) == TALLIES


def test_tallies_say_how_their_reports_were_drawn() -> None:
    masked = mw.engines.mask(PEOPLE, DESIGNS, **KEYED)
    found = mw.engines.tally(masked, DESIGNS)["habit"]
    assert (found.randomness, found.question) == ("keyed", "health 2026/habit")
    plain = mw.engines.tally(masked.replace_schema_metadata(None), DESIGNS)["habit"]
    assert (plain.randomness, plain.question) == ("unknown", None)
    assert mw.engines.tally(mw.engines.mask(PEOPLE, DESIGNS), DESIGNS)["habit"].randomness == "secure"


def test_without_a_key_every_call_draws_afresh() -> None:
    first, second = (mw.engines.mask(PEOPLE, {"habit": DESIGNS["habit"]}) for _ in range(2))
    assert first.column_names == ["habit"]
    assert first["habit"] != second["habit"]


def test_masking_and_counting_go_to_other_processes() -> None:
    masking = Masking(DESIGNS, **KEYED)
    again = pickle.loads(pickle.dumps(masking))
    assert again(BATCH).equals(masking(BATCH))
    assert again is pickle.loads(pickle.dumps(masking))  # built once in a process
    counting = pickle.loads(pickle.dumps(Counting(DESIGNS)))
    assert counting.total(map(counting, again.map([BATCH]))) == TALLIES


@pytest.mark.parametrize(
    ("changes", "about"),
    [
        ({"keep": ["habit"]}, "true values would stand beside"),
        ({"id": None}, "go together"),
        ({"survey": None}, "go together"),
        ({"survey": "a/b"}, "slash"),
        ({"key": b"short"}, "at least 16"),
        ({"id": "habit", "keep": ()}, "cannot be the id"),
        ({"keep": ["nowhere"]}, "no column 'nowhere'"),
        ({"missing": "drop"}, "missing must be"),
    ],
)
def test_a_wrong_request_is_refused(changes: dict[str, Any], about: str) -> None:
    with pytest.raises(mw.DataError, match=about) as caught:
        mw.engines.mask(PEOPLE, DESIGNS, **(KEYED | changes))
    assert not shows_key(str(caught.value))
    assert "short" not in str(caught.value)


@pytest.mark.parametrize("designs", [{}, [1], {"habit": "design"}, {"x": mw.designs.product(*DESIGNS.values())}])
def test_wrong_designs_are_refused(designs: Any) -> None:
    with pytest.raises(mw.MaskwellError):
        mw.engines.mask(PEOPLE, designs)


def test_a_source_of_another_kind_is_refused() -> None:
    with pytest.raises(mw.DataError, match="from_pandas"):
        mw.engines.mask({"habit": ["yes"]}, {"habit": DESIGNS["habit"]})


def test_a_wrong_cell_is_told_by_its_column_and_not_shown() -> None:
    table = pa.table({"habit": ["yes", "Zyzzyva-7", None]})
    with pytest.raises(mw.DataError, match=r"column 'habit'.*first in row 1") as caught:
        mw.engines.mask(table, {"habit": DESIGNS["habit"]})
    assert "Zyzzyva" not in str(caught.value)
    kept = mw.engines.mask(pa.table({"habit": ["yes", None]}), {"habit": DESIGNS["habit"]}, missing="keep")
    assert kept["habit"].null_count == 1
    assert mw.engines.tally(kept, {"habit": DESIGNS["habit"]})["habit"].missing == 1


def test_ids_that_repeat_across_batches_are_found() -> None:
    again = pa.concat_tables([PEOPLE, PEOPLE.slice(17, 1)])
    with pytest.raises(mw.DataError, match="1 of 30,001"):
        mw.engines.mask(again.to_reader(max_chunksize=5000), DESIGNS, **KEYED).read_all()
    assert mw.engines.repeated_ids(again, "person") == 1
    assert mw.engines.repeated_ids(PEOPLE, "person") == 0


def test_reports_that_the_design_cannot_have_made_are_not_counted() -> None:
    masked = mw.engines.mask(PEOPLE, DESIGNS, **KEYED)
    with pytest.raises(mw.ReportError, match="cannot produce"):
        mw.engines.tally(pa.table({"habit": pa.array([200], pa.uint8())}), {"habit": DESIGNS["habit"]})
    for column in (["yes"], [1.5], [-1]):
        with pytest.raises(mw.ReportError, match="column 'habit'"):
            mw.engines.tally(pa.table({"habit": column}), {"habit": DESIGNS["habit"]})
    with pytest.raises(mw.ReportError, match="another design"):
        mw.engines.tally(masked, {"habit": mw.plan(["yes", "no", "unsure"], mw.LDP(2))})


def test_widened_columns_are_counted_too() -> None:
    masked = mw.engines.mask(PEOPLE, DESIGNS, **KEYED).replace_schema_metadata(None)
    wide = {"habit": pa.int16(), "group": pa.int64(), "diet": pa.large_binary()}
    columns = {name: masked[name].cast(kind) for name, kind in wide.items()}
    assert mw.engines.tally(pa.table(columns), DESIGNS) == TALLIES


def test_the_key_stands_in_no_text() -> None:
    masking = Masking(DESIGNS, **KEYED)
    texts = [repr(masking), str(masking.__dict__), repr(vars(masking)["_secret"])]
    texts += [str(masking.schema(BATCH.schema)), str(masking(BATCH).schema.metadata)]
    assert not any(map(shows_key, texts))
    assert shows_key(pickle.dumps(masking))  # the one place; and proof that it would be found
    assert shows_key(KEY.hex())


@pytest.mark.parametrize("name", DESIGNS)
def test_a_tally_is_stored_and_read_back(name: str, tmp_path: Any) -> None:
    weights = np.linspace(0, 3, len(REPORTS[name]))
    for tally in (TALLIES[name], REPORTS[name].tally(weights), REPORTS[name].tally(patterns=True)):
        tally.write(tmp_path / "tally.json")
        again = mw.Tally.read(tmp_path / "tally.json")
        assert again == tally
        assert (again.randomness, again.question) == (tally.randomness, tally.question)
        assert np.array_equal(mw.estimate(again).proportions, mw.estimate(tally).proportions)
        if tally.kept_patterns is not None:
            assert np.array_equal(again.patterns.packed, tally.patterns.packed)


def test_a_tally_that_was_changed_is_refused(tmp_path: Any) -> None:
    path = tmp_path / "tally.json"
    TALLIES["habit"].write(path)
    text = path.read_text()
    for old, new in (
        ('"n": 30000', '"n": 30001'),
        ('"keyed"', '"secure"'),
        ('"version": 1', '"version": 2'),
        ("{", "["),
    ):
        assert old in text
        path.write_text(text.replace(old, new, 1))
        with pytest.raises(mw.ReportError):
            mw.Tally.read(path)
    with pytest.raises(mw.ReportError, match="stored as"):
        TALLIES["habit"].write(tmp_path / "tally.txt")
    with pytest.raises(mw.ReportError, match="cannot be read"):
        mw.Tally.read(tmp_path / "nowhere.json")
