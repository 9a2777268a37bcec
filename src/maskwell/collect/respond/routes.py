"""Where the respondent's page is served.

The page brings its texts; its script fetches the survey and masks. Nothing comes from anywhere else, nothing stands
inline, and nothing may be sent but to this service.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import APIRouter
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from maskwell.collect.respond.texts import direction, english, page_texts
from maskwell.collect.service import Service
from maskwell.collect.surveys.document import Survey

# Stricter than elsewhere: no form goes anywhere, and text can never become script.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
# A page that is not stored is neither cached nor kept alive behind "back" with an answer in it.
HEADERS = {"Content-Security-Policy": _POLICY, "Cache-Control": "no-store"}

_templates = Environment(
    loader=FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True, undefined=StrictUndefined
)


def page(asked: Survey, survey: str, assets: str = "assets") -> str:
    """The page of a survey, as HTML; ``survey`` and ``assets`` are where the page finds them."""
    language = asked.language
    texts = page_texts(language, asked.texts or {})

    def mark_english(name: str) -> Markup:
        return Markup(' lang="en" dir="ltr"') if name in texts.english else Markup()

    data = {
        "language": language,
        "survey": survey,
        "submissions": f"{survey}/submissions",
        "texts": texts.texts,
        "english": texts.english,
    }
    return _render(language, asked.title, assets, texts=texts.texts, page_data=data, english=mark_english)


def _render(language: str, title: str, assets: str, **values: Any) -> str:
    return _templates.get_template("page.html").render(
        language=language, direction=direction(language), title=title, assets=assets, **values
    )


def routes(service: Service) -> APIRouter:
    """``/respond/{survey}``; its scripts and styles are served at ``/respond/assets/``."""
    router = APIRouter(include_in_schema=False)

    @router.get("/respond/{survey}")
    def respond(survey: str) -> Response:
        published = service.published(survey)
        if published is None:
            text = _render("en", "Maskwell", "assets", texts=english(), page_data=None)
            return HTMLResponse(text, 404, HEADERS)
        return HTMLResponse(page(published.survey, f"../api/surveys/{published.id}"), 200, HEADERS)

    return router
