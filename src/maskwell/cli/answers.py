"""The column of true values and the column of record ids of a file, a batch at a time. Errors name data rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maskwell.errors import DataError
from maskwell.sampling.entropy import fresh_key
from maskwell.sampling.ids import count_repeated_blocks, count_repeated_numbers, read_ids, text_blocks
from maskwell.tables.labels import Label, shown
from maskwell.tables.matching import Column, Matcher, as_text, whole_spelling


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


@dataclass
class RecordIds:
    """Reads the ids of keyed masking, and refuses an id that came before anywhere in the file.

    That takes 8 bytes a record, 16 if ids are text: the one thing that grows with the file.
    """

    name: str
    whole_numbers: bool = False
    rows: int = 0
    _seen: list[Any] = field(default_factory=list, repr=False)
    _hash_key: bytes = field(default_factory=fresh_key, repr=False)

    def read(self, column: Any) -> Any:
        """A batch of ids as NumPy whole numbers or as an Arrow column of text."""
        import pyarrow as pa
        import pyarrow.compute as pc

        ids: Any
        if pa.types.is_integer(column.type):
            self._refuse(column.is_null(), "is empty")
            ids = column.to_numpy(zero_copy_only=False)
        else:
            text = as_text(column, f"the ids in column {self.name!r} are")
            self._refuse(pc.or_(text.is_null(), pc.equal(text, "").fill_null(True)), "is empty")
            ids = self._numbers(text) if self.whole_numbers else read_ids(text)
        self._seen.append(ids if isinstance(ids, np.ndarray) else text_blocks(ids, self._hash_key))
        self.rows += len(column)
        return ids

    def _numbers(self, text: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        spelled = whole_spelling(text)
        self._refuse(pc.invert(pc.match_substring_regex(spelled, "^-?[0-9]{1,18}$")), "is no whole number below 10^18")
        return spelled.cast(pa.int64()).to_numpy(zero_copy_only=False)

    def _refuse(self, flags: Any, why: str) -> None:
        import pyarrow.compute as pc

        if pc.any(flags).as_py():
            raise DataError(
                f"the id in column {self.name!r}, data row {self.rows + pc.index(flags, True).as_py() + 1:,}, {why}."
            )

    def refuse_repeated(self) -> None:
        """After the last batch: every id must have come once."""
        together: Any = np.concatenate(self._seen) if self._seen else np.empty(0, np.int64)
        repeated = count_repeated_numbers(together) if together.ndim == 1 else count_repeated_blocks(together)
        if repeated:
            raise DataError(
                f"ids must be unique, but {repeated:,} of {len(together):,} in column {self.name!r} repeat another."
            )


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
