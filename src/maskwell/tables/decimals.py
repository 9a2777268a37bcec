"""Numbers that a file in another language spells with a decimal comma, as spreadsheets export them."""

from __future__ import annotations

from typing import Any

from maskwell.errors import DataError
from maskwell.tables.columns import is_text

_NUMBER = r"^\s*[-+]?[0-9]+(,[0-9]+)?\s*$"
# Three digits after a comma may be thousands; any other number of them cannot.
_SURELY_DECIMAL = r",([0-9]{1,2}|[0-9]{4,})\s*$"


def with_decimal_points(column: Any) -> Any:
    """A column of text such as 1316,08 with points, where every comma is surely a decimal one; others as they are.

    >>> import pyarrow as pa
    >>> with_decimal_points(pa.array(["1316,08", "12"])).to_pylist()
    ['1316.08', '12']
    >>> with_decimal_points(pa.array(["1,500"])).to_pylist()
    ['1,500']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    text = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    if not is_text(text.type) or not len(text):
        return column
    numbers = pc.all(pc.match_substring_regex(text, _NUMBER)).as_py()
    sure = pc.any(pc.match_substring_regex(text, _SURELY_DECIMAL)).as_py()
    return pc.utf8_trim_whitespace(pc.replace_substring(text, ",", ".")) if numbers and sure else column


def has_decimal_commas(column: Any) -> bool:
    """Whether a column of text holds numbers, some of which surely have a decimal comma; cells may be empty."""
    filled = _filled(column)
    return filled is not None and with_decimal_points(filled) is not filled


def numbers_with_commas(column: Any, name: str) -> Any:
    """The numbers of a column of text with decimal commas; empty cells are null.

    >>> import pyarrow as pa
    >>> numbers_with_commas(pa.array(["120,5", "", "80"]), "weight").to_pylist()
    [120.5, None, 80.0]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    filled = _filled(column)
    try:
        return pc.replace_substring(pc.utf8_trim_whitespace(filled), ",", ".").cast(pa.float64())
    except pa.ArrowException:
        raise DataError(f"column {name!r} has decimal commas first, and other text further on.") from None


def _filled(column: Any) -> Any:
    """A column of text with nulls for empty cells; None if it is not text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    if not is_text(text.type):
        return None
    empty = pc.match_substring_regex(text, r"^\s*$")
    return pc.if_else(empty, pa.scalar(None, text.type), text)


def blank(column: Any) -> Any:
    """Which cells of a column of text are empty or blank; None if it is not text or none is.

    >>> import pyarrow as pa
    >>> blank(pa.array(["12", " "])).to_pylist(), blank(pa.array(["12"]))
    ([False, True], None)
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    text = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    if not is_text(text.type):
        return None
    found = pc.match_substring_regex(text, r"^\s*$")
    return found if pc.any(found).as_py() else None


def first_without_a_number(column: Any) -> int | None:
    """The first row of a column of text that is no number with a decimal point; None if it is not text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    if not is_text(text.type):
        return None
    number = pc.match_substring_regex(text, r"^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$")
    row = pc.index(number, pa.scalar(False)).as_py()
    return None if row < 0 else int(row)
