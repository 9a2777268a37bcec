"""The command line: one command per verb, and one clear line on stderr when the input is wrong."""

import os
import signal
from collections.abc import Sequence

from maskwell.cli.exit_codes import INTERRUPTED


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    # Someone who ignores interrupts, as nohup does, wants that; another program that calls us decides for itself.
    ours = args is None and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        # Nothing is written yet; and C code that is being loaded makes other errors out of an exception.
        signal.signal(signal.SIGINT, _leave)
    from maskwell.cli.interrupts import handle
    from maskwell.cli.program import run

    try:
        if ours:
            handle(signal.SIGINT, KeyboardInterrupt())
        return run(args)
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        if ours:
            signal.signal(signal.SIGINT, _leave)


def _leave(*_: object) -> None:
    os._exit(INTERRUPTED)
