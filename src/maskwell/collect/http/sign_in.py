"""Signing in to the studio: a token is posted once, and a cookie stands for it until it is signed out or grows old.

Scripts cannot read the cookie, and no other site can send it; the token itself is kept nowhere in the browser.
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from maskwell.collect.access import bearer
from maskwell.collect.http.answers import Refusal, json_answer, json_body
from maskwell.collect.http.api import COOKIE, failed_token, refuse_many_failures
from maskwell.collect.service import Service

_MOST_BYTES = 1000


def routes(service: Service) -> APIRouter:
    """``/api/session``."""
    router = APIRouter(prefix="/api", tags=["studio"])

    @router.post("/session", status_code=201, summary="Open a session of the studio")
    async def open_session(request: Request) -> Response:
        """`{"token": …}`, the administrator's or an owner's; gives the survey that it opens, null for all work of the
        administrator."""
        refuse_many_failures(service, request)
        document = await json_body(request, _MOST_BYTES)
        if not isinstance(document, dict) or document.keys() != {"token"} or not isinstance(document["token"], str):
            raise Refusal(422, 'send {"token": "…"}.')
        token = bearer(f"Bearer {document['token']}")
        opens = None if token is None else await run_in_threadpool(service.what_opens, token)
        if opens is None:
            raise failed_token(service, request, "this token opens nothing.")
        secret = service.sessions.open(opens.survey)
        answer = json_answer({"survey": opens.survey}, 201)
        secure = request.url.scheme == "https"
        answer.set_cookie(COOKIE, secret, httponly=True, samesite="strict", secure=secure, path="/")
        return answer

    @router.delete("/session", status_code=204, summary="Sign out")
    async def close_session(request: Request) -> Response:
        """The session ends at once."""
        service.sessions.close(request.cookies.get(COOKIE))
        answer = Response(status_code=204)
        answer.delete_cookie(COOKIE, path="/")
        return answer

    return router
