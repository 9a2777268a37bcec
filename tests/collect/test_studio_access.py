"""Who gets into the studio, and who does not."""

from __future__ import annotations

import httpx
import pytest

from tests.collect.servers import Server
from tests.collect.studio import visitor
from tests.collect.surveys import document, published

WRONG = "mw_" + "x" * 43


def test_without_a_session_one_can_only_sign_in(sqlite_service: Server) -> None:
    with visitor(sqlite_service) as client:
        answer = client.get("/studio/")
        assert answer.status_code == 401
        assert 'action="../studio/signin"' in answer.text
        assert client.get("/studio/signin").status_code == 200


def test_a_token_is_posted_and_never_shown(sqlite_service: Server) -> None:
    survey = published(sqlite_service)
    with visitor(sqlite_service) as client:
        answer = client.post("/studio/signin", data={"token": f" {survey.owner_token} ", "then": "/studio/"})
        assert answer.status_code == 303
        assert answer.headers["location"] == f"../studio/surveys/{survey.id}"
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert survey.owner_token not in cookie
        for wrong in (WRONG, "", "<b>", survey.owner_token[:-1]):
            refused = client.post("/studio/signin", data={"token": wrong, "then": "/studio/"})
            assert refused.status_code == 403
            assert not wrong or wrong not in refused.text
    assert survey.owner_token not in sqlite_service.log.read_text()


def test_signing_in_again_adds_to_the_session_and_signing_out_ends_all_of_it(sqlite_service: Server) -> None:
    mine, other = published(sqlite_service, document(title="Mine")), published(sqlite_service, document(title="Other"))
    with visitor(sqlite_service, mine.owner_token) as client:
        assert "Mine" in client.get("/studio/").text
        assert "Other" not in client.get("/studio/").text
        before = client.cookies["maskwell_session"]
        client.post("/studio/signin", data={"token": other.owner_token})
        assert client.get(f"/api/surveys/{mine.id}/progress").status_code == 200
        assert client.get(f"/api/surveys/{other.id}/progress").status_code == 200
        after = client.cookies["maskwell_session"]
        assert before != after
        assert _answers(sqlite_service, before) == 401
        assert client.post("/studio/signout").status_code == 303
        assert _answers(sqlite_service, after) == 401


def test_the_address_of_the_service_leads_to_the_studio(sqlite_service: Server) -> None:
    answer = httpx.get(f"{sqlite_service.url}/", follow_redirects=True, timeout=60)
    assert str(answer.url) == f"{sqlite_service.url}/studio/"
    assert "Sign in" in answer.text


def _answers(server: Server, cookie: str) -> int:
    return httpx.get(f"{server.url}/studio/", headers={"Cookie": f"maskwell_session={cookie}"}).status_code


@pytest.mark.parametrize("then", ["https://elsewhere.test/", "//elsewhere.test", "/api/surveys", "/studio/../x", "\\x"])
def test_signing_in_leads_to_a_page_of_the_studio_and_nowhere_else(sqlite_service: Server, then: str) -> None:
    with visitor(sqlite_service) as client:
        answer = client.post("/studio/signin", data={"token": sqlite_service.administrator_token, "then": then})
        assert answer.headers["location"] == "../studio/"


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://elsewhere.test"}])
def test_requests_from_other_sites_are_refused(sqlite_service: Server, headers: dict[str, str]) -> None:
    with visitor(sqlite_service, sqlite_service.administrator_token) as client:
        for path in ("/studio/signin", "/studio/signout"):
            assert (
                client.post(path, data={"token": sqlite_service.administrator_token}, headers=headers).status_code
                == 403
            )
        assert client.get("/studio/").status_code == 200


def test_a_form_that_cannot_be_read_is_refused(sqlite_service: Server) -> None:
    with visitor(sqlite_service) as client:
        assert client.post("/studio/signin", content=b"\xff\xfe").status_code == 400
        assert client.post("/studio/signin", content=b"&".join([b"a=1"] * 50)).status_code == 400
        assert client.post("/studio/signin", content=b"a=" + b"x" * 10_000).status_code == 413
