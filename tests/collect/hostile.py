"""Requests that no page sends: broken, forged and oversized ones, each of which must be refused and leave nothing."""

from __future__ import annotations

import asyncio
import json
import random
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.collect.surveys import Survey

Raw = bytes
_METHODS = ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "post", "X" * 30, "É"]
_TEXTS = ["' OR 1=1 --", "<script>alert(1)</script>", "../../etc/passwd", "\u202e", "a\r\nX: y", "𝒳" * 50, "", "null"]
_NUMBERS = ["-1", "8", "1e999", "-0", "1.0", "0x1", "NaN", "Infinity", "9" * 39, "9" * 5000, "1e-400", "true", '"1"']
_OWNED = ["estimates", "export", "progress", "export?format=csv", "export?format=xml", "estimates?a=%00"]


@dataclass
class Attack:
    """So many hostile requests to one survey, the same ones for the same seed."""

    survey: Survey
    chance: random.Random
    statuses: Counter[int] = field(default_factory=Counter)
    unanswered: int = 0

    def requests(self, count: int) -> Iterator[Raw]:
        """The requests, as bytes."""
        kinds: list[Callable[[], Raw]] = [
            self._wrong_report,
            self._wrong_document,
            self._broken_text,
            self._wrong_headers,
            self._wrong_method,
            self._wrong_path,
            self._without_token,
            self._cross_site,
            self._forged_survey,
            self._broken_http,
        ]
        for at in range(count):
            yield kinds[at % len(kinds)]()

    def _pick(self, choices: list[str]) -> str:
        return self.chance.choice(choices)

    def _submission(self, reports: str) -> bytes:
        return f'{{"submission": "{uuid.UUID(int=self.chance.getrandbits(128))}", "reports": {reports}}}'.encode()

    def _post(self, body: bytes, path: str = "", more: str = "", kind: str = "application/json") -> Raw:
        path = path or f"/api/surveys/{self.survey.id}/submissions"
        head = f"POST {path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Type: {kind}\r\n{more}"
        return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body

    @property
    def _host(self) -> str:
        return urlsplit(self.survey.server.url).netloc

    def _wrong_report(self) -> Raw:
        wrong = self._pick(_NUMBERS)
        sets = ["[1, 0]", "[0, 0]", "[0, 8]", "[0]", "[0, 1, 2]", f"[0, {wrong}]", "[[0], 1]", "[null, 1]", "{}", '"0"']
        reports = [
            f'{{"drugs": {wrong}}}',
            f'{{"drugs": 1, "income": {self._pick(sets)}}}',
            f'{{"drugs": 1, {json.dumps(self._pick(_TEXTS) or "x")}: 1}}',
            '{"income": [0, 1]}',
            '{"drugs": 1, "drugs": 2}',
        ]
        return self._post(self._submission(self._pick(reports)))

    def _wrong_document(self) -> Raw:
        good = json.loads(self._submission('{"drugs": 1}'))
        changes: list[object] = [
            {**good, "address": "somewhere"},
            {**good, "submission": self._pick(_TEXTS)},
            {**good, "submission": self.chance.getrandbits(64)},
            {**good, "reports": self._pick(_TEXTS)},
            {"reports": good["reports"]},
            [good],
            self._pick(_TEXTS),
            None,
        ]
        return self._post(json.dumps(self.chance.choice(changes)).encode())

    def _broken_text(self) -> Raw:
        body = bytearray(self._submission('{"drugs": 1, "income": [0, 3]}'))
        match self.chance.randrange(5):
            case 0:
                del body[self.chance.randrange(len(body)) :]
            case 1:
                body[self.chance.randrange(len(body))] = self.chance.choice(b"\x00\x80\xc3\xff")
            case 2:
                body = bytearray(b"[" * self.chance.choice([1_000, 100_000]))
            case 3:
                body += b"}" * self.chance.randint(1, 9)
            case _:
                body = bytearray(body.decode().encode("utf-16"))
        return self._post(bytes(body))

    def _wrong_headers(self) -> Raw:
        body = self._submission('{"drugs": 1}')
        match self.chance.randrange(4):
            case 0:
                return self._post(body, kind=self._pick(["text/plain", "", "application/jsonp", "multipart/form-data"]))
            case 1:
                return self._post(b" " * (1 << 18) + body)
            case 2:
                return self._post(body, more=f"Content-Length: {self.chance.randint(0, 9)}\r\n")
            case _:
                return self._post(body, more="Transfer-Encoding: chunked\r\n")

    def _wrong_method(self) -> Raw:
        paths = ["/submissions", "", "/close", "/estimates", "/export"]
        method, path = self._pick(_METHODS), f"/api/surveys/{self.survey.id}{self._pick(paths)}"
        if method == "GET" and path.endswith(self.survey.id):
            method = "DELETE"
        return f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Length: 0\r\n\r\n".encode()

    def _wrong_path(self) -> Raw:
        good = f"/api/surveys/{self.survey.id}"
        paths = [
            f"{good}/submissions/",
            f"{good}%2fsubmissions",
            f"{good}/../{self.survey.id}/submissions",
            f"//api/surveys/{self.survey.id}/submissions",
            f"/api/surveys/{self.survey.id.upper()}/submissions",
            f"{good}%00/submissions",
            f"{good};/submissions",
            "/api/surveys/aaaaaaaaaaaaaaaa/submissions",
            f"/api/surveys/{'a' * 5000}/submissions",
            "/respond/assets/../../settings.py",
            "/browser/..%2f..%2fsettings.py",
            "/browser/%2e%2e/settings.py",
        ]
        return self._post(self._submission('{"drugs": 1}'), self._pick(paths))

    def _without_token(self) -> Raw:
        tokens = ["", "Bearer", "Bearer mw_" + "a" * 43, f"Basic {'a' * 60}", f"Bearer {self.survey.id}", "Bearer é"]
        path = f"/api/surveys/{self.survey.id}/{self._pick(_OWNED)}"
        head = f"GET {path} HTTP/1.1\r\nHost: {self._host}\r\nAuthorization: {self._pick(tokens)}\r\n"
        return f"{head}Cookie: maskwell_session={'a' * self.chance.randint(0, 99)}\r\n\r\n".encode()

    def _cross_site(self) -> Raw:
        headers = [
            "Origin: https://evil.example",
            "Origin: null",
            "Sec-Fetch-Site: cross-site",
            "Sec-Fetch-Site: same-site",
        ]
        return self._post(self._submission('{"drugs": 1}'), more=f"{self._pick(headers)}\r\n")

    def _forged_survey(self) -> Raw:
        question = {"name": "q", "text": "?", "categories": ["a", "b"], "demand": {"kind": "ldp", "epsilon": 1}}
        wrong: list[object] = [
            {"title": self._pick(_TEXTS), "questions": []},
            {"title": "a\x00b", "questions": [question]},
            {"title": "a", "questions": [{**question, "demand": {"kind": self._pick(_TEXTS)}}]},
            {"title": "a", "questions": [{**question, "categories": [self._pick(_TEXTS)] * 2}]},
            {"title": "a", "questions": [{**question, "design": {"kind": "subsets"}, "demand": None}]},
            {"title": "a", "questions": [question], "least_batch": self.chance.choice([0, -1, 10**9, 1.5, None])},
            {"title": "a", "questions": [question], "texts": {self._pick(_TEXTS): "x"}},
            {"title": "a", "questions": [question, question]},
            {"title": "a", "questions": [{**question, "demand": {"kind": "ldp", "epsilon": 10**9}}] * 2},
        ]
        token = f"Authorization: Bearer {self.survey.server.administrator_token}\r\n"
        return self._post(json.dumps(self.chance.choice(wrong)).encode(), "/api/surveys", token)

    def _broken_http(self) -> Raw:
        body = self._submission('{"drugs": 1}')
        match self.chance.randrange(6):
            case 0:
                return self.chance.randbytes(self.chance.randint(1, 200)) + b"\r\n\r\n"
            case 1:
                return b"POST /api/surveys HTTP/9.9\r\n\r\n"
            case 2:
                return self._post(body).replace(b"\r\n", b"\n", 2).replace(b"Content-Length: ", b"Content-Length: -")
            case 3:
                return self._post(body, more=f"X: {'a' * 70_000}\r\n")
            case 4:
                return self._post(body).replace(b"Host:", b"Ho\x00st:")
            case _:
                return self._post(body).replace(b"HTTP/1.1", b"HTTP/1.1 x")


async def attack(attack: Attack, count: int, clients: int = 8) -> None:
    """Send the requests, each over a connection that is still good or a new one, and note every status."""
    waiting = attack.requests(count)
    await asyncio.gather(*(_attacker(attack, waiting) for _ in range(clients)))


async def _attacker(attack: Attack, waiting: Iterator[Raw]) -> None:
    address = urlsplit(attack.survey.server.url)
    reader = writer = None
    for request in waiting:
        try:
            if reader is None or writer is None:
                reader, writer = await asyncio.open_connection(address.hostname, address.port)
            writer.write(request)
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 2)
            attack.statuses[int(head[9:12])] += 1
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, ValueError):
            # The server waits for more, or closed a connection on which it heard no HTTP.
            attack.unanswered += 1
            head = b"connection: close"
        # What is left of the answer, or of a request that was refused half-read, is not read as another one.
        lower = head.lower()
        length = int(lower.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
        plain = request.startswith(b"POST") and b"chunked" not in request and request.count(b"Content-Length: ") == 1
        if b"connection: close" in lower or not plain or writer is None or reader is None:
            if writer is not None:
                writer.close()
            reader = writer = None
        else:
            await reader.readexactly(length)
    if writer is not None:
        writer.close()
