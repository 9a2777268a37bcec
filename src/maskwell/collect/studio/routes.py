"""Where the studio's pages are served."""

from __future__ import annotations

from fastapi import APIRouter

from maskwell.collect.service import Service


def routes(service: Service) -> APIRouter:
    """The pages below ``/studio/``; their scripts and styles are served at ``/studio/assets/``."""
    return APIRouter(prefix="/studio", include_in_schema=False)
