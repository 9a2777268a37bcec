"""How a file spells labels: by codes of its own, or with other blanks and capitals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from maskwell.errors import DataError


@dataclass(frozen=True)
class Spellings:
    """Cells of a file in the words of a design: ``codes`` gives labels by what stands for them.

    With ``trim`` blanks around and capitals do not count, where only one label is then meant.

    >>> import pyarrow as pa
    >>> known = Spellings(["never", "Often"], {"0": "never"}, trim=True)
    >>> known.respelled(pa.array(["0", " OFTEN", "x", None])).to_pylist()
    ['never', 'Often', 'x', None]
    """

    labels: Sequence[str]
    codes: Mapping[str, str]
    trim: bool = False
    _plain: dict[str, str | None] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for code in self.codes:
            if code in self.labels:
                raise DataError(f"the code {code!r} is itself a label, and would mean two.", parameter="code")
        if self.trim:
            for label in self.labels:
                self._plain[_plain(label)] = None if _plain(label) in self._plain else label

    def respelled(self, column: Any) -> Any:
        """The column with the labels that its cells mean; cells that mean none as they are."""
        import pyarrow as pa

        if not (self.codes or self.trim):
            return column
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        meant = [None if cell is None else self._meant(_text(cell)) for cell in encoded.dictionary.to_pylist()]
        return pa.array(meant, pa.string()).take(encoded.indices)

    def _meant(self, text: str) -> str:
        bare = text.strip() if self.trim else text
        if bare in self.codes:
            return self.codes[bare]
        if text in self.labels or not self.trim:
            return text
        return self._plain.get(_plain(text)) or text


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _text(cell: Any) -> str:
    """A cell as it is plainly written: 7 of 7.0, true of True."""
    if isinstance(cell, bool):
        return str(cell).lower()
    return f"{cell:.0f}" if isinstance(cell, float) and cell.is_integer() else str(cell)
