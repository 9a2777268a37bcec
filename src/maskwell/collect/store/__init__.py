"""Where surveys and reports are kept: SQLite or PostgreSQL through the same tables."""

from maskwell.collect.store.database import Database, StoreError
from maskwell.collect.store.writer import Busy, NotStored, Writer

__all__ = ["Busy", "Database", "NotStored", "StoreError", "Writer"]
