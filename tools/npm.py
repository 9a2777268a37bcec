"""Packages from npm that the tests and the documentation use: installed when they are first needed, as locked."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path


def npm_part(folder: Path, path: str) -> Path:
    """A file of a package that the folder's package-lock.json pins."""
    stamp = folder / "node_modules" / ".installed"
    lock = (folder / "package-lock.json").read_bytes()
    # Several processes may come here at once; one installs, the others wait and find it done.
    with (folder / "package-lock.json").open("rb") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_bytes() != lock:
            npm = shutil.which("npm")
            if npm is None:
                raise FileNotFoundError("npm is missing; `make system` installs it")
            command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(done.stderr[-3000:])
            stamp.write_bytes(lock)
    return folder / "node_modules" / path
