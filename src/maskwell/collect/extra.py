"""Whether what the service needs is installed."""

from importlib.util import find_spec

from maskwell.errors import MaskwellError

_NEEDED = ("fastapi", "httptools", "httpx", "jinja2", "sqlalchemy", "uvicorn")


class ExtraError(MaskwellError):
    """A package is needed that a bare install does not bring."""


def require_extra(*names: str) -> None:
    """One clear line unless the packages are there."""
    lacking = [name for name in names or _NEEDED if find_spec(name) is None]
    if lacking:
        raise ExtraError(f"collecting needs {', '.join(lacking)}; run: pip install 'maskwell[collect]'.")
