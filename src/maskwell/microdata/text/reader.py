"""CSV files, cell by cell as they are spelled.

Every column becomes a dictionary: the entries are the values, and the variable's codes are the cells as they stand in
the file, quotes included. A cell that is not changed is therefore written as it was read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from maskwell.errors import DataError
from maskwell.microdata.model import Microdata, Variable, unquoted
from maskwell.microdata.text.cells import CsvCells

_NUMBER = r"^-?(0|[1-9][0-9]{0,17})(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$"
_WHOLE = r"^-?(0|[1-9][0-9]{0,17})$"
MISSING_NUMBERS = ("NA", "N/A", "NaN", "nan", "NULL", "null", ".")
"""In a column of numbers these mean missing. In a column of text only the empty cell does: NA may be a country."""
_BLOCK = 1 << 24


def read_text(
    file: Any, name: str, *, delimiter: str | None = None, encoding: str | None = None, na: Sequence[str] = ()
) -> Microdata:
    """The columns of an open CSV file; delimiter and encoding are found unless they are given."""
    import pyarrow as pa

    cells = CsvCells(file, name, delimiter, encoding, block_bytes=_BLOCK)
    blocks = list(cells.batches(threads=True))
    if not blocks:
        raise DataError(f"{name!r} has a first line but no rows below it.")
    columns, variables = [], {}
    for column, parts in zip(cells.header, zip(*blocks, strict=True), strict=True):
        values, codes = _column(parts, na)
        columns.append(values)
        variables[column] = Variable(codes=codes)
    layout = dataclasses.replace(cells.layout, final_newline=cells.final_newline, na=tuple(na))
    return Microdata(pa.Table.from_arrays(columns, names=cells.header), "csv", variables, layout=layout)


def _column(parts: Sequence[Any], na: Sequence[str]) -> tuple[Any, Any]:
    """A column as a dictionary of values, and the spelling of each entry."""
    import pyarrow as pa

    encoded = [part if pa.types.is_dictionary(part.type) else part.dictionary_encode() for part in parts]
    whole = pa.chunked_array(encoded).unify_dictionaries().combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    codes = whole.dictionary
    texts = unquoted(codes)
    values = _numbers(texts, na)
    if values is None:
        values = _without(texts, ["", *na])
    return pa.DictionaryArray.from_arrays(whole.indices, values), codes


def _numbers(texts: Any, na: Sequence[str]) -> Any:
    """The entries as numbers, if those that are not missing are all plainly spelled ones: 7, never 07."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kept = _without(texts, ["", *na, *MISSING_NUMBERS])
    present = kept.drop_null()
    if not len(present) or not pc.all(pc.match_substring_regex(present, _NUMBER)).as_py():
        return None
    whole = pc.all(pc.match_substring_regex(present, _WHOLE)).as_py()
    return kept.cast(pa.int64() if whole else pa.float64())


def _without(texts: Any, missing: Sequence[str]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    absent = pc.is_in(texts, value_set=pa.array(missing, pa.string()))
    return pc.if_else(absent, pa.scalar(None, pa.string()), texts)
