"""The page for a file, and what it asks for: the administrator's alone. A file is worked on in memory and forgotten."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from maskwell.collect.http.answers import Refusal, json_answer
from maskwell.collect.service import Service
from maskwell.collect.studio.files import work
from maskwell.collect.studio.files.upload import ACCEPTED, Upload, uploaded
from maskwell.collect.studio.pages import data_router, page_router, render, require_administrator
from maskwell.errors import MaskwellError


def pages(service: Service) -> APIRouter:
    """``/studio/files``."""
    router = page_router()

    @router.get("/files")
    def files(request: Request) -> Response:
        require_administrator(request)
        most = service.settings.file_bytes >> 20
        return render(request, "files.html", accepted=ACCEPTED, most=most)

    return router


def data(service: Service) -> APIRouter:
    """What the page asks for; each time it sends the file along, since nobody here remembers it."""
    router = data_router("/files")
    # One at a time: a file may take all the memory that there is.
    turn = threading.Lock()

    async def answered(request: Request, job: Callable[[Upload], dict[str, Any]]) -> Response:
        require_administrator(request)
        upload = await uploaded(request, service.settings.file_bytes)

        def done() -> dict[str, Any]:
            with turn:
                return job(upload)

        try:
            return json_answer(await run_in_threadpool(done), headers={"Cache-Control": "no-store"})
        except MaskwellError as error:
            raise Refusal(422, str(error)) from None
        except MemoryError:
            raise Refusal(413, "the file is too large for this machine's memory; use the command line.") from None

    @router.post("/columns")
    async def columns(request: Request) -> Response:
        return await answered(request, work.columns)

    @router.post("/risk")
    async def risk(request: Request) -> Response:
        return await answered(request, work.risk)

    @router.post("/release")
    async def release(request: Request) -> Response:
        return await answered(request, work.release)

    return router
