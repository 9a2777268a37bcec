"""What the custodian's pages of all releases share: before and after, named tables, and what to keep secret."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maskwell.release import PramRelease, Release
from maskwell.release.evaluation.comparison import Compared, Comparison
from maskwell.release.evaluation.matches import Matches
from maskwell.release.evaluation.reading_order import reading_order
from maskwell.release.partition import read_spec
from maskwell.results.numbers import figure, number, percent
from maskwell.risk.frequencies import SIZES
from maskwell.views.charts.release import association_chart, changed_chart, cross_chart, difference_chart
from maskwell.views.pages.layout import Beside, Block, Figure, Section, Table, Text

SEEDED = (
    "SIMULATION ONLY: the draws came from a seed. Whoever guesses it can repeat them and undo the release. Do not give "
    "this file away; release it again without a seed, or with a secret key."
)
_MOST_ROWS = 100
_WIDEST = 16
_MOST_FIGURES = 8


def before_and_after(
    release: Release | PramRelease, of: Sequence[Any], risk: Sequence[Sequence[str]] = ()
) -> list[Section]:
    """Who could be recognised, what changed, and what that does to tables: the same for every release."""
    comparison = release.comparison()
    return [
        recognised(comparison.matches, risk),
        changes(comparison),
        frequencies(comparison),
        tables(comparison),
        *named_tables(release, of),
    ]


def changes(comparison: Comparison) -> Section:
    """Which columns changed, and how much."""
    rows = [
        [name, f"{count:,}", percent(count / comparison.n, 2)] for name, count in comparison.changed_by_column.items()
    ]
    rows.append(["any of them", f"{comparison.changed_records:,}", percent(comparison.changed, 2)])
    return Section(
        "What changed",
        [
            Beside(
                [
                    Figure(changed_chart(comparison)),
                    Table("Records with another value than before", ["column", "records", "share"], rows, "<>>"),
                ]
            )
        ],
    )


def recognised(found: Matches, more: Sequence[Sequence[str]] = ()) -> Section:
    """Who could be recognised, before and after."""
    rows = [
        ["expected correct matches, all records", f"{found.correct_before:,.0f}", f"{found.correct_after:,.1f}"],
        ["records alone in their cell", f"{found.before.sample_uniques:,}", f"{found.after.sample_uniques:,}"],
        ["… of these, the same record with the same keys as before", "", f"{found.uniques_kept:,}"],
    ]
    rows += [
        [
            f"records in cells of fewer than {k}",
            f"{found.before.records_below(k):,}",
            f"{found.after.records_below(k):,}",
        ]
        for k in SIZES
    ]
    words = (
        f"Matching by {', '.join(found.keys)}: an intruder who knows everybody's true values picks, for each person, "
        "one of the records that show them. Before, that is right once for each occupied cell. After, a small cell is "
        "no longer what it seems, which the counts of small cells do not show and the correct matches do."
    )
    return Section(
        "Risk before and after",
        [Text(words), Table("Counted on both files", ["", "before", "after"], [*more, *rows], "<>>")],
    )


def frequencies(comparison: Comparison) -> Section:
    """Each column that may change: pictures and every count."""
    blocks: list[Block] = [
        Text(
            "Grey: how far a count of a simple random sample of this size may be off. Blue: how far the release may "
            "move it. Orange: how far it did. Where blue lies within grey, the release costs an analyst little."
        )
    ]
    for i, name in enumerate(comparison.moving):
        table = comparison.frequencies[name]
        if i < _MOST_FIGURES and _moves(table):
            blocks.append(Figure(difference_chart(table)))
        blocks.append(_frequency_table(table))
    return Section("Frequencies", blocks)


def _frequency_table(table: Compared) -> Table:
    order = np.sort(np.argsort(-table.before, kind="stable")[:_MOST_ROWS]).tolist()
    rows = [
        [
            table.levels[0][i],
            f"{int(table.before[i]):,}",
            f"{int(table.after[i]):,}",
            number(int(table.difference[i]), 0),
            f"{table.added_error[i]:,.1f}",
            f"{table.sampling_error[i]:,.1f}",
        ]
        for i in order
    ]
    left = f" (the {_MOST_ROWS} largest of {len(table.before):,})" if len(table.before) > _MOST_ROWS else ""
    header = [table.columns[0], "before", "after", "difference", "error of the release", "error of sampling"]
    return Table(f"{table.columns[0]}: counts before and after{left}", header, rows, "<>>>>>", folded=True)


def tables(comparison: Comparison) -> Section:
    """Pairs of columns: associations, and the cells of one table."""
    found = comparison.associations
    if not found:
        return Section("Tables of two columns", [Text("There is no pair of columns to compare.")])
    rows = [_pair(comparison.tables[one.columns[0], one.columns[1]], one) for one in found]
    header = ["columns", "cells", "V before", "V expected", "V after", "without its noise", "error of the release"]
    header += ["error of sampling", "largest difference"]
    header += ["its error of the release", "its error of sampling"]
    blocks: list[Block] = [
        Text(
            "Cramér's V is 0 for independent columns and 1 where one decides the other. Columns that move as one keep "
            "their association on average; with a column that stays it weakens; and chance adds a little to every V, "
            "most visibly to one near 0. The expected V has both; without its noise V after the release is what the "
            "expected counts have."
        ),
        Figure(association_chart(comparison)),
        Table("Each pair of columns of which one may change", header, rows, "<" + ">" * 10, folded=len(rows) > 12),
    ]
    small = [table for table in comparison.tables.values() if max(table.before.shape) <= _WIDEST and _moves(table)]
    among = [table for table in small if set(table.columns) <= set(comparison.moving)]
    if small:
        blocks.append(Figure(cross_chart(max(among or small, key=_strength))))
    if comparison.left_out:
        words = "; ".join(f"{name} ({why})" for name, why in comparison.left_out.items())
        blocks.append(Text(f"Not compared: {words}.", "note"))
    return Section("Tables of two columns", blocks)


def _pair(table: Compared, one: Any) -> list[str]:
    at = np.unravel_index(int(np.argmax(np.abs(table.difference))), table.before.shape)
    return [
        " × ".join(one.columns),
        f"{int((table.before > 0).sum()):,}",
        f"{one.before:.4f}",
        f"{one.expected:.4f}",
        f"{one.after:.4f}",
        f"{one.corrected:.4f}",
        f"{one.release_error:.4f}",
        f"{one.sampling_error:.4f}",
        number(int(table.difference[at]), 0),
        f"{table.added_error[at]:,.1f}",
        f"{table.sampling_error[at]:,.1f}",
    ]


def _moves(table: Compared) -> bool:
    """Whether the release can change the table, round-off aside."""
    return float(table.variance.max(initial=0.0)) > 1e-9


def _strength(table: Compared) -> float:
    """How far the cells of a table moved beside their sampling error."""
    return float((np.abs(table.difference) / np.maximum(table.sampling_error, 1.0)).max())


def named_tables(release: Release | PramRelease, of: Sequence[Any]) -> list[Section]:
    """The added variance of the tables that the custodian named, with warnings."""
    blocks: list[Block] = []
    for named in of:
        added = release.added_variance(named)
        name = " × ".join(read_spec(named, "of"))
        blocks += [Text(f"{name}: {words}") for words in added.warnings] or [
            Text(f"{name}: the release adds little beside the sampling error.")
        ]
        largest = np.argsort(-added.counts, kind="stable")[:_MOST_ROWS].tolist()
        order = sorted(largest, key=lambda i: [reading_order(label) for label in added.labels[i]])
        errors = np.sqrt(added.variance), np.sqrt(np.maximum(added.sampling_variance, 0)), added.ratio
        rows = [
            [
                *added.labels[i],
                f"{int(added.counts[i]):,}",
                number(float(added.bias[i]), 2),
                *(figure(own[i]) for own in errors),
            ]
            for i in order
        ]
        header = [*added.columns, "true count", "bias", "error of the release", "error of sampling", "variance ratio"]
        left = f" (the {_MOST_ROWS} largest of {len(added.counts):,} cells)" if len(added.counts) > _MOST_ROWS else ""
        blocks.append(Table(f"{name}{left}", header, rows, "<" * len(added.columns) + ">" * 5, folded=len(rows) > 20))
    return [Section("Tables that you named", blocks)] if blocks else []


def secrets(items: Sequence[Sequence[str]]) -> Section:
    """What must not leave the custodian's office, and why."""
    common = [
        ["this page", "it holds true counts, and what an intruder would like to know"],
        ["the plan", "it names the cells and the chances; keep it where the original file is kept"],
        ["the key, if one was used", "with it every draw can be repeated; the plan does not hold it"],
        ["true counts of any table", "beside the released ones they tell how many records moved, and where"],
    ]
    words = "Give away the released file and the external report alone."
    return Section("What to keep secret", [Text(words), Table("", ["keep", "because"], [*common, *items], "<=")])
