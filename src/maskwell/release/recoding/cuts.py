"""What no record may leave, said of numbers that are recoded as well: intervals of them as groups of the new values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from maskwell.errors import DataError
from maskwell.release.partition import Spec
from maskwell.release.recoding.ways import Recode
from maskwell.tables.codes import Coded


def cuts_after(
    within: Spec, recodes: Mapping[str, Recode], before: Callable[[str], Coded], after: Callable[[str], Coded]
) -> Spec:
    """``within``, whose intervals of a column that is recoded become groups of the values that it then has.

    A limit inside of what the recoding makes one value is an error: no group of new values would keep to it.
    """
    cut = {name: how for name, how in within.items() if name in recodes and how and all(map(_is_number, how))}
    return {**within, **{name: _groups(how, recodes[name], before(name), after(name)) for name, how in cut.items()}}


def _groups(starts: list[Any], recode: Recode, before: Coded, after: Coded) -> list[Any]:
    present = [label for label in before.labels if label is not None]
    if not all(map(_is_number, present)):
        raise DataError(
            f"within cuts {before.name!r} into intervals, but that column does not hold numbers.", parameter="within"
        )
    new = recode.values(present, before.name)
    interval_of: dict[Any, int] = {}
    for value, interval in zip(new, np.searchsorted(starts, present, side="right").tolist(), strict=True):
        if interval_of.setdefault(value, interval) != interval:
            raise DataError(
                f"within cuts {before.name!r} at {starts[min(interval_of[value], interval)]:g}, inside of what its "
                f"recoding makes one ({value}); cut it where its values begin, or recode it by other limits.",
                parameter="within",
            )
    kept = [label for label in after.labels if label is not None and label in interval_of]
    groups = [[label for label in kept if interval_of[label] == i] for i in range(len(starts) + 1)]
    return [group for group in groups if group]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
