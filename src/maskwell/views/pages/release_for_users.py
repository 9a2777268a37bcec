"""The page for users of a released file: what was done, how to analyse it, and the released counts with their errors.

It is made of a ``PublicView`` alone, so that nothing else about a release can get into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from maskwell.designs.registry import REFERENCES
from maskwell.release.evaluation.public_view import PublicMatrix, PublicTable, PublicView
from maskwell.results.numbers import percent, share
from maskwell.views.charts.release import released_chart
from maskwell.views.comparison import listed
from maskwell.views.pages.layout import Block, Facts, Figure, Section, Table, Text, page

_MOST_ROWS = 200
_MOST_FIGURES = 10


def external_sections(view: PublicView) -> str:
    """The page as text."""
    sections = [
        Section("", [_headline(view)]),
        _done(view),
        _analysis(view),
        *([_matrices(view.matrices)] if view.matrices else []),
        _frequencies(view),
        _withheld(view),
        _source(view),
    ]
    moving = listed(view.moving) if view.moving else "no column"
    lead = (
        f"{view.n:,} records. To protect the people in it, some values of {moving} were changed at random before the "
        "file was released."
    )
    made = datetime.now().astimezone().strftime("%Y-%m-%d")
    footer = f"Made with Maskwell on {made}. This page loads nothing from any network."
    return page("About this file", sections, lead=lead, footer=footer)


def _headline(view: PublicView) -> Facts:
    items = [(f"{view.n:,}", "records, none removed and none added")]
    items.append((f"{len(view.moving)} of {len(view.moving) + len(view.kept)}", "columns may differ from the truth"))
    if view.distorted:
        items.append(("distorted", f"are counts by {listed(view.distorted)} until they are corrected"))
    else:
        items.append(("unbiased", "are counts by the columns that were changed together"))
    if view.limit is not None:
        items.append((share(view.limit), "is the largest chance that a match by these columns is right"))
    return Facts(items)


def _done(view: PublicView) -> Section:
    blocks: list[Block] = []
    if view.method == "limit_identification":
        alike = [name for moved in view.moved for name in moved.strata]
        among = f" among those with the same {listed(alike)}" if alike else ""
        blocks.append(
            Text(
                f"A record whose combination of {listed(view.moving)} is rare{among} may have been given another rare "
                "combination instead. Whether it was is decided by chance, independently of everything else in the "
                "record, and is not recorded anywhere in this file. So a record that looks like somebody may well be "
                "somebody else's."
            )
        )
        if view.together:
            blocks.append(Text(f"All records with the same {view.together} were moved as one."))
    else:
        for moved in view.moved:
            as_one = ", all of these columns as one" if len(moved.columns) > 1 else ""
            inside = f", separately for each {listed(moved.strata)}" if moved.strata else ""
            blocks.append(
                Text(f"The value of {listed(moved.columns)} was replaced at random in some records{as_one}{inside}.")
            )
    if view.limit is not None:
        blocks.append(
            Text(
                "Somebody who knows that a person is in the file, and the person's true values of these columns, and "
                f"picks one of the records that show them, is right with a chance of {share(view.limit)} at most. "
                + (
                    "The same holds for somebody who also uses how often other rare combinations are shown."
                    if view.limit_by_all_counts
                    else "This is for somebody who goes by the number of these records; who also uses how often other "
                    "rare combinations are shown can be right more often."
                )
            )
        )
    blocks.append(_kept(view))
    return Section("What was done to the data", blocks)


def _kept(view: PublicView) -> Table:
    rows = [[name, "may differ from the truth"] for name in view.moving]
    groups = {name: groups for moved in view.moved for name, groups in moved.within}
    for i, name in enumerate(view.moving):
        if groups.get(name):
            rows[i][1] += f"; no record has left its group: {'; '.join(groups[name])}"
    for name in view.kept:
        words = "as it was"
        if name in groups and len(view.moved) == 1:
            words += "; values were exchanged only among records that agree in it"
            words += f", by these groups: {'; '.join(groups[name])}" if groups[name] else ""
        rows.append([name, words])
    recoded = dict(view.recoded)
    for row in rows:
        row[1] += f"; made coarser first: {recoded[row[0]]}" if row[0] in recoded else ""
    return Table("Column by column", ["column", "in this file"], rows, "<=")


def _analysis(view: PublicView) -> Section:
    blocks: list[Block] = []
    if any(moved.unbiased for moved in view.moved):
        blocks += [_averages(view), *_own_values(view), *_weakened(view), *_errors(view), *_example(view)]
    if view.distorted:
        blocks += _corrections(view)
    blocks += [_bounds(view)] if any(table.error is not None for table in view.tables) else []
    return Section("How to analyse it", blocks)


def _averages(view: PublicView) -> Text:
    ways = []
    for moved in view.moved:
        if moved.unbiased:
            crossed = f" (also together with {listed(moved.strata)})" if moved.strata else ""
            ways.append(f"{listed(moved.columns)}{crossed}")
    what = f"of groups (one record for each {view.together}) " if view.together else ""
    return Text(
        f"Counts and shares {what}by {', or by '.join(ways)} can be used as they are: over all the ways in which "
        "chance could have decided, they are on average the true ones. Only their standard errors grow."
    )


def _own_values(view: PublicView) -> list[Block]:
    """What moved along although nearly every record has a value of its own: weights, as a rule."""
    if not view.untold:
        return []
    it = "it" if len(view.untold) == 1 else "them"
    return [
        Text(
            f"There is no table of {listed(view.untold)}, of which most records have a value of their own. A record "
            f"with changed values has {it} from another record with these values, so that sums and means of {it} by "
            "the columns that were changed are on average the true ones; by other columns they are not. Of a weight "
            "this means: totals by columns that were changed are estimated as from the true file, on average; the "
            "sum of all weights differs a little, and can be calibrated to known totals again."
        )
    ]


def _weakened(view: PublicView) -> list[Block]:
    strata = {name for moved in view.moved for name in moved.strata}
    others = [name for name in view.kept if name not in strata]
    pairs = []
    if others:
        pairs.append(f"and columns that were not ({listed(others[:6])}{' …' if len(others) > 6 else ''})")
    if len(view.moved) > 1:
        pairs.append("and columns that were changed separately")
    if not pairs:
        return []
    return [
        Text(
            f"Associations between columns that were changed {', '.join(pairs)} are on average weaker in this file "
            "than in truth: slopes and correlations are drawn towards zero. So it is with weighted counts by these "
            "columns if the weights stayed with their records: ask for the error of those that you need."
        )
    ]


def _errors(view: PublicView) -> list[Block]:
    unit = "groups" if view.together else "records"
    return [
        Text(
            "The standard error of a count is √(s² + a²), where s is the usual one, for example √(count × (1 − "
            f"share)) for a simple random sample, and a is what the release adds. For any count by these "
            "columns it is below √(2 × count), so that no standard error of a simple random sample more than about "
            "doubles (the exact factor is √5). For the tables below a smaller bound is given. The standard error of a "
            f"share is that of the count divided by the number of {unit}."
        )
    ]


def _example(view: PublicView) -> list[Block]:
    table = next((table for table in view.tables if table.kind == "unbiased"), None)
    if table is None or table.added_error is None:
        return []
    i = int(np.argmax(table.counts))
    count, s, a = int(table.counts[i]), float(table.sampling_error[i]), float(table.added_error[i])
    total = float(np.hypot(s, a))
    return [
        Text(
            f"Example: {count:,} records have {table.columns[0]} = {table.labels[i][0]}. In a simple random sample of "
            f"{table.n:,} that count has a standard error of {s:,.1f}; the release adds {a:,.1f} at most. Together "
            f"√({s:,.1f}² + {a:,.1f}²) = {total:,.1f}, and a 95 % interval reaches from {count - 1.96 * total:,.0f} to "
            f"{count + 1.96 * total:,.0f} records."
        )
    ]


def _corrections(view: PublicView) -> list[Block]:
    words = (
        f"Counts by {listed(view.distorted)} are not right on average: the matrix that replaced values shifts them. "
    )
    if view.matrices:
        words += (
            "With P the matrix below, whose columns are true values, the vector P⁻¹ (released counts) is right on "
            "average, in each group that has a matrix of its own and within every category of other columns. The "
            "tables below give it with its standard error."
        )
    else:
        words += "Do not tabulate them as they are; ask those who released the file for the tables that you need."
    return [Text(words)]


def _bounds(view: PublicView) -> Table:
    kinds = {
        "exact": "exactly as it was",
        "unbiased": "right on average",
        "weakened": "weakened associations; the figure includes the bias",
        "distorted": "to be corrected",
    }
    rows = []
    for table in view.tables:
        figure = "–" if table.error is None else "0" if table.kind == "exact" else f"{table.error:,.0f} records"
        kind = kinds[table.kind]
        if view.together and table.kind == "weakened":
            kind = "nearly right on average; the figure includes the bias"
        rows.append([" × ".join(table.columns), f"{len(table.counts):,}", kind, figure])
    return Table(
        "What to add to the standard error of any count of a table, at most",
        ["table", "cells", "counts are", "added standard error"],
        rows,
        "<><>",
    )


def _matrices(matrices: Sequence[PublicMatrix]) -> Section:
    blocks: list[Block] = []
    for one in matrices:
        where = f", {one.stratum}" if one.stratum else ""
        rows = [
            [label, *(f"{p:.6g}" for p in line)] for label, line in zip(one.labels, one.matrix.tolist(), strict=True)
        ]
        caption = f"{' × '.join(one.columns)}{where}: chance of each released value (down) by true value (across)"
        align = "<" + ">" * len(one.labels)
        blocks.append(Table(caption, ["", *one.labels], rows, align, folded=len(matrices) > 1 or len(rows) > 12))
    return Section("The matrices", blocks)


def _frequencies(view: PublicView) -> Section:
    blocks: list[Block] = []
    for position, table in enumerate(view.tables):
        if position < _MOST_FIGURES and len(table.counts) > 1:
            blocks.append(Figure(released_chart(table)))
        blocks.append(_counts(table))
    return Section("Counts in this file", blocks)


def _counts(table: PublicTable) -> Table:
    header, figures = [*table.columns, "count", "share"], []
    if table.added_error is not None:
        header.append("sampling error")
        figures.append([f"{value:,.1f}" for value in table.sampling_error.tolist()])
        total = np.hypot(table.sampling_error, table.added_error)
        header += ["added, at most about", "together"]
        figures += [[f"{value:,.1f}" for value in table.added_error.tolist()], [f"{v:,.1f}" for v in total.tolist()]]
    if table.corrected is not None and table.corrected_error is not None:
        header += ["corrected count", "added by the release"]
        figures += [[f"{v:,.1f}" for v in own.tolist()] for own in (table.corrected, table.corrected_error)]
    order = np.sort(np.argsort(-table.counts, kind="stable")[:_MOST_ROWS]).tolist()
    rows = [
        [
            *table.labels[i],
            f"{int(table.counts[i]):,}",
            percent(table.counts[i] / table.n, 2),
            *(own[i] for own in figures),
        ]
        for i in order
    ]
    left = f", the {_MOST_ROWS} largest of {len(table.counts):,}" if len(table.counts) > _MOST_ROWS else ""
    caption = f"{' × '.join(table.columns)}: all counts with their standard errors{left}"
    return Table(caption, header, rows, "<" * len(table.columns) + ">" * (len(header) - len(table.columns)), True)


def _withheld(view: PublicView) -> Section:
    return Section(
        "What this page does not say",
        [
            Text(
                "How many records were changed and which, how many combinations were rare, the chances by which values "
                "were changed, the true counts, and the random numbers are withheld, as they would help to undo "
                "what protects the people in this file. Bounds are rounded up generously for the same reason."
            ),
            Text(
                "Please do not try to recognise anybody. Questions about tables that are not listed here are answered "
                "by those who released the file: they can compute the standard error of any table exactly."
            ),
        ],
    )


def _source(view: PublicView) -> Section:
    section = "section 5" if view.method == "limit_identification" else "section 2"
    rows = [["method", f"{REFERENCES['nayak-2020']} Here: {section}."]]
    return Section("Source", [Table("How to cite the method", ["", ""], rows, "<=")])
