"""The routes of the API: surveys, submissions, and what the owner of a survey may ask for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Annotated

from fastapi import APIRouter, Path, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from maskwell.collect.access import SURVEY_ID, bearer
from maskwell.collect.http.answers import Refusal, json_answer, json_body
from maskwell.collect.http.described import ADMINISTRATOR, OWNER, described
from maskwell.collect.http.submitting import Submitting, found_survey
from maskwell.collect.service import Published, Service
from maskwell.collect.surveys.document import SurveyError
from maskwell.collect.surveys.estimates import estimates as survey_estimates
from maskwell.collect.surveys.export import Format
from maskwell.collect.surveys.export import export as survey_export
from maskwell.collect.surveys.sizes import LARGE_SURVEY
from maskwell.collect.surveys.tallies import Tallies

COOKIE = "maskwell_session"
_TOO_FEW = {409: "no whole batch of submissions yet"}
_SUBMIT = described(
    body="Submission",
    answer={200: "Stored", 201: "Stored"},
    errors={401: "no invitation", 409: "other reports are stored under this id", 410: "the survey is closed"},
)
_PUBLISH = described(ADMINISTRATOR, "Survey", {201: "Published"})
_CLOSE = described(OWNER, answer={200: "State"})
_PROGRESS = described(OWNER, answer={200: "Progress"})
_ESTIMATES = described(OWNER, errors=_TOO_FEW)
_EXPORT = described(OWNER, errors=_TOO_FEW)
_EXPORT["responses"][200] = {"description": "An archive", "content": {"application/zip": {}}}
_EXPORT["response_class"] = StreamingResponse
SurveyId = Annotated[str, Path(pattern=f"^{SURVEY_ID.pattern}$", description="The id of a survey.")]


def require_owner(service: Service, request: Request, published: Published) -> None:
    """401 or 403 unless the request brings the token of this survey, or a session that was opened with it."""
    session = service.sessions.get(request.cookies.get(COOKIE))
    if session is not None and published.id in session.surveys:
        return
    token = _token(request)
    if not service.owns(token, published):
        raise failed_token(service, request, "this token does not open this survey.")


def require_administrator(service: Service, request: Request) -> None:
    """401 or 403 unless the request brings the administrator's token, or a session that was opened with it."""
    session = service.sessions.get(request.cookies.get(COOKIE))
    if session is not None and session.administrator:
        return
    token = _token(request)
    if not service.is_administrator(token):
        raise failed_token(service, request, "this is not the administrator's token.")


def _token(request: Request) -> str:
    token = bearer(request.headers.get("authorization"))
    if token is None:
        raise Refusal(401, "send the token in the header Authorization: Bearer.", {"WWW-Authenticate": "Bearer"})
    return token


def failed_token(service: Service, request: Request, detail: str) -> Refusal:
    """The refusal of a wrong token, which is counted; a right one is never held up by others at the same address."""
    if not service.failures.allows(address(request)):
        return Refusal(429, "too many wrong tokens; wait a minute.", {"Retry-After": "60"})
    return Refusal(403, detail)


def address(request: Request) -> str | None:
    """Where a request comes from; used for limits only."""
    return request.client.host if request.client else None


def respond_address(service: Service, request: Request, survey: str) -> str:
    """The address to send to respondents."""
    base = service.settings.public_url.rstrip("/") or str(request.base_url).rstrip("/")
    return f"{base}/respond/{survey}"


def routes(service: Service, tallies: Tallies, submitting: Submitting) -> APIRouter:
    """The routes of the API."""
    router = APIRouter(prefix="/api", tags=["surveys"])

    @router.post(
        "/surveys",
        status_code=201,
        summary="Publish a survey",
        **_PUBLISH,
    )
    async def publish(request: Request) -> Response:
        """Publish a survey document. Its designs cannot be changed afterwards. Administrator's token."""
        await run_in_threadpool(require_administrator, service, request)
        document = await json_body(request, service.settings.survey_bytes, LARGE_SURVEY)
        try:
            published, token = await run_in_threadpool(service.publish, document)
        except SurveyError as error:
            raise Refusal(422, str(error)) from None
        address = respond_address(service, request, published.id)
        return json_answer({"id": published.id, "owner_token": token, "respond_url": address}, 201)

    @router.get("/surveys/{survey}", summary="What is asked, with each question's design", **described())
    async def survey(survey: SurveyId) -> Response:
        """Public: the texts, and each question with its stored design."""
        published = await found_survey(service, survey)
        return Response(published.public_text[service.state(published)], media_type="application/json")

    @router.post("/surveys/{survey}/submissions", status_code=201, summary="Send one person's reports", **_SUBMIT)
    async def submit(survey: SurveyId, request: Request) -> Response:
        """Public. 201 once it is stored for good; the same again 200; the same id with other reports 409."""
        return await submitting.answer(survey, request)

    @router.post("/surveys/{survey}/close", summary="Close a survey for good", **_CLOSE)
    async def close(survey: SurveyId, request: Request) -> Response:
        """Owner. Closing is final."""
        published = await owned(service, survey, request)
        await run_in_threadpool(service.close, published)
        return json_answer({"id": published.id, "state": service.state(published)})

    @router.get("/surveys/{survey}/estimates", summary="Estimates of all questions", **_ESTIMATES)
    async def estimates(survey: SurveyId, request: Request) -> Response:
        """Owner. For each question what `maskwell estimate --json` prints, from whole batches of submissions."""
        published = await owned(service, survey, request)
        return json_answer(await run_in_threadpool(survey_estimates, tallies, published))

    @router.get(
        "/surveys/{survey}/progress",
        summary="How many submissions there are",
        **_PROGRESS,
    )
    async def progress(survey: SurveyId, request: Request) -> Response:
        """Owner. Submissions in all and by day, and how many of them are in whole batches and shown."""
        published = await owned(service, survey, request)
        return json_answer(await run_in_threadpool(service.progress, published))

    @router.get("/surveys/{survey}/export", summary="All reports, with codebooks and designs", **_EXPORT)
    async def export(survey: SurveyId, request: Request, format: Format = "parquet") -> Response:
        """Owner. An archive: for each question a file of reports, its design and its codebook; rows in random order."""
        published = await owned(service, survey, request)
        archive = await run_in_threadpool(survey_export, service, published, format)
        headers = {"Content-Disposition": f'attachment; filename="{published.id}.zip"'}
        return StreamingResponse(_pieces(archive), media_type="application/zip", headers=headers)

    return router


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(1 << 16):
            yield piece


async def owned(service: Service, survey: str, request: Request) -> Published:
    """The survey of an id, for whoever owns it; 404, 401 or 403."""
    published = await found_survey(service, survey)
    require_owner(service, request, published)
    return published
