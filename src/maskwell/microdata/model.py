"""A microdata file in memory: a table of values, and how its file spells and describes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from maskwell.errors import DataError
from maskwell.microdata.dictionaries import renewed, restricted, still_there
from maskwell.plain_text import among

_MISSING_IN_STATA = 2.0**1023


@dataclass(frozen=True, eq=False)
class Variable:
    """What a file says of one column besides its values."""

    label: str | None = None
    format: str | None = None
    """How Stata or SPSS displays it, such as ``%9.0g`` or ``F8.2``."""
    storage: str | None = None
    """Stata's type: int8, int16, int32, float, double or string."""
    width: int | None = None
    """The bytes that a text may take."""
    display_width: int | None = None
    measure: str | None = None
    value_labels: Mapping[Any, str] = field(default_factory=dict)
    label_set: str | None = None
    """The name under which Stata stores the value labels; columns may share one."""
    missing: tuple[Any, ...] = ()
    """What SPSS counts as missing: ranges from ``lo`` to ``hi``."""
    codes: Any = None
    """For a dictionary column, what the file holds for each entry: a code, or a cell as it is spelled."""


@dataclass(frozen=True, eq=False)
class Layout:
    """How a CSV file is spelled, so that what is not changed comes out as it went in."""

    header: tuple[bytes, ...]
    """The cells of the first line."""
    delimiter: str = ","
    newline: bytes = b"\n"
    final_newline: bool = True
    encoding: str = "utf-8"
    mark: bytes = b""
    """The byte order mark."""
    na: tuple[str, ...] = ()
    """Texts that mean missing, besides the empty cell."""


@dataclass(frozen=True, eq=False, repr=False)
class Microdata:
    """An Arrow table with what its file knew: labels, formats, codes, missing values.

    A column whose values all have labels of their own is a dictionary of those labels in the order of their codes.
    A dictionary may also hold several entries for one value, or for a missing one, where the file tells them apart:
    1.0 and 1.00, or .a and .b.
    """

    table: Any
    kind: str
    """``csv``, ``arrow``, ``stata`` or ``spss``."""
    variables: Mapping[str, Variable] = field(default_factory=dict)
    label: str | None = None
    notes: tuple[str, ...] = ()
    layout: Layout | None = None

    @property
    def names(self) -> list[str]:
        """The columns, in the order of the file."""
        return list(self.table.column_names)

    def variable(self, name: str) -> Variable:
        """What is known of a column."""
        return self.variables.get(name) or Variable()

    def require(self, names: Sequence[str], parameter: str) -> None:
        """An error if a column is not there."""
        for name in names:
            if name not in self.names:
                # In a CSV file without a header the names would be the first person's answers.
                others = "its first line must name the columns" if self.kind == "csv" else among(name, self.names)
                raise DataError(
                    f"{parameter} names {name!r}, but the file has no such column; {others}.", parameter=parameter
                )

    def values(self, name: str) -> Any:
        """A column as plain values: spellings and codes decoded."""
        import pyarrow as pa

        column = self.table.column(name)
        return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column

    def cells(self, name: str) -> Any:
        """A column as it is matched with the labels of a design: of a CSV file the texts of its cells, else the values.

        So ``design.mask(data.cells("x"))`` reads what ``maskwell mask FILE --column x`` reads.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.layout is None:
            return self.values(name)
        spelled = self.variable(name).codes
        texts = unquoted(spelled)
        absent = pc.is_in(texts, value_set=pa.array([*self.layout.na], pa.string()))
        entries = pc.if_else(absent, pa.scalar(None, pa.string()), texts)
        return pa.DictionaryArray.from_arrays(self.table.column(name).combine_chunks().indices, entries)

    def category(self, name: str) -> Any:
        """A column as a dictionary of labels in their order, each once; None if it holds no categories.

        The spellings of a CSV file are not categories.
        """
        import pyarrow as pa
        import pyarrow.compute

        column = self.table.column(name)
        if self.kind == "csv" or not pa.types.is_dictionary(column.type):
            return None
        array = column.combine_chunks()
        array = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
        labels = array.dictionary
        kinds = pa.types
        if not (
            kinds.is_string(labels.type) or kinds.is_large_string(labels.type) or kinds.is_string_view(labels.type)
        ):
            return None
        if self.kind != "arrow" and not set(labels.drop_null().to_pylist()) <= set(
            self.variable(name).value_labels.values()
        ):
            return None
        if not labels.null_count:
            return array
        # Entries without a label are missing values that the file tells apart.
        kept = labels.drop_null()
        position = pa.compute.index_in(labels, value_set=kept)
        return pa.DictionaryArray.from_arrays(position.take(array.indices), kept, ordered=array.type.ordered)

    def declared_missing(self, name: str) -> dict[float, str]:
        """The labels that are values of a column although an SPSS or Stata file declares their codes missing."""
        import pyarrow as pa
        import pyarrow.compute as pc

        variable, column = self.variable(name), self.table.column(name)
        if self.kind not in ("spss", "stata") or variable.codes is None or not pa.types.is_dictionary(column.type):
            return {}
        whole = column.combine_chunks()
        held = pc.value_counts(whole.indices).field("values").drop_null().to_pylist()
        entries = [(variable.codes[at].as_py(), whole.dictionary[at].as_py()) for at in sorted(held)]
        return {code: label for code, label in entries if isinstance(label, str) and self._is_declared(variable, code)}

    def without_declared(self) -> Microdata:
        """The same file with what it declares missing as missing values; their codes are still written."""
        import pyarrow as pa

        table = self.table
        for position, name in enumerate(self.names):
            gone = self.declared_missing(name)
            if not gone:
                continue
            column = table.column(name).combine_chunks()
            both = zip(self.variable(name).codes.to_pylist(), column.dictionary.to_pylist(), strict=True)
            labels = pa.array([None if code in gone else label for code, label in both], column.dictionary.type)
            table = table.set_column(position, name, pa.DictionaryArray.from_arrays(column.indices, labels))
        return dataclasses.replace(self, table=table)

    @staticmethod
    def _is_declared(variable: Variable, code: Any) -> bool:
        if not isinstance(code, float):
            return any(isinstance(each["lo"], str) and each["lo"] <= code <= each["hi"] for each in variable.missing)
        return code >= _MISSING_IN_STATA or any(_is_in(code, each) for each in variable.missing)

    def with_table(self, table: Any) -> Microdata:
        """The same file with other values in its columns."""
        import pyarrow as pa

        if table.column_names != self.names or table.schema.types != self.table.schema.types:
            raise DataError("the new table must have the columns of the file, in its order and with its types.")
        columns, variables = [], dict(self.variables)
        for name in self.names:
            column, variable = self._renewed(name, table.column(name))
            columns.append(column)
            if variable is not None:
                variables[name] = variable
        # Whoever changed the values may have dropped what the schema says besides them.
        return dataclasses.replace(self, table=pa.table(columns, schema=self.table.schema), variables=variables)

    def with_columns(self, columns: Mapping[str, Any], orders: Mapping[str, Sequence[Any]] | None = None) -> Microdata:
        """The same file with some columns of other values, of which the file knows no formats.

        In an SPSS or Stata file a text that was a label before keeps its code, and stays declared missing if it was.
        Other texts become labels of new codes, in the order of ``orders`` where it names the column, else in that of
        the alphabet.
        """
        import pyarrow as pa

        table, variables = self.table, dict(self.variables)
        for name, values in columns.items():
            old = self.variable(name)
            known = Variable(label=old.label)
            if self.kind == "csv":
                values, spelled = _spelled(values)
                known = dataclasses.replace(known, codes=spelled)
            elif self.kind != "arrow" and pa.types.is_string(values.type):
                labels = _coded(values.unique().drop_null().to_pylist(), old, (orders or {}).get(name, ()))
                entries = pa.array([*labels.values()], pa.string())
                values = pa.DictionaryArray.from_arrays(pa.compute.index_in(values, value_set=entries), entries)
                measure = "nominal" if old.measure == "nominal" else "ordinal" if old.measure else None
                codes = pa.array([*labels], pa.float64())
                declared = _still_missing(old, labels)
                known = dataclasses.replace(known, codes=codes, value_labels=labels, measure=measure, missing=declared)
            variables[name] = known
            table = table.set_column(self.names.index(name), name, values)
        return dataclasses.replace(self, table=table, variables=variables)

    def _renewed(self, name: str, column: Any) -> tuple[Any, Variable | None]:
        """A new column whose dictionary and labels tell nothing of the old values, and what then is known of it."""
        import pyarrow as pa

        old, variable = self.table.column(name), self.variables.get(name)
        if self.kind == "csv":
            return column, variable
        if self.kind == "arrow":
            # Also where no value changed: an order of first occurrence tells the order of the rows.
            if pa.types.is_dictionary(column.type):
                column = renewed(old.combine_chunks(), column.unify_dictionaries().combine_chunks())
            return column, variable
        # Labels that several columns share are a codebook.
        if variable is None or not variable.value_labels or self._shared(variable):
            return column, variable
        there, was = _held(column, variable), _held(old, variable)
        if not set(variable.value_labels) <= was:
            return column, variable
        labels = {code: label for code, label in variable.value_labels.items() if code in there}
        if variable.codes is None:
            return column, dataclasses.replace(variable, value_labels=labels)
        after = column.unify_dictionaries().combine_chunks()
        kept = still_there(old.combine_chunks(), after)
        if kept is None:
            return column, variable
        codes = variable.codes.take(pa.array(kept))
        return restricted(after, kept), dataclasses.replace(variable, codes=codes, value_labels=labels)

    def _shared(self, variable: Variable) -> bool:
        sets = [other.label_set for other in self.variables.values()]
        return variable.label_set is not None and sets.count(variable.label_set) > 1

    def without(self, names: Sequence[str]) -> Microdata:
        """The same file without some of its columns."""
        kept = [position for position, name in enumerate(self.names) if name not in names]
        layout = self.layout
        if layout is not None:
            layout = dataclasses.replace(layout, header=tuple(layout.header[position] for position in kept))
        return dataclasses.replace(self, table=self.table.select(kept), layout=layout)

    def __repr__(self) -> str:
        return f"<microdata of {self.table.num_rows} rows and {len(self.names)} columns, {self.kind}>"


def _coded(texts: Sequence[str], old: Variable, order: Sequence[Any]) -> dict[float, str]:
    """A code for each text, in rising order; no code that meant something else is used again."""
    before = {label: code for code, label in old.value_labels.items() if isinstance(code, (int, float))}
    kept = {before[text]: text for text in texts if text in before}
    place = {text: i for i, text in enumerate(order)}
    new = sorted((text for text in texts if text not in before), key=lambda text: (place.get(text, len(place)), text))
    whole = not kept and all(text.isascii() and text.isdigit() and text == str(int(text)) for text in new)
    # Stata counts codes from 2^1023 on as missing.
    first = int(max((code for code in before.values() if code < _MISSING_IN_STATA), default=0)) + 1 if kept else 1
    codes = [int(text) for text in new] if whole else range(first, first + len(new))
    found = {float(code): text for code, text in kept.items()} | dict(zip(map(float, codes), new, strict=True))
    return dict(sorted(found.items()))


def _still_missing(old: Variable, labels: Mapping[float, str]) -> tuple[Any, ...]:
    """The ranges of codes that SPSS counts as missing, as far as their codes mean what they did."""
    same = [code for code, text in labels.items() if old.value_labels.get(code) == text]
    held = [[code for code in same if _is_in(code, each)] for each in old.missing]
    return tuple({"lo": min(codes), "hi": max(codes)} for codes in held if codes)


def _is_in(code: float, each: Mapping[str, Any]) -> bool:
    return not isinstance(each["lo"], str) and each["lo"] <= code <= each["hi"]


def _spelled(values: Any) -> tuple[Any, Any]:
    """A column as a CSV file holds it: entries, and how the cell of each is spelled; missing values as empty ones."""
    import pyarrow as pa
    import pyarrow.compute as pc

    entries = values.dictionary_encode()
    shown = [entry.as_py() for entry in entries.dictionary]
    texts = [f"{value:.15g}" if isinstance(value, float) else str(value) for value in shown]
    quoted = ['"' + text.replace('"', '""') + '"' if set(text) & set(',;\t"\r\n') else text for text in texts]
    if not values.null_count:
        return entries, pa.array(quoted, pa.string())
    whole = pa.concat_arrays([entries.dictionary, pa.nulls(1, entries.dictionary.type)])
    places = pc.fill_null(entries.indices.cast(pa.int32()), len(shown))
    return pa.DictionaryArray.from_arrays(places, whole), pa.array([*quoted, ""], pa.string())


def unquoted(spelled: Any) -> Any:
    """The texts of the cells of a CSV file, which may stand in quotes."""
    import pyarrow.compute as pc

    inner = pc.replace_substring(pc.utf8_slice_codeunits(spelled, 1, -1), '""', '"')
    return pc.if_else(pc.starts_with(spelled, '"'), inner, spelled)


def _held(column: Any, variable: Variable) -> set[Any]:
    """The codes that occur in a column."""
    import pyarrow as pa

    if variable.codes is None or not pa.types.is_dictionary(column.type):
        return set(column.unique().to_pylist())
    positions = column.combine_chunks().indices.unique().drop_null()
    return set(variable.codes.take(positions).to_pylist())
