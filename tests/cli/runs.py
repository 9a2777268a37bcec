"""Running commands in tests, in this process or as real ones, and what a refusal looks like."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECRET = "Zyzzyva-7"
LABELS = ["red", "green", "blue"]


@dataclass(frozen=True)
class Ran:
    """What a run of the command line left on its three channels."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


def assert_refused(ran: Ran, *about: str) -> None:
    """One clear line on stderr, nothing on stdout, exit code 2, no true value."""
    assert ran.code == 2, ran
    assert ran.out == b""
    assert re.fullmatch(r"maskwell: [^\n]+\n", ran.err), ran.err
    assert "Traceback" not in ran.err
    assert SECRET not in ran.err
    for text in about:
        assert text in ran.err


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A shell command in which ``maskwell`` is this interpreter's."""
    define = f'set -o pipefail; maskwell() {{ "{sys.executable}" -m maskwell "$@"; }}; '
    return subprocess.run(
        [shutil.which("bash") or "bash", "-c", define + command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
