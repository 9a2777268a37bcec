"""How the service answers: JSON, one line for an error, and never what was sent."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import Response

from maskwell.plain_json import json_text
from maskwell.strict_json import Refused, strict_value


class Refusal(Exception):
    """A request that is refused, with its status and one line that says why."""

    def __init__(self, status: int, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers


def json_answer(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Any result as an answer."""
    return Response(json_text(content, indent=None).encode(), status, headers, "application/json")


async def json_body(request: Request, most: int, advice: str = "") -> Any:
    """The JSON document that a request brings, read strictly: 415, 413, 400 or 422 if it is none.

    ``advice`` says what to do about a document that is too large.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refusal(415, "send JSON with the header Content-Type: application/json.")
    body = await bounded_body(request, most, advice)
    try:
        return strict_value(body.decode())
    except Refused as reason:
        raise Refusal(422, f"the document is refused: {reason}.") from None
    except (ValueError, RecursionError):
        raise Refusal(400, "the body is not JSON in UTF-8.") from None


async def bounded_body(request: Request, most: int, advice: str = "") -> bytes:
    """The body of a request, refused before it is read if it says that it is too large, and while it is read."""
    told = f"the body is larger than {most:,} bytes{'; ' + advice if advice else '.'}"
    too_large = Refusal(413, told, {"Connection": "close"})
    stated = request.headers.get("content-length", "0")
    if not stated.isascii() or not stated.isdigit() or len(stated) > 18 or int(stated) > most:
        raise too_large
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise too_large
        parts.append(part)
    return b"".join(parts)
