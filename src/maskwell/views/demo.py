"""The demonstration: two sensitive variables taken from one privacy demand to estimates, and a file released.

Masking draws fresh cryptographic randomness, so every run differs; nothing that is said here depends on what is drawn.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell import designs
from maskwell.auditing import Audit, audit
from maskwell.demands import LDP
from maskwell.designs.base import Design, Matrix, Vector
from maskwell.errors import MaskwellError
from maskwell.inference import Estimate, estimate
from maskwell.planning import plan
from maskwell.reports import Reports
from maskwell.views import demo_release
from maskwell.views.demo_release import Released, release_persons
from maskwell.views.estimate import covered
from maskwell.whole_files import complete_files

EPSILON = 2
LEVEL = 0.95
# A census extract; the race example of wang-ding-2021 has the same counts.
RACE = {"Amer-Indian-Eskimo": 311, "Asian-Pac-Islander": 1039, "Black": 3124, "Other": 271, "White": 27816}
CODES = 200
PATIENTS = 1_000_000
FILES = {
    "index.html": "the page: open it in a browser, it needs no network",
    "race.png": "the three designs against the truth",
    "codes.png": "all 200 estimates with their intervals",
    "race-estimates.csv": "truths, estimates and limits, three designs",
    "codes-estimates.csv": "the same for the 200 codes",
    "race-design.json": "the planned design, exact",
    "race-reports.parquet": "the masked answers, carrying their design",
    **demo_release.FILES,
}


@dataclass(frozen=True)
class Population:
    """How many persons truly are in each category."""

    categories: tuple[str, ...]
    counts: NDArray[np.int64]

    @property
    def n(self) -> int:
        """The number of persons."""
        return int(self.counts.sum())

    @property
    def shares(self) -> Vector:
        """The true proportions."""
        shares: Vector = self.counts / self.n
        return shares

    @property
    def sampling_variance(self) -> float:
        """n times the total variance of a direct question: 1 minus the sum of squared shares."""
        return 1 - float(self.shares @ self.shares)

    def values(self) -> Any:
        """One label per person, as an Arrow column, scattered: sorted rows would tell the truth by their position."""
        import pyarrow as pa

        step = next(s for s in range(int(0.618 * self.n), self.n) if math.gcd(s, self.n) == 1)
        scattered = np.arange(self.n) * step % self.n
        codes = np.repeat(np.arange(len(self.counts), dtype=np.int32), self.counts)[scattered]
        return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(self.categories))


def diagnoses() -> Population:
    """An invented population with 200 diagnosis codes: a few common ones, many rare ones, in no order."""
    shares = 1 / (np.arange(CODES) + 6)
    ends = np.round(PATIENTS * np.cumsum(shares) / shares.sum()).astype(np.int64)
    by_rank = np.diff(ends, prepend=0)
    rank_of_code = np.arange(CODES) * 73 % CODES
    return Population(tuple(f"D{code:03d}" for code in range(1, CODES + 1)), by_rank[rank_of_code])


@dataclass(frozen=True)
class Trial:
    """One design on one population: what it promises, what arrived, and what was estimated."""

    population: Population
    audit: Audit
    reports: Reports
    estimate: Estimate
    masking_seconds: float
    counting_seconds: float

    @property
    def design(self) -> Design:
        """The design that was tried."""
        return self.audit.design

    @cached_property
    def limits(self) -> Matrix:
        """The intervals at the level of the demonstration."""
        return self.estimate.interval(LEVEL)

    @property
    def covered(self) -> int:
        """How many truths lie in their intervals."""
        return covered(self.limits, self.population.shares)

    @property
    def margin(self) -> float:
        """Half the mean width of the intervals."""
        return float((self.limits[:, 1] - self.limits[:, 0]).mean()) / 2

    @property
    def worth(self) -> float:
        """What one report tells, in open answers: the variance without masking over the variance with it."""
        sampling = self.population.sampling_variance
        return sampling / (self.audit.added_variance + sampling)


def try_design(design: Design, population: Population) -> Trial:
    """Audit, mask, count and estimate."""
    values, start = population.values(), perf_counter()
    reports = design.mask(values)
    masked = perf_counter()
    tally = reports.tally()
    counted = perf_counter()
    return Trial(population, audit(design), reports, estimate(tally), masked - start, counted - masked)


@dataclass(frozen=True)
class DemoResult:
    """What the demonstration found and where it wrote it."""

    folder: Path
    demand: LDP
    race: dict[str, Trial]
    codes: Trial
    released: Released
    files: dict[str, str]
    seconds: float

    @property
    def planned(self) -> Trial:
        """The trial of the design that the plan chose."""
        return next(iter(self.race.values()))

    def as_dict(self) -> dict[str, Any]:
        """The numbers, ready for JSON."""
        return {
            "demand": self.demand.to_dict(),
            "race": {name: _as_dict(trial) for name, trial in self.race.items()},
            "codes": _as_dict(self.codes),
            "release": self.released.as_dict(),
            "folder": str(self.folder),
            "files": self.files,
            "seconds": self.seconds,
        }


def _as_dict(trial: Trial) -> dict[str, Any]:
    return {
        "design": trial.design.name,
        "epsilon": trial.audit.epsilon,
        "parity": trial.audit.parity,
        "demand_holds": trial.audit.demand_holds,
        "added_variance": trial.audit.added_variance,
        "reports": len(trial.reports),
        "truths_covered": trial.covered,
        "masking_seconds": trial.masking_seconds,
        "counting_seconds": trial.counting_seconds,
        "categories": list(trial.population.categories),
        "truth": trial.population.shares.tolist(),
        "estimate": trial.estimate.proportions.tolist(),
        "lower": trial.limits[:, 0].tolist(),
        "upper": trial.limits[:, 1].tolist(),
    }


def run(folder: Path, echo: Callable[[str], None]) -> DemoResult:
    """Run the demonstration, tell it line by line through ``echo``, and leave its files in ``folder``."""
    from maskwell.views import demo_text

    start = perf_counter()
    with _one_line(folder):
        folder.mkdir(parents=True, exist_ok=True)
    demand = LDP(EPSILON)
    people = Population(tuple(RACE), np.array(list(RACE.values())))
    _tell(echo, demo_text.opening(demand, people))
    chosen = plan(people.categories, demand)
    named = (designs.rappor, designs.trimmed_rappor)
    candidates = [chosen, *(make(people.categories, epsilon=EPSILON) for make in named)]
    race = {design.name: try_design(design, people) for design in candidates}
    _tell(echo, demo_text.race(race))
    patients = diagnoses()
    codes = try_design(plan(patients.categories, demand), patients)
    _tell(echo, demo_text.codes(codes))
    released = release_persons()
    _tell(echo, demo_release.text(released))

    result = DemoResult(folder, demand, race, codes, released, FILES, perf_counter() - start)
    _write(result)
    result = replace(result, seconds=perf_counter() - start)
    _tell(echo, demo_text.closing(result))
    return result


def _write(result: DemoResult) -> None:
    """Leave the files in the folder, each whole or not at all."""
    from maskwell.views.demo_page import demo_page, figures
    from maskwell.views.estimate import rendered

    pictures = figures(result)
    content = {
        "index.html": demo_page(result, pictures).encode(),
        "race.png": rendered(pictures.race, ".png"),
        "codes.png": rendered(pictures.codes, ".png"),
        "race-estimates.csv": _csv(result.race.values()),
        "codes-estimates.csv": _csv([result.codes]),
        "race-design.json": result.planned.design.to_json().encode(),
        **demo_release.files(result.released),
    }
    with _one_line(result.folder):
        paths = [result.folder / name for name in content]
        with complete_files(paths, [result.folder / name for name in demo_release.PRIVATE]) as files:
            for file, data in zip(files, content.values(), strict=True):
                file.write(data)
    result.planned.reports.write(result.folder / "race-reports.parquet")


def _tell(echo: Callable[[str], None], lines: list[str]) -> None:
    """Say one line after the other."""
    for line in lines:
        echo(line)


@contextmanager
def _one_line(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise MaskwellError(f"folder {str(folder)!r} cannot be written: {error.strerror or error}.") from None


def _csv(trials: Iterable[Trial]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["design", "category", "truth", "estimate", "standard_error", "lower", "upper"])
    for trial in trials:
        table = zip(
            trial.population.categories,
            trial.population.shares.tolist(),
            trial.estimate.proportions.tolist(),
            trial.estimate.standard_errors.tolist(),
            *trial.limits.T.tolist(),
            strict=True,
        )
        writer.writerows([trial.design.name, *row] for row in table)
    return text.getvalue().encode()
