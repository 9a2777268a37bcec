"""Without its token nothing of an owner is given out, tokens are nowhere to be found, and other sites are refused."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.collect.servers import Server, server
from tests.collect.surveys import Survey, bearer, document, published, submission

OWNED = [
    ("GET", "/api/surveys/{survey}/estimates"),
    ("GET", "/api/surveys/{survey}/progress"),
    ("GET", "/api/surveys/{survey}/export?format=parquet"),
    ("GET", "/api/surveys/{survey}/export?format=csv"),
    ("POST", "/api/surveys/{survey}/close"),
    ("POST", "/api/surveys/{survey}/invitations"),
]


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service of its own: so many wrong tokens from one address are held up, also those of other tests."""
    folder = tmp_path_factory.mktemp("attacked")
    with server(f"sqlite:///{folder}/a.db", folder, "--burst", "0") as running:
        yield running


def test_the_cookie_travels_by_https_alone_where_pages_come_by_https(sqlite_service: Server, tmp_path: Path) -> None:
    def signed_in(url: str, token: str, **more: Any) -> tuple[bool, bool]:
        answer = httpx.post(f"{url}/api/session", json={"token": token}, **more)
        assert answer.status_code == 201
        secure = "; secure" in answer.headers["set-cookie"].lower()
        return secure, "strict-transport-security" in answer.headers

    said = {"headers": {"X-Forwarded-Proto": "https"}}
    here = sqlite_service.url, sqlite_service.administrator_token
    assert signed_in(*here) == (False, False)
    assert signed_in(*here, **said) == (True, True)  # the server that stands before runs on this machine
    # Who is no declared proxy is not believed.
    with server(f"sqlite:///{tmp_path}/a.db", tmp_path, "--proxy", "192.0.2.1") as running:
        assert signed_in(running.url, running.administrator_token, **said) == (False, False)
    # Where the address that people see is said, nobody needs to be believed.
    with server(f"sqlite:///{tmp_path}/b.db", tmp_path, "--public-url", "https://a.example") as running:
        assert signed_in(running.url, running.administrator_token) == (True, True)


@pytest.fixture(scope="module")
def survey(attacked: Server) -> Survey:
    """A survey with a batch of submissions."""
    made = published(attacked)
    for _ in range(10):
        assert made.submit(submission(1, [0, 1])).status_code == 201
    return made


@pytest.fixture(scope="module")
def stranger(attacked: Server) -> Survey:
    """A survey of somebody else."""
    return published(attacked)


def call(survey: Survey, method: str, path: str, **more: Any) -> httpx.Response:
    return httpx.request(method, survey.server.url + path.format(survey=survey.id), timeout=60, **more)


def operations(survey: Survey) -> list[tuple[str, str]]:
    """Everything in the API description that needs a token."""
    description = httpx.get(f"{survey.server.url}/openapi.json").json()
    return [
        (method.upper(), path)
        for path, methods in description["paths"].items()
        for method, about in methods.items()
        if about.get("security")
    ]


def test_the_list_of_owned_routes_is_complete(survey: Survey) -> None:
    listed = {(method, path.partition("?")[0]) for method, path in OWNED} | {("POST", "/api/surveys")}
    assert listed == set(operations(survey))


@pytest.mark.parametrize(("method", "path"), OWNED)
def test_an_owners_route_opens_to_its_token_alone(survey: Survey, stranger: Survey, method: str, path: str) -> None:
    wrong = [
        stranger.owner_token,
        survey.server.administrator_token,
        survey.owner_token[:-1] + ("A" if survey.owner_token[-1] != "A" else "B"),
        survey.owner_token.lower(),
        survey.id,
    ]
    assert call(survey, method, path).status_code == 401
    for token in wrong:
        assert call(survey, method, path, headers=bearer(token)).status_code in (401, 403, 429), token
    # Where a token must not stand, it opens nothing.
    apart = "&" if "?" in path else "?"
    for name in ("token", "owner_token", "access_token", "Authorization"):
        assert call(survey, method, f"{path}{apart}{name}={survey.owner_token}").status_code == 401
    for headers in (
        {"X-Token": survey.owner_token},
        {"Authorization": survey.owner_token},
        {"Authorization": f"Basic {survey.owner_token}"},
        {"Cookie": f"maskwell_session={survey.owner_token}"},
        {"Cookie": f"token={survey.owner_token}"},
    ):
        assert call(survey, method, path, headers=headers).status_code == 401
    assert httpx.get(survey.address).json()["state"] == "open"


def test_a_right_token_is_never_held_up_by_wrong_ones(survey: Survey) -> None:
    for _ in range(30):
        survey.get("progress", "mw_" + "a" * 43)
    assert survey.get("progress", "mw_" + "a" * 43).status_code == 429
    assert survey.get("progress").status_code == 200


def test_only_the_administrator_publishes(survey: Survey) -> None:
    for headers in ({}, bearer(survey.owner_token), bearer("mw_" + "b" * 43)):
        assert call(survey, "POST", "/api/surveys", json=document(), headers=headers).status_code in (401, 403, 429)


def test_a_session_opens_what_its_token_opens_and_no_more(survey: Survey, stranger: Survey) -> None:
    with httpx.Client(base_url=survey.server.url, timeout=60) as browser:
        opened = browser.post("/api/session", json={"token": survey.owner_token})
        assert opened.json() == {"survey": survey.id}
        cookie = opened.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert survey.owner_token.lower() not in cookie
        assert browser.get(f"/api/surveys/{survey.id}/progress").status_code == 200
        assert browser.get(f"/api/surveys/{stranger.id}/progress").status_code == 401
        assert browser.post("/api/surveys", json=document()).status_code == 401
        # Another site cannot use it, even if a browser sent the cookie along.
        evil = {"Origin": "https://evil.example"}
        assert browser.post(f"/api/surveys/{survey.id}/close", headers=evil).status_code == 403
        kept = dict(browser.cookies)
        assert browser.delete("/api/session").status_code == 204
        after = httpx.get(f"{survey.address}/progress", cookies=kept)
        assert after.status_code == 401


@pytest.mark.parametrize(
    ("headers", "refused"),
    [
        ({"Origin": "https://evil.example"}, True),
        ({"Origin": "null"}, True),
        ({"Origin": "http://127.0.0.1:1"}, True),
        ({"Origin": "http://127.0.0.1.evil.example"}, True),
        ({"Sec-Fetch-Site": "cross-site"}, True),
        ({"Sec-Fetch-Site": "same-site"}, True),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, True),
        ({"Sec-Fetch-Site": "same-origin"}, False),
        ({"Sec-Fetch-Site": "none"}, False),
        ({}, False),
    ],
)
def test_other_sites_can_send_nothing(survey: Survey, headers: dict[str, str], refused: bool) -> None:
    answer = survey.submit(headers=headers)
    assert answer.status_code == (403 if refused else 201)
    assert "access-control-allow-origin" not in answer.headers
    read = httpx.get(f"{survey.address}/estimates", headers={**headers, **bearer(survey.owner_token)})
    cross = "Sec-Fetch-Site" in headers and headers.get("Sec-Fetch-Mode") != "navigate"
    assert read.status_code == (403 if refused and cross else 200)


def test_a_preflight_is_refused(survey: Survey) -> None:
    headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    answer = httpx.options(f"{survey.address}/submissions", headers=headers)
    assert answer.status_code in (403, 405)
    assert not any(name.startswith("access-control") for name in answer.headers)


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "BREW"])
@pytest.mark.parametrize(("_", "path"), OWNED)
def test_an_odd_method_opens_nothing(survey: Survey, method: str, _: str, path: str) -> None:
    answer = call(survey, method, path)
    assert answer.status_code in (400, 401, 405)


@pytest.mark.parametrize(
    "path",
    [
        "/api/surveys/{survey}/./estimates",
        "/api/surveys/x/../{survey}/estimates",
        "/api/surveys/{survey}/estimates/",
        "/api/surveys/{survey}%2festimates",
        "/api/surveys/{survey}/%65stimates",
        "//api/surveys/{survey}/estimates",
        "/API/surveys/{survey}/estimates",
        "/api/surveys/{survey}/estimates;x",
        "/api/surveys/{survey}/estimates%00",
        "/respond/assets/../../settings.py",
        "/respond/assets/%2e%2e/routes.py",
        "/browser/..%2f..%2fsettings.py",
        "/studio/assets/..%2froutes.py",
        "/studio/assets/routes.py",
        "/browser/../../../../../../etc/passwd",
        "/docs.css/../routes.py",
    ],
)
def test_no_path_leads_around(survey: Survey, path: str) -> None:
    """As bytes: a client that tidies paths would not send these."""
    address = urlsplit(survey.server.url)
    with socket.create_connection((str(address.hostname), address.port or 80), 10) as connection:
        asked = f"GET {path.format(survey=survey.id)} HTTP/1.1\r\nHost: {address.netloc}\r\nConnection: close\r\n\r\n"
        connection.sendall(asked.encode())
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    assert answer[9:12] in (b"307", b"400", b"401", b"404")
    assert b"import" not in answer
    assert b"root:" not in answer


def test_tokens_are_nowhere_to_be_found(survey: Survey, stranger: Survey) -> None:
    """Not in the log, in an answer, an address, or a byte of the database; sessions are not either."""
    server = survey.server
    with httpx.Client(base_url=server.url, timeout=60) as browser:
        secret = browser.post("/api/session", json={"token": survey.owner_token}).cookies["maskwell_session"]
        answers = [
            browser.get(f"/api/surveys/{survey.id}/estimates"),
            browser.get(f"/api/surveys/{survey.id}"),
            browser.get("/studio/"),
            browser.get("/metrics"),
            browser.get("/openapi.json"),
            browser.post("/api/session", json={"token": survey.owner_token + "x"}),
            browser.post("/api/session", json={"token": [survey.owner_token]}),
            browser.get(f"/api/surveys/{stranger.id}/estimates", headers=bearer(survey.owner_token)),
        ]
    log = server.log.read_text()
    database = Path(server.database.removeprefix("sqlite:///"))
    kept = b"".join(path.read_bytes() for path in database.parent.glob(f"{database.name}*"))
    for token in (survey.owner_token, stranger.owner_token, server.administrator_token, secret):
        assert token not in log
        assert token.encode() not in kept
        for answer in answers:
            assert token not in answer.text
            assert token not in str(answer.url)


HOSTILE_TEXT = "<script>alert(1)</script>\"'>{{7*7}}</textarea><svg onload=alert(1)>"


def test_text_of_a_survey_is_never_interpreted(attacked: Server) -> None:
    content = document(title=HOSTILE_TEXT)
    content["questions"][0] |= {"name": HOSTILE_TEXT, "text": HOSTILE_TEXT, "categories": [HOSTILE_TEXT, "b", "c"]}
    survey = published(attacked, content)
    shown = httpx.get(survey.address)
    assert shown.headers["content-type"] == "application/json"
    assert shown.headers["x-content-type-options"] == "nosniff"
    page = httpx.get(f"{attacked.url}/respond/{survey.id}")
    assert "<script>alert" not in page.text
    assert "<svg onload" not in page.text
    assert ">49<" not in page.text
    for _ in range(10):
        assert survey.submit({**submission(), "reports": {HOSTILE_TEXT: 0}}).status_code == 201
    export = survey.get("export")
    assert export.status_code == 200
    assert export.headers["content-disposition"] == f'attachment; filename="{survey.id}.zip"'


def test_every_answer_brings_the_security_headers(survey: Survey) -> None:
    for path in ("/api/surveys", f"/api/surveys/{survey.id}", f"/respond/{survey.id}", "/docs", "/nowhere", "/healthz"):
        headers = httpx.get(survey.server.url + path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers
