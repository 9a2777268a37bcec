"""Microdata files come out as they went in: codes, labels, order, formats, spelling and kinds of missing values."""

import dataclasses
import datetime
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maskwell as mw
from maskwell.microdata import READABLE, Microdata, Variable, read, write
from maskwell.microdata.labelled.code_gaps import code_gaps, gap_warnings
from maskwell.microdata.text import writer
from maskwell.microdata.text.reader import read_text
from maskwell.microdata.text.writer import write_text


def mixed() -> pa.Table:
    """A column of every kind that all formats can hold."""
    moments = [
        datetime.datetime(2020, 1, 2, 3, 4, 5),
        None,
        datetime.datetime(1900, 1, 1),
        datetime.datetime(1999, 12, 31),
    ]
    return pa.table(
        {
            "sex": pa.DictionaryArray.from_arrays(pa.array([1, 0, None, 1]), pa.array(["male", "female", "other"])),
            "age": pa.array([3, 40, None, 101], pa.int64()),
            "weight": [1.5, 2.25, None, -1e-9],
            "name": ["a", "bé", None, "x" * 3000],
            "born": [datetime.date(2020, 1, 2), None, datetime.date(1900, 1, 1), datetime.date(1999, 12, 31)],
            "seen": pa.array(moments, pa.timestamp("us")),
            "big": pa.array([2**40, 1, 2, 3]),
        }
    )


@pytest.mark.parametrize("suffix", READABLE)
def test_a_file_is_written_as_it_was_read(tmp_path: Path, suffix: str) -> None:
    first, second = tmp_path / f"first{suffix}", tmp_path / f"second{suffix}"
    write(mixed(), first)
    found = read(first)
    assert found.names == mixed().column_names
    for name in ("sex", "age", "name", "weight", "big"):
        assert found.table.column(name).to_pylist() == mixed().column(name).to_pylist()
    write(found, second)
    assert second.read_bytes() == first.read_bytes()
    assert read(second).table.equals(found.table)


@pytest.mark.parametrize("target", [".dta", ".sav", ".zsav", ".parquet", ".arrow"])
@pytest.mark.parametrize("source", [".dta", ".sav", ".parquet"])
def test_dates_and_category_order_survive_a_change_of_format(tmp_path: Path, source: str, target: str) -> None:
    write(mixed(), tmp_path / f"a{source}")
    write(read(tmp_path / f"a{source}"), tmp_path / f"b{target}")
    found = read(tmp_path / f"b{target}").table
    assert found.column("sex").chunk(0).dictionary.to_pylist() == ["male", "female", "other"]
    assert found.column("born").to_pylist() == mixed().column("born").to_pylist()
    assert found.column("seen").to_pylist() == mixed().column("seen").to_pylist()


# CSV


@pytest.mark.parametrize(
    "text",
    [
        b"a,b\n1,x\n2,y\n",
        b"a,b\r\n1,x\r\n2,y\r\n",
        b"a,b\n1,x\n2,y",
        b"\xef\xbb\xbfa;b\n007;1.50\n012;NA\n",
        b'a,"b ""c"""\n"1",",\n"\n2,"say ""hi"""\n',
        "a\tb\n\u00e9\t\n\t\u00fc\n".encode("latin-1"),
        b"\xff\xfe" + "a,b\n\u00e9,1\n".encode("utf-16-le"),
        b"only\n1\n\n2\n",
        b'a,b\n"",\n,"x"\n',
        b"a,b\n1e5,+1\n1E05,-0\n",
    ],
)
def test_csv_comes_out_as_it_went_in(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "a.csv").write_bytes(text)
    write(read(tmp_path / "a.csv"), tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_bytes() == text


CELLS = st.text(st.sampled_from('a1.-e,;"\n\té '), max_size=6)


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=20), st.sampled_from(",;\t|"), st.booleans())
def test_any_csv_comes_out_as_it_went_in(rows: list[Any], delimiter: str, always: bool) -> None:
    def cell(value: str) -> str:
        needed = always or any(c in value for c in ',;\t|"\n')
        return '"' + value.replace('"', '""') + '"' if needed else value

    lines = [delimiter.join(("x", "y")), *(delimiter.join((cell(a), cell(b))) for a, b in rows)]
    text = ("\n".join(lines) + "\n").encode()
    found = read_text(io.BufferedReader(io.BytesIO(text)), "a.csv")
    written = io.BytesIO()
    write_text(found, written, ",", compressed=False)
    assert written.getvalue() == text
    for name, column in zip("xy", zip(*rows, strict=True), strict=True):
        values = found.table.column(name).to_pylist()
        if pa.types.is_string(found.table.column(name).type.value_type):
            assert values == [value or None for value in column]
        else:
            assert all(v is None or v == float(c) for v, c in zip(values, column, strict=True))


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["7", "10", "-3"], pa.int64()),
        (["7", "1.50", "2e3"], pa.float64()),
        (["7", "NA", "", "."], pa.int64()),
        (["007", "010"], pa.string()),
        (["7", "NA", "x"], pa.string()),
        (["+7", "8"], pa.string()),
        (["12345678901234567890"], pa.string()),
        (["NA", "DE"], pa.string()),
        (["", "NA"], pa.string()),
    ],
)
def test_plain_numbers_alone_are_numbers(tmp_path: Path, cells: list[str], kind: Any) -> None:
    (tmp_path / "a.csv").write_text("x,y\n" + "".join(f"{cell},0\n" for cell in cells))
    column = read(tmp_path / "a.csv").table.column("x")
    assert column.type.value_type == kind


def test_texts_that_mean_missing_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n?,1\nN,N\na,2\n")
    told = read(tmp_path / "a.csv", na=["?", "N"]).table
    assert told.column("x").to_pylist() == [None, None, "a"]
    assert told.column("y").to_pylist() == [1, None, 2]


# Stata and SPSS


def stata_file(path: Path) -> pd.DataFrame:
    """Labels for all, for some and for none of the values; two kinds of missing values; storage types."""
    frame = pd.DataFrame(
        {
            "age": [10.0, "a", 20.0, "b", np.nan, 30.0],
            "sex": [1.0, 2.0, 1.0, "a", 2.0, np.nan],
            "same": [1, 2, 3, 1, 2, 3],
            "part": [1, 2, 3, 4, 5, 6],
            "text": ["aa", "", "b", "c", "d", "é"],
            "quarter": [60.0, 61.0, 62.0, 63.0, 64.0, 65.0],
        }
    )
    labels = {
        "sex": {2: "female", 1: "male", "a": "refused"},
        "same": {1: "x", 2: "x", 3: "y"},
        "age": {"a": "refused", "b": "unknown"},
        "part": {1: "one", 6: "six"},
    }
    pyreadstat.write_dta(
        frame,
        path,
        file_label="a file",
        column_labels={"age": "Age in years"},
        variable_value_labels=labels,
        missing_user_values={"age": ["a", "b"], "sex": ["a"]},
        variable_format={"quarter": "%tq", "age": "%6.0f"},
    )
    return frame


def described(path: Path) -> tuple[Any, dict[str, Any]]:
    """What pyreadstat makes of a file, but for times of writing."""
    reader = pyreadstat.read_dta if path.suffix == ".dta" else pyreadstat.read_sav
    data, meta = reader(path, output_format="dict", user_missing=True)
    skipped = ("creation_time", "modification_time")
    return dict(data), {name: value for name, value in vars(meta).items() if name not in skipped}


def test_stata_keeps_codes_labels_formats_and_kinds_of_missing_values(tmp_path: Path) -> None:
    stata_file(tmp_path / "a.dta")
    found = read(tmp_path / "a.dta")
    assert found.table.column("sex").chunk(0).dictionary.to_pylist() == ["male", "female", "refused"]
    assert found.table.column("age").to_pylist() == [10, None, 20, None, None, 30]
    assert found.table.column("same").to_pylist() == [1, 2, 3, 1, 2, 3]
    assert found.table.column("part").to_pylist() == [1, 2, 3, 4, 5, 6]
    assert dict(found.variable("part").value_labels) == {1: "one", 6: "six"}
    write(found, tmp_path / "b.dta")
    assert described(tmp_path / "b.dta") == described(tmp_path / "a.dta")


def test_numbers_of_four_bytes_that_stata_takes_for_missing_are_stored_in_eight(tmp_path: Path) -> None:
    cells = np.array([2.0**127, -3e38, 1.5], np.float32)
    file = tmp_path / "large.dta"
    write(Microdata(pa.table({"x": cells}), "csv"), file)
    frame, meta = pyreadstat.read_dta(file)
    assert frame["x"].tolist() == cells.tolist()
    assert meta.readstat_variable_types["x"] == "double"


@pytest.mark.parametrize("version", [8, 10, 12, 13, 14, 15])
def test_stata_files_of_all_versions_keep_their_storage_types(tmp_path: Path, version: int) -> None:
    if version in (10, 13, 14):
        frame = pd.DataFrame(
            {
                "xbyte": np.array([1, 100, -127], np.int8),
                "xint": np.array([1, 32740, -5], np.int16),
                "xlong": np.array([1, 2147483620, -5], np.int32),
                "xfloat": np.array([0.1, np.nan, 3], np.float32),
                "xdouble": [0.1, np.nan, 3.0],
                "text": ["a", "bb", ""],
            }
        )
        frame.to_stata(tmp_path / "a.dta", write_index=False, version={10: 114, 13: 117, 14: 118}[version])
    else:
        pyreadstat.write_dta(pd.DataFrame({"x": [1, 2], "y": [0.5, 2]}), tmp_path / "a.dta", version=version)
    write(read(tmp_path / "a.dta"), tmp_path / "b.dta")
    pd.testing.assert_frame_equal(pd.read_stata(tmp_path / "a.dta"), pd.read_stata(tmp_path / "b.dta"))
    types = [described(tmp_path / f"{name}.dta")[1]["readstat_variable_types"] for name in "ab"]
    assert types[0] == types[1]


def test_spss_keeps_codes_labels_measures_and_missing_ranges(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "age": [10.0, 98, 20, 99, np.nan, 30],
            "sex": [1.0, 2, 1, 9, 2, np.nan],
            "income": [1.0, 2, 3, -5, -99, 4],
            "text": ["aa", "", "b", "c", "d", "e"],
        }
    )
    pyreadstat.write_sav(
        frame,
        tmp_path / "a.sav",
        file_label="a file",
        note="a note",
        row_compress=True,
        column_labels={"age": "Age in years"},
        variable_value_labels={"sex": {2.0: "female", 1.0: "male", 9.0: "refused"}, "text": {"aa": "Alpha"}},
        missing_ranges={"age": [98, 99], "sex": [9], "income": [{"lo": -99, "hi": -1}], "text": ["e"]},
        variable_measure={"sex": "nominal", "age": "scale"},
        variable_display_width={"sex": 12},
        variable_format={"age": "F3.0", "text": "A2"},
    )
    found = read(tmp_path / "a.sav")
    assert found.table.column("sex").to_pylist() == ["male", "female", "male", "refused", "female", None]
    assert found.table.column("age").to_pylist() == [10, None, 20, None, None, 30]
    assert found.table.column("income").to_pylist() == [1, 2, 3, None, None, 4]
    assert found.table.column("text").to_pylist() == ["aa", None, "b", "c", "d", None]
    write(found, tmp_path / "b.sav")
    assert described(tmp_path / "b.sav") == described(tmp_path / "a.sav")


def test_moved_rows_take_their_codes_along(tmp_path: Path) -> None:
    frame = stata_file(tmp_path / "a.dta")
    found = read(tmp_path / "a.dta")
    order = [3, 2, 1, 0, 5, 4]
    write(found.with_table(found.table.take(order)), tmp_path / "b.dta")
    data, _ = described(tmp_path / "b.dta")
    expected = [frame["age"][i] for i in order]
    assert [None if v != v else v for v in expected] == data["age"]


# Parquet


def test_parquet_keeps_order_flags_and_what_pandas_and_polars_wrote(tmp_path: Path) -> None:
    size = pd.Categorical(["small", "large", "small"], ["small", "medium", "large"], ordered=True)
    frame = pd.DataFrame({"size": size, "n": pd.array([1, None, 3], "Int64")}, index=["x", "y", "z"])
    frame.to_parquet(tmp_path / "a.parquet")
    write(read(tmp_path / "a.parquet"), tmp_path / "b.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "b.parquet"), frame)
    levels = pl.DataFrame({"size": pl.Series(["small", "large"], dtype=pl.Enum(["small", "medium", "large"]))})
    levels.write_parquet(tmp_path / "c.parquet")
    write(read(tmp_path / "c.parquet"), tmp_path / "d.parquet")
    assert pl.read_parquet(tmp_path / "d.parquet").schema == levels.schema


def test_the_categories_of_row_groups_are_one_column(tmp_path: Path) -> None:
    chunks = [pa.array(part).dictionary_encode() for part in (["b", "a"], ["c", "b"])]
    pq.write_table(pa.table({"x": pa.chunked_array(chunks)}), tmp_path / "a.parquet", row_group_size=2)
    column = read(tmp_path / "a.parquet").table.column("x")
    assert column.num_chunks == 1
    assert column.to_pylist() == ["b", "a", "c", "b"]


def test_what_pandas_notes_is_of_the_columns_that_are_left(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": pd.Categorical(["a", "b", "c"]), "n": [1, 2, 3], "person": list("pqr")})
    frame.set_index("person").to_parquet(tmp_path / "a.parquet")
    found = read(tmp_path / "a.parquet").without(["person"])
    changed = found.table.set_column(0, "x", found.table.column("x").take(pa.array([1, 1, 0])))
    write(found.with_table(changed), tmp_path / "b.parquet")
    notes = pq.read_schema(tmp_path / "b.parquet").metadata[b"pandas"]
    assert b"person" not in notes
    assert b'"num_categories": 2' in notes
    assert pd.read_parquet(tmp_path / "b.parquet")["x"].tolist() == ["b", "b", "a"]


@pytest.mark.parametrize("suffix", ["dta", "sav"])
@pytest.mark.parametrize("codebook", [False, True])
def test_labels_that_follow_from_the_values_do_not_outlive_them(tmp_path: Path, suffix: str, codebook: bool) -> None:
    """A label that nobody has any more would prove that somebody had it, unless the file had such labels before."""
    labels = ["north", "east", "south", *(["sea"] if codebook else [])]
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(labels))
    write(pa.table({"area": column, "x": [1, 2, 3, 4]}), tmp_path / f"before.{suffix}")
    file = read(tmp_path / f"before.{suffix}")
    moved = file.table.set_column(0, "area", file.table.column("area").take(pa.array([0, 0, 2, 0])))
    write(file.with_table(moved), tmp_path / f"after.{suffix}")
    after = read(tmp_path / f"after.{suffix}")
    assert after.values("area").to_pylist() == ["north", "north", "south", "north"]
    kept = {"north", "south"} if not codebook else set(labels)
    assert set(after.variable("area").value_labels.values()) == kept
    codes = {label: code for code, label in after.variable("area").value_labels.items()}
    assert (codes["north"], codes["south"]) == (1, 3)
    write(file.with_table(moved), tmp_path / "after.parquet")
    assert set(read(tmp_path / "after.parquet").table.column("area").chunk(0).dictionary.to_pylist()) == kept


@pytest.mark.parametrize("suffix", ["dta", "sav"])
@pytest.mark.parametrize(
    ("taken", "codebook", "gaps"),
    [
        ([0, 0, 2, 3], False, {"area": 1}),
        ([0, 0, 3, 3], False, {"area": 2}),
        ([0, 0, 3, 3], True, {}),
        ([0, 1, 2, 2], False, {}),
        ([1, 1, 2, 3], False, {}),
        ([0, 1, 2, 3], False, {}),
    ],
    ids=["inside", "two", "codebook", "last", "first", "none"],
)
def test_codes_of_vanished_categories_that_leave_a_gap_are_told(
    tmp_path: Path, suffix: str, taken: list[int], codebook: bool, gaps: dict[str, int]
) -> None:
    labels = ["north", "east", "south", "west", *(["sea"] if codebook else [])]
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), pa.array(labels))
    write(pa.table({"area": column, "x": [1, 2, 3, 4]}), tmp_path / f"before.{suffix}")
    file = read(tmp_path / f"before.{suffix}")
    moved = file.with_table(file.table.set_column(0, "area", file.table.column("area").take(pa.array(taken))))
    assert code_gaps(file, moved) == gaps
    words = gap_warnings(file, moved)
    assert len(words) == len(gaps)
    # Neither the label nor the code of the category that vanished is named.
    assert not any(label in text for label in labels for text in words)
    assert all("'area'" in text and "codebook" in text for text in words)


def test_codes_that_had_gaps_before_tell_nothing_new() -> None:
    table = pa.table({"x": [1.0, 5.0, 9.0]})
    before = Microdata(table, "stata", {"x": Variable(value_labels={1.0: "a", 5.0: "b", 9.0: "c"})})
    after = dataclasses.replace(before, variables={"x": Variable(value_labels={1.0: "a", 9.0: "c"})})
    assert code_gaps(before, after) == {}


@pytest.mark.parametrize("suffix", ["dta", "sav"])
def test_labels_of_some_values_do_not_outlive_them(tmp_path: Path, suffix: str) -> None:
    table = pa.table({"x": [1.0, 2.0, 11.0, 12.0]})
    write(table, tmp_path / f"plain.{suffix}")
    plain = read(tmp_path / f"plain.{suffix}")
    variable = dataclasses.replace(plain.variable("x"), value_labels={1.0: "one", 11.0: "eleven"})
    write(dataclasses.replace(plain, variables={"x": variable}), tmp_path / f"before.{suffix}")
    file = read(tmp_path / f"before.{suffix}")
    moved = file.table.set_column(0, "x", file.table.column("x").take(pa.array([0, 1, 1, 3])))
    write(file.with_table(moved), tmp_path / f"after.{suffix}")
    assert set(read(tmp_path / f"after.{suffix}").variable("x").value_labels.values()) == {"one"}


def test_entries_that_a_filter_left_behind_do_not_keep_the_order_of_the_rows(tmp_path: Path) -> None:
    encoded = pa.array(["q", "a", "z", "m", "b", "gone"]).dictionary_encode().slice(0, 5)
    write(pa.table({"x": encoded}), tmp_path / "a.parquet")
    file = read(tmp_path / "a.parquet")
    write(file.with_table(file.table.take(pa.array([4, 3, 2, 1, 0]))), tmp_path / "b.parquet")
    entries = read(tmp_path / "b.parquet").table.column("x").chunk(0).dictionary.to_pylist()
    assert entries == ["b", "m", "z", "a", "q"]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_a_dictionary_does_not_tell_the_values_before_a_change(tmp_path: Path, suffix: str) -> None:
    declared = pa.DictionaryArray.from_arrays([0, 1, 1, None], ["z", "y", "never"])
    ordered = pa.DictionaryArray.from_arrays([0, 1, 2, 1], ["low", "middle", "high"], ordered=True)
    encoded = pa.array(["q", "a", "z", None]).dictionary_encode()
    write(pa.table({"x": encoded, "kept": encoded, "d": declared, "o": ordered}), tmp_path / f"a{suffix}")
    found = read(tmp_path / f"a{suffix}")
    changed = found.table.set_column(0, "x", found.table.column("x").take(pa.array([1, 1, 0, 3])))
    changed = changed.set_column(2, "d", changed.column("d").take(pa.array([1, 1, 1, 3])))
    changed = changed.set_column(3, "o", changed.column("o").take(pa.array([2, 0, 0, 0])))
    write(found.with_table(changed), tmp_path / f"b{suffix}")
    table = read(tmp_path / f"b{suffix}").table
    assert table.column("x").to_pylist() == ["a", "a", "q", None]
    entries = {name: table.column(name).chunk(0).dictionary.to_pylist() for name in table.column_names}
    assert entries == {"x": ["a", "q"], "kept": ["q", "a", "z"], "d": ["z", "y", "never"], "o": ["low", "high"]}
    assert table.schema.types == found.table.schema.types


def test_text_is_written_in_parts_of_bounded_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the length of its cells and the number of its columns, and the file is the same."""
    texts = [f'open "answer" {i} ' * (i % 50) for i in range(500)]
    table = pa.table({"text": texts, "number": range(500), "category": pa.array(texts).dictionary_encode()})
    write(table, tmp_path / "whole.csv")
    write(read(tmp_path / "whole.csv"), tmp_path / "again.csv")
    sizes: list[int] = []
    real = writer._joined

    def joined(cells: Any, layout: Any) -> bytes:
        block = real(cells, layout)
        sizes.append(len(block))
        return block

    monkeypatch.setattr(writer, "_joined", joined)
    monkeypatch.setattr(writer, "_BYTES", 20_000)
    write(table, tmp_path / "parts.csv")
    write(read(tmp_path / "whole.csv"), tmp_path / "parts again.csv")
    assert len(sizes) > 20
    assert max(sizes) <= 20_000
    parts = {(tmp_path / name).read_bytes() for name in ("whole.csv", "again.csv", "parts.csv", "parts again.csv")}
    assert len(parts) == 1


@pytest.mark.parametrize("values", [[1, "1"], [True, "True"], [1, None, "NA"]])
def test_values_of_several_types_are_refused(tmp_path: Path, values: list[Any]) -> None:
    """In a CSV file they would be one."""
    for table in ({"a": values}, pd.DataFrame({"a": values}), pd.DataFrame({"a": pd.Categorical(values)})):
        for suffix in (".csv", ".parquet"):
            with pytest.raises(mw.DataError, match="no one type can hold"):
                write(table, tmp_path / f"mixed{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_views_of_text_are_written(tmp_path: Path, suffix: str) -> None:
    """As Polars hands them over; compressed as they are, they end the process with an old pyarrow."""
    table = pa.table({"town": pa.array(["Ulm", None, "Aue"]).cast(pa.string_view())})
    write(table, tmp_path / f"towns{suffix}")
    assert read(tmp_path / f"towns{suffix}").table.column("town").to_pylist() == ["Ulm", None, "Aue"]
