"""What an intruder may make of columns before comparing them with a key: parts of one, and two of them together.

Born and surveyed in two years tell the age by their difference, and a code that ends in the region tells the region,
though no column does so by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskwell.release.staying_columns import Staying
from maskwell.tables.codes import Floats, Ints
from maskwell.tables.encoded import EncodedTable

_TENS = (10, 100, 1000)
_TOKENS = 4
_ENDS = (1, 2, 3)
_MOSTLY = 0.95
"""A text is a number if this share of its values is."""
_DIGITS = 9
"""Decimals that count: 0.1 + 0.2 is 0.3."""


class Part(NamedTuple):
    """A column as it is, or a part of it."""

    column: str
    how: str = ""
    pattern: str = ""
    """What is taken out of a text: the first group of this pattern, all else for ``erase``."""
    over: int = 0
    modulo: int = 0

    @property
    def words(self) -> str:
        """The part by name."""
        return f"{self.how} of {self.column}" if self.how else self.column


@dataclass(frozen=True)
class Recipe:
    """How a derived column is made."""

    parts: tuple[Part, ...]
    how: str

    @property
    def made_of(self) -> tuple[str, ...]:
        """The columns of the file in it."""
        return tuple(dict.fromkeys(part.column for part in self.parts))

    @property
    def name(self) -> str:
        """In words."""
        if len(self.parts) == 1:
            return self.parts[0].words
        return f"{' and '.join(part.words for part in self.parts)} together ({self.how})"


class Values:
    """The values of parts, in some rows of a table or in all of them."""

    def __init__(self, table: EncodedTable, rows: Ints | None = None) -> None:
        self._table, self._rows = table, rows
        self._numbers: dict[Part, Floats | None] = {}

    def made(self, recipe: Recipe) -> NDArray[Any]:
        """A derived column; equal values are equal, and numbers are in order."""
        if recipe.how == "both":
            first, second = (_codes(self.of(part)) for part in recipe.parts)
            joint: Ints = first.codes * second.size + second.codes
            return joint
        if len(recipe.parts) == 1:
            return self.of(recipe.parts[0])
        first_number, second_number = (self.number(part) for part in recipe.parts)
        assert first_number is not None
        assert second_number is not None
        both = first_number + second_number if recipe.how == "their sum" else first_number - second_number
        return np.round(both, _DIGITS)

    def of(self, part: Part) -> NDArray[Any]:
        """A part as numbers, or as codes where it is text."""
        if part.over or part.modulo or (not part.pattern and self.number(part) is not None):
            number = self.number(part)
            assert number is not None
            return number
        codes: Ints = self._text(part)[0]
        return codes

    def number(self, part: Part) -> Floats | None:
        """A part as numbers, if it is one."""
        if part not in self._numbers:
            self._numbers[part] = self._number(part)
        return self._numbers[part]

    def column(self, name: str) -> Any:
        """A column as it is in the file."""
        import pyarrow as pa

        array = self._table.array(name)
        return array if self._rows is None else array.take(pa.array(self._rows))

    def _number(self, part: Part) -> Floats | None:
        if part.over or part.modulo:
            plain = self.number(Part(part.column))
            if plain is None:
                return None
            return np.floor(plain / part.over) if part.over else np.mod(plain, part.modulo)
        import pyarrow as pa
        import pyarrow.compute as pc

        array = self.column(part.column)
        kinds = pa.types
        if not part.pattern and (kinds.is_integer(array.type) or kinds.is_floating(array.type)):
            return np.asarray(pc.cast(array, pa.float64(), safe=False).to_numpy(zero_copy_only=False))
        if not part.pattern and kinds.is_date(array.type):
            return np.asarray(
                pc.cast(pc.cast(array, pa.date32()), pa.int32()).to_numpy(zero_copy_only=False), np.float64
            )
        codes, labels = self._text(part)
        numbers = np.array([_as_number(label) for label in labels] or [math.nan])[codes]
        filled = np.array([label not in (None, "") for label in labels] or [False])[codes]
        known = np.isfinite(numbers)
        return numbers if filled.any() and known.sum() >= _MOSTLY * filled.sum() else None

    def _text(self, part: Part) -> tuple[Ints, list[str | None]]:
        import pyarrow as pa
        import pyarrow.compute as pc

        array = self.column(part.column)
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        dictionary = pc.dictionary_encode(array) if not pa.types.is_dictionary(array.type) else array
        dictionary = dictionary.combine_chunks() if isinstance(dictionary, pa.ChunkedArray) else dictionary
        labels = pc.cast(dictionary.dictionary, pa.string())
        if part.pattern:
            labels = pc.struct_field(pc.extract_regex(labels, pattern=part.pattern), "part")
        elif part.how in _ERASED:
            labels = pc.replace_substring_regex(labels, pattern=_ERASED[part.how], replacement="")
        taken = pc.dictionary_encode(labels)
        spelled: list[str | None] = [*taken.dictionary.to_pylist(), None]
        code_of_label = pc.fill_null(taken.indices, len(spelled) - 1).to_numpy(zero_copy_only=False).astype(np.int64)
        indices = pc.fill_null(dictionary.indices, len(code_of_label)).to_numpy(zero_copy_only=False).astype(np.int64)
        codes: Ints = np.append(code_of_label, len(spelled) - 1)[indices]
        return codes, spelled


_ERASED = {"the digits": "[^0-9]", "the letters": r"[^\p{L}]"}


class _Codes(NamedTuple):
    codes: Ints
    size: int


def _codes(values: NDArray[Any]) -> _Codes:
    levels, codes = np.unique(values, return_inverse=True)
    return _Codes(codes.astype(np.int64), len(levels))


def as_column(recipe: Recipe, values: Values) -> Staying:
    """A derived column by the rank of its values, like those of the file."""
    return Staying(recipe.name, *_codes(values.made(recipe)))


def _as_number(label: str | None) -> float:
    try:
        return float(label or "nan")
    except ValueError:
        return math.nan


class Ingredients:
    """What a file has to derive columns from."""

    def __init__(self, values: Values, staying: Sequence[Staying], few: int) -> None:
        self._values, self._names = values, [column.name for column in staying]
        self._few = [column.name for column in staying if 1 < column.size <= few]

    @cached_property
    def numbers(self) -> list[Part]:
        """Columns of numbers, and numbers in texts, such as the year of a date."""
        plain = [part for part in map(Part, self._names) if self._varies(part)]
        named = {part.column for part in plain}
        within = [part for part in self._of_texts() if part.column not in named and part.pattern and self._varies(part)]
        return [*plain, *within]

    def parts(self) -> Iterator[Recipe]:
        """Parts of one column: of numbers their last and leading digits, of texts what stands between separators."""
        for part in self.numbers:
            number = self._values.number(part)
            if not part.pattern and number is not None:
                reach = float(np.nanmax(number) - np.nanmin(number))
                for ten in (ten for ten in _TENS if reach > ten):
                    last = Part(part.column, f"the last {len(str(ten)) - 1} digits", modulo=ten)
                    leading = Part(part.column, f"the digits before the last {len(str(ten)) - 1}", over=ten)
                    yield from (Recipe((made,), made.how) for made in (last, leading))
        yield from (Recipe((part,), part.how) for part in self._of_texts())

    def pairs_of_numbers(self) -> list[Recipe]:
        """Sums and differences."""
        return [
            Recipe(pair, how)
            for pair in combinations(self.numbers, 2)
            if pair[0].column != pair[1].column
            for how in ("their difference", "their sum")
        ]

    def pairs_of_few(self) -> list[Recipe]:
        """Two columns of few values at once."""
        return [Recipe((Part(one), Part(other)), "both") for one, other in combinations(self._few, 2)]

    def _of_texts(self) -> Iterator[Part]:
        import pyarrow as pa

        for name in self._names:
            kind = self._values.column(name).type
            kind = kind.value_type if pa.types.is_dictionary(kind) else kind
            if name in self._few or not (
                pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_temporal(kind)
            ):
                continue
            for place in range(_TOKENS):
                skipped = r"(?:[\p{L}\p{N}]+[^\p{L}\p{N}]+){" + str(place) + "}"
                yield Part(name, f"part {place + 1}", rf"^[^\p{{L}}\p{{N}}]*{skipped}(?P<part>[\p{{L}}\p{{N}}]+)")
            yield Part(name, "the last part", r"(?P<part>[\p{L}\p{N}]+)[^\p{L}\p{N}]*$")
            yield from (Part(name, how) for how in _ERASED)
            for length in _ENDS:
                characters = "character" if length == 1 else f"{length} characters"
                yield Part(name, f"the first {characters}", rf"^(?P<part>.{{{length}}})")
                yield Part(name, f"the last {characters}", rf"(?P<part>.{{{length}}})$")

    def _varies(self, part: Part) -> bool:
        number = self._values.number(part)
        if number is None:
            return False
        known = number[np.isfinite(number)]
        return len(known) > 0 and bool(known.min() < known.max())
