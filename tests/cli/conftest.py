"""A folder of its own for every run of the command line, and files to work on."""

import io
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import maskwell as mw
from maskwell.cli import main
from tests.cli.runs import LABELS, Ran, Run


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run a command in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run_command(*args: object, stdin: bytes | None = None) -> Ran:
        if stdin is not None:
            piped = io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin)))
            monkeypatch.setattr(sys, "stdin", piped)
        code = main([str(arg) for arg in args])
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return Ran(code, out, err.decode())

    return run_command


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A design, its reports, and the same answers as CSV, Parquet and Arrow."""
    answers = np.array(LABELS)[np.arange(3000) % 7 % 3]
    ids = np.arange(3000) * 7919 % 100_003
    (tmp_path / "answers.csv").write_text(
        "id,colour\n" + "".join(f"{i},{a}\n" for i, a in zip(ids, answers, strict=True))
    )
    table = pa.table({"id": ids, "colour": answers.tolist(), "code": (np.arange(3000) % 3).astype(float)})
    pq.write_table(table, tmp_path / "answers.parquet")
    feather.write_feather(table, tmp_path / "answers.arrow")
    design = mw.plan(LABELS, mw.LDP(2))
    (tmp_path / "design.json").write_text(design.to_json())
    design.mask(answers, seed=1, question="colour").write(tmp_path / "reports.parquet")
    (tmp_path / "key").write_bytes(bytes(range(32)))
    return tmp_path
