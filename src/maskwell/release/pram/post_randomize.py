"""Post-randomization of any columns by any matrix, one step at a time, with every matrix kept in the plan."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from maskwell.errors import DataError
from maskwell.limits import MOST_CHANCES
from maskwell.release.drawing import Chance
from maskwell.release.plan import key_check
from maskwell.release.pram.matrices import Choice, read_exempt, transition
from maskwell.release.pram.plan import PramPlan, draw_step
from maskwell.release.pram.release import PramRelease
from maskwell.release.pram.step import Step
from maskwell.release.pram.step_columns import read_columns
from maskwell.release.rows import with_rows
from maskwell.sampling.entropy import Source
from maskwell.tables.encoded import EncodedTable, encoded
from maskwell.tables.frames import names_of, settle


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
    chance = Chance(key, ids, seed)
    Source(*chance).check()  # before any work
    earlier = table if isinstance(table, PramRelease) else None
    steps = earlier.plan.steps if earlier else ()
    before = earlier.columns if earlier else encoded(table)
    native, lazy = settle(before.native)
    before = EncodedTable(native) if lazy and not earlier else before
    names = names_of(columns, "columns")
    by = names_of(strata, "strata") if strata is not None else ()
    _refuse_overlap(names, by, steps)
    read = read_columns(before, names, by)
    labels, levels = read.labels, read.levels
    _refuse_large(names, len(labels), len(levels))
    choice = Choice(
        matrix, diagonal, least_diagonal, invariant, neighbours, tuple(zeros), read_exempt(exempt, labels)
    ).checked(labels, by)
    transitions = tuple(transition(choice, labels, own, level) for own, level in zip(read.counts, levels, strict=True))
    step = Step(names, labels, by, levels, transitions, read.counts)
    drawn = draw_step(step, read, before, chance, len(steps))
    step = dataclasses.replace(
        step,
        randomness=drawn.randomness,
        seed=None if seed is None else int(seed),
        key_check=None if key is None else key_check(key, PramPlan((step,)).fingerprint),
    )
    released = with_rows(native, drawn.rows, lazy=lazy)
    return PramRelease(
        released,
        before.moved(drawn.rows, released),
        PramPlan((*steps, step)),
        (*(earlier.changed_by_step if earlier else ()), drawn.changed),
        earlier.original if earlier else native,
    )


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
