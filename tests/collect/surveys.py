"""Surveys that tests publish, and the requests that tests send about them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

import httpx

from maskwell import LDP, plan
from maskwell.designs import Design
from tests.collect.servers import Server

DRUGS = ["never", "once", "often"]
INCOME = ["a", "b", "c", "d", "e", "f", "g", "h"]
QUESTIONS = (("drugs", DRUGS, 1.5), ("income", INCOME, 1.0))


def document(**changes: Any) -> dict[str, Any]:
    """A survey document."""
    questions = [
        {"name": name, "text": f"{name}?", "categories": labels, "demand": {"kind": "ldp", "epsilon": epsilon}}
        for name, labels, epsilon in QUESTIONS
    ]
    questions[1]["optional"] = True
    return {"title": "A survey", "questions": questions, "least_batch": 10, **changes}


def designs() -> dict[str, Design]:
    """The designs of its questions."""
    return {name: plan(labels, LDP(epsilon)) for name, labels, epsilon in QUESTIONS}


@dataclass
class Survey:
    """A published survey and its owner's token."""

    server: Server
    id: str
    owner_token: str

    @property
    def address(self) -> str:
        """Where it stands in the API."""
        return f"{self.server.url}/api/surveys/{self.id}"

    def submit(self, content: Any = None, **more: Any) -> httpx.Response:
        """Send a submission."""
        sent = submission() if content is None else content
        return httpx.post(f"{self.address}/submissions", json=sent, timeout=60, **more)

    def get(self, what: str, token: str | None = None) -> httpx.Response:
        """Ask for something as its owner, or with another token."""
        return httpx.get(f"{self.address}/{what}", headers=bearer(token or self.owner_token), timeout=60)

    def close(self) -> httpx.Response:
        """Close it."""
        return httpx.post(f"{self.address}/close", headers=bearer(self.owner_token), timeout=60)

    @property
    def received(self) -> int:
        """How many submissions are stored."""
        return int(self.get("progress").json()["received"])


def published(server: Server, content: Any = None) -> Survey:
    """Publish a survey."""
    headers = bearer(server.administrator_token)
    answer = httpx.post(f"{server.url}/api/surveys", json=content or document(), headers=headers, timeout=60)
    assert answer.status_code == 201, answer.text
    made = answer.json()
    return Survey(server, made["id"], made["owner_token"])


def submission(drugs: Any = 0, income: Any = None, identity: str | None = None) -> dict[str, Any]:
    """A submission with a new id."""
    return {"submission": identity or str(uuid.uuid4()), "reports": {"drugs": drugs, "income": income}}


def bearer(token: str) -> dict[str, str]:
    """The header that brings a token."""
    return {"Authorization": f"Bearer {token}"}
