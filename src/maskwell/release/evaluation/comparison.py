"""A file before and after its release: frequencies, tables of two columns, associations, and who could be recognised.

Every difference stands beside two standard errors: that of the release, exact and conditional on the true file, and
that of a simple random sample of this size, which a reader has to live with anyway. All of it is for the custodian:
true counts beside released ones tell how many records moved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from maskwell.errors import DataError
from maskwell.plain_text import visible_lines
from maskwell.release.evaluation.association import Association, association
from maskwell.release.evaluation.matches import Matches, matches
from maskwell.release.evaluation.reading_order import codes_of, in_reading_order
from maskwell.release.partition import Factor, factor, interval_names, text_of
from maskwell.results.result import Result
from maskwell.tables.codes import Floats, Ints, recoded
from maskwell.tables.encoded import EncodedTable

if TYPE_CHECKING:
    from maskwell.release.base import BaseRelease

MOST_LEVELS = 60
"""Columns that stay as they are are compared with up to this many categories; numbers with more are cut in tenths."""
_MOST_CELLS = 200_000
_COMMON = 10


@dataclass(frozen=True, eq=False, repr=False)
class Compared:
    """A table of counts before and after, with one axis for each column."""

    columns: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    before: Ints
    after: Ints
    expected: Floats
    """The mean released counts over all draws."""
    variance: Floats
    """The exact variance of the released counts."""
    n: int
    variance_of_sum: Callable[[Floats], float]
    """The exact variance of the released counts times an array of weights like them."""

    @property
    def difference(self) -> Ints:
        """Released minus true counts."""
        return self.after - self.before

    @property
    def added_error(self) -> Floats:
        """The standard error that the release adds to each count."""
        return np.sqrt(self.variance)

    @property
    def sampling_error(self) -> Floats:
        """The standard error of each count in a simple random sample of this size."""
        return np.sqrt(self.before * (1 - self.before / self.n))

    def __repr__(self) -> str:
        largest = int(np.abs(self.difference).max(initial=0))
        return f"<counts by {' and '.join(self.columns)}: {self.before.size} cells, largest difference {largest}>"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """A file before and after its release."""

    n: int
    moving: tuple[str, ...]
    """The columns that the release may change."""
    left_out: Mapping[str, str]
    """Columns and pairs of columns that are not compared, with the reason."""
    changed_records: int
    """Records with another value in any column."""
    changed_by_column: Mapping[str, int]
    frequencies: Mapping[str, Compared]
    """By column, those first that may change."""
    tables: Mapping[tuple[str, str], Compared]
    """By pair of columns of which one at least may change."""
    matches: Matches
    """Who could be recognised by the columns that may change and those that they changed within."""

    @property
    def changed(self) -> float:
        """The share of records with another value in any column."""
        return self.changed_records / self.n

    @cached_property
    def associations(self) -> tuple[Association, ...]:
        """Cramér's V of every compared pair of columns, before and after."""
        variance = {name: table.variance for name, table in self.frequencies.items()}
        return tuple(
            association(table, (variance[pair[0]], variance[pair[1]]))
            for pair, table in self.tables.items()
            if min(table.before.shape) > 1
        )

    @property
    def impossible(self) -> dict[tuple[str, str], int]:
        """By pair of columns, the released records that tell that they moved.

        They show a combination that nobody had in the true file although, by how common both values are, ten or more
        records were to be expected.
        """
        found = {}
        for pair, table in self.tables.items():
            expected = np.outer(table.before.sum(axis=1), table.before.sum(axis=0)) / table.n
            found[pair] = int(table.after[(table.before == 0) & (expected >= _COMMON)].sum())
        return found

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain numbers, ready for JSON; tables of two columns as their associations."""
        return {
            "records": self.n,
            "changed_records": self.changed_records,
            "changed": self.changed,
            "changed_by_column": dict(self.changed_by_column),
            "frequencies": {name: _lines(table) for name, table in self.frequencies.items() if name in self.moving},
            "associations": [found.to_dict() for found in self.associations],
            "impossible": [{"columns": pair, "records": count} for pair, count in self.impossible.items() if count],
            "matches": self.matches.to_dict(),
            "left_out": dict(self.left_out),
        }

    def summary(self) -> str:
        """The comparison in plain text."""
        by_column = ", ".join(f"{name} {count:,}" for name, count in self.changed_by_column.items())
        lines = [f"{self.n:,} records, {self.changed_records:,} ({self.changed:.2%}) changed; by column: {by_column}"]
        for name in self.moving:
            table = self.frequencies[name]
            at = int(np.argmax(np.abs(table.difference)))
            lines.append(
                f"  {name}: counts differ by {abs(int(table.difference[at])):,} at most, with standard errors of "
                f"{table.added_error[at]:.3g} from the release and {table.sampling_error[at]:.3g} from sampling"
            )
        found = self.associations
        if found:
            most = max(found, key=lambda one: abs(one.after - one.before))
            lines.append(
                f"  Cramér's V changes most for {' and '.join(most.columns)}: {most.before:.4f} to {most.after:.4f}, "
                f"with standard errors of {most.release_error:.4f} from the release and {most.sampling_error:.4f} from "
                f"sampling; without the noise of the release {most.corrected:.4f}"
            )
        return visible_lines([*lines, f"  {self.matches}"])

    def _title(self) -> str:
        return f"{self.n:,} records before and after"

    def _figures(self) -> dict[str, Any]:
        return {"changed records": self.changed_records, "matches": str(self.matches)}

    def _columns(self) -> dict[str, Any]:
        changed = self.changed_by_column
        shares = [count / self.n for count in changed.values()]
        return {"column": list(changed), "changed records": list(changed.values()), "share": shares}

    def __repr__(self) -> str:
        return f"<comparison of {self.n} records over {len(self.frequencies)} columns: {self.changed:.2%} changed>"


def _lines(table: Compared) -> list[dict[str, Any]]:
    figures = (table.before, table.after, table.added_error, table.sampling_error)
    names = ("level", "before", "after", "added_error", "sampling_error")
    columns = (table.levels[0], *(figure.tolist() for figure in figures))
    return [dict(zip(names, line, strict=True)) for line in zip(*columns, strict=True)]


def compare(release: BaseRelease, columns: Sequence[str] | None) -> Comparison:
    """The comparison of a release; of all columns that can be told apart if none are named."""
    original, released, moving = release.before, release.columns, release.moving
    left_out: dict[str, str] = {}
    true = {name: original.coded(name) for name in moving}
    found = {name: factor(column, None, "columns") for name, column in true.items()}
    found |= _others(original, moving, columns, left_out)
    read = {name: in_reading_order(each, codes_of(release.given, name)) for name, each in found.items()}
    before = {name: each for name, (each, _) in read.items()}
    codes = {name: read[name][1][recoded(released.coded(name), true[name])] for name in moving}
    changed = {name: codes[name] != before[name].codes for name in moving}
    n = len(before[moving[0]].codes)

    def compared(*names: str) -> Compared:
        factors = [before[name] for name in names]
        shape = tuple(f.size for f in factors)
        after = np.ravel_multi_index([codes.get(name, before[name].codes) for name in names], shape)
        return _compared(factors, np.bincount(after, minlength=int(np.prod(shape))).reshape(shape), release)

    pairs: dict[tuple[str, str], Compared] = {}
    for pair in combinations(before, 2):
        if not set(pair) & set(moving):
            continue
        if before[pair[0]].size * before[pair[1]].size > _MOST_CELLS:
            left_out[" and ".join(pair)] = f"a table of more than {_MOST_CELLS:,} cells"
            continue
        pairs[pair] = compared(*pair)
    return Comparison(
        n,
        moving,
        left_out,
        int(np.any(list(changed.values()), axis=0).sum()),
        {name: int(own.sum()) for name, own in changed.items()},
        {name: compared(name) for name in before},
        pairs,
        matches(original, released, release.known),
    )


def _compared(factors: Sequence[Factor], after: Ints, release: BaseRelease) -> Compared:
    """The sparse cells of the moments as arrays with an axis for each column."""
    found = release.moments(factors)

    def dense(values: Any) -> Any:
        whole = np.zeros(after.shape, values.dtype)
        whole[tuple(found.levels.T)] = values
        return whole

    names, levels = tuple(f.name for f in factors), tuple(f.levels for f in factors)
    figures = dense(found.counts), after, dense(found.expected), dense(found.variance)
    n = int(found.counts.sum())
    return Compared(names, levels, *figures, n=n, variance_of_sum=lambda w: release.sum_variance(factors, w))


def _others(
    table: EncodedTable, moving: Sequence[str], wanted: Sequence[str] | None, left_out: dict[str, str]
) -> dict[str, Factor]:
    """The columns to compare besides those that may change."""
    found = {}
    for name in dict.fromkeys(table.names if wanted is None else wanted):
        if name in moving:
            continue
        try:
            made = _fixed(table, name)
        except DataError:
            if wanted is not None:
                raise
            made = "of a type that has no categories"
        if isinstance(made, str):
            left_out[name] = made
        else:
            found[name] = made
    return found


def _fixed(table: EncodedTable, name: str) -> Factor | str:
    """A column that stays as it is: by category or, if it holds many numbers, by tenths; or why it is neither."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = table.array(name)
    if pa.types.is_null(array.type):
        return "no value in any row"
    if pa.types.is_dictionary(array.type) or pa.types.is_nested(array.type):
        column = table.coded(name)
        return factor(column, None, "columns") if column.size <= MOST_LEVELS else _too_many(column.size)
    distinct = pc.count_distinct(array, mode="all").as_py()
    if distinct == len(array) > MOST_LEVELS and not pa.types.is_floating(array.type):
        return "another value in every row"
    if distinct <= MOST_LEVELS:
        return factor(table.coded(name), None, "columns")
    if not (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
        return _too_many(distinct)
    values: Floats = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
    present = ~np.isnan(values)
    starts = np.unique(np.quantile(values[present], np.arange(1, 10) / 10, method="nearest"))
    codes = np.where(present, np.searchsorted(starts, values, side="right"), len(starts) + 1)
    missing = [] if present.all() else [text_of(None)]
    return Factor(name, codes, (*interval_names(starts.tolist()), *missing), ordered=True)


def _too_many(distinct: int) -> str:
    return f"{distinct:,} different values, too many to compare"
