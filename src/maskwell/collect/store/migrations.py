"""Schema versions: a database of an older version is brought up to date in one transaction, a newer one refused."""

import json
from collections.abc import Callable

from sqlalchemy import Connection, func, inspect, select, text

from maskwell.collect.invitations.blind import new_signing_key
from maskwell.collect.store.tables import NOT_REDEEMED, invitations, metadata, schema_version, spent, surveys
from maskwell.errors import MaskwellError


class SchemaError(MaskwellError):
    """A database that this version cannot use."""


def _add_invitations(connection: Connection) -> None:
    """Version 2: invitations, and the keys that sign their passes; a survey that has them gets its key now."""
    connection.execute(text("ALTER TABLE surveys ADD COLUMN signing_key TEXT"))
    metadata.create_all(connection, [invitations, spent])
    for survey, document in connection.execute(select(surveys.c.id, surveys.c.document)).all():
        if json.loads(document)["invitations"]:
            connection.execute(surveys.update().where(surveys.c.id == survey).values(signing_key=new_signing_key()))


def _hide_redemptions(connection: Connection) -> None:
    """Version 3: an invitation that is not redeemed takes as many bytes as one that is, and all are written anew."""
    values = {"redeemed": func.coalesce(invitations.c.redeemed, NOT_REDEEMED)}
    connection.execute(invitations.update().values(values))


# A new database is made as it is today. The step at place i leads from version i + 1 to version i + 2; once released,
# a step is never changed.
STEPS: list[Callable[[Connection], None]] = [_add_invitations, _hide_redemptions]
VERSION = len(STEPS) + 1


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
    if found == 0:
        metadata.create_all(connection)
        connection.execute(schema_version.insert().values(version=VERSION))
        return
    for step in STEPS[found - 1 :]:
        step(connection)
    connection.execute(schema_version.update().values(version=VERSION))
