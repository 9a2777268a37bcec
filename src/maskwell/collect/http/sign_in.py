"""Signing in to the studio: a token is posted once, and a cookie stands for it until it is signed out or grows old.

Scripts cannot read the cookie, and no other site can send it; the token itself is kept nowhere in the browser.
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from maskwell.collect.access import bearer
from maskwell.collect.http.answers import Refusal, json_answer, json_body
from maskwell.collect.http.api import COOKIE, failed_token
from maskwell.collect.http.described import described
from maskwell.collect.service import Opened, Service

_MOST_BYTES = 1000


def routes(service: Service) -> APIRouter:
    """``/api/session``."""
    router = APIRouter(prefix="/api", tags=["studio"])

    @router.post("/session", status_code=201, summary="Open a session of the studio", **described(body="Token"))
    async def sign_in(request: Request) -> Response:
        """A token, the administrator's or an owner's; gives the survey that it opens, null for all work of the
        administrator."""
        document = await json_body(request, _MOST_BYTES)
        if not isinstance(document, dict) or document.keys() != {"token"} or not isinstance(document["token"], str):
            raise Refusal(422, 'send {"token": "…"}.')
        opens = await run_in_threadpool(opened_by, service, request, document["token"])
        answer = json_answer({"survey": opens.survey}, 201)
        open_session(service, request, opens, answer)
        return answer

    @router.delete("/session", status_code=204, summary="Sign out", **described())
    async def sign_out(request: Request) -> Response:
        """The session ends at once."""
        answer = Response(status_code=204)
        close_session(service, request, answer)
        return answer

    return router


def opened_by(service: Service, request: Request, given: str) -> Opened:
    """What a token opens that somebody gave; 403 if it opens nothing, and 429 after too many of those."""
    token = bearer(f"Bearer {given}")
    opens = None if token is None else service.what_opens(token)
    if opens is None:
        raise failed_token(service, request, "this token opens nothing.")
    return opens


def open_session(service: Service, request: Request, opens: Opened, answer: Response) -> None:
    """Open a session and let the answer bring its cookie."""
    secret = service.sessions.open(opens.survey, request.cookies.get(COOKIE))
    secure = service.settings.seen_by_https or request.url.scheme == "https"
    answer.set_cookie(COOKIE, secret, httponly=True, samesite="strict", secure=secure, path="/")


def close_session(service: Service, request: Request, answer: Response) -> None:
    """End the session of a request, and let the answer take its cookie away."""
    service.sessions.close(request.cookies.get(COOKIE))
    answer.delete_cookie(COOKIE, path="/")
