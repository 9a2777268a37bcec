"""For whoever runs the service: is it well, how busy is it, and what can be asked of it."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, Response

from maskwell.collect.http.answers import json_answer
from maskwell.collect.http.described import described
from maskwell.collect.http.metrics import Metrics
from maskwell.collect.service import Service


def routes(service: Service, metrics: Metrics) -> APIRouter:
    """``/healthz`` and ``/metrics``."""
    router = APIRouter(tags=["upkeep"])

    @router.get("/healthz", summary="Whether the service can store", **described())
    async def healthz() -> Response:
        """200 if the database answers, else 503."""
        await run_in_threadpool(service.database.ping)
        return json_answer({"status": "ok"})

    @router.get("/metrics", summary="Figures for Prometheus", response_class=PlainTextResponse, **described())
    async def figures() -> Response:
        """Requests, commits and submissions, counted over all surveys."""
        text = await run_in_threadpool(metrics.text, service)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    return router
