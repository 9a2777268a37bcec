"""From the cells of a column to a design's categories and to record ids. Errors name data rows, never a cell.

Cells are matched to labels by their text, so that a CSV file and a Parquet file with the same content mask alike:
whole numbers in any usual spelling (7, +7, 7.0), true and false in either case or as 1 and 0. An empty cell, a null and
NaN are missing; the text "NA" or "NaN" is not, unless ``--na`` says so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maskwell.cli.output import CommandError
from maskwell.designs.labels import Label, shown
from maskwell.errors import DataError
from maskwell.sampling.entropy import fresh_key
from maskwell.sampling.ids import count_repeated_blocks, count_repeated_numbers, read_ids, text_blocks

_WHOLE = r"^\s*\+?(-?)0*([0-9]{1,19})(?:\.0*)?\s*$"


def as_text(column: Any, name: str) -> Any:
    """A column as Arrow text, null where the cell is null or NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if pa.types.is_floating(column.type):
            column = pc.if_else(column.is_null(nan_is_null=True), None, column)
        return column.cast(pa.string())
    except pa.ArrowException:
        raise DataError(
            f"column {name!r} is of type {column.type}, which has no text to match with labels; cast it first."
        ) from None


def _spelled(text: Any, kind: type) -> Any:
    """Cells in the one spelling that the labels have."""
    import pyarrow.compute as pc

    if kind is int:
        return pc.replace_substring_regex(text, _WHOLE, r"\1\2")
    if kind is bool:
        lower = pc.utf8_lower(pc.utf8_trim_whitespace(text))
        return pc.replace_substring_regex(pc.replace_substring_regex(lower, "^1$", "true"), "^0$", "false")
    return text


@dataclass
class Answers:
    """Turns batches of one column into categories and keeps count of rows."""

    name: str
    labels: tuple[Label, ...]
    keep_missing: bool = False
    markers: Sequence[str] = ()
    rows: int = 0
    missing: int = 0
    _spellings: Any = field(init=False, repr=False)
    _categories: Any = field(init=False, repr=False)
    _gaps: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        import pyarrow as pa

        kind = type(self.labels[0])
        spellings = [str(c).lower() if kind is bool else str(c) for c in self.labels]
        self._spellings = pa.array(spellings, pa.string())
        # In the spelling of the labels: 7, 07 and +7.0 are all the label 7.
        spelled = _spelled(pa.array(self.markers, pa.string()), kind).to_pylist()
        clash = [marker for marker, own in zip(self.markers, spelled, strict=True) if own in spellings]
        if clash:
            raise CommandError(f"--na {clash[0]!r} is a category of the design, so it cannot mean missing as well.")
        self._categories = pa.array(self.labels)
        # A design that declares the empty label asks for empty cells to be a category of their own.
        self._gaps = pa.array([*self.markers, *([] if "" in self.labels else [""])], pa.string())

    def read(self, column: Any) -> Any:
        """A batch as an Arrow dictionary array over the labels, null where the answer is missing."""
        import pyarrow as pa
        import pyarrow.compute as pc

        text = as_text(column, self.name)
        absent = pc.or_(text.is_null(), pc.is_in(text, value_set=self._gaps))
        codes = pc.index_in(_spelled(text, type(self.labels[0])), value_set=self._spellings)
        unknown = pc.and_(codes.is_null(), pc.invert(absent))
        seen = self.rows + len(text)
        if pc.any(unknown).as_py():
            raise DataError(
                f"column {self.name!r} holds a label that the design does not know, {self._where(unknown, seen)}; "
                f"allowed labels: {shown(self.labels)}. Recode it, declare it, or call it missing with --na."
            )
        if not self.keep_missing and pc.any(absent).as_py():
            raise DataError(
                f"column {self.name!r} has missing values, {self._where(absent, seen)}; use --missing keep to leave "
                "those reports empty, or declare a category for them."
            )
        self.rows, self.missing = seen, self.missing + pc.sum(absent).as_py()
        return pa.DictionaryArray.from_arrays(pc.if_else(absent, None, codes), self._categories)

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
            text = as_text(column, self.name)
            self._refuse(pc.or_(text.is_null(), pc.equal(text, "").fill_null(True)), "is empty")
            ids = self._numbers(text) if self.whole_numbers else read_ids(text)
        self._seen.append(ids if isinstance(ids, np.ndarray) else text_blocks(ids, self._hash_key))
        self.rows += len(column)
        return ids

    def _numbers(self, text: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        spelled = _spelled(text, int)
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


def distinct_labels(columns: Iterator[Any], name: str, most: int) -> list[Label]:
    """The sorted labels that occur in a column: whole numbers or true and false where its type says so, else text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found: set[Label] = set()
    for column in columns:
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        typed = pa.types.is_integer(column.type) or pa.types.is_boolean(column.type)
        cells = pc.unique(column if typed else as_text(column, name)).drop_null().to_pylist()
        found.update(cell for cell in cells if cell != "")
        if len(found) > most:
            raise DataError(f"column {name!r} holds more than {most:,} different values; name the categories yourself.")
    return sorted(found)
