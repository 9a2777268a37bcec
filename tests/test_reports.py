"""Reports on disk and in the hand: what is written comes back, whole or not at all, and shows itself well."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import maskwell as mw
from maskwell.report_files import read_reports, read_stream, write_reports, write_stream
from tests.conformance.file_helpers import DESIGNS, FORMATS, SETS, every_design, every_format, masked
from tests.conformance.masking_helpers import refused, values_for
from tests.conformance.members import EVERY

# Round trips.


@every_format
@every_design
@pytest.mark.parametrize("gaps", [False, True])
def test_what_is_written_is_read(tmp_path: Path, design: mw.Design, suffix: str, gaps: bool) -> None:
    reports, path = masked(design, gaps=gaps), tmp_path / f"reports{suffix}"
    reports.write(path)
    again = mw.Reports.read(path)
    assert again == reports
    assert again.decode() == reports.decode()
    assert again.design.demand == design.demand
    assert again.randomness == "seeded"  # a file must warn of simulated reports
    assert mw.Tally.read(path) == reports.tally()
    assert mw.Tally.read(str(path), patterns=True) == reports.tally(patterns=True)


@every_format
@pytest.mark.parametrize("design", EVERY.values(), ids=EVERY.keys())
def test_every_design_can_be_written(tmp_path: Path, design: mw.Design, suffix: str) -> None:
    reports = masked(design, 50, gaps=True)
    reports.write(tmp_path / f"reports{suffix}")
    assert mw.Reports.read(tmp_path / f"reports{suffix}") == reports


@every_format
@every_design
def test_no_reports_at_all(tmp_path: Path, design: mw.Design, suffix: str) -> None:
    path = tmp_path / f"empty{suffix}"
    design.mask([], seed=1).write(path)
    again = mw.Reports.read(path)
    assert (len(again), again.design) == (0, design)
    assert mw.Tally.read(path, patterns=True).n == 0


@every_format
def test_no_reports_still_say_how_they_were_drawn(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"empty{suffix}"
    SETS.mask([], seed=1).write(path)
    assert mw.Reports.read(path).randomness == "seeded"


def test_arrow_table_carries_its_design() -> None:
    reports = masked(SETS, gaps=True)
    table = reports.to_arrow()
    assert table.column_names == ["report"]
    assert table.num_rows == len(reports)
    assert table.column("report").null_count == reports.missing.sum()
    assert mw.Design.from_json(table.schema.metadata[b"maskwell.design"]) == SETS
    assert table.schema.metadata[b"maskwell.randomness"] == b"seeded"
    # Bit j of the stored bytes, lowest first, is category j: what another program must know to read them.
    for stored, report in zip(table.column("report").to_pylist(), reports.decode(), strict=True):
        expected = None if report is None else sum(1 << j for j in report).to_bytes(2, "little")
        assert stored == expected


def test_streams_through_a_pipe() -> None:
    sink = pa.BufferOutputStream()
    assert write_stream(sink, SETS, SETS.mask_batches([[0, 1], [2]], seed=1)) == 3
    design, batches = read_stream(pa.BufferReader(sink.getvalue()))
    assert design == SETS
    assert mw.Reports.concatenate(batches) == SETS.mask([0, 1, 2], seed=1)


@every_format
def test_files_are_read_in_batches(tmp_path: Path, suffix: str) -> None:
    """A file of 1,000,000 reports is never held whole: no batch is larger than 2^18 reports."""
    path, design = tmp_path / f"large{suffix}", DESIGNS["many sizes"]
    values = values_for(design, 100_000)
    parts = list(design.mask_batches([values] * 10, seed=5))
    assert write_reports(path, design, iter(parts)) == 1_000_000
    _, batches = read_reports(path)
    assert max(map(len, batches)) <= 1 << 18
    assert mw.Tally.read(path) == mw.Tally.merge([part.tally() for part in parts])


def test_one_file_holds_one_design_drawn_one_way(tmp_path: Path) -> None:
    other = mw.designs.minimax(11, epsilon=0.4)
    for suffix in FORMATS:
        path = tmp_path / f"mixed{suffix}"
        refused(
            mw.ReportError, "one design", lambda path=path: write_reports(path, SETS, [masked(SETS), masked(other)])
        )
    secure = SETS.mask([1, 2])
    refused(mw.ReportError, "one way", lambda: write_reports(tmp_path / "mixed.arrow", SETS, [masked(SETS), secure]))
    assert list(tmp_path.iterdir()) == []
    refused(mw.ReportError, "different designs", lambda: mw.Reports.concatenate([masked(SETS), masked(other)]))
    refused(mw.ReportError, "no reports", lambda: mw.Reports.concatenate([]))


# A write that is interrupted.


def failing(reports: mw.Reports) -> Iterator[mw.Reports]:
    yield reports
    raise KeyboardInterrupt


@every_format
def test_an_interrupted_write_leaves_nothing(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"reports{suffix}"
    with pytest.raises(KeyboardInterrupt):
        write_reports(path, SETS, failing(masked(SETS)))
    assert list(tmp_path.iterdir()) == []


@every_format
def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path, suffix: str) -> None:
    path, before = tmp_path / f"reports{suffix}", masked(DESIGNS["codes"])
    before.write(path)
    files = sorted(tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt):
        write_reports(path, SETS, failing(masked(SETS)))
    assert sorted(tmp_path.iterdir()) == files
    assert mw.Reports.read(path) == before
    masked(SETS).write(path)
    assert mw.Reports.read(path) == masked(SETS)


@every_format
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_process_leaves_no_half_file(tmp_path: Path, suffix: str) -> None:
    """Not even a process that can clean up nothing leaves something under the name that it was asked to write."""
    path, before = tmp_path / f"reports{suffix}", masked(DESIGNS["codes"])
    before.write(path)
    source = f"""
        import sys, time
        import numpy as np, maskwell as mw
        from maskwell.report_files import write_reports
        design = mw.designs.minimax(11, epsilon=0.3)
        def batches():
            for _ in range(20):
                yield design.mask(np.zeros(50_000, int), seed=1)
            print("half way", flush=True)
            time.sleep(600)
        write_reports({str(path)!r}, design, batches())
    """
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(source)], env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == "half way"
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate()
    assert mw.Reports.read(path) == before
    visible = {file.name for file in tmp_path.iterdir() if not file.name.startswith(".")}
    assert visible == {path.name, "reports.design.json"} if suffix == ".csv" else {path.name}


# In the hand.


def objects() -> dict[str, Any]:
    reports = masked(SETS, gaps=True)
    return {
        "design": SETS,
        "matrix design": DESIGNS["matrix"],
        "reports": reports,
        "tally": reports.tally(patterns=True),
        "weighted tally": reports.tally(weights=np.arange(1.0, 301)),
        "estimate": mw.estimate(reports),
        "matrix estimate": mw.estimate(masked(DESIGNS["matrix"])),
    }


@pytest.mark.parametrize("kind", objects())
def test_objects_pickle_compare_and_show_themselves(kind: str) -> None:
    thing, twin = objects()[kind], objects()[kind]
    assert thing == twin
    copy = pickle.loads(pickle.dumps(thing))
    assert copy == thing
    assert repr(copy) == repr(thing)
    assert thing != "something else"
    assert (thing == 3) is False
    assert "\n" not in repr(thing)
    assert repr(thing).startswith("<")
    assert thing._repr_html_().startswith("<")
    assert "<script" not in thing._repr_html_()


def test_different_objects_differ() -> None:
    things = [*objects().values(), mw.designs.minimax(11, epsilon=0.31)]
    assert all((a == b) is (i == j) for i, a in enumerate(things) for j, b in enumerate(things))
    reports = masked(SETS, gaps=True)
    assert reports != masked(SETS)
    assert mw.Reports(SETS, reports.packed[:5]) != mw.Reports(SETS, reports.packed[:6])
    assert mw.estimate(reports, "moments") != mw.estimate(reports, "linear")


def test_designs_can_be_keys_and_other_things_cannot() -> None:
    assert len({SETS, mw.designs.minimax(11, epsilon=0.3), DESIGNS["codes"]}) == 2
    for thing in (masked(SETS), masked(SETS).tally(), mw.estimate(masked(SETS))):
        with pytest.raises(TypeError, match="hash"):
            hash(thing)


def test_a_label_cannot_break_a_page() -> None:
    design = mw.designs.gamma_diagonal(["<script>alert(1)</script>", "&"], epsilon=1)
    reports = design.mask(["&"] * 10, seed=1)
    for thing in (design, reports, reports.tally(), mw.estimate(reports)):
        assert "<script" not in thing._repr_html_()


def test_repr_says_what_counts() -> None:
    reports = masked(SETS, gaps=True)
    assert "300 seeded reports" in repr(reports)
    assert "43 missing" in repr(reports)
    assert "minimax" in repr(reports.tally())
    assert "257" in repr(reports.tally())
    assert "linear" in repr(mw.estimate(reports))
