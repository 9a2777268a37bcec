"""The column of true values of a file, a batch at a time. Errors name data rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from maskwell.errors import DataError
from maskwell.tables.labels import Label, shown
from maskwell.tables.matching import Column, Matcher, as_text


@dataclass
class Answers:
    """Turns batches of one column into categories and keeps count of rows."""

    name: str
    labels: tuple[Label, ...]
    keep_missing: bool = False
    na: Sequence[str] = ()
    rows: int = 0
    missing: int = 0
    _matcher: Matcher = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._matcher = Matcher(self.labels, self.na)

    def read(self, column: Any) -> Column:
        """The categories of a batch."""
        import pyarrow.compute as pc

        found = self._matcher.match(column, f"the cells of column {self.name!r} are")
        seen = self.rows + len(column)
        if found.unknown is not None:
            raise DataError(
                f"column {self.name!r} holds a label that the design does not know, "
                f"{self._where(found.unknown, seen)}; "
                f"allowed labels: {shown(self.labels)}. Recode it, declare it, or call it missing with --na."
            )
        if found.absent is not None and not self.keep_missing:
            raise DataError(
                f"column {self.name!r} has missing values, {self._where(found.absent, seen)}; use --missing keep to "
                "leave those reports empty, or declare a category for them."
            )
        self.rows = seen
        self.missing += 0 if found.absent is None else pc.sum(found.absent).as_py()
        return found.column()

    def _where(self, flags: Any, seen: int) -> str:
        import pyarrow.compute as pc

        first, count = self.rows + pc.index(flags, True).as_py() + 1, pc.sum(flags).as_py()
        return f"first in data row {first:,} ({count:,} of the first {seen:,} rows)"

    def refuse_empty(self, file: str) -> None:
        """After the last batch: a column must hold at least one answer."""
        if self.rows == self.missing:
            what = f"only missing values in its {self.rows:,} rows" if self.rows else "no rows"
            raise DataError(f"column {self.name!r} of {file!r} has {what}; there is nothing to mask.")


def distinct_labels(columns: Iterator[Any], name: str, most: int, na: Sequence[str] = ()) -> list[Label]:
    """The sorted labels that occur in a column: whole numbers or true and false where its type says so, else text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found: set[Label] = set()
    for column in columns:
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        typed = pa.types.is_integer(column.type) or pa.types.is_boolean(column.type)
        cells = column if typed else as_text(column, f"the cells of column {name!r} are")
        found.update(cell for cell in pc.unique(cells).drop_null().to_pylist() if cell not in ("", *na))
        if len(found) > most:
            raise DataError(f"column {name!r} holds more than {most:,} different values; name the categories yourself.")
    return sorted(found)
