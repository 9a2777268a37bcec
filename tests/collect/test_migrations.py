"""A database of an older version is brought up to date with everything in it; a newer or a foreign one is refused."""

from __future__ import annotations

import datetime
import json
import os
import uuid
import warnings
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, create_engine, event, inspect, text

from maskwell.collect.access import new_token, token_hash
from maskwell.collect.store import Database
from maskwell.collect.store.migrations import VERSION, SchemaError
from maskwell.collect.store.tables import metadata
from maskwell.collect.surveys.document import read_survey
from maskwell.collect.surveys.submissions import Layout
from tests.collect.servers import new_database, server
from tests.collect.surveys import Survey, bearer, document, submission

SCHEMA_1 = (Path(__file__).parent / "schema_1.sql").read_text("utf-8")
OPEN, INVITED = "a" * 16, "b" * 16


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: Any, tmp_path: Path) -> str:
    """The address of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/old.db"
    return new_database(request.getfixturevalue("postgresql"))


def driver(url: str) -> str:
    return url.replace("postgresql:", "postgresql+psycopg:")


def fill_version_1(url: str, owner_token: str) -> None:
    """A database as version 1 left it: two surveys, one with twelve submissions."""
    engine = create_engine(driver(url))
    postgres = engine.dialect.name == "postgresql"
    words = {"bytes": "BYTEA" if postgres else "BLOB", "without_rowid": "" if postgres else "WITHOUT ROWID"}
    with engine.begin() as connection:
        for statement in SCHEMA_1.format(**words).split(";"):
            if statement.strip():
                connection.execute(text(statement))
        today = datetime.date(2026, 11, 1)
        for survey, invitations in ((OPEN, False), (INVITED, True)):
            stored = json.dumps(read_survey(document(invitations=invitations)).to_document())
            row = {
                "id": survey,
                "document": stored,
                "owner": token_hash(owner_token if survey == OPEN else new_token()),
                "created": today,
                "closed": False,
                "received": 12 if survey == OPEN else 0,
            }
            connection.execute(
                text("INSERT INTO surveys VALUES (:id, :document, :owner, :created, :closed, :received)"), row
            )
        pack = Layout(read_survey(document())).pack
        for at in range(12):
            reports = pack({"drugs": at % 3, "income": [0, 1 + at % 7]})
            row = {"survey": OPEN, "submission": uuid.UUID(int=at).bytes, "batch": at // 10, "reports": reports}
            connection.execute(text("INSERT INTO submissions VALUES (:survey, :submission, :batch, :reports)"), row)
        day = {"survey": OPEN, "day": today, "received": 12}
        connection.execute(text("INSERT INTO days VALUES (:survey, :day, :received)"), day)
    engine.dispose()


def shape(url: str) -> Any:
    """Tables, columns and keys, as the database itself describes them."""
    engine = create_engine(driver(url))
    seen = inspect(engine)
    tables = {
        name: (
            [(column["name"], str(column["type"]), column["nullable"]) for column in seen.get_columns(name)],
            seen.get_pk_constraint(name)["constrained_columns"],
            sorted(str(index["column_names"]) for index in seen.get_indexes(name)),
        )
        for name in seen.get_table_names()
    }
    engine.dispose()
    return tables


def test_an_older_database_goes_on_with_all_that_it_has(empty: str, tmp_path: Path) -> None:
    owner_token = new_token()
    fill_version_1(empty, owner_token)
    with server(empty, tmp_path, "--burst", "0") as running:
        survey = Survey(running, OPEN, owner_token)
        assert survey.get("progress").json()["by_day"] == {"2026-11-01": 12}
        assert survey.get("estimates").json()["drugs"]["n"] == 10
        assert survey.submit(submission(0, [0, 1], identity=str(uuid.UUID(int=0)))).status_code == 200
        assert survey.submit().status_code == 201
        assert survey.received == 13
        # A survey by invitation that was published before keys were kept has one now.
        assert "invitation_key" in httpx.get(f"{running.url}/api/surveys/{INVITED}").json()
        answer = httpx.post(
            f"{running.url}/api/surveys", json=document(), headers=bearer(running.administrator_token), timeout=60
        )
        assert answer.status_code == 201


def kill_at_statement(url: str, number: int) -> bool:
    """Open a database in a process that ends before its statement of this number; says whether it came so far."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, none of which the child needs
        process = os.fork()
    if not process:
        left = number

        @event.listens_for(Engine, "before_cursor_execute")
        def end(*_: Any) -> None:
            nonlocal left
            if not left:
                os._exit(9)
            left -= 1

        try:
            Database(url)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 9


@pytest.mark.parametrize("old", [False, True], ids=["new", "old"])
def test_a_kill_leaves_the_old_schema_or_the_new_one(empty: str, tmp_path: Path, old: bool) -> None:
    if old:
        fill_version_1(empty, new_token())
    before, number = shape(empty), 0
    while kill_at_statement(empty, number):
        left = shape(empty)
        number += 1 if empty.startswith("sqlite") else 4
        if left != before:
            break
    assert number > 5
    Database(empty).close()
    if old:
        engine = create_engine(driver(empty))
        with engine.connect() as connection:
            assert connection.execute(text("SELECT count(*) FROM submissions")).scalar_one() == 12
        engine.dispose()
    else:
        assert set(shape(empty)) == set(metadata.tables)
    # What a kill left was the old schema or, after the commit, the new one.
    assert left in (before, shape(empty))


def test_an_older_database_becomes_what_a_new_one_is(empty: str, tmp_path: Path) -> None:
    fill_version_1(empty, new_token())
    Database(empty).close()
    migrated = shape(empty)
    if empty.startswith("sqlite"):
        new = f"sqlite:///{tmp_path}/new.db"
    else:
        new = new_database(empty)
    Database(new).close()
    assert migrated == shape(new)
    # Opening it once more changes nothing.
    Database(empty).close()
    assert shape(empty) == migrated


def test_a_newer_database_is_refused(empty: str) -> None:
    Database(empty).close()
    engine = create_engine(driver(empty))
    with engine.begin() as connection:
        connection.execute(text("UPDATE schema_version SET version = :version"), {"version": VERSION + 1})
    engine.dispose()
    with pytest.raises(SchemaError, match=f"schema version {VERSION + 1}.*update Maskwell"):
        Database(empty)


def test_the_tables_of_another_program_are_left_alone(empty: str) -> None:
    engine = create_engine(driver(empty))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE surveys (name TEXT)"))
    engine.dispose()
    with pytest.raises(SchemaError, match="another program"):
        Database(empty)
    assert shape(empty).keys() == {"surveys"}
