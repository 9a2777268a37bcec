"""Files that cannot be what a design produced, are damaged, or come from elsewhere: each refused in one line."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import maskwell as mw
from maskwell.reports.files import read_stream, write_stream
from tests.conformance.file_helpers import DESIGNS, FORMATS, ODD, SETS, every_format, masked
from tests.conformance.masking_helpers import attempt, refused

# Reports that the design cannot have produced.


def impossible_reports() -> dict[str, mw.Reports]:
    sets, codes = masked(SETS).packed.copy(), masked(DESIGNS["codes"]).packed.copy()
    too_small, too_large, beyond = sets.copy(), sets.copy(), sets.copy()
    member = np.unpackbits(sets[17], bitorder="little").astype(bool)
    too_small[17] = np.packbits(np.where(np.arange(16) == np.flatnonzero(member)[0], False, member), bitorder="little")
    too_large[17] = np.packbits(np.where(np.arange(16) == np.flatnonzero(~member)[0], True, member), bitorder="little")
    # A member is exchanged for one that does not exist, so that the size stays right.
    moved = member.copy()
    moved[[np.flatnonzero(member)[0], 15]] = False, True
    beyond[17] = np.packbits(moved, bitorder="little")
    codes[17] = len(ODD)
    matrix = mw.designs.from_matrix([["1/2", "0"], ["0", "0"], ["1/2", "1"]])
    rows, past = (masked(matrix).packed.copy() for _ in range(2))
    rows[17], past[17] = 1, 3
    wide = masked(DESIGNS["wide sets"]).packed.copy()
    wide[17, 0] ^= 1
    return {
        "a set with too few members": mw.Reports(SETS, too_small),
        "a set with too many members": mw.Reports(SETS, too_large),
        "a member beyond the last category": mw.Reports(SETS, beyond),
        "a code beyond the last category": mw.Reports(DESIGNS["codes"], codes),
        "a row of probability zero": mw.Reports(matrix, rows),
        "a row beyond the last one": mw.Reports(matrix, past),
        "a wide set of the wrong size": mw.Reports(DESIGNS["wide sets"], wide),
    }


IMPOSSIBLE = impossible_reports()


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("kind", IMPOSSIBLE)
def test_an_impossible_report_is_refused(tmp_path: Path, kind: str, suffix: str) -> None:
    reports, path = IMPOSSIBLE[kind], tmp_path / f"bad{suffix}"
    refused(mw.ReportError, "row 17", reports.check)
    write_table(path, reports.to_arrow())
    refused(mw.ReportError, "row 17", lambda: mw.Reports.read(path))
    refused(mw.ReportError, "row 17", lambda: mw.Tally.read(path))


def write_table(path: Path, table: Any) -> None:
    """A file as another program would write it, unchecked."""
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=100_000)


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_row_is_counted_from_the_start_of_the_file(tmp_path: Path, suffix: str) -> None:
    design, path = mw.designs.gamma_diagonal(5, epsilon=1), tmp_path / f"bad{suffix}"
    reports = design.mask(np.zeros(400_000, int), seed=1)
    if suffix == ".csv":
        reports.write(path)
        lines = path.read_text().splitlines()
        lines[1 + 390_000] = '"nine"'
        path.write_text("\n".join(lines) + "\n")
    else:
        wrong = reports.packed.copy()
        wrong[390_000] = 9
        write_table(path, mw.Reports(design, wrong).to_arrow())
    refused(mw.ReportError, "row 390000", lambda: mw.Tally.read(path))


def test_only_present_reports_are_judged(tmp_path: Path) -> None:
    """Where a report is missing the bytes mean nothing, whatever a program left there."""
    reports = masked(SETS, gaps=True)
    noise = reports.packed.copy()
    noise[reports.missing] = 255
    table = mw.Reports(SETS, noise, reports.missing).to_arrow()
    write_table(tmp_path / "noise.arrow", table)
    assert mw.Reports.read(tmp_path / "noise.arrow") == reports
    noise[1] = 255
    with pytest.raises(mw.ReportError, match="row 1 "):
        mw.Reports(SETS, noise, reports.missing).check()


# Files that are damaged, foreign, or not there.


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_a_truncated_file_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"cut{suffix}"
    masked(SETS).write(path)
    whole = path.read_bytes()
    for length in {*range(0, len(whole), 97), 1, 4, 8, len(whole) - 1, len(whole) - 8}:
        path.write_bytes(whole[:length])
        refused(mw.ReportError, "cut", lambda: mw.Tally.read(path))


@pytest.mark.parametrize("design", [SETS, DESIGNS["codes"]], ids=["sets", "codes"])
def test_a_truncated_csv_is_refused(tmp_path: Path, design: mw.Design) -> None:
    """Wherever it was cut: the file beside it knows how many reports there were."""
    path, reports = tmp_path / "cut.csv", masked(design, 30)
    reports.write(path)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        refused(mw.ReportError, "cut.csv", lambda: mw.Reports.read(path))


def same_or_refused(reports: mw.Reports, read: Callable[[], mw.Reports]) -> None:
    """A damaged file gives the same reports, said to be drawn in the same way, or one line."""
    result = attempt(read)
    if isinstance(result, mw.Reports):
        assert result == reports
        assert result.randomness == reports.randomness
        assert result.design.to_json() == reports.design.to_json()
    else:
        assert isinstance(result, mw.MaskwellError), repr(result)
        assert "\n" not in str(result)


SMALL = {"sets": mw.designs.minimax(9, epsilon=1), "codes": mw.designs.gamma_diagonal(["a", "b", "c"], epsilon=1)}


@every_format
@pytest.mark.parametrize("kind", SMALL)
def test_a_damaged_file_is_never_read_as_another(tmp_path: Path, suffix: str, kind: str) -> None:
    """Any byte changed, in all its bits or in one, and any end cut off."""
    path = tmp_path / f"hurt{suffix}"
    reports = masked(SMALL[kind], 13, gaps=True)
    reports.write(path)
    for part in sorted(tmp_path.iterdir()):
        whole = part.read_bytes()
        for at in range(len(whole)):
            for flip in (0xFF, 1 << at % 8):
                part.write_bytes(whole[:at] + bytes([whole[at] ^ flip]) + whole[at + 1 :])
                same_or_refused(reports, lambda: mw.Reports.read(path))
            if at % 3 == 0:
                part.write_bytes(whole[:at])
                same_or_refused(reports, lambda: mw.Reports.read(path))
        part.write_bytes(whole)
    assert mw.Reports.read(path) == reports


def test_a_damaged_stream_is_never_read_as_another() -> None:
    reports = masked(SMALL["sets"], 13, gaps=True)
    sink = pa.BufferOutputStream()
    write_stream(sink, reports.design, [reports.part(slice(0, 6)), reports.part(slice(6, 13))])
    whole = sink.getvalue().to_pybytes()

    def read(data: bytes) -> Callable[[], mw.Reports]:
        return lambda: mw.Reports.concatenate(read_stream(io.BytesIO(data), mw.Reports)[1])

    assert read(whole)() == reports
    for at in range(len(whole)):
        for flip in (0xFF, 1 << at % 8):
            same_or_refused(reports, read(whole[:at] + bytes([whole[at] ^ flip]) + whole[at + 1 :]))
        same_or_refused(reports, read(whole[:at]))
    refused(mw.ReportError, "one stream at a time", read(whole + whole))


@every_format
def test_bytes_exchanged_or_left_out_in_the_middle(tmp_path: Path, suffix: str) -> None:
    """What a disk or a transfer may do: a block is lost, filled with zeros, or written twice."""
    path, chance = tmp_path / f"hurt{suffix}", np.random.default_rng(1)
    reports = masked(SETS, 200, gaps=True)
    reports.write(path)
    whole = path.read_bytes()
    for _ in range(600):
        start, stop = np.sort(chance.integers(0, len(whole) + 1, 2)).tolist()
        other = [b"", bytes(stop - start), whole[start:stop] * 2, chance.bytes(stop - start)][int(chance.integers(4))]
        path.write_bytes(whole[:start] + other + whole[stop:])
        same_or_refused(reports, lambda: mw.Reports.read(path))


def foreign() -> dict[str, Any]:
    reports = masked(SETS)
    table = reports.to_arrow()
    told = dict(table.schema.metadata)
    longer = {**told, b"maskwell.design": mw.designs.minimax(20, epsilon=0.3).to_json().encode()}
    return {
        "no metadata": table.replace_schema_metadata(None),
        "other metadata": table.replace_schema_metadata({"pandas": "{}"}),
        "an earlier version": table.replace_schema_metadata({**told, b"maskwell": b"1"}),
        "a later version": table.replace_schema_metadata({**told, b"maskwell": b"3"}),
        "no design": table.replace_schema_metadata({b"maskwell": b"2"}),
        "no checksum": table.replace_schema_metadata({k: told[k] for k in told if k != b"maskwell.digest"}),
        "no number of reports": table.replace_schema_metadata({k: told[k] for k in told if k != b"maskwell.reports"}),
        "a checksum of other reports": table.replace_schema_metadata({**told, b"maskwell.digest": b"0" * 64}),
        "drawn otherwise": table.replace_schema_metadata({**told, b"maskwell.randomness": b"secure"}),
        "drawn nobody knows how": table.replace_schema_metadata({**told, b"maskwell.randomness": b"\x1b[31m"}),
        "more said than was written": table.replace_schema_metadata({**told, b"maskwell.more": b"x"}),
        "fewer reports": table.slice(0, 299),
        "more reports": pa.concat_tables([table, table]),
        "another order": table.take(list(range(299, -1, -1))),
        "half a design": table.replace_schema_metadata({**told, b"maskwell.design": told[b"maskwell.design"][:99]}),
        "a design of another width": table.replace_schema_metadata(longer),
        "another column": table.rename_columns(["answer"]),
        "two columns": table.append_column("more", pa.array([1] * len(table))),
        "another type": pa.table({"report": pa.array([1] * 300, pa.int64())}).replace_schema_metadata(told),
        "text": pa.table({"report": ["0"] * 300}).replace_schema_metadata(told),
    }


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("kind", foreign())
def test_a_foreign_file_is_refused(tmp_path: Path, suffix: str, kind: str) -> None:
    path = tmp_path / f"foreign{suffix}"
    write_table(path, foreign()[kind])
    refused(mw.MaskwellError, None, lambda: mw.Reports.read(path))


@every_format
def test_what_is_no_file_of_reports(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"thing{suffix}"
    refused(mw.ReportError, "not found", lambda: mw.Reports.read(path))
    for content in (b"", b"PAR1", b"ARROW1\0\0", b"hello\nworld\n", bytes(5000), b"\xff\xfe" * 99):
        path.write_bytes(content)
        (tmp_path / "thing.design.json").write_text(SETS.to_json())
        refused(mw.ReportError, "thing", lambda: mw.Reports.read(path))
    path.unlink()
    path.mkdir()
    refused(mw.ReportError, "thing", lambda: mw.Reports.read(path))
    refused(mw.ReportError, "thing", lambda: masked(SETS).write(path))


def test_unknown_file_types() -> None:
    refused(mw.ReportError, "parquet", lambda: mw.Reports.read("reports.xlsx"))
    refused(mw.ReportError, "parquet", lambda: masked(SETS).write("reports.sav"))
    refused(mw.ReportError, "could not be written", lambda: masked(SETS).write("no such folder/reports.arrow"))


@pytest.mark.parametrize(
    ("design", "line"),
    [
        (SETS, "0101"),
        (SETS, "2" * 11),
        (SETS, "1" * 11),
        (SETS, "0" * 11),
        (SETS, "1" * 12),
        (SETS, "é" + "0" * 10),
        (DESIGNS["codes"], "violet"),
        (DESIGNS["matrix"], "(forgotten)"),
        (DESIGNS["wide sets"], "9" * 1001),
        (DESIGNS["wide sets"], "é" * 1001),
        (DESIGNS["wide sets"], "é" + "0" * 999),
        (DESIGNS["wide sets"], "1" * 1000),
    ],
)
def test_a_csv_with_a_line_that_is_no_report(tmp_path: Path, design: mw.Design, line: str) -> None:
    path = tmp_path / "bad.csv"
    masked(design, 3).write(path)
    path.write_text(path.read_text(encoding="utf-8") + f'"{line}"\n', encoding="utf-8")
    message = refused(mw.ReportError, "row 3", lambda: mw.Reports.read(path))
    assert line not in message


def test_a_csv_with_digits_that_are_no_bits(tmp_path: Path) -> None:
    """In a set of a thousand and one categories too, a 9 is no member."""
    path = tmp_path / "nines.csv"
    masked(DESIGNS["wide sets"], 3).write(path)
    path.write_text(path.read_text().replace("1", "9"))
    refused(mw.ReportError, "row 0", lambda: mw.Reports.read(path))


@pytest.mark.parametrize("text", ["other\n1\n", "report,more\n1,2\n", "report\n1,2\n", "report\n\xff\n"])
def test_a_csv_of_another_shape(tmp_path: Path, text: str) -> None:
    path = tmp_path / "shape.csv"
    path.write_bytes(text.encode("latin-1"))
    (tmp_path / "shape.design.json").write_text(SETS.to_json())
    refused(mw.ReportError, "shape", lambda: mw.Reports.read(path))


def test_a_csv_needs_its_design(tmp_path: Path) -> None:
    path = tmp_path / "alone.csv"
    masked(SETS).write(path)
    beside = tmp_path / "alone.design.json"
    assert mw.Design.from_json(beside.read_text()) == SETS
    beside.write_text(beside.read_text()[:100])
    refused(mw.DesignError, "JSON", lambda: mw.Reports.read(path))
    beside.unlink()
    refused(mw.ReportError, r"alone\.design\.json", lambda: mw.Reports.read(path))
