"""Ways to make the values of a column coarser: each maps a value to another one, whatever record holds it.

A way is data: it is stored in a plan by its parameters, and a release that is repeated recodes in the same way. A
missing value stays missing, unless a recoding says what it becomes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from maskwell.errors import DataError

_LONGEST = 1 << 64
ANY = "any"
"""The one category that is left where a key says nothing any more."""


class Way(ABC):
    """A way to make values coarser."""

    kind: ClassVar[str]
    kinds: ClassVar[dict[str, type[Way]]] = {}
    of_numbers: ClassVar[bool] = False
    """Whether only numbers can be recoded so."""
    gives_numbers: ClassVar[bool] = False
    """Whether numbers come out."""

    def __init_subclass__(cls) -> None:
        Way.kinds[cls.kind] = cls

    @abstractmethod
    def values(self, labels: Sequence[Any], name: str) -> list[Any]:
        """The new value of each label of the column ``name``; none of them is missing."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Its parameters, ready for JSON."""

    @classmethod
    @abstractmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Way:
        """The inverse of ``to_dict``."""

    @abstractmethod
    def __str__(self) -> str: ...


@dataclass(frozen=True)
class Intervals(Way):
    """Numbers by the interval that they lie in."""

    width: float | None
    breaks: tuple[float, ...]
    """Where intervals start, if they have no common width."""

    kind = "intervals"
    of_numbers = True

    def __post_init__(self) -> None:
        if (self.width is None) == (not self.breaks):
            raise DataError("intervals take a width or the breaks where they start; give one of them.")
        if self.width is not None and not (_is_number(self.width) and self.width > 0):
            raise DataError(f"the width of intervals must be a positive number; got {self.width!r}.", parameter="width")
        if not all(map(_is_number, self.breaks)) or sorted(set(self.breaks)) != list(self.breaks):
            raise DataError("breaks must be numbers in rising order, where intervals start.", parameter="breaks")

    def values(self, labels: Sequence[Any], name: str) -> list[Any]:
        whole = self._are_whole(labels)
        return [self._named(label, whole) for label in labels]

    def _named(self, value: float, whole: bool) -> str:
        if self.width is None:
            at = bisect_right(self.breaks, value)
            if at == 0:
                return f"below {_text(self.breaks[0])}"
            if at == len(self.breaks):
                return f"{_text(self.breaks[-1])} and above"
            return _interval(self.breaks[at - 1], self.breaks[at], whole)
        start, width = math.floor(self._place(value)), _written(self.width)
        return _interval(start * width, (start + 1) * width, whole)

    def starts_at(self, value: float) -> bool:
        """Whether an interval starts at this number."""
        return value in self.breaks if self.width is None else self._place(value).denominator == 1

    def ends_at(self, value: float, labels: Sequence[Any]) -> bool:
        """Whether an interval of these values ends with this number: of whole ones with the one before the next."""
        return self.starts_at(value + 1 if self._are_whole(labels) else value)

    def _are_whole(self, labels: Sequence[Any]) -> bool:
        return all(float(number).is_integer() for number in (*labels, *self.breaks, self.width or 1))

    def _place(self, value: float) -> Fraction:
        """A number in widths."""
        return _written(value) / _written(self.width or 1)

    def to_dict(self) -> dict[str, Any]:
        return {"width": self.width} if self.width is not None else {"breaks": list(self.breaks)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Intervals:
        return cls(stored.get("width"), tuple(stored.get("breaks", ())))

    def __str__(self) -> str:
        if self.width is not None:
            return f"intervals of {_text(self.width)}"
        return f"intervals from {', '.join(map(_text, self.breaks))}"


@dataclass(frozen=True)
class Rounded(Way):
    """Numbers to the nearest multiple of one, halves to the even multiple."""

    to: float

    kind = "rounded"
    of_numbers = gives_numbers = True

    def __post_init__(self) -> None:
        if not (_is_number(self.to) and self.to > 0):
            raise DataError(f"numbers are rounded to a positive number; got {self.to!r}.", parameter="to")

    def values(self, labels: Sequence[Any], name: str) -> list[Any]:
        to = _written(self.to)
        rounded = [round(_written(label) / to) * to for label in labels]
        return [int(number) if isinstance(self.to, int) else float(number) for number in rounded]

    def to_dict(self) -> dict[str, Any]:
        return {"to": self.to}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Rounded:
        return cls(stored["to"])

    def __str__(self) -> str:
        return f"rounded to {_text(self.to)}"


@dataclass(frozen=True)
class Named(Way):
    """Values by a list that names the new value of each; those that are not in it stay, if they may."""

    pairs: tuple[tuple[Any, Any], ...]
    words: str
    """What it is called, such as ``level 1 of regions.csv``."""
    others_stay: bool

    kind = "named"

    def values(self, labels: Sequence[Any], name: str) -> list[Any]:
        known = {spelled(old): new for old, new in self.pairs}
        unknown = [label for label in labels if spelled(label) not in known]
        if unknown and not self.others_stay:
            none = (
                "; none of its lines is about one of them: are they codes where the table has labels, or the reverse?"
            )
            raise DataError(
                f"the hierarchy of {name!r} ({self.words}) does not name {len(unknown)} of the {len(labels)} values "
                f"that occur{none if len(unknown) == len(labels) else '; give every value a line.'}"
            )
        occur = {spelled(label) for label in labels}
        if self.others_stay and known and not occur & set(known):
            raise DataError(
                f"none of the values that are merged occurs in {name!r}; check how they are spelled, and whether they "
                "are codes where the table has labels."
            )
        found = [known.get(spelled(label), label) for label in labels]
        # One kind of value in a column: text, as soon as one of them is.
        return [str(value) for value in found] if len({isinstance(value, str) for value in found}) > 1 else found

    def to_dict(self) -> dict[str, Any]:
        return {"pairs": [list(pair) for pair in self.pairs], "words": self.words, "others_stay": self.others_stay}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Named:
        pairs = tuple((old, new) for old, new in stored["pairs"])
        if not all(isinstance(value, (str, int, float)) for pair in pairs for value in pair):
            raise TypeError("a list of new values holds texts and numbers")
        return cls(pairs, str(stored["words"]), bool(stored["others_stay"]))

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True)
class OneCategory(Way):
    """All values become one, so that the column says nothing any more."""

    kind = "one category"

    def values(self, labels: Sequence[Any], name: str) -> list[Any]:
        return [ANY] * len(labels)

    def to_dict(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> OneCategory:
        return cls()

    def __str__(self) -> str:
        return "one category"


@dataclass(frozen=True)
class Recode:
    """What happens to a column: a way, and codes for its ends. ``intervals``, ``groups`` … make it."""

    way: Way | None = None
    top: float | None = None
    """From this number on all values become one."""
    bottom: float | None = None
    """Up to this number all values become one."""
    missing: str | float | None = None
    """What missing values become; None if they stay missing."""

    def __post_init__(self) -> None:
        if not isinstance(self.missing, (str, int, float, type(None))):
            raise DataError(f"missing values become a text or a number; got {type(self.missing).__name__}.")
        for end in (self.top, self.bottom):
            if end is not None and not _is_number(end):
                raise DataError(f"top and bottom codes are numbers; got {end!r}.")
        if self.top is not None and self.bottom is not None and self.bottom >= self.top:
            raise DataError(f"the bottom code must lie below the top code; got {self.bottom!r} and {self.top!r}.")
        way = self.way
        if isinstance(way, Intervals) and self.top is not None and not way.starts_at(self.top):
            raise DataError(f"the top code {_text(self.top)} lies inside one of the {way}; begin it where one starts.")
        if way is not None and not way.of_numbers and (self.top is not None or self.bottom is not None):
            raise DataError("top and bottom codes are for numbers, not for categories that are merged.")

    def values(self, labels: Sequence[Any], name: str) -> list[Any]:
        """The new value of each label; that of a missing value, None, is None unless ``missing`` says another."""
        present = [label for label in labels if label is not None]
        ends = self.top is not None or self.bottom is not None
        if (ends or (self.way is not None and self.way.of_numbers)) and not all(map(_is_number, present)):
            raise DataError(
                f"{self} is for numbers, but {name!r} holds other values as well; say what means missing, or merge "
                "categories instead. (Where an SPSS or Stata file labels every code, the labels are the values.)"
            )
        if isinstance(self.way, Intervals) and self.bottom is not None and not self.way.ends_at(self.bottom, present):
            raise DataError(
                f"the bottom code {_text(self.bottom)} lies inside an interval of {name!r}; end it where one ends."
            )
        new = iter(self.way.values(present, name) if self.way is not None else present)
        found = [self.missing if label is None else self._end(label, next(new)) for label in labels]
        # One kind of value in a column.
        mixed = isinstance(self.missing, str) and not all(isinstance(value, str) for value in found)
        return [None if value is None else spelled(value) for value in found] if mixed else found

    def _end(self, label: Any, new: Any) -> Any:
        numbers = self.way is None or self.way.gives_numbers
        if self.top is not None and label >= self.top:
            return self.top if numbers else f"{_text(self.top)} and above"
        if self.bottom is not None and label <= self.bottom:
            return self.bottom if numbers else f"{_text(self.bottom)} and below"
        return new

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        way = {} if self.way is None else {"way": self.way.kind, **self.way.to_dict()}
        ends = {"top": self.top, "bottom": self.bottom, "missing": self.missing}
        return way | {name: end for name, end in ends.items() if end is not None}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Recode:
        """The inverse of ``to_dict``."""
        way = Way.kinds[stored["way"]].from_dict(stored) if "way" in stored else None
        return cls(way, stored.get("top"), stored.get("bottom"), stored.get("missing"))

    def __str__(self) -> str:
        parts = [] if self.way is None else [str(self.way)]
        parts += [] if self.top is None else [f"top {_text(self.top)}"]
        parts += [] if self.bottom is None else [f"bottom {_text(self.bottom)}"]
        parts += [] if self.missing is None else [f"missing values too (as {self.missing})"]
        return ", ".join(parts) or "as it is"


def intervals(
    width: float | None = None,
    *,
    breaks: Sequence[float] = (),
    top: float | None = None,
    bottom: float | None = None,
) -> Recode:
    """Numbers by intervals of one ``width``, or by the ``breaks`` where they start; with codes for the ends.

    >>> intervals(5, top=90).values([3, 24, 91, None], "age")
    ['0 to 4', '20 to 24', '90 and above', None]
    """
    return Recode(Intervals(width, tuple(breaks)), top, bottom)


def rounded(to: float, *, top: float | None = None, bottom: float | None = None) -> Recode:
    """Numbers rounded to the nearest multiple.

    >>> rounded(1000).values([1499, 23500.5], "income")
    [1000, 24000]
    """
    return Recode(Rounded(to), top, bottom)


def ends(*, top: float | None = None, bottom: float | None = None) -> Recode:
    """Top and bottom codes alone: all values from ``top`` on become ``top``, all up to ``bottom`` become ``bottom``.

    >>> ends(top=90).values([17, 90, 99], "age")
    [17, 90, 90]
    """
    if top is None and bottom is None:
        raise DataError("ends takes a top code, a bottom code or both.")
    return Recode(None, top, bottom)


def groups(merged: Mapping[str, Sequence[Any]]) -> Recode:
    """Categories merged into new ones, named by the keys; the others stay. None among them stands for missing values.

    >>> groups({"once married": ["widowed", "divorced"]}).values(["single", "widowed"], "marital")
    ['single', 'once married']
    >>> groups({"unknown": [None, "no answer"]}).values([None, "no answer", "nurse"], "job")
    ['unknown', 'unknown', 'nurse']
    """
    if any(isinstance(members, str) for members in merged.values()):
        raise DataError("groups must map each new category to a list of those that it merges.", parameter="groups")
    pairs = [(old, new) for new, members in merged.items() for old in members]
    if not pairs or len({None if old is None else spelled(old) for old, _ in pairs}) < len(pairs):
        raise DataError("groups must name categories to merge, each of them once.", parameter="groups")
    named = tuple((old, new) for old, new in pairs if old is not None)
    missing = next((new for old, new in pairs if old is None), None)
    return Recode(Named(named, f"merged into {', '.join(map(str, merged))}", True), missing=missing)


def one_category(*, missing: bool = False) -> Recode:
    """All values become one category: the end of every ladder. With ``missing`` missing values do so too.

    >>> one_category().values([1, 2, None], "age"), one_category(missing=True).values([1, 2, None], "age")
    (['any', 'any', None], ['any', 'any', 'any'])
    """
    return Recode(OneCategory(), missing=ANY if missing else None)


def read_recode(value: Any, name: str) -> Recode:
    """What a caller says of one column."""
    if not isinstance(value, Recode):
        makers = "intervals, rounded, ends, groups, hierarchy or one_category"
        raise DataError(f"recoding of {name!r} must be made by {makers} of mw.release; got {type(value).__name__}.")
    return value


def read_recoding(recoding: Any) -> dict[str, Recode]:
    """A recoding by column."""
    if not isinstance(recoding, Mapping) or not all(isinstance(name, str) for name in recoding):
        raise DataError(
            "recoding maps the names of columns to what happens to them, as in {'age': intervals(5)}.",
            parameter="recoding",
        )
    return {name: read_recode(value, name) for name, value in recoding.items()}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _text(number: float | Fraction) -> str:
    """A number as one writes it; whole ones with all their digits, as two long identifiers may differ in the last."""
    exact = Fraction(number)
    whole = exact.denominator == 1 and abs(exact) < _LONGEST
    return str(exact.numerator) if whole else f"{float(number):.15g}"


def _written(number: float) -> Fraction:
    """The decimal number that a float stands for: three tenths are in the interval that starts at 0.3."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(float(number)))


def _interval(start: Fraction | float, stop: Fraction | float, whole: bool) -> str:
    if not whole:
        return f"{_text(start)} to below {_text(stop)}"
    return _text(start) if stop - start == 1 else f"{_text(start)} to {_text(stop - 1)}"


def spelled(label: Any) -> str:
    """A value as text: numbers and the texts that spell them are one, as in any file that was read from text."""
    return _text(label) if _is_number(label) else str(label)
