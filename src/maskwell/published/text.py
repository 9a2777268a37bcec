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


_KINDS = {
    "printed": "printed in a paper and computed by our code",
    "formula": "formulas and claims in print, at arguments of ours",
    "correction": "statements in print that do not hold",
    "arithmetic": "the papers' own arithmetic, which tests nothing of ours",
    "unprinted": "our values of what nobody prints",
}
_VERDICTS = {
    "agrees": "agree",
    "explained": "differ for a reason that gives back what is printed",
    "differs": "differ unexplained",
    "coarse": "too coarse to tell",
    "not compared": "not compared",
    "wrong": "NOT as recorded",
}


def counts(comparisons: Sequence[Comparison]) -> dict[str, dict[str, int]]:
    """How many rows of each kind have which verdict; kinds and verdicts that do not occur are left out."""
    found = Counter((c.row.kind, c.verdict) for c in comparisons)
    return {
        kind: {verdict: found[kind, verdict] for verdict in _VERDICTS if found[kind, verdict]}  # type: ignore[index]
        for kind in _KINDS
        if any(c.row.kind == kind for c in comparisons)
    }


def totals(comparisons: Sequence[Comparison]) -> str:
    """The rows counted by kind and verdict, a line for each kind.

    >>> totals([])
    '0 rows'
    """
    lines = [f"{len(comparisons)} rows"]
    for kind, of_kind in counts(comparisons).items():
        words = _VERDICTS | ({"agrees": "add up", "differs": "off in the last digit"} if kind == "arithmetic" else {})
        parts = ", ".join(f"{number} {words[verdict]}" for verdict, number in of_kind.items())
        lines += wrap(f"  {sum(of_kind.values())} {_KINDS[kind]}: {parts}", _WIDTH, subsequent_indent="    ")
    return "\n".join(lines)


def _table(where: str, comparisons: list[Comparison]) -> list[str]:
    cells = [(c.row.what, c.printed_shown, c.ours_shown, _verdict(c)) for c in comparisons]
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
    if comparison.row.kind == "arithmetic" and comparison.verdict == "agrees":
        return "adds up"
    return "WRONG" if comparison.verdict == "wrong" else comparison.verdict
