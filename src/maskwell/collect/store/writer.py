"""The one writer: it commits submissions in groups, and a submission is acknowledged only after its commit.

A commit that reaches the disk costs the same for one submission as for hundreds, so whatever came while the last one
was on its way goes into the next one together. Everything else that changes the database passes here too, in order.
"""

from __future__ import annotations

import asyncio
import datetime
import queue
import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import Enum
from operator import itemgetter
from typing import Any, TypeVar

from sqlalchemy import Connection, bindparam, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from maskwell.collect.store.database import Database, StoreError
from maskwell.collect.store.tables import days, spent, submissions, surveys
from maskwell.collect.surveys.submissions import Submission
from maskwell.errors import MaskwellError

R = TypeVar("R")

MOST_TOGETHER = 1000


class Outcome(Enum):
    """What became of a submission."""

    STORED = "stored"
    KNOWN = "known"
    DIFFERENT = "different"
    CLOSED = "closed"
    SPENT = "spent"


class Busy(MaskwellError):
    """More submissions wait than the service takes on."""


class NotStored(MaskwellError):
    """The database did not confirm it; sent again under the same id, it is stored once."""


@dataclass
class _Waiting:
    """A submission on its way, and who waits for it."""

    submission: Submission
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Outcome]
    closed: bool
    spends: bytes | None = None
    outcome: Outcome | None = None


@dataclass
class _Change:
    """Any other change to the database."""

    change: Callable[[Connection], Any]
    answer: Future[Any] = field(default_factory=Future)


@dataclass
class _Progress:
    """How far a survey is."""

    least_batch: int
    received: int
    closed: bool


_STOP = object()


class Writer:
    """A thread, started with the first thing to write."""

    def __init__(self, database: Database, most_waiting: int, least_batch: Callable[[str], int]) -> None:
        self._database = database
        self._most_waiting = most_waiting
        self._least_batch = least_batch
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._connection: Connection | None = None
        self._progress: dict[str, _Progress] = {}
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._stopped = False
        self.groups = 0
        self.committed = 0
        self._arrived: Counter[str] = Counter()

    @property
    def waiting(self) -> int:
        """How many submissions and changes wait."""
        return self._queue.qsize()

    async def store(self, submission: Submission, closed: bool = False, spends: bytes | None = None) -> Outcome:
        """Store a submission, and the pass that it spends; the answer comes after the commit of both.

        Once a survey is closed, only what it has is known.
        """
        if self.waiting >= self._most_waiting:
            raise Busy("too many submissions wait; send this one again in a moment.")
        loop = asyncio.get_running_loop()
        item = _Waiting(submission, loop, loop.create_future(), closed, spends)
        self._put(item)
        return await item.answer

    def much_arrived(self, least: int) -> list[str]:
        """The surveys that received so many submissions since they were last named here."""
        much = [survey for survey, count in list(self._arrived.items()) if count >= least]
        for survey in much:
            self._arrived[survey] = 0
        return much

    def change(self, change: Callable[[Connection], R]) -> R:
        """Carry out any other change in a transaction of its own; returns after its commit."""
        item = _Change(change)
        self._put(item)
        result: R = item.answer.result()
        return result

    def close_survey(self, survey: str) -> None:
        """Take no more submissions: those that were acknowledged stay, later ones are refused."""

        def close(connection: Connection) -> None:
            connection.execute(update(surveys).where(surveys.c.id == survey).values(closed=True))
            self._progress.pop(survey, None)

        self.change(close)

    def stop(self) -> None:
        """Write what waits, then end."""
        with self._starting:
            self._stopped = True
            thread = self._thread
        if thread is not None:
            self._queue.put(_STOP)
            thread.join()

    def _put(self, item: Any) -> None:
        with self._starting:
            if self._stopped:
                raise NotStored("the service is stopping; send it again in a moment.")
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
                self._thread.start()
            self._queue.put(item)

    # In the thread.

    def _run(self) -> None:
        while True:
            taken = self._take()
            for items in _in_turn(taken):
                if items[0] is _STOP:
                    self._disconnect()
                    return
                if isinstance(items[0], _Change):
                    self._carry_out(items[0])
                else:
                    self._store_together(items)

    def _take(self) -> list[Any]:
        """The first that waits and all that came with it."""
        items = [self._queue.get()]
        try:
            while len(items) < MOST_TOGETHER:
                items.append(self._queue.get_nowait())
        except queue.Empty:
            pass
        return items

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = self._database.writing_connection()
        return self._connection

    def _disconnect(self) -> None:
        """What is remembered of the database may be wrong now as well."""
        connection, self._connection = self._connection, None
        self._progress.clear()
        if connection is not None:
            try:
                connection.invalidate()
                connection.close()
            except SQLAlchemyError:
                pass

    def _carry_out(self, item: _Change) -> None:
        try:
            with self._connected().begin():
                result = item.change(self._connected())
        except (SQLAlchemyError, StoreError) as error:
            self._disconnect()
            item.answer.set_exception(_not_stored(error))
        except BaseException as error:
            self._disconnect()
            item.answer.set_exception(error)
        else:
            item.answer.set_result(result)

    def _store_together(self, items: list[_Waiting]) -> None:
        error: NotStored | None = None
        try:
            connection = self._connected()
            with connection.begin():
                self._write(connection, items)
            self.groups += 1
            self.committed += len(items)
        except Exception as reason:
            # Whatever it was, nobody is told that a report was stored which was not.
            self._disconnect()
            error = _not_stored(reason)
        by_loop: dict[asyncio.AbstractEventLoop, list[_Waiting]] = defaultdict(list)
        for item in items:
            by_loop[item.loop].append(item)
        for loop, waiting in by_loop.items():
            try:
                loop.call_soon_threadsafe(_answer, waiting, error)
            except RuntimeError:
                continue  # Its loop has ended, so nobody waits any more.

    def _write(self, connection: Connection, items: list[_Waiting]) -> None:
        by_survey: dict[str, list[_Waiting]] = defaultdict(list)
        for item in items:
            by_survey[item.submission.survey].append(item)
        received: Counter[str] = Counter()
        rows: list[dict[str, Any]] = []
        for survey, waiting in by_survey.items():
            progress = self._progress_of(connection, survey)
            new = _new(connection, survey, waiting, progress.closed)
            _spend(connection, survey, waiting)
            first = len(rows)
            for at, (submission, packed) in enumerate(new.items(), start=progress.received):
                batch = at // progress.least_batch
                rows.append({"survey": survey, "submission": submission, "batch": batch, "reports": packed})
            # By their random ids: where a database keeps rows as they come, a group has no order of arrival.
            rows[first:] = sorted(rows[first:], key=itemgetter("submission"))
            received[survey] = len(new)
        if rows:
            connection.execute(insert(submissions), rows)
        self._count(connection, received)

    def _progress_of(self, connection: Connection, survey: str) -> _Progress:
        if survey not in self._progress:
            row = connection.execute(select(surveys.c.received, surveys.c.closed).where(surveys.c.id == survey)).one()
            self._progress[survey] = _Progress(self._least_batch(survey), int(row[0]), bool(row[1]))
        return self._progress[survey]

    def _count(self, connection: Connection, received: Counter[str]) -> None:
        today = datetime.datetime.now(datetime.UTC).date()
        for survey, count in received.items():
            if not count:
                continue
            values = {"key": survey, "today": today, "count": count}
            connection.execute(_RECEIVED, values)
            if connection.execute(_TODAY, values).rowcount == 0:
                connection.execute(insert(days).values(survey=survey, day=today, received=count))
            # If the commit fails, all that is remembered is forgotten.
            self._progress[survey].received += count
            self._arrived[survey] += count


_RECEIVED = (
    update(surveys).where(surveys.c.id == bindparam("key")).values(received=surveys.c.received + bindparam("count"))
)
_TODAY = (
    update(days)
    .where(days.c.survey == bindparam("key"), days.c.day == bindparam("today"))
    .values(received=days.c.received + bindparam("count"))
)


def _in_turn(items: list[Any]) -> list[list[Any]]:
    """The same in order, with submissions that follow one another together."""
    turns: list[list[Any]] = []
    for item in items:
        if isinstance(item, _Waiting) and turns and isinstance(turns[-1][0], _Waiting):
            turns[-1].append(item)
        else:
            turns.append([item])
    return turns


def _new(connection: Connection, survey: str, waiting: list[_Waiting], closed: bool) -> dict[bytes, bytes]:
    """The submissions that were not there, and for every one what becomes of it."""
    ids = list({item.submission.id for item in waiting})
    query = select(submissions.c.submission, submissions.c.reports).where(
        submissions.c.survey == survey, submissions.c.submission.in_(ids)
    )
    known = {bytes(submission): bytes(reports) for submission, reports in connection.execute(query)}
    used = _used(connection, survey, waiting)
    new: dict[bytes, bytes] = {}
    for item in waiting:
        submission = item.submission
        held = known.get(submission.id, new.get(submission.id))
        if held is None and (closed or item.closed):
            item.outcome = Outcome.CLOSED
        elif held is None and item.spends in used:
            item.outcome = Outcome.SPENT
        elif held is None:
            if item.spends is not None:
                used.add(item.spends)
            new[submission.id] = submission.reports
            item.outcome = Outcome.STORED
        else:
            item.outcome = Outcome.KNOWN if held == submission.reports else Outcome.DIFFERENT
    return new


def _used(connection: Connection, survey: str, waiting: list[_Waiting]) -> set[bytes]:
    """Those passes that were spent before."""
    passes = {item.spends for item in waiting if item.spends is not None}
    if not passes:
        return set()
    query = select(spent.c["pass"]).where(spent.c.survey == survey, spent.c["pass"].in_(list(passes)))
    return {bytes(row) for row in connection.execute(query).scalars()}


def _spend(connection: Connection, survey: str, waiting: list[_Waiting]) -> None:
    """Note the passes of what is stored, in an order that says nothing."""
    passes = sorted(item.spends for item in waiting if item.spends is not None and item.outcome is Outcome.STORED)
    if passes:
        connection.execute(insert(spent), [{"survey": survey, "pass": one} for one in passes])


def _answer(waiting: list[_Waiting], error: NotStored | None) -> None:
    for item in waiting:
        if item.answer.done():
            continue  # The request was given up.
        if error is not None:
            item.answer.set_exception(error)
        else:
            assert item.outcome is not None
            item.answer.set_result(item.outcome)


def _not_stored(reason: Exception) -> NotStored:
    kind = str(reason) if isinstance(reason, StoreError) else type(reason).__name__
    return NotStored(f"the database did not confirm it ({kind}); send it again: it is stored once.")
