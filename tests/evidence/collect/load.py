"""How many submissions a second the service acknowledges, and how it feels with a million stored."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urljoin

import httpx
import numpy as np
from sqlalchemy import create_engine, text

from tests.collect.faults import submissions
from tests.collect.load import send_all
from tests.collect.servers import postgres, server
from tests.collect.surveys import Survey, published
from tests.evidence.record import Result, Size, Table

SENT: dict[Size, dict[str, int]] = {
    "reduced": {"sqlite": 1_000, "postgresql": 1_000},
    "full": {"sqlite": 1_000_000, "postgresql": 1_000_000},
}
ONE_BY_ONE: dict[Size, int] = {"reduced": 200, "full": 20_000}
PIECE = 50_000
CLIENTS = 64
LEAST_RATE = {"sqlite": 2_000, "postgresql": 1_500}
MOST_MILLISECONDS = 200
# What a process may grow by between its first piece and its last: less than a piece of what was sent to it.
MOST_GROWTH = 32
# And by exports of everything, with what an archive needs that is loaded for the first one.
MOST_FOR_EXPORT = 200
_LINK = re.compile(r"<a [^>]*href=\"([^\"#]+)\"")
GROUPS = "in groups"
# The service as it is, beside one that commits each request by itself.
PROGRAMS = {
    "for each": (
        "-c",
        "from maskwell.collect.store import writer; writer.MOST_TOGETHER = 1; from maskwell.cli import main; main()",
    ),
    GROUPS: ("-m", "maskwell"),
}


@dataclass(frozen=True)
class Look:
    """How long a page took, in milliseconds."""

    database: str
    page: str
    stored: int
    first: float
    slowest: float


@dataclass(frozen=True)
class Unwatched:
    """A service that finds submissions which nobody has counted: how long until all are, and what an export takes."""

    database: str
    stored: int
    counted: float
    joined: float
    first: float
    slowest: float
    export: float
    export_growth: float


@dataclass
class Load:
    """What one service did."""

    database: str
    program: str
    acknowledged: int = 0
    elapsed: float = 0.0
    processor: float = 0.0
    seconds: list[float] = field(default_factory=list)
    mebibytes: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Acknowledged submissions a second."""
        return self.acknowledged / self.elapsed

    @property
    def growth(self) -> float:
        """The memory at the end over that after the first piece, in mebibytes."""
        return self.mebibytes[-1] - self.mebibytes[0]

    def row(self) -> tuple[str, str, int, int, float, float, float, float, float]:
        """A line of the table."""
        times = (1000 * float(value) for value in np.percentile(self.seconds, (50, 95, 99)))
        each = 1e6 * self.processor / self.acknowledged
        return (self.database, self.program, self.acknowledged, round(self.rate), *times, each, self.growth)


def run(size: Size) -> Result:
    """Send everything, then look at the pages."""
    loads: list[Load] = []
    looks: list[Look] = []
    unwatched: list[Unwatched] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        cluster = stack.enter_context(postgres())
        for kind in SENT[size]:
            for program, command in PROGRAMS.items():
                url = f"sqlite:///{folder}/{program}.db" if kind == "sqlite" else cluster.new_database(program)
                count = SENT[size][kind] if program == GROUPS else ONE_BY_ONE[size]
                with server(url, folder, "--burst", "0", program=command) as running:
                    survey = published(running)
                    loads.append(measure(kind, program, survey, count))
                    if program == GROUPS:
                        looks += look_at(kind, survey)
                if program == GROUPS:
                    forget_counts(url)
                    with server(url, folder, "--burst", "0", token=survey.server.administrator_token) as again:
                        unwatched.append(look_unwatched(kind, Survey(again, survey.id, survey.owner_token)))
    return conclude(loads, looks, unwatched, size)


def measure(kind: str, program: str, survey: Survey, count: int) -> Load:
    """Send so many, in pieces; what it takes to prepare them is not counted."""
    load, waiting = Load(kind, program), submissions(1)
    asyncio.run(send_all(survey.server.url, survey.id, islice(waiting, 200), CLIENTS))
    before = survey.server.processor_seconds
    while load.acknowledged < count:
        piece = [body.ready() for body in islice(waiting, min(PIECE, count - load.acknowledged))]
        sent = asyncio.run(send_all(survey.server.url, survey.id, piece, CLIENTS))
        assert len(sent.acknowledged) == len(piece), f"{len(piece) - len(sent.acknowledged)} were refused"
        load.acknowledged += len(piece)
        load.elapsed += sent.elapsed
        load.seconds += sent.seconds
        load.mebibytes.append(survey.server.mebibytes)
    load.processor = survey.server.processor_seconds - before
    return load


def forget_counts(url: str) -> None:
    """Take away what the service has kept of its counts, as if nobody had counted yet."""
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM tallies"))
    engine.dispose()


def look_unwatched(kind: str, survey: Survey) -> Unwatched:
    """Ask until everything is counted, each question alone and two together; every answer must come at once.

    Only the first one waits for what a new process has to load.
    """
    stored, answers = survey.received, []
    with owner_of(survey) as owner:
        figures = f"/studio/surveys/{survey.id}"
        waits = []
        for path in (f"{figures}/figures", f"{figures}/joint/figures?first=1&second=2"):
            started, counting = time.perf_counter(), True
            while counting:
                page, milliseconds = _timed(owner, path)
                answers.append(milliseconds)
                counting = bool(page.json().get("counting"))
                time.sleep(0.1)
            waits.append(time.perf_counter() - started)
        before, started = survey.server.most_mebibytes, time.perf_counter()
        for form in ("parquet", "csv"):
            owner.get(f"/api/surveys/{survey.id}/export?format={form}", timeout=900).raise_for_status()
        took = time.perf_counter() - started
    growth = survey.server.most_mebibytes - before
    return Unwatched(kind, stored, waits[0], waits[1], answers[0], max(answers[1:]), took, growth)


@contextmanager
def owner_of(survey: Survey) -> Iterator[httpx.Client]:
    """A browser that is signed in with the survey's token."""
    with httpx.Client(base_url=survey.server.url, timeout=600, follow_redirects=True) as owner:
        owner.post("/api/session", json={"token": survey.owner_token}).raise_for_status()
        yield owner


def look_at(kind: str, survey: Survey) -> list[Look]:
    """How long each page and answer for the owner takes: the first time, and the slowest of ten more."""
    stored = survey.received
    looks = []
    with owner_of(survey) as owner:
        api, studio = f"/api/surveys/{survey.id}", f"/studio/surveys/{survey.id}"
        figures = [f"{studio}/figures", f"{studio}/joint/figures?first=1&second=2"]
        waiting = [f"{api}/estimates", f"{api}/progress", *figures, "/studio/"]
        seen = set(waiting)
        while waiting:
            path = waiting.pop(0)
            page, first = _timed(owner, path)
            if "content-disposition" in page.headers:
                continue  # A file to keep, not a page to look at.
            looks.append(
                Look(kind, path.replace(survey.id, "…"), stored, first, max(_timed(owner, path)[1] for _ in range(10)))
            )
            is_page = page.headers["content-type"].startswith("text/html")
            links = [urljoin(path, link) for link in _LINK.findall(page.text)] if is_page else []
            new = [link for link in links if link.startswith("/studio/") and link not in seen]
            seen.update(new)
            waiting += new
    return looks


def _timed(owner: httpx.Client, path: str) -> tuple[httpx.Response, float]:
    started = time.perf_counter()
    page = owner.get(path)
    milliseconds = 1000 * (time.perf_counter() - started)
    page.raise_for_status()
    return page, milliseconds


def conclude(loads: list[Load], looks: list[Look], unwatched: list[Unwatched], size: Size) -> Result:
    """At full size, on a machine that does nothing else, the goals are the criterion."""
    failures = []
    for load in loads:
        if size == "full" and load.program == GROUPS:
            if load.rate < LEAST_RATE[load.database]:
                failures.append(f"{load.database}: {load.rate:.0f} a second, fewer than {LEAST_RATE[load.database]}")
            if load.growth > MOST_GROWTH:
                failures.append(f"{load.database}: the service grew by {load.growth:.0f} MiB")
    slow = [look for look in looks if size == "full" and max(look.first, look.slowest) > MOST_MILLISECONDS]
    failures += [f"{look.database}: {look.page} took {max(look.first, look.slowest):.0f} ms" for look in slow]
    for one in unwatched if size == "full" else []:
        if one.slowest > MOST_MILLISECONDS:
            failures.append(f"{one.database}: an answer took {one.slowest:.0f} ms while submissions were counted")
        if one.export_growth > MOST_FOR_EXPORT:
            failures.append(f"{one.database}: exports took {one.export_growth:.0f} MiB")
    groups = {load.database: load for load in loads if load.program == GROUPS}
    each = {load.database: load for load in loads if load.program != GROUPS}
    found = "; ".join(
        f"{kind} {load.rate:,.0f} a second, {load.rate / each[kind].rate:.1f} times a commit for each request"
        for kind, load in groups.items()
    )
    return Result(
        name="collect_load",
        title="The service under load",
        question="How many submissions a second does the service acknowledge, each only after a commit that reached "
        "the disk, while the program that sends them runs on the same two cores? How long does an answer take, does "
        "the service grow, and how long does its owner wait for a page when a million submissions are stored?",
        criterion=f"At least {LEAST_RATE['sqlite']:,} a second on SQLite and {LEAST_RATE['postgresql']:,} on "
        f"PostgreSQL, no more than {MOST_GROWTH} MiB of growth after the first {PIECE:,}, and every page and "
        f"the estimates within {MOST_MILLISECONDS} ms, the first look included, and after a restart with nothing "
        "counted all answers but the first of the new process; exports of everything take no more than "
        f"{MOST_FOR_EXPORT} MiB.",
        sizes={
            **{f"submissions on {kind}": count for kind, count in SENT[size].items()},
            "clients": CLIENTS,
            "processors": os.cpu_count() or 0,
        },
        findings=[f"{found}."],
        tables=[
            Table(
                "Submissions of two questions; milliseconds until the acknowledgement; processor time of the service.",
                (
                    "database",
                    "commits",
                    "submissions",
                    "a second",
                    "p50 ms",
                    "p95 ms",
                    "p99 ms",
                    "µs each",
                    "MiB grown",
                ),
                [load.row() for load in loads],
            ),
            Table(
                "What the owner waits for, in milliseconds: the first time, and the slowest of ten more.",
                ("database", "page", "stored", "first", "slowest"),
                [(look.database, look.page, look.stored, look.first, look.slowest) for look in looks],
            ),
            Table(
                "After a restart, with nothing counted yet: seconds until each question and two together are counted "
                "in the background, the first answer of the new process and the slowest one after it in milliseconds, "
                "and exports as Parquet and as CSV.",
                ("database", "stored", "counted s", "joined s", "first ms", "slowest ms", "exports s", "exports MiB"),
                [tuple(vars(one).values()) for one in unwatched],
            ),
        ],
        failures=failures,
    )
