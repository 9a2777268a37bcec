"""The ASGI application: the service, its routes, and what holds for every request."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from maskwell.collect import api, sign_in, upkeep
from maskwell.collect.answers import Refusal, json_answer
from maskwell.collect.assets import Assets
from maskwell.collect.metrics import Metrics
from maskwell.collect.middleware import EveryRequest
from maskwell.collect.respond import routes as respond
from maskwell.collect.service import Service
from maskwell.collect.settings import Settings
from maskwell.collect.store import Busy, Database, NotStored
from maskwell.collect.studio import routes as studio
from maskwell.collect.tallies import Tallies

FOLDER = Path(__file__).parent


def build(database: str, **settings: Any) -> FastAPI:
    """The application; its database is opened and brought up to date now."""
    from maskwell import __version__

    service = Service(Database(database), Settings(**settings))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.stop()

    app = FastAPI(
        title="Maskwell Collect",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.service = service
    app.state.administrator_token = service.new_administrator_token
    tallies, metrics = Tallies(service), Metrics()
    app.state.tallies = tallies
    app.include_router(api.routes(service, tallies))
    app.include_router(sign_in.routes(service))
    app.include_router(upkeep.routes(service, metrics))
    for name, folder in (("browser", "browser"), ("respond/assets", "respond/assets"), ("studio/assets", "studio")):
        app.mount(f"/{name}", Assets(directory=FOLDER / folder), name=name)
    app.include_router(respond.routes(service))
    app.include_router(studio.routes(service, tallies))
    _answer_errors(app)
    app.add_middleware(EveryRequest, service=service, metrics=metrics)
    return app


def _answer_errors(app: FastAPI) -> None:
    """Every error as one line, without anything that was sent."""

    @app.exception_handler(Refusal)
    async def refused(_: Request, error: Refusal) -> Response:
        return json_answer({"detail": error.detail}, error.status, error.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        if any(problem["loc"][0] == "path" for problem in error.errors()):
            return json_answer({"detail": "there is nothing at this address."}, 404)
        named = sorted({str(problem["loc"][-1]) for problem in error.errors()})
        return json_answer({"detail": f"wrong or missing: {', '.join(named)}."}, 422)

    @app.exception_handler(HTTPException)
    async def unknown(_: Request, error: HTTPException) -> Response:
        return json_answer({"detail": str(error.detail)}, error.status_code, dict(error.headers or {}))

    @app.exception_handler(Busy)
    @app.exception_handler(NotStored)
    async def not_stored(_: Request, error: Exception) -> Response:
        return json_answer({"detail": str(error)}, 503, {"Retry-After": "1"})

    @app.exception_handler(SQLAlchemyError)
    async def lost(_: Request, error: Exception) -> Response:
        return json_answer({"detail": "the database does not answer; try again soon."}, 503, {"Retry-After": "5"})

    @app.exception_handler(Exception)
    async def mistake(_: Request, error: Exception) -> Response:
        return json_answer({"detail": f"a mistake in Maskwell itself ({type(error).__name__})."}, 500)
