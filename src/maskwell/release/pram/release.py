"""Post-randomization of any columns by any matrix, one step at a time, with every matrix kept in the plan."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from maskwell.errors import DataError
from maskwell.limits import MOST_CHANCES
from maskwell.plain_text import visible_lines
from maskwell.release.added_variance import AddedVariance
from maskwell.release.plan import key_check, refuse_other_key
from maskwell.release.pram.estimate import PramEstimate, estimate
from maskwell.release.pram.matrices import Choice, is_missing, read_exempt, transition
from maskwell.release.pram.plan import PramPlan, Step
from maskwell.release.pram.variance import added_variance
from maskwell.release.rows import read_ids, with_rows
from maskwell.risk.frequencies import cross_classify, group
from maskwell.sampling.entropy import Source
from maskwell.sampling.samplers import draw
from maskwell.tables.codes import Coded, Ints
from maskwell.tables.encoded import EncodedTable, encoded
from maskwell.tables.frames import names_of, settle

if TYPE_CHECKING:
    from maskwell.release.evaluation.comparison import Comparison


@dataclass(frozen=True, eq=False, repr=False)
class PramRelease:
    """A table after one or more steps of post-randomization, with the plan of all of them."""

    table: Any
    plan: PramPlan
    changed_by_step: tuple[int, ...]
    """Records that each step changed."""
    n: int
    original: Any = dataclasses.field(repr=False)
    """The table before the first step, for the custodian's own comparisons."""
    moved: EncodedTable = dataclasses.field(repr=False)
    """The columns of the table as they follow from the moves; its root has those of the original one."""

    @property
    def columns(self) -> EncodedTable:
        """The released columns as codes."""
        return self.moved.of(self.table)

    @property
    def changed(self) -> float:
        """The share of records that the last step changed."""
        return self.changed_by_step[-1] / self.n

    def estimate(self, of: Sequence[str] | str | None = None) -> PramEstimate:
        """Unbiased counts by the columns ``of`` (those of the last step unless named), with their variances."""
        return estimate(self.plan, self.columns, of)

    def added_variance(self, of: Any) -> AddedVariance:
        """What the steps do to the counts by the columns ``of``, exactly: see ``Release.added_variance``."""
        return added_variance(self.plan, self.moved.root, of)

    def comparison(self, columns: Sequence[str] | None = None) -> Comparison:
        """The file before and after: see ``Release.comparison``."""
        from maskwell.release.evaluation.comparison import compare_steps

        return self._comparison if columns is None else compare_steps(self, columns)

    @cached_property
    def _comparison(self) -> Comparison:
        from maskwell.release.evaluation.comparison import compare_steps

        return compare_steps(self, None)

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain numbers, ready for JSON."""
        steps = []
        for step, changed in zip(self.plan.steps, self.changed_by_step, strict=True):
            staying = np.concatenate([path.staying for path in step.transitions])
            steps.append(
                {
                    "columns": list(step.columns),
                    "categories": len(step.labels),
                    "strata": list(step.strata),
                    "changed": changed,
                    "least_chance_of_staying": float(staying.min()),
                    "largest_chance_of_staying": float(staying.max()),
                    "keeps_frequencies": step.keeps_frequencies,
                }
            )
        return {"records": self.n, "changed_by_step": list(self.changed_by_step), "steps": steps}

    def summary(self) -> str:
        """The release in plain text."""
        lines = [f"Release of {self.n:,} records by post-randomization"]
        for step in self.to_dict()["steps"]:
            least, most = step["least_chance_of_staying"], step["largest_chance_of_staying"]
            within = f" within {', '.join(step['strata'])}" if step["strata"] else ""
            kept = "kept" if step["keeps_frequencies"] else "NOT kept"
            lines += [
                f"  {', '.join(step['columns'])}: {step['categories']} categories{within}, {step['changed']:,} records "
                f"changed ({step['changed'] / self.n:.2%})",
                f"    chance of staying {least:.4g} to {most:.4g}; expected frequencies are {kept}",
            ]
        return visible_lines(
            [*lines, "  no limit on identification is promised: that is what limit_identification does"]
        )

    def __repr__(self) -> str:
        columns = ", ".join("×".join(step.columns) for step in self.plan.steps)
        return f"<release of {self.n} records: {columns} post-randomized, {self.changed:.2%} changed in the last step>"


def pram(
    table: Any,
    columns: Sequence[str] | str,
    *,
    matrix: Any = None,
    diagonal: Any = None,
    least_diagonal: Any = None,
    invariant: bool = True,
    strata: Sequence[str] | str | None = None,
    neighbours: Mapping[Any, Mapping[Any, float]] | None = None,
    zeros: Iterable[tuple[Any, Any]] = (),
    exempt: Iterable[Any] = (),
    key: bytes | None = None,
    ids: Any = None,
    seed: int | None = None,
) -> PramRelease:
    """Change the values of a column at random, by a matrix that you choose and that the plan keeps.

    ``columns`` is a column, or several that change as one: their categories are then tuples, those that occur.

    Say how much changes in one of three ways. ``matrix`` is a design with the column's categories
    (``designs.from_matrix(P, categories)``), what ``most_informative`` or ``epsilon_for_risk`` found, also for several
    columns, or ``{truth: {report: chance}}``; with strata, also a design for each.
    Labels decide, never positions. ``diagonal`` is the chance of staying, one number or one by category, and is kept
    exactly. ``least_diagonal`` lets a category stay more often where frequencies could not be kept otherwise.

    With ``invariant`` the expected frequencies are the true ones, in every stratum: a matrix becomes the first of two
    stages (Nayak 2020, section 2), whose second takes the drift back, and the diagonal is then the product's. Without,
    ``estimate`` corrects for the matrix.

    ``neighbours`` favours moves: see ``band`` and ``by_distance``. ``zeros`` lists moves (truth, report) that must not
    happen, ``exempt`` categories that are neither left nor entered; missing values always are exempt.

    Pass the release of an earlier step as ``table`` to add a step with a ``seed``, or a ``key`` with ``ids``, of its
    own.

    >>> table = {"area": ["n"] * 45 + ["s"] * 35 + ["w"] * 20}
    >>> release = pram(table, "area", diagonal=0.9, seed=1)
    >>> release.plan.steps[0].diagonals()[()]["n"], release.plan.steps[0].keeps_frequencies
    (Fraction(9, 10), True)
    """
    Source(key, ids, seed).check()  # before any work
    earlier = table.plan.steps if isinstance(table, PramRelease) else ()
    changed = table.changed_by_step if isinstance(table, PramRelease) else ()
    before = table.columns if isinstance(table, PramRelease) else encoded(table)
    native, lazy = settle(table.table if isinstance(table, PramRelease) else before.native)
    before = EncodedTable(native) if lazy and not isinstance(table, PramRelease) else before
    original = table.original if isinstance(table, PramRelease) else native
    names = names_of(columns, "columns")
    by = names_of(strata, "strata") if strata is not None else ()
    _refuse_overlap(names, by, earlier)
    held = _read(before, names, by)
    labels, levels = held.labels, held.levels
    _refuse_large(names, len(labels), len(levels))
    choice = Choice(
        matrix, diagonal, least_diagonal, invariant, neighbours, tuple(zeros), read_exempt(exempt, labels)
    ).checked(labels, by)
    transitions = tuple(transition(choice, labels, own, level) for own, level in zip(held.counts, levels, strict=True))
    step = Step(names, labels, by, levels, transitions, held.counts)
    drawn = _draw(step, held, before, (key, ids, seed), len(earlier))
    step = dataclasses.replace(
        step,
        randomness=drawn.randomness,
        seed=None if seed is None else int(seed),
        key_check=None if key is None else key_check(key, PramPlan((step,)).fingerprint),
    )
    rows = dict.fromkeys(names, held.rows(drawn.codes))
    plan, moved = PramPlan((*earlier, step)), (*changed, drawn.moved)
    released = with_rows(native, rows, lazy=lazy)
    return PramRelease(released, plan, moved, len(held.truth), original, before.moved(rows, released))


def replay(plan: PramPlan, table: Any, *, key: bytes | None = None, ids: Any = None) -> PramRelease:
    """The release of a stored plan again, from the original table, with its seeds and with the key and ids of old."""
    kinds = {step.randomness for step in plan.steps}
    if kinds - {"seeded", "keyed"}:
        raise DataError("the plan was drawn without a seed and without a key, so it cannot be repeated.")
    if ("keyed" in kinds) != (key is not None):
        wanted = "with a key: give it with the ids of old" if key is None else "with seeds alone: leave the key out"
        raise DataError(f"the plan was drawn {wanted}, or it cannot be repeated.")
    columns = encoded(table)
    native, lazy = settle(columns.native)
    columns = EncodedTable(native) if lazy else columns
    released, changed = native, []
    for number, step in enumerate(plan.steps):
        rows, moved = _repeat(step, number, columns, key, ids)
        columns, released = columns.moved(rows), with_rows(released, rows)
        changed.append(moved)
    released = with_rows(released, {}, lazy=lazy)
    return PramRelease(
        released, plan, tuple(changed), sum(map(sum, plan.steps[0].counts)), native, columns.moved({}, released)
    )


def _repeat(step: Step, number: int, table: EncodedTable, key: bytes | None, ids: Any) -> tuple[dict[str, Ints], int]:
    """The rows that a step which is known already takes its columns from, and how many records it changed."""
    held = _read(table, step.columns, step.strata)
    if (held.labels, held.levels, held.counts) != (step.labels, step.levels, step.counts):
        raise DataError("table is not the one that the plan was made for: its frequencies differ; run the step anew.")
    if key is not None and step.key_check is not None:
        refuse_other_key(key, PramPlan((step,)).fingerprint, step.key_check)
    drawn = _draw(step, held, table, (key, ids, None) if step.seed is None else (None, None, step.seed), number)
    return dict.fromkeys(step.columns, held.rows(drawn.codes)), drawn.moved


def _refuse_overlap(names: Sequence[str], strata: Sequence[str], earlier: Sequence[Step]) -> None:
    if not names:
        raise DataError("columns must name one column or more; got none.", parameter="columns")
    done = {column for step in earlier for column in step.columns}
    used = {column for step in earlier for column in step.strata}
    for name in names:
        if name in done:
            raise DataError(f"column {name!r} was post-randomized in an earlier step; start from the original table.")
        if name in strata or name in used:
            raise DataError(f"column {name!r} is a stratum as well; strata must stay as they are.")
    changed = [name for name in strata if name in done]
    if changed:
        raise DataError(f"strata {changed[0]!r} was post-randomized in an earlier step; do this step first.")


def _refuse_large(names: Sequence[str], values: int, strata: int) -> None:
    """Before any work: a matrix has a chance for every pair of values, and the plan keeps each in full."""
    chances = values**2 * strata
    if chances > MOST_CHANCES:
        each = f" in each of {strata:,} strata" if strata > 1 else ""
        most = math.isqrt(MOST_CHANCES // strata)
        raise DataError(
            f"{' and '.join(map(repr, names))} {'has' if len(names) == 1 else 'have'} {values:,} values, and a matrix "
            f"of them{each} would hold {chances:,} chances (limit {MOST_CHANCES:,}: {most:,} values). Group the values "
            "(intervals, larger areas), change fewer columns as one or use fewer strata, or use limit_identification, "
            "which needs no matrix."
        )


@dataclass(frozen=True, eq=False)
class _Held:
    """What a table holds of the columns of a step."""

    labels: tuple[Any, ...]
    """The categories that occur."""
    levels: tuple[tuple[Any, ...], ...]
    truth: Ints
    """The category of every row."""
    stratum: Ints
    donors: Ints
    """The first row of each category."""

    @cached_property
    def counts(self) -> tuple[tuple[int, ...], ...]:
        """The frequencies by stratum."""
        counts = np.zeros((len(self.levels), len(self.labels)), np.int64)
        np.add.at(counts, (self.stratum, self.truth), 1)
        return tuple(map(tuple, counts.tolist()))

    def rows(self, codes: Ints) -> Ints:
        """The row that every row takes its new category from.

        Also where a category stays as it is: a file may spell one value in two ways, and the spelling that no moved
        record is given would tell which ones stayed. Missing values never move, and keep their kinds.
        """
        missing = np.array([is_missing(label) for label in self.labels])
        return np.where(missing[self.truth], np.arange(len(codes)), self.donors[codes])


def _read(table: EncodedTable, names: Sequence[str], strata: Sequence[str]) -> _Held:
    table.arrays(list(dict.fromkeys((*names, *strata))))  # an error if one is not there
    coded = {name: table.coded(name) for name in (*names, *strata)}
    cells, cell_of_row = cross_classify([coded[name] for name in names])
    labels = [tuple(own[c] for own, c in zip(cells.labels, row, strict=True)) for row in cells.codes.tolist()]
    donors = np.empty(len(labels), np.int64)
    donors[cell_of_row[::-1]] = np.arange(len(cell_of_row) - 1, -1, -1)
    stratum, levels = _strata([coded[name] for name in strata], len(cell_of_row))
    return _Held(
        tuple(label[0] for label in labels) if len(names) == 1 else tuple(labels), levels, cell_of_row, stratum, donors
    )


def _strata(columns: Sequence[Coded], n: int) -> tuple[Ints, tuple[tuple[Any, ...], ...]]:
    stratum, first = group([column.codes for column in columns], [column.size for column in columns], n)
    levels = [tuple(column.labels[column.codes[row]] for column in columns) for row in first.tolist()]
    return stratum, tuple(levels)


@dataclass(frozen=True, eq=False)
class _Drawn:
    codes: Ints
    moved: int
    randomness: str


def _draw(step: Step, held: _Held, table: Any, chance: tuple[bytes | None, Any, int | None], number: int) -> _Drawn:
    """New categories, stratum by stratum and stage by stage, each with a keystream of its own."""
    key, ids, seed = chance
    truth, stratum = held.truth, held.stratum
    items = read_ids(table, ids, len(truth))
    new, randomness = truth.copy(), "none"
    fingerprint = PramPlan((step,)).fingerprint if key is not None else ""
    order = np.argsort(stratum, kind="stable")
    edges = np.searchsorted(stratum[order], np.arange(len(step.levels) + 1))
    for h, path in enumerate(step.transitions):
        rows = order[edges[h] : edges[h + 1]]
        own = None if items is None else [items[row] for row in rows.tolist()]
        for s, part in enumerate(path.stages):
            source = Source(key, own, seed, f" pram step {number} stratum {h} stage {s}")
            stream = source.stream(fingerprint, len(rows))
            codes = new[rows].astype(np.uint32)
            new[rows] = draw(part.sampler, len(rows), _reader(codes), stream)
            randomness = stream.randomness
    return _Drawn(new, int((new != truth).sum()), randomness)


def _reader(codes: Any) -> Any:
    return lambda start, stop: codes[start:stop]
