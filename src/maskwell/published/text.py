"""Printed and recomputed values side by side, as plain text."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from textwrap import wrap

from maskwell.designs.registry import REFERENCES
from maskwell.published.model import Comparison

_WIDTH = 110
_HEAD = ("", "printed", "ours", "verdict")


def report(comparisons: Sequence[Comparison]) -> str:
    """A table per source and place, explanations below the rows they belong to, and the totals at the end."""
    lines: list[str] = []
    for key, of_source in groupby(comparisons, key=lambda c: c.row.key):
        lines += [*wrap(f"{key}: {REFERENCES[key]}", _WIDTH, subsequent_indent="  "), ""]
        for where, group in groupby(of_source, key=lambda c: c.row.where):
            lines += _table(where, list(group))
    return "\n".join([*lines, totals(comparisons)])


def totals(comparisons: Sequence[Comparison]) -> str:
    """How many values agree, differ with an explanation, and differ without one.

    >>> totals([])
    '0 values: 0 agree, 0 differ and are explained, 0 differ unexplained.'
    """
    count = Counter(c.verdict for c in comparisons)
    return (
        f"{len(comparisons)} values: {count['agrees']} agree, {count['explained']} differ and are explained, "
        f"{count['unexplained']} differ unexplained."
    )


def _table(where: str, comparisons: list[Comparison]) -> list[str]:
    cells = [(c.row.what, c.row.printed_shown, c.ours_shown, _verdict(c)) for c in comparisons]
    widths = [max(len(row[i]) for row in [_HEAD, *cells]) for i in range(3)]
    notes = dict.fromkeys(f"  ({c.row.note})" for c in comparisons if c.row.note)
    lines = [f"  {where} ({len(cells)} values)", *notes, _line(_HEAD, widths)]
    for comparison, row in zip(comparisons, cells, strict=True):
        lines.append(_line(row, widths))
        if comparison.explanation:
            lines.append(f"      {comparison.explanation}")
    return [*lines, ""]


def _line(row: tuple[str, str, str, str], widths: list[int]) -> str:
    what, printed, ours, verdict = row
    return f"    {what:<{widths[0]}}  {printed:>{widths[1]}}  {ours:>{widths[2]}}  {verdict}"


def _verdict(comparison: Comparison) -> str:
    return "UNEXPLAINED" if comparison.verdict == "unexplained" else comparison.verdict
