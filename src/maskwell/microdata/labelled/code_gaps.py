"""Codes of categories that have vanished: 1, 2, 4 tells that there was a 3.

Codes of a released file are those of the original, as programs rely on them, and labels of vanished categories are left
out. Where codes were numbered without a gap, the one that is missing now tells that somebody had it.
"""

from __future__ import annotations

from collections.abc import Iterable

from maskwell.microdata.model import Microdata


def code_gaps(before: Microdata, after: Microdata) -> dict[str, int]:
    """By column, how many labelled categories left a gap between codes that followed each other without one.

    A file whose labels list values that nobody had keeps them all, like a codebook, and then a gap tells nothing.
    """
    found = {}
    for name, variable in before.variables.items():
        if name in after.variables:
            left = set(after.variables[name].value_labels)
            count = sum(_inside(run, left) for run in _runs(variable.value_labels))
            if count:
                found[name] = count
    return found


def gap_warnings(before: Microdata, after: Microdata) -> list[str]:
    """The same in words, a sentence for each column."""
    return [
        f"the codes of {count} categor{'y' if count == 1 else 'ies'} of {name!r} that nobody has any more leave gaps "
        "in the numbering, which tell that somebody was there: group rare categories before the release, exempt them, "
        "or label every code of the codebook in the file, also those that nobody has."
        for name, count in code_gaps(before, after).items()
    ]


def _runs(codes: Iterable[object]) -> list[list[int]]:
    """Whole-number codes in stretches that follow each other."""
    whole = sorted(int(code) for code in codes if isinstance(code, (int, float)) and code == code // 1)
    runs: list[list[int]] = []
    for code in whole:
        if runs and code == runs[-1][-1] + 1:
            runs[-1].append(code)
        else:
            runs.append([code])
    return runs


def _inside(run: list[int], left: set[object]) -> int:
    """How many codes of a run are gone from between those that are left."""
    kept = [code for code in run if code in left]
    return sum(kept[0] < code < kept[-1] for code in run if code not in left) if kept else 0
