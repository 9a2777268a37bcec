"""The column of record ids of a file, a batch at a time. Errors name data rows."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maskwell.errors import DataError
from maskwell.sampling.entropy import fresh_key
from maskwell.sampling.ids import count_repeated_blocks, count_repeated_numbers, read_ids, text_blocks
from maskwell.tables.matching import as_text, whole_spelling


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
        whole = pc.match_substring_regex(spelled, "^-?[0-9]{1,18}$")
        self._refuse(pc.invert(whole), "is not a whole number below 10^18")
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
