"""The tables. Nothing in them says who sent a report, from where, or when: days are counted, not noted by report."""

from sqlalchemy import (
    Boolean,
    Column,
    Date,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

metadata = MetaData()

schema_version = Table("schema_version", metadata, Column("version", Integer, primary_key=True))

# Facts about the service itself, such as the hash of the administrator's token.
service = Table(
    "service", metadata, Column("name", String(64), primary_key=True), Column("value", Text, nullable=False)
)

surveys = Table(
    "surveys",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("document", Text, nullable=False),
    Column("owner_hash", String(64), nullable=False),
    Column("created", Date, nullable=False),
    Column("closed", Boolean, nullable=False),
    Column("received", Integer, nullable=False),
    # Signs the passes of invitations, where the survey has them.
    Column("signing_key", Text),
)

# In SQLite without row numbers, which would keep the order of arrival; the key is random, drawn by the respondent.
submissions = Table(
    "submissions",
    metadata,
    Column("survey", String(32), ForeignKey("surveys.id"), primary_key=True),
    Column("submission", LargeBinary(16), primary_key=True),
    Column("batch", Integer, nullable=False),
    Column("reports", LargeBinary, nullable=False),
    Index("submissions_by_batch", "survey", "batch"),
    sqlite_with_rowid=False,
)

# Hashes of the invitations, and of what each was redeemed for: as many bytes before as after, and written in crowds, so
# that neither place nor transaction tells in which order.
invitations = Table(
    "invitations",
    metadata,
    Column("survey", String(32), ForeignKey("surveys.id"), primary_key=True),
    Column("invitation", LargeBinary(32), primary_key=True),
    Column("redeemed", LargeBinary(32)),
    sqlite_with_rowid=False,
)
NOT_REDEEMED = bytes(32)

# Hashes of the passes that came with submissions, and nothing that says with which.
spent = Table(
    "spent",
    metadata,
    Column("survey", String(32), ForeignKey("surveys.id"), primary_key=True),
    Column("pass", LargeBinary(32), primary_key=True),
    sqlite_with_rowid=False,
)

days = Table(
    "days",
    metadata,
    Column("survey", String(32), ForeignKey("surveys.id"), primary_key=True),
    Column("day", Date, primary_key=True),
    Column("received", Integer, nullable=False),
)

# What was counted so far, so that a question about a million reports reads the newest ones only.
tallies = Table(
    "tallies",
    metadata,
    Column("survey", String(32), ForeignKey("surveys.id"), primary_key=True),
    Column("questions", Text, primary_key=True),
    Column("batches", Integer, nullable=False),
    Column("counts", LargeBinary, nullable=False),
)
