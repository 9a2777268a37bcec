"""Commands as real processes: pipes, readers that leave, and interruptions."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import maskwell as mw
from tests.cli.runs import SECRET, Ran, assert_refused, shell


def test_a_survey_through_pipes(files: Path) -> None:
    ran = shell(
        "maskwell plan --categories red,green,blue --epsilon 2 -o - "
        "| maskwell mask answers.csv -c colour -d - --seed 1 -o - | maskwell estimate - --json",
        files,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    expected = mw.estimate(mw.Reports.read(files / "reports.parquet"))
    assert json.loads(ran.stdout)["estimates"] == expected.proportions.tolist()


def test_half_a_stream_is_not_estimated(files: Path) -> None:
    (files / "bad.csv").write_text("colour\n" + "red\n" * 300_000 + f"{SECRET}\n")
    ran = shell(
        "maskwell mask bad.csv -c colour -d design.json -o - | maskwell estimate -; echo ${PIPESTATUS[@]}", files
    )
    assert ran.stdout == "2 2\n"
    assert ran.stderr.count("\n") == 2
    assert "data row 300,001" in ran.stderr
    assert "standard input" in ran.stderr
    assert SECRET not in ran.stderr


def test_a_reader_that_leaves_is_no_error(files: Path) -> None:
    (files / "long.csv").write_text("colour\n" + "red\n" * 1_000_000)
    ran = shell("maskwell mask long.csv -c colour -d design.json -o - | head -c 10 | wc -c", files)
    assert (ran.stdout.strip(), ran.stderr) == ("10", "")
    ran = shell("maskwell designs --json | true; maskwell designs | true", files)
    assert ran.stderr == ""


def test_a_bad_input_of_a_real_process(files: Path) -> None:
    ran = shell("maskwell plan --k 5 --epsilon 0", files)
    assert_refused(Ran(ran.returncode, ran.stdout.encode(), ran.stderr), "epsilon")


@pytest.fixture
def masking(files: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has masked a part of its input, written some of it, and waits for more."""
    process = subprocess.Popen(
        [sys.executable, "-m", "maskwell", "mask", "-", "-c", "colour", "-d", "design.json", "-o", "out.parquet"],
        cwd=files,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin
    process.stdin.write(b"colour\n" + b"red\n" * 1_000_000)
    process.stdin.flush()
    deadline = time.monotonic() + 30
    while not any(part.stat().st_size for part in files.glob(".maskwell-*/*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert list(files.glob(".maskwell-*/*")), "the process never began to write"
    yield process
    process.kill()
    process.communicate()


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_write_leaves_no_file(
    masking: subprocess.Popen[bytes], files: Path, sent: signal.Signals, code: int
) -> None:
    masking.send_signal(sent)
    assert masking.wait(30) == code
    assert masking.stderr
    assert masking.stderr.read().count(b"\n") == (1 if sent is signal.SIGINT else 0)
    assert not list(files.glob("*out*"))
    assert not list(files.glob(".*"))


@pytest.mark.parametrize(
    "start", [["-m", "maskwell"], ["-c", "import sys; from maskwell.cli import main; sys.exit(main())"]]
)
@pytest.mark.parametrize("package", ["numpy", "typer"])
@pytest.mark.parametrize("caught", ["KeyboardInterrupt", "()"], ids=["turned into another error", "left alone"])
def test_an_interrupt_of_the_first_imports_shows_no_traceback(
    tmp_path: Path, start: list[str], package: str, caught: str
) -> None:
    """Packages in C turn an interrupt of their import into an ImportError, with a traceback of their own."""
    slow = f"import time\nopen({str(tmp_path / 'loading')!r}, 'w').close()\ntry:\n    time.sleep(60)\n"
    (tmp_path / f"{package}.py").write_text(f"{slow}except {caught}:\n    raise ImportError('not loaded')\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, *start, "designs"],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while not (tmp_path / "loading").exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, b"", b"")


def test_interrupts_that_are_ignored_stay_ignored(files: Path) -> None:
    """As under nohup: the command line must not bring the handler back."""
    ran = shell("trap '' INT; maskwell designs --json > /dev/null & pid=$!; sleep .2; kill -INT $pid; wait $pid", files)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys; from maskwell.cli import main; "
        "main(['mask', '--help']); main(['plan', '--k', '5', '--epsilon', '0']); print(*sys.modules, file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = ran.stderr.splitlines()[-1].split()
    assert {"pyarrow", "numba", "scipy.stats", "pandas", "altair", "rich"} & set(loaded) == set()
