"""What stays as it is and tells what a changed column was: years of schooling beside a degree, or the order of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from maskwell.release.frames import column_names
from maskwell.risk.columns import Coded, Ints, encode, read_columns

if TYPE_CHECKING:
    from maskwell.release.identification import Release
    from maskwell.release.pram import PramRelease

CERTAIN = 0.99
"""A column gives another away if guessing from it is right for this share of the records."""
ALIKE = 0.9
"""Groups give a column away if two members of one agree this much more often than two records at random."""
NEAR = 0.25
"""An order gives a column away if neighbours agree this much more often than two records at random."""
OUT_OF_PLACE = 0.5
"""A column shows who moved if new values are unlikely beside it this much more often than if it told nothing."""
_MOST_ROWS = 50_000
_MOST_IN_GROUPS = 200_000
_LEAST_PER_LEVEL = 10
_LEAST_MOVES = 20
_MANY_LEVELS = 100
_UNLIKELY = 5.0
"""A pair of values is unlikely if it occurs this many times less often than if the two had nothing to do."""

How = Literal["value", "group", "order", "moves"]


@dataclass(frozen=True)
class Giveaway:
    """What stays, and the column that it gives away."""

    column: str | None
    """None where it is the order of the rows that gives it away."""
    changed: str
    right: float
    """The share of records for which a guess is right: the commonest for the value, another member's, a neighbour's; or
    the share of moved records whose new value is unlikely beside the column."""
    how: How

    def __str__(self) -> str:
        share = f"{self.right:.1%}"
        if self.how == "value":
            return (
                f"{self.column!r} stays as it is and tells the true {self.changed!r} of {share} of the records: leave "
                "it out of the released file, or make it a key as well."
            )
        if self.how == "group":
            return (
                f"records with the same {self.column!r} mostly share {self.changed!r} ({share} of pairs): one that "
                f"differs was changed, and the others tell what it was; move groups as one (together), or leave "
                f"{self.column!r} out of the released file."
            )
        if self.how == "moves":
            return (
                f"{self.column!r} stays as it is and seldom goes with the new {self.changed!r} of records that were "
                f"changed ({share} of them): whoever compares the two sees who moved; make it a key as well, release "
                "it coarser, or leave it out."
            )
        what = "rows that follow each other" if self.column is None else f"records with neighbouring {self.column!r}"
        remedy = (
            "put the rows in random order"
            if self.column is None
            else f"number the records anew, or leave {self.column!r} out of the released file"
        )
        return (
            f"{what} mostly share {self.changed!r} or have it in order ({share}): one that is out of place was "
            f"changed, and its neighbours tell what it was; {remedy}."
        )


def giveaways(
    table: Any, changed: Sequence[str], *, rows_in_order: bool = True, together: str | None = None
) -> list[Giveaway]:
    """What gives one of the ``changed`` columns of a table away.

    That is another column whose values decide it; a column of groups, such as households, whose members share it; and
    the order of the rows (unless they are put in random order) or of a number of the records. A column of groups that
    move ``together`` tells nothing by its members. Looked at are up to
    50,000 evenly spaced rows, the first 50,000 for orders, and up to 200,000 rows in whole groups.

    >>> table = {"degree": ["a", "b", "c"] * 10, "years": [9, 12, 16] * 10, "sex": ["f", "m"] * 15}
    >>> print(*giveaways(table, ["degree"], rows_in_order=False))
    'years' stays as it is and tells the true 'degree' of 100.0% of the records: leave it out of the released file, or
    make it a key as well.
    """
    return _told(_changing(table, changed), _staying(table, changed), rows_in_order, together)


def _told(
    changing: dict[str, Coded], staying: Sequence[Staying], rows_in_order: bool, together: str | None
) -> list[Giveaway]:
    coded = {name: column for name, column in changing.items() if not _constant(column)}
    found: list[Giveaway] = []
    if not coded:
        return found
    if rows_in_order:
        found += _by_order(None, coded)
    for column in staying:
        if column.size * _LEAST_PER_LEVEL <= len(column.codes):
            found += _by_value(column, coded)
        if column.size * _LEAST_PER_LEVEL > len(column.codes) or column.size >= _MANY_LEVELS:
            found += _by_group(column, coded) if column.name != together else ()
            found += _by_order(column, coded)
    return found


def given_away(release: Release | PramRelease, *, rows_in_order: bool = True) -> list[Giveaway]:
    """What gives changed columns away in a release: what its true file tells, and what its moves show."""
    from maskwell.release.identification import Release

    if isinstance(release, Release):
        original, together = release.setup.table, release.setup.request.together
        changed: Sequence[str] = release.setup.changing
    else:
        original, together = release.original, None
        changed = [name for step in release.plan.steps for name in step.columns]
    changing, staying = _changing(original, changed), _staying(original, changed)
    found = _told(changing, staying, rows_in_order, together)
    known = {(each.column, each.changed) for each in found}
    moves = _by_moves(changing, [column for column in staying if column.name != together], release.table)
    return found + [each for each in moves if (each.column, each.changed) not in known]


def telltales(release: Release | PramRelease, *, rows_in_order: bool = True) -> list[str]:
    """Warnings of what tells, in a released file, which records were changed."""
    found = [str(each) for each in given_away(release, rows_in_order=rows_in_order)]
    impossible = {pair: count for pair, count in release.comparison().impossible.items() if count}
    if impossible:
        listed = ", ".join(f"{' × '.join(pair)} {count:,}" for pair, count in impossible.items())
        found.append(
            "records now show combinations that nobody had although both values are common, which tells that they "
            f"moved: {listed}. Make such columns keys as well, release coarser ones, or leave them out."
        )
    return found


class Staying(NamedTuple):
    """A column that stays as it is, by the rank of its values."""

    name: str
    codes: Ints
    size: int


def _staying(table: Any, changed: Sequence[str]) -> list[Staying]:
    return [_ranked(table, name) for name in column_names(table) if name not in changed and _plain(table, name)]


def _ranked(table: Any, name: str) -> Staying:
    """A column as ranks. Labels are not needed, and there may be one for each record."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = read_columns(table, [name])[name]
    if pa.types.is_integer(array.type) or pa.types.is_floating(array.type) or pa.types.is_large_string(array.type):
        ranks = pc.rank(array, sort_keys="ascending", tiebreaker="dense")
        codes: Ints = ranks.to_numpy(zero_copy_only=False).astype(np.int64) - 1
        return Staying(name, codes, int(codes.max()) + 1)
    column = encode(array, name)
    return Staying(name, column.codes.astype(np.int64), column.size)


def _plain(table: Any, name: str) -> bool:
    """Whether a column has values that can be compared."""
    import pyarrow as pa

    kind = read_columns(table, [name])[name].type
    return not (pa.types.is_nested(kind) or pa.types.is_null(kind))


def _changing(table: Any, names: Sequence[str]) -> dict[str, Coded]:
    return {name: encode(read_columns(table, [name])[name], name) for name in names if _plain(table, name)}


def _rows(coded: dict[str, Coded]) -> int:
    return len(next(iter(coded.values())).codes) if coded else 0


def _constant(column: Coded) -> bool:
    """Whether nearly all rows hold one value, which is no secret."""
    return bool(np.bincount(column.codes).max() / len(column.codes) >= CERTAIN)


def _by_value(column: Staying, changed: dict[str, Coded]) -> Iterator[Giveaway]:
    """Guess the most frequent value of a changed column for each value of this one."""
    step = -(-len(column.codes) // _MOST_ROWS)
    codes = column.codes[::step]
    for name, own in changed.items():
        pairs = np.bincount(codes * own.size + own.codes[::step], minlength=column.size * own.size)
        right = float(pairs.reshape(column.size, own.size).max(axis=1).sum() / len(codes))
        if right >= CERTAIN:
            yield Giveaway(column.name, name, right, "value")


def _by_group(column: Staying, changed: dict[str, Coded]) -> Iterator[Giveaway]:
    """Guess the value of another record of the same group."""
    sizes = np.bincount(column.codes)
    every = -(-len(column.codes) // _MOST_IN_GROUPS)
    rows = np.flatnonzero((sizes[column.codes] > 1) & (column.codes % every == 0))
    if len(rows) < _LEAST_PER_LEVEL or len(rows) * every < len(column.codes) / 100:
        return
    groups = column.codes[rows]
    for name, own in changed.items():
        cells, counts = np.unique(groups * own.size + own.codes[rows], return_counts=True)
        # A record's chance of meeting its own value in another member.
        agreeing = float((counts * (counts - 1) / (sizes[cells // own.size] - 1)).sum() / len(rows))
        if _above_chance(agreeing, own) >= ALIKE:
            yield Giveaway(column.name, name, agreeing, "group")


def _by_order(column: Staying | None, changed: dict[str, Coded]) -> Iterator[Giveaway]:
    """Guess the value of the next record, in the order of the rows or of a column, or that values are in order."""
    near: Ints = np.arange(min(_rows(changed), _MOST_ROWS))
    apart: Any = slice(None)
    if column is not None:
        last = np.searchsorted(np.cumsum(np.bincount(column.codes)), _MOST_ROWS)
        first = np.flatnonzero(column.codes <= last)
        # Scattered within ties: there the rows would be in the order of the file.
        near = first[np.lexsort((first * 2654435761 % 2**32, column.codes[first]))]
        # Records with one value of the column are a group, which is another matter.
        apart = np.diff(column.codes[near]) != 0
    for name, own in changed.items():
        steps = np.diff(own.codes[near].astype(np.int64))[apart]
        if len(steps) < _LEAST_PER_LEVEL:
            continue
        agreeing = float((steps == 0).mean())
        in_order = float(max((steps >= 0).mean(), (steps <= 0).mean()))
        if _above_chance(agreeing, own) >= NEAR or in_order >= CERTAIN:
            yield Giveaway(None if column is None else column.name, name, max(agreeing, in_order), "order")


def _by_moves(before: dict[str, Coded], staying: Sequence[Staying], released: Any) -> Iterator[Giveaway]:
    """See whether the new values of moved records go with what stayed."""
    if not before:
        return
    rows = slice(None, None, -(-_rows(before) // _MOST_ROWS))
    moved = {}
    for name, column in before.items():
        position = {label: code for code, label in enumerate(column.labels)}
        now = encode(read_columns(released, [name])[name], name)
        after = np.array([position[label] for label in now.labels])[now.codes][rows]
        who = np.flatnonzero(after != column.codes[rows])
        if len(who) >= _LEAST_MOVES:
            moved[name] = (_few(column, rows), who, after[who])
    for kept in staying if moved else ():
        codes = kept.codes[rows]
        views = [codes] if kept.size <= len(codes) / 2 else []
        views += [_few(kept, rows)[codes]] if kept.size > 2 * _MANY_LEVELS else []
        for name, (level, who, after) in moved.items():
            true = level[before[name].codes[rows]]
            seen = [_out_of_place(own, true, own[who], level[after]) for own in views]
            share, beyond = max(seen, key=lambda one: one[1], default=(0.0, 0.0))
            if beyond >= OUT_OF_PLACE:
                yield Giveaway(kept.name, name, share, "moves")


def _few(column: Coded | Staying, rows: slice) -> Ints:
    """For each code a level: itself, or where there are many one of a hundred, of about as many records each."""
    if column.size <= 2 * _MANY_LEVELS:
        return np.arange(column.size)
    counts = np.bincount(column.codes[rows], minlength=column.size)
    middle = np.cumsum(counts) - counts / 2
    level: Ints = (middle * _MANY_LEVELS // (counts.sum() + 1)).astype(np.int64)
    return level


def _out_of_place(stays: Ints, true: Ints, of_moved: Ints, new: Ints) -> tuple[float, float]:
    """The share of moved records whose new value is unlikely beside what stayed, and how far that exceeds chance."""
    from scipy.special import pdtr

    size = int(true.max()) + 1
    pairs, counts = np.unique(stays * size + true, return_counts=True)
    wanted = of_moved * size + new
    at = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
    held = np.where(pairs[at] == wanted, counts[at], 0)
    expected = np.bincount(stays)[of_moved] * np.bincount(true, minlength=size)[new] / len(true)
    least = np.ceil(expected / _UNLIKELY)
    share, chance = float((held < least).mean()), float(pdtr(least - 1, expected).mean())
    return share, (share - chance) / (1 - chance) if chance < 1 else 0.0


def _above_chance(agreeing: float, column: Coded) -> float:
    """How far agreement exceeds that of two records at random, as a share of what it could."""
    shares = np.bincount(column.codes) / len(column.codes)
    by_chance = float(shares @ shares)
    return (agreeing - by_chance) / (1 - by_chance) if by_chance < 1 else 0.0
