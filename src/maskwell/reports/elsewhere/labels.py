"""Reports that were drawn elsewhere, by a die, a spinner or another program: from labels or sets to packed reports.

What a cell means is found as for true values (``tables.matching``), only that the labels are those of reports. A
set is a list of categories, or in text either a character 0 or 1 for each category, as our own files of reports have
it, or the labels with a separator between them. Errors name rows and counts, never a cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import DataError, ReportError
from maskwell.reports.text import spelled_labels
from maskwell.sampling.samplers import Packed
from maskwell.tables.columns import is_text, only_column
from maskwell.tables.frames import columns_of_variables
from maskwell.tables.labels import shown
from maskwell.tables.matching import Matcher, one_column

if TYPE_CHECKING:
    from maskwell.designs.base import Design

Flags = NDArray[np.bool_]

_CELLS_AT_ONCE = 1 << 24


@dataclass(frozen=True, eq=False)
class Found:
    """Packed reports, where there is none, and which cells are no report that the design can produce."""

    packed: Packed
    absent: Flags
    wrong: Flags
    respelled: int = 0
    """How many wrong cells would be reports but for capitals and blanks."""


_MOST_LISTED = 10_000


def reports_sets(design: Design) -> bool:
    """Whether a report is a set of categories."""
    codec = design.codec
    return codec.bit_masks or isinstance(codec.decode(codec.pack_rows(np.zeros(1, np.int64)))[0], frozenset)


@dataclass(frozen=True)
class ReportReader:
    """Reads the reports of a design that has one variable. ``na`` lists texts that mean missing, as for answers."""

    design: Design
    na: Sequence[str] = ()
    separator: str | None = None

    def __post_init__(self) -> None:
        if self.separator == "":
            raise DataError("separator must be the text between the labels of a set, such as ';'.", "separator")
        if self.separator is not None and not self._reports_sets:
            raise DataError(
                f"separator is for reports that are sets; those of {self.design.title} are single labels.",
                parameter="separator",
            )

    @cached_property
    def _reports_sets(self) -> bool:
        return reports_sets(self.design)

    @cached_property
    def _listed(self) -> list[Any]:
        return self.design.report_labels()

    @cached_property
    def _labels(self) -> tuple[Any, ...]:
        """Reports that are labels, as cells spell them: those of several types as text, as in our own files."""
        labels = self._listed
        return tuple(labels if len(set(map(type, labels))) == 1 else spelled_labels(self.design))

    @cached_property
    def _matcher(self) -> Matcher:
        return Matcher(self._labels, self.na)

    @cached_property
    def _members(self) -> Matcher:
        return Matcher(self.design.categories, self.na)

    @cached_property
    def _rows_of_sets(self) -> dict[bytes, int]:
        """Of a design that stores sets as codes: the code of each set, by its bits."""
        members = self.design.codec.members
        if members is None:
            members = np.array([[category in label for category in self.design.categories] for label in self._listed])
        return {bits.tobytes(): row for row, bits in enumerate(_packed_bits(members))}

    def allowed(self) -> str:
        """What a cell may hold, for an error."""
        if not self._reports_sets:
            return f"its reports are {shown(self._labels)}"
        spelled = (
            f"labels separated by {self.separator!r}"
            if self.separator
            else f"{self.design.k} characters 0 or 1, or labels with a separator= between them"
        )
        return f"its reports are {self._which_sets()} {shown(self.design.categories)}, as lists or as text ({spelled})"

    def _which_sets(self) -> str:
        codec, count = self.design.codec, self.design.channel.report_count()
        if codec.bit_masks:
            sizes, some = codec.set_sizes, "sets"
        elif count <= _MOST_LISTED:
            sizes, some = frozenset(map(len, self._listed)), f"the {count:,} sets of report_labels(), each"
        else:
            return f"{count:,} sets of the categories"
        least, most = min(sizes), max(sizes)
        return (
            f"{some} of {least} to {most} of the categories" if least < most else f"{some} of {least} of the categories"
        )

    def read(self, column: Any, what: str) -> Found:
        """The reports of a column; an error about its type begins with ``what``, such as "values are"."""
        if self._reports_sets:
            found = self._read_sets(_sets_as_lists(only_column(column, "values")), what)
        else:
            array = one_column(column)
            matched = self._matcher.match(array, what)
            codes = matched.positions.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
            none = np.zeros(len(array), np.bool_)
            absent, wrong = (
                none if flags is None else flags.to_numpy(zero_copy_only=False)
                for flags in (matched.absent, matched.unknown)
            )
            found = Found(self.design.codec.pack_rows(codes), absent, wrong, self._respelled(array, wrong))
        return self._with_impossible(found)

    def _with_impossible(self, found: Found) -> Found:
        """Also flagged: reports that have a spelling, and that the design cannot produce."""
        packed, wrong, codec = found.packed, found.wrong, self.design.codec
        packed[found.absent | wrong] = 0
        there = np.flatnonzero(~(found.absent | wrong))
        if codec.first_impossible(packed[there]) >= 0:
            wrong = wrong.copy()
            if codec.bit_masks:
                sizes = np.bitwise_count(packed[there]).sum(axis=1)
                wrong[there] = ~np.isin(sizes, list(codec.set_sizes))
            else:
                codes = np.unique(packed[there])
                wrong[there] = np.isin(packed[there], [c for c in codes if codec.first_impossible(np.array([c])) >= 0])
        return replace(found, packed=packed, wrong=wrong)

    def _respelled(self, array: Any, wrong: Flags) -> int:
        import pyarrow as pa

        if not wrong.any() or not all(isinstance(label, str) for label in self._labels):
            return 0
        cells = array.filter(pa.array(wrong))
        cells = cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells
        plain = {" ".join(label.split()).casefold() for label in self._labels}
        return sum(" ".join(str(cell).split()).casefold() in plain for cell in cells.to_pylist())

    def hint(self, found: Found) -> str:
        """Why cells are wrong, if it can be told without showing any."""
        few = found.respelled
        return f" {few:,} of these would be reports but for capitals and blanks." if few else ""

    def _read_sets(self, array: Any, what: str) -> Found:
        import pyarrow as pa

        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        kind = array.type
        if not (is_text(kind) or _is_list(kind) or pa.types.is_null(kind)):
            raise ReportError(f"{what} of type {kind}, but {self.allowed()}.", parameter="values")
        step = max(1, _CELLS_AT_ONCE // self.design.k)
        parts = [self._part(array.slice(start, step), what) for start in range(0, len(array), step)]
        if not parts:
            return Found(self.design.sampler.empty(0), np.zeros(0, np.bool_), np.zeros(0, np.bool_))
        return Found(
            np.concatenate([part.packed for part in parts]),
            np.concatenate([part.absent for part in parts]),
            np.concatenate([part.wrong for part in parts]),
        )

    def _part(self, array: Any, what: str) -> Found:
        import pyarrow as pa
        import pyarrow.compute as pc

        absent = array.is_null().to_numpy(zero_copy_only=False)
        if pa.types.is_null(array.type):
            members, wrong = np.zeros((len(array), self.design.k), np.bool_), np.zeros(len(array), np.bool_)
        elif is_text(array.type):
            gaps = pa.array([*self.na, ""], array.type)
            absent = absent | pc.is_in(array, value_set=gaps).to_numpy(zero_copy_only=False)
            if self.separator is None:
                members, wrong = self._of_bits(array)
            else:
                members, wrong = self._of_lists(pc.split_pattern(array, self.separator), what, trim=True)
        else:
            members, wrong = self._of_lists(array, what, trim=False)
        members[absent] = False
        packed, unlisted = self._packed(members)
        return Found(packed, absent, (wrong | unlisted) & ~absent)

    def _of_bits(self, array: Any) -> tuple[Flags, Flags]:
        import pyarrow.compute as pc

        right = pc.fill_null(pc.match_substring_regex(array, f"^[01]{{{self.design.k}}}$"), False)
        right = right.to_numpy(zero_copy_only=False)
        members = np.zeros((len(array), self.design.k), np.bool_)
        texts = "".join(array.filter(right).to_pylist()).encode()
        members[right] = (np.frombuffer(texts, np.uint8) == ord("1")).reshape(-1, self.design.k)
        return members, ~right

    def _of_lists(self, lists: Any, what: str, *, trim: bool) -> tuple[Flags, Flags]:
        import pyarrow.compute as pc

        entries = lists.flatten()
        lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
        rows = np.repeat(np.arange(len(lists)), lengths)
        matched = self._members.match(pc.utf8_trim_whitespace(entries) if trim else entries, what)
        known = matched.positions.is_valid().to_numpy(zero_copy_only=False)
        codes = matched.positions.fill_null(0).to_numpy(zero_copy_only=False)
        members, wrong = np.zeros((len(lists), self.design.k), np.bool_), np.zeros(len(lists), np.bool_)
        members[rows[known], codes[known]] = True
        wrong[rows[~known]] = True
        return members, wrong

    def _packed(self, members: Flags) -> tuple[Packed, Flags]:
        """Bit masks, or the codes of listed sets; and which sets are not listed."""
        bits = _packed_bits(members)
        if self.design.codec.bit_masks:
            return bits, np.zeros(len(bits), np.bool_)
        distinct, where = np.unique(bits, axis=0, return_inverse=True)
        codes = np.array([self._rows_of_sets.get(row.tobytes(), -1) for row in distinct], np.int64)[where.ravel()]
        return self.design.codec.pack_rows(np.maximum(codes, 0)), codes < 0


def read_reports_of(design: Design, values: Any, separator: str | None = None) -> Found:
    """The reports of a column; of a design of several variables, those of a table with a column for each."""
    if not design.variables:
        return _checked(ReportReader(design, separator=separator), values, "values")
    columns = columns_of_variables(values, list(design.variables))
    parts = []
    for (name, part), column in zip(design.variables.items(), columns, strict=True):
        reader = ReportReader(part, separator=separator if reports_sets(part) else None)
        parts.append(_checked(reader, column, f"reports of {name!r}"))
    if len({len(part.absent) for part in parts}) > 1:
        raise ReportError("the variables of a table must have equally many reports.", parameter="values")
    absent = reduce(np.logical_or, [part.absent for part in parts])
    packed = design.codec.join([part.packed for part in parts])
    packed[absent] = 0
    return Found(packed, absent, np.zeros(len(absent), np.bool_))


def _checked(reader: ReportReader, column: Any, what: str) -> Found:
    found = reader.read(column, f"{what} are")
    refuse_wrong(found, reader, what)
    return found


def refuse_wrong(found: Found, reader: ReportReader, what: str) -> None:
    """An error that names the first row whose report the design cannot produce."""
    if found.wrong.any():
        raise ReportError(
            f"{what} hold something that {reader.design.title} cannot produce in {int(found.wrong.sum()):,} of "
            f"{len(found.wrong):,} rows, first in row {int(np.argmax(found.wrong)):,}; {reader.allowed()}."
            f"{reader.hint(found)}",
            parameter="values",
        )


def _sets_as_lists(values: Any) -> Any:
    """A column of sets as one Arrow array: sets, which Arrow does not take everywhere, as lists."""
    if getattr(values, "dtype", None) == np.dtype(object):
        values = values.tolist()
    if isinstance(values, (list, tuple)):
        values = [list(cell) if isinstance(cell, (set, frozenset, tuple)) else cell for cell in values]
    return one_column(values)


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _packed_bits(members: Flags) -> NDArray[np.uint8]:
    return np.packbits(members, axis=1, bitorder="little")
