"""A folder of events: labels that no design knows, runs that failed, and what a command says then."""

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import maskwell as mw
from tests.cli.runs import Run, assert_refused

DESIGN = ("--design", "page=pages.json")


@pytest.fixture
def events(tmp_path: Path) -> Path:
    """Two files, the second with pages that are not in the list."""
    folder = tmp_path / "events"
    folder.mkdir()
    table = pa.table({"device": [1, 2, 3, 4, 5], "page": ["home", "new", "help", "newer", "home"]})
    pq.write_table(table.slice(1), folder / "b.parquet")
    pq.write_table(table.slice(0, 1), folder / "c.parquet")
    (tmp_path / "pages.json").write_text(mw.designs.direct(["home", "help", "(other)"]).to_json())
    return folder


def test_an_unknown_label_is_refused_with_its_file_and_a_remedy(run: Run, events: Path) -> None:
    ran = run("mask", "events", *DESIGN, "-o", "masked")
    assert ran.code == 2
    assert "'b.parquet', column 'page': values hold a label that the design does not know" in ran.err
    assert "--other page=" in ran.err
    assert "newer" not in ran.err


def test_a_run_that_made_no_part_binds_nobody(run: Run, events: Path) -> None:
    assert run("mask", "events", *DESIGN, "-o", "masked").code == 2
    assert run("mask", "events", *DESIGN, "--other", "page=(other)", "-o", "masked").code == 0
    ran = run("mask", "events", *DESIGN, "-o", "masked")
    assert ran.code == 2
    assert "another request" in ran.err
    assert run("tally", "masked", "-o", "counts").code == 0
    tally = mw.Tally.read(events.parent / "counts" / "page.tally.json")
    assert tally.inclusions.tolist() == [2, 1, 2]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("-c", "page", "-d", "pages.json"), "masked with --design page=FILE"),
        ((*DESIGN, "--other", "(other)"), "--other COLUMN=LABEL"),
        ((*DESIGN, "--other", "page=nowhere"), "plan again"),
        ((*DESIGN, "--key-file", "pages.json", "--survey", "s"), "--key-file and --ids go together"),
    ],
)
def test_what_options_of_a_folder_need(run: Run, events: Path, words: tuple[str, ...], hint: str) -> None:
    ran = run("mask", "events", *words, "-o", "masked")
    assert ran.code == 2
    assert hint in ran.err


def test_reports_that_another_program_wrote_need_their_design(run: Run, tmp_path: Path, events: Path) -> None:
    pq.write_table(pa.table({"page": pa.array([0, 1, 2], pa.uint8())}), tmp_path / "spark.parquet")
    ran = run("tally", "spark.parquet", "-o", "counts")
    assert ran.code == 2
    assert "--design COLUMN=FILE" in ran.err
    assert run("tally", "spark.parquet", *DESIGN, "-o", "counts").code == 0


KEYED = (*DESIGN, "--other", "page=(other)", "--key-file", "key", "--ids", "device", "--survey", "telemetry")


def _devices(path: Path, devices: list[object], page: str = "home") -> None:
    pq.write_table(pa.table({"device": devices, "page": [page] * len(devices)}), path)


@pytest.fixture
def keyed(events: Path) -> Path:
    """Four files of devices whose ids are text, and a key."""
    (events.parent / "key").write_bytes(bytes(range(32)))
    for path in events.iterdir():
        path.unlink()
    for part in range(4):
        _devices(events / f"p{part}.parquet", [f"d{part}-{i}" for i in range(5)])
    return events


def test_a_run_that_found_repeated_text_ids_leaves_no_part_and_is_not_counted(run: Run, keyed: Path) -> None:
    _devices(keyed / "p9.parquet", ["d0-1"])
    assert_refused(run("mask", "events", *KEYED, "-o", "masked"), "1 of 21 in column 'device' repeat")
    assert not list((keyed.parent / "masked").glob("*.parquet"))
    assert_refused(run("tally", "masked", "-o", "counts"), "unfinished: 0 of 5 parts")
    (keyed / "p9.parquet").unlink()
    assert run("mask", "events", *KEYED, "-o", "masked").code == 0
    assert run("tally", "masked", "-o", "counts").code == 0
    # A run that came to its end has compared its ids: what was added to it is removed, and nothing else.
    _devices(keyed / "p9.parquet", ["d3-1"])
    assert_refused(run("mask", "events", *KEYED, "-o", "masked"), "repeat another")
    assert sorted(path.name for path in (keyed.parent / "masked").glob("*.parquet")) == [
        f"p{i}.parquet" for i in range(4)
    ]
    assert_refused(run("estimate", "masked"), "4 of 5 parts")


@pytest.mark.parametrize(
    "words", [("tally", "masked", "-o", "c"), ("estimate", "masked"), ("tally", "masked/p*", "-o", "c")]
)
def test_an_unfinished_folder_is_not_counted(run: Run, keyed: Path, words: tuple[str, ...]) -> None:
    _devices(keyed / "p2.parquet", [None, "x"])
    assert_refused(run("mask", "events", *KEYED, "-o", "masked"), "'p2.parquet'", "data row 1")
    assert_refused(run(*words), "unfinished: 2 of 4 parts are there", "Run the same maskwell mask again")
    with pytest.raises(mw.ReportError, match="unfinished"):
        mw.engines.tally(
            keyed.parent / "masked", {"page": mw.Design.from_json((keyed.parent / "pages.json").read_text())}
        )
    # What was refused binds nobody: mended or taken away, the run goes on.
    _devices(keyed / "p2.parquet", ["x"])
    assert run("mask", "events", *KEYED, "-o", "masked", "--json").json["parts_written"] == 2
    assert run(*words).code == 0


def test_a_file_that_was_refused_can_be_taken_away_again(run: Run, keyed: Path) -> None:
    assert run("mask", "events", *KEYED, "-o", "masked").code == 0
    _devices(keyed / "p9.parquet", [""])
    assert run("mask", "events", *KEYED, "-o", "masked").code == 2
    (keyed / "p9.parquet").unlink()
    assert run("mask", "events", *KEYED, "-o", "masked").code == 0
    assert run("tally", "masked", "-o", "counts").code == 0


def test_a_part_that_is_missing_is_told_and_folders_that_no_run_made_are_as_before(run: Run, keyed: Path) -> None:
    masked = keyed.parent / "masked"
    assert run("mask", "events", *KEYED, "-o", "masked").code == 0
    (masked / "p1.parquet").unlink()
    assert_refused(run("tally", "masked", "-o", "counts"), "3 of 4 parts")
    (masked / "_maskwell.json").unlink()
    assert run("tally", "masked", "-o", "counts").code == 0
    (masked / "_maskwell.json").write_text("{}")
    assert run("tally", "masked", "-o", "counts").code == 0


def test_a_copied_file_is_told_by_its_content_and_another_one_is_refused(run: Run, keyed: Path) -> None:
    assert run("mask", "events", *KEYED, "-o", "masked").code == 0
    record = json.loads((keyed.parent / "masked" / "_maskwell.json").read_text())
    # Nothing stands there from which the answers of a small file could be tried out; the checksum is the part's own.
    said = frozenset({"file", "modified", "content", "checksum"})
    assert {frozenset(entry) for entry in record["sources"].values()} == {said}
    os.utime(keyed / "p0.parquet", ns=(1, 1))
    assert run("mask", "events", *KEYED, "-o", "masked", "--json").json["parts_skipped"] == 4
    _devices(keyed / "p0.parquet", [f"d0-{i}" for i in range(5)], "help")
    assert_refused(
        run("mask", "events", *KEYED, "-o", "masked"), "'p0.parquet' in 'masked' has changed", "remove that part"
    )
    (keyed.parent / "masked" / "p0.parquet").unlink()
    assert run("mask", "events", *KEYED, "-o", "masked", "--json").json["parts_written"] == 1
    # Without a key only the time is known, and it is said what it is.
    assert run("mask", "events", *DESIGN, "-o", "drawn").code == 0
    os.utime(keyed / "p0.parquet", ns=(1, 1))
    assert_refused(run("mask", "events", *DESIGN, "-o", "drawn"), "another modification time", "cp -p", "tell more")


def test_repeated_ids_are_told_of_the_whole_file_and_by_the_name_of_their_column(run: Run, keyed: Path) -> None:
    _devices(keyed / "p0.parquet", ["a", "a", "b", "c", "b"])
    ran = run("mask", "events/p0.parquet", *KEYED, "-o", "one.parquet")
    assert_refused(ran, "2 of 5 in column 'device' repeat another", "one row for each id")
    assert "'page'" not in ran.err
    table = pq.read_table(keyed / "p0.parquet")
    design = {"page": mw.Design.from_json((keyed.parent / "pages.json").read_text())}
    batches = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=2))
    with pytest.raises(mw.DataError, match="2 of 5 in column 'device'"):
        mw.engines.mask(batches, design, id="device", key=bytes(32), survey="s").read_all()


def test_days_of_the_same_devices_are_not_merged_without_a_word(run: Run, keyed: Path) -> None:
    for day in ("monday", "tuesday"):
        assert run("mask", "events", *KEYED, "-o", day).code == 0
        assert run("tally", day, "-o", f"{day}-counts").err == ""
    ran = run("merge", "monday-counts", "tuesday-counts", "-o", "week")
    assert ran.code == 0
    assert ran.err.startswith("maskwell: warning: kept reports of 2 runs")
    assert run("merge", "monday-counts", "tuesday-counts", "-o", "week", "--different-people").err == ""
    assert run("merge", "week", "-o", "again").err == ""


def test_a_null_names_the_file_and_the_option(run: Run, keyed: Path) -> None:
    pq.write_table(pa.table({"device": ["a"], "page": pa.array([None], pa.string())}), keyed / "p0.parquet")
    ran = run("mask", "events", *KEYED, "-o", "masked")
    assert_refused(ran, "'p0.parquet', column 'page'", "--missing keep")
    assert "missing=" not in ran.err


def test_the_largest_of_each_group(run: Run, tmp_path: Path) -> None:
    labels = [f"p{i}" for i in range(6)]
    design = mw.designs.direct(labels)
    (tmp_path / "pages.json").write_text(design.to_json())
    cells = {"page": [*["p0"] * 60, *["p1"] * 40, *["p2"] * 100], "version": ["1"] * 100 + ["2"] * 100}
    pq.write_table(pa.table(cells), tmp_path / "t.parquet")
    assert run("mask", "t.parquet", *DESIGN, "--keep", "version", "-o", "m.parquet").code == 0
    ask = ("estimate", "m.parquet", "--by", "version", "--top", "2")
    text = run(*ask).text
    assert (
        text.index("version: 1") < text.index("p0 ") < text.index("p1 ") < text.index("version: 2") < text.index("p2 ")
    )
    assert "are certainly above zero" in text
    groups = run(*ask, "--json").json["groups"]
    assert [(group["group"], group["categories"][0]) for group in groups] == [("1", "p0"), ("2", "p2")]
    csv = run(*ask, "--csv", "-").text.splitlines()
    assert csv[0].startswith("version,category,estimate")
    assert [line.split(",")[:2] for line in csv[1:3]] == [["1", "p0"], ["1", "p1"]]
    assert_refused(run(*ask, "--plot", "x.svg"), "--plot")
