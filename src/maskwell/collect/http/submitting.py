"""Taking one submission: the only request that comes by the thousand, so nothing stands between it and the writer."""

from __future__ import annotations

import re

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from maskwell.collect.access import SURVEY_ID
from maskwell.collect.http.answers import Refusal, json_body
from maskwell.collect.http.errors import error_answer
from maskwell.collect.invitations.passes import InvitationError, checked_pass
from maskwell.collect.service import Published, Service
from maskwell.collect.store.writer import Outcome
from maskwell.collect.surveys.submissions import SubmissionError, read_submission

ROUTE = "/api/surveys/{survey}/submissions"
_PATH = re.compile(f"/api/surveys/({SURVEY_ID.pattern})/submissions")
_STATUS = {Outcome.STORED: 201, Outcome.KNOWN: 200}
_CLOSED = "this survey is closed."
_DIFFERENT = "other reports were stored under this id; a report is drawn once and sent unchanged."
_SPENT = "this invitation was used before."


class _Route:
    path = ROUTE


class Submitting:
    """Takes submissions."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def takes(self, scope: Scope) -> bool:
        """Whether a request is a submission."""
        return scope["method"] == "POST" and _PATH.fullmatch(scope["path"]) is not None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that it takes."""
        found = _PATH.fullmatch(scope["path"])
        assert found is not None
        scope["route"] = _Route
        try:
            answer = await self.answer(found.group(1), Request(scope, receive))
        except Exception as error:
            answer = error_answer(error)
        await answer(scope, receive, send)

    async def answer(self, survey: str, request: Request) -> Response:
        """Store the submission that a request brings; the answer comes after the commit."""
        published = await found_survey(self._service, survey)
        document = await json_body(request, self._service.settings.submission_bytes)
        state = self._service.state(published)
        if state == "waiting":
            raise Refusal(403, f"this survey opens on {published.survey.opens}.")
        try:
            submission = read_submission(published.id, published.layout, document)
        except SubmissionError as error:
            raise Refusal(422, str(error)) from None
        spends = _spent_pass(published, request)
        outcome = await self._service.writer.store(submission, closed=state == "closed", spends=spends)
        if outcome is Outcome.CLOSED:
            raise Refusal(410, _CLOSED)
        if outcome is Outcome.DIFFERENT:
            raise Refusal(409, _DIFFERENT)
        if outcome is Outcome.SPENT:
            raise Refusal(409, _SPENT)
        # A UUID, checked: there is nothing in it to escape.
        content = f'{{"submission": "{document["submission"].lower()}", "state": "stored"}}'.encode()
        return Response(content, _STATUS[outcome], media_type="application/json")


def _spent_pass(published: Published, request: Request) -> bytes | None:
    """The pass that a submission spends, where the survey is by invitation: 401 or 403 without one that is valid."""
    if published.signing_key is None:
        return None
    kind, _, given = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "invitation":
        challenge = {"WWW-Authenticate": "Invitation"}
        raise Refusal(401, "this survey is by invitation; send the pass as Authorization: Invitation.", challenge)
    try:
        return checked_pass(published.signing_key.public, given.strip())
    except InvitationError as error:
        raise Refusal(403, str(error)) from None


async def found_survey(service: Service, survey: str) -> Published:
    """The survey of an id, or 404."""
    published = service.loaded(survey) or await run_in_threadpool(service.published, survey)
    if published is None:
        raise Refusal(404, "there is no survey of this id.")
    return published
