"""The demonstration: two sensitive variables taken from one privacy demand to estimates, and a file released."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from maskwell import designs
from maskwell.demands import LDP
from maskwell.demo import persons
from maskwell.demo.persons import Released, release_persons
from maskwell.demo.survey import RACE, Population, Trial, diagnoses, try_design
from maskwell.errors import MaskwellError
from maskwell.extras import ExtraError, require
from maskwell.planning import plan
from maskwell.whole_files import complete_files

EPSILON = 2
FILES = {
    "index.html": "the page: open it in a browser, it needs no network",
    "race.png": "the three designs against the truth",
    "codes.png": "all 200 estimates with their intervals",
    "race-estimates.csv": "truths, estimates and limits, three designs",
    "codes-estimates.csv": "the same for the 200 codes",
    "race-design.json": "the planned design, exact",
    "race-reports.parquet": "the masked answers, carrying their design",
    **persons.FILES,
}
DRAWN = {"index.html", "race.png", "codes.png", *persons.PAGES}
"""What only an installation with charts can make."""


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

    def to_dict(self) -> dict[str, Any]:
        """The numbers, ready for JSON."""
        return {
            "demand": self.demand.to_dict(),
            "race": {name: trial.to_dict() for name, trial in self.race.items()},
            "codes": self.codes.to_dict(),
            "release": self.released.to_dict(),
            "folder": str(self.folder),
            "files": self.files,
            "seconds": self.seconds,
        }


def _no_bar(what: str) -> AbstractContextManager[Any]:
    return nullcontext()


def run(
    folder: Path, echo: Callable[[str], None], waiting: Callable[[str], AbstractContextManager[Any]] = _no_bar
) -> DemoResult:
    """Run the demonstration, tell it line by line through ``echo``, and leave its files in ``folder``.

    ``waiting`` shows what takes its time while it does. Without the packages that draw, what is drawn is left out.
    """
    from maskwell.views.terminal import demo as text

    start = perf_counter()
    with _one_line(folder):
        folder.mkdir(parents=True, exist_ok=True)
    demand = LDP(EPSILON)
    people = Population(tuple(RACE), np.array(list(RACE.values())))
    _tell(echo, text.opening(demand, people))
    chosen = plan(people.categories, demand)
    named = (designs.rappor, designs.trimmed_rappor)
    candidates = [chosen, *(make(people.categories, epsilon=EPSILON) for make in named)]
    with waiting("masking"):
        race = {design.name: try_design(design, people) for design in candidates}
    _tell(echo, text.race(race))
    patients = diagnoses()
    with waiting(f"masking {patients.n:,} answers"):
        codes = try_design(plan(patients.categories, demand), patients)
    _tell(echo, text.codes(codes))
    with waiting("releasing the file"):
        released = release_persons()
        lines = text.release(released)
    _tell(echo, lines)

    lacking = _lacking()
    files = {name: about for name, about in FILES.items() if not (lacking and name in DRAWN)}
    result = DemoResult(folder, demand, race, codes, released, files, perf_counter() - start)
    with waiting("drawing" if not lacking else "writing"):
        _write(result)
    result = replace(result, seconds=perf_counter() - start)
    _tell(echo, text.closing(result, lacking))
    return result


def _lacking() -> str:
    """What to install for the files that are drawn; nothing if all is there."""
    try:
        require("Pictures and pages need", "altair", "vl_convert")
    except ExtraError as error:
        return f"{error}."
    return ""


def _drawn(result: DemoResult) -> dict[str, bytes]:
    """The content of what is drawn, by name."""
    from maskwell.views.pages.demo import demo_page, figures
    from maskwell.views.saving import rendered

    pictures = figures(result)
    return {
        "index.html": demo_page(result, pictures).encode(),
        "race.png": rendered(pictures.race, ".png"),
        "codes.png": rendered(pictures.codes, ".png"),
        **persons.pages(result.released),
    }


def _write(result: DemoResult) -> None:
    """Leave the files in the folder, each whole or not at all."""
    content = {
        **(_drawn(result) if DRAWN & result.files.keys() else {}),
        "race-estimates.csv": _csv(result.race.values()),
        "codes-estimates.csv": _csv([result.codes]),
        "race-design.json": result.planned.design.to_json().encode(),
        **persons.files(result.released),
    }
    with _one_line(result.folder):
        paths = [result.folder / name for name in content]
        private = [path for path in paths if path.name in persons.PRIVATE]
        with complete_files(paths, private) as files:
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
