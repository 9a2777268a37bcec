"""Loops that Numba compiles where it is installed, and that Python runs as they stand where it is not.

Both give the same result from the same lines, so that a bare install needs no compiler: a survey of some ten thousand
answers does not notice. Where NumPy does a whole loop at once, ``instead`` names the function that does it.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from maskwell.errors import SpeedWarning
from maskwell.extras import is_there

Function = TypeVar("Function", bound=Callable[..., Any])

FAST = is_there("numba")
"""Whether loops are compiled."""


def say_if_slow(work: str) -> None:
    """Warn, once, that this work takes long without a compiler; say nothing where there is one."""
    if not FAST:
        warnings.warn(f"{work} takes long without numba; run: pip install 'maskwell[fast]'", SpeedWarning, stacklevel=2)


def compiled(*, instead: Callable[..., Any] | None = None, **options: Any) -> Callable[[Function], Function]:
    """Compile a function without Python's lock and keep the result on disk; ``options`` are Numba's."""
    if FAST:
        from numba import njit

        made: Callable[[Function], Function] = njit(nogil=True, cache=True, **options)
        return made
    if instead is not None:
        return lambda _: instead  # type: ignore[return-value]
    return _wrapping if options.get("inline") != "always" else lambda function: function


def _wrapping(function: Function) -> Function:
    """Let whole numbers wrap round silently, as they do when compiled."""

    @functools.wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return function(*arguments)

    return run  # type: ignore[return-value]
