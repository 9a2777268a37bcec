"""Columns that number the records: they say nothing of a key, but recognise a record in every other file."""

from __future__ import annotations

from collections.abc import Sequence

from maskwell.release.attack.thresholds import FEWEST_NUMBERED, NEARLY_ALL
from maskwell.release.staying_columns import Staying
from maskwell.tables.encoded import EncodedTable


def record_numbers(table: EncodedTable, staying: Sequence[Staying]) -> list[str]:
    """The columns of text or whole numbers that are another one in (nearly) every row.

    >>> table = EncodedTable({"id": list(range(50)), "age": [30, 31] * 25})
    >>> from maskwell.release.staying_columns import staying_columns
    >>> record_numbers(table, staying_columns(table, []))
    ['id']
    """
    return [column.name for column in staying if _numbers(column) and _is_written_out(table, column.name)]


def number_in_words(name: str) -> str:
    """What is wrong with such a column, and the remedy."""
    return (
        f"{name!r} is another one in nearly every record: whoever has it from another file recognises the record, "
        "whatever its keys show. Leave it out of the released file, or number the records anew."
    )


def _numbers(column: Staying) -> bool:
    n = len(column.codes)
    return n >= FEWEST_NUMBERED and column.size >= NEARLY_ALL * n


def _is_written_out(table: EncodedTable, name: str) -> bool:
    import pyarrow as pa

    kind = table.array(name).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    kinds = pa.types
    return bool(kinds.is_integer(kind) or kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_binary(kind))
