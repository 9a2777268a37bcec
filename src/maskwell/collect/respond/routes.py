"""Where the respondent's page is served."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from starlette.responses import Response

from maskwell.collect.answers import Refusal
from maskwell.collect.api import SurveyId, require_survey
from maskwell.collect.service import Service

FOLDER = Path(__file__).parent


def routes(service: Service) -> APIRouter:
    """``/respond/{survey}``; its scripts and styles are served at ``/respond/assets/``."""
    router = APIRouter(include_in_schema=False)

    @router.get("/respond/{survey}")
    def page(survey: SurveyId) -> Response:
        require_survey(service, survey)
        if not (FOLDER / "page.html").exists():
            raise Refusal(404, "the page is not installed.")
        return Response((FOLDER / "page.html").read_bytes(), media_type="text/html; charset=utf-8")

    return router
