"""What a bare install leaves out, and the one line that says how to get it."""

from __future__ import annotations

from importlib.util import find_spec

from maskwell.errors import MaskwellError

EXTRA_OF = {
    "altair": "charts",
    "vl_convert": "charts",
    "numba": "fast",
    "pyreadstat": "stata-spss",
    "formulaic": "regression",
    "pandas": "pandas",
    "polars": "polars",
    "duckdb": "duckdb",
    "pyspark": "spark",
    "fastapi": "collect",
    "httptools": "collect",
    "httpx": "collect",
    "jinja2": "collect",
    "psycopg": "collect",
    "sqlalchemy": "collect",
    "uvicorn": "collect",
}
"""The extra of ``pip install 'maskwell[EXTRA]'`` that brings each package."""


class ExtraError(MaskwellError):
    """A package is needed that a bare install does not bring."""


def is_there(package: str) -> bool:
    """Whether a package can be imported."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def require(what: str, *packages: str) -> None:
    """One clear line unless the packages are there; ``what`` is the beginning of a sentence, such as "Charts need".

    >>> require("Masking needs", "numpy")
    """
    lacking = [package for package in packages if not is_there(package)]
    if lacking:
        raise ExtraError(f"{what} {', '.join(lacking)}; run: pip install 'maskwell[{EXTRA_OF[lacking[0]]}]'")
