"""The column of record ids of a file, a batch at a time. Errors name data rows.

The same file must have the same ids in every engine and on every machine, or a part that is made again draws again.
So types that engines read as another type, or write as another text, are no ids.
"""

from dataclasses import dataclass, field
from typing import Any

from maskwell.errors import DataError
from maskwell.sampling.ids.blocks import read_ids
from maskwell.sampling.ids.seen import SeenIds
from maskwell.tables.matching import as_text, require_one_text, whole_spelling


def read_id_column(column: Any, name: str, whole_numbers: bool = False, first_row: int = 0) -> Any:
    """A batch of ids as NumPy whole numbers or as an Arrow column of text; ``first_row`` counts those before it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def refuse(flags: Any, why: str) -> None:
        if pc.any(flags).as_py():
            row = first_row + pc.index(flags, True).as_py() + 1
            raise DataError(f"the id in column {name!r}, data row {row:,}, {why}.")

    if pa.types.is_dictionary(column.type):
        if pa.types.is_integer(column.type.value_type) and not whole_numbers:
            # Either choice would draw again for somebody: Arrow's rows have been text, those of other engines numbers.
            raise DataError(
                f"the ids in column {name!r} are whole numbers kept as categories, which Maskwell 0.2 took for text; "
                "cast them to text for the same reports as there, or to whole numbers."
            )
        column = column.dictionary_decode()
    require_id_type(column.type, name)
    if pa.types.is_integer(column.type):
        refuse(column.is_null(), "is empty")
        return column.to_numpy(zero_copy_only=False)
    text = as_text(column, f"the ids in column {name!r} are")
    refuse(pc.or_(text.is_null(), pc.equal(text, "").fill_null(True)), "is empty")
    if not whole_numbers:
        return read_ids(text)
    spelled = whole_spelling(text)
    whole = pc.match_substring_regex(spelled, "^-?[0-9]{1,18}$")
    refuse(pc.invert(whole), "is not a whole number below 10^18")
    return spelled.cast(pa.int64()).to_numpy(zero_copy_only=False)


def require_id_type(kind: Any, name: str) -> None:
    """An error unless ids of this Arrow type are the same in every engine."""
    require_one_text(kind, f"the ids in column {name!r} are")


def refuse_missing_ids(missing: int, name: str) -> None:
    """An error where an engine counted ids that are null or an empty text."""
    if missing:
        raise DataError(
            f"the ids in column {name!r} are empty in {missing:,} rows; give these rows an id, or leave them out."
        )


@dataclass
class RecordIds:
    """Reads the ids of keyed masking, and refuses an id that came before anywhere in the file."""

    name: str
    whole_numbers: bool = False
    _seen: SeenIds = field(default_factory=SeenIds, repr=False)

    def read(self, column: Any) -> Any:
        """A batch of ids as NumPy whole numbers or as an Arrow column of text."""
        ids = read_id_column(column, self.name, self.whole_numbers, self._seen.count)
        self._seen.add(ids)
        return ids

    def refuse_repeated(self) -> None:
        """After the last batch: every id must have come once."""
        repeated = self._seen.repeats()
        if repeated:
            raise DataError(
                f"ids must be unique, but {repeated:,} of {self._seen.count:,} in column {self.name!r} repeat another."
            )
