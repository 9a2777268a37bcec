"""A service on SQLite and one on a real PostgreSQL, each started once; every test publishes surveys of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.collect.servers import Server, postgres, server
from tests.collect.surveys import Survey, published


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a PostgreSQL server that tests may fill."""
    with postgres() as running:
        yield running.url


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def service(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A running service."""
    folder = tmp_path_factory.mktemp("service")
    database = request.getfixturevalue("postgresql") if request.param == "postgresql" else f"sqlite:///{folder}/a.db"
    with server(database, folder, "--burst", "0") as running:
        yield running


@pytest.fixture(scope="session")
def sqlite_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A running service on SQLite, for what does not depend on the database."""
    folder: Path = tmp_path_factory.mktemp("sqlite-service")
    with server(f"sqlite:///{folder}/a.db", folder, "--burst", "0") as running:
        yield running


@pytest.fixture
def survey(service: Server) -> Survey:
    """A survey of two questions, one of them optional."""
    return published(service)
