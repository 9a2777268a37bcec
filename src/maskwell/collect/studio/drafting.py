"""The page on which a survey is put together, and the trial of a survey that is not published yet.

A trial is the respondent's own page on a survey that lives in memory. What is sent from it is checked as any submission
is, and forgotten. The page asks for the survey without a cookie, so a trial is known by an id that nobody can guess.
"""

from __future__ import annotations

import datetime
import threading
from collections import OrderedDict
from dataclasses import replace

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, Response

from maskwell.collect.access import new_survey_id
from maskwell.collect.http.answers import Refusal, json_answer, json_body
from maskwell.collect.respond.routes import HEADERS, page
from maskwell.collect.respond.texts import english
from maskwell.collect.service import Published, Service
from maskwell.collect.studio.pages import data_router, page_router, render, require_administrator
from maskwell.collect.surveys.document import SurveyError, read_survey
from maskwell.collect.surveys.submissions import SubmissionError, read_submission

_MOST_TRIALS = 20


class Trials:
    """The surveys that are tried now; the oldest make room for new ones."""

    def __init__(self) -> None:
        self._surveys: OrderedDict[str, Published] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, document: object) -> str:
        """Try a survey; gives the id of the trial."""
        survey = read_survey(document)
        named = replace(survey, title=f"Preview: {survey.title}", opens=None, closes=None, invitations=False)
        trial = Published(new_survey_id(), "", named, datetime.date.min)
        with self._lock:
            self._surveys[trial.id] = trial
            while len(self._surveys) > _MOST_TRIALS:
                self._surveys.popitem(last=False)
        return trial.id

    def get(self, trial: str) -> Published:
        """The survey of a trial, or 404."""
        found = self._surveys.get(trial)
        if found is None:
            raise Refusal(404, "this preview is over; open a new one.")
        return found


def pages() -> APIRouter:
    """``/studio/draft``."""
    router = page_router()

    @router.get("/draft")
    def draft(request: Request) -> Response:
        require_administrator(request)
        return render(request, "draft.html")

    return router


def data(service: Service) -> APIRouter:
    """The names of all texts, and trials."""
    router, trials = data_router(), Trials()

    @router.get("/texts.json")
    def texts(request: Request) -> Response:
        require_administrator(request)
        return json_answer(english())

    @router.post("/previews", status_code=201)
    async def add(request: Request) -> Response:
        require_administrator(request)
        document = await json_body(request, service.settings.survey_bytes)
        try:
            return json_answer({"id": await run_in_threadpool(trials.add, document)}, 201)
        except SurveyError as error:
            raise Refusal(422, str(error)) from None

    @router.get("/previews/{trial}")
    def respond(trial: str) -> Response:
        found = trials.get(trial)
        return HTMLResponse(page(found.survey, f"{found.id}/survey", "../../respond/assets"), 200, HEADERS)

    @router.get("/previews/{trial}/survey")
    def survey(trial: str) -> Response:
        return Response(trials.get(trial).public_text["open"], media_type="application/json")

    @router.post("/previews/{trial}/survey/submissions", status_code=201)
    async def submit(request: Request, trial: str) -> Response:
        found = trials.get(trial)
        document = await json_body(request, service.settings.submission_bytes)
        try:
            read_submission(found.id, found.layout, document)
        except SubmissionError as error:
            raise Refusal(422, str(error)) from None
        return json_answer({"state": "checked, not stored"}, 201)

    return router
