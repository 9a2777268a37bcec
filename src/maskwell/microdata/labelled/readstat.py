"""Statistical files through pyreadstat, as plain columns: neither pandas nor Polars is needed."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from maskwell.errors import DataError
from maskwell.extras import require
from maskwell.microdata.labelled.spss_dictionary import is_sound

# A cell takes a byte or more; in SPSS files bytes may be compressed, by a factor of a thousand at most.
_CELLS_PER_BYTE = {"dta": 1, "sav": 2000}


def parse(path: Path, kind: str) -> tuple[dict[str, list[Any]], Any]:
    """The cells of every column, and the file's metadata; kinds of missing values and dates are left as stored."""
    require("Stata's and SPSS's files need", "pyreadstat")
    import pyreadstat

    reader = {"dta": pyreadstat.read_dta, "sav": pyreadstat.read_sav}[kind]
    damaged = f"{path.name!r} cannot be read: it is truncated, damaged, or no .{kind} file."
    if kind == "sav" and not is_sound(path):
        raise DataError(damaged)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            _, announced = reader(path, metadataonly=True, output_format="dict")
            # A damaged header may announce more rows than there is memory for.
            cells = (announced.number_rows or 0) * len(announced.column_names)
            if cells > _CELLS_PER_BYTE[kind] * path.stat().st_size:
                raise DataError(damaged)
            data, meta = reader(path, output_format="dict", user_missing=True, disable_datetime_conversion=True)
    except DataError:
        raise
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
