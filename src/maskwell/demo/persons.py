"""The last part of the demonstration: a file of invented persons is released, with a limit on matches by its keys."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maskwell.release import Release, limit_identification

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
PAGES = ("persons-external.html", "persons-internal.html")
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

    def to_dict(self) -> dict[str, Any]:
        """The numbers, ready for JSON."""
        return {**self.release.to_dict(), **self.comparison.matches.to_dict()}


def release_persons() -> Released:
    """Release them, with fresh randomness."""
    return Released(limit_identification(persons(), KEYS, XI, WITHIN))


def files(released: Released) -> dict[str, bytes]:
    """The released file and its plan, by name."""
    import pyarrow as pa
    from pyarrow import csv

    sink = pa.BufferOutputStream()
    csv.write_csv(released.release.table, sink)
    return {
        "persons-released.csv": sink.getvalue().to_pybytes(),
        "persons-plan.json": released.release.plan.to_json().encode(),
    }


def pages(released: Released) -> dict[str, bytes]:
    """The reports on the release, for its users and for the custodian, by name."""
    from maskwell.views.pages.release import external_page, internal_page

    made = external_page(released.release), internal_page(released.release)
    return dict(zip(PAGES, (page.encode() for page in made), strict=True))
