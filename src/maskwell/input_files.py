"""Files that are read: anything but a regular file is refused before it is opened.

Opening a named pipe waits for a writer that may never come, inside libraries where no signal is heard; a device such as
/dev/zero never ends. What the shell has opened for us, /dev/stdin or the /dev/fd/63 of a process substitution, has
somebody at its other end, so where a file is read whole such a pipe is as good as a file.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from maskwell.errors import DataError, MaskwellError

_OPENED_FOR_US = re.compile(r"/dev/(stdin|fd/[0-9]+)|/proc/self/fd/[0-9]+")
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def require_regular(path: str | os.PathLike[str], error: type[MaskwellError] = DataError) -> None:
    """An error if this is something other than a file, and the system's own if it is not there."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        name = os.path.basename(os.fspath(path)) or os.fspath(path)
        raise error(f"{name!r} is {_KINDS.get(stat.S_IFMT(mode), 'something else')}, not a file; give a regular file.")


def read_whole(path: str | os.PathLike[str], error: type[MaskwellError] = DataError) -> bytes:
    """All bytes of a file, or of a pipe or terminal that the shell has opened for us."""
    given = os.fspath(path)
    if not (_OPENED_FOR_US.fullmatch(given) and _is_pipe_or_terminal(given)):
        require_regular(path, error)
    return Path(path).read_bytes()


def _is_pipe_or_terminal(path: str) -> bool:
    mode = os.stat(path).st_mode
    if stat.S_ISCHR(mode):
        # Any other device could go on for ever.
        with open(path, "rb", buffering=0) as file:
            return file.isatty()
    return stat.S_ISFIFO(mode)
