"""The last part of the demonstration: a file of invented persons is released, with a limit on matches by its keys."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maskwell.release import Release, limit_identification
from maskwell.views.page import Facts, Section, Table, Text
from maskwell.views.whiskers import columns

if TYPE_CHECKING:
    from maskwell.release.evaluation.comparison import Comparison

PERSONS = 30_000
KEYS = ("sex", "age", "status", "district")
XI = 0.5
WITHIN = {"sex": None, "age": [18, 65]}
FILES = {
    "persons-released.csv": "the released file: what the public gets",
    "persons-external.html": "what its users have to know, and no intruder can use",
    "persons-internal.html": "the proof and everything else, for the custodian alone",
    "persons-plan.json": "the plan, for the custodian alone",
}
PRIVATE = ("persons-internal.html", "persons-plan.json")
_STATUS = ("single", "married", "divorced", "widowed")
_DISTRICTS = 40


def persons() -> Any:
    """Invented persons as an Arrow table; four columns that a neighbour may know, and one that nobody should."""
    import pyarrow as pa

    age = (95 * _scattered(2) ** 1.25).astype(np.int64)
    sex = np.where(_scattered(3) < 0.51, "female", "male")
    # Singles first, then the shares of those who are married, divorced or widowed grow with age.
    ends = np.stack([np.where(age < 18, 1.0, np.maximum(0.12, 1.35 - age / 35)), np.full(PERSONS, 0.74)])
    ends = np.vstack([ends, np.clip(1.25 - age / 200, 0.8, 1.0)])
    status = np.array(_STATUS)[(_scattered(5)[None, :] > np.maximum.accumulate(ends)).sum(axis=0)]
    weights = 1 / (np.arange(_DISTRICTS) + 3.0)
    district = np.searchsorted(np.cumsum(weights / weights.sum()), _scattered(7)) + 1
    illness = np.where(_scattered(11) < 0.03 + age / 300, "yes", "no")
    return pa.table({"sex": sex, "age": age, "status": status, "district": district, "illness": illness})


def _scattered(prime: int) -> NDArray[np.float64]:
    """Numbers spread evenly over [0, 1), the same on every run: the demonstration invents persons, not chance."""
    places: NDArray[np.float64] = np.fmod(np.arange(1, PERSONS + 1) * math.sqrt(prime), 1.0)
    return places


@dataclass(frozen=True, eq=False)
class Released:
    """The invented persons before and after their release."""

    release: Release

    @cached_property
    def comparison(self) -> Comparison:
        """Counts and associations, before and after."""
        return self.release.comparison()

    def as_dict(self) -> dict[str, Any]:
        """The numbers, ready for JSON."""
        return {**self.release.to_dict(), **self.comparison.matches.to_dict()}


def release_persons() -> Released:
    """Release them, with fresh randomness."""
    return Released(limit_identification(persons(), KEYS, XI, WITHIN))


def files(released: Released) -> dict[str, bytes]:
    """The content of every file of this part, by name."""
    import pyarrow as pa
    from pyarrow import csv

    from maskwell.views.release_page import external_page, internal_page

    sink = pa.BufferOutputStream()
    csv.write_csv(released.release.table, sink)
    pages = external_page(released.release), internal_page(released.release)
    content = (sink.getvalue().to_pybytes(), *(page.encode() for page in pages))
    return dict(zip(FILES, (*content, released.release.plan.to_json().encode()), strict=True))


def sentences(released: Released) -> list[str]:
    """What was asked for and what came of it."""
    release, matches = released.release, released.comparison.matches
    alone, before, after = matches.before.sample_uniques, matches.correct_before, matches.correct_after
    verdict = "so the limit holds" if release.audit.holds else "SO THE LIMIT FAILS"
    return [
        f"A neighbour may know {', '.join(KEYS[:-1])} and {KEYS[-1]}. {alone:,} persons are the only ones with their "
        "combination: whoever knows it finds their illness in the file.",
        f"Demand: no match by what the neighbour knows may be right with a chance above {XI:g}. Exact audit of the "
        f"release: {release.audit.risk_in_digits(5)} at most, {verdict}; a match was certain before. Tried on the "
        f"release: {release.attack().sentence()}.",
        f"If every record is matched, {before:,.0f} matches are right before and {after:,.0f} after. "
        f"{release.changed:.1%} of the records changed, none left its sex or its age group (below 18, 65 and above), "
        "and no combination appears that nobody had.",
    ]


def _counts(released: Released) -> list[list[str]]:
    """Persons by status, before and after, with the standard errors of the release and of a sample."""
    table = released.comparison.frequencies["status"]
    lines = [["status", "before", "after", "± release", "± sampling"]]
    errors = table.added_error.tolist(), table.sampling_error.tolist()
    for level, *counts, added, sampling in zip(table.levels[0], table.before, table.after, *errors, strict=True):
        lines.append([level, *(f"{int(count):,}" for count in counts), f"{added:.1f}", f"{sampling:.1f}"])
    return lines


def text(released: Released) -> list[str]:
    """This part in a terminal."""
    from textwrap import wrap

    lines = [line for sentence in sentences(released) for line in wrap(sentence, 76)]
    return [
        f"3  A FILE OF {PERSONS:,} PERSONS (INVENTED): RELEASED WITH A LIMIT ON MATCHES",
        "",
        *(f"   {line}" for line in lines),
        "",
        *(f"   {line}".rstrip() for line in columns(_counts(released), "<>>>>")),
        "",
    ]


def section(released: Released) -> Section:
    """This part of the page."""
    release, matches = released.release, released.comparison.matches
    header, *rows = _counts(released)
    return Section(
        f"3. A file of {PERSONS:,} persons: released with a limit on matches",
        [
            *map(Text, sentences(released)),
            Facts(
                [
                    (f"{matches.before.sample_uniques:,}", "persons were alone with their combination of keys"),
                    (
                        f"≤ {release.audit.risk_in_digits(4)}",
                        f"is the exact chance that a match by the keys is right; the limit is {XI:g}",
                    ),
                    (
                        f"{matches.correct_before:,.0f} → {matches.correct_after:,.0f}",
                        "correct matches when every record is matched",
                    ),
                    (f"{release.changed:.1%}", "of the records changed"),
                ]
            ),
            Table("Persons by status, with standard errors", header, rows, "<>>>>"),
            Text(f"The reports are beside this page: {', '.join(FILES)}.", "note"),
        ],
    )
