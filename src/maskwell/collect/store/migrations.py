"""Schema versions: a database of an older version is brought up to date in one transaction, a newer one refused."""

from collections.abc import Callable

from sqlalchemy import Connection, inspect, select

from maskwell.collect.store.tables import metadata, schema_version
from maskwell.errors import MaskwellError


class SchemaError(MaskwellError):
    """A database that this version cannot use."""


def _create(connection: Connection) -> None:
    metadata.create_all(connection)


# The step at place i leads from version i to version i + 1. A step, once released, is never changed.
STEPS: list[Callable[[Connection], None]] = [_create]
VERSION = len(STEPS)


def version_of(connection: Connection) -> int:
    """The version of a database; 0 if it is empty."""
    names = set(inspect(connection).get_table_names())
    if schema_version.name in names:
        return int(connection.execute(select(schema_version.c.version)).scalar_one())
    if names & set(metadata.tables):
        raise SchemaError("the database has tables of another program with our names; give the service its own.")
    return 0


def migrate(connection: Connection) -> None:
    """Bring the database up to date."""
    found = version_of(connection)
    if found > VERSION:
        raise SchemaError(
            f"the database has schema version {found}, and this version of Maskwell knows {VERSION}; update Maskwell."
        )
    for step in STEPS[found:]:
        step(connection)
    if found == 0:
        connection.execute(schema_version.insert().values(version=VERSION))
    elif found < VERSION:
        connection.execute(schema_version.update().values(version=VERSION))
