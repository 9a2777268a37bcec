"""What the API description says about bodies, tokens and answers; ``/openapi.json`` is made from it."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from maskwell.collect.invitations.passes import MOST_AT_ONCE
from maskwell.collect.surveys.document import LEAST_BATCH, MOST_BATCH, MOST_NAME, MOST_QUESTIONS, MOST_TEXT

_TEXT = {"type": "string", "minLength": 1, "maxLength": MOST_TEXT}
_NAME = {"type": "string", "minLength": 1, "maxLength": MOST_NAME}
_DATE = {"type": ["string", "null"], "format": "date"}
_POSITION = {"type": "integer", "minimum": 0}
_UUID = {"type": "string", "format": "uuid"}


def _object(needed: dict[str, Any], more: dict[str, Any] | None = None, **about: Any) -> dict[str, Any]:
    properties = {**needed, **(more or {})}
    return {
        "type": "object",
        "required": list(needed),
        "properties": properties,
        "additionalProperties": False,
        **about,
    }


SCHEMAS: dict[str, dict[str, Any]] = {
    "Error": _object({"detail": {"type": "string"}}, description="One line: what is wrong, and what to do about it."),
    "Question": _object(
        {"name": _NAME, "text": _TEXT},
        {
            "categories": {"type": "array", "items": {"type": "string"}, "minItems": 2},
            "demand": {"type": "object", "example": {"kind": "ldp", "epsilon": 1.5}},
            "planned_n": {"type": "integer", "minimum": 1},
            "design": {"type": "object", "description": "A stored design, as design.to_json() writes it."},
            "form": {"enum": ["choose", "subset"]},
            "optional": {"type": "boolean"},
        },
        description="Categories with a demand, for which the design is planned, or a stored design.",
    ),
    "Survey": _object(
        {
            "title": _TEXT,
            "questions": {
                "type": "array",
                "items": {"$ref": "#/components/schemas/Question"},
                "minItems": 1,
                "maxItems": MOST_QUESTIONS,
            },
        },
        {
            "language": {"type": "string", "default": "en"},
            "texts": {"type": "object", "additionalProperties": _TEXT},
            "opens": _DATE,
            "closes": _DATE,
            "least_batch": {"type": "integer", "minimum": 1, "maximum": MOST_BATCH, "default": LEAST_BATCH},
            "invitations": {"type": "boolean", "default": False},
        },
    ),
    "Report": {
        "description": "The position of a category, row or block; for sets a rising list of positions; for several "
        "variables a list of these; null for no answer where that is allowed.",
        "anyOf": [
            {"type": "null"},
            _POSITION,
            {"type": "array", "items": {"anyOf": [_POSITION, {"type": "array", "items": _POSITION}]}},
        ],
    },
    "Submission": _object(
        {
            "submission": {**_UUID, "description": "Drawn by the respondent's device; the same id is counted once."},
            "reports": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Report"}},
        }
    ),
    "Token": _object({"token": {"type": "string"}}),
    "Count": _object({"count": {"type": "integer", "minimum": 1, "maximum": MOST_AT_ONCE}}),
    "Invitations": _object({"invitations": {"type": "array", "items": {"type": "string"}}}),
    "Redemption": _object({"invitation": {"type": "string"}, "blinded": {"type": "string"}}),
    "Signed": _object({"signed": {"type": "string"}}),
    "Published": _object(
        {"id": {"type": "string"}, "owner_token": {"type": "string"}, "respond_url": {"type": "string"}}
    ),
    "Stored": _object({"submission": _UUID, "state": {"const": "stored"}}),
    "Progress": _object(
        {
            "id": {"type": "string"},
            "state": {"enum": ["waiting", "open", "closed"]},
            "received": _POSITION,
            "shown": _POSITION,
            "least_batch": _POSITION,
            "by_day": {"type": "object", "additionalProperties": _POSITION},
        }
    ),
    "State": _object({"id": {"type": "string"}, "state": {"enum": ["waiting", "open", "closed"]}}),
}

# What any request may meet, whatever it asks for.
_ANYWHERE = {
    403: "a wrong token, or a request from another site",
    429: "too many requests",
    503: "the database is away, or much is not counted yet",
}
_OWNER = {401: "no token", 404: "no such survey", 422: "a wrong parameter"}
_PUBLIC = {404: "no such survey"}
_BODY = {400: "no JSON", 413: "too large", 415: "not application/json", 422: "not what it should be"}

PUBLIC, OWNER, ADMINISTRATOR = "public", "owner", "administrator"
_ACCESS = {PUBLIC: _PUBLIC, OWNER: _OWNER, ADMINISTRATOR: {401: "no token"}}


def described(
    access: str = PUBLIC, body: str = "", answer: dict[int, str] | None = None, errors: dict[int, str] | None = None
) -> dict[str, Any]:
    """The arguments of a route that describe it: who may call it, what it takes, and every answer.

    ``answer`` names the schema of each good answer by status; "" for one that is described elsewhere.
    """
    responses: dict[int | str, dict[str, Any]] = {}
    for status, schema in (answer or {}).items():
        content = {"application/json": {"schema": _reference(schema)}} if schema else {}
        responses[status] = {"description": "Done", **({"content": content} if content else {})}
    refusals = {**_ANYWHERE, **_ACCESS[access], **(_BODY if body else {}), **(errors or {})}
    for status, meaning in sorted(refusals.items()):
        responses[status] = {
            "description": meaning[:1].upper() + meaning[1:],
            "content": {"application/json": {"schema": _reference("Error")}},
        }
    extra: dict[str, Any] = {"security": [] if access == PUBLIC else [{"token": []}]}
    if body:
        extra["requestBody"] = {"required": True, "content": {"application/json": {"schema": _reference(body)}}}
    return {"responses": responses, "openapi_extra": extra}


def _reference(schema: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{schema}"}


def describe(app: FastAPI) -> None:
    """Give an application its description, schemas included."""

    def description() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            components = made.setdefault("components", {})
            components["schemas"] = SCHEMAS
            components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            app.openapi_schema = made
        return app.openapi_schema

    app.openapi = description  # type: ignore[method-assign]
