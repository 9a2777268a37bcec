"""Every error as an answer: its status and one line, without anything that was sent."""

from __future__ import annotations

import json
import logging
import traceback
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from maskwell.collect.http.answers import Refusal, json_answer
from maskwell.collect.service import today
from maskwell.collect.store import Busy, NotStored
from maskwell.collect.surveys.tallies import Counting, TooFew

log = logging.getLogger("maskwell.collect")


def error_answer(error: Exception) -> Response:
    """The answer to a request that ended in an error."""
    match error:
        case Refusal():
            return json_answer({"detail": error.detail}, error.status, error.headers)
        case RequestValidationError():
            return _invalid(error)
        case HTTPException():
            return json_answer({"detail": str(error.detail)}, error.status_code, dict(error.headers or {}))
        case TooFew():
            return json_answer({"detail": str(error)}, 409)
        case Counting():
            return json_answer({"detail": str(error)}, 503, {"Retry-After": "5"})
        case Busy() | NotStored():
            return json_answer({"detail": str(error)}, 503, {"Retry-After": "1"})
        case SQLAlchemyError():
            return json_answer({"detail": "the database does not answer; try again soon."}, 503, {"Retry-After": "5"})
        case _:
            note_mistake(error)
            return json_answer({"detail": f"a mistake in Maskwell itself ({type(error).__name__})."}, 500)


def note_mistake(error: Exception) -> None:
    """Where it happened, for the log; its message might hold what was sent."""
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    log.error(json.dumps({"day": str(today()), "mistake": type(error).__name__, "at": places[-5:]}))


def _invalid(error: RequestValidationError) -> Response:
    if any(problem["loc"][0] == "path" for problem in error.errors()):
        return json_answer({"detail": "there is nothing at this address."}, 404)
    named = sorted({str(problem["loc"][-1]) for problem in error.errors()})
    return json_answer({"detail": f"wrong or missing: {', '.join(named)}."}, 422)


def answer_errors(app: FastAPI) -> None:
    """Answer all errors of an application in this way."""

    async def answer(_: Request, error: Exception) -> Response:
        return error_answer(error)

    for kind in (
        Refusal,
        RequestValidationError,
        HTTPException,
        TooFew,
        Counting,
        Busy,
        NotStored,
        SQLAlchemyError,
        Exception,
    ):
        app.add_exception_handler(kind, answer)
