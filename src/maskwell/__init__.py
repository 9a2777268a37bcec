"""Maskwell: ask a sensitive question without learning anyone's answer, and still estimate the population."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maskwell.contents import *  # noqa: F403

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """A public name, found when it is first asked for: the command line is up before NumPy is loaded."""
    from importlib import import_module

    try:
        found: object = getattr(import_module("maskwell.contents"), name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    from maskwell.contents import __all__

    return sorted({*globals(), *__all__})
