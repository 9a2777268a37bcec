"""Whether reports that are counted together may be those of the same people, who send one report again and again.

Within one run over files every id came once. Between runs a report that is masked with a key comes again for as long as
the answer is the same, and so does the kept part of a report of two layers.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from maskwell.errors import RecurrenceWarning
from maskwell.reports.randomness import AND


def may_recur(randomness: str, *, layered: bool) -> bool:
    """Whether a person's reports of two rounds share their noise."""
    return layered or "keyed" in randomness.split(AND)


def warn_of_recurrence(parts: Sequence[frozenset[str] | None], *, each_alone: bool = False) -> None:
    """Warn if parts are of different runs; each has the names of its runs, or is None where nothing can recur.

    Where a part does not name its run, it is taken for a run of its own if ``each_alone``.
    """
    recurring = [runs for runs in parts if runs is not None]
    named = frozenset[str]().union(*recurring)
    before = max((len(runs) for runs in recurring), default=0)
    unnamed = sum(not runs for runs in recurring) if each_alone else 0
    if len(recurring) > 1 and len(named) + unnamed > max(before, 1):
        warnings.warn(
            f"kept reports of {len(named) + unnamed:,} runs are counted together: if people or devices are in more "
            "than one, their reports share noise and intervals are far too narrow. Estimate each run and take their "
            "mean (mw.rounds.mean); if nobody is in two, say different_people=True, or merge with --different-people.",
            RecurrenceWarning,
            stacklevel=3,
        )
