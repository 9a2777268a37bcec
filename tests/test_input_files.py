"""What is no regular file is refused in one line before it is opened: an opened pipe waits for a writer for good."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import maskwell as mw
from maskwell.input_files import read_whole, require_regular
from maskwell.tables.files import open_columns

# A command that still waits after this is one that hangs; without the check they all would.
HANGS = 30


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("design.json").write_text(mw.designs.warner(["y", "n"], truth_prob=0.8).to_json())
    Path("answers.csv").write_text("q,id\n" + "".join(f"{'yn'[i % 2]},{i}\n" for i in range(20)))
    return tmp_path


@pytest.fixture
def pipe(here: Path) -> Callable[[str], str]:
    def make(name: str) -> str:
        os.mkfifo(here / name)
        return name

    return make


def maskwell(*args: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [sys.executable, "-m", "maskwell", *args], capture_output=True, text=True, timeout=HANGS, **options
    )


COMMANDS = [
    "estimate p.parquet",
    "estimate p.arrow",
    "estimate p.csv",
    "estimate p.parquet q.parquet --joint",
    "test fit p.parquet",
    "audit p.json",
    "compare p.json design.json",
    "mask p.csv -c q -d design.json -o out.parquet",
    "mask p.csv.gz -c q -d design.json -o out.parquet",
    "mask p.parquet -c q -d design.json -o out.parquet",
    "mask p.arrow -c q -d design.json -o out.parquet",
    "mask p.dta -c q -d design.json -o out.parquet",
    "mask p.sav -c q -d design.json -o out.parquet",
    "mask answers.csv -c q -d p.json -o out.parquet",
    "mask answers.csv -c q -d design.json --key-file p.key --ids id --survey s -o out.parquet",
    "plan --from p.csv --epsilon 1 -c q",
    "risk p.csv --keys q",
    "risk p.parquet --keys q",
    "release p.csv --keys q --xi 0.5 -o out.csv",
    "release answers.csv --replay p.json -o out.csv",
    "release answers.csv --keys q --xi 0.5 --key-file p.key --ids id -o out.csv",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_waits_at_a_named_pipe(pipe: Callable[[str], str], command: str) -> None:
    (name,) = {word for word in command.split() if word.startswith("p.")}
    pipe(name)
    found = maskwell(*command.split())
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1
    assert "No such option" not in found.stderr
    assert f"{name!r} is a named pipe, not a file" in found.stderr


def test_the_design_beside_a_file_of_reports_is_no_pipe_either(here: Path, pipe: Callable[[str], str]) -> None:
    Path("r.csv").write_text("report\ny\n")
    pipe("r.design.json")
    assert "'r.design.json' is a named pipe" in maskwell("estimate", "r.csv").stderr


@pytest.mark.parametrize("read", [mw.Tally.read, mw.Reports.read])
@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".csv"])
def test_no_reader_of_the_library_opens_a_folder(here: Path, read: Callable[[str], object], suffix: str) -> None:
    Path(f"d{suffix}").mkdir()
    with pytest.raises(mw.MaskwellError, match="is a folder, not a file"):
        read(f"d{suffix}")


def things(folder: Path) -> Iterator[tuple[Path, str]]:
    yield folder, "a folder"
    yield Path("/dev/null"), "a device"
    yield Path("/dev/zero"), "a device"
    os.mkfifo(folder / "fifo")
    yield folder / "fifo", "a named pipe"
    (folder / "link").symlink_to("fifo")
    yield folder / "link", "a named pipe"


def test_each_thing_is_called_what_it_is(tmp_path: Path) -> None:
    for path, kind in things(tmp_path):
        for refuse in (require_regular, read_whole):
            with pytest.raises(mw.errors.DataError, match=f"{path.name!r} is {kind}, not a file"):
                refuse(path)


def test_a_socket_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s.csv")
        with pytest.raises(mw.errors.DataError, match="a socket"), open_columns("s.csv", ["q"]):
            pass


def test_a_link_to_a_file_is_a_file(here: Path) -> None:
    Path("link.json").symlink_to("design.json")
    assert read_whole("link.json") == Path("design.json").read_bytes()


def test_what_the_shell_opened_is_read(here: Path) -> None:
    key = "0123456789abcdef0123456789abcdef"
    Path("k.key").write_text(key)
    masked = "mask answers.csv -c q --ids id --survey s -o"
    whole = maskwell(*masked.split(), "a.csv", "-d", "design.json", "--key-file", "k.key")
    script = f"{sys.executable} -m maskwell {masked} b.csv -d <(cat design.json) --key-file <(cat k.key)"
    piped = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=HANGS)
    assert (whole.returncode, piped.returncode) == (0, 0), piped.stderr
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    assert maskwell("audit", "/dev/stdin", input=Path("design.json").read_text()).returncode == 0


def test_waiting_for_what_the_shell_opened_ends_with_a_signal(here: Path) -> None:
    command = [sys.executable, "-m", "maskwell", "audit", "/dev/stdin"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(b"{")  # and no end
        process.stdin.flush()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=3)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=HANGS) not in (0, 70)
