"""Maskwell: ask a sensitive question without learning anyone's answer, and still estimate the population."""

from maskwell.results.pictures import drawn_by

# As in typing, whose import takes longer than all else here: the time in which an interrupt still shows a traceback.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from maskwell.contents import *  # noqa: F403

# Loaded when the first picture is drawn.
drawn_by("maskwell.views.pictures")

__version__ = "0.2.0"


def __getattr__(name: str) -> object:
    """A public name, from the module that ``contents`` imports it from; nothing else is loaded."""
    from importlib import import_module

    homes = _homes()
    if name == "__all__":
        return list(homes)
    if name not in homes:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if homes[name] == __name__:
        return import_module(f"{__name__}.{name}")
    globals()[name] = found = getattr(import_module(homes[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted([*_homes(), "__version__"])


def _homes() -> dict[str, str]:
    """The module of each public name, read from the imports of ``contents`` without running them."""
    import ast
    from pathlib import Path

    listed = ast.parse(Path(__file__).with_name("contents.py").read_text(encoding="utf-8")).body
    imports = [node for node in listed if isinstance(node, ast.ImportFrom) and node.module]
    return {alias.name: str(node.module) for node in imports for alias in node.names}
