"""The order in which people read categories: intervals by their numbers, labels of a file by its codes, then by text.

Tables hold categories in the order of their text, on which plans rest; only what is shown is put in this order.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from maskwell.microdata import Microdata
from maskwell.release.partition import Factor, text_of
from maskwell.tables.codes import Ints

_NUMBER = re.compile(r"(below )?(-?\d+(?:\.\d+)?)(?!\w)")


def reading_order(label: str) -> tuple[int, float, bool, str]:
    """What categories are sorted by: numbers and intervals, other text, then what is missing.

    >>> sorted(["any", "(missing)", "10 to 14", "90 and above", "5 to 9", "below 5"], key=reading_order)
    ['below 5', '5 to 9', '10 to 14', '90 and above', 'any', '(missing)']
    """
    if label == text_of(None):
        return 2, 0.0, False, ""
    found = _NUMBER.match(label)
    return (1, 0.0, False, label) if found is None else (0, float(found[2]), not found[1], label)


def codes_of(given: Any, name: str) -> Sequence[str]:
    """The labels of a column of an SPSS or Stata file, in the order of their codes."""
    if not isinstance(given, Microdata) or given.kind not in ("spss", "stata"):
        return ()
    return [label for _, label in sorted(given.variable(name).value_labels.items())]


def in_reading_order(factor: Factor, by_code: Sequence[str] = ()) -> tuple[Factor, Ints]:
    """A factor with its levels in the order in which they are read, and the new place of each old one."""
    place = {label: i for i, label in enumerate(by_code)}
    labelled = bool(place) and all(label in place or label == text_of(None) for label in factor.levels)

    def key(i: int) -> Any:
        label = factor.levels[i]
        return place.get(label, len(place)) if labelled else reading_order(label)

    if factor.ordered:
        return factor, np.arange(factor.size)
    order = sorted(range(factor.size), key=key)
    new = np.empty(factor.size, np.int64)
    new[order] = np.arange(factor.size)
    levels = tuple(factor.levels[i] for i in order)
    return dataclasses.replace(factor, codes=new[factor.codes], levels=levels), new
