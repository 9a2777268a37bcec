"""The ASGI application: the service, its routes, and what holds for every request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from maskwell.collect.http import api, inviting, sign_in, upkeep
from maskwell.collect.http.assets import Assets
from maskwell.collect.http.described import describe
from maskwell.collect.http.documentation import routes as documentation
from maskwell.collect.http.errors import answer_errors, note_mistake
from maskwell.collect.http.metrics import Metrics
from maskwell.collect.http.middleware import EveryRequest
from maskwell.collect.http.submitting import Submitting
from maskwell.collect.respond import routes as respond
from maskwell.collect.service import Service
from maskwell.collect.settings import Settings
from maskwell.collect.store import Database, NotStored, StoreError
from maskwell.collect.studio import routes as studio
from maskwell.collect.studio.owner import joint
from maskwell.collect.surveys.estimates import warm_up
from maskwell.collect.surveys.tallies import Tallies

FOLDER = Path(__file__).parent


def build(database: str, **settings: Any) -> FastAPI:
    """The application; its database is opened and brought up to date now."""
    from maskwell import __version__

    service = Service(Database(database), Settings(**settings))
    tallies = Tallies(service)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        following = asyncio.create_task(_follow(tallies))
        yield
        tallies.stop()
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following
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
    metrics, submitting = Metrics(), Submitting(service)
    app.state.tallies = tallies
    app.include_router(api.routes(service, tallies, submitting))
    app.include_router(inviting.routes(service))
    app.include_router(sign_in.routes(service))
    app.include_router(upkeep.routes(service, metrics))
    for name, folder in (
        ("browser", "browser"),
        ("respond/assets", "respond/assets"),
        ("studio/assets", "studio/assets"),
    ):
        app.mount(f"/{name}", Assets(directory=FOLDER / folder), name=name)
    app.include_router(documentation.routes(app))
    app.include_router(respond.routes(service))
    app.include_router(studio.routes(service, tallies))
    answer_errors(app)
    describe(app)
    app.add_middleware(EveryRequest, service=service, metrics=metrics, submitting=submitting)
    return app


async def _follow(tallies: Tallies) -> None:
    """Make ready for the first look at estimates, then count along while submissions come in."""
    await asyncio.sleep(1)
    await run_in_threadpool(warm_up)
    await run_in_threadpool(joint.warm_up)
    begun = False
    while True:
        try:
            if not begun:
                await run_in_threadpool(tallies.begin)
                begun = True
            await run_in_threadpool(tallies.catch_up)
        except (SQLAlchemyError, StoreError, NotStored):
            pass  # The database is away; what was not counted is counted when it is back.
        except Exception as error:
            note_mistake(error)
        await asyncio.sleep(1)
