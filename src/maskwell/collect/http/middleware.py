"""What holds for every request: limits, no cross-site calls, security headers, a log without content, and figures.

The log has a line a request: the day, method, route (with names in place of ids), status and milliseconds. No address,
no browser, no path, no body, no token. Times of arrival stay out of it as they stay out of the database.
"""

from __future__ import annotations

import json
import logging
import time
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from maskwell.collect.http.answers import json_answer
from maskwell.collect.http.metrics import Metrics
from maskwell.collect.http.submitting import Submitting
from maskwell.collect.service import Service, today

log = logging.getLogger("maskwell.collect")

# Nothing from anywhere else, nothing inline, no frame around us; images may be drawn by the page itself.
CONTENT_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
SECURITY = {
    "Content-Security-Policy": CONTENT_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), browsing-topics=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_ENCODED = [(name.lower().encode(), value.encode()) for name, value in SECURITY.items()]
# Scripts that other sites may use; whatever they hold is public.
SHARED = "/browser/"
_ENCODED_SHARED = [
    *(header for header in _ENCODED if header[0] != b"cross-origin-resource-policy"),
    (b"cross-origin-resource-policy", b"cross-origin"),
    (b"access-control-allow-origin", b"*"),
]
_SAFE = ("GET", "HEAD")


class EveryRequest:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, service: Service, metrics: Metrics, submitting: Submitting) -> None:
        self._app, self._service, self._metrics, self._submitting = app, service, metrics, submitting

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _add_headers(scope, message, self._service.settings.seen_by_https)
            await send(message)

        try:
            inner = self._submitting if self._submitting.takes(scope) else self._app
            await (self._refusal(scope) or inner)(scope, receive, sending)
        finally:
            self._note(scope, status, time.perf_counter() - started)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        if _is_cross_site(scope):
            return json_answer({"detail": "requests from other sites are refused."}, 403)
        if scope["path"].startswith("/api/") and b"%" in scope.get("raw_path", b""):
            return json_answer({"detail": "there is nothing at this address."}, 404)
        if scope["path"].startswith("/api/") and not self._service.requests.allows(_address(scope)):
            return json_answer({"detail": "too many requests; wait a little."}, 429, {"Retry-After": "1"})
        return None

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        method, route = scope["method"], _route(scope)
        self._metrics.note(method, route, status, seconds)
        if log.isEnabledFor(logging.INFO):
            line = {"day": str(today()), "method": method, "route": route, "status": status}
            log.info(json.dumps({**line, "milliseconds": round(1000 * seconds, 1)}))


def _route(scope: Scope) -> str:
    """The route as it is declared, which no sender can write anything into."""
    path = getattr(scope.get("route"), "path", None)
    if path is None:
        path = f"{scope['root_path']}/…" if scope.get("root_path") else "(none)"
    return str(path)


def _address(scope: Scope) -> str | None:
    return scope["client"][0] if scope.get("client") else None


def _is_cross_site(scope: Scope) -> bool:
    """Whether a browser sends this on behalf of another site.

    Browsers say so themselves; older ones name the origin of what changes something. Following a link from elsewhere
    is no such call, and neither is the use of a script that is there for others.
    """
    headers = Headers(scope=scope)
    reads = scope["method"] in _SAFE
    site = headers.get("sec-fetch-site")
    if site in ("same-origin", "none"):
        return False
    if site is not None:
        return not (reads and (headers.get("sec-fetch-mode") == "navigate" or scope["path"].startswith(SHARED)))
    origin = headers.get("origin")
    if origin is None or reads:
        return False
    return urlsplit(origin).netloc.lower() != headers.get("host", "").lower()


def _add_headers(scope: Scope, message: Message, by_https: bool) -> None:
    headers = message["headers"]
    present = {name for name, _ in headers}
    shared = scope["path"].startswith(SHARED)
    for name, value in _ENCODED_SHARED if shared else _ENCODED:
        # A page may bring a stricter policy of its own.
        if name not in present:
            headers.append((name, value))
    if not shared and b"cache-control" not in present and b"etag" not in present:
        headers.append((b"cache-control", b"no-store"))
    if by_https or scope.get("scheme") == "https":
        headers.append((b"strict-transport-security", b"max-age=31536000"))
