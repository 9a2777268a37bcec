"""How a page of the studio is rendered, and what stands in its place when somebody may not see it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from maskwell.collect.access import Session
from maskwell.collect.http.answers import Refusal
from maskwell.collect.http.api import COOKIE
from maskwell.collect.service import Published, Service

# Stricter than elsewhere: text can never become script.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
# Forms name their origin only where pages may: browsers that say nothing else about themselves are judged by it.
_HEADERS = {"Content-Security-Policy": _POLICY, "Cache-Control": "no-store", "Referrer-Policy": "same-origin"}

_templates = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)


def render(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """A page as an answer; it knows whose session it is, and where the service's root is from where it stands."""
    text = _templates.get_template(template).render(session=session_of(request), root=root_of(request), **values)
    return HTMLResponse(text, status, _HEADERS)


def root_of(request: Request) -> str:
    """The way from a page to the service's root: relative, since another server may put a path before it."""
    return "../" * (request.url.path.count("/") - 1) or "./"


def session_of(request: Request) -> Session | None:
    """The session of a request."""
    service: Service = request.app.state.service
    return service.sessions.get(request.cookies.get(COOKIE))


def require_session(request: Request) -> Session:
    """401 without a session."""
    session = session_of(request)
    if session is None:
        raise Refusal(401, "Sign in to see this page.")
    return session


def require_administrator(request: Request) -> None:
    """401 or 403 unless the administrator's token was shown in this session."""
    if not require_session(request).administrator:
        raise Refusal(403, "This page is the administrator's: sign in with that token.")


def owned_survey(request: Request, survey: str) -> Published:
    """The survey of a page, for whoever has shown its token in this session; 401, 403 or 404 for others."""
    session = require_session(request)
    service: Service = request.app.state.service
    published = service.published(survey)
    if published is None:
        raise Refusal(404, "There is no survey at this address.")
    if published.id not in session.surveys:
        raise Refusal(403, "This page is its survey's owner's: sign in with that survey's token.")
    return published


class _PageRoute(APIRoute):
    """A route that answers with a page, also where it refuses: then one can sign in on it, if that would help."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, with refusals as pages."""
        handle = super().get_route_handler()

        async def handle_or_refuse(request: Request) -> Response:
            try:
                return await handle(request)
            except Refusal as refusal:
                return refusal_page(request, refusal)

        return handle_or_refuse


def page_router(below: str = "") -> APIRouter:
    """A router for pages of the studio."""
    return APIRouter(prefix=f"/studio{below}", route_class=_PageRoute, include_in_schema=False)


def data_router(below: str = "") -> APIRouter:
    """A router for what pages of the studio ask for: refusals are JSON."""
    return APIRouter(prefix=f"/studio{below}", include_in_schema=False)


def refusal_page(request: Request, refusal: Refusal) -> Response:
    """The page of a refusal."""
    if refusal.status in (401, 403) and request.method == "GET":
        where = request.url.path
        return render(request, "sign_in.html", refusal.status, message=refusal.detail, then=where)
    return render(request, "refused.html", refusal.status, message=refusal.detail)
