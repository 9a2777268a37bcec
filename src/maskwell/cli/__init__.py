"""The command line: one command per verb, and one clear line on stderr when the input is wrong."""

# The module in C below ``signal``, which is there from the start; that one first loads half as much as all else here.
import _signal as signal  # type: ignore[import-not-found]
import os

from maskwell.cli.exit_codes import INTERRUPTED

# As in maskwell/__init__.py: what is loaded here is the time in which an interrupt still shows a traceback.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(args: "Sequence[str] | None" = None) -> int:
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
