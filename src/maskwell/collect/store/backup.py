"""A copy of a whole database that is right at one moment, taken while the service runs, and put back where none is.

SQLite copies itself page by page (its online backup); PostgreSQL's own ``pg_dump`` and ``pg_restore`` do the same.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

from sqlalchemy import URL

from maskwell.collect.store.database import StoreError, checked_url


def backup(database: str, target: Path) -> None:
    """Copy a database to a new file, readable by its owner only."""
    url = checked_url(database)
    if target.exists():
        raise StoreError(f"{target.name!r} is there already; name a new file.")
    if not target.absolute().parent.is_dir():
        raise StoreError(f"there is no folder for {target.name!r}; create it first.")
    partial = target.with_name(f"{target.name}.part")
    os.close(os.open(partial, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600))
    try:
        if url.get_backend_name() == "sqlite":
            _copy(Path(str(url.database)), partial)
        else:
            _run("pg_dump", url, "--format=custom", "--no-owner", "--no-privileges", f"--file={partial}")
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def restore(database: str, source: Path) -> None:
    """Put a copy back as a new database; one that is there already is never touched."""
    url = checked_url(database)
    if not source.is_file():
        raise StoreError(f"there is no file {source.name!r}.")
    if url.get_backend_name() == "sqlite":
        place = Path(str(url.database))
        if place.exists():
            raise StoreError(f"{place.name!r} is there already; restore to a new file.")
        if source.read_bytes()[:15] != b"SQLite format 3":
            raise StoreError(f"{source.name!r} is no copy of an SQLite database.")
        _copy(source, place)
        return
    # In one transaction: a database that has any of our tables stays as it is.
    _run("pg_restore", url, "--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", str(source))


def _copy(source: Path, target: Path) -> None:
    if not source.is_file():
        raise StoreError(f"there is no database {source.name!r}.")
    try:
        with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new)
    except sqlite3.Error as error:
        raise StoreError(f"the database could not be copied ({error}).") from None


def _run(program: str, url: URL, *arguments: str) -> None:
    found = shutil.which(program)
    if found is None:
        raise StoreError(f"{program} is missing; install PostgreSQL's client programs.")
    # The password goes by the environment: others on the machine can read the arguments of a program.
    address = url.set(drivername="postgresql", password=None).render_as_string(hide_password=False)
    around = {**os.environ, **({"PGPASSWORD": str(url.password)} if url.password else {})}
    done = subprocess.run(
        [found, f"--dbname={address}", *arguments], env=around, capture_output=True, text=True, check=False
    )
    if done.returncode:
        reason = done.stderr.strip().splitlines()
        raise StoreError(f"{program} did not succeed: {reason[0] if reason else 'no reason given'}")
