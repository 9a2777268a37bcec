"""The page on which a question is planned, and the figures that it asks for while one drags."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from maskwell.collect.http.answers import Refusal, json_answer, json_body
from maskwell.collect.studio.pages import data_router, page_router, render, require_session
from maskwell.collect.studio.planning.figures import MOST_CATEGORIES, figures
from maskwell.collect.studio.planning.frontier import curves
from maskwell.errors import MaskwellError

_MOST_BYTES = 1 << 21


def pages() -> APIRouter:
    """``/studio/plan``."""
    router = page_router()

    @router.get("/plan")
    def plan(request: Request) -> Response:
        require_session(request)
        return render(request, "plan.html")

    return router


def data() -> APIRouter:
    """The figures of ``/studio/plan``, as JSON."""
    router = data_router()

    @router.post("/plan/figures")
    async def planned(request: Request) -> Response:
        require_session(request)
        document = await json_body(request, _MOST_BYTES)
        try:
            return json_answer(await run_in_threadpool(figures, document))
        except MaskwellError as error:
            raise Refusal(422, str(error)) from None

    @router.get("/plan/frontier")
    def frontier(request: Request, k: Annotated[int, Query(ge=2, le=MOST_CATEGORIES)]) -> Response:
        require_session(request)
        return json_answer(curves(k))

    return router
