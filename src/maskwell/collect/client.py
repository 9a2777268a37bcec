"""The service from Python: the same calls, and answers that are masked here, before anything is sent."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from maskwell.designs.storage import from_document
from maskwell.errors import MaskwellError
from maskwell.extras import require
from maskwell.sampling.entropy import fresh_key
from maskwell.strict_json import read_json

if TYPE_CHECKING:
    import httpx


# A service checks each label of a survey when it is published; a million of them take 11 s where nothing else runs.
_PUBLISHING = 300


class ServiceError(MaskwellError):
    """The service refused a call; ``status`` is its HTTP status."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Client:
    """Calls to a service.

    ``token`` is the administrator's or an owner's; a call that needs another one takes it as an argument. ``http`` is
    an ``httpx.Client`` to use instead of a new one. Connections stay open between calls; a ``with`` block closes them.
    """

    def __init__(self, url: str, token: str | None = None, *, http: httpx.Client | None = None) -> None:
        require("Collecting needs", "httpx")
        import httpx

        self.url = url.rstrip("/")
        self._token = token
        self._http, self._own = http or httpx.Client(timeout=30), http is None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def create_survey(self, survey: Mapping[str, Any], *, token: str | None = None) -> dict[str, Any]:
        """Publish a survey document; gives its id, its owner's token, and the address to send to respondents."""
        # Sent twice it would be published twice, and the first owner's token is lost: a long list takes its time.
        again = "it may have published the survey all the same, so look at its studio or log before you send it again"
        waiting = {"timeout": _PUBLISHING} if self._own else {}
        created: dict[str, Any] = self._call("POST", "/api/surveys", token, again=again, json=dict(survey), **waiting)
        return created

    def survey(self, survey: str) -> dict[str, Any]:
        """What is asked, with each question's stored design."""
        found: dict[str, Any] = self._call("GET", f"/api/surveys/{survey}")
        return found

    def invite(self, survey: str, count: int, *, token: str | None = None) -> list[str]:
        """So many new invitations, each an address for one person; the service keeps none of them."""
        made: dict[str, list[str]] = self._call(
            "POST", f"/api/surveys/{survey}/invitations", token, json={"count": count}
        )
        return made["invitations"]

    def redeem(self, survey: str, invitation: str) -> str:
        """The pass of an invitation (an address or what stands behind its #), signed without the service seeing it."""
        from maskwell.collect.invitations.blind import PublicKey, blind, finish, from_text, text
        from maskwell.collect.invitations.passes import new_pass, pass_text

        code = invitation.rpartition("#")[2].removeprefix("invitation=")
        key = PublicKey.from_document(self.survey(survey).get("invitation_key"))
        blinded = blind(key, new_pass())
        content = {"invitation": code, "blinded": text(blinded.blinded)}
        answer = self._call("POST", f"/api/surveys/{survey}/invitations/redemptions", json=content)
        return pass_text(blinded.message, finish(key, blinded, from_text(answer["signed"])))

    def submit(
        self,
        survey: str,
        answers: Mapping[str, Any],
        *,
        submission: str | None = None,
        invited: str | None = None,
    ) -> dict[str, Any]:
        """Mask one person's answers here and send the reports; no answer leaves this process.

        Gives the ``submission`` id and the ``reports`` that were sent. To send them again after a lost connection,
        use ``submit_reports`` with both: masking again would reveal more. ``invited`` is a pass from ``redeem``.
        """
        reports = self.mask(self.survey(survey), answers)
        return self.submit_reports(survey, reports, submission=submission, invited=invited)

    @staticmethod
    def mask(survey: Mapping[str, Any], answers: Mapping[str, Any]) -> dict[str, Any]:
        """The reports of one person's answers, by question; a question without an answer has the report None."""
        unknown = answers.keys() - {question["name"] for question in survey["questions"]}
        if unknown:
            raise ServiceError(f"there is no question {sorted(unknown)[0]!r} in this survey.")
        reports: dict[str, Any] = {}
        for question in survey["questions"]:
            answer = answers.get(question["name"])
            if answer is None:
                reports[question["name"]] = None
                continue
            design = from_document(question["design"])
            values = {name: [answer[name]] for name in design.variables} if design.variables else [answer]
            reports[question["name"]] = design.mask(values).positions()[0]
        return reports

    def submit_reports(
        self,
        survey: str,
        reports: Mapping[str, Any],
        *,
        submission: str | None = None,
        invited: str | None = None,
    ) -> dict[str, Any]:
        """Send reports that were drawn before; the same ``submission`` id again is counted once."""
        submission = submission or str(uuid.UUID(bytes=fresh_key()[:16], version=4))
        content = {"submission": submission, "reports": dict(reports)}
        headers = {"Authorization": f"Invitation {invited}"} if invited else {}
        self._answer("POST", f"/api/surveys/{survey}/submissions", headers=headers, json=content)
        return content

    def estimates(self, survey: str, *, token: str | None = None) -> dict[str, Any]:
        """What ``maskwell estimate --json`` prints, by question."""
        found: dict[str, Any] = self._call("GET", f"/api/surveys/{survey}/estimates", token)
        return found

    def progress(self, survey: str, *, token: str | None = None) -> dict[str, Any]:
        """How many submissions there are, in all and by day, and how many of them are shown."""
        found: dict[str, Any] = self._call("GET", f"/api/surveys/{survey}/progress", token)
        return found

    def export(self, survey: str, *, format: str = "parquet", token: str | None = None) -> bytes:
        """The archive of all reports, designs and codebooks; ``format`` of the reports: parquet or csv."""
        path = f"/api/surveys/{survey}/export"
        return self._answer("GET", path, token, params={"format": format}).content

    def healthy(self) -> bool:
        """Whether the service answers and can reach its database."""
        try:
            return bool(self._call("GET", "/healthz")["status"] == "ok")
        except ServiceError:
            return False

    def metrics(self) -> str:
        """Figures about the service, in the text format of Prometheus."""
        return self._answer("GET", "/metrics").text

    def close(self, survey: str, *, token: str | None = None) -> dict[str, Any]:
        """Close a survey for good."""
        closed: dict[str, Any] = self._call("POST", f"/api/surveys/{survey}/close", token)
        return closed

    def _call(self, method: str, path: str, token: str | None = None, **content: Any) -> Any:
        answer = self._answer(method, path, token, **content)
        return read_json(answer.content, "the answer", ServiceError)

    def _answer(
        self,
        method: str,
        path: str,
        token: str | None = None,
        headers: dict[str, str] | None = None,
        again: str = "send it again",
        **content: Any,
    ) -> httpx.Response:
        import httpx

        used = token or self._token
        if headers is None:
            headers = {"Authorization": f"Bearer {used}"} if used else {}
        try:
            answer = self._http.request(method, f"{self.url}{path}", headers=headers, **content)
        except httpx.HTTPError as error:
            raise ServiceError(f"the service does not answer ({type(error).__name__}); {again}.") from None
        if answer.is_success:
            return answer
        try:
            detail = str(answer.json()["detail"])
        except (ValueError, KeyError, TypeError):
            detail = "it gave no reason"
        raise ServiceError(f"the service refused this ({answer.status_code}): {detail}", answer.status_code)
