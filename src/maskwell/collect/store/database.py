"""The database: how it is opened, that one service at a time writes to it, and what is read from it."""

from __future__ import annotations

import datetime
import fcntl
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from sqlalchemy import ColumnElement, Connection, Engine, RowMapping, create_engine, event, func, make_url, select, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from maskwell.collect.store.migrations import migrate
from maskwell.collect.store.tables import days, invitations, service, submissions, surveys, tallies
from maskwell.errors import MaskwellError

# Any number will do, as long as every service that writes to a PostgreSQL database asks for the same one.
_LOCK = 0x6D61736B
_PATIENCE = 5  # seconds
_ANOTHER = "another service is writing to this database; stop it first."


class StoreError(MaskwellError):
    """A database that cannot be used."""


@dataclass(frozen=True)
class SurveyRow:
    """A survey as it is stored."""

    id: str
    document: str
    owner_hash: str
    created: datetime.date
    closed: bool
    received: int
    signing_key: str | None


class Database:
    """An open database, up to date."""

    def __init__(self, url: str) -> None:
        self.url = checked_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.engine = _engine(self.url, self.is_sqlite)
        self._lock_file: IO[str] | None = None
        self._locked: Connection | None = None
        try:
            self._lock()
            assert self._locked is not None
            with self._locked.begin():
                migrate(self._locked)
        except MaskwellError:
            self.close()
            raise
        except SQLAlchemyError as error:
            self.close()
            raise StoreError(f"the database cannot be used ({type(error).__name__}); check its address.") from None

    def _lock(self) -> None:
        """One service at a time: another would count submissions into the same batches."""
        if self.is_sqlite:
            path = f"{self.url.database}.lock"
            try:
                self._lock_file = open(path, "w")  # noqa: SIM115 - held as long as the database is
                fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StoreError(_ANOTHER) from None
            except OSError as error:
                raise StoreError(f"the database cannot be opened: {error.strerror}.") from None
        self._locked = self._wait_for_lock()

    def _wait_for_lock(self) -> Connection:
        """On PostgreSQL the writer's connection holds the lock; that of a service that was killed ends in a moment."""
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                return self._new_writing_connection()
            except StoreError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    def writing_connection(self) -> Connection:
        """The connection of the one writer; on PostgreSQL it holds the lock that keeps other services out.

        The first one is that of the start, so that the lock is held from then on.
        """
        connection, self._locked = self._locked, None
        if connection is not None:
            try:
                connection.execute(text("SELECT 1"))
                connection.rollback()
            except SQLAlchemyError:
                connection.invalidate()
                connection.close()
            else:
                return connection
        return self._new_writing_connection()

    def _new_writing_connection(self) -> Connection:
        connection = self.engine.connect()
        if not self.is_sqlite:
            held = connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": _LOCK}).scalar_one()
            connection.commit()
            if not held:
                connection.close()
                raise StoreError(_ANOTHER)
        return connection

    def close(self) -> None:
        """Give everything back."""
        if self._locked is not None:
            self._locked.invalidate()
            self._locked.close()
            self._locked = None
        self.engine.dispose()
        if self._lock_file is not None:
            self._lock_file.close()

    # Reading. Writing is the writer's alone.

    def survey(self, survey: str) -> SurveyRow | None:
        """A survey as it is stored."""
        with self.engine.connect() as connection:
            row = connection.execute(select(surveys).where(surveys.c.id == survey)).mappings().first()
        return None if row is None else _survey_row(row)

    def owned_by(self, owner_hash: str) -> str | None:
        """The survey whose owner's token has this hash."""
        with self.engine.connect() as connection:
            return connection.execute(select(surveys.c.id).where(surveys.c.owner_hash == owner_hash)).scalar()

    def survey_ids(self, most: int) -> list[str]:
        """The newest surveys."""
        query = select(surveys.c.id).order_by(surveys.c.created.desc(), surveys.c.id).limit(most)
        with self.engine.connect() as connection:
            return list(connection.execute(query).scalars())

    def fact(self, name: str) -> str | None:
        """A fact about the service."""
        with self.engine.connect() as connection:
            return connection.execute(select(service.c.value).where(service.c.name == name)).scalar()

    def by_day(self, survey: str) -> dict[str, int]:
        """How many submissions came on each day."""
        query = select(days.c.day, days.c.received).where(days.c.survey == survey).order_by(days.c.day)
        with self.engine.connect() as connection:
            return {day.isoformat(): int(count) for day, count in connection.execute(query)}

    def stored(self) -> int:
        """How many submissions there are in all."""
        with self.engine.connect() as connection:
            return int(connection.execute(select(func.coalesce(func.sum(surveys.c.received), 0))).scalar_one())

    def invited(self, survey: str) -> int:
        """How many invitations a survey has."""
        query = select(func.count()).select_from(invitations).where(invitations.c.survey == survey)
        with self.engine.connect() as connection:
            return int(connection.execute(query).scalar_one())

    def received(self) -> dict[str, int]:
        """How many submissions each survey has."""
        with self.engine.connect() as connection:
            return {
                survey: int(count) for survey, count in connection.execute(select(surveys.c.id, surveys.c.received))
            }

    def packed_reports(self, survey: str, first: int, after: int, rows: int) -> Iterator[list[bytes]]:
        """The packed submissions of the batches from ``first`` to before ``after``, so many rows at a time."""
        batch = submissions.c.batch
        yield from self._pages(rows, submissions.c.survey == survey, batch >= first, batch < after)

    def all_packed_reports(self, survey: str, batches: int, rows: int) -> Iterator[list[bytes]]:
        """The same of all batches before ``batches``."""
        # A sum is in no index: reading all in the order of their keys is several times as fast.
        yield from self._pages(rows, submissions.c.survey == survey, submissions.c.batch + 0 < batches)

    def _pages(self, rows: int, *wanted: ColumnElement[bool]) -> Iterator[list[bytes]]:
        query = select(submissions.c.reports).where(*wanted).execution_options(yield_per=rows)
        with self.engine.connect() as connection, connection.execute(query) as found:
            for page in found.scalars().partitions():
                yield [bytes(row) for row in page]

    def counted(self, survey: str, questions: str) -> tuple[int, bytes] | None:
        """The tally that was kept last: how many batches it counts, and its counts."""
        query = select(tallies.c.batches, tallies.c.counts).where(
            tallies.c.survey == survey, tallies.c.questions == questions
        )
        with self.engine.connect() as connection:
            row = connection.execute(query).first()
        return None if row is None else (int(row[0]), bytes(row[1]))

    def ping(self) -> None:
        """An error unless the database answers."""
        with self.engine.connect() as connection:
            connection.execute(text("SELECT 1"))


def _survey_row(row: RowMapping) -> SurveyRow:
    return SurveyRow(**{name: row[name] for name in SurveyRow.__dataclass_fields__})


def checked_url(url: str) -> URL:
    """The address of a database that can be used; an error says what it should be."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise StoreError("database must be sqlite:///file.db or postgresql://user@host/name.") from None
    backend = parsed.get_backend_name()
    if backend == "sqlite":
        if parsed.database in (None, "", ":memory:"):
            raise StoreError("a survey needs a database that lasts: give a file, as in sqlite:///surveys.db.")
        folder = os.path.dirname(os.path.abspath(str(parsed.database)))
        if not os.path.isdir(folder):
            raise StoreError(f"there is no folder {folder!r} for the database; create it first.")
        return parsed.set(drivername="sqlite")
    if backend in ("postgresql", "postgres"):
        return parsed.set(drivername="postgresql+psycopg")
    raise StoreError(f"databases are SQLite and PostgreSQL; got {backend!r}.")


def _engine(url: URL, is_sqlite: bool) -> Engine:
    if not is_sqlite:
        from maskwell.extras import require

        require("PostgreSQL needs", "psycopg")
        return create_engine(url, pool_pre_ping=True, connect_args={"connect_timeout": 10}, hide_parameters=True)
    engine = create_engine(url, connect_args={"timeout": 30, "check_same_thread": False}, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def _durable(connection: Any, _: Any) -> None:
        # The driver would begin no transaction before a change of the schema: it would be made in pieces.
        connection.isolation_level = None
        for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=30000"):
            connection.execute(f"PRAGMA {setting}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine
