"""A recipe: what happens to every column before a release, as data that a plan stores and that can be repeated."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import DataError
from maskwell.plain_text import nearest
from maskwell.release.recoding.suppression import Suppression, suppressed
from maskwell.release.recoding.ways import Named, Recode, read_recoding, spelled
from maskwell.tables.codes import Coded
from maskwell.tables.encoded import EncodedTable, encoded


@dataclass(frozen=True)
class Recipe:
    """Columns and what happens to them, then local suppression of the keys if it is asked for."""

    columns: Mapping[str, Recode] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    """The columns whose combinations are counted for local suppression."""
    suppression: Suppression | None = None

    def __bool__(self) -> bool:
        return bool(self.columns) or self.suppression is not None

    @property
    def changing(self) -> tuple[str, ...]:
        """The columns that are written anew."""
        return tuple(dict.fromkeys([*self.columns, *(self.keys if self.suppression else ())]))

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        stored: dict[str, Any] = {"columns": {name: recode.to_dict() for name, recode in self.columns.items()}}
        if self.suppression is not None:
            stored |= {"keys": list(self.keys), "suppression": self.suppression.to_dict()}
        return stored

    @staticmethod
    def read(recoding: Any) -> Recipe:
        """What a caller gives: a recipe, or columns and what happens to them."""
        return recoding if isinstance(recoding, Recipe) else Recipe(read_recoding(recoding or {}))

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Recipe:
        """The inverse of ``to_dict``."""
        columns = {str(name): Recode.from_dict(own) for name, own in stored["columns"].items()}
        if "suppression" not in stored:
            return cls(columns)
        asked = stored["suppression"]
        suppression = Suppression(asked["k"], asked["most"], tuple(asked["keep"]))
        return cls(columns, tuple(map(str, stored["keys"])), suppression)

    def lines(self) -> list[str]:
        """What it does, in words, a line for each column."""
        lines = [f"{name}: {recode}" for name, recode in self.columns.items()]
        if self.suppression is not None:
            lines.append(
                f"keys of combinations of fewer than {self.suppression.k} records: set missing, as few as it takes"
            )
        return lines


@dataclass(frozen=True)
class Merged:
    """What a category that others were merged into took."""

    column: str
    into: Any
    values: int
    """Those of them that occur."""
    records: int

    def __str__(self) -> str:
        one = self.values == 1
        records = f"{self.records:,} record{'' if self.records == 1 else 's'}"
        return f"{self.column}: {self.into} takes {self.values:,} value{'' if one else 's'} of {records}"


@dataclass(frozen=True, eq=False)
class Applied:
    """A table after a recipe."""

    before: EncodedTable
    after: EncodedTable
    gone: NDArray[np.bool_]
    """Which keys of which records were set missing; no column if none could be."""
    merged: tuple[Merged, ...] = ()
    """What each category that others were merged into took."""


def apply(recipe: Recipe, table: Any) -> Applied:
    """Recode the table's columns, then suppress."""
    source = encoded(table)
    source.arrays(list(recipe.changing))  # an error if one is not there
    n = len(source.array(source.names[0])) if source.names else 0
    ways = {name: for_table(recode, name, source) for name, recode in recipe.columns.items()}
    columns = {name: recoded_column(source.coded(name), recode) for name, recode in ways.items()}
    gone = np.zeros((n, 0), bool)
    if recipe.suppression is not None:
        keys = [columns.get(name) or source.coded(name) for name in recipe.keys]
        gone = suppressed(keys, recipe.suppression)
        for i, key in enumerate(keys):
            if gone[:, i].any():
                columns[key.name] = without_values(key, gone[:, i])
    if not columns:
        return Applied(source, source, gone)
    orders = {name: _in_order(source, name, recode) for name, recode in ways.items()}
    merged = [each for name, recode in ways.items() for each in _merged(source.coded(name), recode)]
    return Applied(source, encoded(with_columns(source.native, columns, orders)), gone, tuple(merged))


def _merged(column: Coded, recode: Recode) -> list[Merged]:
    """What each new category takes, of a recoding that names what it merges."""
    way = recode.way
    if not isinstance(way, Named) or not way.others_stay:
        return []
    counts = np.bincount(column.codes, minlength=column.size).tolist()
    into = {spelled(old): new for old, new in way.pairs}
    taken: dict[Any, list[int]] = {new: [] for _, new in way.pairs}
    if recode.missing is not None:
        taken.setdefault(recode.missing, [])
    for label, count in zip(column.labels, counts, strict=True):
        new = recode.missing if label is None else into.get(spelled(label))
        if new is not None:
            taken[new].append(count)
    return [Merged(column.name, new, len(own), sum(own)) for new, own in taken.items()]


def for_table(recode: Recode, name: str, table: EncodedTable) -> Recode:
    """A recoding of a table's column: by labels where it names codes, and every category that it merges is one of its.

    The labels are the values of a column of an SPSS or Stata file. A code is looked up only where no label is spelled
    like it.
    """
    way = recode.way
    if not isinstance(way, Named):
        return recode
    labels = _labels_of_codes(name, table)
    texts = set(labels.values())
    codes = {spelled(code): label for code, label in labels.items()}
    pairs = tuple((old if old in texts else codes.get(spelled(old), old), new) for old, new in way.pairs)
    if way.others_stay:
        _refuse_unknown([old for old, _ in pairs], name, table, codes)
    return dataclasses.replace(recode, way=dataclasses.replace(way, pairs=pairs))


def _labels_of_codes(name: str, table: EncodedTable) -> Mapping[Any, str]:
    """The value labels of a column of an SPSS or Stata file."""
    from maskwell.microdata import Microdata

    native = table.native
    if not isinstance(native, Microdata) or native.kind not in ("spss", "stata"):
        return {}
    return native.variable(name).value_labels


def _refuse_unknown(named: Sequence[Any], name: str, table: EncodedTable, codes: Mapping[str, str]) -> None:
    """An error if a category that is merged neither occurs nor is a label: misspelled, it would stay as it is."""
    import pyarrow as pa

    array = table.array(name)
    declared = array.dictionary.to_pylist() if pa.types.is_dictionary(array.type) else []
    there = {spelled(label) for label in (*table.coded(name).labels, *declared, *codes.values()) if label is not None}
    unknown = [old for old in named if spelled(old) not in there]
    if not unknown:
        return
    none = " None of those that it merges is: are they codes where the table has labels, or the reverse?"
    cut = [(code, label) for code, label in codes.items() if unknown[0] in map(str.strip, label.split(","))]
    comma = "".join(f" Write {code} for {label!r}, whose comma separates two." for code, label in cut[:1])
    raise DataError(
        f"the recoding of {name!r} merges {', '.join(map(repr, unknown[:5]))}{' …' if len(unknown) > 5 else ''}, which "
        f"none of its {len(there):,} categories is{nearest(spelled(unknown[0]), sorted(there))}."
        f"{comma or (none if len(unknown) == len(named) else '')}"
    )


def _in_order(table: EncodedTable, name: str, recode: Recode) -> list[Any]:
    """The new values in the order of the old ones: that of numbers, or of the codes of labels."""
    import pyarrow as pa

    old = list(table.coded(name).labels)
    array = table.array(name)
    if pa.types.is_dictionary(array.type) and not all(isinstance(label, (int, float, type(None))) for label in old):
        old = [label for label in array.dictionary.to_pylist() if label in set(old)]
    return list(dict.fromkeys(value for value in recode.values(old, name) if value is not None))


def recoded_column(column: Coded, recode: Recode) -> Coded:
    """A column with its labels recoded; a label that nobody has is none."""
    new = recode.values(column.labels, column.name)
    if any(value is None for label, value in zip(column.labels, new, strict=True) if label is not None):
        raise DataError(f"the recoding of {column.name!r} gives no value for some that occur.")
    present = [value for value in new if value is not None]
    labels: list[Any] = sorted(set(present), key=lambda value: (isinstance(value, str), value))
    place = {label: code for code, label in enumerate(labels)}
    codes = np.array([place[value] if value is not None else len(labels) for value in new], np.int32)[column.codes]
    missing = column.missing if recode.missing is None else 0
    return Coded(column.name, codes, (*labels, None) if missing else tuple(labels), missing)


def without_values(column: Coded, gone: NDArray[np.bool_]) -> Coded:
    """A column some of whose values are missing now; labels that nobody has any more are left out."""
    codes = (
        np.where(gone, -1, column.codes)
        if not column.missing
        else np.where(gone | (column.codes == column.size - 1), -1, column.codes)
    )
    kept = np.unique(codes[codes >= 0])
    place = np.full(column.size + 1, len(kept), np.int32)
    place[kept] = np.arange(len(kept))
    labels = tuple(column.labels[code] for code in kept.tolist())
    missing = int((codes < 0).sum())
    return Coded(column.name, place[codes], (*labels, None) if missing else labels, missing)


def with_columns(native: Any, columns: Mapping[str, Coded], orders: Mapping[str, Sequence[Any]]) -> Any:
    """The table with these columns in place of its own; a file that gives labels codes does so in their order."""
    from maskwell.microdata import Microdata

    arrays = {name: _array(column) for name, column in columns.items()}
    if isinstance(native, Microdata):
        return native.with_columns(arrays, orders)
    if isinstance(native, Mapping):
        return {name: _like(own, arrays[name]) if name in arrays else own for name, own in native.items()}
    import narwhals as nw

    frame = nw.from_native(native)
    frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    backend = frame.implementation
    made = [nw.new_series(name, array.to_pylist(), backend=backend) for name, array in arrays.items()]
    index = getattr(frame.to_native(), "index", None)
    if index is not None:  # pandas puts values where the index says, and the new ones have none of their own
        return frame.to_native().assign(**{series.name: series.to_native().set_axis(index) for series in made})
    return frame.with_columns(*made).to_native()


def _array(column: Coded) -> Any:
    import pyarrow as pa

    labels = pa.array([label for label in column.labels if label is not None])
    absent = column.codes >= len(labels)
    return labels.take(pa.array(column.codes.astype(np.int64), mask=absent))


def _like(old: Any, array: Any) -> Any:
    """A column in a mapping, as plain values where it was plain."""
    if isinstance(old, tuple):
        return tuple(array.to_pylist())
    return array.to_pylist() if isinstance(old, Sequence) and not hasattr(old, "dtype") else array
