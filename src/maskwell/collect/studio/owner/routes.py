"""The pages of one survey, for whoever has shown its token, and the figures that they ask for."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from maskwell.collect.http.answers import Refusal, json_answer
from maskwell.collect.http.api import respond_address
from maskwell.collect.http.inviting import invitation_addresses
from maskwell.collect.invitations.passes import MOST_AT_ONCE
from maskwell.collect.service import Published, Service
from maskwell.collect.studio.owner.audits import audit_file_of, audited
from maskwell.collect.studio.owner.joint import can_be_joined, joined
from maskwell.collect.studio.owner.watched import watched
from maskwell.collect.studio.pages import data_router, owned_survey, page_router, render, root_of
from maskwell.collect.studio.signing import form_fields
from maskwell.collect.studio.work.survey import commands, program
from maskwell.collect.surveys.tallies import Tallies

Number = Annotated[int, Path(ge=1, le=1000)]


def pages(service: Service) -> APIRouter:
    """The pages below ``/studio/surveys/{survey}``."""
    router = page_router("/surveys/{survey}")

    def show(request: Request, published: Published, template: str, **values: Any) -> Response:
        state = service.state(published)
        return render(request, template, survey=published.survey, id=published.id, state=state, **values)

    @router.get("")
    def watch(request: Request, survey: str) -> Response:
        published = owned_survey(request, survey)
        respond = respond_address(service, request, published.id)
        return show(request, published, "watch.html", respond=respond, progress=service.progress(published))

    @router.get("/questions/{number}")
    def question(request: Request, survey: str, number: Number) -> Response:
        published = owned_survey(request, survey)
        asked = _question(published, number)
        return show(request, published, "question.html", question=asked, number=number, **audited(asked))

    @router.get("/questions/{number}/audit.html")
    def audit_file(request: Request, survey: str, number: Number) -> Response:
        published = owned_survey(request, survey)
        page = audit_file_of(_question(published, number).design)
        return _file(page, "text/html", f"{published.id}_{number}_audit.html")

    @router.get("/joint")
    def joint(request: Request, survey: str) -> Response:
        published = owned_survey(request, survey)
        return show(request, published, "joint.html", questions=can_be_joined(published))

    @router.get("/invitations")
    def invitations(request: Request, survey: str) -> Response:
        published = owned_survey(request, survey)
        made = service.database.invited(published.id)
        return show(request, published, "invitations.html", made=made, most=MOST_AT_ONCE)

    @router.post("/invitations")
    async def make_invitations(request: Request, survey: str) -> Response:
        published = await run_in_threadpool(owned_survey, request, survey)
        if published.signing_key is None:
            raise Refusal(409, "This survey is open to everybody; it has no invitations.")
        count = (await form_fields(request)).get("count", "")
        if not re.fullmatch("[0-9]{1,9}", count) or not 1 <= int(count) <= MOST_AT_ONCE:
            raise Refusal(422, f"Say for how many people: a whole number from 1 to {MOST_AT_ONCE:,}.")
        addresses = await run_in_threadpool(invitation_addresses, service, request, published, int(count))
        return _file("\n".join(["invitation", *addresses, ""]), "text/csv", f"{published.id}_invitations.csv")

    @router.get("/work")
    def work(request: Request, survey: str) -> Response:
        published = owned_survey(request, survey)
        return show(request, published, "work.html", program=program(published), commands=commands(published))

    @router.get("/work.py")
    def work_in_python(request: Request, survey: str) -> Response:
        published = owned_survey(request, survey)
        return _file(program(published), "text/x-python", f"{published.id}.py")

    @router.get("/work.sh")
    def work_in_commands(request: Request, survey: str) -> Response:
        published = owned_survey(request, survey)
        return _file(commands(published), "text/x-shellscript", f"{published.id}.sh")

    @router.post("/close")
    async def close(request: Request, survey: str) -> Response:
        published = await run_in_threadpool(owned_survey, request, survey)
        if (await form_fields(request)).get("sure") != "yes":
            raise Refusal(422, "The survey is still open: tick the box if it is to be closed for good.")
        await run_in_threadpool(service.close, published)
        return RedirectResponse(f"{root_of(request)}studio/surveys/{published.id}", 303)

    return router


def data(service: Service, tallies: Tallies) -> APIRouter:
    """The figures of these pages, as JSON."""
    router = data_router("/surveys/{survey}")

    @router.get("/figures")
    def figures(request: Request, survey: str) -> Response:
        return json_answer(watched(service, tallies, owned_survey(request, survey)))

    @router.get("/joint/figures")
    def joint_figures(request: Request, survey: str, first: int, second: int) -> Response:
        return json_answer(joined(tallies, owned_survey(request, survey), first, second))

    return router


def _question(published: Published, number: int) -> Any:
    if number > len(published.survey.questions):
        raise Refusal(404, "There is no question of this number.")
    return published.survey.questions[number - 1]


def _file(text: str, kind: str, name: str) -> Response:
    """A text as a file to keep; names are made of ids, so there is nothing in them to escape."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text.encode(), media_type=f"{kind}; charset=utf-8", headers=headers)
