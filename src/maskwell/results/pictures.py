"""Where a result finds its picture.

Results lie below the charts that draw them, so a result does not import its chart: the front door of the package names
the module that knows them all, and it is loaded when the first picture is asked for.
"""

from __future__ import annotations

TYPE_CHECKING = False  # not from typing, so that the front door opens sooner
if TYPE_CHECKING:
    from typing import Any

_module = ""


def drawn_by(module: str) -> None:
    """Name the module whose ``picture(result, **options)`` draws results."""
    global _module
    _module = module


def picture(result: Any, **options: Any) -> Any:
    """The chart of a result."""
    from importlib import import_module  # here, so that the front door opens sooner

    return import_module(_module).picture(result, **options)
