"""Folders of parts are counted as their record lists them, and nobody is counted or masked twice."""

import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import maskwell as mw
from maskwell.engines import Masking, mask_file, mask_files, repeated_ids, tally
from maskwell.errors import MaskwellError

DESIGN = mw.designs.direct(["yes", "no"])
DESIGNS = {"habit": DESIGN}


def people(first: int, habit: str = "yes") -> pa.Table:
    return pa.table({"person": range(first, first + 100), "habit": [habit, "no"] * 50})


def keyed(*, integer_ids: bool = False) -> Masking:
    return Masking(DESIGNS, id="person", key=bytes(range(32)), survey="s", integer_ids=integer_ids)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    pq.write_table(people(0), tmp_path / "in" / "a.parquet")
    pq.write_table(people(100, "no"), tmp_path / "in" / "b.parquet")
    return tmp_path / "in"


@pytest.fixture
def out(source: Path) -> Path:
    folder = source.parent / "out"
    assert mask_files(source, folder, keyed()).rows == 200
    return folder


@pytest.mark.parametrize("name", ["_a.parquet", ".a.parquet"])
def test_parts_with_hidden_names_are_counted(source: Path, name: str) -> None:
    (source / "a.parquet").rename(source / name)
    folder = source.parent / "out"
    assert mask_files([source / name, source / "b.parquet"], folder, keyed()).rows == 200
    assert tally(folder, DESIGNS)["habit"].n == 200


def test_a_folder_is_read_in_every_format(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    pq.write_table(people(0), tmp_path / "in" / "a.parquet")
    pq.write_table(people(100), tmp_path / "in" / "b.pq")
    feather.write_feather(people(200), tmp_path / "in" / "c.ipc")
    assert mask_files(tmp_path / "in", tmp_path / "out", keyed()).rows == 300
    assert tally(tmp_path / "out", DESIGNS)["habit"].n == 300
    (tmp_path / "out" / "b.parquet").rename(tmp_path / "b.pq")
    assert tally(tmp_path / "b.pq", DESIGNS)["habit"].n == 100


def test_a_part_that_the_record_does_not_list_is_refused(out: Path) -> None:
    shutil.copy(out / "a.parquet", out / "zz.parquet")
    for named in (out, str(out / "*.parquet"), sorted(out.glob("*.parquet"))):
        with pytest.raises(mw.ReportError, match=r"'zz.parquet' in 'out' is no part"):
            tally(named, DESIGNS)
    with pytest.raises(mw.DataError, match=r"'zz\.parquet' that no run has recorded"):
        mask_files(out.parent / "in", out, keyed())
    (out / "zz.parquet").unlink()
    assert tally(out, DESIGNS)["habit"].n == 200


def test_the_record_is_found_from_anywhere(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(out / "a.parquet", out / "zz.parquet")
    (out.parent / "far" / "away").mkdir(parents=True)
    (out.parent / "link").symlink_to(out.parent / "far" / "away")
    (out.parent / "far" / "out").symlink_to(out)
    for where, named in ((out, "."), (out, "zz.parquet"), (out.parent, "link/../out"), (out.parent / "far", "out")):
        monkeypatch.chdir(where)
        with pytest.raises(mw.ReportError, match="is no part"):
            tally([named, str(Path(named).parent / "a.parquet")] if named.startswith("zz") else named, DESIGNS)


def test_a_part_that_is_gone_or_was_replaced_is_refused(out: Path) -> None:
    shutil.copy(out / "a.parquet", out / "b.parquet")
    for named in (out, str(out / "*.parquet"), out / "b.parquet"):
        with pytest.raises(mw.ReportError, match=r"'b.parquet' in 'out' is not the part"):
            tally(named, DESIGNS)
    with pytest.raises(mw.DataError, match=r"'b.parquet' in 'out' is not the part"):
        mask_files(out.parent / "in", out, keyed())
    (out / "b.parquet").unlink()
    with pytest.raises(mw.ReportError, match="1 of 2 parts"):
        tally(out, DESIGNS)
    assert mask_files(out.parent / "in", out, keyed()).written == 1
    assert tally(out, DESIGNS)["habit"].n == 200


def test_a_partition_is_counted_with_all_its_parts(tmp_path: Path) -> None:
    (tmp_path / "in" / "region=north").mkdir(parents=True)
    for name, table in {"a": people(0), "b": people(100, "no")}.items():
        pq.write_table(table, tmp_path / "in" / "region=north" / f"{name}.parquet")
    masking = Masking(DESIGNS, keep=["region"])
    mask_files(tmp_path / "in", tmp_path / "out", masking)
    north = tmp_path / "out" / "region=north"
    assert tally(north, DESIGNS)["habit"].n == 200
    (north / "a.parquet").unlink()
    with pytest.raises(mw.ReportError, match=r"lacks its part 'region=north/a.parquet'"):
        tally(north, DESIGNS)
    shutil.copy(north / "b.parquet", north / "a.parquet")
    with pytest.raises(mw.ReportError, match="is not the part"):
        tally(north, DESIGNS)


def test_a_run_that_was_killed_records_its_parts_later(out: Path) -> None:
    record = out / "_maskwell.json"
    text = record.read_text()
    assert text.count('"checksum"') == 2
    record.write_text(text.replace('"checksum"', '"other"').replace('"state": "whole"', '"state": "unfinished"'))
    assert mask_files(out.parent / "in", out, keyed()).skipped == 2
    assert record.read_text().count('"checksum"') == 2


def test_the_output_folder_is_not_the_input(source: Path) -> None:
    for path in source.iterdir():
        path.unlink()
    pc.write_csv(people(200), source / "c.csv")
    with pytest.raises(mw.DataError, match="output folder is also the input"):
        mask_files(source / "c.csv", source, keyed())


def test_a_file_is_not_masked_into_itself(source: Path) -> None:
    before = (source / "a.parquet").read_bytes()
    os.link(source / "a.parquet", source / "linked.parquet")
    for name in ("a.parquet", "../in/a.parquet", "linked.parquet"):
        with pytest.raises(mw.DataError, match="is also the input"):
            mask_file(source / "a.parquet", source / name, keyed())
    assert (source / "a.parquet").read_bytes() == before


def test_a_file_that_was_edited_under_its_old_time_is_noticed(source: Path, out: Path) -> None:
    status = (source / "a.parquet").stat()
    pq.write_table(people(0, "no"), source / "a.parquet")
    os.utime(source / "a.parquet", ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(mw.DataError, match=r"source of 'a.parquet' in 'out' has changed"):
        mask_files(source, out, keyed())


def test_one_file_under_two_names_is_refused(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(out.parent)
    os.link(out / "b.parquet", "hard.parquet")
    os.symlink(out / "b.parquet", "soft.parquet")
    for other in (out / "b.parquet", "hard.parquet", "soft.parquet"):
        with pytest.raises(mw.DataError, match="are one file"):
            tally(["out/b.parquet", other], DESIGNS)
    assert tally(["out/b.parquet", "./out/*.parquet"], DESIGNS)["habit"].n == 200


@pytest.mark.parametrize("engine", ["arrow", "polars"])
def test_ids_are_numbers_or_text(source: Path, engine: str) -> None:
    (source / "b.parquet").unlink()
    pc.write_csv(people(0), source / "b.csv")
    with pytest.raises(mw.DataError, match=r"ids are whole numbers in one file and text in another.*integer_ids=True"):
        mask_files(source, source.parent / "out", keyed(), engine=engine)
    with pytest.raises(MaskwellError, match="ids are whole numbers in one file"):
        repeated_ids(source, "person")
    with pytest.raises(mw.DataError, match="100 of 200"):
        mask_files(source, source.parent / "numbers", keyed(integer_ids=True))
