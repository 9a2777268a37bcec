"""A folder of events: labels that no design knows, runs that failed, and what a command says then."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import maskwell as mw
from tests.cli.runs import Run

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
