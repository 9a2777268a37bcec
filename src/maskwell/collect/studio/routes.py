"""Where the studio's pages are served."""

from __future__ import annotations

from fastapi import APIRouter

from maskwell.collect.service import Service
from maskwell.collect.studio import drafting, home, signing
from maskwell.collect.studio.files import routes as files
from maskwell.collect.studio.owner import routes as owner
from maskwell.collect.studio.planning import routes as planning
from maskwell.collect.surveys.tallies import Tallies


def routes(service: Service, tallies: Tallies) -> APIRouter:
    """The pages below ``/studio/``; their scripts and styles are served at ``/studio/assets/``."""
    router = APIRouter()
    for part in (
        signing.routes(service),
        home.routes(service),
        planning.pages(),
        planning.data(),
        drafting.pages(),
        drafting.data(service),
        files.pages(service),
        files.data(service),
        owner.pages(service),
        owner.data(service, tallies),
    ):
        router.include_router(part)
    return router
