"""Signals that end a command, wherever they come: as an exception where one can be raised, else a moment later.

Packages in C turn an exception in the middle of their import into other errors, with a traceback of their own, and what
is raised while Python clears an object away is printed and forgotten. In both places a signal waits until it is over.
"""

import os
import signal
import sys
from collections.abc import Callable
from threading import Timer, main_thread
from types import FrameType
from typing import Any

_AGAIN = 0.02
"""Seconds until a signal that had to wait comes again."""
_IMPORTING = "<frozen importlib"
"""Where the code of the import system says that it is from."""
_waiting: set[int] = set()
_signal_of: dict[type[BaseException], int] = {}
_interrupted: set[int] = set()


def handle(number: int, error: BaseException) -> None:
    """Raise such an error at a signal, as soon as one can be raised."""
    signal.signal(number, _raising(error))
    _signal_of[type(error)] = number
    sys.unraisablehook = _unraisable


def _raising(error: BaseException) -> Callable[[int, FrameType | None], None]:
    def raised(number: int, frame: FrameType | None) -> None:
        if _is_importing(frame):
            _send_again(number)
        else:
            _interrupted.add(number)
            raise type(error)(*error.args)

    return raised


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith(_IMPORTING):
            return True
        frame = frame.f_back
    return False


def _send_again(number: int) -> None:
    """Send the signal to this process a moment later; several that wait are one."""
    if number in _waiting:
        return
    _waiting.add(number)

    def send() -> None:
        _waiting.discard(number)
        identity = main_thread().ident
        if hasattr(signal, "pthread_kill") and identity is not None:
            signal.pthread_kill(identity, number)  # ends a read that the main thread waits in
        else:
            os.kill(os.getpid(), number)

    timer = Timer(_AGAIN, send)
    timer.daemon = True
    timer.start()


def _unraisable(what: Any) -> None:
    """An exception while an object was cleared away: what a signal raised is raised again, the rest is told as ever.

    But after an interrupt, objects that it left half made have nothing to tell.
    """
    number = _signal_of.get(what.exc_type)
    if number is not None:
        _send_again(number)
    elif not _interrupted:
        sys.__unraisablehook__(what)
