"""Statistical files through pyreadstat, as plain columns: neither pandas nor Polars is needed."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from maskwell.errors import DataError


def parse(path: Path, kind: str) -> tuple[dict[str, list[Any]], Any]:
    """The cells of every column, and the file's metadata; kinds of missing values and dates are left as stored."""
    import pyreadstat

    reader = {"dta": pyreadstat.read_dta, "sav": pyreadstat.read_sav}[kind]
    damaged = f"{path.name!r} cannot be read: it is truncated, damaged, or no .{kind} file."
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            data, meta = reader(path, output_format="dict", user_missing=True, disable_datetime_conversion=True)
    except Warning:
        raise DataError(f"{path.name!r} has two columns of one name; rename one.") from None
    # Its messages may quote a cell, and a damaged file may fail anywhere.
    except Exception:
        raise DataError(damaged) from None
    if len({len(cells) for cells in data.values()}) > 1 or _rows(data) != meta.number_rows:
        raise DataError(damaged)
    return data, meta


def _rows(data: dict[str, list[Any]]) -> int:
    return len(next(iter(data.values()), []))
