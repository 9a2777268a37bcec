"""What goes wrong around a service: it is killed, its database goes away, its disk is full, its clock jumps.

Each trial sends submissions all the while, and afterwards compares what was acknowledged with what is stored.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

import httpx
import numpy as np
import psycopg
from sqlalchemy import create_engine, text

from tests.collect.load import Prepared, Sent, prepared, send_all
from tests.collect.servers import Postgres, Server, free_port, postgres_on_a_small_disk, start_server
from tests.collect.surveys import DRUGS, INCOME, Survey, designs, document, published
from tools.system_parts import faketime

_PIECE = 5_000


def submissions(seed: int) -> Iterator[Prepared]:
    """Simulated respondents without end."""
    chance, piece = np.random.default_rng(seed), 0
    while True:
        answers = {"drugs": chance.choice(DRUGS, _PIECE), "income": chance.choice(INCOME, _PIECE)}
        yield from prepared(designs(), answers, seed + piece)
        piece += 1


@dataclass
class Outcome:
    """What was sent and acknowledged, and what is stored of it."""

    sent: int = 0
    acknowledged: int = 0
    lost: int = 0
    counted_twice: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    unclear: int = 0
    probes: int = 0  # single submissions that a trial sent besides its load

    @property
    def failures(self) -> list[str]:
        """What must not be."""
        wrong = {
            "acknowledged and lost": self.lost,
            "counted twice": self.counted_twice,
            "answers of status 500": self.statuses[500],
            "unclear answers": self.unclear,
        }
        return [f"{count} {what}" for what, count in wrong.items() if count]


class Trial:
    """A service under load, and faults to try on it."""

    def __init__(self, database: str, folder: Path, seed: int, **start: object) -> None:
        self.database, self.folder, self.port = database, folder, free_port()
        self.chance = random.Random(seed)
        self.waiting = submissions(seed)
        self.outcome = Outcome()
        self.bodies: dict[str, Prepared] = {}
        self.acknowledged: set[str] = set()
        self.server: Server = self._start(**start)
        self.survey: Survey = published(self.server, document(least_batch=10))

    def _start(self, token: str = "", **options: object) -> Server:
        starting: Callable[..., Server] = start_server
        return starting(self.database, self.folder, "--burst", "0", port=self.port, token=token, **options)

    def restart(self, **options: object) -> None:
        """Start the service again, on the same port."""
        self.server = self._start(self.server.administrator_token, **options)
        self.survey.server = self.server

    def load(self, fault: Callable[[], None], seconds: float, after: float = 0.2, clients: int = 32) -> Sent:
        """Send for so long, and let the fault happen in the middle of it."""

        async def run() -> Sent:
            end = time.monotonic() + seconds + after

            def until_then() -> Iterator[Prepared]:
                for submission in self.waiting:
                    if time.monotonic() > end:
                        return
                    self.bodies[submission.id] = submission
                    yield submission

            sending = asyncio.create_task(send_all(self.server.url, self.survey.id, until_then(), clients))
            await asyncio.sleep(seconds)
            await asyncio.to_thread(fault)
            return await sending

        sent = asyncio.run(run())
        self._note(sent)
        return sent

    def _note(self, sent: Sent) -> None:
        self.outcome.sent += len(sent.statuses)
        self.outcome.statuses.update(sent.statuses.values())
        self.acknowledged.update(sent.acknowledged)
        self.outcome.acknowledged = len(self.acknowledged)
        self.outcome.unclear += sent.unclear

    def check(self) -> None:
        """Compare what was acknowledged with what is stored: all of it, and each once, in every count there is."""
        stored = self.stored()
        self.outcome.lost += len(self.acknowledged - set(stored))
        progress = self.survey.get("progress").json()
        # The rows, the count of the survey and the counts by day are written by different statements.
        counts = {len(stored), progress["received"], sum(progress["by_day"].values())}
        self.outcome.counted_twice += max(counts) - min(counts)
        if progress["shown"]:
            whole = len(stored) - len(stored) % 10
            self.outcome.counted_twice += abs(self._shown(whole) - whole)

    def _shown(self, whole: int, seconds: float = 60) -> int:
        """How many reports estimates are made from, once all of them are counted."""
        end = time.monotonic() + seconds
        while True:
            answer = self.survey.get("estimates")
            shown = int(answer.json()["drugs"]["n"]) if answer.status_code == 200 else 0
            if shown >= whole or time.monotonic() > end:
                return shown
            time.sleep(0.2)

    def stored(self) -> list[str]:
        """The ids that are in the database, read past the service."""
        engine = create_engine(self.database.replace("postgresql:", "postgresql+psycopg:"))
        query = text("SELECT submission FROM submissions WHERE survey = :survey")
        with engine.connect() as connection:
            rows = connection.execute(query, {"survey": self.survey.id}).scalars().all()
        engine.dispose()
        return [_spelled(bytes(row)) for row in rows]

    def send_the_rest(self) -> None:
        """Send everything again that was not acknowledged, as the respondents' pages do, until it is."""
        rest = [body for identity, body in self.bodies.items() if identity not in self.acknowledged]
        self._note(asyncio.run(send_all(self.server.url, self.survey.id, rest, 16)))
        if missing := len(self.bodies.keys() - self.acknowledged):
            self.outcome.lost += missing

    def end(self) -> Outcome:
        """The last comparison: after everything was sent again, each submission is there once."""
        self.send_the_rest()
        self.check()
        self.outcome.counted_twice += abs(len(self.stored()) - len(self.bodies) - self.outcome.probes)
        with contextlib.suppress(ProcessLookupError):
            self.server.process.kill()
        self.server.process.wait()
        return self.outcome


def _spelled(identity: bytes) -> str:
    digits = identity.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def kill_rounds(database: str, folder: Path, rounds: int, seed: int, cluster: Postgres | None = None) -> Outcome:
    """kill -9 under load, again and again: the service, and every other time the server of its database."""
    trial = Trial(database, folder, seed)
    for number in range(rounds):
        at_the_database = cluster is not None and number % 2 == 1
        fault = cluster.kill_backends if cluster is not None and at_the_database else trial.server.kill
        trial.load(fault, trial.chance.uniform(0.1, 0.5))
        trial.outcome.faults["database killed" if at_the_database else "service killed"] += 1
        if not at_the_database:
            trial.restart()
        wait_until_healthy(trial.server)
        trial.check()
    return trial.end()


def wait_until_healthy(server: Server, seconds: float = 60) -> None:
    """Until the service reaches its database."""
    end = time.monotonic() + seconds
    while httpx.get(f"{server.url}/healthz", timeout=60).status_code != 200:
        assert time.monotonic() < end, "the service did not recover"
        time.sleep(0.1)


def full_disk(folder: Path, seed: int, mebibytes: int = 2) -> Outcome:
    """SQLite on a disk that is full after a while, and has room again."""
    trial = Trial(f"sqlite:///{folder}/full.db", folder, seed, most_file_bytes=mebibytes << 20)
    while trial.outcome.statuses[503] < 50:
        trial.load(lambda: None, 0.5)
        assert trial.outcome.sent < 200_000, "the disk did not become full"
    # Reading goes on, and what was acknowledged is there.
    trial.check()
    trial.outcome.faults["disk full"] += 1
    trial.server.stop()
    trial.restart()
    return trial.end()


def full_database_disk(folder: Path, seed: int) -> Outcome:
    """PostgreSQL on a disk that is full after a while, twice: for tables, then for its log, which ends the server."""
    with postgres_on_a_small_disk(1 << 18) as (cluster, disk):
        trial = Trial(cluster.url, folder, seed)
        for crash in (False, True):
            disk.fill(cluster)
            refused, refused_before = 50, trial.outcome.statuses[503]
            if crash:
                # The next piece of the log has no room, and the server gives up.
                with contextlib.suppress(psycopg.Error), psycopg.connect(cluster.url) as connection:
                    connection.execute("SELECT pg_switch_wal()")
            while trial.outcome.statuses[503] < refused_before + refused:
                trial.load(lambda: None, 0.5)
                assert trial.outcome.sent < 200_000, "the disk did not become full"
            if not crash:
                trial.check()  # Reading goes on, and what was acknowledged is there.
            trial.outcome.faults["log full" if crash else "disk full"] += 1
            disk.make_room(cluster)
            wait_until_healthy(trial.server)
            trial.check()
        return trial.end()


def lost_database(cluster: Postgres, folder: Path, seed: int, rounds: int) -> Outcome:
    """PostgreSQL is stopped under load and started again; the service stays up and goes on by itself."""
    trial = Trial(cluster.url, folder, seed)
    for _ in range(rounds):
        trial.load(cluster.stop, 0.3, after=0.5)
        answer = httpx.get(f"{trial.server.url}/healthz", timeout=60)
        if answer.status_code != 503 or "retry-after" not in answer.headers:
            trial.outcome.unclear += 1
        cluster.start()
        trial.outcome.faults["database stopped"] += 1
        wait_until_healthy(trial.server)
        trial.load(lambda: None, 0.2)
        trial.check()
    return trial.end()


# By how many days the clock is off, and what a submission is answered then.
JUMPS = ((400, 410), (-400, 403), (0, 201), (2, 201), (-3, 201), (20, 201), (0, 201))


def clock_jumps(folder: Path, seed: int, jumps: int = len(JUMPS)) -> Outcome:
    """The clock jumps by days and years under load: dates decide what is open, and no count is touched."""
    library, offset = faketime(), folder / "offset"
    assert library is not None, "libfaketime is missing; run make system"
    offset.write_text("+0d")
    environment = {
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(offset),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    trial = Trial(f"sqlite:///{folder}/clock.db", folder, seed, environment=environment)
    today = datetime.datetime.now(datetime.UTC).date()
    month = datetime.timedelta(days=30)
    dates = document(opens=str(today - month), closes=str(today + month))
    trial.survey = published(trial.server, dates)
    for days, expected in JUMPS[:jumps]:
        trial.load(partial(offset.write_text, f"{days:+d}d"), 0.2)
        if trial.survey.submit().status_code != expected:
            trial.outcome.unclear += 1
        elif expected == 201:
            trial.outcome.probes += 1
        trial.check()
        trial.outcome.faults[f"clock {days:+d} days"] += 1
    return trial.end()


def duplicates(server: Server, seed: int, people: int, times: int) -> Outcome:
    """The same submissions many times at once, and others under their ids: each is stored once, as first sent."""
    survey = published(server)
    honest = list(islice(submissions(seed), people))
    other = list(islice(submissions(seed + 1), people))
    forged = [Prepared(mine.id, theirs.reports) for mine, theirs in zip(honest, other, strict=True)]
    crowd = [*(body for body in honest for _ in range(times)), *forged]
    random.Random(seed).shuffle(crowd)
    outcome = Outcome(sent=len(crowd))
    answers: list[tuple[str, int]] = []
    asyncio.run(
        send_all(server.url, survey.id, crowd, 64, heard=lambda body, status: answers.append((body.id, status)))
    )
    outcome.statuses.update(status for _, status in answers)
    first = Counter(identity for identity, status in answers if status == 201)
    outcome.acknowledged = len(first)
    outcome.counted_twice = sum(first.values()) - people + abs(survey.received - people)
    outcome.lost = people - len(first)
    return outcome
