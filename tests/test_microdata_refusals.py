"""Microdata files that are damaged, or that a format cannot hold: one clear line, no cell, and nothing left."""

import gzip
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from maskwell.errors import DataError
from maskwell.microdata import READABLE, Microdata, read, write

SECRET = "Zyzzyva-7"


def small(path: Path) -> bytes:
    write(pa.table({"x": [1.0, 2.0, 3.0] * 200, "y": [SECRET, "b", "c"] * 200}), path)
    return path.read_bytes()


@pytest.mark.parametrize("suffix", [s for s in READABLE if s not in (".csv", ".tsv")])
@pytest.mark.parametrize("harm", ["cut", "noise", "empty", "other"])
def test_damaged_files_are_refused_in_one_line(tmp_path: Path, suffix: str, harm: str) -> None:
    path = tmp_path / f"a{suffix}"
    data = small(path)
    spoiled = {
        "cut": data[: len(data) * 2 // 3],
        "noise": b"\x93\x01\x02" * 400,
        "empty": b"",
        "other": b"PK\x03\x04" * 9,
    }
    path.write_bytes(spoiled[harm])
    with pytest.raises(DataError) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    assert SECRET not in str(caught.value)
    assert path.name in str(caught.value)


@pytest.mark.parametrize(("place", "byte"), [(180, 5), (194, 1), (384, 69), (385, 1)])
def test_a_dictionary_that_brings_the_parser_down_is_refused(tmp_path: Path, place: int, byte: int) -> None:
    """A labelled number that claims to be text, or is shown as text; labels of a variable that is not there."""
    path = tmp_path / "a.sav"
    sex = pa.array(["m", "f"] * 50).dictionary_encode()
    write(pa.table({"sex": sex, "x": [1.5, None] * 50, "i": range(100), "s": [SECRET, "b"] * 50}), path)
    data = bytearray(path.read_bytes())
    data[place] = byte
    path.write_bytes(data)
    with pytest.raises(DataError, match="damaged"):
        read(path)


@pytest.mark.parametrize(
    ("text", "about"),
    [
        (b"", "is empty"),
        (b"a,b\n", "no rows"),
        (b"a,a\n1,2\n", "column number 2"),
        (b"a,b\n1,2\n1,2,3\n", "3 cells in data row 2"),
        (b'a,b\n1,"2\n3,4\n', "left open"),
        (b'a,b\n1,2"3"\n3,4\n', "line 2"),
        (b"a,b\n1,\x002\n", "not text"),
    ],
)
def test_bad_csv_is_refused_without_a_cell(tmp_path: Path, text: bytes, about: str) -> None:
    (tmp_path / "a.csv").write_bytes(text)
    with pytest.raises(DataError, match=about):
        read(tmp_path / "a.csv")


def test_missing_files_and_suffixes(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="was not found"):
        read(tmp_path / "a.dta")
    with pytest.raises(DataError, match="must end in"):
        read(tmp_path / "a.xlsx")
    with pytest.raises(DataError, match="no folder"):
        write({"x": [1, 2], "y": ["a", "b"]}, tmp_path / "no" / "a.dta")
    with pytest.raises(DataError, match="twice"):
        write(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"]), tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "table", "about"),
    [
        ("a.dta", {"marital-status": [1]}, "'marital-status' cannot be named so in Stata"),
        ("a.dta", {"x" * 33: [1]}, "32 letters"),
        ("a.dta", {"if": [1]}, "rename"),
        ("a.dta", {"x": [2**60]}, "beyond 2\\^53"),
        ("a.dta", {"x": pa.array([2**63 + 1], pa.uint64())}, "beyond 2\\^53"),
        ("a.dta", {"x": [1e308, None]}, "takes for missing"),
        ("a.dta", {"x": [float("inf")]}, "infinite"),
        ("a.dta", {"x": [[1]]}, "cannot hold"),
        ("a.sav", {"1x": [1]}, "cannot be named so in SPSS"),
        ("a.sav", {"x": [1], "X": [2]}, "one name in SPSS"),
        ("a.sav", {"x": ["y" * 40_000]}, "32,767 bytes"),
        ("a.sav", {"x": pa.array(["y" * 121]).dictionary_encode()}, "120 bytes"),
        ("a.csv", {"x": [[1]]}, "CSV cannot hold"),
    ],
)
def test_what_a_format_cannot_hold_is_named(tmp_path: Path, name: str, table: Any, about: str) -> None:
    with pytest.raises(DataError, match=about):
        write(pa.table(table), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    write({"x": [1, 2], "y": ["a", "b"]}, tmp_path / "a.dta")
    before = (tmp_path / "a.dta").read_bytes()
    with pytest.raises(DataError):
        write(pa.table({"not a name": [1]}), tmp_path / "a.dta")
    assert (tmp_path / "a.dta").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["a.dta"]


def test_gzip_holds_no_time(tmp_path: Path) -> None:
    write(pa.table({"x": [1]}), tmp_path / "a.csv.gz")
    data = (tmp_path / "a.csv.gz").read_bytes()
    assert gzip.decompress(data) == b"x\n1\n"
    assert data[4:8] == bytes(4)


def test_neither_pandas_nor_polars_is_needed(tmp_path: Path) -> None:
    script = f"""
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pandas", "polars"):
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Blocked())
from maskwell.microdata import read, write
import pyarrow as pa
for suffix in {READABLE!r}:
    path = {str(tmp_path)!r} + "/a" + suffix
    write(pa.table({{"x": ["a", None], "y": [1, 2]}}), path)
    assert read(path).table.column("y").to_pylist() == [1, 2]
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_a_new_table_must_fit(tmp_path: Path) -> None:
    found = Microdata(pa.table({"x": [1], "y": ["a"]}), "arrow")
    with pytest.raises(DataError, match="columns of the file"):
        found.with_table(found.table.select(["x"]))
