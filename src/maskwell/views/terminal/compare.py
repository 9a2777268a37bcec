"""A comparison of designs for a terminal: one column for each design, then the verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from maskwell.results.numbers import figure, limit
from maskwell.views.audit_figures import findings
from maskwell.views.comparison import Comparison

if TYPE_CHECKING:
    from rich.console import RenderableType

# Long, or said in words below.
LEFT_OUT = ("exact parity", "demand", "trace", "ruled out", "improved")


def side_by_side(comparison: Comparison) -> dict[str, list[tuple[str, list[str]]]]:
    """The figures of all designs: by group, each name with one value for each design."""
    columns = [findings(audit) for audit in comparison.audits.values()]
    table: dict[str, list[tuple[str, list[str]]]] = {}
    for group, rows in columns[0].items():
        names = [row.name for row in rows if row.name not in LEFT_OUT]
        values = [{row.name: row.value for row in column[group]} for column in columns]
        table[group] = [(name, [of_design[name] for of_design in values]) for name in names]
    return table


def matched(comparison: Comparison) -> list[list[str]]:
    """By design: its added variance, and the minimax design that is as precise: parity, ε, set size, right guesses."""
    return [
        [
            name,
            figure(m.added_variance),
            limit(m.gamma),
            limit(m.epsilon),
            str(m.size),
            figure(m.guess_probability),
        ]
        for name, m in comparison.matches.items()
    ]


MATCHED_HEADER = ["as precise as", "added variance", "parity", "ε", "set size", "right guesses"]


def compare_view(comparison: Comparison) -> RenderableType:
    """Privacy and precision side by side, and which design to take."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Group
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    for name in comparison.names:
        table.add_column(name, justify="right", overflow="fold")
    for rows in side_by_side(comparison).values():
        for name, values in rows:
            table.add_row(name, *values)
        table.add_section()
    sentences = Table(box=None, pad_edge=False, show_header=False, padding=(0, 1, 0, 0))
    for sentence in comparison.verdicts():
        sentences.add_row("-", sentence)
    parts: list[RenderableType] = [table, "Verdicts:", sentences]
    if comparison.matches:
        same = Table(box=SIMPLE_HEAD, pad_edge=False)
        for j, title in enumerate(MATCHED_HEADER):
            same.add_column(title, justify="right" if j else "left")
        for row in matched(comparison):
            same.add_row(*row)
        parts += ["", "The minimax design with the same precision:", same]
    return Group(*parts)
