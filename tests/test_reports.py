"""Reports on disk and in the hand: what is written comes back, whole or not at all, and shows itself well."""

import inspect
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
from maskwell.reports import files as report_files
from maskwell.reports import text as report_text
from maskwell.reports.files import read_reports, read_stream, write_reports, write_stream
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
    design, batches = read_stream(pa.BufferReader(sink.getvalue()), mw.Reports)
    assert design == SETS
    assert mw.Reports.concatenate(batches) == SETS.mask([0, 1, 2], seed=1)


@every_format
def test_files_are_read_in_batches(tmp_path: Path, suffix: str) -> None:
    """A file of 1,000,000 reports is never held whole: no batch is larger than 2^18 reports."""
    path, design = tmp_path / f"large{suffix}", DESIGNS["many sizes"]
    values = values_for(design, 100_000)
    parts = list(design.mask_batches([values] * 10, seed=5))
    assert write_reports(path, design, iter(parts)) == 1_000_000
    _, batches = read_reports(path, mw.Reports)
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
        from maskwell.reports.files import write_reports
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


# How they were drawn.


def test_seeded_reports_among_others_are_told(tmp_path: Path) -> None:
    """Nothing that holds a report drawn from a seed passes for a survey."""
    secure, seeded = SETS.mask([1, 2, 3]), SETS.mask([1, 2], seed=1)
    with pytest.warns(mw.SimulationWarning, match="simulation only"):
        reports = mw.Reports.concatenate([secure, seeded])
    with pytest.warns(mw.SimulationWarning, match="simulation only"):
        tally = mw.Tally.merge([secure.tally(), seeded.tally()])
    assert reports.randomness == tally.randomness == reports.tally().randomness == "secure and seeded"
    assert "secure and seeded" in repr(reports)
    assert "secure and seeded" in repr(tally)
    for estimate in (mw.estimate(reports), mw.estimate(tally)):
        assert "from a seed in part (secure and seeded): for simulation only" in estimate.summary()
    reports.write(tmp_path / "both.csv")
    assert mw.Reports.read(tmp_path / "both.csv").randomness == "secure and seeded"
    with pytest.warns(mw.SimulationWarning):
        again = mw.Reports.concatenate([reports, secure])
    assert again.randomness == "secure and seeded"


@every_format
def test_a_summary_of_seeded_reports_says_so(tmp_path: Path, suffix: str) -> None:
    seeded, path = masked(SETS), tmp_path / f"seeded{suffix}"
    seeded.write(path)
    for source in (seeded, seeded.tally(), mw.Reports.read(path), mw.Tally.read(path)):
        assert "drawn     from a seed: for simulation only" in mw.estimate(source).summary()
    for drawn in ({}, {"key": bytes(32), "ids": [1, 2, 3]}):
        reports = every_way(**drawn)
        reports.write(path)
        for source in (reports, mw.Tally.read(path)):
            assert "seed" not in mw.estimate(source).summary()


def every_way(**drawn: Any) -> mw.Reports:
    if "key" in drawn and "question" in inspect.signature(SETS.mask).parameters:
        drawn["question"] = "a survey/a question"
    return SETS.mask([1, 2, 3], **drawn)


def test_parts_without_a_report_drew_nothing() -> None:
    """And what was drawn securely or with a key is joined without a warning."""
    secure, nothing = SETS.mask([1, 2, 3]), SETS.mask([], seed=1)
    assert mw.Reports.concatenate([nothing, secure, nothing]).randomness == "secure"
    assert mw.Tally.merge([nothing.tally(), secure.tally()]).randomness == "secure"
    assert mw.Tally.merge([nothing.tally(), nothing.tally()]).randomness == "seeded"
    keyed = every_way(key=bytes(32), ids=[1, 2, 3])
    assert mw.Reports.concatenate([keyed, secure]).randomness == "keyed and secure"
    assert mw.Tally.from_counts(DESIGNS["matrix"], [1, 2, 3, 4]).randomness == "unknown"


def test_parts_of_a_product_are_drawn_as_the_whole() -> None:
    both = mw.designs.product(SETS, DESIGNS["codes"])
    tally = both.mask([(1, "NA"), (2, " ")], seed=1).tally()
    assert tally.marginal(both.names[0]).randomness == "seeded"


# Large designs and long labels.


def test_csv_of_sets_beyond_sixteen_megabytes(tmp_path: Path) -> None:
    design, path = mw.designs.minimax(64, epsilon=1), tmp_path / "large.csv"
    reports = design.mask(np.arange(400_000) % 64, seed=1)
    reports.write(path)
    assert mw.Tally.read(path) == reports.tally()


@pytest.mark.parametrize("kind", ["sets", "wide sets", "codes", "many rows", "two variables"])
def test_csv_is_spelled_in_parts_of_bounded_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Whatever the size of a part, the file is the same."""
    products = {"two variables": mw.designs.product(SETS, DESIGNS["codes"])}
    design = (DESIGNS | products)[kind]
    reports = masked(design, 300, gaps=True)
    reports.write(tmp_path / "whole.csv")
    spelled: list[int] = []
    real = report_text.ReportTexts.write

    def write(self: Any, packed: Any) -> Any:
        texts = real(self, packed)
        spelled.append(texts.nbytes)
        return texts

    monkeypatch.setattr(report_text, "_BATCH_BYTES", 20_000)
    monkeypatch.setattr(report_text.ReportTexts, "write", write)
    reports.write(tmp_path / "parts.csv")
    assert len(spelled) > 1 or kind != "wide sets"
    assert max(spelled) < 30_000
    assert (tmp_path / "parts.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert mw.Reports.read(tmp_path / "parts.csv") == reports


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_batches_of_wide_sets_hold_few_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    """A report of a thousand categories takes 126 bytes, so no more than 79 fit in 10,000."""
    reports, path = masked(DESIGNS["wide sets"], 300), tmp_path / f"wide{suffix}"
    reports.write(path)
    monkeypatch.setattr(report_files, "_BATCH_BYTES", 10_000)
    assert max(map(len, read_reports(path, mw.Reports)[1])) <= 79
    reports.write(path)
    monkeypatch.undo()
    assert max(map(len, read_reports(path, mw.Reports)[1])) <= (79 if suffix == ".arrow" else 300)
    assert mw.Reports.read(path) == reports


def test_a_row_longer_than_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And with quotes, which a CSV file doubles."""
    monkeypatch.setattr(report_text, "_LEAST_BLOCK", 1 << 10)
    design = mw.designs.gamma_diagonal(['"' * 9_000, "b"], epsilon=1)
    reports = design.mask(["b"] * 5, seed=2)
    reports.write(tmp_path / "long.csv")
    assert mw.Reports.read(tmp_path / "long.csv") == reports


LOOK_ALIKE = [[1, "1"], [True, "True"], [-1, "-1"], [" 1", 1], ["a", "A"], ["1", '"1"'], ["", " "]]


@pytest.mark.parametrize("labels", LOOK_ALIKE, ids=repr)
def test_labels_that_look_alike_stay_apart(tmp_path: Path, labels: list[Any]) -> None:
    design = mw.designs.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], ["yes", "no"], reports=labels)
    reports = design.mask(["yes", "no", None] * 20, missing="keep", seed=1)
    reports.write(tmp_path / "alike.csv")
    again = mw.Reports.read(tmp_path / "alike.csv")
    assert again == reports
    assert [(type(a), a) for a in again.decode()] == [(type(a), a) for a in reports.decode()]
    texts = {line for line in (tmp_path / "alike.csv").read_text().splitlines()[1:] if line}
    assert len(texts) == 2


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
