"""The first page of the studio, to which the service's own address leads: the surveys that there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from maskwell.collect.service import Service
from maskwell.collect.studio.pages import page_router, render, require_session

_MOST_LISTED = 50


@dataclass(frozen=True)
class Listed:
    """A survey in the list, and whether its token was shown in this session."""

    id: str
    title: str
    state: str
    created: Any
    questions: int
    open: bool


def routes(service: Service) -> APIRouter:
    """``/`` and ``/studio/``."""
    router = page_router()
    root = APIRouter(include_in_schema=False)

    @root.get("/")
    def begin() -> Response:
        return RedirectResponse("studio/", 303)

    @router.get("/")
    def home(request: Request) -> Response:
        session = require_session(request)
        ids = service.database.survey_ids(_MOST_LISTED) if session.administrator else sorted(session.surveys)
        return render(request, "home.html", surveys=[listed for id in ids if (listed := _listed(id, session.surveys))])

    def _listed(survey: str, opened: frozenset[str]) -> Listed | None:
        published = service.published(survey)
        if published is None:
            return None
        asked = published.survey
        return Listed(
            survey, asked.title, service.state(published), published.created, len(asked.questions), survey in opened
        )

    root.include_router(router)
    return root
