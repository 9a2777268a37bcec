"""Collecting: a service that takes masked reports and never loses one, and the calls that go with it.

Nothing is loaded before it is used: the packages of the service are the extra ``maskwell[collect]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maskwell.collect.client import Client
from maskwell.collect.needed import require_service

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["Client", "create_app"]


def create_app(database: str = "sqlite:///maskwell.db", **settings: Any) -> FastAPI:
    """The service as an ASGI application, on ``sqlite:///file`` or ``postgresql://…``.

    ``settings`` are the fields of :class:`~maskwell.collect.settings.Settings`. The administrator's token is
    ``app.state.administrator_token`` if it was made now, with the database; afterwards only its hash exists.
    """
    require_service()
    from maskwell.collect.application import build

    return build(database, **settings)
