"""Whole surveys over HTTP: planned, published, answered, estimated, exported, and estimated again from the files."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.collect import loop
from tests.collect.servers import postgres, server
from tests.evidence.record import Result, Size, Table

PEOPLE: dict[Size, int] = {"reduced": 1_000, "full": 5_000}
SURVEYS: dict[Size, int] = {"reduced": 1, "full": 10}
FALSE_ALARM = 1e-6
SEED = 11


def run(size: Size) -> Result:
    """Go through the loop on both databases."""
    people, surveys = PEOPLE[size], SURVEYS[size]
    rows, failures = [], []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        databases = {"SQLite": f"sqlite:///{folder}/loop.db", "PostgreSQL": stack.enter_context(postgres()).url}
        for name, database in databases.items():
            running = stack.enter_context(server(database, folder, "--burst", "0"))
            loops = [
                loop.run(running, folder / f"{name}{number}", people, SEED + number, FALSE_ALARM / surveys / 2)
                for number in range(surveys)
            ]
            failures += [f"{name}: {failure}" for one in loops for failure in one.failures]
            cells, covered = sum(one.cells for one in loops), sum(one.covered for one in loops)
            farthest = max(one.farthest for one in loops)
            acknowledged = sum(one.acknowledged for one in loops)
            files = [same for one in loops for same in one.alike.values()]
            rows.append(
                (name, surveys, acknowledged, cells, covered, covered / cells, farthest, len(files), sum(files))
            )
    return Result(
        name="collect_loop",
        title="Whole surveys over HTTP",
        question="Does a survey that is planned and published by the service, answered over HTTP and read back by its "
        "owner give the estimates that it should, and do the exported files give the same ones?",
        criterion="Every submission is acknowledged; no estimate is farther from the population than its standard "
        f"error allows, at a false-alarm rate of {FALSE_ALARM:g} over all cells; `maskwell estimate --json` prints the "
        "same for each exported file, parquet and csv, as the service answers.",
        sizes={"respondents a survey": people, "surveys on each database": surveys, "seed": SEED},
        findings=[
            f"{2 * surveys} surveys of {people:,} respondents and {len(loop.QUESTIONS)} questions on SQLite and "
            f"PostgreSQL: {sum(int(row[4]) for row in rows)} of {sum(int(row[3]) for row in rows)} limits at 95 % "
            f"cover, and {sum(int(row[8]) for row in rows)} of {sum(int(row[7]) for row in rows)} exported files give "
            "the estimate that was shown."
        ],
        tables=[
            Table(
                "Limits at 95 %, and the largest distance of an estimate in standard errors.",
                ("database", "surveys", "acknowledged", "cells", "covered", "share", "farthest", "files", "alike"),
                rows,
            )
        ],
        failures=failures,
    )
