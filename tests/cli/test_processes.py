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


MOMENTS = """
import os, signal, sys

class Interrupting:
    def __init__(self, at):
        self.at, self.seen = at, 0

    def find_spec(self, name, path=None, target=None):
        self.seen += 1
        if self.seen == self.at:
            os.kill(os.getpid(), signal.SIGINT)

def child(at):
    \"\"\"The exit code of a run that is interrupted at an import, its number of imports, and what it says.\"\"\"
    said, saying = os.pipe()
    counted, counting = os.pipe()
    process = os.fork()
    if process == 0:
        os.dup2(saying, 1)
        os.dup2(saying, 2)
        from maskwell.cli import main
        finder = Interrupting(at)
        sys.meta_path.insert(0, finder)
        sys.argv = ["maskwell", "estimate", "reports.parquet", "--csv", "out.csv"]
        code = main()
        os.write(counting, str(finder.seen).encode())
        sys.stdout.flush()
        sys.exit(code)
    os.close(saying), os.close(counting)
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status), int(os.read(counted, 20) or 0), os.read(said, 60_000).decode()

code, imports, _ = child(0)
assert (code, imports > 300) == (0, True), (code, imports)
for at in range(1, imports, imports // 6):
    os.remove("out.csv") if os.path.exists("out.csv") else None
    code, _, said = child(at)
    print(at, code, repr(said), os.path.exists("out.csv"))
"""


def test_an_interrupt_of_any_import_ends_in_one_line_at_most(files: Path) -> None:
    """A module in C that is being imported would make an error with a traceback of its own out of an exception."""
    ran = subprocess.run([sys.executable, "-c", MOMENTS], cwd=files, capture_output=True, text=True, check=True)
    told = [line.split(maxsplit=2) for line in ran.stdout.splitlines()]
    assert len(told) >= 6
    allowed = ("'' False", r"'maskwell: interrupted; no half file is left.\n' False")
    assert [row for row in told if row[1] != "130" or row[2] not in allowed] == []
    assert {row[2] for row in told} == set(allowed)


def test_an_interrupt_while_an_object_is_cleared_away_is_not_lost(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys, time\n"
        "from maskwell.cli.interrupts import handle\n"
        "class Cleared:\n"
        "    def __del__(self):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "handle(signal.SIGINT, KeyboardInterrupt())\n"
        "try:\n"
        "    Cleared()\n"
        "    time.sleep(60)\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(7)\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (7, "", "")


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
