r"""What may be said about a released file to everybody, intruders included. The external page is made of this alone.

Counts are those of the released file. Of the true file four things enter, each by the custodian's own choice:

* which columns may differ and within which groups no record left (``within``, ``exempt``, strata): analysts need it;
* one number for each table, the largest standard error that the release adds to any of its counts. It is rounded up to
  1, 2 or 5 times a power of ten and never below 2. What it is computed from, θ times the number of sensitive cells in
  one category, is thereby known to within a factor of 4 to 6.25, and single cells of the table, whose own added
  variance would tell whether they were sensitive, are not distinguished;
* the limit ξ, only on request: θ follows from it;
* the matrices of steps that do not keep expected frequencies, only on request, as no table could be corrected without.
  The matrices of other steps are never given: their entries are ratios of true counts.

Whatever θ is, the added variance of a count T by the keys is below 2T: moves out of a cell and into it have the same
expected number, θ for each sensitive combination, and θ is below the combination's frequency. The same holds for T
under a matrix with PT = T.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from maskwell.errors import DataError
from maskwell.release.added_variance import read_factors
from maskwell.release.evaluation.reading_order import codes_of, in_reading_order
from maskwell.release.identification.release import Release
from maskwell.release.partition import partition, read_spec, text_of
from maskwell.release.pram.release import PramRelease
from maskwell.release.pram.step import Step
from maskwell.release.recoding.recipe import Recipe
from maskwell.release.recoding.ways import Named
from maskwell.tables.codes import Floats, Ints
from maskwell.tables.encoded import EncodedTable
from maskwell.tables.frames import column_names

LEAST_ERROR = 2.0
"""No smaller figure is published."""

Kind = Literal["exact", "unbiased", "weakened", "distorted"]


@dataclass(frozen=True, eq=False)
class PublicTable:
    """The released counts of a table, and how far they may be off.

    Counts are exact; or right on average; or closer to independence than the truth; or distorted by a matrix.
    """

    columns: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    counts: Ints
    kind: Kind
    error: float | None
    """At least the standard error, bias included, that the release adds to any of the counts."""
    limited: bool
    """Whether the added variance of a count is below twice the count."""
    corrected: Floats | None = None
    """Counts corrected by the published matrices."""
    corrected_error: Floats | None = None

    @property
    def n(self) -> int:
        """The number of records."""
        return int(self.counts.sum())

    @property
    def sampling_error(self) -> Floats:
        """The standard error of each count in a simple random sample of this size."""
        return np.sqrt(self.counts * (1 - self.counts / self.n))

    @property
    def added_error(self) -> Floats | None:
        """At most about what the release adds to the standard error of each count."""
        if self.error is None:
            return None
        whole = np.full(len(self.counts), self.error)
        # A count and that of all other records have the same variance.
        smaller = np.minimum(self.counts, self.n - self.counts)
        return np.minimum(whole, np.sqrt(2 * smaller)) if self.limited else whole


@dataclass(frozen=True, eq=False)
class PublicMatrix:
    """``P[report, truth]`` of one stratum of a step that does not keep expected frequencies."""

    columns: tuple[str, ...]
    stratum: str
    labels: tuple[str, ...]
    matrix: Floats


@dataclass(frozen=True)
class Moved:
    """Columns that may differ and were changed as one."""

    columns: tuple[str, ...]
    within: tuple[tuple[str, tuple[str, ...]], ...]
    """Columns, with the groups they were cut into if they were, within which values changed and which none left."""
    unbiased: bool
    """Whether counts by these columns are right on average."""

    @property
    def strata(self) -> tuple[str, ...]:
        """The columns with which counts can be crossed and stay right on average."""
        return tuple(name for name, groups in self.within if not groups)


@dataclass(frozen=True, eq=False)
class PublicView:
    """All that the external page says of a release."""

    n: int
    method: Literal["limit_identification", "pram"]
    moved: tuple[Moved, ...]
    kept: tuple[str, ...]
    """The columns that are as they were."""
    together: str | None
    tables: tuple[PublicTable, ...]
    limit: float | None
    limit_by_all_counts: bool = False
    """Whether the limit is proven for those who use the counts of all combinations too; the figure itself would tell
    how many cells a block has."""
    matrices: tuple[PublicMatrix, ...] = ()
    untold: tuple[str, ...] = ()
    """Of the columns that may differ, those without a table: nearly every record has a value of its own."""
    recoded: tuple[tuple[str, str], ...] = ()
    """Columns that are coarser than they were, with how: what the values of the file show anyway."""

    @property
    def moving(self) -> tuple[str, ...]:
        """The columns that may differ."""
        return tuple(name for moved in self.moved for name in moved.columns)

    @property
    def distorted(self) -> tuple[str, ...]:
        """The columns whose released counts are not right on average."""
        return tuple(name for moved in self.moved if not moved.unbiased for name in moved.columns)


def public_view(release: Release | PramRelease, publish_limit: bool, of: Sequence[Any]) -> PublicView:
    """The public part of a release; ``of`` names tables as ``added_variance`` takes them."""
    if isinstance(release, Release):
        return _identification(release, publish_limit, of)
    return _steps(release, publish_limit, of)


def rounded_up(error: float) -> float:
    """The least of 2, 5, 10, 20, 50, … that is not smaller.

    >>> rounded_up(0), rounded_up(2.1), rounded_up(100), rounded_up(101)
    (2.0, 5.0, 100.0, 200.0)
    """
    power = 10.0 ** math.floor(math.log10(max(error, LEAST_ERROR)))
    return max(LEAST_ERROR, next(step * power for step in (1, 2, 5, 10) if step * power >= error))


def _identification(release: Release, publish_limit: bool, of: Sequence[Any]) -> PublicView:
    setup = release.setup
    request, parts = setup.request, setup.parts
    # A factor is kept unless sets that differ in it were merged.
    levels = [parts.levels[list(members)] for members in dict.fromkeys(setup.blocks.sets)]
    kept = [i for i in range(len(parts.factors)) if all((own[:, i] == own[0, i]).all() for own in levels)]
    cuts = {**request.within, **request.exempt}
    groups = {parts.factors[i].name: parts.factors[i].levels for i in kept}
    still = {name for name in groups if cuts[name] is None}
    moving = tuple(name for name in request.moving if name not in still)

    def table(named: Any) -> PublicTable:
        # Intervals that consist of whole groups are left by nobody.
        whole = [name for name, how in read_spec(named, "of").items() if name in groups and _within(how, cuts[name])]
        columns = [name for name in read_spec(named, "of") if name not in whole]
        kind = _kind(columns, moving, {*request.moving, *still}, by_record=request.together is None)
        return _table(release, named, kind, kind != "weakened")

    within = tuple((name, () if name in still else levels) for name, levels in groups.items())
    untold = tuple(name for name in request.along if name in moving and _is_its_own(release.columns, name))
    shown = [name for name in moving if name not in untold]
    return PublicView(
        setup.n,
        "limit_identification",
        (Moved(moving, within, unbiased=True),) if moving else (),
        tuple(name for name in column_names(release.table) if name not in moving),
        request.together,
        tuple(table(named) for named in (*shown, *_further(of, shown))),
        float(request.xi) if publish_limit else None,
        publish_limit and release.audit.holds_for_all_counts,
        untold=untold,
        recoded=_recoded(request.recoding),
    )


def _is_its_own(released: EncodedTable, name: str) -> bool:
    """Whether most values of a column are those of a record or two, so that counting them tells nothing."""
    column = released.coded(name)
    return column.size > len(column.codes) / 2


def _recoded(recipe: Recipe) -> tuple[tuple[str, str], ...]:
    """In words; the names of files and the number below which values were set missing are the custodian's."""
    ways = {
        name: "categories were merged" if isinstance(recode.way, Named) else str(recode)
        for name, recode in recipe.columns.items()
    }
    if recipe.suppression is not None:
        for name in recipe.keys:
            ways[name] = "; ".join([*([ways[name]] if name in ways else []), "a few rare values were set missing"])
    return tuple(ways.items())


def _kind(columns: Sequence[str], moving: Sequence[str], unbiased: set[str], *, by_record: bool) -> Kind:
    if not set(columns) & set(moving):
        return "exact"
    return "unbiased" if set(columns) <= unbiased and by_record else "weakened"


def _within(how: Any, cut: Any) -> bool:
    numbers = bool(how and cut) and not any(isinstance(item, (list, str)) for item in (*how, *cut))
    return numbers and set(how) <= set(cut)


def _steps(release: PramRelease, publish_limit: bool, of: Sequence[Any]) -> PublicView:
    steps = release.plan.steps
    moving = tuple(name for step in steps for name in step.columns)
    distorting = [step for step in steps if not step.keeps_frequencies]

    def table(named: Any) -> PublicTable:
        columns = tuple(read_spec(named, "of"))
        used = [step for step in steps if set(step.columns) & set(columns)]
        if any(step in distorting for step in used):
            return _distorted(release, named, publish_limit)
        alone = len(used) == 1 and set(columns) <= {*used[0].columns, *used[0].strata}
        kind: Kind = "exact" if not used else "unbiased" if alone else "weakened"
        return _table(release, named, kind, alone)

    return PublicView(
        release.n,
        "pram",
        tuple(Moved(s.columns, tuple((name, ()) for name in s.strata), s not in distorting) for s in steps),
        tuple(name for name in column_names(release.table) if name not in moving),
        None,
        tuple(table(named) for named in (*moving, *_further(of, moving))),
        None,
        matrices=tuple(made for step in distorting for made in _matrices(step)) if publish_limit else (),
    )


def _further(of: Sequence[Any], columns: Sequence[str]) -> list[Any]:
    """The named tables that are not shown anyway."""
    if isinstance(of, (str, dict)):
        raise DataError(
            'of must be a list of tables, such as ["area", ["sex", "age"], {"age": [18, 65]}].', parameter="of"
        )
    return [named for named in of if read_spec(named, "of") not in [{name: None} for name in columns]]


def _table(release: Release | PramRelease, named: Any, kind: Kind, limited: bool) -> PublicTable:
    columns, labels, counts = _counted(release, named)
    if kind == "exact":
        return PublicTable(columns, labels, counts, kind, 0.0, False)
    added = release.added_variance(named)
    error = math.sqrt(float((added.variance + added.bias**2).max(initial=0.0)))
    return PublicTable(columns, labels, counts, kind, rounded_up(error), limited)


def _counted(release: Release | PramRelease, named: Any) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...], Ints]:
    cuts = _present(release.columns, named)
    factors = [
        each if cuts[each.name] else in_reading_order(each, codes_of(release.given, each.name))[0]
        for each in read_factors(release.columns, cuts)
    ]
    sets = partition(factors, len(factors[0].codes))
    labels = [tuple(f.levels[c] for f, c in zip(factors, row, strict=True)) for row in sets.levels.tolist()]
    return tuple(f.name for f in factors), tuple(labels), np.bincount(sets.set_of_row)


def _present(released: EncodedTable, named: Any) -> dict[str, Any]:
    """A table's columns with groups of those categories that the released file still has."""
    spec = read_spec(named, "of")
    for name, how in spec.items():
        if how and isinstance(how[0], (list, str)):
            there = set(released.coded(name).labels)
            groups = [[label for label in (g if isinstance(g, list) else [g]) if label in there] for g in how]
            spec[name] = [group for group in groups if group] or None
    return spec


def _distorted(release: PramRelease, named: Any, publish_limit: bool) -> PublicTable:
    """Raw counts without an error and, with the matrices published, corrected ones with theirs."""
    columns, labels, counts = _counted(release, named)
    if not publish_limit or any(how is not None for how in read_spec(named, "of").values()):
        return PublicTable(columns, labels, counts, "distorted", None, False)
    found = release.estimate(list(columns))
    place = {tuple(map(text_of, label)): i for i, label in enumerate(found.labels)}
    order = [place[label] for label in labels]
    errors = found.masking_errors[order] * found.n
    return PublicTable(columns, labels, counts, "distorted", None, False, found.counts[order], errors)


def _matrices(step: Step) -> list[PublicMatrix]:
    labels = tuple(
        ", ".join(map(text_of, label)) if isinstance(label, tuple) else text_of(label) for label in step.labels
    )
    return [
        PublicMatrix(step.columns, ", ".join(map(text_of, level)), labels, path.floats)
        for level, path in zip(step.levels, step.transitions, strict=True)
    ]
