"""Faults under load: nothing that was acknowledged is lost, and nothing is counted twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.collect.faults import (
    Outcome,
    clock_jumps,
    duplicates,
    full_database_disk,
    full_disk,
    kill_rounds,
    lost_database,
)
from tests.collect.servers import postgres, server
from tests.evidence.record import Result, Size, Table

KILLS: dict[Size, int] = {"reduced": 2, "full": 100}
STOPS: dict[Size, int] = {"reduced": 1, "full": 10}
PEOPLE: dict[Size, int] = {"reduced": 50, "full": 2_000}
JUMPS: dict[Size, int] = {"reduced": 3, "full": 7}
TIMES = 10
SEED = 12


def run(size: Size) -> Result:
    """Try every fault."""
    rows, failures = [], []
    for name, trial in trials(size):
        outcome = trial()
        failures += [f"{name}: {failure}" for failure in outcome.failures]
        refused = sum(count for status, count in outcome.statuses.items() if status not in (0, 200, 201))
        rows.append(
            (
                name,
                sum(outcome.faults.values()),
                outcome.sent,
                outcome.acknowledged,
                refused,
                outcome.statuses[0],
                outcome.lost,
                outcome.counted_twice,
            )
        )
    times, acknowledged, lost, twice = (sum(int(row[at]) for row in rows) for at in (1, 3, 6, 7))
    return Result(
        name="collect_faults",
        title="Faults of the service and of its database",
        question="Submissions are sent all the while. The service is ended by kill -9; the processes of its database "
        "are; its database is stopped and started again; its disk becomes full, and that of PostgreSQL; its clock "
        "jumps by days and years; the same submissions come many times at once, and others under the same ids. Is "
        "anything lost that was acknowledged, or counted twice?",
        criterion="After each fault everything that was acknowledged is in the database, and the rows, the survey's "
        "count, the counts by day and the estimates agree. Refusals are of status 503 with Retry-After (403 and 410 "
        "where a false date closes a survey), none of status 500. Whatever was not acknowledged is sent again at the "
        "end, and then each submission is there once.",
        sizes={"rounds of kill -9 on each database": KILLS[size], "stops of PostgreSQL": STOPS[size], "seed": SEED},
        findings=[f"{times} faults, {acknowledged:,} acknowledged submissions: {lost} lost, {twice} counted twice."],
        tables=[
            Table(
                "What was sent, with what was sent again at the end; a kill leaves some without an answer.",
                ("fault", "times", "sent", "acknowledged", "refused", "unanswered", "lost", "twice"),
                rows,
            )
        ],
        failures=failures,
    )


def trials(size: Size) -> Iterator[tuple[str, Callable[[], Outcome]]]:
    """Every fault by name; each finds its database there while it runs."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        cluster = stack.enter_context(postgres())
        rounds = KILLS[size]
        yield "kill -9, SQLite", lambda: kill_rounds(f"sqlite:///{folder}/kill.db", folder, rounds, SEED)
        killed = cluster.new_database("killed")
        yield "kill -9, PostgreSQL and its service in turn", lambda: kill_rounds(killed, folder, rounds, SEED, cluster)
        yield "PostgreSQL stopped", lambda: lost_database(cluster, folder, SEED, STOPS[size])
        yield "full disk, SQLite", lambda: full_disk(folder, SEED)
        yield "full disk, PostgreSQL", lambda: full_database_disk(folder, SEED)
        yield "clock jumps", lambda: clock_jumps(folder, SEED, JUMPS[size])
        for name, database in {
            "SQLite": f"sqlite:///{folder}/same.db",
            "PostgreSQL": cluster.new_database("same"),
        }.items():
            with server(database, folder, "--burst", "0") as running:
                yield f"the same at once, {name}", lambda: duplicates(running, SEED, PEOPLE[size], TIMES)
