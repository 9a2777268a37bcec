"""``/docs``: every operation with who may call it, what it takes and what it answers; and the page's style."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fastapi import APIRouter, FastAPI
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import FileResponse, HTMLResponse, Response

_HERE = Path(__file__).parent
_templates = Environment(
    loader=FileSystemLoader(_HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
)


class Operation(NamedTuple):
    """One operation as the page shows it."""

    method: str
    path: str
    summary: str
    text: str
    signed: bool
    parameters: list[dict[str, Any]]
    body: str | None
    answers: list[tuple[str, str]]


def operations(description: dict[str, Any]) -> dict[str, list[Operation]]:
    """The operations by their tags, in the order of the description."""
    found: dict[str, list[Operation]] = {}
    for path, methods in description["paths"].items():
        for method, about in methods.items():
            operation = Operation(
                method.upper(),
                path,
                about["summary"],
                about.get("description", ""),
                bool(about.get("security")),
                about.get("parameters", []),
                _schema_name(about.get("requestBody", {})),
                [(status, answer["description"]) for status, answer in about["responses"].items()],
            )
            found.setdefault(about["tags"][0], []).append(operation)
    return found


def _schema_name(body: dict[str, Any]) -> str | None:
    try:
        return str(body["content"]["application/json"]["schema"]["$ref"]).rpartition("/")[2]
    except KeyError:
        return None


def page(description: dict[str, Any]) -> str:
    """The page, as HTML."""
    schemas = {
        name: json.dumps(schema, indent=2, ensure_ascii=False)
        for name, schema in description["components"]["schemas"].items()
    }
    return _templates.get_template("page.html").render(
        title=description["info"]["title"],
        version=description["info"]["version"],
        operations=operations(description),
        schemas=schemas,
    )


def routes(app: FastAPI) -> APIRouter:
    """``/docs`` and ``/docs.css``."""
    router = APIRouter(include_in_schema=False)

    @cache
    def made() -> str:
        return page(app.openapi())

    @router.get("/docs")
    def documentation() -> Response:
        return HTMLResponse(made())

    @router.get("/docs.css")
    def style() -> Response:
        return FileResponse(_HERE / "docs.css")

    return router
