"""Signing in and out of the studio by plain forms: no script is needed, and a token never stands in an address."""

from __future__ import annotations

import re
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from maskwell.collect.http.answers import Refusal, bounded_body
from maskwell.collect.http.sign_in import close_session, open_session, opened_by
from maskwell.collect.service import Service
from maskwell.collect.studio.pages import page_router, render, root_of

_MOST_BYTES = 4000
# Pages of the studio, to which one returns after signing in.
_PAGE = re.compile(r"/studio/[a-z0-9/]*")


async def form_fields(request: Request) -> dict[str, str]:
    """What a form brings, each field once."""
    body = await bounded_body(request, _MOST_BYTES)
    try:
        fields = parse_qs(body.decode("ascii"), max_num_fields=20, strict_parsing=bool(body), errors="strict")
    except ValueError:
        raise Refusal(400, "The form could not be read.") from None
    return {name: values[-1] for name, values in fields.items()}


def routes(service: Service) -> APIRouter:
    """``/studio/signin``, ``/studio/signout`` and the page that follows it."""
    router = page_router()

    @router.get("/signin")
    def form(request: Request) -> Response:
        return render(request, "sign_in.html", message="", then="/studio/")

    @router.post("/signin")
    async def sign_in(request: Request) -> Response:
        fields = await form_fields(request)
        then = fields.get("then", "")
        try:
            opens = await run_in_threadpool(opened_by, service, request, fields.get("token", "").strip())
        except Refusal as refusal:
            message = f"{refusal.detail[0].upper()}{refusal.detail[1:]}"
            return render(request, "sign_in.html", refusal.status, message=message, then=then)
        if not _PAGE.fullmatch(then) or then == "/studio/":
            then = "/studio/" if opens.survey is None else f"/studio/surveys/{opens.survey}"
        answer = RedirectResponse(root_of(request) + then[1:], 303)
        open_session(service, request, opens, answer)
        return answer

    @router.post("/signout")
    def sign_out(request: Request) -> Response:
        answer = RedirectResponse(root_of(request) + "studio/signedout", 303)
        close_session(service, request, answer)
        return answer

    @router.get("/signedout")
    def signed_out(request: Request) -> Response:
        return render(request, "signed_out.html")

    return router
