"""The three standard streams where they are closed, full, or read by somebody who has left."""

import os
import sys
from typing import IO, Any


def open_standard_streams() -> bool:
    """Put nothing where a stream is closed, and say whether standard output was open.

    A file that is opened later would otherwise take the number of the closed stream, and with it whatever is written
    there.
    """
    was_open = sys.stdout is not None
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the system gives the lowest free number, which is this one
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115 - open until the process ends
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # A label that the terminal cannot show must not end the program.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    return was_open


def flush_error(stream: IO[Any]) -> OSError | None:
    """Why what was written to a stream cannot be delivered; it is then dropped, so that nobody complains again."""
    try:
        stream.flush()
    except OSError as error:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        return error
    return None
