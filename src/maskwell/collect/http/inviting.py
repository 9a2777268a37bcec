"""The routes of invitations: the owner makes them, and whoever was invited redeems one for a pass."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from maskwell.collect.http.answers import Refusal, json_answer, json_body
from maskwell.collect.http.api import SurveyId, failed_token, owned, respond_address
from maskwell.collect.http.described import OWNER, described
from maskwell.collect.http.submitting import found_survey
from maskwell.collect.invitations.blind import BlindError, text
from maskwell.collect.invitations.passes import MOST_AT_ONCE, InvitationError, UsedError, invite, read_request, redeem
from maskwell.collect.service import Published, Service

_MOST_BYTES = 4000
_INVITE = described(OWNER, "Count", {201: "Invitations"}, {409: "a survey without invitations"})
_REDEEM = described(body="Redemption", answer={200: "Signed"}, errors={409: "used before", 410: "closed"})


def routes(service: Service) -> APIRouter:
    """``/api/surveys/{survey}/invitations`` and its ``/redemptions``."""
    router = APIRouter(prefix="/api/surveys/{survey}/invitations", tags=["invitations"])

    @router.post("", status_code=201, summary="Make invitations", **_INVITE)
    async def make(survey: SurveyId, request: Request) -> Response:
        """Owner. `{"count": n}`; gives as many addresses, one for each person. They are shown this once."""
        published = await owned(service, survey, request)
        _require_invitations(published)
        count = _count(await json_body(request, _MOST_BYTES))
        addresses = await run_in_threadpool(invitation_addresses, service, request, published, count)
        return json_answer({"invitations": addresses}, 201)

    @router.post("/redemptions", summary="Redeem an invitation for a pass", **_REDEEM)
    async def redemption(survey: SurveyId, request: Request) -> Response:
        """Public. Signs a blinded pass (RFC 9474) for an invitation, once."""
        published = await found_survey(service, survey)
        _require_invitations(published)
        state = service.state(published)
        if state != "open":
            raise Refusal(410 if state == "closed" else 403, f"this survey is {state}.")
        try:
            code, blinded = read_request(await json_body(request, _MOST_BYTES))
            signed = await run_in_threadpool(redeem, service, published, code, blinded)
        except BlindError as error:
            raise Refusal(422, str(error)) from None
        except UsedError as error:
            raise Refusal(409, str(error)) from None
        except InvitationError as error:
            raise failed_token(service, request, str(error)) from None
        return json_answer({"signed": text(signed)})

    return router


def invitation_addresses(service: Service, request: Request, published: Published, count: int) -> list[str]:
    """The addresses of so many new invitations: what stands behind the # is sent to no server by opening them."""
    address = respond_address(service, request, published.id)
    return [f"{address}#invitation={code}" for code in invite(service, published, count)]


def _require_invitations(published: Published) -> None:
    if published.signing_key is None:
        raise Refusal(
            409, 'this survey is open to everybody; invitations need "invitations": true when it is published.'
        )


def _count(document: Any) -> int:
    count = document.get("count") if isinstance(document, dict) and document.keys() == {"count"} else None
    if type(count) is not int or not 1 <= count <= MOST_AT_ONCE:
        raise Refusal(422, f'send {{"count": a whole number from 1 to {MOST_AT_ONCE:,}}}.')
    return count
